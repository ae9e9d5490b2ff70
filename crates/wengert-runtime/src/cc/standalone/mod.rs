//! Programs as C text that needs nothing but a C compiler and its library.
//!
//! The program is the text that `cc` compiles. What it calls in the runtime is written in C here once more:
//! `runtime.c` (memory, tapes, outlined loops, errors), `sections.c`, `elements.c`, `sums.c` and `kernels.c`
//! (operations on whole arrays, in the order of operations of `wengert_core::ops`). `tables` writes what the
//! Rust runtime holds as data, `interface` the functions that C calls and their header, `fortran` the same for
//! Fortran, `example` a program that calls them.

mod example;
mod fortran;
mod interface;
mod names;
mod tables;

use super::prelude;
use crate::context::field;
use crate::jit::{self, CompileError, Printed};
use crate::program::Arg;
use std::fmt::Write;
use wengert_core::ir::Module;
use wengert_core::span::Span;

pub use names::identifier;

const RUNTIME: &str = include_str!("runtime.c");
const SECTIONS: &str = include_str!("sections.c");
/// Written once for every kind of element.
const ELEMENTS: &str = include_str!("elements.c");
/// Written once for every kind of float.
const SUMS: &str = include_str!("sums.c");
const KERNELS: &str = include_str!("kernels.c");

/// A function of a library.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Its name in C.
    pub name: String,
    /// What is said about it in the header.
    pub about: String,
    /// Where its program is.
    pub module: &'a Module,
    /// The program's entry.
    pub entry: &'a str,
    /// The entry's parameters, tapes left out.
    pub inputs: Vec<Input>,
    /// The entry's results, tapes left out.
    pub outputs: Vec<Output>,
}

/// What a parameter of an entry is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// What the caller gives.
    Argument {
        /// The name of the parameter.
        name: String,
        /// The axes that have one element, by their bits: the program was made for that.
        units: u32,
    },
    /// The float 1, always.
    One,
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// To a new array, or the place of a number, of this name.
    Result(String),
    /// The same, where an array has the shape of the input at this place: into memory of the caller.
    Like(String, usize),
}

/// What the text is made from.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// The name of the source, for messages.
    pub name: &'a str,
    /// The source.
    pub text: &'a str,
    /// The array that is indexed at a place of the source, where it has a name there.
    pub array_at: &'a dyn Fn(Span) -> Option<String>,
}

/// Functions in one text.
#[derive(Clone)]
pub struct Library<'a> {
    /// The name of the files, and of what all functions share.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin<'a>,
    /// Its functions.
    pub functions: Vec<Function<'a>>,
}

impl Library<'_> {
    /// The C text, which includes the header as `NAME.h`.
    pub fn source(&self) -> Result<String, CompileError> {
        let print = |(k, f): (usize, &Function)| jit::print(f.module, &[f.entry], &format!("p{k}"));
        let printed: Result<Vec<Printed>, _> =
            self.functions.iter().enumerate().map(print).collect();
        let printed = printed?;
        let mut out = format!(
            "/* {}\n\n   {} */\n\n",
            interface::title(self, "c"),
            self.command().replace('\n', "\n   ")
        );
        out.push_str(HEAD);
        let _ = writeln!(out, "#include \"{}.h\"\n", self.name);
        out.push_str(&prelude::before(printed.iter().map(|p| &*p.text)));
        self.constants(&mut out, &printed);
        out.push_str(RUNTIME);
        let calls = |p: &Printed| IN_KERNELS.clone().any(|k| p.text.contains(&format!("H[{k}]")));
        if printed.iter().any(|p| !p.ways.kernels.is_empty() || calls(p)) {
            kernels(&mut out);
        } else {
            out.push_str(NO_KERNELS);
        }
        out.push_str(HOOKS);
        for (k, (function, printed)) in self.functions.iter().zip(&printed).enumerate() {
            let _ = writeln!(out, "\n/* ==== {} ==== */\n", function.name);
            out.push_str(&printed.text);
            tables::write(&mut out, k, printed, &self.origin);
            interface::definition(&mut out, k, function, printed);
        }
        interface::shared(&mut out, self);
        Ok(out)
    }

    /// The header.
    pub fn header(&self) -> String {
        interface::header(self)
    }

    /// A Fortran module with the same functions.
    pub fn fortran(&self) -> String {
        fortran::module(self)
    }

    /// A program that calls a function with these arguments and prints what it gives.
    pub fn example(&self, function: usize, args: &[Arg]) -> String {
        example::program(self, &self.functions[function], args)
    }

    /// How the library and the example are compiled.
    pub fn command(&self) -> String {
        let name = &self.name;
        format!("cc -O2 -ffp-contract=off {name}.c {name}_main.c -lm -o {name} && ./{name}")
    }

    fn constants(&self, out: &mut String, printed: &[Printed]) {
        let fields = [
            ("TAPE_BASE", field::TAPE_BASE),
            ("TAPE_LIMIT", field::TAPE_LIMIT),
            ("TAPE_PEAK", field::TAPE_PEAK),
            ("INTERRUPT", field::INTERRUPT),
            ("ROUNDS", field::ROUNDS),
            ("DEPTH", field::DEPTH),
            ("SITE", field::SITE),
            ("OPERANDS", field::OPERANDS),
            ("COUNTERS", field::COUNTERS),
            ("TAPE_LEFT", field::TAPE_LEFT),
        ];
        let places: Vec<String> =
            fields.iter().map(|(f, at)| format!("{f} = {}", at / 8)).collect();
        let words = fields.iter().map(|(_, at)| at / 8 + 1).max().unwrap_or(0);
        let loops = printed.iter().map(|p| p.ways.max_loops).max().unwrap_or(0);
        let source = names::quoted(self.origin.name);
        let _ = write!(
            out,
            "enum {{ {}, CONTEXT_WORDS = {words}, MOST_LOOPS = {loops} }};\n\
             #define SOURCE_NAME {source}\n\n",
            places.join(", ")
        );
    }
}

/// What the printer's code would be warned about, and what the runtime needs of the C library.
const HEAD: &str = "\
#define _GNU_SOURCE
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored \"-Wunused-variable\"
#pragma GCC diagnostic ignored \"-Wunused-function\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
#pragma GCC diagnostic ignored \"-Wunused-label\"
#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"
#pragma GCC diagnostic ignored \"-Wtautological-compare\"
#pragma GCC diagnostic ignored \"-Wtype-limits\"
#pragma GCC diagnostic ignored \"-Wuninitialized\"
#ifndef __clang__
#ifdef __FMA__ /* GCC 12 would fuse sums and differences of products where it computes them in lanes */
#pragma GCC optimize (\"no-tree-vectorize\")
#endif
#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"
#endif
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
";

/// For programs without operations on whole arrays.
const NO_KERNELS: &str = "\
\nstatic u32 hook_kernel(u64 context, u64 number, u64 frame) { (void)context, (void)number, (void)frame; return 0; }
#define hook_rows 0
#define hook_columns 0
#define hook_many 0
#define hook_add 0
#define hook_dot 0
#define hook_sum 0
";

/// Which of them are among the kernels.
const IN_KERNELS: std::ops::Range<usize> = 14..20;

/// In the order of `hook_signatures` in `jit::abi`.
const HOOKS: &str = "
static void *const H[20] = {
  (void *)hook_fill, (void *)hook_blank, (void *)hook_copy, (void *)hook_free, (void *)hook_note_site, (void *)hook_drive,
  (void *)hook_kernel, (void *)hook_new_tape, (void *)hook_tape_base, (void *)hook_note_tape,
  (void *)hook_end_tape, (void *)hook_hold_array, (void *)hook_take_array,
  (void *)hook_refill, (void *)hook_rows, (void *)hook_columns, (void *)hook_many, (void *)hook_add,
  (void *)hook_dot, (void *)hook_sum
};
";

/// Operations on whole arrays, for every kind of element.
fn kernels(out: &mut String) {
    out.push('\n');
    out.push_str(SECTIONS);
    for (kind, ty) in [("f64", "double"), ("f32", "float"), ("i64", "long"), ("bool", "_Bool")] {
        out.push_str(&ELEMENTS.replace("KIND", kind).replace("TYPE", ty));
    }
    for (kind, ty, fused) in
        [("f64", "double", "__builtin_fma"), ("f32", "float", "__builtin_fmaf")]
    {
        let text = SUMS.replace("KIND", kind).replace("TYPE", ty);
        out.push_str(&text.replace("FUSED", fused));
    }
    out.push_str(KERNELS);
}

impl std::fmt::Debug for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Library<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("name", &self.name).finish_non_exhaustive()
    }
}
