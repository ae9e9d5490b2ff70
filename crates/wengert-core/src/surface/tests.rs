//! Tests of the front end: accepted programs by their tree, refused ones by message and place.

use super::names::{CANONICAL, Imports};
use super::tree::*;
use super::{python, unsupported};
use crate::span::{Diagnostic, Span};

/// A tree as text, without spans: `(op operand ...)`.
fn show(block: &[Stmt]) -> String {
    block.iter().map(stmt).collect::<Vec<_>>().join(" ")
}

fn stmt(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            let targets: Vec<_> = targets.iter().map(target).collect();
            format!("(= {} {})", targets.join(" "), expr(value))
        }
        StmtKind::AugAssign { target: t, op, value } => {
            format!("({}= {} {})", op.symbol(), target(t), expr(value))
        }
        StmtKind::For { target: t, iter, body } => {
            let bounds = match &iter.kind {
                IterKind::Range { start, stop, step } => {
                    exprs(&[start.clone(), stop.clone(), step.clone()])
                }
                other => format!(" {other:?}"),
            };
            format!("(for {}{bounds} {})", target(t), show(body))
        }
        StmtKind::While { cond, body } => format!("(while {} {})", expr(cond), show(body)),
        StmtKind::If { cond, then, otherwise } => {
            format!("(if {} [{}] [{}])", expr(cond), show(then), show(otherwise))
        }
        StmtKind::Break => "break".into(),
        StmtKind::Continue => "continue".into(),
        StmtKind::Return { values } => format!("(return{})", exprs(values)),
        StmtKind::Assert { cond, message } => format!("(assert {} {message:?})", expr(cond)),
        StmtKind::Pass => "pass".into(),
        StmtKind::Call(call) => expr(call),
        StmtKind::Define(func) => format!("(def {} {})", func.name.text, show(&func.body)),
    }
}

fn target(t: &Target) -> String {
    match t {
        Target::Name(name) => name.text.clone(),
        Target::Tuple { elements, .. } => {
            format!("({})", elements.iter().map(target).collect::<Vec<_>>().join(" "))
        }
        Target::Element { base, indices, .. } => {
            format!("([]{} {})", places(indices), expr(base))
        }
    }
}

fn places(indices: &[Index]) -> String {
    let place = |i: &Index| match i {
        Index::At(e) => format!(" {}", expr(e)),
        other => format!(" {other:?}"),
    };
    indices.iter().map(place).collect()
}

fn exprs(exprs: &[Expr]) -> String {
    exprs.iter().map(|e| format!(" {}", expr(e))).collect()
}

fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Builtin(name) => format!("${name}"),
        ExprKind::Unary { op, operand } => format!("({op:?} {})", expr(operand)),
        ExprKind::Binary { first, rest } => rest.iter().fold(expr(first), |left, (op, right)| {
            format!("({} {left} {})", op.symbol(), expr(right))
        }),
        ExprKind::Compare { first, rest } => {
            let rest: String = rest.iter().map(|(op, e)| format!(" {op:?} {}", expr(e))).collect();
            format!("({}{rest})", expr(first))
        }
        ExprKind::Logical { op, operands } => format!("({op:?}{})", exprs(operands)),
        ExprKind::Conditional { cond, then, otherwise } => {
            format!("(? {} {} {})", expr(cond), expr(then), expr(otherwise))
        }
        ExprKind::Call { callee, args, keywords } => {
            let callee = match callee {
                Callee::Builtin(name) => format!("${}", name.text),
                Callee::Function(name) => name.text.clone(),
                Callee::Method { base, name } => format!("{}.{}", expr(base), name.text),
            };
            let named: String =
                keywords.iter().map(|k| format!(" {}={}", k.name.text, expr(&k.value))).collect();
            format!("({callee}{}{named})", exprs(args))
        }
        ExprKind::Index { base, indices } => format!("([]{} {})", places(indices), expr(base)),
        ExprKind::Tuple(elements) => format!("(tuple{})", exprs(elements)),
        ExprKind::List(elements) => format!("(list{})", exprs(elements)),
        ExprKind::Attribute { base, name } => format!("{}.{}", expr(base), name.text),
        ExprKind::Lambda(func) => format!("(lambda {})", show(&func.body)),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::None => "None".into(),
    }
}

fn module(source: &str) -> Module {
    python::parse(source).unwrap_or_else(|errors| panic!("{source}\n{errors:#?}"))
}

fn errors(source: &str) -> Vec<Diagnostic> {
    python::parse(source).expect_err(source)
}

/// The text an error's first label covers.
fn place<'a>(source: &'a str, error: &Diagnostic) -> &'a str {
    let Span { start, end } = error.labels[0].0;
    &source[start as usize..end as usize]
}

/// The statements of `f` in a file with the usual imports.
fn body(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let head = "import math\nimport numpy as np\nfrom math import sin, pi as PI\n";
    let source = format!("{head}def g(x):\n    return x\ndef f(a, b, x, n):\n{lines}");
    show(&module(&source).function("f").unwrap().body)
}

#[test]
fn statements() {
    for (source, expected) in [
        ("a = 1", "(= a 1)"),
        ("a = b = 1.5", "(= a b 1.5)"),
        ("a, (b, x[0]) = b, (a, 1)", "(= (a (b ([] 0 x))) (tuple b (tuple a 1)))"),
        ("[a, b] = b, a", "(= (a b) (tuple b a))"),
        ("x[n - 1, 0] = a", "(= ([] (- n 1) 0 x) a)"),
        ("x[0][1] += a", "(+= ([] 1 ([] 0 x)) a)"),
        ("a **= 2", "(**= a 2)"),
        ("a //= 2; b %= 3", "(//= a 2) (%= b 3)"),
        ("s: float = 0.0", "(= s 0.0)"),
        ("s: float", "pass"),
        ("for i in range(n): pass", "(for i 0 n 1 pass)"),
        ("for i in range(1, n): pass", "(for i 1 n 1 pass)"),
        ("for i in range(n, 0, -1): continue", "(for i n 0 (Neg 1) continue)"),
        ("while a > b:\n  a -= 1\n  break", "(while (a Gt b) (-= a 1) break)"),
        ("if a: b = 1", "(if a [(= b 1)] [])"),
        ("if a: b = 1\nelif b: pass\nelse: b = 2", "(if a [(= b 1)] [(if b [pass] [(= b 2)])])"),
        ("return", "(return)"),
        ("return None", "(return)"),
        ("return a", "(return a)"),
        ("return a, b", "(return a b)"),
        ("return (a, b), x", "(return (tuple a b) x)"),
        ("return a,", "(return (tuple a))"),
        ("assert a > 0", "(assert (a Gt 0) None)"),
        ("assert a > 0, 'a ' 'is negative'", "(assert (a Gt 0) Some(\"a is negative\"))"),
        ("\"\"\"A docstring.\"\"\"\npass\n'a comment'", "pass"),
        ("g(a)", "(g a)"),
    ] {
        assert_eq!(body(source), expected, "{source}");
    }
}

#[test]
fn expressions() {
    for (source, expected) in [
        ("1_000 + 0x10 + 1e-3", "(+ (+ 1000 16) 0.001)"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775807", "9223372036854775807"),
        ("1e999", "inf"),
        ("-a ** 2", "(Neg (** a 2))"),
        ("a ** -b ** 2", "(** a (Neg (** b 2)))"),
        ("+a - (b / x // n) % 2", "(- (Plus a) (% (// (/ b x) n) 2))"),
        ("a @ b", "($matmul a b)"),
        ("0 <= a < b != 3", "(0 Le a Lt b Ne 3)"),
        ("a and b and not (x or True)", "(And a b (Not (Or x true)))"),
        ("a if a > b else b if b else 1", "(? (a Gt b) a (? b b 1))"),
        ("x[a, b][n]", "([] n ([] a b x))"),
        ("(a, ())", "(tuple a (tuple))"),
        ("g(a, x=b)", "(g a x=b)"),
        ("h(a)", "(h a)"),
        ("sin(PI) + math.pi", "(+ ($sin $pi) $pi)"),
        ("math.sin(np.sin(sin(a)))", "($sin ($sin ($sin a)))"),
        ("np.arctan2(a, b) + math.atan2(a, b)", "(+ ($atan2 a b) ($atan2 a b))"),
        ("np.linalg.norm(x)", "($norm x)"),
        ("np.zeros((n, 2), dtype=np.float64)", "($zeros (tuple n 2) dtype=$float)"),
        ("np.zeros(n, float)", "($zeros n $float)"),
        ("max(a, b) + np.max(x)", "(+ ($max a b) ($amax x))"),
        ("math.floor(a) + np.floor(a)", "(+ ($int_floor a) ($floor a))"),
        ("round(a) + np.round(a)", "(+ ($int_round a) ($round a))"),
        ("np.remainder(a, b) + math.remainder(a, b)", "(+ ($mod a b) ($remainder a b))"),
        (
            "abs(a) + len(x) + float(n) + int(a)",
            "(+ (+ (+ ($abs a) ($len x)) ($float n)) ($int a))",
        ),
        ("fixed(g, a)", "(fixed g a)"),
    ] {
        assert_eq!(body(&format!("y = {source}")), format!("(= y {expected})"), "{source}");
    }
}

const MODULE: &str = r#""""A file with everything that can stand outside functions."""
from __future__ import annotations

import numpy as np, wengert
import numpy.linalg as la, math as m
import math as m
from numpy import linalg
from numpy.linalg import solve as s

g: float = 9.81
h = 2 * g


@wengert.differentiable
@differentiable(memory=1)
def f(x: float, n: int = -3, /, flag: bool = True, v: np.ndarray = 1, w: m.x = 2.5):
    return s(linalg.inv(m.exp(la.det(x))), h)


if __name__ == "__main__":
    print(f"{f(1)}")
"#;

#[test]
fn modules() {
    let module = module(MODULE);
    assert_eq!(
        self::module(&format!("\u{feff}{}", MODULE.replace('\n', "\r\n"))).functions.len(),
        1
    );
    assert_eq!(module.constants.len(), 2);
    assert_eq!(expr(&module.constant("h").unwrap().value), "(* 2 g)");
    let f = module.function("f").unwrap();
    assert_eq!(show(&f.body), "(return ($solve ($inv ($exp ($det x))) h))");
    let params: Vec<_> =
        f.params.iter().map(|p| (&*p.name.text, p.annotation.map(|a| a.ty))).collect();
    assert_eq!(
        params,
        [
            ("x", Some(DeclaredType::F64)),
            ("n", Some(DeclaredType::I64)),
            ("flag", Some(DeclaredType::Bool)),
            ("v", Some(DeclaredType::Array(None))),
            ("w", None),
        ]
    );
    assert_eq!(expr(f.params[1].default.as_ref().unwrap()), "(Neg 3)");
    assert_eq!(module.function("g"), None);
}

#[test]
fn names_follow_scopes() {
    // A definition hides an import given from outside, a variable hides both.
    let mut imports = Imports::default();
    imports.member("math", "sin", None).unwrap();
    imports.member("numpy", "cos", Some("c")).unwrap();
    let source = "def sin(x):\n    return x\ndef f(c):\n    pi = c\n    return sin(pi) + c\n";
    let module = python::parse_with(source, imports.clone()).unwrap();
    assert_eq!(show(&module.functions[1].body), "(= pi c) (return (+ (sin pi) c))");
    let module = python::parse_with("def f(x):\n    return sin(c(x))", imports).unwrap();
    assert_eq!(show(&module.functions[0].body), "(return ($sin ($cos x)))");
    // A name assigned anywhere in a function is its variable everywhere in it.
    let source =
        "def f(x):\n    y = max(x, 1)\n    for max in range(3):\n        pass\n    return y\n";
    assert_eq!(errors(source)[0].message, "`max` is a variable here");
    // `range` too can be hidden, by the module.
    let source = "def range(n):\n    return n\ndef f(n):\n    for i in range(n):\n        pass\n";
    assert_eq!(place(source, &errors(source)[0]), "range(n)");
}

#[test]
fn spans() {
    let source = "def f(x, y):\n    z = (x + y) * x[1]\n    return z\n";
    let module = module(source);
    let text = |span: Span| &source[span.start as usize..span.end as usize];
    let f = &module.functions[0];
    assert_eq!(text(f.name.span), "f");
    assert_eq!(text(f.params[1].span), "y");
    assert_eq!(text(f.body[0].span), "z = (x + y) * x[1]");
    let StmtKind::Assign { targets, value } = &f.body[0].kind else { panic!() };
    assert_eq!(text(targets[0].span()), "z");
    assert_eq!(text(value.span), "(x + y) * x[1]");
    let ExprKind::Binary { first, rest } = &value.kind else { panic!() };
    let [(BinaryOp::Add, y), (BinaryOp::Mul, element)] = &rest[..] else { panic!() };
    assert_eq!((text(first.span), text(y.span), text(element.span)), ("x", "y", "x[1]"));
}

/// Statements in a function, what their error covers, and its message.
#[rustfmt::skip]
const REFUSED_STATEMENTS: &[(&str, &str, unsupported::Construct)] = &[
    ("for i in range(3):\n  pass\nelse:\n  pass", "else", unsupported::FOR_ELSE),
    ("while a: # no else\n  pass\nelse:\n  pass", "else", unsupported::WHILE_ELSE),
    ("for v in x: pass", "x", unsupported::FOR_EACH),
    ("for v in np.arange(3): pass", "np.arange(3)", unsupported::FOR_EACH),
    ("for i, v in range(3): pass", "i, v", unsupported::FOR_TARGET),
    ("for i in range(): pass", "range()", unsupported::RANGE_ARGUMENTS),
    ("for i in range(1, 2, 3, 4): pass", "range(1, 2, 3, 4)", unsupported::RANGE_ARGUMENTS),
    ("for i in range(stop=3): pass", "range(stop=3)", unsupported::RANGE_ARGUMENTS),
    ("try:\n  pass\nexcept ValueError:\n  pass", "try:", unsupported::TRY),
    ("raise ValueError", "raise ValueError", unsupported::RAISE),
    ("with a as b:\n  pass", "with a as b:", unsupported::WITH),
    ("match a:\n  case 1: pass", "match a:", unsupported::MATCH),
    ("global c", "global c", unsupported::GLOBAL),
    ("nonlocal c", "nonlocal c", unsupported::NONLOCAL),
    ("del a", "del a", unsupported::DELETE),
    ("type T = int", "type T = int", unsupported::TYPE_ALIAS),
    ("a + 1", "a + 1", unsupported::UNUSED_VALUE),
    ("...", "...", unsupported::ELLIPSIS_STATEMENT),
    ("assert a, f'{a}'", "f'{a}'", unsupported::ASSERT_MESSAGE),
    ("import math", "import math", unsupported::INNER_IMPORT),
    ("from math import cos", "from math import cos", unsupported::INNER_IMPORT),
    ("def h():\n  pass", "h", unsupported::INNER_FUNCTION),
    ("class C:\n  pass", "C", unsupported::CLASS),
    ("async for i in x: pass", "async for i in x: pass", unsupported::ASYNC),
    ("async with a: pass", "async with a: pass", unsupported::ASYNC),
    ("a, *b = x", "*b", unsupported::STARRED_TARGET),
    ("a.b = 1", "a.b", unsupported::ATTRIBUTE_TARGET),
    ("a.b += 1", "a.b", unsupported::ATTRIBUTE_TARGET),
    ("a @= b", "a @= b", unsupported::AUGMENTED_OPERATOR),
    ("a <<= b", "a <<= b", unsupported::AUGMENTED_OPERATOR),
    ("x[1:2] = a", "1:2", unsupported::SLICE),
    ("yield a", "yield a", unsupported::YIELD),
];

/// Expressions, what their error covers, and its message.
#[rustfmt::skip]
const REFUSED_EXPRESSIONS: &[(&str, &str, unsupported::Construct)] = &[
    ("lambda y: y", "lambda y: y", unsupported::LAMBDA),
    ("[v for v in x]", "[v for v in x]", unsupported::COMPREHENSION),
    ("{v for v in x}", "{v for v in x}", unsupported::COMPREHENSION),
    ("{v: v for v in x}", "{v: v for v in x}", unsupported::COMPREHENSION),
    ("sum(v for v in x)", "v for v in x", unsupported::GENERATOR),
    ("(yield a)", "yield a", unsupported::YIELD),
    ("(yield from a)", "yield from a", unsupported::YIELD),
    ("(await a)", "await a", unsupported::AWAIT),
    ("(y := a)", "y := a", unsupported::WALRUS),
    ("[a, b]", "[a, b]", unsupported::LIST),
    ("{'k': a}", "{'k': a}", unsupported::DICT),
    ("{a, b}", "{a, b}", unsupported::SET),
    ("a + 'text'", "'text'", unsupported::STRING),
    ("a + f'{a}'", "f'{a}'", unsupported::STRING),
    ("b'bytes'", "b'bytes'", unsupported::BYTES),
    ("a + 2j", "2j", unsupported::COMPLEX),
    ("9223372036854775808", "9223372036854775808", unsupported::BIG_INTEGER),
    ("a - -9223372036854775809", "9223372036854775809", unsupported::BIG_INTEGER),
    ("(a, None)", "None", unsupported::NONE),
    ("x[..., 0]", "...", unsupported::ELLIPSIS),
    ("x[1:]", "1:", unsupported::SLICE),
    ("x[0, ::2]", "::2", unsupported::SLICE),
    ("x[()]", "()", unsupported::EMPTY_INDEX),
    ("g(*x)", "*x", unsupported::STARRED),
    ("x[*a]", "*a", unsupported::STARRED),
    ("g(**a)", "**a", unsupported::DOUBLE_STARRED),
    ("a & b", "a & b", unsupported::BITWISE),
    ("a >> b", "a >> b", unsupported::BITWISE),
    ("~a", "~a", unsupported::BITWISE),
    ("a in x", "a in x", unsupported::MEMBERSHIP),
    ("a not in x", "a not in x", unsupported::MEMBERSHIP),
    ("a is b", "a is b", unsupported::IDENTITY),
    ("a is not None", "a is not None", unsupported::IDENTITY),
    ("g(a)(b)", "g(a)", unsupported::CALL_EXPRESSION),
    ("x[0](b)", "x[0]", unsupported::CALL_EXPRESSION),
    ("np.random.normal()", "np.random.normal", unsupported::SUBMODULE),
    ("1 + (2 * [a])", "[a]", unsupported::LIST),
];

/// Module texts, what their error covers, and its message.
#[rustfmt::skip]
const REFUSED_MODULES: &[(&str, &str, unsupported::Construct)] = &[
    ("print(1)\n", "print(1)", unsupported::MODULE_STATEMENT),
    ("if 1:\n  a = 1\n", "if 1:", unsupported::MODULE_STATEMENT),
    ("if __name__ == '__main__': a = 1\nelse: b = 1\n", "if __name__ == '__main__': a = 1", unsupported::MODULE_STATEMENT),
    ("try:\n  import numpy\nexcept: pass", "try:", unsupported::MODULE_STATEMENT),
    ("class C: pass", "C", unsupported::CLASS),
    ("a, b = 1, 2", "a, b = 1, 2", unsupported::CONSTANT_TARGET),
    ("a = b = 1", "a = b = 1", unsupported::CONSTANT_TARGET),
    ("a.b: int = 1", "a.b: int = 1", unsupported::CONSTANT_TARGET),
    ("a = [1, 2]", "[1, 2]", unsupported::LIST),
    ("from math import *", "from math import *", unsupported::IMPORT_STAR),
    ("async def f(x): pass", "f", unsupported::ASYNC),
    ("@jit\ndef f(x): pass", "@jit", unsupported::DECORATOR),
    ("@differentiable()()\ndef f(x): pass", "@differentiable()()", unsupported::DECORATOR),
    ("def f[T](x): pass", "[T]", unsupported::TYPE_PARAMETERS),
    ("def f(*x): pass", "*x", unsupported::VARARGS),
    ("def f(**x): pass", "**x", unsupported::KWARGS),
    ("def f(a, *, x): pass", "x", unsupported::KEYWORD_ONLY),
    ("def f(x=a): pass", "a", unsupported::DEFAULT),
    ("def f(x=None): pass", "None", unsupported::DEFAULT),
    ("def f(x=1 + 1): pass", "1 + 1", unsupported::DEFAULT),
];

#[test]
fn refused_constructs_say_what_and_where() {
    let mut seen: Vec<&str> = Vec::new();
    let in_function = |text: &str| {
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!("import numpy as np\ndef g(x):\n    return x\ndef f(a, b, x):\n{lines}")
    };
    let rows = (REFUSED_STATEMENTS.iter().map(|(t, p, c)| (in_function(t), p, c)))
        .chain(REFUSED_EXPRESSIONS.iter().map(|(t, p, c)| (in_function(&format!("y = {t}")), p, c)))
        .chain(REFUSED_MODULES.iter().map(|(t, p, c)| ((*t).to_owned(), p, c)));
    for (source, expected_place, construct) in rows {
        let errors = errors(&source);
        let error = &errors[0];
        assert_eq!(errors.len(), 1, "{source}\n{errors:#?}");
        assert_eq!(error.code, "unsupported-syntax", "{source}");
        assert_eq!(error.message, construct.message, "{source}");
        assert_eq!(error.help.as_deref(), Some(construct.help), "{source}");
        assert_eq!(place(&source, error), *expected_place, "{source}");
        seen.push(construct.message);
    }
    // The parser itself refuses what would lead to these.
    let unreachable = [unsupported::NOTEBOOK_COMMAND, unsupported::OTHER_TARGET];
    for construct in unsupported::ALL {
        let covered = seen.contains(&construct.message) || unreachable.contains(construct);
        assert!(covered, "no test for: {}", construct.message);
    }
}

/// Errors with a message of their own: text, code, place, message, help.
#[rustfmt::skip]
const OTHER_ERRORS: &[(&str, &str, &str, &str, &str)] = &[
    ("import scipy\n", "unsupported-import", "scipy", "`scipy` cannot be imported", "import from `math`"),
    ("import numpy.fft as f\n", "unsupported-import", "numpy.fft as f", "`numpy.fft` cannot", "import from"),
    ("from scipy.special import erf", "unsupported-import", "from scipy.special import erf", "`scipy.special`", "import from"),
    ("from .a import b", "unsupported-import", "from .a import b", "`.a` cannot", "import from"),
    ("from . import b", "unsupported-import", "from . import b", "`.` cannot", "import from"),
    ("def f(): pass\ndef f(): pass", "duplicate-definition", "f", "`f` is defined twice", "another name"),
    ("f = 1\nf = 2", "duplicate-definition", "f", "`f` is defined twice", "another name"),
    ("from math import e\ne = 2", "duplicate-definition", "e", "`e` is defined twice", "another name"),
    ("import numpy as m, math as m", "duplicate-definition", "math as m", "`m` is defined twice", "another name"),
    ("def f(x): return np.sin(x)", "unknown-name", "np", "`np` is not imported", "import numpy as np"),
    ("def f(x): return math.pi", "unknown-name", "math", "`math` is not imported", "import math"),
    ("import math\ndef f(x): return math", "unsupported-syntax", "math", "`math` is a module", "math.name"),
    ("import numpy as np\ndef f(x): return np.linalg", "unsupported-syntax", "np.linalg", "is a module", "numpy.linalg.name"),
    ("def f(x): return x.T", "unsupported-syntax", "x.T", "`.T` is not supported", "np.transpose(x)"),
    ("def f(x): return x[0].sum()", "unsupported-syntax", "x[0].sum", "`.sum` is not", "np.sum(x[0])"),
    ("def f(x): x.append(1)", "unsupported-syntax", "x.append", "`.append` is not", "np.zeros(n)"),
    ("import math\ndef f(math): return math.pi", "unsupported-syntax", "math.pi", "`.pi` is not", "pass the value"),
    ("def f(g, x): return g(x)", "unsupported-syntax", "g", "`g` is a variable here", "by its name"),
    ("def f(x): break", "syntax", "break", "`break` outside of a loop", "`return`"),
    ("def f(x):\n  while x: pass\n  continue", "syntax", "continue", "`continue` outside", "`return`"),
    ("def f(x, x): pass", "syntax", "x", "two parameters are called `x`", "another name"),
    ("def f(x): return f(a=1, a=2)", "syntax", "a", "`a` is given twice", "remove one"),
];

#[test]
fn other_errors_say_what_and_where() {
    for (source, code, expected_place, message, help) in OTHER_ERRORS {
        let errors = errors(source);
        let error = &errors[0];
        assert_eq!(error.code, *code, "{source}");
        assert_eq!(place(source, error), *expected_place, "{source}");
        assert!(error.message.contains(message), "{source}\n{error:#?}");
        assert!(error.help.as_deref().unwrap().contains(help), "{source}\n{error:#?}");
    }
}

#[test]
fn text_that_is_not_python_is_a_syntax_error() {
    for source in [
        "def f(:\n",
        "x = (1",
        "def f():\nreturn 1",
        "x = 'abc",
        "x = f'{a",
        "x = f'''{a'''\n",
        "1 = x",
        "None = 1",
        "a, b += 1",
        "f(1) = 2",
        "def f(x=1, y): pass",
        "f(a=1, 2)",
        "x = 1 +",
        "\0",
        "é = €",
        "  x = 1\n y = 2",
        "!ls",
        "x = $",
        "f\"{",
    ] {
        let errors = errors(source);
        assert!(errors.len() <= 10);
        for error in errors {
            assert_eq!(error.code, "syntax", "{source:?}");
            let (span, _) = error.labels[0];
            assert!(span.start <= span.end && span.end as usize <= source.len(), "{source:?}");
        }
    }
    let many = errors(&"async ".repeat(1000));
    assert_eq!(many.len(), 10);
}

#[test]
fn every_statement_reports_its_error_in_source_order() {
    let source = "import os\ndef f(x):\n    a = [1]\n    while x is None:\n        b = 'text'\n    else:\n        \
                  pass\n    if x in a:\n        del a\n    elif {1}:\n        return x.T\ndef g(*x): pass\n";
    let messages: Vec<_> = errors(source).iter().map(|e| place(source, e).to_owned()).collect();
    assert_eq!(
        messages,
        ["os", "[1]", "x is None", "'text'", "else", "x in a", "del a", "{1}", "x.T", "*x"]
    );
}

#[test]
fn nesting_is_limited_without_overflowing_the_stack() {
    let repeat = |head: &str, open: &str, middle: &str, close: &str, n: usize| {
        format!("{head}{}{middle}{}\n", open.repeat(n), close.repeat(n))
    };
    let assign = |open, middle, close, n| repeat("x = ", open, middle, close, n);
    let deep = |n: usize| {
        let blocks = |keyword: &str| {
            let mut text = "def f(x):\n".to_owned();
            for i in 0..n.min(2000) {
                text += &format!("{}{keyword} x:\n", " ".repeat(i + 1));
            }
            text + &" ".repeat(n.min(2000) + 1) + "pass\n"
        };
        let elifs = repeat("def f(x):\n if x: pass\n", " elif x: pass\n", "", "", n);
        vec![
            assign("1 + (", "1", ")", n),
            assign("1 @ ", "1", "", n),
            assign("-", "1", "", n),
            assign("not ", "1", "", n),
            assign("1 ** ", "1", "", n),
            assign("abs(", "1", ")", n),
            assign("a[", "1", "]", n),
            assign("", "a", "[0]", n),
            assign("(", "1", ",)", n),
            assign("1 if 1 else ", "1", "", n),
            repeat("def f(x): ", "(", "x", ",)", n).trim_end().to_owned() + " = 1",
            blocks("if"),
            blocks("while"),
            elifs,
        ]
    };
    for text in deep(80) {
        assert!(python::parse(&text).is_ok(), "{text}");
    }
    for n in [300, 5_000, 100_000] {
        for text in deep(n) {
            let errors = errors(&text);
            assert_eq!(errors[0].code, "nesting-too-deep", "{}", &text[..60]);
            assert!(errors[0].help.is_some());
        }
    }
    // A chain of operators is one node.
    assert!(python::parse(&assign("1 + ", "1", "", 2_000)).is_ok());
    assert!(python::parse(&assign("(", "a", " * x + b)", 600)).is_ok());
    // Parentheses alone add nothing to the tree, up to what the parser can take.
    assert!(python::parse(&assign("(", "1", ")", 1_000)).is_ok());
    for text in [
        assign("(", "1", ")", 10_000),
        assign("1 + ", "1", "", 100_000),
        assign("(", "", "", 1_000_000),
        assign("", "a", "()", 100_000),
        assign("", "a", ".b", 100_000),
        assign("lambda: ", "1", "", 100_000),
        assign("f'{", "1", "}'", 100_000),
        assign("{1:", "1", "}", 100_000),
        assign("[", "1", "]", 100_000),
        repeat("", "@", "a\ndef f(): pass", "", 100_000),
    ] {
        assert_eq!(errors(&text)[0].code, "nesting-too-deep", "{}", &text[..60]);
    }
    // Only the parser sees that the second line is not inside a string.
    let hidden = format!("x = f'''{{a'''\ny = {}1\n", "1 + ".repeat(100_000));
    let error = &errors(&hidden)[0];
    assert_eq!((error.code, error.labels[0].0), ("syntax", Span { start: 5, end: 6 }));
}

#[test]
fn the_place_of_too_deep_text_is_in_the_statement_that_is() {
    let first = "a = 1  # é\n".repeat(50);
    let source = format!("{first}b = {}\nc = 1\n", "-".repeat(5_000));
    let (span, _) = errors(&source)[0].labels[0];
    assert_eq!(span.line(&source), 51);
    assert_eq!(&source[span.start as usize..span.end as usize], "-");
    // One `=` and 2048 signs: the last is one too many.
    assert_eq!(span.end as usize, first.len() + "b = ".len() + 2048);
}

#[test]
fn canonical_names_are_listed_once_and_are_final() {
    for (i, (library, member, canonical)) in CANONICAL.iter().enumerate() {
        assert_ne!(member, canonical);
        let again = CANONICAL[..i].iter().any(|row| (row.0, row.1) == (*library, *member));
        assert!(!again, "{member} of {}", library.path());
    }
}
