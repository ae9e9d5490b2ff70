//! Values as typed on the command line or written in a JSON file.

use serde_json::Value as Json;
use std::path::Path;
use wengert::{Array, Value};

/// The most elements that `zeros` and its kin make.
const MOST: f64 = 2e9;

/// What can be typed for a value.
const FORMS: &str = "give a number, `true`, `false`, a list such as `[1, 2, 3]` or `[[1, 2], [3, 4]]`, \
     `zeros(10)`, `ones(3, 4)`, `arange(10)`, `linspace(0, 1, 100)`, `@file.npy` or `@file.csv`";

/// A list of lists of numbers, not yet an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    One(Value),
    List(Vec<Item>),
}

/// A value.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix('@') {
        return file(path);
    }
    item(text)?.value()
}

/// A value that may still be made of lists of different lengths.
pub(crate) fn item(text: &str) -> Result<Item, String> {
    let text = text.trim();
    if let Some(made) = call(text) {
        return Ok(Item::from(&made?));
    }
    let mut parser = Parser { text, at: 0 };
    let item = parser.item()?;
    match parser.rest() {
        "" => Ok(item),
        _ if text.starts_with('[') => Err(parser.wrong()),
        _ => Err(not_a_value(text)),
    }
}

/// The value of JSON; strings stand for the floats that JSON does not have.
pub(crate) fn json(json: &Json) -> Result<Item, String> {
    match json {
        Json::Number(n) => number(&n.to_string()).map(Item::One),
        Json::Bool(b) => Ok(Item::One(Value::Bool(*b))),
        Json::Array(items) => {
            Ok(Item::List(items.iter().map(self::json).collect::<Result<_, _>>()?))
        }
        Json::String(s) => match number(s) {
            Ok(Value::Float(x)) if !x.is_finite() => Ok(Item::One(Value::Float(x))),
            _ => Err(format!(
                "\"{s}\" is not a number; of strings only \"NaN\", \"Infinity\" and \"-Infinity\" stand for one"
            )),
        },
        Json::Null | Json::Object(_) => Err(format!(
            "`{json}` is not a value; give a number, `true`, `false` or a list of numbers"
        )),
    }
}

impl Item {
    /// The value: of a list, an array. Whole numbers in lists are floats like the others.
    pub(crate) fn value(self) -> Result<Value, String> {
        let list = match self {
            Item::One(value) => return Ok(value),
            list => list,
        };
        let shape = list.shape();
        let mut flat = Vec::new();
        list.flatten(&shape, &mut flat)?;
        let bools: Option<Vec<bool>> = flat.iter().map(Value::as_bool).collect();
        let array = match bools {
            Some(bools) if !bools.is_empty() => Array::new(shape, bools),
            _ => {
                let numbers: Option<Vec<f64>> = flat.iter().map(Value::as_f64).collect();
                let numbers =
                    numbers.ok_or("a list holds numbers, or `true` and `false`, not both")?;
                Array::new(shape, numbers)
            }
        };
        array.map(Value::Array).map_err(|e| e.to_string())
    }

    /// Every number in it, in order.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>, String> {
        match self {
            Item::One(value) => {
                let number = value.as_f64();
                Ok(vec![number.ok_or_else(|| format!("`{value}` is not a number"))?])
            }
            Item::List(items) => {
                let each = items.iter().map(Item::numbers).collect::<Result<Vec<_>, _>>()?;
                Ok(each.concat())
            }
        }
    }

    /// The shape, if every list is like the first at its depth.
    fn shape(&self) -> Vec<usize> {
        let mut shape = Vec::new();
        let mut at = Some(self);
        while let Some(Item::List(items)) = at {
            shape.push(items.len());
            at = items.first();
        }
        shape
    }

    fn flatten(&self, shape: &[usize], out: &mut Vec<Value>) -> Result<(), String> {
        match (self, shape) {
            (Item::One(value), []) => out.push(value.clone()),
            (Item::List(items), [n, inner @ ..]) if items.len() == *n => {
                for item in items {
                    item.flatten(inner, out)?;
                }
            }
            (Item::List(items), [n, ..]) => {
                let m = items.len();
                return Err(format!(
                    "its rows differ in length ({n} and {m}); an array has rows of one length, as `[[1, 2], [3, 4]]`"
                ));
            }
            _ => {
                return Err(
                    "it mixes numbers and lists; an array is a list of numbers `[1, 2]` or of rows `[[1, 2], [3, 4]]`"
                        .into(),
                );
            }
        }
        Ok(())
    }
}

impl From<&Value> for Item {
    fn from(value: &Value) -> Item {
        match value {
            Value::Array(x) => {
                let numbers = x.to_f64().unwrap_or_default();
                let mut items: Vec<Item> =
                    numbers.into_iter().map(|x| Item::One(Value::Float(x))).collect();
                for n in x.shape().iter().skip(1).rev() {
                    let rows = items.chunks((*n).max(1));
                    items = rows.map(|row| Item::List(row.to_vec())).collect();
                }
                Item::List(items)
            }
            one => Item::One(one.clone()),
        }
    }
}

/// Reads lists.
struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text[self.at..].trim_start()
    }

    /// Moves past this character.
    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest();
        let found = rest.starts_with(c);
        if found {
            self.at = self.text.len() - rest.len() + c.len_utf8();
        }
        found
    }

    fn item(&mut self) -> Result<Item, String> {
        if !self.eat('[') {
            let rest = self.rest();
            let end = rest.find([',', ']', '[']).unwrap_or(rest.len());
            let word = rest[..end].trim();
            if word.is_empty() && !self.text.is_empty() && self.at > 0 {
                return Err(self.wrong());
            }
            self.at = self.text.len() - rest.len() + end;
            return scalar(word).map(Item::One);
        }
        let mut items = Vec::new();
        while !self.eat(']') {
            items.push(self.item()?);
            if !self.eat(',') && !self.rest().starts_with(']') {
                return Err(self.wrong());
            }
        }
        Ok(Item::List(items))
    }

    fn wrong(&self) -> String {
        let text = self.text;
        let rest = self.rest();
        let why = match rest.chars().next() {
            None => "a `]` is missing at its end".to_string(),
            Some(c) => format!("there is a `{c}` too many or out of place, before `{rest}`"),
        };
        format!("`{text}` is not a list: {why}; write lists as `[1, 2, 3]` or `[[1, 2], [3, 4]]`")
    }
}

fn not_a_value(text: &str) -> String {
    format!("`{text}` is not a value; {FORMS}")
}

/// A number or a truth value.
fn scalar(text: &str) -> Result<Value, String> {
    match text {
        "true" | "True" => Ok(Value::Bool(true)),
        "false" | "False" => Ok(Value::Bool(false)),
        _ => number(text),
    }
}

/// An integer or a float, as Python writes them: `1_000_000`, `1e-3`, `inf`.
pub(crate) fn number(text: &str) -> Result<Value, String> {
    let bytes = text.as_bytes();
    let between_digits = |k: usize| {
        let digit = |k: Option<usize>| k.and_then(|k| bytes.get(k)).is_some_and(u8::is_ascii_digit);
        digit(k.checked_sub(1)) && digit(k.checked_add(1))
    };
    if !text.match_indices('_').all(|(k, _)| between_digits(k)) {
        return Err(format!("`{text}` is not a number; {FORMS}"));
    }
    let digits = text.replace('_', "");
    if let Ok(n) = digits.parse() {
        return Ok(Value::Int(n));
    }
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "`{text}`: this integer does not fit in 64 bits; write it as a float, such as `1e20`"
        ));
    }
    match digits.parse::<f64>() {
        Ok(x)
            if x.is_infinite()
                && unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
        {
            Err(format!(
                "`{text}` is too large for a float, whose largest is about 1.8e308; write `inf` for infinity"
            ))
        }
        Ok(x) => Ok(Value::Float(x)),
        Err(_) => Err(format!("`{text}` is not a number; {FORMS}")),
    }
}

/// `zeros(3, 4)` and its kin; nothing for what is no call.
fn call(text: &str) -> Option<Result<Value, String>> {
    let (name, rest) = text.split_once('(')?;
    let name = name.trim();
    let name = name.strip_prefix("np.").unwrap_or(name);
    Some(called(name, rest, text))
}

fn called(name: &str, rest: &str, text: &str) -> Result<Value, String> {
    let wrong = |why: &str| Err(format!("`{text}`: {why}"));
    let Some(args) = rest.trim_end().strip_suffix(')') else {
        return wrong("a `)` is missing at its end");
    };
    let args = args.trim().trim_end_matches(',');
    // `zeros((3, 4))`, as numpy has it.
    let args = args.strip_prefix('(').and_then(|a| a.strip_suffix(')')).unwrap_or(args);
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|a| !a.is_empty()).collect();
    let values = args.iter().map(|a| number(a)).collect::<Result<Vec<Value>, _>>()?;
    let numbers: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    let size = |v: &Value| v.as_i64().and_then(|n| usize::try_from(n).ok());
    let array = |shape: Vec<usize>, x: f64| {
        if shape.iter().map(|n| *n as f64).product::<f64>() > MOST {
            return Err(format!("`{text}` has too many elements"));
        }
        let elements = vec![x; shape.iter().product()];
        Array::new(shape, elements).map(Value::Array).map_err(|e| format!("`{text}`: {e}"))
    };
    match (name, numbers.as_slice()) {
        ("zeros" | "ones", [_, ..]) => match values.iter().map(size).collect::<Option<Vec<_>>>() {
            Some(shape) => array(shape, if name == "ones" { 1.0 } else { 0.0 }),
            None => wrong("sizes are whole numbers, as in `zeros(10)` or `zeros(3, 4)`"),
        },
        ("arange", [_] | [_, _] | [_, _, _]) => {
            let (start, stop, step) = match *numbers {
                [stop] => (0.0, stop, 1.0),
                [start, stop] => (start, stop, 1.0),
                _ => (numbers[0], numbers[1], numbers[2]),
            };
            let count = ((stop - start) / step).ceil().max(0.0);
            if count.is_nan() || count > MOST {
                return wrong("it would have too many elements");
            }
            Ok((0..count as usize).map(|k| start + k as f64 * step).collect::<Vec<f64>>().into())
        }
        ("linspace", [start, stop, count]) => match size(&values[2]) {
            Some(n) if *count <= MOST => {
                let step = (stop - start) / (n.max(2) - 1) as f64;
                let mut points: Vec<f64> = (0..n).map(|k| start + k as f64 * step).collect();
                if n > 1 {
                    points[n - 1] = *stop;
                }
                Ok(points.into())
            }
            _ => wrong("the number of points is a whole number, as in `linspace(0, 1, 100)`"),
        },
        ("zeros" | "ones" | "arange" | "linspace", _) => wrong(
            "the forms are `zeros(n, ..)`, `ones(n, ..)`, `arange(n)`, `arange(start, stop, step)` and `linspace(start, stop, count)`",
        ),
        _ => Err(not_a_value(text)),
    }
}

/// The array in a file.
fn file(path: &str) -> Result<Value, String> {
    let failed = |e: &dyn std::fmt::Display| format!("cannot read `{path}`: {e}");
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "npy" => crate::npy::read(&std::fs::read(path).map_err(|e| failed(&e))?),
        "csv" | "tsv" | "txt" => {
            crate::csv::read(&std::fs::read_to_string(path).map_err(|e| failed(&e))?)
        }
        _ => {
            return Err(format!(
                "`@{path}` is no file of a known kind; give `@file.npy` or `@file.csv`"
            ));
        }
    }
    .map_err(|e| if e.starts_with("cannot read") { e } else { failed(&e) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lists_and_words() {
        for (text, expected) in [
            ("2", Value::Int(2)),
            ("-2.5e3", (-2500.0).into()),
            ("1_000_000", Value::Int(1_000_000)),
            ("-inf", f64::NEG_INFINITY.into()),
            ("True", true.into()),
            ("[1, 2.5,]", [1.0, 2.5].into()),
            ("[]", Vec::<f64>::new().into()),
            ("[[1, 2], [3, 4],]", [[1.0, 2.0], [3.0, 4.0]].into()),
            ("[ [[1]] , [[2]] ]", [[[1.0]], [[2.0]]].into()),
            ("[true, false]", [true, false].into()),
            ("zeros(3)", [0.0; 3].into()),
            ("np.ones((2, 3))", [[1.0; 3]; 2].into()),
            ("arange(4)", [0.0, 1.0, 2.0, 3.0].into()),
            ("arange(1, 2, 0.5)", [1.0, 1.5].into()),
            ("linspace(0, 1, 5)", [0.0, 0.25, 0.5, 0.75, 1.0].into()),
            ("linspace(0, 1, 1)", [0.0].into()),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        assert!(value("nan").unwrap().as_f64().unwrap().is_nan());
    }

    #[test]
    fn what_is_wrong_and_the_way_out() {
        for (text, part) in [
            ("two", "`two` is not a number; give a number, `true`"),
            ("", "is not a number; give a number"),
            ("_1", "`_1` is not a number"),
            ("9223372036854775808", "this integer does not fit in 64 bits; write it as a float"),
            ("[1, 99999999999999999999]", "this integer does not fit in 64 bits"),
            ("1e999", "too large for a float, whose largest is about 1.8e308; write `inf`"),
            ("-1e999", "write `inf`"),
            ("[1, two]", "`two` is not a number"),
            ("[1", "a `]` is missing at its end"),
            ("[1]]", "there is a `]` too many"),
            ("[1, , 2]", "there is a `,` too many"),
            ("[[1, 2], [3]]", "its rows differ in length (2 and 1)"),
            ("[1, [2]]", "it mixes numbers and lists"),
            ("[1, true]", "numbers, or `true` and `false`, not both"),
            ("zeros(2.5)", "sizes are whole numbers"),
            ("zeros(10000000000)", "too many elements"),
            ("arange(0, 1, 0)", "too many elements"),
            ("linspace(0, 1)", "`linspace(start, stop, count)`"),
            ("eye(3)", "is not a value; give a number"),
            ("zeros(3", "a `)` is missing"),
            ("@missing.npy", "cannot read `missing.npy`: "),
            ("@data.xls", "give `@file.npy` or `@file.csv`"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn json_values() {
        let read = |text: &str| json(&serde_json::from_str(text).unwrap()).and_then(Item::value);
        assert_eq!(read("3"), Ok(Value::Int(3)));
        assert_eq!(read("[[1, 2.5]]"), Ok([[1.0, 2.5]].into()));
        assert_eq!(read("\"-Infinity\""), Ok(f64::NEG_INFINITY.into()));
        assert!(read("12345678901234567890").unwrap_err().contains("64 bits"));
        assert!(read("1e400").unwrap_err().contains("too large for a float"));
        assert!(read("\"2\"").is_err() && read("null").is_err() && read("[1, [2]]").is_err());
    }
}
