//! Eight doubles side by side, as the machine has them: one register or two.

// SAFETY, of every block: what the trait asks of callers is what the instructions ask.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::arch::x86_64::*;

/// Lanes from one up to, not including, another.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    from: usize,
    to: usize,
}

impl Lane {
    /// Those from `from` up to `to`, which is at most eight.
    #[inline(always)]
    pub(crate) fn between(from: usize, to: usize) -> Lane {
        debug_assert!(from <= to && to <= 8);
        Lane { from, to }
    }

    /// Those that are among these and others.
    #[inline(always)]
    pub(crate) fn and(self, other: Lane) -> Lane {
        Lane::between(self.from.max(other.from), self.to.min(other.to))
    }

    /// Whether that is every lane.
    #[inline(always)]
    pub(crate) fn is_all(self) -> bool {
        self.from == 0 && self.to == 8
    }

    /// The first `n`.
    #[inline(always)]
    pub(crate) fn first(n: usize) -> Lane {
        Lane::between(0, n)
    }
}

/// Eight doubles.
///
/// # Safety
/// Of every function: the machine has the instructions of the implementation. Addresses are those of the doubles that
/// are read or written: eight, or those of some [`Lane`]s. Where the others would lie, nothing need be.
pub(crate) trait Lanes: Copy {
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
    /// Its lanes added as a tree, in the order of the kernels.
    unsafe fn tree(self) -> f64;
    /// The lanes of each row added as a tree, in the order of the kernels: lane `r` has the sum of row `r`. The
    /// lanes of a row may be turned by an even number of places: the tree adds the same pairs.
    unsafe fn trees(rows: [Self; 8]) -> Self;
}

/// One register of 512 bits.
#[derive(Clone, Copy)]
pub(crate) struct One(__m512d);

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
    unsafe fn tree(self) -> f64 {
        unsafe { Two(_mm512_castpd512_pd256(self.0), _mm512_extractf64x4_pd::<1>(self.0)).tree() }
    }
    #[inline(always)]
    unsafe fn trees(rows: [Self; 8]) -> Self {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        unsafe {
            let even = pairs_512(halves_512(r0, r2), halves_512(r4, r6));
            let odd = pairs_512(halves_512(r1, r3), halves_512(r5, r7));
            One(_mm512_add_pd(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd)))
        }
    }
}

// Functions rather than closures, which need not be inlined and would then have no wide registers.

/// Lanes 0 to 3 of two rows plus their lanes 4 to 7.
#[inline(always)]
unsafe fn halves_512(One(x): One, One(y): One) -> __m512d {
    unsafe { _mm512_add_pd(_mm512_shuffle_f64x2::<0x44>(x, y), _mm512_shuffle_f64x2::<0xee>(x, y)) }
}

/// Of four rows, pairs of what is left plus the other pairs.
#[inline(always)]
unsafe fn pairs_512(x: __m512d, y: __m512d) -> __m512d {
    unsafe { _mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(x, y), _mm512_shuffle_f64x2::<0xdd>(x, y)) }
}

/// Two registers of 256 bits.
#[derive(Clone, Copy)]
pub(crate) struct Two(__m256d, __m256d);

/// Some of eight lanes, as masks of two registers.
#[inline(always)]
unsafe fn masks(some: Lane) -> (__m256i, __m256i) {
    let (from, to) = (some.from as i64, some.to as i64);
    unsafe {
        let (from, to) = (_mm256_set1_epi64x(from), _mm256_set1_epi64x(to));
        (
            within_256(_mm256_setr_epi64x(0, 1, 2, 3), from, to),
            within_256(_mm256_setr_epi64x(4, 5, 6, 7), from, to),
        )
    }
}

/// Which numbers are not less than `from`, and less than `to`.
#[inline(always)]
unsafe fn within_256(x: __m256i, from: __m256i, to: __m256i) -> __m256i {
    unsafe { _mm256_andnot_si256(_mm256_cmpgt_epi64(from, x), _mm256_cmpgt_epi64(to, x)) }
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
    unsafe fn tree(self) -> f64 {
        unsafe {
            let half = _mm256_add_pd(self.0, self.1);
            let pair = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd::<1>(half));
            _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
        }
    }
    #[inline(always)]
    unsafe fn trees(rows: [Self; 8]) -> Self {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        unsafe { Two(four_256(r0, r1, r2, r3), four_256(r4, r5, r6, r7)) }
    }
}

/// Four rows added as trees.
#[inline(always)]
unsafe fn four_256(r0: Two, r1: Two, r2: Two, r3: Two) -> __m256d {
    unsafe {
        let (even, odd) = (pairs_256(r0, r2), pairs_256(r1, r3));
        _mm256_add_pd(_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd))
    }
}

/// The halves of two rows added, then pairs of what is left plus the other pairs.
#[inline(always)]
unsafe fn pairs_256(x: Two, y: Two) -> __m256d {
    unsafe {
        let (x, y) = (_mm256_add_pd(x.0, x.1), _mm256_add_pd(y.0, y.1));
        _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(x, y), _mm256_permute2f128_pd::<0x31>(x, y))
    }
}
