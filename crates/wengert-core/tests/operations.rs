//! docs/operations.md says what the tables say. `BLESS=1` writes it.

use std::fmt::Write;
use wengert_core::ops::{ArrayOp, Class, Prim};

const OPENING: &str = "\
# Operations

Made from the tables in [ops/](../crates/wengert-core/src/ops/mod.rs) by
[a test](../crates/wengert-core/tests/operations.rs); `BLESS=1 cargo test -p wengert-core --test operations`
writes it again.

Programs in the IR are made of these. The functions users call, in Python or through the libraries, become
one of them or a few.

- **Error**: the most units in the last place the result may be off. *exact*: not at all. *rounded*: the true
  result rounded once, half a unit. Where a result is near 0 because large terms cancel, the bound is
  absolute; the opening of the function's [program](../crates/wengert-core/src/math/mod.rs) says where. In
  single precision functions are computed in double precision and rounded.
- **Class**: *linear* operations have constant partials, those of *smooth* ones are expressions (kinks are noted);
  *select* passes the derivative of what it chose; a *cast* changes the type of derivatives too; *zero*: no
  derivative passes, and the partials say why.
- **Partials**: the derivative by each input, in the inputs' names and `y`, the result. All derivatives, of any
  order and in both modes, come from these.
- **Keeps**: what reverse mode needs of the inputs and the result to apply the partials.

In partials, `x.recip_of(c)` is c / x, `x.hypot_of(c)` the root of x^2 + c^2, `a.less(b)` 1 where a < b and else 0,
`x.positive()` 1 where x > 0 and else 0, `p.flipped()` 1 for 0 and 0 for 1, `p.and(q)` 1 where both are 1 and else
0, `x.sign()` -1, 0 or 1, `x.nonzero()` x but 1 where x is 0, `a.gap(b)` a - b but 0 for two equal infinities,
`a.pow_less_one(b)` a^(b-1) but 1 where b is 0 and a too small for 1 / a, `a.log_of_base(b)` log(a) but 0 where a is
0 and b is not negative, `x.powi_less_one(n)` x^(n-1) but 1 where n is 0, `n.as_float(x)` n as a float like x,
`n.next()` n + 1, `x.integer(0)` the integer 0, `x.recip()` 1 / x, `gaussian(x)` e^(-x^2), `radius(a, b)` hypot(a,
b) but 1 at the origin, `inside(x, lo, hi)` and `below(x, lo, hi)` 1 where `clamp` gives x or lo and else 0; `One`
and `Zero` are 1 and 0, `LN_2` is log(2), `LOG2_E` and `LOG10_E` are the logarithms of e, `TWO_BY_ROOT_PI` is 2 by
the root of pi, `ROOT_TWO_PI` the root of 2 pi. Other names are operations of this page: `x.exp()`, `x.cos()`,
`x.round()`, `x.polygamma(n)`. The partial `Chosen(p)` is p, 0 or 1, `Chosen` and not multiplied by: what is not
chosen has no part in the derivative, even where its own slope is infinite.
";

const ARRAYS: &str = "
## Arrays

Every operation above that takes or gives floats, integers or bools works on arrays too, element by element.
These move elements, add them up or multiply matrices. *In place* ones take over their first operand: the
result is its next version.

| operation | operands | what it gives | its adjoint |
| --- | --- | --- | --- |
";

/// Where sections begin.
const SECTIONS: [(Prim, &str); 8] = [
    (Prim::Add, "Arithmetic"),
    (Prim::Sqrt, "Elementary functions"),
    (Prim::Erf, "Special functions"),
    (Prim::Lt, "Comparisons"),
    (Prim::And, "Logic and choice"),
    (Prim::IAdd, "Integers"),
    (Prim::WAdd, "Bits"),
    (Prim::IToF, "Conversions"),
];

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).unwrap();
        return std::fs::write(path, page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let different = page.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(page == found, "run with BLESS=1 to write docs/operations.md again: {different:?}");
}

fn page() -> String {
    let mut page = OPENING.to_string();
    for prim in Prim::ALL.iter().copied() {
        if let Some((_, title)) = SECTIONS.iter().find(|(first, _)| *first == prim) {
            let columns =
                "operation | types | what it gives | class | error | partials | keeps | notes";
            write!(page, "\n## {title}\n\n| {columns} |\n|{}\n", " --- |".repeat(8)).unwrap();
        }
        page += &row(prim);
    }
    page += ARRAYS;
    ArrayOp::samples().iter().for_each(|op| page += &array(op));
    page
}

/// Names of inputs: those of the table, or letters.
fn names(prim: Prim) -> Vec<&'static str> {
    match (prim.input_names(), prim.arity()) {
        ([], 1) => vec!["x"],
        ([], arity) => ["a", "b", "c"][..arity].to_vec(),
        (names, _) => names.to_vec(),
    }
}

fn row(prim: Prim) -> String {
    let names = names(prim);
    let word = |letter: char| match letter {
        'f' => "float",
        'd' => "f64",
        's' => "f32",
        'i' => "integer",
        'b' => "bool",
        _ => "any",
    };
    let (inputs, output) = prim.signature().split_once('>').unwrap();
    let inputs: Vec<&str> = inputs.chars().map(word).collect();
    let error = match prim.bound() {
        0.0 => "exact".to_string(),
        0.5 => "rounded".to_string(),
        bound => format!("{bound} ulp"),
    };
    let class = format!("{:?}", prim.class()).to_lowercase();
    let partials = match prim.class() {
        Class::Zero => format!("none: {}", prim.no_derivative().unwrap()),
        Class::Select => "1 by the one chosen, 0 by the other".to_string(),
        Class::Cast => "1, of the other type".to_string(),
        Class::Linear | Class::Smooth => {
            let texts = prim.partial_texts().iter().zip(&names);
            let each: Vec<String> = texts.map(|(text, name)| format!("{name}: `{text}`")).collect();
            each.join("<br>")
        }
    };
    format!(
        "| `{} {}` | {} -> {} | {} | {class} | {error} | {partials} | {} | {} |\n",
        prim.name(),
        names.join(", "),
        inputs.join(", "),
        output.chars().map(word).collect::<String>(),
        prim.about(),
        kept(prim, &names),
        prim.at_kinks().unwrap_or_default(),
    )
}

/// What the partials are made of.
fn kept(prim: Prim, names: &[&str]) -> String {
    if prim.class() == Class::Zero {
        return String::new();
    }
    let needs: Vec<_> = (0..prim.arity()).map(|k| prim.needs(k)).collect();
    let inputs = names.iter().enumerate();
    let inputs = inputs.filter(|(k, _)| needs.iter().any(|n| n.has_input(*k))).map(|(_, n)| *n);
    let output = needs.iter().any(|n| n.has_output()).then_some("y");
    let all: Vec<&str> = inputs.chain(output).collect();
    if all.is_empty() { "nothing".to_string() } else { all.join(", ") }
}

fn array(op: &ArrayOp) -> String {
    let (operands, about) = op.about();
    let place = if op.in_place() { " (in place)" } else { "" };
    let adjoint = op.no_derivative().map_or(op.adjoint().to_string(), |why| format!("none: {why}"));
    format!("| `{}{}` | {operands} | {about}{place} | {adjoint} |\n", op.name(), op.attributes())
}

/// Every name used in a partial is an operation or explained.
#[test]
fn partials_are_readable() {
    for prim in Prim::ALL.iter().copied() {
        for text in prim.partial_texts() {
            for (at, _) in text.match_indices('(') {
                let before = &text[..at];
                let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
                let name = &before[start.map_or(0, |s| s + 1)..];
                let known =
                    Prim::from_name(name).is_some() || OPENING.contains(&format!("{name}("));
                assert!(name.is_empty() || known, "{}: `{name}` is not explained", prim.name());
            }
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            for name in words.filter(|w| w.starts_with(|c: char| c.is_uppercase())) {
                let known = OPENING.contains(&format!("`{name}`"));
                assert!(known, "{}: `{name}` is not explained", prim.name());
            }
        }
    }
}

#[test]
fn what_has_no_derivative_says_why() {
    for prim in Prim::ALL.iter().copied() {
        assert_eq!(prim.no_derivative().is_some(), prim.class() == Class::Zero, "{}", prim.name());
    }
    for op in ArrayOp::samples() {
        assert_eq!(op.no_derivative().is_some(), op.adjoint().is_empty(), "{}", op.name());
        assert!(op.no_derivative().is_some() || !op.is_zero());
    }
}
