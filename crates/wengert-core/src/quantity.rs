//! Bytes and seconds as people write them.

/// Units of bytes, longer names before those that they end with.
const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("", 1),
];

/// A number of bytes: `500000`, `64MiB`, `64 MiB` or `2GB`. What is wrong with others is told.
///
/// ```
/// use wengert_core::quantity::bytes;
///
/// assert_eq!(bytes("64 MiB"), Ok(64 << 20));
/// assert_eq!(bytes("1_000"), Ok(1000));
/// assert_eq!(bytes("much"), Err("`much` is not a size such as `500000`, `64MiB` or `2GB`".into()));
/// ```
pub fn bytes(text: &str) -> Result<u64, String> {
    let found = UNITS.iter().find_map(|(unit, factor)| {
        let number = text.trim().strip_suffix(unit)?.trim().replace('_', "");
        number.parse::<u64>().ok()?.checked_mul(*factor)
    });
    found.ok_or_else(|| format!("`{text}` is not a size such as `500000`, `64MiB` or `2GB`"))
}

/// So many bytes in few digits.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// So many seconds in few digits.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
