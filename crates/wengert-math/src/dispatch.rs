//! Which version of a function runs: one for processors with fused multiply-add, one for all; with feature `avx512` a third one for those
//! with vectors of eight doubles.
//!
//! `f64::mul_add` is one instruction where the processor has it, but x86-64 as such does not: compiled for
//! it, every one is a call of a library function. So each function is compiled more than once, and which version runs
//! is looked up once per process. All round alike. Elementary functions of one number have two versions: wide vectors
//! are nothing to them.
//!
//! On aarch64 fused multiply-add and vectors of two doubles belong to every processor, so the one version there is uses them.
//!
//! The unsafe code of this crate is here: calls of functions that are compiled for more than the processors
//! their callers are compiled for.
#![allow(unsafe_code)]

/// Whether the processor has what the faster versions are compiled for: on x86-64 `avx2`, `bmi2` and `fma`,
/// elsewhere nothing.
///
/// A caller that has versions of its own can choose by it: see [`inline`](crate::inline).
#[inline(always)]
pub fn fused() -> bool {
    detect::has(detect::FUSED)
}

/// Whether the processor has what the versions with the widest vectors are compiled for: on x86-64 what [`fused`] says, and
/// `avx512f`, `avx512bw`, `avx512cd`, `avx512dq` and `avx512vl`; elsewhere nothing.
#[inline(always)]
pub fn wide() -> bool {
    detect::has(detect::WIDE)
}

#[cfg(target_arch = "x86_64")]
mod detect {
    use std::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = 0;
    const PORTABLE: u8 = 1;
    pub(super) const FUSED: u8 = 2;
    pub(super) const WIDE: u8 = 3;

    /// What the program is compiled for anyway, which needs no look.
    const COMPILED: u8 = if cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512cd",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    )) && AT_LEAST_FUSED
    {
        WIDE
    } else if AT_LEAST_FUSED {
        FUSED
    } else {
        PORTABLE
    };

    const AT_LEAST_FUSED: bool =
        cfg!(all(target_feature = "avx2", target_feature = "bmi2", target_feature = "fma"));

    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline(always)]
    pub(super) fn has(level: u8) -> bool {
        if COMPILED >= level {
            return true;
        }
        // One comparison that always goes the same way.
        let found = FOUND.load(Ordering::Relaxed);
        found >= level || (found == UNKNOWN && look() >= level)
    }

    #[cold]
    #[inline(never)]
    fn look() -> u8 {
        let fused = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("fma");
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let found = match (fused, wide) {
            (true, true) => WIDE,
            (true, false) => FUSED,
            (false, _) => PORTABLE,
        };
        FOUND.store(found, Ordering::Relaxed);
        found
    }
}

/// Where processors differ in nothing that matters here.
#[cfg(not(target_arch = "x86_64"))]
mod detect {
    pub(super) const FUSED: u8 = 2;
    pub(super) const WIDE: u8 = 3;

    #[inline(always)]
    pub(super) fn has(_: u8) -> bool {
        false
    }
}

/// Something to be done in the version for this processor: see [`fastest`].
pub trait Work {
    /// What comes of it.
    type Out;

    /// Does it. Mark it `#[inline(always)]`, and what it calls, so that all of it is compiled for the processor.
    fn run(self) -> Self::Out;
}

/// Does some work in the version for this processor: the code is compiled twice, with and without what [`fused`] stands for, with feature
/// `avx512` also for what [`wide`] stands for; once where the program is compiled for such processors alone.
///
/// ```
/// use wengert_math::{Work, fastest, inline};
///
/// struct Total<'a>(&'a [f64]);
///
/// impl Work for Total<'_> {
///     type Out = f64;
///
///     #[inline(always)]
///     fn run(self) -> f64 {
///         self.0.iter().map(|x| inline::tanh(*x)).sum()
///     }
/// }
///
/// let x = [0.5, 1.0, 2.0];
/// assert_eq!(fastest(Total(&x)), x.iter().map(|x| wengert_math::tanh(*x)).sum());
/// ```
#[inline]
pub fn fastest<W: Work>(work: W) -> W::Out {
    #[cfg(all(
        feature = "avx512",
        target_arch = "x86_64",
        not(all(target_feature = "avx512f", target_feature = "avx512vl"))
    ))]
    {
        #[target_feature(enable = "avx2,bmi2,fma,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        fn widest<W: Work>(work: W) -> W::Out {
            work.run()
        }
        if wide() {
            // SAFETY: the processor has all that the function is compiled for.
            return unsafe { widest(work) };
        }
    }
    #[cfg(all(
        target_arch = "x86_64",
        not(all(target_feature = "avx2", target_feature = "bmi2", target_feature = "fma"))
    ))]
    {
        #[target_feature(enable = "avx2,bmi2,fma")]
        fn faster<W: Work>(work: W) -> W::Out {
            work.run()
        }
        if fused() {
            // SAFETY: the processor has all that the function is compiled for.
            return unsafe { faster(work) };
        }
    }
    work.run()
}

/// Two versions of functions, and functions that choose between them.
macro_rules! choose {
    ($from:path; $($(#[$mark:meta])* $name:ident($($x:ident: $ty:ty),*) -> $out:ty;)*) => {
        /// For every processor.
        pub(crate) mod portable {
            $(
                /// The function of that name, for every processor.
                $(#[$mark])*
                #[inline(never)]
                pub fn $name($($x: $ty),*) -> $out {
                    use $from as from;
                    from::$name($($x),*)
                }
            )*
        }

        /// For processors of which [`fused`](crate::fused) holds.
        #[cfg(target_arch = "x86_64")]
        mod faster {
            $(
                $(#[$mark])*
                #[inline(never)]
                #[target_feature(enable = "avx2,bmi2,fma")]
                pub(super) fn $name($($x: $ty),*) -> $out {
                    use $from as from;
                    from::$name($($x),*)
                }
            )*
        }

        $(
            #[inline(always)]
            pub(crate) fn $name($($x: $ty),*) -> $out {
                #[cfg(target_arch = "x86_64")]
                if crate::fused() {
                    // SAFETY: the processor has all that the function is compiled for.
                    return unsafe { faster::$name($($x),*) };
                }
                portable::$name($($x),*)
            }
        )*
    };
}

macro_rules! versions {
    ($($how:ident $about:literal $name:ident($($x:ident: $ty:ty),*);)*) => {
        choose! { crate::generated; $($name($($x: $ty),*) -> f64;)* }
    };
}

/// The rows.
#[allow(dead_code, reason = "of plain ones there is nothing to choose")]
pub(crate) mod functions {
    rows!(versions);
}

/// Parts of programs that are rarely needed or large, which no caller gets a copy of.
pub(crate) mod parts {
    choose! {
        crate::generated;
        #[cold]
        reduce_huge(x: f64) -> (f64, f64, i64);
        #[cold]
        rem_huge(a: f64, b: f64) -> f64;
        hurwitz(s: i64, a: f64, al: f64, reference: f64) -> (f64, f64);
    }
}
