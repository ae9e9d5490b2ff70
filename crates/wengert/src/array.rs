//! Arrays of any number of dimensions that go into and come out of functions.

use std::fmt;
use wengert_core::ops::shaped::{self, Elements};
use wengert_core::ops::{Array as Inner, Data, Elem};

/// The most dimensions an array can have.
pub(crate) const MAX_RANK: usize = wengert_core::ir::types::MAX_RANK;

/// How many elements of a long axis are shown at each end of it.
const EDGE: usize = 3;

/// An array: a shape, and its elements in row-major order (the last axis fastest).
///
/// It has at least one axis and holds doubles, single-precision floats, integers or truth values.
///
/// ```
/// use wengert::Array;
///
/// let matrix = Array::new([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(matrix, Array::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
/// assert_eq!(matrix.shape(), [2, 3]);
/// assert_eq!(matrix.as_f64(), Some(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
/// assert_eq!(matrix.to_string(), "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]");
///
/// let ragged = Array::try_from(vec![vec![1.0, 2.0], vec![3.0]]);
/// assert_eq!(ragged.unwrap_err().to_string(), "row 1 has another length than row 0: 1 instead of 2");
/// # Ok::<(), wengert::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Array(pub(crate) Inner);

/// Why elements and a shape make no array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The shape asks for another number of elements.
    #[error("an array of shape {} does not have {given} elements", shaped::shown(.shape))]
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// How many elements were given.
        given: usize,
    },
    /// No dimensions, or too many.
    #[error("an array has 1 to {MAX_RANK} dimensions, not {0}")]
    Rank(usize),
    /// Rows of different lengths.
    #[error("row {row} has another length than row 0: {length} instead of {first}")]
    Ragged {
        /// The first row that differs.
        row: usize,
        /// Its length.
        length: usize,
        /// The length of row 0.
        first: usize,
    },
}

/// What an array can hold: `f64`, `f32`, `i64` and `bool`; `i32` becomes `i64`.
pub trait Element: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn data(elements: Vec<Self>) -> Elems;
}

/// Elements of one kind.
#[doc(hidden)]
#[derive(Debug)]
pub struct Elems(Data);

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($ty:ty, $x:ident => $data:expr;)+) => {
        $(
            impl sealed::Sealed for $ty {}
            impl Element for $ty {
                fn data($x: Vec<$ty>) -> Elems {
                    Elems($data)
                }
            }
        )+
    };
}

elements! {
    f64, x => Data::F64(x);
    f32, x => Data::F32(x);
    i64, x => Data::I64(x);
    i32, x => Data::I64(x.into_iter().map(i64::from).collect());
    bool, x => Data::Bool(x);
}

impl Array {
    /// An array of that shape with these elements, in row-major order.
    pub fn new<T: Element>(
        shape: impl Into<Vec<usize>>,
        elements: Vec<T>,
    ) -> Result<Array, ShapeError> {
        let (shape, given) = (shape.into(), elements.len());
        if !(1..=MAX_RANK).contains(&shape.len()) {
            return Err(ShapeError::Rank(shape.len()));
        }
        let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if count != Some(given) {
            return Err(ShapeError::Count { shape, given });
        }
        Ok(Array(Inner { shape, data: T::data(elements).0 }))
    }

    /// A vector.
    pub fn vector<T: Element>(elements: Vec<T>) -> Array {
        Array(Inner { shape: vec![elements.len()], data: T::data(elements).0 })
    }

    /// Elements along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.shape.len()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements, where they are doubles.
    pub fn as_f64(&self) -> Option<&[f64]> {
        if let Data::F64(x) = &self.0.data { Some(x) } else { None }
    }

    /// The elements, where they are single-precision floats.
    pub fn as_f32(&self) -> Option<&[f32]> {
        if let Data::F32(x) = &self.0.data { Some(x) } else { None }
    }

    /// The elements, where they are integers.
    pub fn as_i64(&self) -> Option<&[i64]> {
        if let Data::I64(x) = &self.0.data { Some(x) } else { None }
    }

    /// The elements, where they are truth values.
    pub fn as_bool(&self) -> Option<&[bool]> {
        if let Data::Bool(x) = &self.0.data { Some(x) } else { None }
    }

    /// The elements as doubles, where they are numbers; integers beyond 2^53 are rounded.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        match &self.0.data {
            Data::F64(x) => Some(x.clone()),
            Data::F32(x) => Some(x.iter().map(|x| f64::from(*x)).collect()),
            Data::I64(x) => Some(x.iter().map(|x| *x as f64).collect()),
            Data::Bool(_) => None,
        }
    }

    /// The elements and the shape, where the elements are doubles; otherwise the array again.
    pub fn into_f64(self) -> Result<(Vec<usize>, Vec<f64>), Array> {
        match self.0 {
            Inner { shape, data: Data::F64(x) } => Ok((shape, x)),
            other => Err(Array(other)),
        }
    }

    /// The elements and the shape, as [`Array::into_f64`], where the elements are single-precision floats.
    pub fn into_f32(self) -> Result<(Vec<usize>, Vec<f32>), Array> {
        match self.0 {
            Inner { shape, data: Data::F32(x) } => Ok((shape, x)),
            other => Err(Array(other)),
        }
    }

    /// The elements and the shape, as [`Array::into_f64`], where the elements are integers.
    pub fn into_i64(self) -> Result<(Vec<usize>, Vec<i64>), Array> {
        match self.0 {
            Inner { shape, data: Data::I64(x) } => Ok((shape, x)),
            other => Err(Array(other)),
        }
    }

    /// The elements and the shape, as [`Array::into_f64`], where the elements are truth values.
    pub fn into_bool(self) -> Result<(Vec<usize>, Vec<bool>), Array> {
        match self.0 {
            Inner { shape, data: Data::Bool(x) } => Ok((shape, x)),
            other => Err(Array(other)),
        }
    }

    /// The double at these indices, one per axis; nothing where there is none.
    ///
    /// ```
    /// let matrix = wengert::Array::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(matrix.get([1, 0]), Some(3.0));
    /// assert_eq!(matrix.get([2, 0]), None);
    /// ```
    pub fn get(&self, indices: impl AsRef<[usize]>) -> Option<f64> {
        let indices = indices.as_ref();
        if indices.len() != self.rank() || indices.iter().zip(self.shape()).any(|(i, n)| i >= n) {
            return None;
        }
        let at = indices.iter().zip(self.shape()).fold(0, |at, (i, n)| at * n + i);
        self.as_f64().map(|x| x[at])
    }

    /// What lies at a place along the first axis: a number, or an array with an axis less. Nothing where there is none.
    ///
    /// ```
    /// let matrix = wengert::Array::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(matrix.item(1), Some([3.0, 4.0].into()));
    /// assert_eq!(matrix.item(2), None);
    /// ```
    #[cfg(feature = "compile")]
    pub fn item(&self, k: usize) -> Option<crate::Value> {
        (k < self.shape()[0]).then(|| self.member(k))
    }

    /// The same elements in another shape.
    pub fn reshape(mut self, shape: impl Into<Vec<usize>>) -> Result<Array, ShapeError> {
        let shape = shape.into();
        if !(1..=MAX_RANK).contains(&shape.len()) {
            return Err(ShapeError::Rank(shape.len()));
        }
        if shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)) != Some(self.len()) {
            return Err(ShapeError::Count { shape, given: self.len() });
        }
        self.0.shape = shape;
        Ok(self)
    }

    /// As nested lists, of which long ones are cut short: `[1.0, 2.0, 3.0, ..., 8.0, 9.0, 10.0]`.
    pub fn abridged(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, Some(EDGE));
        text
    }

    fn write(&self, out: &mut dyn fmt::Write, edge: Option<usize>) -> fmt::Result {
        self.list(out, edge, 0, 0)
    }

    /// The part from element `at` on, from this axis inwards.
    fn list(
        &self,
        out: &mut dyn fmt::Write,
        edge: Option<usize>,
        axis: usize,
        at: usize,
    ) -> fmt::Result {
        if axis == self.rank() {
            return match self.0.elements() {
                Elements::F64(x) => float(out, x[at], format_args!("{:?}", x[at])),
                Elements::F32(x) => float(out, f64::from(x[at]), format_args!("{:?}", x[at])),
                Elements::I64(x) => write!(out, "{}", x[at]),
                Elements::Bool(x) => write!(out, "{}", x[at]),
            };
        }
        let n = self.shape()[axis];
        let stride = shaped::count(&self.shape()[axis + 1..]);
        // Cutting out fewer than three saves nothing.
        let left_out = edge.filter(|e| n > 2 * e + 2).map_or(n..n, |e| e..n - e);
        out.write_str("[")?;
        let mut k = 0;
        while k < n {
            out.write_str(if k > 0 { ", " } else { "" })?;
            if k == left_out.start {
                out.write_str("...")?;
                k = left_out.end;
                continue;
            }
            self.list(out, edge, axis + 1, at + k * stride)?;
            k += 1;
        }
        out.write_str("]")
    }

    pub(crate) fn elem(&self) -> Elem {
        self.0.elem()
    }
}

/// A float with the fewest digits that read back as the same float, or the word for it.
pub(crate) fn float(out: &mut dyn fmt::Write, x: f64, digits: fmt::Arguments<'_>) -> fmt::Result {
    match x {
        _ if x.is_finite() => out.write_fmt(digits),
        _ if x.is_nan() => out.write_str("nan"),
        _ if x > 0.0 => out.write_str("inf"),
        _ => out.write_str("-inf"),
    }
}

/// As nested lists, with every element.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None)
    }
}

impl<T: Element> From<Vec<T>> for Array {
    fn from(x: Vec<T>) -> Array {
        Array::vector(x)
    }
}

impl<T: Element> From<&Vec<T>> for Array {
    fn from(x: &Vec<T>) -> Array {
        Array::vector(x.clone())
    }
}

impl<T: Element> From<&[T]> for Array {
    fn from(x: &[T]) -> Array {
        Array::vector(x.to_vec())
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Array {
    fn from(x: [T; N]) -> Array {
        Array::vector(x.to_vec())
    }
}

impl<T: Element, const N: usize, const M: usize> From<[[T; M]; N]> for Array {
    fn from(x: [[T; M]; N]) -> Array {
        let elements = T::data(x.into_iter().flatten().collect());
        Array(Inner { shape: vec![N, M], data: elements.0 })
    }
}

impl<T: Element, const N: usize, const M: usize, const K: usize> From<[[[T; K]; M]; N]> for Array {
    fn from(x: [[[T; K]; M]; N]) -> Array {
        let elements = T::data(x.into_iter().flatten().flatten().collect());
        Array(Inner { shape: vec![N, M, K], data: elements.0 })
    }
}

/// Elements in row-major order, and the shape.
impl<T: Element> TryFrom<(&[T], &[usize])> for Array {
    type Error = ShapeError;

    fn try_from((elements, shape): (&[T], &[usize])) -> Result<Array, ShapeError> {
        Array::new(shape, elements.to_vec())
    }
}

/// Rows of equal length.
impl<T: Element> TryFrom<Vec<Vec<T>>> for Array {
    type Error = ShapeError;

    fn try_from(rows: Vec<Vec<T>>) -> Result<Array, ShapeError> {
        let (n, first) = (rows.len(), rows.first().map_or(0, Vec::len));
        if let Some(row) = rows.iter().position(|row| row.len() != first) {
            return Err(ShapeError::Ragged { row, length: rows[row].len(), first });
        }
        Array::new([n, first], rows.into_iter().flatten().collect())
    }
}

/// Matrices of one shape.
impl<T: Element> TryFrom<Vec<Vec<Vec<T>>>> for Array {
    type Error = ShapeError;

    fn try_from(rows: Vec<Vec<Vec<T>>>) -> Result<Array, ShapeError> {
        let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
        if let Some(row) = rows.iter().position(|row| row.len() != m) {
            return Err(ShapeError::Ragged { row, length: rows[row].len(), first: m });
        }
        let flat = Array::try_from(rows.into_iter().flatten().collect::<Vec<Vec<T>>>())?;
        let k = flat.shape()[1];
        flat.reshape([n, m, k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        assert_eq!(
            Array::new([2, 2], vec![1.0]).unwrap_err().to_string(),
            "an array of shape (2, 2) does not have 1 elements"
        );
        assert!(Array::new([usize::MAX, 2], vec![1.0]).is_err());
        assert!(Array::new([], vec![1.0]).is_err());
        assert!(Array::new([1; 9], vec![1.0]).is_err());
        assert!(Array::new([0, 5], Vec::<f64>::new()).is_ok());
        assert!(Array::try_from((&[1.0, 2.0][..], &[2, 1][..])).is_ok());
        assert!(Array::try_from(vec![vec![vec![1], vec![2]], vec![vec![3]]]).is_err());
        let cube = Array::try_from(vec![vec![vec![1], vec![2]], vec![vec![3], vec![4]]]).unwrap();
        assert_eq!((cube.shape(), cube.as_i64()), (&[2, 2, 1][..], Some(&[1, 2, 3, 4][..])));
    }

    #[test]
    fn nested_lists() {
        let text = |a: Array| a.to_string();
        assert_eq!(text([[1.0, 2.0], [3.0, 4.0]].into()), "[[1.0, 2.0], [3.0, 4.0]]");
        assert_eq!(text([[[true]], [[false]]].into()), "[[[true]], [[false]]]");
        assert_eq!(text([1, -2].into()), "[1, -2]");
        assert_eq!(text([0.1f32, f32::NAN].into()), "[0.1, nan]");
        assert_eq!(text([f64::INFINITY, -f64::INFINITY].into()), "[inf, -inf]");
        assert_eq!(text(Array::new([2, 0], Vec::<f64>::new()).unwrap()), "[[], []]");
    }

    #[test]
    fn long_lists_are_abridged() {
        let count = |n: i64| Array::from((0..n).collect::<Vec<i64>>()).abridged();
        assert_eq!(count(8), "[0, 1, 2, 3, 4, 5, 6, 7]");
        assert_eq!(count(30), "[0, 1, 2, ..., 27, 28, 29]");
        let square = Array::new([10, 2], (0..20).collect::<Vec<i64>>()).unwrap();
        assert_eq!(
            square.abridged(),
            "[[0, 1], [2, 3], [4, 5], ..., [14, 15], [16, 17], [18, 19]]"
        );
    }
}
