//! Eight doubles side by side, as the machine has them: one register or two.

// SAFETY, of every block: what the trait asks of callers is what the instructions ask.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::arch::x86_64::*;

/// Lanes from one up to, not including, another.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    from: usize,
    to: usize,
}

impl Lane {
    /// Those from `from` up to `to`, which is at most eight.
    #[inline(always)]
    pub(super) fn between(from: usize, to: usize) -> Lane {
        debug_assert!(from <= to && to <= 8);
        Lane { from, to }
    }

    /// Those that are among these and others.
    #[inline(always)]
    pub(super) fn and(self, other: Lane) -> Lane {
        Lane::between(self.from.max(other.from), self.to.min(other.to))
    }

    /// The first `n`.
    #[inline(always)]
    pub(super) fn first(n: usize) -> Lane {
        Lane::between(0, n)
    }
}

/// Eight doubles.
///
/// # Safety
/// Of every function: the machine has the instructions of the implementation. Addresses are those of the doubles that
/// are read or written: eight, or those of some [`Lane`]s. Where the others would lie, nothing need be.
pub(super) trait Lanes: Copy {
    /// How many rows of sums fit the registers beside what they are made of.
    const ROWS: usize;
    /// How many of these, side by side, fit the registers as the sums of one row.
    const STRIP: usize;

    /// Zeros.
    unsafe fn zero() -> Self;
    /// One number, eight times.
    unsafe fn splat(x: f64) -> Self;
    /// The numbers there.
    unsafe fn load(from: *const f64) -> Self;
    /// Some of the numbers there, and zeros.
    unsafe fn load_some(from: *const f64, some: Lane) -> Self;
    /// Writes them there.
    unsafe fn store(self, to: *mut f64);
    /// Writes some of them there.
    unsafe fn store_some(self, to: *mut f64, some: Lane);
    /// The sums.
    unsafe fn plus(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    unsafe fn fused(self, b: Self, c: Self) -> Self;
    /// The same in some lanes, and `c` in the others.
    unsafe fn fused_some(self, b: Self, c: Self, some: Lane) -> Self;
    /// The lanes of each row added as a tree, in the order of the kernels: lane `r` has the sum of row `r`. The
    /// lanes of a row may be turned by an even number of places: the tree adds the same pairs.
    unsafe fn trees(rows: [Self; 8]) -> Self;
}

/// One register of 512 bits.
#[derive(Clone, Copy)]
pub(super) struct One(__m512d);

#[inline(always)]
fn mask(some: Lane) -> __mmask8 {
    ((1u32 << some.to) - (1u32 << some.from)) as __mmask8
}

impl Lanes for One {
    const ROWS: usize = 8;
    const STRIP: usize = 12;

    #[inline(always)]
    unsafe fn zero() -> Self {
        One(unsafe { _mm512_setzero_pd() })
    }
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        One(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        One(unsafe { _mm512_loadu_pd(from) })
    }
    #[inline(always)]
    unsafe fn load_some(from: *const f64, some: Lane) -> Self {
        One(unsafe { _mm512_maskz_loadu_pd(mask(some), from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe { _mm512_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f64, some: Lane) {
        unsafe { _mm512_mask_storeu_pd(to, mask(some), self.0) }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        One(unsafe { _mm512_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn fused(self, b: Self, c: Self) -> Self {
        One(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    unsafe fn fused_some(self, b: Self, c: Self, some: Lane) -> Self {
        One(unsafe { _mm512_mask3_fmadd_pd(self.0, b.0, c.0, mask(some)) })
    }
    #[inline(always)]
    unsafe fn trees(rows: [Self; 8]) -> Self {
        unsafe {
            // Lanes 0 to 3 of two rows plus their lanes 4 to 7.
            let halves = |x: usize, y: usize| {
                let (x, y) = (rows[x].0, rows[y].0);
                _mm512_add_pd(
                    _mm512_shuffle_f64x2::<0x44>(x, y),
                    _mm512_shuffle_f64x2::<0xee>(x, y),
                )
            };
            // Of four rows, pairs of what is left plus the other pairs.
            let pairs = |x: __m512d, y: __m512d| {
                _mm512_add_pd(
                    _mm512_shuffle_f64x2::<0x88>(x, y),
                    _mm512_shuffle_f64x2::<0xdd>(x, y),
                )
            };
            let even = pairs(halves(0, 2), halves(4, 6));
            let odd = pairs(halves(1, 3), halves(5, 7));
            One(_mm512_add_pd(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd)))
        }
    }
}

/// Two registers of 256 bits.
#[derive(Clone, Copy)]
pub(super) struct Two(__m256d, __m256d);

/// Some of eight lanes, as masks of two registers.
#[inline(always)]
unsafe fn masks(some: Lane) -> (__m256i, __m256i) {
    let (from, to) = (some.from as i64, some.to as i64);
    unsafe {
        let within = |first: __m256i| {
            let below = _mm256_cmpgt_epi64(_mm256_set1_epi64x(to), first);
            _mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(from), first), below)
        };
        (within(_mm256_setr_epi64x(0, 1, 2, 3)), within(_mm256_setr_epi64x(4, 5, 6, 7)))
    }
}

impl Lanes for Two {
    const ROWS: usize = 4;
    const STRIP: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Two(_mm256_setzero_pd(), _mm256_setzero_pd()) }
    }
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        let x = unsafe { _mm256_set1_pd(x) };
        Two(x, x)
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        unsafe { Two(_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))) }
    }
    #[inline(always)]
    unsafe fn load_some(from: *const f64, some: Lane) -> Self {
        unsafe {
            let (low, high) = masks(some);
            Two(_mm256_maskload_pd(from, low), _mm256_maskload_pd(from.wrapping_add(4), high))
        }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe {
            _mm256_storeu_pd(to, self.0);
            _mm256_storeu_pd(to.add(4), self.1);
        }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f64, some: Lane) {
        unsafe {
            let (low, high) = masks(some);
            _mm256_maskstore_pd(to, low, self.0);
            _mm256_maskstore_pd(to.wrapping_add(4), high, self.1);
        }
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        unsafe { Two(_mm256_add_pd(self.0, other.0), _mm256_add_pd(self.1, other.1)) }
    }
    #[inline(always)]
    unsafe fn fused(self, b: Self, c: Self) -> Self {
        unsafe { Two(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)) }
    }
    #[inline(always)]
    unsafe fn fused_some(self, b: Self, c: Self, some: Lane) -> Self {
        unsafe {
            let (low, high) = masks(some);
            let all = self.fused(b, c);
            Two(
                _mm256_blendv_pd(c.0, all.0, _mm256_castsi256_pd(low)),
                _mm256_blendv_pd(c.1, all.1, _mm256_castsi256_pd(high)),
            )
        }
    }
    #[inline(always)]
    unsafe fn trees(rows: [Self; 8]) -> Self {
        unsafe {
            let halves = |x: usize| _mm256_add_pd(rows[x].0, rows[x].1);
            // Pairs of what is left of two rows plus the other pairs.
            let pairs = |x: usize, y: usize| {
                let (x, y) = (halves(x), halves(y));
                _mm256_add_pd(
                    _mm256_permute2f128_pd::<0x20>(x, y),
                    _mm256_permute2f128_pd::<0x31>(x, y),
                )
            };
            let four = |x: usize| {
                let (even, odd) = (pairs(x, x + 2), pairs(x + 1, x + 3));
                _mm256_add_pd(_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd))
            };
            Two(four(0), four(4))
        }
    }
}
