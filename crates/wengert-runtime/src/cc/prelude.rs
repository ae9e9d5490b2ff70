//! What stands before every program in C, and how numbers are written in it.

/// Part of the key of compiled objects: goes up when the same program is printed otherwise.
pub(super) const VERSION: u32 = 8;

/// What stands before every program.
const PRELUDE: &str = "\
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef u8 __attribute__((may_alias)) frame_u8;
typedef u32 __attribute__((may_alias)) frame_u32;
typedef u64 __attribute__((may_alias)) frame_u64;
typedef float __attribute__((may_alias)) frame_float;
typedef double __attribute__((may_alias)) frame_double;
_Static_assert(sizeof(long) == 8 && sizeof(i64) == 8 && sizeof(void *) == 8, \"words of 64 bits\");
_Static_assert(sizeof(double) == 8 && sizeof(float) == 4 && sizeof(_Bool) == 1, \"sizes\");
static inline u64 bits(double x) { u64 r; __builtin_memcpy(&r, &x, 8); return r; }
static inline u32 bits32(float x) { u32 r; __builtin_memcpy(&r, &x, 4); return r; }
static inline double real(u64 x) { double r; __builtin_memcpy(&r, &x, 8); return r; }
static inline float real32(u32 x) { float r; __builtin_memcpy(&r, &x, 4); return r; }
/* Clang before 17 takes one zero for the other in x < -0.0 ? x : -0.0, unless it does not see the number. */
#if defined(__clang__) && __clang_major__ < 17
static inline double minus_zero(void) { u64 x = 1ull << 63; __asm__(\"\" : \"+r\"(x)); return real(x); }
#else
static inline double minus_zero(void) { return -0.0; }
#endif
static inline u64 whole(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return 0x7fffffffffffffffull;
  if (x < -0x1p63) return 0x8000000000000000ull;
  /* GCC 12 takes the double of this for x without its fraction, which may be minus zero, unless it does not see both. */
  i64 r = (i64)x;
  __asm__(\"\" : \"+r\"(r));
  return (u64)r;
}
";

/// What stands before these texts.
pub(super) fn before<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let lanes = texts.into_iter().any(has_lanes);
    format!("{PRELUDE}{}", if lanes { LANES } else { "" })
}

/// Whether a text computes in eight lanes.
pub(super) fn has_lanes(text: &str) -> bool {
    text.contains("v8d") || text.contains("v8u")
}

/// Eight lanes. What compilers have no operation for is a loop, which they make one instruction of; GCC does not where a
/// mask is looked at. Nothing of this is
/// called from elsewhere, so how vectors are handed over is no matter.
const LANES: &str = "\
#pragma GCC diagnostic ignored \"-Wpsabi\"
typedef double v8d __attribute__((vector_size(64)));
typedef u64 v8u __attribute__((vector_size(64)));
typedef i64 v8i __attribute__((vector_size(64)));
typedef double v8d_at __attribute__((vector_size(64), aligned(8)));
typedef u64 v8u_at __attribute__((vector_size(64), aligned(8)));
#ifdef __AVX512F__
#define KEEP(x) __asm__(\"\" : \"+v\"(x))
#else
#define KEEP(x)
#endif
#define LANES static inline __attribute__((always_inline))
LANES v8d v8d_all(double x) { return (v8d){x, x, x, x, x, x, x, x}; }
LANES v8u v8u_all(u64 x) { return (v8u){x, x, x, x, x, x, x, x}; }
LANES v8d v8d_choose(v8u m, v8d x, v8d y) { return (v8d)((m & (v8u)x) | (~m & (v8u)y)); }
LANES v8u v8u_choose(v8u m, v8u x, v8u y) { return (m & x) | (~m & y); }
LANES v8d v8d_abs(v8d x) { return (v8d)((v8u)x & 0x7fffffffffffffffull); }
LANES v8d v8d_neg(v8d x) { return (v8d)((v8u)x ^ 0x8000000000000000ull); }
LANES v8d v8d_fma(v8d x, v8d y, v8d z) { v8d r; for (int k = 0; k < 8; k++) r[k] = __builtin_fma(x[k], y[k], z[k]); return r; }
LANES v8d v8d_sqrt(v8d x) { v8d r; for (int k = 0; k < 8; k++) r[k] = __builtin_sqrt(x[k]); return r; }
LANES v8d v8d_floor(v8d x) { v8d r; for (int k = 0; k < 8; k++) r[k] = __builtin_floor(x[k]); return r; }
LANES v8d v8d_nearest(v8d x) { v8d r; for (int k = 0; k < 8; k++) r[k] = __builtin_nearbyint(x[k]); return r; }
LANES v8u v8u_whole(v8d x) { v8u r; for (int k = 0; k < 8; k++) r[k] = whole(x[k]); return r; }
LANES v8u v8u_mulh(v8u x, v8u y) { v8u r; for (int k = 0; k < 8; k++) r[k] = (u64)(((unsigned __int128)x[k] * y[k]) >> 64); return r; }
#if defined(__AVX512F__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_ptestmq512)
#define v8u_any(m) (__builtin_ia32_ptestmq512((v8i)(m), (v8i)(m), (u8)-1) != 0)
#endif
#endif
#ifndef v8u_any
LANES u8 v8u_any(v8u m) { u64 r = 0; for (int k = 0; k < 8; k++) r |= m[k]; return r != 0; }
#endif
";

/// The runtime's functions, set when a library is loaded.
pub(super) const HOOKS: &str = "static void *H[32];\n";

/// A float as C reads it.
pub(super) fn double(x: f64) -> String {
    if x.is_nan() || x.is_infinite() {
        return format!("real(0x{:x}ull)", x.to_bits());
    }
    let bits = x.to_bits();
    let (sign, exponent, fraction) = (bits >> 63, (bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let sign = if sign == 1 { "-" } else { "" };
    match exponent {
        0 if fraction == 0 => format!("{sign}0.0"),
        0 => format!("{sign}0x0.{fraction:013x}p-1022"),
        _ => format!("{sign}0x1.{fraction:013x}p{}", exponent as i64 - 1023),
    }
}

#[cfg(test)]
mod tests {
    use super::double;

    #[test]
    fn floats_are_exact() {
        assert_eq!(double(1.0), "0x1.0000000000000p0");
        assert_eq!(double(-0.1), "-0x1.999999999999ap-4");
        assert_eq!(double(-0.0), "-0.0");
        assert_eq!(double(5e-324), "0x0.0000000000001p-1022");
        assert_eq!(double(f64::MAX), "0x1.fffffffffffffp1023");
        assert_eq!(double(f64::NEG_INFINITY), "real(0xfff0000000000000ull)");
    }
}
