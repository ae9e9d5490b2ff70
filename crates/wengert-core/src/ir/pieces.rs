//! Ranges of iterations in pieces: so many iterations each, and one more in the first ones.
//!
//! Written twice in the same words, as numbers for whoever runs pieces and as code for programs that run chunks
//! themselves; the tests hold the one to the other.

use super::builder::Builder;
use super::func::Value;
use crate::ops::Prim;

/// How many iterations a range has. More than a signed integer holds are more than will ever run.
pub fn trips(from: i64, to: i64) -> u64 {
    to.saturating_sub(from).max(0).cast_unsigned()
}

/// Where pieces begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split<N> {
    /// The iterations of each.
    each: N,
    /// How many of the first have one more.
    more: N,
}

impl Split<u64> {
    /// So many iterations in so many pieces.
    pub fn new(trips: u64, pieces: u64) -> Split<u64> {
        let each = trips / pieces.max(1);
        Split { each, more: trips - each * pieces }
    }

    /// The first iteration of a piece.
    pub fn start(self, piece: u64) -> u64 {
        self.each * piece + piece.min(self.more)
    }
}

/// [`trips`] as code.
pub(crate) fn trips_code(b: &mut Builder, from: Value, to: Value) -> Value {
    let (zero, endless) = (b.i64(0), b.i64(i64::MAX));
    let end = b.prim(Prim::IMax, &[from, to]);
    let trips = b.prim(Prim::WSub, &[end, from]);
    let wrapped = b.prim(Prim::ILt, &[trips, zero]);
    b.select(wrapped, endless, trips)
}

impl Split<Value> {
    /// The same as code.
    pub(crate) fn code(b: &mut Builder, trips: Value, pieces: Value) -> Split<Value> {
        let one = b.i64(1);
        let some = b.prim(Prim::IMax, &[pieces, one]);
        let each = b.prim(Prim::IDiv, &[trips, some]);
        let covered = b.prim(Prim::WMul, &[each, pieces]);
        Split { each, more: b.prim(Prim::WSub, &[trips, covered]) }
    }

    /// The same as code.
    pub(crate) fn start_code(self, b: &mut Builder, piece: Value) -> Value {
        let before = b.prim(Prim::WMul, &[self.each, piece]);
        let longer = b.prim(Prim::IMin, &[piece, self.more]);
        b.prim(Prim::WAdd, &[before, longer])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{Module, Type};
    use crate::ops::Scalar;

    /// `(from, to, pieces, piece) -> (trips, start)`.
    fn code() -> Module {
        let (mut b, p) = Builder::new("f", &[const { (Type::I64, None) }; 4]);
        let trips = trips_code(&mut b, p[0], p[1]);
        let start = Split::code(&mut b, trips, p[2]).start_code(&mut b, p[3]);
        Module::of(b.finish(vec![trips, start]))
    }

    #[test]
    fn code_and_numbers_agree() {
        let module = code();
        let ranges = [(0, 0), (0, 1), (3, 2), (-5, 90), (7, 8), (0, 1000), (i64::MIN, i64::MAX)];
        for (from, to) in ranges {
            for pieces in [1, 2, 7, 64] {
                let count = trips(from, to);
                let split = Split::new(count, pieces);
                for piece in [0, 1, pieces / 2, pieces - 1, pieces] {
                    let args = [from, to, pieces as i64, piece as i64].map(Val::i64).to_vec();
                    let found = Interp::new(&module).call("f", args).unwrap();
                    let wanted = [count, split.start(piece)].map(|n| Scalar::I64(n as i64));
                    let is_wanted = |(v, w): (&Val, &Scalar)| matches!(v, Val::Scalar(s) if s == w);
                    let agree = found.iter().zip(&wanted).all(is_wanted);
                    assert!(agree, "{from}..{to} in {pieces}, {piece}: {found:?}");
                }
            }
        }
    }

    /// Pieces follow each other without a gap, and differ by one iteration at most.
    #[test]
    fn pieces_cover_the_range() {
        for trips in (0..200).chain([1 << 40, i64::MAX as u64]) {
            for pieces in [1, 3, 64, 512] {
                let split = Split::new(trips, pieces);
                let starts: Vec<u64> = (0..=pieces).map(|k| split.start(k)).collect();
                assert_eq!((starts[0], starts[pieces as usize]), (0, trips));
                let lengths: Vec<u64> = starts.windows(2).map(|w| w[1] - w[0]).collect();
                let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
                assert!(most - least <= 1, "{trips} in {pieces}");
            }
        }
    }
}
