//! Tests of the front end: accepted programs by their tree; in the folder, refused ones, and what holds
//! of random ones.

mod mutated;
mod printed;
mod random;
mod refused;
mod spelled;

use super::names::Imports;
use super::python;
use super::tree::*;
use crate::ops::Elem;
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
            format!("(for {} {} {})", target(t), over(iter), show(body))
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
        StmtKind::Define(func) => {
            format!("(def {}{} {})", func.name.text, params(func), show(&func.body))
        }
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

fn params(func: &Function) -> String {
    let param = |p: &Param| match &p.default {
        Some(default) => format!(" {}={}", p.name.text, expr(default)),
        None => format!(" {}", p.name.text),
    };
    func.params.iter().map(param).collect()
}

fn over(iter: &Iter) -> String {
    match &iter.kind {
        IterKind::Range { start, stop, step } => {
            format!("{} {} {}", expr(start), expr(stop), expr(step))
        }
        IterKind::Items(items) => format!("(items {})", expr(items)),
        IterKind::Enumerate { of, start } => {
            let start = start.as_ref().map_or(String::new(), |start| format!(" {}", expr(start)));
            format!("(enumerate {}{start})", over(of))
        }
        IterKind::Zip(of) => {
            format!("(zip {})", of.iter().map(over).collect::<Vec<_>>().join(", "))
        }
        IterKind::Reversed(of) => format!("(reversed {})", over(of)),
        IterKind::Parallel(of) => format!("(parallel {})", over(of)),
    }
}

fn places(indices: &[Index]) -> String {
    let part = |e: &Option<Expr>| e.as_ref().map_or("_".to_owned(), expr);
    let place = |i: &Index| match i {
        Index::At(e) => format!(" {}", expr(e)),
        Index::Slice { start, stop, step, .. } => {
            format!(" {}:{}:{}", part(start), part(stop), part(step))
        }
        Index::NewAxis(_) => " new".to_owned(),
        Index::Rest(_) => " rest".to_owned(),
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
                Callee::External(external) => external.name.text.clone(),
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
        ExprKind::Lambda(func) => format!("(lambda{} {})", params(func), show(&func.body)),
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
        ("x[1:3] += a", "(+= ([] 1:3:_ x) a)"),
        ("x[..., None, ::2] = a", "(= ([] rest new _:_:2 x) a)"),
        ("x[:] = x[n:0:-1]", "(= ([] _:_:_ x) ([] n:0:(Neg 1) x))"),
        (
            "a <<= 1; a >>= 2; a &= 3; a |= 4; a ^= 5",
            "(<<= a 1) (>>= a 2) (&= a 3) (|= a 4) (^= a 5)",
        ),
        ("a @= b", "(= ([] rest a) ($matmul a b))"),
        ("for v in x: pass", "(for v (items x) pass)"),
        ("for v in a, b: pass", "(for v (items (tuple a b)) pass)"),
        ("for v in [1, 2]: pass", "(for v (items (list 1 2)) pass)"),
        ("for v in np.arange(3): pass", "(for v (items ($arange 3)) pass)"),
        ("for v in x.T: pass", "(for v (items x.T) pass)"),
        ("for x[0], (a, b) in x: pass", "(for (([] 0 x) (a b)) (items x) pass)"),
        ("for i, v in enumerate(x): pass", "(for (i v) (enumerate (items x)) pass)"),
        ("for i, v in enumerate(x, 1): pass", "(for (i v) (enumerate (items x) 1) pass)"),
        ("for p in enumerate(range(n), start=a): pass", "(for p (enumerate 0 n 1 a) pass)"),
        ("for v, w in zip(x, range(1, 3)): pass", "(for (v w) (zip (items x), 1 3 1) pass)"),
        ("for v in reversed(x): pass", "(for v (reversed (items x)) pass)"),
        ("for i in reversed(range(n)): pass", "(for i (reversed 0 n 1) pass)"),
        (
            "for i, (a, b) in enumerate(zip(x, reversed(x))): pass",
            "(for (i (a b)) (enumerate (zip (items x), (reversed (items x)))) pass)",
        ),
        (
            "def h(y, k=-1):\n  return h(y - k)\na = h(b)",
            "(def h y k=(Neg 1) (return (h (- y k)))) (= a (h b))",
        ),
        ("h = lambda y: y * a\nb = h(1)", "(= h (lambda y (return (* y a)))) (= b (h 1))"),
        ("x.sort()", "(x.sort)"),
        ("x.append(a, k=1)", "(x.append a k=1)"),
        ("s: 'np.ndarray' = a", "(= s a)"),
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
        ("x[1:]", "([] 1:_:_ x)"),
        ("x[:a, ::2, b:n:-1]", "([] _:a:_ _:_:2 b:n:(Neg 1) x)"),
        ("x[None, ..., np.newaxis]", "([] new rest new x)"),
        ("x[...]", "([] rest x)"),
        ("x[[0, 1], (a, b)]", "([] (list 0 1) (tuple a b) x)"),
        ("x[x > 0]", "([] (x Gt 0) x)"),
        ("[a, [], [b]]", "(list a (list) (list b))"),
        ("np.einsum('ij,' 'j', x, a)", "($einsum \"ij,j\" x a)"),
        ("np.sum(x, axis=None)", "($sum x axis=None)"),
        ("x.T.shape[0]", "([] 0 x.T.shape)"),
        ("(a + b).sum(axis=0).mean()", "(((+ a b).sum axis=0).mean)"),
        ("'text'.name", "\"text\".name"),
        ("a & b | x ^ n", "(| (& a b) (^ x n))"),
        ("~a << 1 >> b", "(>> (<< (Invert a) 1) b)"),
        ("a @ b * n @ x", "($matmul (* ($matmul a b) n) x)"),
        (
            "g(lambda: a, lambda y, k=2: (y, k))",
            "(g (lambda (return a)) (lambda y k=2 (return y k)))",
        ),
        ("lambda: None", "(lambda (return))"),
        ("a(b)", "(a b)"),
        ("sum(x) + np.sum(x)", "(+ ($sum_items x) ($sum x))"),
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
from numpy.linalg import norm as s

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
    assert_eq!(
        show(&f.body),
        "(return ($norm ($numpy.linalg.inv ($exp ($numpy.linalg.det x))) h))"
    );
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
    let last = |source: &str| show(&self::module(source).functions.last().unwrap().body);
    let source = "def f(x):\n    y = max(x, 1)\n    for max in x: pass\n    return y\n";
    assert_eq!(last(source), "(= y (max x 1)) (for max (items x) pass) (return y)");
    // What loops go over can be hidden too, by the module or by a variable.
    for name in ["range", "enumerate", "zip", "reversed"] {
        let hidden = format!("(for i (items ({name} n)) pass)");
        let by_module =
            format!("def {name}(n): return n\ndef f(n):\n    for i in {name}(n): pass\n");
        assert_eq!(last(&by_module), hidden);
        let by_variable = format!("def f({name}, n):\n    for i in {name}(n): pass\n");
        assert_eq!(last(&by_variable), hidden);
    }
    // An import is not hidden where the name is a variable of another function.
    let source = "import math\ndef g(math): return math.pi\ndef f(x): return math.pi\n";
    assert_eq!(last(source), "(return $pi)");
    assert_eq!(show(&self::module(source).functions[0].body), "(return math.pi)");
}

#[test]
fn inner_functions_see_the_variables_around_them() {
    let f = |text: &str| body(&format!("{text}\nreturn a"));
    for (source, expected) in [
        // A variable of the outer function hides an import in the inner one.
        ("def h():\n  return sin(1)\nsin = g", "(def h (return (sin 1))) (= sin g)"),
        // One of the inner function hides nothing outside it.
        ("def h(sin):\n  return sin(1)\na = sin(1)", "(def h sin (return (sin 1))) (= a ($sin 1))"),
        ("def sin(y):\n  return y\na = sin(1)", "(def sin y (return y)) (= a (sin 1))"),
        (
            "def h():\n  abs = 1\n  return abs\na = abs(1)",
            "(def h (= abs 1) (return abs)) (= a ($abs 1))",
        ),
        (
            "h = lambda sin: sin(1)\na = sin(1)",
            "(= h (lambda sin (return (sin 1)))) (= a ($sin 1))",
        ),
        (
            "if a:\n  def abs(y): return y\na = abs(1)",
            "(if a [(def abs y (return y))] []) (= a (abs 1))",
        ),
    ] {
        assert_eq!(f(source), format!("{expected} (return a)"), "{source}");
    }
}

#[test]
fn declared_types() {
    use DeclaredType::{Array, Bool, F32, F64, I64, List};
    let head = "from __future__ import annotations\nfrom typing import Any, List\nimport typing\n\
                import numpy as np\nimport numpy.typing as npt\nimport wengert\n\
                from numpy.typing import NDArray\nfrom numpy import float32 as single\n";
    for (text, expected) in [
        ("float", Some(F64)),
        ("int", Some(I64)),
        ("bool", Some(Bool)),
        ("np.float64", Some(F64)),
        ("np.float32", Some(F32)),
        ("np.int64", Some(I64)),
        ("np.bool_", Some(Bool)),
        ("single", Some(F32)),
        ("wengert.f32", Some(F32)),
        ("wengert.f64", Some(F64)),
        ("f32", Some(F32)),
        ("f64", Some(F64)),
        ("np.ndarray", Some(Array(None))),
        ("NDArray", Some(Array(None))),
        ("npt.NDArray[np.float32]", Some(Array(Some(Elem::F32)))),
        ("NDArray[np.float64]", Some(Array(Some(Elem::F64)))),
        ("np.typing.NDArray[np.int64]", Some(Array(Some(Elem::I64)))),
        ("NDArray[np.float16]", Some(Array(None))),
        ("np.ndarray[Any, np.dtype[np.float32]]", Some(Array(Some(Elem::F32)))),
        ("np.ndarray[Any]", Some(Array(None))),
        ("list", Some(List(None))),
        ("list[float]", Some(List(Some(Elem::F64)))),
        ("list[np.ndarray]", Some(List(None))),
        ("List[List[int]]", Some(List(Some(Elem::I64)))),
        ("typing.List[bool]", Some(List(Some(Elem::Bool)))),
        ("'float'", Some(F64)),
        ("'npt.NDArray[np.float32]'", Some(Array(Some(Elem::F32)))),
        ("'no type at all'", None),
        ("'(' * 3", None),
        ("Any", None),
        ("typing.Annotated[float, 1]", None),
        ("float | None", None),
        ("tuple[float, int]", None),
        ("np.float16", None),
        ("shadow", None),
        ("f(1)", None),
        ("np.random.x", None),
    ] {
        let source = format!("{head}shadow = 1\ndef f(x: {text}) -> {text}:\n    return x\n");
        let declared = module(&source).functions[0].params[0].annotation;
        assert_eq!(declared.map(|a| a.ty), expected, "{text}");
        let deep = format!("def f(x: {}float{}): return x", "list[".repeat(500), "]".repeat(500));
        assert!(module(&deep).functions[0].params[0].annotation.is_some());
    }
    // Parameters are declared outside of the function: its variables hide nothing.
    let source = "def f(float: float, int: float): return int\n";
    assert_eq!(module(source).functions[0].params[1].annotation.map(|a| a.ty), Some(F64));
    let source = "def float(x): return x\ndef f(x: float): return x\n";
    assert_eq!(module(source).functions[1].params[0].annotation, None);
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
