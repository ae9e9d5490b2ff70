//! NumPy's `.npy` files: one array each.
//!
//! The format is documented in `numpy.lib.format`: a magic string, a version, a header that reads as a
//! Python dictionary, and the elements.

use wengert::{Array, Value};

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array, or the number in an array without dimensions.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not start as a .npy file does")?;
    let cut = || "the file ends too early".to_string();
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut)?;
    let width = if version[0] == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(cut)?;
    let length = length.iter().rev().fold(0usize, |n, byte| n << 8 | usize::from(*byte));
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not text")?;
    let field = |name: &str| {
        let (_, rest) = header.split_once(&format!("'{name}'"))?;
        rest.trim_start().strip_prefix(':').map(str::trim_start)
    };
    let missing = |name: &str| format!("its header has no `{name}`");
    let kind = field("descr").and_then(|t| t.split('\'').nth(1)).ok_or_else(|| missing("descr"))?;
    let fortran = field("fortran_order").ok_or_else(|| missing("fortran_order"))?;
    let shape = field("shape").and_then(|t| t.strip_prefix('(')?.split_once(')'));
    let shape = shape.ok_or_else(|| missing("shape"))?.0.split(',').map(str::trim);
    let shape = shape.filter(|d| !d.is_empty()).map(|d| d.trim_end_matches('L').parse::<usize>());
    let shape: Vec<usize> =
        shape.collect::<Result<_, _>>().map_err(|_| "its shape is not made of numbers")?;
    let value = elements(kind, data, shape)?;
    match value {
        Value::Array(x) if fortran.starts_with("True") && x.rank() > 1 => from_columns(&x),
        other => Ok(other),
    }
}

fn elements(kind: &str, data: &[u8], shape: Vec<usize>) -> Result<Value, String> {
    let big = kind.starts_with('>');
    macro_rules! read {
        ($ty:ty, $x:ident => $convert:expr) => {{
            const SIZE: usize = size_of::<$ty>();
            let one = |bytes: &[u8]| {
                let mut array = [0; SIZE];
                array.copy_from_slice(bytes);
                let $x =
                    if big { <$ty>::from_be_bytes(array) } else { <$ty>::from_le_bytes(array) };
                $convert
            };
            make(shape, data.chunks_exact(SIZE).map(one).collect())
        }};
    }
    match kind.trim_start_matches(['<', '>', '|', '=']) {
        "f8" => read!(f64, x => x),
        "f4" => read!(f32, x => x),
        "i8" => read!(i64, x => x),
        "i4" => read!(i32, x => i64::from(x)),
        "i2" => read!(i16, x => i64::from(x)),
        "i1" => read!(i8, x => i64::from(x)),
        "u4" => read!(u32, x => i64::from(x)),
        "u2" => read!(u16, x => i64::from(x)),
        "u1" => read!(u8, x => i64::from(x)),
        "b1" => read!(u8, x => x != 0),
        _ => {
            Err(format!("its elements are `{kind}`; save it with `np.save(file, x.astype(float))`"))
        }
    }
}

fn make<T: wengert::Element>(shape: Vec<usize>, elements: Vec<T>) -> Result<Value, String>
where
    Value: From<T>,
{
    match (shape.as_slice(), elements.first()) {
        ([], Some(x)) => Ok(Value::from(*x)),
        _ => Array::new(shape, elements).map(Value::Array).map_err(|e| e.to_string()),
    }
}

/// An array whose elements are stored with the first axis fastest.
fn from_columns(x: &Array) -> Result<Value, String> {
    fn turn<T: wengert::Element>(x: &Array, elements: &[T]) -> Result<Value, String> {
        let shape = x.shape();
        let place = |mut k: usize| {
            let mut index = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                index[axis] = k % shape[axis];
                k /= shape[axis];
            }
            index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i)
        };
        let turned: Vec<T> = (0..elements.len()).map(|k| elements[place(k)]).collect();
        Array::new(shape, turned).map(Value::Array).map_err(|e| e.to_string())
    }
    None.or(x.as_f64().map(|e| turn(x, e)))
        .or(x.as_f32().map(|e| turn(x, e)))
        .or(x.as_i64().map(|e| turn(x, e)))
        .or(x.as_bool().map(|e| turn(x, e)))
        .unwrap_or_else(|| Err("its elements are of no known kind".into()))
}

/// The bytes of a file that holds this value.
pub(crate) fn write(value: &Value) -> Vec<u8> {
    fn bytes<T: Copy, const N: usize>(x: &[T], of: fn(T) -> [u8; N]) -> Vec<u8> {
        x.iter().flat_map(|x| of(*x)).collect()
    }
    let bool = |b: bool| [u8::from(b)];
    let (kind, data) = match value {
        Value::Float(x) => ("<f8", x.to_le_bytes().to_vec()),
        Value::Single(x) => ("<f4", x.to_le_bytes().to_vec()),
        Value::Int(n) => ("<i8", n.to_le_bytes().to_vec()),
        Value::Bool(b) => ("|b1", bool(*b).to_vec()),
        Value::Array(x) => {
            let f64s = x.as_f64().map(|x| ("<f8", bytes(x, f64::to_le_bytes)));
            let f32s = x.as_f32().map(|x| ("<f4", bytes(x, f32::to_le_bytes)));
            let i64s = x.as_i64().map(|x| ("<i8", bytes(x, i64::to_le_bytes)));
            let bools = x.as_bool().map(|x| ("|b1", bytes(x, bool)));
            f64s.or(f32s).or(i64s).or(bools).unwrap_or(("<f8", Vec::new()))
        }
    };
    let dims: Vec<String> = value.shape().iter().map(|n| format!("{n},")).collect();
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", dims.join(" "));
    // The elements start at a multiple of 64 bytes.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', used.next_multiple_of(64) - used));
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, header.as_bytes(), &data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let values: [Value; 7] = [
            2.5.into(),
            7.into(),
            true.into(),
            [1.0, f64::NAN.max(2.0)].into(),
            [[1, 2, 3], [4, 5, 6]].into(),
            [[[0.5f32]]].into(),
            [true, false].into(),
        ];
        for value in values {
            let bytes = write(&value);
            assert_eq!(read(&bytes), Ok(value));
        }
        let array = write(&[1.0, 2.0].into());
        assert_eq!((array.len() - 16) % 64, 0);
        assert!(array.windows(13).any(|w| w == b"'shape': (2,)"));
    }

    /// As `np.save` writes `np.asfortranarray([[1, 2, 3], [4, 5, 6]])`, in big-endian 16-bit integers.
    #[test]
    fn written_by_others() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let mut file = [MAGIC, &[2, 0], &(header.len() as u32).to_le_bytes()].concat();
        file.extend(header.as_bytes());
        for n in [1i16, 4, 2, 5, 3, 6] {
            file.extend(n.to_be_bytes());
        }
        assert_eq!(read(&file), Ok([[1, 2, 3], [4, 5, 6]].into()));
        for end in [0, 7, 11, 40, file.len() - 1] {
            assert!(read(&file[..end]).is_err(), "{end}");
        }
        let text = String::from_utf8_lossy(&file).replace(">i2", "<c8");
        assert!(read(text.as_bytes()).is_err());
    }
}
