//! Numbers to test with.

/// Floats where something changes.
pub(crate) const FLOATS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    2.225073858507201e-308,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    9223372036854775807.0,
    -9223372036854775808.0,
    4503599627370497.5,
    708.5,
    1e7,
];

/// Single-precision floats where something changes.
pub(crate) const SINGLES: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1.1754942e-38,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    9.223372e18,
    -9.223372e18,
    8388609.0,
];

/// Integers where something changes.
pub(crate) const INTS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    -8,
    10,
    63,
    64,
    65,
    -64,
    i64::MAX,
    i64::MIN,
    i64::MAX - 1,
    i64::MIN + 1,
    0x7ff8_0000_0000_0001,
    1 << 53,
];

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.bits().is_multiple_of(n)
    }

    /// Any bits, or an ordinary number, or a special one.
    pub(crate) fn float(&mut self) -> f64 {
        let bits = self.bits();
        match self.bits() % 4 {
            0 => f64::from_bits(bits),
            1 => FLOATS[bits as usize % FLOATS.len()],
            _ => (bits as i64 as f64) / (1u64 << (50 + self.bits() % 14)) as f64,
        }
    }

    /// As `float`.
    pub(crate) fn single(&mut self) -> f32 {
        let bits = self.bits();
        match self.bits() % 4 {
            0 => f32::from_bits(bits as u32),
            1 => SINGLES[bits as usize % SINGLES.len()],
            _ => (bits as i64 as f32) / (1u64 << (50 + self.bits() % 14)) as f32,
        }
    }

    pub(crate) fn int(&mut self) -> i64 {
        let bits = self.bits();
        match self.bits() % 4 {
            0 => bits as i64,
            1 => INTS[bits as usize % INTS.len()],
            _ => bits as i64 >> (32 + self.bits() % 31),
        }
    }
}
