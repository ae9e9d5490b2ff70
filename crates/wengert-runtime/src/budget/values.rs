//! The values that a loop carries, as bytes.

use super::Failed;
use crate::arrays::Arrays;
use crate::jit::abi_slots;
use crate::jit::link::Signature;
use crate::kernel::operand;
use std::ops::Range;
use std::slice;
use wengert_checkpoint::{Distance, Error, Fingerprint};
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

/// Reads values that were saved to where they belong among words, arrays as new ones; where there is no memory for one, gives back how
/// many bytes it needs.
pub(super) fn load(
    arrays: &mut Arrays,
    values: &[(usize, Type)],
    words: &mut [u64],
    mut from: &[u8],
) -> Result<(), u64> {
    fn word(from: &mut &[u8]) -> u64 {
        let word = from.split_off(..8).and_then(|word| word.try_into().ok());
        word.map_or(0, u64::from_le_bytes)
    }
    for (at, ty) in values {
        if !ty.is_array() {
            words[*at] = word(&mut from);
            continue;
        }
        words[*at + 1..=*at + ty.rank()].fill_with(|| word(&mut from));
        let (elem, count) = extent(*ty, &words[*at..]);
        let elements = from.split_off(..count * size(elem)).unwrap_or_default();
        let address = array_of(arrays, elem, count, elements).ok_or(elements.len() as u64)?;
        words[*at] = address as u64;
    }
    Ok(())
}

/// How far values that were saved are from others, but for those that are `free`. Floats of either size may differ; integers, truth values and
/// lengths may not.
pub(super) fn distance(
    values: &[(usize, Type)],
    free: &[usize],
    mut reached: &[u8],
    mut stored: &[u8],
) -> Distance {
    let mut all = Distance::default();
    for (k, (_, ty)) in values.iter().enumerate() {
        let rank = 8 * ty.rank();
        let (now, then) = (reached.split_off(..rank), stored.split_off(..rank));
        let dims = then.unwrap_or_default().as_chunks::<8>().0.iter();
        let count: usize = dims.map(|dim| u64::from_le_bytes(*dim) as usize).product();
        // Numbers alone take eight bytes, whatever they are.
        let bytes = if ty.is_array() { count * size(ty.elem().unwrap_or(Elem::F64)) } else { 8 };
        if now != then {
            // Nothing can be told of what follows.
            return Distance { difference: f64::INFINITY, ..all };
        }
        let (Some(now), Some(then)) = (reached.split_off(..bytes), stored.split_off(..bytes))
        else {
            return Distance { difference: f64::INFINITY, ..all };
        };
        if free.contains(&k) {
            continue;
        }
        let of = match ty.elem() {
            Some(Elem::F64) => Distance::of_floats(now, then),
            Some(Elem::F32) => {
                let wide = |bytes: &[u8]| -> Vec<u8> {
                    let of = |x: &[u8; 4]| f64::from(f32::from_le_bytes(*x)).to_le_bytes();
                    bytes.as_chunks::<4>().0.iter().flat_map(of).collect()
                };
                // One that stands alone is in the lower half of its word.
                let end = if ty.is_array() { bytes } else { 4 };
                Distance::of_floats(&wide(&now[..end]), &wide(&then[..end]))
            }
            _ if now == then => Distance::default(),
            _ => Distance { difference: f64::INFINITY, largest: 0.0 },
        };
        all.difference = all.difference.max(of.difference);
        all.largest = all.largest.max(of.largest);
    }
    all
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

/// A new array that nobody reads; where there is no memory for it, gives back how many bytes it needs.
pub(super) fn blank(arrays: &mut Arrays, elem: Elem, len: usize) -> Result<usize, u64> {
    fn all<T: Clone + Default>(len: usize) -> Option<Vec<T>> {
        let mut array = Vec::new();
        array.try_reserve_exact(len).ok()?;
        array.resize(len, T::default());
        Some(array)
    }
    let made = match elem {
        Elem::F64 => arrays.blank(len),
        Elem::F32 => all(len).map(|array| arrays.own(Data::F32(array))),
        Elem::I64 => all(len).map(|array| arrays.own(Data::I64(array))),
        Elem::Bool => all(len).map(|array| arrays.own(Data::Bool(array))),
    };
    made.ok_or((len * size(elem)) as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_the_types_of_values() {
        let word = |x: u64| x.to_le_bytes().to_vec();
        let float = |x: f64| word(x.to_bits());
        let single = |x: f32| word(u64::from(x.to_bits()));
        let array = |x: &[f32]| {
            let elements = x.iter().flat_map(|x| x.to_le_bytes());
            word(x.len() as u64).into_iter().chain(elements).collect::<Vec<u8>>()
        };
        let types = [Type::F64, Type::I64, Type::Array(Elem::F32, 1), Type::F32, Type::Bool];
        let values: Vec<(usize, Type)> = types.into_iter().map(|ty| (0, ty)).collect();
        let of = |x: f64, n: u64, a: &[f32], s: f32, b: u64| {
            [float(x), word(n), array(a), single(s), word(b)].concat()
        };
        let stored = of(2.0, 7, &[1.0, -8.0], 3.0, 1);
        let to = |reached: Vec<u8>, free: &[usize]| {
            let Distance { difference, largest } = distance(&values, free, &reached, &stored);
            (difference, largest)
        };
        assert_eq!(to(stored.clone(), &[]), (0.0, 8.0));
        assert_eq!(to(of(2.5, 7, &[1.0, -8.25], 3.0, 1), &[]), (0.5, 8.0));
        assert_eq!(to(of(2.0, 7, &[1.0, -8.25], 3.0, 1), &[]), (0.25, 8.0));
        assert_eq!(to(of(2.0, 7, &[1.0, -8.0], 2.0, 1), &[]), (1.0, 8.0));
        assert_eq!(to(of(2.0, 7, &[1.0, -9.0], 3.0, 1), &[2]), (0.0, 3.0));
        // Integers and truth values are equal or not, and so are lengths.
        assert_eq!(to(of(2.0, 8, &[1.0, -8.0], 3.0, 1), &[]).0, f64::INFINITY);
        assert_eq!(to(of(2.0, 8, &[1.0, -8.0], 3.0, 1), &[1]), (0.0, 8.0));
        assert_eq!(to(of(2.0, 7, &[1.0, -8.0], 3.0, 0), &[]).0, f64::INFINITY);
        assert_eq!(to(of(2.0, 7, &[1.0], 3.0, 1), &[]).0, f64::INFINITY);
        assert_eq!(to(Vec::new(), &[]).0, f64::INFINITY);
        assert_eq!(to(of(2.0, 7, &[f32::NAN, -8.0], 3.0, 1), &[]).0, f64::INFINITY);
    }
}
