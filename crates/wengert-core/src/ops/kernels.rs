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

use super::array::{ArrayOp, Direction, Transposed};
use super::shaped::{Array, Data, Elements, ElementsMut, shown};
use super::value::{Elem, Scalar};
use crate::fault::FaultKind;
use std::cmp::Ordering;

/// Elements summed in lanes before a tree takes over.
pub const BLOCK: usize = 1024;

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
}

type Kernel<T> = Result<T, FaultKind>;

impl<'a> Operand<'a> {
    fn int(&self) -> i64 {
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

/// A float: what sums and products are made of.
pub trait Float: Copy + Default + PartialOrd {
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
    /// Whether it is no number.
    fn nan(self) -> bool;
}

macro_rules! float {
    ($($t:ident),*) => {$(
        impl Float for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
        }
    )*};
}
float!(f64, f32);

/// Runs an operation that makes something new. The verifier has checked the types.
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
            let data = map_kind(
                x,
                |x| section.read(x),
                |x| section.read(x),
                |x| section.read(x),
                |x| section.read(x),
            );
            array(section.counts(), data)
        }
        ArrayOp::Reshape => {
            let wanted = dims(&args[1..])?;
            let n = wanted.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
            if n != Some(x.len()) {
                let (from, to) = (shown(shape), shown(&wanted));
                return shapes(format!("an array of shape {from} cannot become one of shape {to}"));
            }
            array(wanted, owned(x))
        }
        ArrayOp::Transpose(axes) => {
            let strides = strides(shape);
            let from: Vec<(usize, usize)> =
                axes.iter().map(|a| (shape[*a as usize], strides[*a as usize])).collect();
            let places = places(&from);
            array(from.iter().map(|(n, _)| *n).collect(), pick(x, &places))
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
            array(wanted, pick(x, &places(&from)))
        }
        ArrayOp::Sum(None) => Ok(Computed::Scalar(match x {
            Elements::F32(x) => Scalar::F32(sum(x)),
            Elements::F64(x) => Scalar::F64(sum(x)),
            _ => Scalar::F64(f64::NAN),
        })),
        ArrayOp::Sum(Some(axis)) => {
            let (outer, n, inner) = split(shape, *axis);
            let mut wanted = shape.to_vec();
            wanted.remove(*axis as usize);
            let data = match x {
                Elements::F32(x) => Data::F32(sum_axis(x, outer, n, inner)),
                Elements::F64(x) => Data::F64(sum_axis(x, outer, n, inner)),
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
            let row: usize = shape[1..].iter().product();
            let mut places = Vec::with_capacity(picked.len() * row);
            for i in picked {
                let at = index(*i, shape[0], None)?;
                places.extend(at * row..(at + 1) * row);
            }
            let mut wanted = shape.to_vec();
            wanted[0] = picked.len();
            array(wanted, pick(x, &places))
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
        | ArrayOp::ScatterAdd => {
            unreachable!("works in place: see `update`")
        }
    }
}

/// Runs an operation in place on its first operand; `args` are the others.
pub fn update(op: &ArrayOp, shape: &[usize], x: ElementsMut, args: &[Operand]) -> Kernel<()> {
    let last = args[args.len() - 1];
    match op {
        ArrayOp::Poke => {
            let mut x = x;
            let n = shape.iter().product();
            if let Operand::Scalar(v) = last {
                x.set(index(args[0].int(), n, None)?, v);
            }
            Ok(())
        }
        ArrayOp::Put | ArrayOp::AddSlice => {
            let section = Section::new(shape, &args[..args.len() - 1])?;
            let (found, v) = last.array();
            let wanted = section.counts();
            if found != wanted {
                let (found, wanted) = (shown(found), shown(&wanted));
                return shapes(format!(
                    "a slice of shape {wanted} cannot take an array of shape {found}"
                ));
            }
            let add = *op == ArrayOp::AddSlice;
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
        ArrayOp::ScatterAdd => {
            let picked = args[0].ints();
            let (found, v) = last.array();
            let mut wanted = shape.to_vec();
            wanted[0] = picked.len();
            if found != wanted {
                let (found, wanted) = (shown(found), shown(&wanted));
                return shapes(format!(
                    "`scatter_add` of shape {wanted} cannot take an array of shape {found}"
                ));
            }
            // All or nothing, so that a fault leaves no half-written array.
            for i in picked {
                index(*i, shape[0], None)?;
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
fn reserve(shape: &[usize]) -> Kernel<()> {
    let n = shape.iter().try_fold(8usize, |n, d| n.checked_mul(*d));
    match n {
        Some(n) if n <= isize::MAX as usize => {
            let mut room: Vec<u8> = Vec::new();
            room.try_reserve_exact(n).map_err(|_| FaultKind::OutOfMemory)
        }
        _ => Err(FaultKind::OutOfMemory),
    }
}

/// The elements before, along and after an axis.
fn split(shape: &[usize], axis: u8) -> (usize, usize, usize) {
    let axis = axis as usize;
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k];
    }
    strides
}

/// Where each element of a result comes from, given count and stride per axis.
fn places(from: &[(usize, usize)]) -> Vec<usize> {
    let mut places = vec![0usize];
    for (n, stride) in from {
        places = places.iter().flat_map(|p| (0..*n).map(move |k| p + k * stride)).collect();
    }
    places
}

fn pick(x: Elements, places: &[usize]) -> Data {
    fn each<T: Copy>(x: &[T], places: &[usize]) -> Vec<T> {
        places.iter().map(|p| x[*p]).collect()
    }
    map_kind(x, |x| each(x, places), |x| each(x, places), |x| each(x, places), |x| each(x, places))
}

fn owned(x: Elements) -> Data {
    map_kind(x, <[f64]>::to_vec, <[f32]>::to_vec, <[i64]>::to_vec, <[bool]>::to_vec)
}

fn map_kind(
    x: Elements,
    f64s: impl FnOnce(&[f64]) -> Vec<f64>,
    f32s: impl FnOnce(&[f32]) -> Vec<f32>,
    i64s: impl FnOnce(&[i64]) -> Vec<i64>,
    bools: impl FnOnce(&[bool]) -> Vec<bool>,
) -> Data {
    match x {
        Elements::F64(x) => Data::F64(f64s(x)),
        Elements::F32(x) => Data::F32(f32s(x)),
        Elements::I64(x) => Data::I64(i64s(x)),
        Elements::Bool(x) => Data::Bool(bools(x)),
    }
}

/// A slice of an array: where it starts, and per axis how many elements how far apart.
struct Section {
    base: i64,
    axes: Vec<(usize, i64)>,
}

impl Section {
    /// `args` are start, count and step per axis; every element must exist.
    fn new(shape: &[usize], args: &[Operand]) -> Kernel<Section> {
        let mut section = Section { base: 0, axes: Vec::new() };
        let strides = strides(shape);
        for (axis, triple) in args.chunks(3).enumerate() {
            let (start, count, step) = (triple[0].int(), length(triple[1].int())?, triple[2].int());
            let named = (shape.len() > 1).then_some(axis as u8);
            if count > 0 {
                let span = (count as i64 - 1).checked_mul(step).and_then(|d| d.checked_add(start));
                index(start, shape[axis], named)?;
                index(
                    span.unwrap_or(if step < 0 { i64::MIN } else { i64::MAX }),
                    shape[axis],
                    named,
                )?;
                section.base += start * strides[axis] as i64;
            }
            section.axes.push((count, step.wrapping_mul(strides[axis] as i64)));
        }
        reserve(&section.counts())?;
        Ok(section)
    }

    fn counts(&self) -> Vec<usize> {
        self.axes.iter().map(|(n, _)| *n).collect()
    }

    /// Calls `f` with the position of every element, in row-major order.
    fn each(&self, mut f: impl FnMut(usize)) {
        fn walk(base: i64, axes: &[(usize, i64)], f: &mut impl FnMut(usize)) {
            match axes {
                [] => f(base as usize),
                [(n, step), rest @ ..] => {
                    for k in 0..*n as i64 {
                        walk(base + k * step, rest, f);
                    }
                }
            }
        }
        if self.axes.iter().all(|(n, _)| *n > 0) {
            walk(self.base, &self.axes, &mut f);
        }
    }

    fn read<T: Copy>(&self, x: &[T]) -> Vec<T> {
        let mut out = Vec::with_capacity(self.counts().iter().product());
        self.each(|at| out.push(x[at]));
        out
    }

    fn write<T: Copy>(&self, x: &mut [T], v: &[T], f: impl Fn(T, T) -> T) {
        let mut v = v.iter();
        self.each(|at| {
            if let Some(v) = v.next() {
                x[at] = f(x[at], *v);
            }
        });
    }
}

/// The lanes of one block, added as a tree.
#[inline(always)]
fn tree<T: Float>(l: [T; 8]) -> T {
    let low = l[0].plus(l[4]).plus(l[2].plus(l[6]));
    let high = l[1].plus(l[5]).plus(l[3].plus(l[7]));
    low.plus(high)
}

/// Adds what `block` gives for ranges of at most [`BLOCK`] elements, pairwise.
#[inline(always)]
fn blocks<T: Float>(n: usize, block: impl Fn(usize, usize) -> T + Copy) -> T {
    fn go<T: Float>(from: usize, to: usize, block: impl Fn(usize, usize) -> T + Copy) -> T {
        let count = (to - from).div_ceil(BLOCK);
        if count <= 1 {
            return block(from, to);
        }
        let middle = from + count.next_power_of_two() / 2 * BLOCK;
        go(from, middle, block).plus(go(middle, to, block))
    }
    go(0, n, block)
}

/// The sum of all elements.
#[inline(always)]
pub fn sum<T: Float>(x: &[T]) -> T {
    blocks(x.len(), |from, to| {
        let mut lanes = [T::default(); 8];
        let (whole, tail) = x[from..to].as_chunks::<8>();
        for chunk in whole {
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                *lane = lane.plus(*x);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(tail) {
            *lane = lane.plus(*x);
        }
        tree(lanes)
    })
}

/// The sum of products; both have as many elements.
#[inline(always)]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    blocks(x.len(), |from, to| {
        let mut lanes = [T::default(); 8];
        let ((xs, x_tail), (ys, y_tail)) =
            (x[from..to].as_chunks::<8>(), y[from..to].as_chunks::<8>());
        for (x, y) in xs.iter().zip(ys) {
            for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
                *lane = x.fused(*y, *lane);
            }
        }
        for (lane, (x, y)) in lanes.iter_mut().zip(x_tail.iter().zip(y_tail)) {
            *lane = x.fused(*y, *lane);
        }
        tree(lanes)
    })
}

fn sum_axis<T: Float>(x: &[T], outer: usize, n: usize, inner: usize) -> Vec<T> {
    let mut out = vec![T::default(); outer * inner];
    if inner > 0 {
        for (o, sums) in out.chunks_mut(inner).enumerate() {
            for k in 0..n {
                let row = &x[(o * n + k) * inner..][..inner];
                sums.iter_mut().zip(row).for_each(|(s, x)| *s = s.plus(*x));
            }
        }
    }
    out
}

fn cumsum<T: Float>(x: &mut [T], (outer, n, inner): (usize, usize, usize), way: Direction) {
    for o in 0..outer {
        for k in 1..n {
            for i in 0..inner {
                let at = |k: usize| (o * n + k) * inner + i;
                let (from, to) = match way {
                    Direction::Forward => (at(k - 1), at(k)),
                    Direction::Backward => (at(n - k), at(n - k - 1)),
                };
                x[to] = x[from].plus(x[to]);
            }
        }
    }
}

fn scatter<T: Float>(x: &mut [T], picked: &[i64], v: &[T], shape: &[usize]) {
    let row: usize = shape[1..].iter().product();
    for (k, i) in picked.iter().enumerate() {
        let to = &mut x[*i as usize * row..][..row];
        to.iter_mut().zip(&v[k * row..][..row]).for_each(|(x, v)| *x = x.plus(*v));
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
struct Product {
    m: usize,
    n: usize,
    k: usize,
    ta: Transposed,
    tb: Transposed,
    /// A matrix as it is times a vector: one dot per row.
    rows: bool,
}

impl Product {
    fn new(
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
            return shapes(format!(
                "the product of {}{} and {}{} does not fit {}",
                shown(a),
                if ta == Transposed::Yes { " transposed" } else { "" },
                shown(b),
                if tb == Transposed::Yes { " transposed" } else { "" },
                shown(c)
            ));
        }
        let rows = (a.len(), b.len()) == (2, 1) && ta == Transposed::No;
        Ok(Product { m: out.0, n: out.1, k: left.1, ta, tb, rows })
    }

    fn run<T: Float>(&self, c: &mut [T], a: &[T], b: &[T]) {
        let Product { m, n, k, .. } = *self;
        if self.rows {
            for (i, c) in c.iter_mut().enumerate() {
                *c = c.plus(dot(&a[i * k..][..k], b));
            }
            return;
        }
        let at_a =
            |i: usize, p: usize| if self.ta == Transposed::No { i * k + p } else { p * m + i };
        for i in 0..m {
            let row = &mut c[i * n..][..n];
            for p in 0..k {
                let left = a[at_a(i, p)];
                match self.tb {
                    Transposed::No => {
                        let from = &b[p * n..][..n];
                        row.iter_mut().zip(from).for_each(|(c, b)| *c = left.fused(*b, *c));
                    }
                    Transposed::Yes => {
                        row.iter_mut()
                            .enumerate()
                            .for_each(|(j, c)| *c = left.fused(b[j * k + p], *c));
                    }
                }
            }
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
