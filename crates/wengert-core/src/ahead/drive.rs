//! Outlined loops of printed programs, and who runs them.
//!
//! A loop is two types: [`Forward`] has the functions that run a range of its iterations, [`Backward`] the one that reverses a range.
//! A [`Driver`] decides which ranges are run and when. With [`All`] every iteration is recorded and then reversed: the text calls the
//! functions themselves, and nothing of this file is in what is compiled. Other drivers keep to a memory, and are given what the
//! loop carries and reads as [`Values`].

use super::array::{Array, Element};
use super::faults::Result;
use super::tape::Tape;
use crate::ops::shaped::Elements;

/// Takes in what values are made of, to tell them from others.
pub trait Prints {
    /// A word.
    fn word(&mut self, word: u64);
    /// Floats: all NaNs are the same.
    fn floats(&mut self, x: &[f64]);
}

/// Values that a loop carries or reads: numbers and arrays, and of several of them pairs in pairs, `(a, (b, ()))`.
pub trait Values: Sized + 'static {
    /// The same where arrays are somebody else's.
    type Lent<'a>: Copy;

    /// Lends them.
    fn lend(&self) -> Self::Lent<'_>;

    /// Copies of them; nothing where there is no memory.
    fn copied(lent: Self::Lent<'_>) -> Option<Self>;

    /// Bytes of arrays.
    fn array_bytes(&self) -> u64;

    /// Bytes that [`Values::save`] writes.
    fn bytes(&self) -> u64;

    /// Writes them to as many bytes as they take, and moves on to those behind.
    fn save(&self, to: &mut &mut [u8]);

    /// What was saved, in the memory of others, which are gone then; nothing where there is not enough memory.
    fn load(from: &mut &[u8], others: Option<Self>) -> Option<Self>;

    /// Tells them from others.
    fn print(&self, to: &mut impl Prints);
}

impl Values for () {
    type Lent<'a> = ();

    fn lend(&self) {}

    fn copied((): ()) -> Option<()> {
        Some(())
    }

    fn array_bytes(&self) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn save(&self, _: &mut &mut [u8]) {}

    fn load(_: &mut &[u8], _: Option<()>) -> Option<()> {
        Some(())
    }

    fn print(&self, _: &mut impl Prints) {}
}

impl<A: Values, B: Values> Values for (A, B) {
    type Lent<'a> = (A::Lent<'a>, B::Lent<'a>);

    fn lend(&self) -> Self::Lent<'_> {
        (self.0.lend(), self.1.lend())
    }

    fn copied((a, b): Self::Lent<'_>) -> Option<Self> {
        Some((A::copied(a)?, B::copied(b)?))
    }

    fn array_bytes(&self) -> u64 {
        self.0.array_bytes() + self.1.array_bytes()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes() + self.1.bytes()
    }

    fn save(&self, to: &mut &mut [u8]) {
        self.0.save(to);
        self.1.save(to);
    }

    fn load(from: &mut &[u8], others: Option<Self>) -> Option<Self> {
        let (a, b) = others.unzip();
        Some((A::load(from, a)?, B::load(from, b)?))
    }

    fn print(&self, to: &mut impl Prints) {
        self.0.print(to);
        self.1.print(to);
    }
}

/// Writes bytes and moves on.
fn put(to: &mut &mut [u8], bytes: &[u8]) {
    if let Some(place) = to.split_off_mut(..bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Reads so many bytes and moves on.
fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    from.split_off(..N)?.try_into().ok()
}

/// Numbers as bytes.
trait Number: Element {
    const BYTES: usize;
    fn put_all(x: &[Self], to: &mut &mut [u8]);
    /// Adds so many of them to others.
    fn take_all(from: &mut &[u8], count: usize, to: &mut Vec<Self>) -> Option<()>;
}

macro_rules! numbers {
    ($($ty:ident, $bytes:literal, $x:ident => $plain:expr, $b:ident => $number:expr;)*) => {$(
        impl Number for $ty {
            const BYTES: usize = $bytes;

            fn put_all(x: &[$ty], to: &mut &mut [u8]) {
                let Some(place) = to.split_off_mut(..x.len() * $bytes) else { return };
                for ($x, place) in x.iter().zip(place.as_chunks_mut::<$bytes>().0) {
                    *place = $plain;
                }
            }

            fn take_all(from: &mut &[u8], count: usize, to: &mut Vec<$ty>) -> Option<()> {
                let bytes = from.split_off(..count.checked_mul($bytes)?)?;
                to.extend(bytes.as_chunks::<$bytes>().0.iter().map(|$b| $number));
                Some(())
            }
        }

        impl Values for $ty {
            type Lent<'a> = $ty;

            #[inline(always)]
            fn lend(&self) -> $ty {
                *self
            }

            #[inline(always)]
            fn copied(lent: $ty) -> Option<$ty> {
                Some(lent)
            }

            fn array_bytes(&self) -> u64 {
                0
            }

            // As everywhere a number alone is a word.
            fn bytes(&self) -> u64 {
                8
            }

            fn save(&self, to: &mut &mut [u8]) {
                let mut word = [0; 8];
                <$ty>::put_all(&[*self], &mut &mut word[..]);
                put(to, &word);
            }

            fn load(from: &mut &[u8], _: Option<$ty>) -> Option<$ty> {
                let word = take::<8>(from)?;
                let $b = word.first_chunk::<$bytes>()?;
                Some($number)
            }

            fn print(&self, to: &mut impl Prints) {
                print(<$ty as Element>::elements(&[*self]), to);
            }
        }
    )*};
}
numbers! {
    f64, 8, x => x.to_le_bytes(), b => f64::from_le_bytes(*b);
    f32, 4, x => x.to_le_bytes(), b => f32::from_le_bytes(*b);
    i64, 8, x => x.to_le_bytes(), b => i64::from_le_bytes(*b);
    bool, 1, x => [u8::from(*x)], b => b[0] != 0;
}

fn print(elements: Elements, to: &mut impl Prints) {
    match elements {
        Elements::F64(x) => to.floats(x),
        Elements::F32(x) => {
            x.iter().for_each(|x| to.floats(&[f64::from(*x)]));
        }
        Elements::I64(x) => x.iter().for_each(|x| to.word(*x as u64)),
        Elements::Bool(x) => x.iter().for_each(|x| to.word(u64::from(*x))),
    }
}

impl<T: Number, const R: usize> Values for Array<T, R> {
    type Lent<'a> = &'a Array<T, R>;

    #[inline(always)]
    fn lend(&self) -> &Array<T, R> {
        self
    }

    fn copied(lent: &Array<T, R>) -> Option<Array<T, R>> {
        let mut data = Vec::new();
        data.try_reserve_exact(lent.data().len()).ok()?;
        data.extend_from_slice(lent.data());
        Array::new(*lent.dims(), data)
    }

    fn array_bytes(&self) -> u64 {
        size_of_val(self.data()) as u64
    }

    fn bytes(&self) -> u64 {
        (8 * R + T::BYTES * self.data().len()) as u64
    }

    fn save(&self, to: &mut &mut [u8]) {
        self.dims().iter().for_each(|dim| put(to, &(*dim as u64).to_le_bytes()));
        T::put_all(self.data(), to);
    }

    fn load(from: &mut &[u8], others: Option<Self>) -> Option<Self> {
        let mut dims = [0_usize; R];
        for dim in &mut dims {
            *dim = u64::from_le_bytes(take(from)?).try_into().ok()?;
        }
        let count = crate::ops::shaped::checked_count(&dims)?;
        let mut data = others.map_or_else(Vec::new, Array::into_data);
        if data.capacity() > 2 * count {
            data = Vec::new();
        }
        data.clear();
        data.try_reserve_exact(count).ok()?;
        T::take_all(from, count, &mut data)?;
        Array::new(dims, data)
    }

    fn print(&self, to: &mut impl Prints) {
        self.dims().iter().for_each(|dim| to.word(*dim as u64));
        print(T::elements(self.data()), to);
    }
}

/// What a range of iterations comes to: what is carried behind it, how far it came, and by which exit.
pub type Ran<C> = Result<(C, i64, i64)>;

/// A loop on its way forward.
pub trait Forward: 'static {
    /// What iterations hand on.
    type Carries: Values;
    /// What they only read.
    type Captures: Values;
    /// Where it begins and ends in the source.
    const PLACE: (u32, u32);
    /// Whether there are as many iterations as its range says.
    const COUNTED: bool;
    /// Whether an iteration that an exit cut short is reversed by the code around it.
    const CUT_APART: bool;
    /// How many loops share a memory with it, itself among them: those of the function that runs it.
    const BESIDE: u64;
    /// Whether its iterations run loops that can be run in pieces as well.
    const NESTED: bool;

    /// Runs a range of iterations.
    fn advance<D: Driver>(
        driver: &mut D,
        range: [i64; 2],
        carries: Self::Carries,
        captures: <Self::Captures as Values>::Lent<'_>,
    ) -> Ran<Self::Carries>;

    /// Runs a range of iterations and records each.
    fn record<D: Driver>(
        driver: &mut D,
        range: [i64; 2],
        carries: Self::Carries,
        captures: <Self::Captures as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Ran<Self::Carries>;
}

/// The same loop on its way back.
pub trait Backward: 'static {
    /// The way forward.
    type Of: Forward;
    /// Adjoints, and what else the way back hands on.
    type State: Values;
    /// What it only reads.
    type Fixed: Values;

    /// Reverses a range of iterations that was recorded, and the one behind it that an exit cut short.
    fn reverse<D: Driver>(
        driver: &mut D,
        range: [i64; 3],
        state: Self::State,
        fixed: <Self::Fixed as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Result<Self::State>;
}

/// Who runs loops.
pub trait Driver: Sized {
    /// Whether everything is recorded and reversed, always.
    const ALL: bool;

    /// Whether loops that begin or are reversed now are parts of the iterations of another one: everything of them is recorded and
    /// reversed.
    fn is_shut(&self) -> bool;

    /// A tape without records, for what it runs.
    fn tape(&self) -> Tape;

    /// The way forward, from the start of a range to its end or an exit.
    fn forward<L: Forward>(
        &mut self,
        range: [i64; 2],
        carries: L::Carries,
        captures: <L::Captures as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Ran<L::Carries>;

    /// The way back: where the loop began, how far it came, and by which exit.
    fn backward<L: Backward>(
        &mut self,
        range: [i64; 3],
        state: L::State,
        fixed: <L::Fixed as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Result<L::State>;
}

/// Records every iteration of a loop, and then reverses every one.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl Driver for All {
    const ALL: bool = true;

    #[inline(always)]
    fn is_shut(&self) -> bool {
        true
    }

    #[inline(always)]
    fn tape(&self) -> Tape {
        Tape::again()
    }

    fn forward<L: Forward>(
        &mut self,
        range: [i64; 2],
        carries: L::Carries,
        captures: <L::Captures as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Ran<L::Carries> {
        L::record(self, range, carries, captures, tape)
    }

    fn backward<L: Backward>(
        &mut self,
        range: [i64; 3],
        state: L::State,
        fixed: <L::Fixed as Values>::Lent<'_>,
        tape: &mut Tape,
    ) -> Result<L::State> {
        L::reverse(self, range, state, fixed, tape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        type All = (f64, (f32, (i64, (bool, (Array<f64, 2>, (Array<bool, 1>, ()))))));
        let x = Array::new([2, 3], (0..6).map(f64::from).collect()).unwrap();
        let y = Array::new([0], Vec::new()).unwrap();
        let all: All = (1.5, (-2.5, (-7, (true, (x, (y, ()))))));
        let mut bytes = vec![0; all.bytes() as usize];
        let mut rest = &mut bytes[..];
        all.save(&mut rest);
        assert!(rest.is_empty());
        let others: All = All::copied(all.lend()).unwrap();
        for others in [None, Some(others)] {
            let mut from = &bytes[..];
            assert_eq!(All::load(&mut from, others).unwrap(), all);
            assert!(from.is_empty());
        }
        // Cut short it is nothing.
        assert!(All::load(&mut &bytes[..bytes.len() - 1], None).is_none());
    }
}
