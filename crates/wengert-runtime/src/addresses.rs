//! Addresses as keys.
//!
//! They are as good as random in their middle bits, and nobody else chooses them: one multiplication spreads them,
//! where the hasher of the standard library defends against chosen keys.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds hashers of addresses.
pub(crate) type Addresses = BuildHasherDefault<Spread>;

#[derive(Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_usize(usize::from(*b)));
    }

    fn write_usize(&mut self, address: usize) {
        // An odd number near 2^64 over the golden ratio; tables take the low bits and the highest ones.
        let spread = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread.rotate_left(32);
    }
}
