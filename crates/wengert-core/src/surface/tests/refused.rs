//! Refused programs, by message and place.

use super::{errors, place};
use crate::span::Span;
use crate::surface::{print, python, unsupported};

/// Statements in a function, what their error covers, and its message.
#[rustfmt::skip]
const REFUSED_STATEMENTS: &[(&str, &str, unsupported::Construct)] = &[
    ("for i in range(3):\n  pass\nelse:\n  pass", "else", unsupported::FOR_ELSE),
    ("while a: # no else\n  pass\nelse:\n  pass", "else", unsupported::WHILE_ELSE),
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
    ("class C:\n  pass", "C", unsupported::CLASS),
    ("async for i in x: pass", "async for i in x: pass", unsupported::ASYNC),
    ("async with a: pass", "async with a: pass", unsupported::ASYNC),
    ("a, *b = x", "*b", unsupported::STARRED_TARGET),
    ("a.b = 1", "a.b", unsupported::ATTRIBUTE_TARGET),
    ("a.b += 1", "a.b", unsupported::ATTRIBUTE_TARGET),
    ("yield a", "yield a", unsupported::YIELD),
    ("x[0] @= b", "x[0] @= b", unsupported::AUGMENTED_MATMUL),
    ("for a, *b in x: pass", "*b", unsupported::STARRED_TARGET),
    ("for a.b in x: pass", "a.b", unsupported::ATTRIBUTE_TARGET),
    ("for i, v in enumerate(): pass", "enumerate()", unsupported::ENUMERATE_ARGUMENTS),
    ("for i, v in enumerate(x, 1, 2): pass", "enumerate(x, 1, 2)", unsupported::ENUMERATE_ARGUMENTS),
    ("for i, v in enumerate(x, begin=1): pass", "enumerate(x, begin=1)", unsupported::ENUMERATE_ARGUMENTS),
    ("for i, v in enumerate(x, 0, start=1): pass", "enumerate(x, 0, start=1)", unsupported::ENUMERATE_ARGUMENTS),
    ("for i, v in enumerate(x, **a): pass", "enumerate(x, **a)", unsupported::ENUMERATE_ARGUMENTS),
    ("for v in zip(): pass", "zip()", unsupported::ZIP_ARGUMENTS),
    ("for v, w in zip(x, a, strict=True): pass", "zip(x, a, strict=True)", unsupported::ZIP_ARGUMENTS),
    ("for v, w in zip(*x): pass", "*x", unsupported::STARRED),
    ("for i in wengert.parallel(x): pass", "x", unsupported::PARALLEL_ARGUMENTS),
    ("for i in wengert.parallel(range(2), 3): pass", "wengert.parallel(range(2), 3)", unsupported::PARALLEL_ARGUMENTS),
    ("for v in reversed(x, a): pass", "reversed(x, a)", unsupported::REVERSED_ARGUMENTS),
    ("for v in reversed(zip(x, a)): pass", "zip(x, a)", unsupported::REVERSED_PAIRS),
    ("for v in reversed(enumerate(x)): pass", "enumerate(x)", unsupported::REVERSED_PAIRS),
    ("for v in reversed(reversed(x)): pass", "reversed(x)", unsupported::REVERSED_PAIRS),
    ("for v in zip(range(), x): pass", "range()", unsupported::RANGE_ARGUMENTS),
    ("def h(*y): pass", "*y", unsupported::VARARGS),
    ("def h(y=a): pass", "a", unsupported::DEFAULT),
    ("@jit\ndef h(y): pass", "@jit", unsupported::DECORATOR),
    ("async def h(y): pass", "h", unsupported::ASYNC),
    ("def h(y):\n  nonlocal a\n  return y", "nonlocal a", unsupported::NONLOCAL),
    ("def h(y):\n  global c\n  return y", "global c", unsupported::GLOBAL),
    ("x[..., 0, ...] = a", "...", unsupported::SECOND_REST),
];

/// Expressions, what their error covers, and its message.
#[rustfmt::skip]
const REFUSED_EXPRESSIONS: &[(&str, &str, unsupported::Construct)] = &[
    ("[v for v in x]", "[v for v in x]", unsupported::COMPREHENSION),
    ("{v for v in x}", "{v for v in x}", unsupported::COMPREHENSION),
    ("{v: v for v in x}", "{v: v for v in x}", unsupported::COMPREHENSION),
    ("sum(v for v in x)", "v for v in x", unsupported::GENERATOR),
    ("(yield a)", "yield a", unsupported::YIELD),
    ("(yield from a)", "yield from a", unsupported::YIELD),
    ("(await a)", "await a", unsupported::AWAIT),
    ("(y := a)", "y := a", unsupported::WALRUS),
    ("{'k': a}", "{'k': a}", unsupported::DICT),
    ("{a, b}", "{a, b}", unsupported::SET),
    ("a + f'{a}'", "f'{a}'", unsupported::FORMATTED_STRING),
    ("b'bytes'", "b'bytes'", unsupported::BYTES),
    ("a + 2j", "2j", unsupported::COMPLEX),
    ("9223372036854775808", "9223372036854775808", unsupported::BIG_INTEGER),
    ("a - -9223372036854775809", "9223372036854775809", unsupported::BIG_INTEGER),
    ("x[()]", "()", unsupported::EMPTY_INDEX),
    ("x[..., ...]", "...", unsupported::SECOND_REST),
    ("g(...)", "...", unsupported::ELLIPSIS),
    ("lambda *y: y", "*y", unsupported::VARARGS),
    ("lambda y=a: y", "a", unsupported::DEFAULT),
    ("(lambda y: y)(a)", "lambda y: y", unsupported::CALL_EXPRESSION),
    ("np.fft.fft(x)", "np.fft.fft", unsupported::SUBMODULE),
    ("np.pi.real", "np.pi.real", unsupported::SUBMODULE),
    ("float.fromhex(a)", "float.fromhex", unsupported::SUBMODULE),
    ("abs.name", "abs.name", unsupported::SUBMODULE),
    ("[a, (y := a)]", "y := a", unsupported::WALRUS),
    ("g(*x)", "*x", unsupported::STARRED),
    ("x[*a]", "*a", unsupported::STARRED),
    ("g(**a)", "**a", unsupported::DOUBLE_STARRED),
    ("a in x", "a in x", unsupported::MEMBERSHIP),
    ("a not in x", "a not in x", unsupported::MEMBERSHIP),
    ("a is b", "a is b", unsupported::IDENTITY),
    ("a is not None", "a is not None", unsupported::IDENTITY),
    ("g(a)(b)", "g(a)", unsupported::CALL_EXPRESSION),
    ("x[0](b)", "x[0]", unsupported::CALL_EXPRESSION),
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
    ("a = b.c = 1", "a = b.c = 1", unsupported::CONSTANT_TARGET),
    ("a.b: int = 1", "a.b: int = 1", unsupported::CONSTANT_TARGET),
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
    ("def f(x=1 / 0): pass", "1 / 0", unsupported::DEFAULT),
    ("c = g(1)\ndef g(x): return x\ndef f(x=2 * c): pass", "2 * c", unsupported::DEFAULT),
];

#[test]
fn refused_constructs_say_what_and_where() {
    let mut seen: Vec<&str> = Vec::new();
    let in_function = |text: &str| {
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "import numpy as np\nimport wengert\ndef g(x):\n    return x\ndef f(a, b, x):\n{lines}"
        )
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
    let unreachable =
        [unsupported::NOTEBOOK_COMMAND, unsupported::OTHER_TARGET, unsupported::SLICE];
    for construct in unsupported::ALL {
        let covered = seen.contains(&construct.message) || unreachable.contains(construct);
        assert!(covered, "no test for: {}", construct.message);
    }
}

/// Errors with a message of their own: text, code, place, message, help.
#[rustfmt::skip]
const OTHER_ERRORS: &[(&str, &str, &str, &str, &str)] = &[
    ("import torch\ndef f(x): return torch.sin(x)", "unsupported-import", "torch", "`torch` cannot be imported", "import from `math`"),
    ("import numpy.fft as f\ndef g(x): return f.fft(x)", "unsupported-import", "numpy.fft as f", "`numpy.fft` cannot", "import from"),
    ("from scipy.optimize import root\ndef f(x): return root(x)", "unsupported-import", "from scipy.optimize import root", "`scipy.optimize`", "import from"),
    ("from .a import b\ndef f(x): return b", "unsupported-import", "from .a import b", "`.a` cannot", "import from"),
    ("from . import b as c\ndef f(x): return c(x)", "unsupported-import", "from . import b as c", "`.` cannot", "import from"),
    ("def f(): pass\ndef f(): pass", "duplicate-definition", "f", "`f` is defined twice", "another name"),
    ("f = 1\nf = 2", "duplicate-definition", "f", "`f` is defined twice", "another name"),
    ("from math import e\ne = 2", "duplicate-definition", "e", "`e` is defined twice", "another name"),
    ("import numpy as m, math as m", "duplicate-definition", "math as m", "`m` is defined twice", "another name"),
    ("def f(x): return np.sin(x)", "unknown-name", "np", "`np` is not imported", "import numpy as np"),
    ("def f(x): return math.pi", "unknown-name", "math", "`math` is not imported", "import math"),
    ("import math\ndef f(x): return math", "unsupported-syntax", "math", "`math` is a module", "math.name"),
    ("import numpy as np\ndef f(x): return np.linalg", "unsupported-syntax", "np.linalg", "is a module", "numpy.linalg.name"),
    ("def f(x):\n  while x:\n    def g(): break", "syntax", "break", "`break` outside of a loop", "`return`"),
    ("def f(x):\n  def g(a, a): pass", "syntax", "a", "two parameters are called `a`", "another name"),
    ("def f(x): break", "syntax", "break", "`break` outside of a loop", "`return`"),
    ("def f(x):\n  while x: pass\n  continue", "syntax", "continue", "`continue` outside", "`return`"),
    ("def f(x, x): pass", "syntax", "x", "two parameters are called `x`", "another name"),
    ("def f(x): return f(a=1, a=2)", "syntax", "a", "`a` is given twice", "remove one"),
];

/// Uses of reserved names, what the error covers, and its way out. Importing them is no error.
#[rustfmt::skip]
const RESERVED: &[(&str, &str, &str)] = &[
    ("wengert.fixed_point(g, x)", "wengert.fixed_point", "`while` loop"),
    ("wengert.solve(x, a)", "wengert.solve", "as a loop"),
    ("np.linalg.solve(x, a)", "np.linalg.solve", "as a loop"),
    ("solve(x, a)", "solve", "as a loop"),
    ("wengert.checkpoint(g, x)", "wengert.checkpoint", "leave it out"),
    ("wengert.custom_vjp", "wengert.custom_vjp", "leave it out"),
    ("wengert.random(3)", "wengert.random", "outside"),
    ("wengert.random_normal(3)", "wengert.random_normal", "outside"),
    ("wengert.random.normal(3)", "wengert.random.normal", "outside"),
    ("np.random.normal(0, 1)", "np.random.normal", "outside"),
    ("np.random", "np.random", "outside"),
    ("random.gauss(0, 1)", "random.gauss", "outside"),
    ("random", "random", "outside"),
    ("draw()", "draw", "outside"),
];

#[test]
fn reserved_names_say_so_where_they_are_used() {
    let head = "import numpy as np\nimport wengert\nimport random\nfrom numpy.linalg import solve\n\
                from numpy.random import rand as draw\nfrom wengert import custom_vjp\n";
    assert!(python::parse(head).is_ok());
    for (text, expected_place, help) in RESERVED {
        let source = format!("{head}def g(x): return x\ndef f(a, x): return {text}\n");
        let error = &errors(&source)[0];
        assert_eq!(error.code, "reserved", "{source}");
        assert!(error.message.ends_with("is reserved for a coming release"), "{error:#?}");
        assert_eq!(place(&source, error), *expected_place, "{source}");
        assert!(error.help.as_deref().unwrap().contains(help), "{source}\n{error:#?}");
    }
    for text in [
        "@custom_vjp\ndef f(x): return x",
        "@wengert.checkpoint\ndef f(x): return x",
        "@wengert.checkpoint(2)\ndef f(x): return x",
    ] {
        assert_eq!(errors(&format!("{head}{text}\n"))[0].code, "reserved", "{text}");
    }
    // Whoever has a function of that name means that one.
    assert!(python::parse("def solve(x): return x\ndef f(x): return solve(x)\n").is_ok());
}

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
    let source = "from os import *\ndef f(x):\n    a = [1 for i in x]\n    while x is None:\n        b = f'text'\n    else:\n        \
                  pass\n    if x in a:\n        del a\n    elif {1}:\n        return x(1)(2)\ndef g(*x): pass\n";
    let messages: Vec<_> = errors(source).iter().map(|e| place(source, e).to_owned()).collect();
    assert_eq!(
        messages,
        [
            "from os import *",
            "[1 for i in x]",
            "x is None",
            "f'text'",
            "else",
            "x in a",
            "del a",
            "{1}",
            "x(1)",
            "*x"
        ]
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
            assign("[", "1", "]", n),
            assign("", "a", ".b", n),
            assign("", "a", ".b()", n),
            assign("a[0:", "1", "]", n),
            assign("~", "1", "", n),
            assign("1 if 1 else ", "1", "", n),
            repeat("def f(x): ", "(", "x", ",)", n).trim_end().to_owned() + " = 1",
            blocks("if"),
            blocks("while"),
            elifs,
        ]
    };
    // These are two levels each, or cannot be at a module's top level.
    let deeper = |n: usize| {
        vec![
            assign("lambda: ", "1", "", n),
            repeat("def f(x):\n for i in ", "enumerate(", "x", ")", n).trim_end().to_owned()
                + ": pass",
            repeat("def f(x):\n for i in ", "zip(x, ", "x", ")", n).trim_end().to_owned()
                + ": pass",
        ]
    };
    // What is accepted fits a small stack, also on the way back to text.
    let accepted: Vec<_> = deep(80).into_iter().chain(deep(96)).chain(deeper(48)).collect();
    let walk = move || {
        for text in accepted {
            let module = python::parse(&text).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
            assert!(python::parse(&print::module(&module)).is_ok(), "{text}");
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(walk).unwrap().join().unwrap();
    for n in [300, 5_000, 100_000] {
        for text in deep(n).into_iter().chain(deeper(n)) {
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
