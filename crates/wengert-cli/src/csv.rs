//! Tables of numbers as text.

use crate::literal::number;
use wengert::{Array, Value};

/// The numbers of a file: a vector for one column or one row, otherwise a matrix. Fields are separated by
/// commas, semicolons, tabs or blanks. A first row without a number in it is a header.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut header = true;
    for (k, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let parsed: Vec<_> = fields(line).map(|field| (field, float(field))).collect();
        if std::mem::take(&mut header) && parsed.iter().all(|(_, x)| x.is_err()) {
            continue;
        }
        let row = parsed.into_iter().map(|(_, x)| x).collect::<Result<Vec<f64>, String>>();
        let row = row.map_err(|e| format!("line {}: {e}", k + 1))?;
        if let Some(first) = rows.first()
            && first.len() != row.len()
        {
            let (n, m) = (row.len(), first.len());
            return Err(format!(
                "line {}: it has {n} numbers, but the lines before have {m}",
                k + 1
            ));
        }
        rows.push(row);
    }
    match (rows.len(), rows.first().map_or(0, Vec::len)) {
        (0, _) => Err("it holds no numbers".into()),
        (1, _) | (_, 1) => Ok(rows.concat().into()),
        (n, m) => Array::new([n, m], rows.concat()).map(Value::Array).map_err(|e| e.to_string()),
    }
}

/// The fields of a line, by the first separator it has.
fn fields(line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    match [',', ';', '\t'].into_iter().find(|c| line.contains(*c)) {
        Some(separator) => Box::new(line.split(separator).map(str::trim)),
        None => Box::new(line.split_whitespace()),
    }
}

fn float(field: &str) -> Result<f64, String> {
    let field = field.trim_matches('"');
    let value = number(field)?;
    value.as_f64().ok_or_else(|| format!("`{field}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_matrices() {
        assert_eq!(read("t\n1\n2.5\n"), Ok([1.0, 2.5].into()));
        assert_eq!(read("1, 2, 3\n"), Ok([1.0, 2.0, 3.0].into()));
        assert_eq!(read("a,b\n1,2\n\n3,4"), Ok([[1.0, 2.0], [3.0, 4.0]].into()));
        assert_eq!(read("1;2\r\n3;nan\r\n").map(|v| v.shape().to_vec()), Ok(vec![2, 2]));
        assert_eq!(read("# made by hand\n1 2\n3 4\n"), Ok([[1.0, 2.0], [3.0, 4.0]].into()));
    }

    #[test]
    fn what_is_wrong_and_where() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert_eq!(wrong("a,b\n1,2\n3\n"), "line 3: it has 1 numbers, but the lines before have 2");
        assert!(wrong("1\ntwo\n").starts_with("line 2: `two` is not a number"));
        assert!(wrong("1,a\n").starts_with("line 1: `a` is not a number"));
        assert_eq!(wrong("a,b\n"), "it holds no numbers");
    }
}
