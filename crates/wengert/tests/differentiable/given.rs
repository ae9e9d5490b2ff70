//! Arguments, directions and adjoints of many types out of lists of numbers, and back.

/// A list of numbers in the shape of an array; that of one number is empty.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

impl Numbers {
    /// As many numbers in no order, none of them zero.
    pub(crate) fn any_like(&self, seed: &mut u64) -> Numbers {
        let any = |_| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 40) as f64 / (1 << 23) as f64 - 0.999_999
        };
        Numbers { shape: self.shape.clone(), data: (0..self.data.len()).map(any).collect() }
    }

    /// As many zeros.
    pub(crate) fn zeros_like(&self) -> Numbers {
        Numbers { shape: self.shape.clone(), data: vec![0.0; self.data.len()] }
    }
}

/// What holds the value of an argument, or is a result.
pub(crate) trait Data: Clone {
    /// How many axes it has.
    const RANK: usize;

    /// Made of the next numbers, of these lengths.
    fn of(shape: &[usize], next: &mut std::slice::Iter<'_, f64>) -> Self;

    /// Adds its numbers.
    fn spread(&self, to: &mut Vec<f64>);
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Data for $ty {
            const RANK: usize = 0;

            fn of(_: &[usize], next: &mut std::slice::Iter<'_, f64>) -> Self {
                *next.next().unwrap() as $ty
            }

            fn spread(&self, to: &mut Vec<f64>) {
                to.push(*self as f64);
            }
        }
    )*};
}
scalars! { f64 usize i32 u8 u32 u64 }

impl<T: Data> Data for Vec<T> {
    const RANK: usize = 1 + T::RANK;

    fn of(shape: &[usize], next: &mut std::slice::Iter<'_, f64>) -> Self {
        (0..shape[0]).map(|_| T::of(&shape[1..], next)).collect()
    }

    fn spread(&self, to: &mut Vec<f64>) {
        self.iter().for_each(|x| x.spread(to));
    }
}

impl<T: Data, const N: usize> Data for [T; N] {
    const RANK: usize = 1 + T::RANK;

    fn of(shape: &[usize], next: &mut std::slice::Iter<'_, f64>) -> Self {
        assert_eq!(shape[0], N, "an array of another length");
        std::array::from_fn(|_| T::of(&shape[1..], next))
    }

    fn spread(&self, to: &mut Vec<f64>) {
        self.iter().for_each(|x| x.spread(to));
    }
}

macro_rules! tuples {
    ($(($($t:ident $x:ident)*))*) => {$(
        #[allow(unused_variables)]
        impl<$($t: Data),*> Data for ($($t,)*) {
            const RANK: usize = 0;

            fn of(shape: &[usize], next: &mut std::slice::Iter<'_, f64>) -> Self {
                ($($t::of(shape, next),)*)
            }

            fn spread(&self, to: &mut Vec<f64>) {
                let ($($x,)*) = self;
                $($x.spread(to);)*
            }
        }
    )*};
}
tuples! { () (A a) (A a B b) (A a B b C c) (A a B b C c D d) (A a B b C c D d E e) (A a B b C c D d E e F f) }

/// How a type of parameters is passed out of what holds it.
pub(crate) trait Pass<'a> {
    /// What holds it.
    type Held: Data + 'a;

    fn pass(held: &'a mut Self::Held) -> Self;
}

macro_rules! by_value {
    ($($ty:ty),*) => {$(
        impl<'a> Pass<'a> for $ty {
            type Held = $ty;

            fn pass(held: &'a mut $ty) -> $ty {
                *held
            }
        }
    )*};
}
by_value! { f64, usize, i32, u32, u64, (f64, f64) }

impl<'a, T: Data> Pass<'a> for &'a [T] {
    type Held = Vec<T>;

    fn pass(held: &'a mut Vec<T>) -> &'a [T] {
        held
    }
}

impl<'a, T: Data> Pass<'a> for &'a mut [T] {
    type Held = Vec<T>;

    fn pass(held: &'a mut Vec<T>) -> &'a mut [T] {
        held
    }
}

impl<'a, T: Data, const N: usize> Pass<'a> for &'a [T; N] {
    type Held = [T; N];

    fn pass(held: &'a mut [T; N]) -> &'a [T; N] {
        held
    }
}

impl<'a, T: Data, const N: usize> Pass<'a> for &'a mut [T; N] {
    type Held = [T; N];

    fn pass(held: &'a mut [T; N]) -> &'a mut [T; N] {
        held
    }
}

/// An argument with a direction and an adjoint.
#[derive(Clone)]
pub(crate) struct Held<T> {
    pub(crate) arg: T,
    pub(crate) dot: T,
    pub(crate) bar: T,
}

/// All numbers of something.
pub(crate) fn all(of: &impl Data) -> Vec<f64> {
    let mut to = Vec::new();
    of.spread(&mut to);
    to
}
