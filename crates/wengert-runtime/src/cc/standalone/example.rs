//! A program that calls a function of a library: with which it can be tried, and from which one sees how it is
//! called.

use super::interface::{self, Role, c_type};
use super::names::{Names, quoted};
use super::{Function, Library, Output};
use crate::program::Arg;
use std::fmt::Write;
use wengert_core::ir::Elem;
use wengert_core::ops::{Array, Scalar};

/// The program.
pub(super) fn program(library: &Library, function: &Function, args: &[Arg]) -> String {
    let name = &library.name;
    let mut out = format!(
        "/* {}\n\n   {} */\n\n\
         #include \"{name}.h\"\n#include <inttypes.h>\n#include <math.h>\n#include <stdio.h>\n",
        interface::title(library, "h").replacen(&format!("{name}.h"), &format!("{name}_main.c"), 1),
        library.command()
    );
    let mut names = Names::of_c();
    names.fresh(&function.name);
    let params = interface::params(function, &mut names);
    let mut body = String::new();
    let (mut passed, mut printed) = (Vec::new(), String::new());
    let mut given = args.iter();
    // The dimensions of the array before, still to come.
    let mut dims: Vec<usize> = Vec::new();
    let mut counts = Vec::new();
    let mut outputs = function.outputs.iter();
    let mut uses_arrays = false;
    for param in &params {
        let own = &param.name;
        match param.role {
            Role::Number(elem) => {
                let value = given.next().and_then(number).unwrap_or(Scalar::F64(1.0));
                let _ = writeln!(body, "  {} {own} = {};", c_type(elem), literal(value));
                counts.push(1);
                passed.push(own.clone());
            }
            Role::Elements(elem) => {
                let (shape, elements) = given.next().map_or((vec![0], Vec::new()), array);
                let _ = writeln!(
                    body,
                    "  static const {} {own}[] = {{{}}};",
                    c_type(elem),
                    listed(&elements)
                );
                counts.push(elements.len());
                dims = shape.into_iter().rev().collect();
                passed.push(own.clone());
            }
            Role::Dimension => passed.push(dims.pop().unwrap_or(0).to_string()),
            Role::Place(elem) => {
                let title = title(outputs.next());
                let _ = writeln!(body, "  {} {own};", c_type(elem));
                let _ = writeln!(printed, "  printf({});", shown(&title, elem, own));
                passed.push(format!("&{own}"));
            }
            Role::Room(elem) => {
                let output = outputs.next();
                let like = if let Some(Output::Like(_, k)) = output { *k } else { 0 };
                let count = counts.get(like).copied().unwrap_or(0);
                let _ = writeln!(body, "  static {} {own}[{}];", c_type(elem), count.max(1));
                let _ = writeln!(printed, "  printf({});", quoted_line(&title(output)));
                if count > 0 {
                    let _ = writeln!(
                        printed,
                        "  for (int k = 0; k < {count}; k++) printf({});",
                        shown("", elem, &format!("{own}[k]")).replace("\\n\"", "\"")
                    );
                }
                let _ = writeln!(printed, "  printf(\"\\n\");");
                passed.push(own.clone());
            }
            Role::New => {
                uses_arrays = true;
                let elem = elem_of(function, &params, own);
                let _ = writeln!(body, "  struct wengert_array {own};");
                let _ = write!(
                    printed,
                    "  printf({});\n  for (int64_t k = 0; k < count(&{own}); k++) printf({});\n  \
                     printf(\"\\n\");\n  {name}_free({own}.data);\n",
                    quoted_line(&title(outputs.next())),
                    shown("", elem, &format!("(({} *){own}.data)[k]", c_type(elem)))
                        .replace("\\n\"", "\"")
                );
                passed.push(format!("&{own}"));
            }
        }
    }
    if uses_arrays {
        out.push_str(
            "\nstatic int64_t count(const struct wengert_array *x) {\n  int64_t n = 1;\n  \
             for (int k = 0; k < x->rank; k++) n *= x->shape[k];\n  return n;\n}\n",
        );
    }
    let _ = write!(
        out,
        "\nint main(void) {{\n{body}  int status = {}({});\n  if (status != 0) {{\n    \
         fprintf(stderr, \"status %d: %s\\n\", status, {name}_error());\n    return 1;\n  }}\n{printed}  \
         return 0;\n}}\n",
        function.name,
        passed.join(", ")
    );
    out
}

/// What a line of output begins with.
fn title(output: Option<&Output>) -> String {
    match output {
        Some(Output::Result(name) | Output::Like(name, _)) => format!("{name} ="),
        None => String::new(),
    }
}

fn quoted_line(title: &str) -> String {
    quoted(&title.replace('%', "%%"))
}

/// The arguments of `printf` for a number, at the end of a line.
fn shown(title: &str, elem: Elem, value: &str) -> String {
    let title = quoted_line(title);
    let title = title.strip_suffix('"').unwrap_or(&title);
    match elem {
        Elem::F64 | Elem::F32 => format!("{title} %.17g\\n\", {value}"),
        Elem::I64 => format!("{title} %\" PRId64 \"\\n\", {value}"),
        Elem::Bool => format!("{title} %s\\n\", {value} ? \"true\" : \"false\""),
    }
}

/// What a new array holds.
fn elem_of(function: &Function, params: &[interface::Param], name: &str) -> Elem {
    let outputs =
        params.iter().filter(|p| matches!(p.role, Role::Place(_) | Role::Room(_) | Role::New));
    let place = outputs.take_while(|p| p.name != name).count();
    let results = function.module.func(function.entry).map(|f| f.results.clone());
    let elems = results.into_iter().flatten().filter_map(|t| t.elem());
    elems.into_iter().nth(place).unwrap_or(Elem::F64)
}

fn number(arg: &Arg) -> Option<Scalar> {
    Some(match arg {
        Arg::F64(x) => Scalar::F64(*x),
        Arg::F32(x) => Scalar::F32(*x),
        Arg::I64(x) => Scalar::I64(*x),
        Arg::Bool(x) => Scalar::Bool(*x),
        Arg::Array(_) | Arg::Shaped(_) | Arg::Apart(..) => return None,
    })
}

fn array(arg: &Arg) -> (Vec<usize>, Vec<Scalar>) {
    match arg {
        Arg::Array(x) => (vec![x.len()], x.iter().map(|x| Scalar::F64(*x)).collect()),
        Arg::Shaped(x) => (x.shape.clone(), Array::scalars(x).collect()),
        Arg::Apart(shape, x) => (shape.to_vec(), (0..x.len()).map(|k| x.get(k)).collect()),
        other => (Vec::new(), number(other).into_iter().collect()),
    }
}

/// The elements of an array; C has none without.
fn listed(elements: &[Scalar]) -> String {
    if elements.is_empty() {
        return " 0 ".into();
    }
    let all: Vec<String> = elements.iter().map(|s| literal(*s)).collect();
    let lines: Vec<String> = all.chunks(8).map(|line| line.join(", ")).collect();
    if lines.len() == 1 {
        format!(" {} ", lines[0])
    } else {
        format!("\n    {}\n  ", lines.join(",\n    "))
    }
}

/// A number as C reads it, exactly.
fn literal(s: Scalar) -> String {
    let float = |text: String, x: f64| match x {
        x if x.is_nan() => "NAN".to_string(),
        x if x == f64::INFINITY => "INFINITY".into(),
        x if x == f64::NEG_INFINITY => "-INFINITY".into(),
        _ => text,
    };
    match s {
        Scalar::F64(x) => float(format!("{x:?}"), x),
        Scalar::F32(x) => float(format!("{x:?}f"), f64::from(x)),
        Scalar::I64(i64::MIN) => "INT64_MIN".into(),
        Scalar::I64(n) => format!("INT64_C({n})"),
        Scalar::Bool(b) => b.to_string(),
    }
}
