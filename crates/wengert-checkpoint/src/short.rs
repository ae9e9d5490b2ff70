//! States with fewer digits.
//!
//! A state that is shortened has its floats of eight bytes as ones of four or of two; everything else in it stays as it is. A byte before
//! it says what was done, and where its floats lie comes next, so that it can be read by somebody who has nothing else. One with a
//! float that the shorter kind has no room for is kept as it is.

use std::ops::Range;

/// How floats of eight bytes are kept in stored states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As they are.
    #[default]
    Exact,
    /// As floats of four bytes, with 24 binary digits.
    F32,
    /// As the upper halves of those, with 8 binary digits.
    Bf16,
}

impl Precision {
    /// Bytes of a float.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Exact => 8,
            Precision::F32 => 4,
            Precision::Bf16 => 2,
        }
    }

    /// The number by which files know it.
    pub(crate) fn number(self) -> u64 {
        match self {
            Precision::Exact => 0,
            Precision::F32 => 1,
            Precision::Bf16 => 2,
        }
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Precision::Exact => "float64",
            Precision::F32 => "float32",
            Precision::Bf16 => "bfloat16",
        })
    }
}

/// The first byte of a state that is shortened.
const SHORT: u8 = 1;

/// The first byte has this as well where the state is the one of the first sweep, to the bit.
const SAME: u8 = 2;

/// What shortening does to the floats of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// The largest difference of two numbers.
    pub(crate) difference: f64,
    /// The largest number, without its sign.
    pub(crate) largest: f64,
}

impl Change {
    /// Compares two numbers. Equal bits are no difference, nor are two that are no numbers.
    pub(crate) fn note(&mut self, now: f64, then: f64) {
        if now.to_bits() != then.to_bits() && !(now.is_nan() && then.is_nan()) {
            let difference = (now - then).abs();
            let difference = if difference.is_nan() { f64::INFINITY } else { difference };
            self.difference = self.difference.max(difference);
        }
        if then.is_finite() {
            self.largest = self.largest.max(then.abs());
        }
    }

    /// The difference, relative to the largest number.
    pub(crate) fn relative(&self) -> f64 {
        if self.difference == 0.0 { 0.0 } else { self.difference / self.largest }
    }
}

/// The nearest float with so few digits, and the even one of two.
fn rounded(precision: Precision, x: f64) -> f64 {
    match precision {
        Precision::Exact => x,
        Precision::F32 => f64::from(x as f32),
        Precision::Bf16 => from_bf16(to_bf16(x)),
    }
}

/// The upper half of the nearest one, rounded once: not to four bytes first.
fn to_bf16(x: f64) -> u16 {
    if x.is_nan() {
        return 0x7fc0 | (u16::from(x.is_sign_negative()) << 15);
    }
    let near = x as f32;
    let mut bits = near.to_bits();
    // Towards zero, and odd where something was cut off: then it is on the right side of every half.
    if f64::from(near).abs() > x.abs() {
        bits -= 1;
    }
    if f64::from(near) != x {
        bits |= 1;
    }
    (bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

fn from_bf16(half: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(half) << 16))
}

/// Ranges of whole floats in their order, inside so many bytes. Others are left out, and neighbours are one.
pub(crate) fn tidy(floats: Vec<Range<usize>>, bytes: usize) -> Vec<Range<usize>> {
    let mut tidy: Vec<Range<usize>> = Vec::with_capacity(floats.len());
    for Range { start, end } in inside(floats, bytes) {
        match tidy.last_mut() {
            Some(last) if start < last.end => {}
            Some(last) if start == last.end => last.end = end,
            _ => tidy.push(start..end),
        }
    }
    tidy
}

/// Ranges of whole floats inside so many bytes.
pub(crate) fn inside(floats: Vec<Range<usize>>, bytes: usize) -> Vec<Range<usize>> {
    let whole = |Range { start, end }: Range<usize>| {
        start..start + end.min(bytes).saturating_sub(start) / 8 * 8
    };
    floats.into_iter().map(whole).filter(|range| !range.is_empty()).collect()
}

/// The floats of a range.
fn words(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word))
}

/// What shortening a state would do to it; nothing where a number would become infinite.
pub(crate) fn change(
    precision: Precision,
    state: &[u8],
    floats: &[Range<usize>],
) -> Option<Change> {
    let mut change = Change::default();
    for x in floats.iter().flat_map(|range| words(&state[range.clone()])) {
        let short = rounded(precision, x);
        if short.is_infinite() && x.is_finite() {
            return None;
        }
        change.note(short, x);
    }
    Some(change)
}

/// The difference of two adjoints in each range of floats.
pub(crate) fn differences(now: &[u8], then: &[u8], floats: &[Range<usize>]) -> Vec<Change> {
    let in_range = |range: &Range<usize>| {
        let mut change = Change::default();
        let pairs = words(&now[range.clone()]).zip(words(&then[range.clone()]));
        pairs.for_each(|(now, then)| change.note(now, then));
        change
    };
    floats.iter().map(in_range).collect()
}

/// A number in as few bytes as it needs, seven bits in each.
fn put(to: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn take(from: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = *from.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// What stands before a shortened state: how many ranges of floats there are, and of each how many other bytes are before it and
/// how many floats it has.
fn header(floats: &[Range<usize>]) -> Vec<u8> {
    let (mut header, mut at) = (vec![0], 0);
    put(&mut header, floats.len());
    for Range { start, end } in floats {
        put(&mut header, start - at);
        put(&mut header, (end - start) / 8);
        at = *end;
    }
    header
}

/// How many bytes a state of so many takes where it is shortened.
pub(crate) fn size(precision: Precision, bytes: usize, floats: &[Range<usize>]) -> usize {
    let floats_bytes: usize = floats.iter().map(Range::len).sum();
    header(floats).len() + bytes - floats_bytes + floats_bytes / 8 * precision.bytes()
}

/// How many bytes a state of so many takes that is kept as it is among others that are not.
pub(crate) fn whole_size(bytes: u64) -> u64 {
    bytes.saturating_add(1)
}

/// Keeps a state as it is. Whether it is the one of the first sweep.
pub(crate) fn keep_whole(state: &[u8], is_same: bool, to: &mut [u8]) {
    to[0] = if is_same { SAME } else { 0 };
    to[1..].copy_from_slice(state);
}

/// Shortens a state to as many bytes as it takes. Whether it is then the one of the first sweep.
pub(crate) fn shorten(
    precision: Precision,
    state: &[u8],
    floats: &[Range<usize>],
    is_same: bool,
    to: &mut [u8],
) {
    let (head, mut to) = to.split_at_mut(header(floats).len());
    head.copy_from_slice(&header(floats));
    head[0] = SHORT | if is_same { SAME } else { 0 };
    let mut copy = |bytes: &[u8]| {
        if let Some(place) = to.split_off_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    let mut at = 0;
    for range in floats {
        copy(&state[at..range.start]);
        for x in words(&state[range.clone()]) {
            match precision {
                Precision::Exact => copy(&x.to_le_bytes()),
                Precision::F32 => copy(&(x as f32).to_le_bytes()),
                Precision::Bf16 => copy(&to_bf16(x).to_le_bytes()),
            }
        }
        at = range.end;
    }
    copy(&state[at..]);
}

/// Reads a state that was kept, shortened or not, and says whether it is the one of the first sweep; nothing where it is none.
pub(crate) fn read(precision: Precision, mut from: &[u8], to: &mut Vec<u8>) -> Option<bool> {
    to.clear();
    let kind = *from.split_off_first()?;
    if kind & SHORT == 0 {
        to.extend(from);
        return Some(kind & SAME != 0);
    }
    let ranges = take(&mut from)?;
    let mut places = Vec::new();
    for _ in 0..ranges {
        places.push((take(&mut from)?, take(&mut from)?));
    }
    for (others, floats) in places {
        to.extend(from.split_off(..others)?);
        let floats = from.split_off(..floats.checked_mul(precision.bytes())?)?;
        match precision {
            Precision::Exact => to.extend(floats),
            Precision::F32 => {
                let floats = floats.as_chunks::<4>().0.iter();
                floats.for_each(|x| to.extend(f64::from(f32::from_le_bytes(*x)).to_le_bytes()));
            }
            Precision::Bf16 => {
                let floats = floats.as_chunks::<2>().0.iter();
                floats.for_each(|x| to.extend(from_bf16(u16::from_le_bytes(*x)).to_le_bytes()));
            }
        }
    }
    to.extend(from);
    Some(kind & SAME != 0)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    fn state_of(floats: &[f64]) -> Vec<u8> {
        floats.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// Shortens a state and reads it again.
    fn again(precision: Precision, state: &[u8], floats: &[Range<usize>]) -> (Vec<u8>, usize) {
        let size = size(precision, state.len(), floats);
        let (mut to, mut back) = (vec![0; size], vec![7]);
        shorten(precision, state, floats, false, &mut to);
        assert_eq!(read(precision, &to, &mut back), Some(false));
        shorten(precision, state, floats, true, &mut to);
        assert_eq!(read(precision, &to, &mut back), Some(true));
        (back, size)
    }

    /// Each of the 65536 halves is itself, and what lies between two goes to the nearer one, or the even one.
    #[test]
    fn every_bfloat16_and_what_lies_between() {
        let step = |x: f64, by: i64| f64::from_bits((x.to_bits() as i64 + by) as u64);
        for half in 0..=u16::MAX {
            let x = from_bf16(half);
            if x.is_nan() {
                assert!(from_bf16(to_bf16(x)).is_nan());
                assert_eq!(to_bf16(x) >> 15, half >> 15);
                continue;
            }
            assert_eq!(to_bf16(x), half, "{x:e}");
            // The next one away from zero; after the largest one, as if there were more.
            if x.is_infinite() {
                continue;
            }
            let next = from_bf16(half + 1);
            let sign = if half >> 15 == 0 { 1.0 } else { -1.0 };
            let next = if next.is_infinite() { sign * 2f64.powi(128) } else { next };
            let middle = x / 2.0 + next / 2.0;
            let even = half + (half & 1);
            assert_eq!(to_bf16(middle), even, "between {x:e} and {next:e}");
            // By one bit of the long one to either side, where rounding to four bytes first would go wrong.
            assert_eq!(to_bf16(step(middle, -1)), half, "before {middle:e}");
            assert_eq!(to_bf16(step(middle, 1)), half + 1, "behind {middle:e}");
        }
    }

    #[test]
    fn corner_cases_of_both_kinds() {
        let tiny = f64::from(f32::from_bits(1));
        let corners = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            tiny,
            -tiny,
            1e-300,
            f64::from_bits(1),
            f64::from(f32::MIN_POSITIVE),
            f64::from(f32::MAX),
            1.0 + f64::EPSILON,
            std::f64::consts::PI,
            f64::NAN,
        ];
        let state = state_of(&corners);
        let all = 0..state.len();
        for precision in [Precision::Exact, Precision::F32, Precision::Bf16] {
            let (back, _) = again(precision, &state[..8 * 11], &[0..88]);
            for (now, then) in words(&back).zip(corners) {
                assert_eq!(now.to_bits(), rounded(precision, then).to_bits());
                assert_eq!(now.is_sign_negative(), then.is_sign_negative());
            }
            let nan = state_of(&[f64::NAN, -f64::NAN]);
            let (back, _) = again(precision, &nan, &[0..16]);
            assert!(words(&back).all(f64::is_nan));
            assert_eq!(change(precision, &nan, &[0..16]), Some(Change::default()));
        }
        assert_eq!(again(Precision::Exact, &state, std::slice::from_ref(&all)).0, state);
        // Half of the smallest one is nothing, more than that is the smallest one.
        assert_eq!(rounded(Precision::F32, tiny / 2.0), 0.0);
        assert_eq!(rounded(Precision::F32, tiny * 0.51), tiny);
        assert_eq!(rounded(Precision::Bf16, tiny), 0.0);
        assert_eq!(from_bf16(1), rounded(Precision::Bf16, from_bf16(1) * 0.51));
        // The nearest one of four bytes is a half of two, which the number is not.
        let near_half = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(rounded(Precision::Bf16, near_half), 1.0 + 2f64.powi(-7));
    }

    #[test]
    fn what_has_no_room_is_told() {
        let largest = f64::from(f32::MAX);
        let just_fits = largest + (2f64.powi(128) - largest) * 0.49;
        for (x, f32_fits, bf16_fits) in [
            (f64::INFINITY, true, true),
            (f64::NAN, true, true),
            (3.38e38, true, true),
            (-largest, true, false),
            (just_fits, true, false),
            (2f64.powi(128), false, false),
            (-1e300, false, false),
        ] {
            let state = state_of(&[1.0, x]);
            let fits = |precision| change(precision, &state, &[0..8, 8..16]).is_some();
            let fit = (fits(Precision::F32), fits(Precision::Bf16), fits(Precision::Exact));
            assert_eq!(fit, (f32_fits, bf16_fits, true), "{x:e}");
            // What is no float may be anything.
            assert!(change(Precision::Bf16, &state, &[0..8]).is_some());
        }
    }

    #[test]
    fn changes_are_bounded() {
        let mut seed = 1u64;
        for _ in 0..100_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let x = 2f64.powi((seed >> 40) as i32 % 100) * (1.0 + (seed >> 12) as f64 / 2e15);
            for (precision, bound) in
                [(Precision::F32, 2f64.powi(-24)), (Precision::Bf16, 2f64.powi(-8))]
            {
                let change = change(precision, &state_of(&[x]), &[0..8]).unwrap();
                assert!(change.relative() <= bound && change.largest == x.abs(), "{x:e}");
            }
        }
        let change = change(Precision::F32, &state_of(&[4.0, 0.1]), &[0..16]).unwrap();
        assert_eq!(change.difference, (0.1 - f64::from(0.1f32)).abs());
        assert_eq!(change.relative(), change.difference / 4.0);
    }

    /// Floats between other bytes, and states of every length.
    #[test]
    fn other_bytes_stay() {
        let state: Vec<u8> = (0..1003u32).map(|k| (k * 37 % 251) as u8).collect();
        for floats in [
            vec![],
            vec![0..8],
            vec![3..11, 11..27, 30..62],
            vec![5..997],
            vec![0..80, 81..89, 995..1003],
        ] {
            for precision in [Precision::F32, Precision::Bf16] {
                let floats = tidy(floats.clone(), state.len());
                let (back, size) = again(precision, &state, &floats);
                let count: usize = floats.iter().map(|range| range.len() / 8).sum();
                assert!(
                    size <= state.len() - count * (8 - precision.bytes()) + 2 + 4 * floats.len()
                );
                assert_eq!(back.len(), state.len());
                let is_float = |k: &usize| floats.iter().any(|range| range.contains(k));
                assert!((0..state.len()).filter(|k| !is_float(k)).all(|k| back[k] == state[k]));
                for range in &floats {
                    let pairs = words(&back[range.clone()]).zip(words(&state[range.clone()]));
                    for (now, then) in pairs {
                        let wanted = rounded(precision, then);
                        assert!(now.to_bits() == wanted.to_bits() || now.is_nan() && then.is_nan());
                    }
                }
            }
            let mut whole = vec![0; whole_size(1003) as usize];
            let mut back = Vec::new();
            keep_whole(&state, true, &mut whole);
            assert_eq!(read(Precision::Bf16, &whole, &mut back), Some(true));
            assert_eq!(back, state);
        }
    }

    #[test]
    fn ranges_that_are_none_are_left_out() {
        assert_eq!(tidy(vec![0..8, 8..16, 20..36], 100), [0..16, 20..36]);
        assert_eq!(tidy(vec![0..12, 4..20, 90..120, 200..208], 100), [0..8, 90..98]);
        assert_eq!(tidy(vec![Range { start: 9, end: 1 }, 50..57], 100), []);
    }

    #[test]
    fn what_is_no_state_is_told() {
        let mut to = Vec::new();
        for bad in
            [&[][..], &[SHORT], &[SHORT, 5, 1], &[SHORT, 1, 0, 9, 1, 2], &[SHORT, 0xff, 0xff]]
        {
            assert_eq!(read(Precision::F32, bad, &mut to), None, "{bad:?}");
        }
        let long = [&[SHORT][..], &[0xff; 12]].concat();
        assert_eq!(read(Precision::F32, &long, &mut to), None);
    }
}
