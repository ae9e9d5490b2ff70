//! The functions that C calls: their parameters, the header, and how a call becomes a frame.

use super::names::{Names, comment, quoted};
use super::{Function, Input, Library, Output};
use crate::held;
use crate::jit::{Printed, abi_slots};
use std::fmt::Write;
use wengert_core::ir::{Elem, Type, verify};

/// A parameter of a C function.
pub(super) struct Param {
    /// What it is called.
    pub(super) name: String,
    /// What it is.
    pub(super) role: Role,
}

/// What a parameter of a C function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A number.
    Number(Elem),
    /// The elements of an array.
    Elements(Elem),
    /// A dimension of the array before it.
    Dimension,
    /// Where a number goes.
    Place(Elem),
    /// Where the elements of an array go.
    Room(Elem),
    /// Where a new array goes.
    New,
}

/// The C type of an element.
pub(super) fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "double",
        Elem::F32 => "float",
        Elem::I64 => "int64_t",
        Elem::Bool => "bool",
    }
}

/// The types of an entry's parameters and results, tapes among them.
fn types(function: &Function) -> (Vec<Type>, Vec<Type>) {
    let func = function.module.func(function.entry);
    func.map_or((Vec::new(), Vec::new()), |f| (f.param_types(), f.results.clone()))
}

fn elem(ty: Type) -> Elem {
    ty.elem().unwrap_or(Elem::F64)
}

fn no_tapes(types: Vec<Type>) -> impl Iterator<Item = Type> {
    types.into_iter().filter(|t| *t != Type::Tape)
}

/// The parameters of a function, in order.
pub(super) fn params(function: &Function, names: &mut Names) -> Vec<Param> {
    let (params, results) = types(function);
    let mut all = Vec::new();
    for (ty, input) in no_tapes(params).zip(&function.inputs) {
        let Input::Argument { name, .. } = input else { continue };
        let role = if ty.is_array() { Role::Elements(elem(ty)) } else { Role::Number(elem(ty)) };
        all.push(Param { name: names.fresh(name), role });
        for axis in 0..ty.rank() {
            let name = names.fresh(&format!("{name}_dim{axis}"));
            all.push(Param { name, role: Role::Dimension });
        }
    }
    for (ty, output) in no_tapes(results).zip(&function.outputs) {
        let (Output::Result(name) | Output::Like(name, _)) = output;
        let role = match output {
            _ if !ty.is_array() => Role::Place(elem(ty)),
            Output::Result(_) => Role::New,
            Output::Like(..) => Role::Room(elem(ty)),
        };
        all.push(Param { name: names.fresh(name), role });
    }
    all
}

/// A parameter as C declares it.
fn declared(param: &Param) -> String {
    let name = &param.name;
    match param.role {
        Role::Number(elem) => format!("{} {name}", c_type(elem)),
        Role::Elements(elem) => format!("const {} *{name}", c_type(elem)),
        Role::Dimension => format!("int64_t {name}"),
        Role::Place(elem) | Role::Room(elem) => format!("{} *{name}", c_type(elem)),
        Role::New => format!("struct wengert_array *{name}"),
    }
}

fn head(function: &Function, params: &[Param]) -> String {
    let list: Vec<String> = params.iter().map(declared).collect();
    let list = if list.is_empty() { "void".to_string() } else { list.join(", ") };
    format!("int {}({list})", function.name)
}

/// The first words of a file.
pub(super) fn title(library: &Library, ending: &str) -> String {
    format!(
        "{}.{ending}: written by wengert {} from {}.",
        library.name,
        env!("CARGO_PKG_VERSION"),
        comment(library.origin.name)
    )
}

const STATUS: &str = "\
#ifndef WENGERT_C_INTERFACE
#define WENGERT_C_INTERFACE
/* An array that a function gives back: `data` is to be freed, and 0 where there are no elements. */
struct wengert_array {
  void *data;
  int64_t rank;
  int64_t shape[8];
};
/* What functions return. */
enum wengert_status {
  WENGERT_OK = 0,
  WENGERT_INDEX = 1,      /* an index is out of range */
  WENGERT_SHAPE = 2,      /* shapes do not fit */
  WENGERT_OVERFLOW = 3,   /* an integer does not fit 64 bits */
  WENGERT_DIVISION = 4,   /* an integer is divided by zero */
  WENGERT_LENGTH = 5,     /* a length is negative */
  WENGERT_ASSERT = 6,     /* an assertion, or a check of the language, is false */
  WENGERT_ITERATIONS = 7, /* a `while` loop does not end: see WENGERT_MAX_ITERATIONS */
  WENGERT_TAPE = 8,       /* the tape is too long: see WENGERT_TAPE_BYTES */
  WENGERT_CALLS = 9,      /* calls are nested too deep */
  WENGERT_MEMORY = 10,    /* there is not enough memory */
  WENGERT_ARGUMENT = 11,  /* a pointer is null, or a dimension is not what it must be */
  WENGERT_BUILD = 12,     /* the library was compiled with flags that change numbers */
  WENGERT_INTERNAL = 13   /* this should not happen */
};
#endif
";

/// The header.
pub(super) fn header(library: &Library) -> String {
    let name = &library.name;
    let mut out = format!(
        "/* {}\n\n   \
         Numbers are passed by value; an array as a pointer to its elements, last axis fastest, and its\n   \
         dimensions. Arrays of the caller are only read, but those that results go to. Every function\n   \
         returns 0, or a status and {name}_error() says in words what is wrong, where in the source, and in\n   \
         which iteration; what results point to is then not set. Functions may run in several threads at\n   \
         once.\n\n   \
         Compile {name}.c with -ffp-contract=off and without -ffast-math, and link with -lm: the numbers are then\n   \
         those of wengert, to the bit. -O3 -march=native (or -mfma) makes it faster and changes no bit.\n   \
         -DWENGERT_MAX_ITERATIONS=N is the limit of every `while` loop (10^9 unless said otherwise),\n   \
         -DWENGERT_TAPE_BYTES=N that of the tape (four fifths of the machine's memory). */\n\n",
        title(library, "h")
    );
    let guard = format!("{}_H", name.to_uppercase());
    let _ = write!(
        out,
        "#ifndef {guard}\n#define {guard}\n#include <stdbool.h>\n#include <stdint.h>\n{STATUS}\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    for function in &library.functions {
        let about = comment(&function.about);
        let units = units(function);
        let about = if units.is_empty() { about } else { format!("{about} {units}") };
        let params = params(function, &mut Names::of_c());
        let _ = writeln!(out, "/* {about} */\n{};\n", head(function, &params));
    }
    let _ = write!(
        out,
        "/* What was wrong with the last call in this thread; empty where it went well. */\n\
         const char *{name}_error(void);\n\n\
         /* Frees the data of an array that a function has given. */\n\
         void {name}_free(void *data);\n\n\
         #ifdef __cplusplus\n}}\n#endif\n#endif\n"
    );
    out
}

/// Which axes must have one element, in words.
fn units(function: &Function) -> String {
    let said = function.inputs.iter().filter_map(|input| match input {
        Input::Argument { name, units } if *units != 0 => {
            let axes = (0..32).filter(move |axis| units >> axis & 1 == 1);
            Some(axes.map(move |axis| format!("`{name}` has 1 element along axis {axis}")))
        }
        _ => None,
    });
    let said: Vec<String> = said.flatten().collect();
    if said.is_empty() { String::new() } else { format!("{}.", comment(&said.join(", "))) }
}

/// The body of a function: number `k`, of the program printed.
pub(super) fn definition(out: &mut String, k: usize, function: &Function, printed: &Printed) {
    let (params, results) = types(function);
    let slots = abi_slots(&params) + abi_slots(&results);
    let consumed: Vec<bool> = function.module.func(function.entry).map_or(Vec::new(), |f| {
        f.params().iter().map(|p| verify::consumes(function.module, f, *p)).collect()
    });
    // Names that no header can have made something else of.
    let mut plain = self::params(function, &mut Names::of_c());
    plain.iter_mut().enumerate().for_each(|(k, p)| p.name = format!("a{k}"));
    let _ = write!(
        out,
        "\n{} {{\n  run r;\n  frame_u64 frame[{}];\n  int status = begin(&r, &program{k});\n",
        head(function, &plain),
        slots.max(1)
    );
    let (mut at, mut given) = (0, plain.iter());
    let mut next = || given.next().map_or("", |p| p.name.as_str());
    let mut inputs = function.inputs.iter();
    // Where the words of each input stand.
    let mut starts = Vec::new();
    for (ty, consumed) in params.iter().zip(consumed) {
        let (start, code) = (at, held::code(*ty));
        at += abi_slots(&[*ty]);
        if *ty == Type::Tape {
            let _ = writeln!(out, "  if (!status) status = give_tape(&r, frame + {start});");
            continue;
        }
        starts.push(start);
        match inputs.next() {
            Some(Input::Argument { name, units }) if ty.is_array() => {
                let (elements, copied) = (next(), u8::from(consumed));
                let dims: Vec<&str> = (0..ty.rank()).map(|_| next()).collect();
                let _ = writeln!(
                    out,
                    "  if (!status) status = give_array(&r, frame + {start}, {elements}, {}, {code}, {copied}, {units}, (const i64[]){{ {} }});",
                    quoted(name),
                    dims.join(", ")
                );
            }
            Some(Input::Argument { .. }) => {
                let _ = writeln!(out, "  frame[{start}] = {};", word(elem(*ty), next()));
            }
            _ => {
                let _ = writeln!(out, "  frame[{start}] = {};", word(elem(*ty), "1"));
            }
        }
    }
    let entry = printed.ways.entries.first().map_or("", |e| printed.framed[*e].as_str());
    let _ = writeln!(out, "  if (!status) status = enter(&r, {entry}, frame);");
    let mut outputs = function.outputs.iter();
    for ty in &results {
        let (start, code) = (at, held::code(*ty));
        at += abi_slots(&[*ty]);
        if *ty == Type::Tape {
            continue;
        }
        let (output, to) = (outputs.next(), next());
        let _ = match output {
            _ if !ty.is_array() => {
                let value = match elem(*ty) {
                    Elem::F64 => format!("real(frame[{start}])"),
                    Elem::F32 => format!("real32((u32)frame[{start}])"),
                    Elem::I64 => format!("(int64_t)frame[{start}]"),
                    Elem::Bool => format!("(u8)frame[{start}] != 0"),
                };
                writeln!(out, "  if (!status) *{to} = {value};")
            }
            Some(Output::Like(_, input)) => {
                let like = starts.get(*input).copied().unwrap_or(0);
                writeln!(
                    out,
                    "  if (!status) status = put_back(frame + {start}, {code}, {to}, frame + {like});"
                )
            }
            _ => writeln!(out, "  if (!status) give_back(&r, frame + {start}, {code}, {to});"),
        };
    }
    let _ = writeln!(out, "  end(&r);\n  return status;\n}}");
}

/// A number as a word of a frame.
fn word(elem: Elem, value: &str) -> String {
    match elem {
        Elem::F64 => format!("bits({value})"),
        Elem::F32 => format!("bits32({value})"),
        Elem::I64 => format!("(u64){value}"),
        Elem::Bool => format!("{value} != 0"),
    }
}

/// What all functions share.
pub(super) fn shared(out: &mut String, library: &Library) {
    let name = &library.name;
    let _ = write!(
        out,
        "\nconst char *{name}_error(void) {{ return error_text; }}\n\
         void {name}_free(void *data) {{ free(data); }}\n"
    );
}
