//! What array operations compute: the value column of their table.
//!
//! Every backend runs these same functions, so it gives the same bits. The order of every sum is
//! fixed here, once:
//!
//! - `sum` and `dot`: blocks of [`BLOCK`] elements, each in eight interleaved lanes that are then added as a
//!   tree; the blocks are added pairwise.
//! - `gemm` of a matrix with a vector: one `dot` per row. Every other product: a chain of fused
//!   multiply-adds in index order per element, starting from the accumulator, so that no blocking can change a bit.
//! - `sum[axis]`, `cumsum`, `add_slice`, `scatter_add`: in index order.

use super::array::{ArrayOp, Check, Transposed};
use super::room;
use super::section::{Section, map_kind, strides};
use super::shaped::{Array, Data, Elements, ElementsMut, checked_count, count, shown};
pub use super::sums::{BLOCK, Float, dot, sum};
use super::sums::{columns, cumsum, outer, product, rows, sum_axis};
use super::value::{Elem, Scalar};
use crate::fault::FaultKind;
use std::cmp::Ordering;

/// An operand of an array operation.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A number.
    Scalar(Scalar),
    /// An array: its shape and elements.
    Array(&'a [usize], Elements<'a>),
}

/// The result of an operation that makes something new.
#[derive(Clone, Debug)]
pub enum Computed {
    /// A number.
    Scalar(Scalar),
    /// A new array.
    Array(Array),
    /// A check that passed.
    Nothing,
}

type Kernel<T> = Result<T, FaultKind>;

impl<'a> Operand<'a> {
    pub(super) fn int(&self) -> i64 {
        match self {
            Operand::Scalar(Scalar::I64(i)) => *i,
            _ => 0,
        }
    }

    fn array(&self) -> (&'a [usize], Elements<'a>) {
        match self {
            Operand::Array(shape, elements) => (shape, *elements),
            Operand::Scalar(_) => (&[], Elements::F64(&[])),
        }
    }

    fn ints(&self) -> &'a [i64] {
        match self {
            Operand::Array(_, Elements::I64(x)) => x,
            _ => &[],
        }
    }
}

/// Runs an operation that makes something new. The verifier has checked the types.
///
/// This and [`update`] are compiled into their callers, which may be compiled for machines with more
/// instructions; see [`super::sums`].
#[inline(always)]
pub fn compute(op: &ArrayOp, args: &[Operand]) -> Kernel<Computed> {
    let (shape, x) = args[0].array();
    let array = |shape: Vec<usize>, data: Data| Ok(Computed::Array(Array { shape, data }));
    match op {
        ArrayOp::Peek => {
            let k = index(args[1].int(), x.len(), None)?;
            Ok(Computed::Scalar(x.get(k)))
        }
        ArrayOp::Slice => {
            let section = Section::new(shape, &args[1..])?;
            array(section.counts().into_vec(), section.of(x))
        }
        ArrayOp::Reshape => {
            let wanted = dims(&args[1..])?;
            if checked_count(&wanted) != Some(x.len()) {
                let (from, to) = (shown(shape), shown(&wanted));
                return shapes(format!("an array of shape {from} cannot become one of shape {to}"));
            }
            array(wanted, owned(x))
        }
        ArrayOp::Transpose(axes) => {
            let strides = strides(shape);
            let from: Vec<(usize, usize)> =
                axes.iter().map(|a| (shape[*a as usize], strides[*a as usize])).collect();
            let section = Section::all(&from);
            array(section.counts().into_vec(), section.of(x))
        }
        ArrayOp::Expand(axis) => {
            let n = length(args[1].int())?;
            let axis = *axis as usize;
            let strides = strides(shape);
            let mut from: Vec<(usize, usize)> =
                shape.iter().copied().zip(strides.iter().copied()).collect();
            from.insert(axis, (n, 0));
            let wanted: Vec<usize> = from.iter().map(|(n, _)| *n).collect();
            reserve(&wanted)?;
            array(wanted, Section::all(&from).of(x))
        }
        ArrayOp::Sum(None) => Ok(Computed::Scalar(match x {
            Elements::F32(x) => Scalar::F32(sum(x)),
            Elements::F64(x) => Scalar::F64(sum(x)),
            _ => Scalar::F64(f64::NAN),
        })),
        ArrayOp::Sum(Some(axis)) => {
            let parts = split(shape, *axis);
            let mut wanted = shape.to_vec();
            wanted.remove(*axis as usize);
            reserve(&wanted)?;
            let data = match x {
                Elements::F32(x) => Data::F32(sum_axis(x, parts)),
                Elements::F64(x) => Data::F64(sum_axis(x, parts)),
                _ => Data::Bool(Vec::new()),
            };
            array(wanted, data)
        }
        ArrayOp::CumSum(axis, direction) => {
            let parts = split(shape, *axis);
            let mut data = owned(x);
            match &mut data {
                Data::F32(x) => cumsum(x, parts, *direction),
                Data::F64(x) => cumsum(x, parts, *direction),
                _ => {}
            }
            array(shape.to_vec(), data)
        }
        ArrayOp::Dot => {
            let (other, y) = args[1].array();
            if shape != other {
                return different("dot", shape, other);
            }
            Ok(Computed::Scalar(match (x, y) {
                (Elements::F64(x), Elements::F64(y)) => Scalar::F64(dot(x, y)),
                (Elements::F32(x), Elements::F32(y)) => Scalar::F32(dot(x, y)),
                _ => Scalar::F64(f64::NAN),
            }))
        }
        ArrayOp::Gather => {
            let picked = args[1].ints();
            let row = count(&shape[1..]);
            for i in picked {
                index(*i, shape[0], (shape.len() > 1).then_some(0))?;
            }
            let mut wanted = shape.to_vec();
            wanted[0] = picked.len();
            reserve(&wanted)?;
            let data = map_kind(
                x,
                |x| gather(x, picked, row),
                |x| gather(x, picked, row),
                |x| gather(x, picked, row),
                |x| gather(x, picked, row),
            );
            array(wanted, data)
        }
        ArrayOp::ArgMax | ArrayOp::ArgMin => {
            let largest = *op == ArrayOp::ArgMax;
            let found = match x {
                Elements::F64(x) => extreme(x, largest),
                Elements::F32(x) => extreme(x, largest),
                Elements::I64(x) => {
                    let keys = x.iter().enumerate();
                    let best = |(k, x): (usize, &i64)| (if largest { !*x } else { *x }, k);
                    keys.map(best).min().map(|(_, k)| k)
                }
                Elements::Bool(x) => {
                    x.iter().position(|b| *b == largest).or((!x.is_empty()).then_some(0))
                }
            };
            match found {
                Some(k) => Ok(Computed::Scalar(Scalar::I64(k as i64))),
                None => shapes(format!("`{}` of an array without elements", op.name())),
            }
        }
        ArrayOp::Conform(check) => {
            let plain = |k: usize| (args[k].array().0, Transposed::No);
            match check {
                Check::Row(row) if matches!(args[0], Operand::Scalar(_)) => {
                    let sizes: Vec<usize> = args.iter().map(|n| n.int() as usize).collect();
                    let (a, b) = sizes.split_at(sizes.len() / 2);
                    if a == b { Ok(()) } else { different(row.name(), a, b) }
                }
                Check::Row(row) => common_shape(row.name(), args).map(|_| ()),
                Check::Gemm => Product::new(shape, plain(1), plain(2)).map(|_| ()),
                Check::Slice => Section::new(shape, &args[1..]).map(|_| ()),
                Check::Expand => length(args[1].int()).map(|_| ()),
            }
            .map(|()| Computed::Nothing)
        }
        ArrayOp::ArgSort => {
            let mut order: Vec<i64> = (0..x.len() as i64).collect();
            match x {
                Elements::F64(x) => order.sort_by(|a, b| ascending(x[*a as usize], x[*b as usize])),
                Elements::F32(x) => order.sort_by(|a, b| ascending(x[*a as usize], x[*b as usize])),
                Elements::I64(x) => order.sort_by_key(|a| x[*a as usize]),
                Elements::Bool(x) => order.sort_by_key(|a| x[*a as usize]),
            }
            array(shape.to_vec(), Data::I64(order))
        }
        ArrayOp::Poke
        | ArrayOp::Put
        | ArrayOp::AddSlice
        | ArrayOp::Gemm(..)
        | ArrayOp::ScatterAdd
        | ArrayOp::Refill => {
            unreachable!("works in place: see `update`")
        }
    }
}

/// Runs an operation in place on its first operand; `args` are the others.
#[inline(always)]
pub fn update(op: &ArrayOp, shape: &[usize], x: ElementsMut, args: &[Operand]) -> Kernel<()> {
    let last = args[args.len() - 1];
    match op {
        ArrayOp::Poke => {
            let mut x = x;
            let n = count(shape);
            if let Operand::Scalar(v) = last {
                x.set(index(args[0].int(), n, None)?, v);
            }
            Ok(())
        }
        ArrayOp::Put | ArrayOp::AddSlice => {
            let section = Section::new(shape, &args[..args.len() - 1])?;
            let (found, v) = last.array();
            let wanted = section.counts();
            if *found != *wanted {
                let (found, wanted) = (shown(found), shown(&wanted));
                return shapes(format!(
                    "a slice of shape {wanted} cannot take an array of shape {found}"
                ));
            }
            let add = *op == ArrayOp::AddSlice;
            if !add && section.repeats() {
                return shapes(
                    "a slice with step 0 names one element several times: it cannot be written"
                        .into(),
                );
            }
            match (x, v) {
                (ElementsMut::F64(x), Elements::F64(v)) if add => section.write(x, v, f64::plus),
                (ElementsMut::F32(x), Elements::F32(v)) if add => section.write(x, v, f32::plus),
                (ElementsMut::F64(x), Elements::F64(v)) => section.write(x, v, |_, v| v),
                (ElementsMut::F32(x), Elements::F32(v)) => section.write(x, v, |_, v| v),
                (ElementsMut::I64(x), Elements::I64(v)) => section.write(x, v, |_, v| v),
                (ElementsMut::Bool(x), Elements::Bool(v)) => section.write(x, v, |_, v| v),
                _ => {}
            }
            Ok(())
        }
        ArrayOp::Refill => {
            match (x, last) {
                (ElementsMut::F64(x), Operand::Scalar(Scalar::F64(v))) => x.fill(v),
                (ElementsMut::F32(x), Operand::Scalar(Scalar::F32(v))) => x.fill(v),
                (ElementsMut::I64(x), Operand::Scalar(Scalar::I64(v))) => x.fill(v),
                (ElementsMut::Bool(x), Operand::Scalar(Scalar::Bool(v))) => x.fill(v),
                _ => {}
            }
            Ok(())
        }
        ArrayOp::ScatterAdd => {
            let picked = args[0].ints();
            let (found, v) = last.array();
            let mut wanted = shape.to_vec();
            wanted[0] = picked.len();
            if *found != *wanted {
                let (found, wanted) = (shown(found), shown(&wanted));
                return shapes(format!(
                    "`scatter_add` of shape {wanted} cannot take an array of shape {found}"
                ));
            }
            // All or nothing, so that a fault leaves no half-written array.
            for i in picked {
                index(*i, shape[0], (shape.len() > 1).then_some(0))?;
            }
            match (x, v) {
                (ElementsMut::F64(x), Elements::F64(v)) => scatter(x, picked, v, shape),
                (ElementsMut::F32(x), Elements::F32(v)) => scatter(x, picked, v, shape),
                _ => {}
            }
            Ok(())
        }
        ArrayOp::Gemm(ta, tb) => {
            let ((sa, a), (sb, b)) = (args[0].array(), args[1].array());
            let plan = Product::new(shape, (sa, *ta), (sb, *tb))?;
            match (x, a, b) {
                (ElementsMut::F64(c), Elements::F64(a), Elements::F64(b)) => plan.run(c, a, b),
                (ElementsMut::F32(c), Elements::F32(a), Elements::F32(b)) => plan.run(c, a, b),
                _ => {}
            }
            Ok(())
        }
        _ => unreachable!("makes something new: see `compute`"),
    }
}

fn shapes<T>(message: String) -> Kernel<T> {
    Err(FaultKind::Shape(message.into()))
}

/// Two operands whose shapes must be equal and are not.
pub fn different<T>(name: &str, a: &[usize], b: &[usize]) -> Kernel<T> {
    shapes(format!("`{name}` of arrays with shapes {} and {}", shown(a), shown(b)))
}

/// An index into `len` elements.
pub fn index(i: i64, len: usize, axis: Option<u8>) -> Kernel<usize> {
    match usize::try_from(i) {
        Ok(k) if k < len => Ok(k),
        _ => Err(FaultKind::Index { array: None, index: i, len: len as i64, axis }),
    }
}

/// A number of elements.
pub fn length(n: i64) -> Kernel<usize> {
    usize::try_from(n).map_err(|_| FaultKind::NegativeLength(n))
}

/// A shape given as integers.
pub fn dims(args: &[Operand]) -> Kernel<Vec<usize>> {
    let dims: Kernel<Vec<usize>> = args.iter().map(|n| length(n.int())).collect();
    reserve(&dims.clone()?)?;
    dims
}

/// Refuses shapes that no memory holds.
pub(crate) fn reserve(shape: &[usize]) -> Kernel<()> {
    let bytes = checked_count(shape).and_then(|n| n.checked_mul(8));
    if bytes.is_some_and(room::fits) { Ok(()) } else { Err(no_room(shape)) }
}

/// There is not enough memory for an array of that shape.
pub fn no_room(shape: &[usize]) -> FaultKind {
    let dims = shape.iter().map(|d| *d as u64).filter(|d| *d > 0);
    FaultKind::OutOfMemory(dims.fold(8, u64::saturating_mul))
}

/// The elements before, along and after an axis.
fn split(shape: &[usize], axis: u8) -> (usize, usize, usize) {
    let axis = axis as usize;
    (count(&shape[..axis]), shape[axis], count(&shape[axis + 1..]))
}

fn owned(x: Elements) -> Data {
    map_kind(x, <[f64]>::to_vec, <[f32]>::to_vec, <[i64]>::to_vec, <[bool]>::to_vec)
}

/// The rows picked, all of which exist.
fn gather<T: Copy>(x: &[T], picked: &[i64], row: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(picked.len() * row);
    for i in picked {
        out.extend_from_slice(&x[*i as usize * row..][..row]);
    }
    out
}

#[inline(always)]
fn scatter<T: Float>(x: &mut [T], picked: &[i64], v: &[T], shape: &[usize]) {
    let row = count(&shape[1..]);
    for (k, i) in picked.iter().enumerate() {
        let to = &mut x[*i as usize * row..][..row];
        for (x, v) in to.iter_mut().zip(&v[k * row..][..row]) {
            *x = x.plus(*v);
        }
    }
}

fn ascending<T: Float>(a: T, b: T) -> Ordering {
    a.nan().cmp(&b.nan()).then(a.partial_cmp(&b).unwrap_or(Ordering::Equal))
}

fn extreme<T: Float>(x: &[T], largest: bool) -> Option<usize> {
    let beats = |a: T, b: T| {
        if b.nan() {
            false
        } else if a.nan() {
            true
        } else if largest {
            a > b
        } else {
            a < b
        }
    };
    (0..x.len()).reduce(|best, k| if beats(x[k], x[best]) { k } else { best })
}

/// The shape of a product: `c` is m by n, summed over k; an outer product sums over one.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Terms of each sum.
    pub k: usize,
    /// Whether the left factor is transposed.
    pub ta: Transposed,
    /// Whether the right factor is.
    pub tb: Transposed,
    /// What kind of product it is.
    pub how: How,
}

/// The ways to multiply.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// A matrix as it is times a vector: one dot per row.
    Rows,
    /// A transposed matrix times a vector: a chain per element.
    Columns,
    /// A column times a row.
    Outer,
    /// Two matrices.
    Matrices,
}

impl Product {
    /// The product of arrays of these shapes, added to one of shape `c`; an error where they do not fit.
    pub fn new(
        c: &[usize],
        (a, ta): (&[usize], Transposed),
        (b, tb): (&[usize], Transposed),
    ) -> Kernel<Product> {
        let oriented = |s: &[usize], t: Transposed| match t {
            Transposed::No => (s[0], s[1]),
            Transposed::Yes => (s[1], s[0]),
        };
        let (left, right, out) = match (c.len(), a.len(), b.len()) {
            (2, 2, 2) => (oriented(a, ta), oriented(b, tb), (c[0], c[1])),
            (1, 2, 1) => (oriented(a, ta), (b[0], 1), (c[0], 1)),
            _ => ((a[0], 1), (1, b[0]), (c[0], c[1])),
        };
        if left.1 != right.0 || out != (left.0, right.1) {
            // As they stand in the product.
            let seen = |s: &[usize], t: Transposed| match (s, t) {
                ([m, n], Transposed::Yes) => shown(&[*n, *m]),
                _ => shown(s),
            };
            return shapes(format!(
                "the product of {} and {} does not fit {}",
                seen(a, ta),
                seen(b, tb),
                shown(c)
            ));
        }
        let how = match (a.len(), b.len(), ta) {
            (2, 1, Transposed::No) => How::Rows,
            (2, 1, Transposed::Yes) => How::Columns,
            (1, ..) => How::Outer,
            _ => How::Matrices,
        };
        Ok(Product { m: out.0, n: out.1, k: left.1, ta, tb, how })
    }

    #[inline(always)]
    fn run<T: Float>(&self, c: &mut [T], a: &[T], b: &[T]) {
        match self.how {
            How::Rows => rows(c, a, b),
            How::Columns => columns(c, a, b),
            How::Outer => outer(c, a, b),
            How::Matrices => product((self.m, self.n, self.k), c, (a, self.ta), (b, self.tb)),
        }
    }
}

/// The element at one position of every array among the operands, scalars as they are.
pub fn element(args: &[Operand], k: usize) -> Vec<Scalar> {
    let one = |a: &Operand| match a {
        Operand::Scalar(s) => *s,
        Operand::Array(_, x) => x.get(k),
    };
    args.iter().map(one).collect()
}

/// The shape an elementwise operation works on: that of its arrays, which must be equal.
pub fn common_shape(name: &str, args: &[Operand]) -> Kernel<Vec<usize>> {
    let mut arrays = args.iter().filter_map(|a| match a {
        Operand::Array(shape, _) => Some(*shape),
        Operand::Scalar(_) => None,
    });
    let first = arrays.next().unwrap_or(&[]);
    match arrays.find(|s| *s != first) {
        None => Ok(first.to_vec()),
        Some(other) => different(name, first, other),
    }
}

/// Collects scalars of one kind as the elements of an array.
pub fn collect(elem: Elem, scalars: impl Iterator<Item = Scalar>) -> Data {
    let empty = match elem {
        Elem::F64 => Data::F64(Vec::new()),
        Elem::F32 => Data::F32(Vec::new()),
        Elem::I64 => Data::I64(Vec::new()),
        Elem::Bool => Data::Bool(Vec::new()),
    };
    let mut data = empty;
    for s in scalars {
        match (&mut data, s) {
            (Data::F64(x), Scalar::F64(v)) => x.push(v),
            (Data::F32(x), Scalar::F32(v)) => x.push(v),
            (Data::I64(x), Scalar::I64(v)) => x.push(v),
            (Data::Bool(x), Scalar::Bool(v)) => x.push(v),
            _ => debug_assert!(false, "a scalar of another kind"),
        }
    }
    data
}
