//! Numbers that tell states apart.

/// Odd, with as many ones as zeros; nothing else is asked of it.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that depends on all words it is given, in their order. Other words give another number but for chance; somebody who wants
/// the same number can find words for it.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    lanes: [u64; 4],
    words: u64,
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint { lanes: [1, 2, 3, 4].map(|k: u64| k.wrapping_mul(MIX)), words: 0 }
    }
}

impl Fingerprint {
    /// Of nothing yet.
    pub fn new() -> Fingerprint {
        Fingerprint::default()
    }

    /// Takes a word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        let lane = &mut self.lanes[(self.words % 4) as usize];
        // What is above goes below, too: a product alone takes the highest bit nowhere.
        let mixed = (*lane ^ word).wrapping_mul(MIX);
        *lane = (mixed ^ (mixed >> 32)).wrapping_mul(MIX);
        self.words += 1;
    }

    /// Takes floats. All NaN are the same.
    pub fn floats(&mut self, floats: &[f64]) {
        floats.iter().for_each(|x| self.word(if x.is_nan() { u64::MAX } else { x.to_bits() }));
    }

    /// Takes bytes, and how many there are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    /// The number.
    pub fn finish(&self) -> u64 {
        let mut all = self.words.wrapping_mul(MIX);
        for lane in self.lanes {
            all = (all ^ lane).wrapping_mul(MIX);
            all ^= all >> 32;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn of(bytes: &[u8]) -> u64 {
        let mut print = Fingerprint::new();
        print.bytes(bytes);
        print.finish()
    }

    #[test]
    fn every_bit_and_the_order_count() {
        let mut seen = HashSet::new();
        for length in 0..40usize {
            let bytes: Vec<u8> = (0..length).map(|k| (7 * k) as u8).collect();
            assert!(seen.insert(of(&bytes)));
            for bit in 0..8 * length {
                let mut other = bytes.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(seen.insert(of(&other)), "{length} {bit}");
            }
        }
        let floats = |x: &[f64]| {
            let mut print = Fingerprint::new();
            print.floats(x);
            print.finish()
        };
        assert_ne!(floats(&[1.0, 2.0, 3.0, 4.0, 5.0]), floats(&[5.0, 2.0, 3.0, 4.0, 1.0]));
        assert_ne!(floats(&[0.0]), floats(&[-0.0]));
        assert_eq!(floats(&[f64::NAN]), floats(&[-f64::NAN]));
    }
}
