//! The values that a loop carries, as bytes.

use super::Failed;
use crate::arrays::Arrays;
use crate::jit::abi_slots;
use crate::jit::link::Signature;
use crate::kernel::operand;
use std::ops::Range;
use std::slice;
use wengert_checkpoint::{Error, Fingerprint};
use wengert_core::ir::Type;
use wengert_core::ops::kernels::Operand;
use wengert_core::ops::shaped::Elements;
use wengert_core::ops::{Data, Elem};

/// The elements of an array.
///
/// # Safety
/// An array of so many elements must be at the address, and stay there unchanged.
unsafe fn bytes_of<'a>(address: u64, elem: Elem, count: usize) -> &'a [u8] {
    // SAFETY: as the caller promises; elements have no bytes between them.
    unsafe { slice::from_raw_parts(address as usize as *const u8, count * size(elem)) }
}

/// Some of a function's parameters: where the words of each begin, from those of the first, and its type.
pub(super) fn values(of: &Signature, first: usize, count: usize) -> Vec<(usize, Type)> {
    let start = of.slots(0..first).end;
    let value = |k: usize| (of.slots(0..k).end - start, of.params[k].0);
    (first..first + count).map(value).collect()
}

/// How many bytes values take where they are saved; none where there are none.
pub(super) fn bytes_in(values: &[(usize, Type)], words: &[u64]) -> u64 {
    if words.is_empty() {
        return 0;
    }
    let bytes = values.iter().map(|(at, ty)| match ty.is_array() {
        true => {
            let (elem, count) = extent(*ty, &words[*at..]);
            8 * ty.rank() + count * size(elem)
        }
        false => 8,
    });
    bytes.sum::<usize>() as u64
}

/// Writes values, arrays as their dimensions and elements.
pub(super) fn save(values: &[(usize, Type)], words: &[u64], mut to: &mut [u8]) {
    for (at, ty) in values {
        let words = &words[*at..*at + abi_slots(&[*ty])];
        let plain = if ty.is_array() { &words[1..] } else { words };
        for word in plain {
            if let Some(place) = to.split_off_mut(..8) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        if ty.is_array() {
            let (elem, count) = extent(*ty, words);
            // SAFETY: the words are those of an array that is alive.
            let elements = unsafe { bytes_of(words[0], elem, count) };
            if let Some(place) = to.split_off_mut(..elements.len()) {
                place.copy_from_slice(elements);
            }
        }
    }
}

/// Reads values that were saved, arrays as new ones; where there is no memory for one, gives back how many bytes it needs.
pub(super) fn load(
    arrays: &mut Arrays,
    values: &[(usize, Type)],
    words: &mut Vec<u64>,
    mut from: &[u8],
) -> Result<(), u64> {
    fn word(from: &mut &[u8]) -> u64 {
        let word = from.split_off(..8).and_then(|word| word.try_into().ok());
        word.map_or(0, u64::from_le_bytes)
    }
    for (at, ty) in values {
        if !ty.is_array() {
            words.push(word(&mut from));
            continue;
        }
        words.push(0);
        words.extend((0..ty.rank()).map(|_| word(&mut from)));
        let (elem, count) = extent(*ty, &words[*at..]);
        let elements = from.split_off(..count * size(elem)).unwrap_or_default();
        let address = array_of(arrays, elem, count, elements).ok_or(elements.len() as u64)?;
        words[*at] = address as u64;
    }
    Ok(())
}

/// Which bytes of values that are saved are doubles: those of each value.
pub(super) fn floats(values: &[(usize, Type)], words: &[u64]) -> Vec<Range<usize>> {
    let (mut floats, mut at) = (Vec::new(), 0);
    for (first, ty) in values.iter().filter(|_| !words.is_empty()) {
        let (elem, count, dims) = match ty.is_array() {
            true => {
                let (elem, count) = extent(*ty, &words[*first..]);
                (elem, count, 8 * ty.rank())
            }
            false if *ty == Type::F64 => (Elem::F64, 1, 0),
            // A word, whatever is in it.
            false => (Elem::I64, 1, 0),
        };
        let (start, end) = (at + dims, at + dims + count * size(elem));
        if elem == Elem::F64 {
            floats.push(start..end);
        }
        at = end;
    }
    floats
}

/// A number that tells integers, truth values and the sizes of arrays from others.
pub(super) fn outline(values: &[(usize, Type)], words: &[u64]) -> u64 {
    let mut print = Fingerprint::new();
    for (at, ty) in values.iter().filter(|_| !words.is_empty()) {
        let words = &words[*at..*at + abi_slots(&[*ty])];
        match (ty.is_array(), ty) {
            (false, Type::F64 | Type::F32) => {}
            (false, _) => print.word(words[0]),
            (true, _) => {
                words[1..].iter().for_each(|dim| print.word(*dim));
                let (elem, count) = extent(*ty, words);
                if matches!(elem, Elem::I64 | Elem::Bool) {
                    // SAFETY: the words are those of an array that is alive.
                    print.bytes(unsafe { bytes_of(words[0], elem, count) });
                }
            }
        }
    }
    print.finish()
}

/// A number that tells values from others.
pub(super) fn fingerprint(values: &[(usize, Type)], words: &[u64]) -> u64 {
    let mut print = Fingerprint::new();
    for (at, ty) in values {
        let words = &words[*at..*at + abi_slots(&[*ty])];
        if !ty.is_array() {
            match ty {
                Type::F64 => print.floats(&[f64::from_bits(words[0])]),
                _ => print.word(words[0]),
            }
            continue;
        }
        words[1..].iter().for_each(|dim| print.word(*dim));
        // SAFETY: the words are those of an array of that type that is alive.
        match unsafe { operand(*ty, words) } {
            Operand::Array(_, Elements::F64(x)) => print.floats(x),
            _ => {
                let (elem, count) = extent(*ty, words);
                // SAFETY: as above.
                print.bytes(unsafe { bytes_of(words[0], elem, count) });
            }
        }
    }
    print.finish()
}

/// A copy of an array, given its words.
pub(super) fn copy_of(arrays: &mut Arrays, ty: Type, words: &[u64]) -> Result<u64, Failed> {
    let (elem, count) = extent(ty, words);
    // SAFETY: the words are those of an array of that type that is alive.
    let copied = match unsafe { operand(ty, &words[..1 + ty.rank()]) } {
        Operand::Array(_, elements) => arrays.copy(elements),
        Operand::Scalar(_) => None,
    };
    copied.map(|address| address as u64).ok_or(Error::NoMemory((count * size(elem)) as u64))
}

/// A new array of elements as they lie in memory; `None` where there is not enough of it, or other elements than these.
fn array_of(arrays: &mut Arrays, elem: Elem, len: usize, bytes: &[u8]) -> Option<usize> {
    fn all<T, const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (elements, rest) = bytes.as_chunks::<N>();
        let mut array = Vec::new();
        array.try_reserve_exact(elements.len()).ok()?;
        array.extend(elements.iter().map(|x| of(*x)));
        rest.is_empty().then_some(array)
    }
    if bytes.len() != len.checked_mul(size(elem))? {
        return None;
    }
    Some(match elem {
        Elem::F64 => {
            let address = arrays.blank(len)?;
            // SAFETY: so many doubles lie there, which nobody else uses.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, 8 * len) };
            address
        }
        Elem::F32 => arrays.own(Data::F32(all(bytes, f32::from_ne_bytes)?)),
        Elem::I64 => arrays.own(Data::I64(all(bytes, i64::from_ne_bytes)?)),
        Elem::Bool => arrays.own(Data::Bool(all(bytes, |[b]| b != 0)?)),
    })
}

/// What an array consists of.
pub(super) fn extent(ty: Type, words: &[u64]) -> (Elem, usize) {
    let dims = words[1..1 + ty.rank()].iter().map(|dim| *dim as usize);
    (ty.elem().unwrap_or(Elem::F64), dims.product())
}

/// Bytes of an element.
pub(super) fn size(elem: Elem) -> usize {
    match elem {
        Elem::F64 | Elem::I64 => 8,
        Elem::F32 => 4,
        Elem::Bool => 1,
    }
}
