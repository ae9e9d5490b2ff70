//! Operations on whole arrays, called by compiled code.
//!
//! The kernels themselves stand in `wengert_core::ops::kernels`, once for every backend. Here the words
//! compiled code passes become operands, and the result becomes words again.

use crate::arrays::Arrays;
use crate::streams;
use smallvec::SmallVec;
use std::slice;
use wengert_core::fault::FaultKind;
use wengert_core::ir::{Elem, MAX_RANK, Type};
use wengert_core::ops::kernels::{self, Computed, Operand};
use wengert_core::ops::shaped::{self, Elements, ElementsMut};
use wengert_core::ops::{Array, ArrayOp, Check, Scalar};

// Dimensions are read where compiled code wrote them, in words of 64 bits.
const _: () = assert!(size_of::<usize>() == 8);

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// A row of the table of array operations.
    Array(ArrayOp),
    /// A new array of equal elements: dimensions, then the element.
    Fill,
    /// The same, but the element does not matter: others are written before anything reads them.
    Blank,
    /// A new array like another.
    Copy,
    /// A slice that goes to the tape, and is not read before the way back.
    Keep,
}

/// An operation and the types it works on.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// What is to be done.
    pub(crate) work: Work,
    /// The types of its operands.
    pub(crate) args: Vec<Type>,
    pub(crate) result: Option<Type>,
}

impl Kernel {
    /// An operation on operands of these types; the verifier has checked them.
    pub(crate) fn new(work: Work, args: Vec<Type>, result: Option<Type>) -> Self {
        Kernel { work, args, result }
    }

    /// Runs it.
    ///
    /// # Safety
    /// `frame` must hold the words of values of the operand types, and behind them have room for
    /// those of the result where the operation makes something new. Arrays among them must be alive;
    /// one that is changed in place must be used by nobody else, the others written by nobody.
    pub(crate) unsafe fn run(&self, arrays: &mut Arrays, frame: *mut u64) -> Result<(), FaultKind> {
        let mut row = [0; 1 + MAX_RANK];
        // SAFETY: the frame is as the caller promises.
        let reach = unsafe { self.reach(frame, &mut row) };
        let mut at = 0;
        let mut operands: SmallVec<[Operand; 8]> = SmallVec::new();
        for (k, ty) in self.args.iter().enumerate() {
            // SAFETY: the frame has these words, as the caller promises.
            let words = unsafe { slice::from_raw_parts(frame.add(at), 1 + ty.rank()) };
            at += words.len();
            operands.push(match (k, reach) {
                (0, Reach::Shape) => Operand::Array(shape(words), Elements::F64(&[])),
                // SAFETY: the words are those of an array of that type: a row of the first operand.
                (0, Reach::Row) => unsafe { operand(*ty, &row[..words.len()]) },
                (1, Reach::Row) => Operand::Scalar(Scalar::I64(0)),
                // SAFETY: the words are those of a value of that type.
                _ => unsafe { operand(*ty, words) },
            });
        }
        let result = match &self.work {
            Work::Array(op) if op.in_place() => {
                let Operand::Array(shape, _) = operands[0] else { unreachable!("verified") };
                let x = match reach {
                    Reach::Shape => ElementsMut::F64(&mut []),
                    // SAFETY: the row is alive and, as it is taken over, used by nobody else: the shared view in
                    // `operands[0]` is not read again.
                    Reach::Row => unsafe { elements_mut(self.args[0], row[0], shape) },
                    // SAFETY: the same of the whole array.
                    Reach::All => unsafe { elements_mut(self.args[0], *frame, shape) },
                };
                return wengert_kernels::update(op, shape, x, &operands[1..]);
            }
            Work::Array(op) => wengert_kernels::compute(op, &operands)?,
            Work::Keep => match streams::section(arrays, &operands) {
                Some((address, shape)) => {
                    // SAFETY: there is room for an address and as many dimensions.
                    let room = unsafe { slice::from_raw_parts_mut(frame.add(at), 1 + shape.len()) };
                    put(room, address, &shape);
                    return Ok(());
                }
                None => wengert_kernels::compute(&ArrayOp::Slice, &operands)?,
            },
            Work::Fill | Work::Blank => {
                let (value, dims) =
                    operands.split_last().unwrap_or_else(|| unreachable!("verified"));
                let shape = kernels::dims(dims)?;
                let Operand::Scalar(value) = value else { unreachable!("verified") };
                let count = shaped::checked_count(&shape);
                let address = match (&self.work, value) {
                    (Work::Blank, _) => count.and_then(|n| arrays.blank(n)),
                    (_, Scalar::F64(value)) => count.and_then(|n| arrays.fill(n, *value)),
                    _ => {
                        let filled = Array::filled(shape.clone(), *value);
                        filled.map(|array| arrays.own(array.data))
                    }
                };
                let address = address.ok_or_else(|| kernels::no_room(&shape))?;
                // SAFETY: there is room for an address and as many dimensions.
                let room = unsafe { slice::from_raw_parts_mut(frame.add(at), 1 + shape.len()) };
                put(room, address, &shape);
                return Ok(());
            }
            Work::Copy => {
                let Operand::Array(shape, x) = operands[0] else { unreachable!("verified") };
                let address = arrays.copy(x).ok_or_else(|| kernels::no_room(shape))?;
                // SAFETY: there is room for an address and as many dimensions.
                let room = unsafe { slice::from_raw_parts_mut(frame.add(at), 1 + shape.len()) };
                put(room, address, shape);
                return Ok(());
            }
        };
        let Some(ty) = self.result else { return Ok(()) };
        // SAFETY: there is room for the words of the result.
        let room = unsafe { slice::from_raw_parts_mut(frame.add(at), 1 + ty.rank()) };
        match result {
            Computed::Nothing => {}
            Computed::Scalar(s) => room[0] = word(s),
            Computed::Array(Array { shape, data }) => put(room, arrays.own(data), &shape),
        }
        Ok(())
    }
}

/// What an operation refers to of its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    All,
    /// One row.
    Row,
    /// No elements.
    Shape,
}

impl Kernel {
    /// What the operation refers to of its first operand; where that is one row, also the words of that row as an
    /// array of its own. Other threads may be at work on other rows.
    ///
    /// # Safety
    /// `frame` must hold the words of values of the operand types.
    unsafe fn reach(&self, frame: *const u64, row: &mut [u64; 1 + MAX_RANK]) -> Reach {
        let ty = self.args[0];
        match &self.work {
            Work::Keep | Work::Array(ArrayOp::Slice | ArrayOp::Put | ArrayOp::AddSlice) => {}
            Work::Array(ArrayOp::Conform(Check::Slice)) => return Reach::Shape,
            _ => return Reach::All,
        }
        // SAFETY: the array's words, and behind them start and count along the first axis.
        let words = unsafe { slice::from_raw_parts(frame, 3 + ty.rank()) };
        let (array, [start, 1]) = words.split_at(1 + ty.rank()) else { return Reach::All };
        if *start >= array[1] {
            // Out of range, which is all that will be found.
            return Reach::Shape;
        }
        let size = match ty.elem() {
            Some(Elem::F32) => size_of::<f32>(),
            Some(Elem::Bool) => size_of::<bool>(),
            _ => size_of::<f64>(),
        };
        let elements: u64 = array[2..].iter().product();
        row[..array.len()].copy_from_slice(array);
        row[0] += start * elements * size as u64;
        row[1] = 1;
        Reach::Row
    }
}

/// The dimensions among the words of an array.
fn shape(words: &[u64]) -> &[usize] {
    // SAFETY: a dimension is a word that holds a number of elements; see the assertion above.
    unsafe { slice::from_raw_parts(words[1..].as_ptr().cast(), words.len() - 1) }
}

fn put(room: &mut [u64], address: usize, shape: &[usize]) {
    room[0] = address as u64;
    room[1..].iter_mut().zip(shape).for_each(|(word, dim)| *word = *dim as u64);
}

/// A scalar as a word of a frame.
pub(crate) fn word(s: Scalar) -> u64 {
    match s {
        Scalar::F64(x) => x.to_bits(),
        Scalar::F32(x) => u64::from(x.to_bits()),
        Scalar::I64(x) => x as u64,
        Scalar::Bool(x) => u64::from(x),
    }
}

/// A scalar from a word of a frame.
#[inline(always)]
pub(crate) fn scalar(elem: Elem, word: u64) -> Scalar {
    match elem {
        Elem::F64 => Scalar::F64(f64::from_bits(word)),
        Elem::F32 => Scalar::F32(f32::from_bits(word as u32)),
        Elem::I64 => Scalar::I64(word as i64),
        Elem::Bool => Scalar::Bool(word as u8 != 0),
    }
}

/// # Safety
/// The words must be those of a value of that type; an array must be alive, and be written by nobody
/// while the operand is used.
#[inline(always)]
pub(crate) unsafe fn operand(ty: Type, words: &[u64]) -> Operand<'_> {
    let elem = ty.elem().unwrap_or_else(|| unreachable!("verified: no tape"));
    if !ty.is_array() {
        return Operand::Scalar(scalar(elem, words[0]));
    }
    let shape = shape(words);
    let (address, count) = (words[0] as usize, shaped::count(shape));
    // SAFETY: an array of that many elements lies there, aligned, in memory that nobody writes; one
    // without elements has an address that is aligned and not null. Truth values are 0 or 1.
    let elements = unsafe {
        match elem {
            Elem::F64 => Elements::F64(slice::from_raw_parts(address as *const f64, count)),
            Elem::F32 => Elements::F32(slice::from_raw_parts(address as *const f32, count)),
            Elem::I64 => Elements::I64(slice::from_raw_parts(address as *const i64, count)),
            Elem::Bool => Elements::Bool(slice::from_raw_parts(address as *const bool, count)),
        }
    };
    Operand::Array(shape, elements)
}

/// # Safety
/// As for [`operand`], and nobody else may use the array meanwhile.
unsafe fn elements_mut<'a>(ty: Type, address: u64, shape: &[usize]) -> ElementsMut<'a> {
    let (address, count) = (address as usize, shaped::count(shape));
    // SAFETY: as in `operand`; the caller promises that nobody else uses the elements.
    unsafe {
        match ty.elem() {
            Some(Elem::F32) => {
                ElementsMut::F32(slice::from_raw_parts_mut(address as *mut f32, count))
            }
            Some(Elem::I64) => {
                ElementsMut::I64(slice::from_raw_parts_mut(address as *mut i64, count))
            }
            Some(Elem::Bool) => {
                ElementsMut::Bool(slice::from_raw_parts_mut(address as *mut bool, count))
            }
            _ => ElementsMut::F64(slice::from_raw_parts_mut(address as *mut f64, count)),
        }
    }
}
