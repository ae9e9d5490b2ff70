//! Sets of input elements, shared between the values that depend on the same inputs.
//!
//! A few scattered elements are a sorted list; many close together are bits, one word per 64 elements of
//! the range they lie in. Whichever is smaller is taken, so a value of a banded problem costs a few bytes
//! and a value that depends on everything costs one bit per input.

use std::rc::Rc;

/// A set of numbers.
#[derive(Clone, Debug, Default)]
pub(super) enum Set {
    #[default]
    Empty,
    One(u32),
    /// Sorted, at least two.
    List(Rc<Vec<u32>>),
    Bits(Rc<Bits>),
}

/// Bits from the word `first` on.
#[derive(Debug)]
pub(super) struct Bits {
    first: usize,
    words: Vec<u64>,
    count: usize,
}

impl Bits {
    /// The word with this number, counted from element 0.
    fn word(&self, k: usize) -> u64 {
        k.checked_sub(self.first).and_then(|k| self.words.get(k)).copied().unwrap_or(0)
    }

    fn end(&self) -> usize {
        self.first + self.words.len()
    }
}

impl Set {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Set::Empty)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Set::Empty => 0,
            Set::One(_) => 1,
            Set::List(list) => list.len(),
            Set::Bits(bits) => bits.count,
        }
    }

    pub(super) fn contains(&self, x: u32) -> bool {
        match self {
            Set::Empty => false,
            Set::One(y) => x == *y,
            Set::List(list) => list.binary_search(&x).is_ok(),
            Set::Bits(bits) => bits.word(x as usize / 64) >> (x % 64) & 1 == 1,
        }
    }

    /// Appends the elements, in order.
    pub(super) fn append_to(&self, out: &mut Vec<u32>) {
        match self {
            Set::Empty => {}
            Set::One(x) => out.push(*x),
            Set::List(list) => out.extend_from_slice(list),
            Set::Bits(bits) => {
                for (k, word) in bits.words.iter().enumerate() {
                    let mut left = *word;
                    while left != 0 {
                        out.push(64 * (bits.first + k) as u32 + left.trailing_zeros());
                        left &= left - 1;
                    }
                }
            }
        }
    }

    /// The elements, in order.
    pub(super) fn elements(&self) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.len());
        self.append_to(&mut out);
        out
    }

    /// A number that equal storage has in common; two sets with one key are equal, while equal sets may
    /// have two.
    pub(super) fn key(&self) -> (u8, usize) {
        match self {
            Set::Empty => (0, 0),
            Set::One(x) => (1, *x as usize),
            Set::List(list) => (2, Rc::as_ptr(list) as usize),
            Set::Bits(bits) => (3, Rc::as_ptr(bits) as usize),
        }
    }

    /// The words the elements lie in.
    fn words(&self) -> std::ops::Range<usize> {
        match self {
            Set::Empty => 0..0,
            Set::One(x) => *x as usize / 64..*x as usize / 64 + 1,
            Set::List(list) => list[0] as usize / 64..list[list.len() - 1] as usize / 64 + 1,
            Set::Bits(bits) => bits.first..bits.end(),
        }
    }

    fn is_within(&self, other: &Set) -> bool {
        match (self, other) {
            (Set::Bits(a), Set::Bits(b)) => (a.first..a.end()).all(|k| a.word(k) & !b.word(k) == 0),
            (Set::Bits(_), _) => self.elements().iter().all(|x| other.contains(*x)),
            (Set::List(list), _) => list.iter().all(|x| other.contains(*x)),
            (Set::One(x), _) => other.contains(*x),
            (Set::Empty, _) => true,
        }
    }

    /// Both together. Where one contains the other, it is that one, not a copy.
    pub(super) fn union(&self, other: &Set) -> Set {
        if self.key() == other.key() {
            return self.clone();
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        if small.is_within(large) {
            return large.clone();
        }
        let (a, b) = (small.words(), large.words());
        let words = a.start.min(b.start)..a.end.max(b.end);
        if small.len() + large.len() > 2 * words.len().max(8) {
            return Set::from_bits(words, &[small, large]);
        }
        let (mut x, mut y) = (small.elements(), large.elements());
        x.append(&mut y);
        // Two sorted runs: this sort merges them.
        x.sort();
        x.dedup();
        Set::List(Rc::new(x))
    }

    /// All together, in pairs, so that no large set is copied for every small one.
    pub(super) fn union_of<'s>(sets: impl Iterator<Item = &'s Set>) -> Set {
        let mut sets: Vec<Set> = sets.filter(|s| !s.is_empty()).cloned().collect();
        while sets.len() > 1 {
            sets = sets
                .chunks(2)
                .map(|pair| pair.get(1).map_or_else(|| pair[0].clone(), |b| pair[0].union(b)))
                .collect();
        }
        sets.pop().unwrap_or_default()
    }

    fn from_bits(range: std::ops::Range<usize>, sets: &[&Set]) -> Set {
        let first = range.start;
        let mut words = vec![0u64; range.len()];
        let mut add = |k: usize, bits: u64| words[k - first] |= bits;
        for s in sets {
            match s {
                Set::Empty => {}
                Set::One(x) => add(*x as usize / 64, 1 << (x % 64)),
                Set::List(list) => list.iter().for_each(|x| add(*x as usize / 64, 1 << (x % 64))),
                Set::Bits(b) => b.words.iter().enumerate().for_each(|(k, w)| add(b.first + k, *w)),
            }
        }
        let count = words.iter().map(|w| w.count_ones() as usize).sum();
        Set::Bits(Rc::new(Bits { first, words, count }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Random;
    use std::collections::BTreeSet;

    #[test]
    fn unions_are_unions() {
        let seed = 11;
        let mut random = Random(seed);
        for round in 0..300 {
            let range = [10, 100, 1000, 100_000][round % 4];
            let (mut sets, mut truths) = (vec![Set::Empty], vec![BTreeSet::new()]);
            for _ in 0..60 {
                let at = random.below(sets.len() as u64) as usize;
                let one = random.below(range) as u32;
                let other = random.below(sets.len() as u64) as usize;
                let base = random.below(range);
                let (set, truth) = match random.below(3) {
                    0 => (sets[at].union(&Set::One(one)), &truths[at] | &BTreeSet::from([one])),
                    1 => (sets[at].union(&sets[other]), &truths[at] | &truths[other]),
                    _ => {
                        let run: BTreeSet<u32> = (base..base + 40).map(|x| x as u32).collect();
                        let set = run.iter().fold(sets[at].clone(), |s, x| s.union(&Set::One(*x)));
                        (set, &truths[at] | &run)
                    }
                };
                let expected: Vec<u32> = truth.iter().copied().collect();
                assert_eq!(set.elements(), expected, "seed {seed}");
                assert_eq!(set.len(), expected.len(), "seed {seed}");
                assert!(expected.iter().all(|x| set.contains(*x)) && !set.contains(200_000));
                sets.push(set);
                truths.push(truth);
                let all: Vec<u32> = truths
                    .iter()
                    .flatten()
                    .copied()
                    .collect::<BTreeSet<u32>>()
                    .into_iter()
                    .collect();
                assert_eq!(Set::union_of(sets.iter()).elements(), all, "seed {seed}");
            }
        }
    }

    #[test]
    fn contained_sets_are_shared() {
        let all = (0..1000).fold(Set::Empty, |s, x| s.union(&Set::One(x)));
        assert!(matches!(all, Set::Bits(_)));
        assert_eq!(all.union(&Set::One(500)).key(), all.key());
        let part = (100..200).fold(Set::Empty, |s, x| s.union(&Set::One(x)));
        assert_eq!(part.union(&all).key(), all.key());
        let scattered = Set::One(0).union(&Set::One(1 << 20));
        assert!(matches!(scattered, Set::List(_)));
    }
}
