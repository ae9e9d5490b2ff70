//! Arrays as values: a shape and elements in row-major order.
//!
//! [`Array`] owns its elements; [`Elements`] and [`ElementsMut`] borrow them, so that the kernels in
//! [`super::kernels`] work for the interpreter and for native code alike.

use super::room;
use super::value::{Elem, Scalar, canonical_bits};

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Elements along each axis.
    pub shape: Vec<usize>,
    /// The elements, last axis fastest.
    pub data: Data,
}

/// Elements of one kind.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
}

/// Borrowed elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Elements<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    I64(&'a [i64]),
    Bool(&'a [bool]),
}

/// Borrowed elements that can be written.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum ElementsMut<'a> {
    F64(&'a mut [f64]),
    F32(&'a mut [f32]),
    I64(&'a mut [i64]),
    Bool(&'a mut [bool]),
}

/// Runs the same code for every kind of element.
macro_rules! for_each_kind {
    ($kind:ident, $value:expr, $x:ident => $body:expr) => {
        match $value {
            $kind::F64($x) => $body,
            $kind::F32($x) => $body,
            $kind::I64($x) => $body,
            $kind::Bool($x) => $body,
        }
    };
}

impl Array {
    /// A vector of doubles.
    pub fn vector(x: Vec<f64>) -> Array {
        Array { shape: vec![x.len()], data: Data::F64(x) }
    }

    /// An array of doubles; the shape has as many elements.
    ///
    /// # Panics
    /// Where it has not.
    pub fn new(shape: Vec<usize>, x: Vec<f64>) -> Array {
        assert_eq!(checked_count(&shape), Some(x.len()), "the shape does not fit the elements");
        Array { shape, data: Data::F64(x) }
    }

    /// An array of equal elements; `None` where there is not enough memory.
    pub fn filled(shape: Vec<usize>, value: Scalar) -> Option<Array> {
        let n = checked_count(&shape)?;
        fn all<T: Clone + 'static>(n: usize, x: T) -> Option<Vec<T>> {
            let mut v = room::reserve(n)?;
            v.resize(n, x);
            Some(v)
        }
        let data = match value {
            Scalar::F64(x) => Data::F64(all(n, x)?),
            Scalar::F32(x) => Data::F32(all(n, x)?),
            Scalar::I64(x) => Data::I64(all(n, x)?),
            Scalar::Bool(x) => Data::Bool(all(n, x)?),
        };
        Some(Array { shape, data })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.elements().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds.
    pub fn elem(&self) -> Elem {
        self.elements().elem()
    }

    /// The elements.
    pub fn elements(&self) -> Elements<'_> {
        match &self.data {
            Data::F64(x) => Elements::F64(x),
            Data::F32(x) => Elements::F32(x),
            Data::I64(x) => Elements::I64(x),
            Data::Bool(x) => Elements::Bool(x),
        }
    }

    /// The elements, to be written.
    pub fn elements_mut(&mut self) -> ElementsMut<'_> {
        match &mut self.data {
            Data::F64(x) => ElementsMut::F64(x),
            Data::F32(x) => ElementsMut::F32(x),
            Data::I64(x) => ElementsMut::I64(x),
            Data::Bool(x) => ElementsMut::Bool(x),
        }
    }

    /// The doubles of an array of doubles; nothing for another kind.
    pub fn f64s(&self) -> &[f64] {
        match &self.data {
            Data::F64(x) => x,
            _ => &[],
        }
    }

    /// The floats of an array, as doubles; nothing where it holds no floats.
    pub fn floats(&self) -> Vec<f64> {
        match &self.data {
            Data::F64(x) => x.clone(),
            Data::F32(x) => x.iter().map(|x| f64::from(*x)).collect(),
            _ => Vec::new(),
        }
    }

    /// An array of this shape and kind with these floats.
    pub fn with_floats(&self, floats: impl Iterator<Item = f64>) -> Array {
        let data = match &self.data {
            Data::F64(_) => Data::F64(floats.collect()),
            Data::F32(_) => Data::F32(floats.map(|x| x as f32).collect()),
            other => other.clone(),
        };
        Array { shape: self.shape.clone(), data }
    }

    /// Its elements as scalars.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + '_ {
        (0..self.len()).map(|k| self.elements().get(k))
    }

    /// A key under which equal bits (and any two NaN) compare equal.
    pub fn key(&self) -> (Vec<usize>, Vec<u64>) {
        (self.shape.clone(), self.scalars().map(|s| s.key().1).collect())
    }
}

/// As nested lists.
impl std::fmt::Display for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn list(
            x: &Array,
            axis: usize,
            at: &mut usize,
            f: &mut std::fmt::Formatter<'_>,
        ) -> std::fmt::Result {
            if axis == x.shape.len() {
                *at += 1;
                return write!(f, "{}", x.elements().get(*at - 1));
            }
            f.write_str("[")?;
            for k in 0..x.shape[axis] {
                f.write_str(if k > 0 { ", " } else { "" })?;
                list(x, axis + 1, at, f)?;
            }
            f.write_str("]")
        }
        list(self, 0, &mut 0, f)
    }
}

impl Elements<'_> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        for_each_kind!(Elements, self, x => x.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they are.
    pub fn elem(&self) -> Elem {
        match self {
            Elements::F64(_) => Elem::F64,
            Elements::F32(_) => Elem::F32,
            Elements::I64(_) => Elem::I64,
            Elements::Bool(_) => Elem::Bool,
        }
    }

    /// Element `k`, which exists.
    pub fn get(&self, k: usize) -> Scalar {
        match self {
            Elements::F64(x) => Scalar::F64(x[k]),
            Elements::F32(x) => Scalar::F32(x[k]),
            Elements::I64(x) => Scalar::I64(x[k]),
            Elements::Bool(x) => Scalar::Bool(x[k]),
        }
    }
}

impl Elements<'_> {
    /// A copy.
    pub fn to_data(&self) -> Data {
        match self {
            Elements::F64(x) => Data::F64(x.to_vec()),
            Elements::F32(x) => Data::F32(x.to_vec()),
            Elements::I64(x) => Data::I64(x.to_vec()),
            Elements::Bool(x) => Data::Bool(x.to_vec()),
        }
    }
}

impl ElementsMut<'_> {
    /// Writes element `k`, which exists, with a value of the same kind.
    pub fn set(&mut self, k: usize, value: Scalar) {
        match (self, value) {
            (ElementsMut::F64(x), Scalar::F64(v)) => x[k] = v,
            (ElementsMut::F32(x), Scalar::F32(v)) => x[k] = v,
            (ElementsMut::I64(x), Scalar::I64(v)) => x[k] = v,
            (ElementsMut::Bool(x), Scalar::Bool(v)) => x[k] = v,
            _ => debug_assert!(false, "an element of another kind"),
        }
    }
}

/// Whether two slices of doubles are equal to the bit, any two NaN being equal.
pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| canonical_bits(*a) == canonical_bits(*b))
}

/// How many elements an array of that shape would have; nothing where the dimensions or their number
/// are no indices. For shapes that come from outside.
///
/// ```
/// use wengert_core::ops::shaped;
///
/// assert_eq!(shaped::checked_count(&[2, 3]), Some(6));
/// assert_eq!(shaped::checked_count(&[1 << 32, 1 << 32]), None);
/// assert_eq!(shaped::checked_count(&[1 << 32, 1 << 32, 0]), Some(0));
/// ```
pub fn checked_count(shape: &[usize]) -> Option<usize> {
    let index = |n: &usize| i64::try_from(*n).is_ok();
    if !shape.iter().all(index) {
        return None;
    }
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(index)
}

/// How many elements an array of that shape has. A dimension of 0 may stand beside ones whose product
/// does not fit, so nothing here fails: the shape is one that exists.
pub fn count(shape: &[usize]) -> usize {
    shape.iter().fold(1, |n, d| n.wrapping_mul(*d))
}

/// A shape as it stands in messages: `(3, 4)`.
pub fn shown(shape: &[usize]) -> String {
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({}{})", dims.join(", "), if shape.len() == 1 { "," } else { "" })
}
