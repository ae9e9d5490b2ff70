//! What stands before every program in C, and how numbers are written in it.

/// Part of the key of compiled objects: goes up when the same program is printed otherwise.
pub(super) const VERSION: u32 = 3;

/// What stands before every program.
pub(super) const PRELUDE: &str = "\
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
static inline u64 whole(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return 0x7fffffffffffffffull;
  if (x < -0x1p63) return 0x8000000000000000ull;
  return (u64)(i64)x;
}
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
