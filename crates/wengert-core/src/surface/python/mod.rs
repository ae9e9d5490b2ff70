//! Python text to the surface tree.
//!
//! The text is parsed, never executed. [`parse`] first bounds how deep the text can nest
//! (`nesting`), then parses it, then walks the parser's tree: the module's top level and its
//! imports (`module`), functions (`function`, `annotation`), statements (`stmt`), what loops go over
//! (`iter`) and expressions (`expr`). A statement that cannot be
//! converted becomes a diagnostic and the walk goes on, so one run reports the errors of every
//! statement.
//!
//! Names follow Python's scopes: a name that a function assigns anywhere is local in all of it and in
//! the functions inside it, and hides module definitions, which hide imports, which hide Python's own
//! names.
//!
//! This folder is the only place that names the parser's types.

mod annotation;
mod constant;
mod expr;
mod function;
mod iter;
mod module;
mod nesting;
mod stmt;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ruff_python_ast as ast;
use ruff_python_ast::token::Tokens;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::TextRange;

use super::names::{Binding, Imports};
use super::tree::{Expr, MAX_DEPTH, Module, Name};
use crate::span::{Diagnostic, Span};

/// The most parse errors reported; later ones mostly follow from the first.
const MAX_SYNTAX_ERRORS: usize = 10;

type Converted<T> = Result<T, Diagnostic>;

/// Converts a Python file to its surface tree.
///
/// # Errors
///
/// Everything in it that is not Python, or that cannot be differentiated, in source order.
pub fn parse(source: &str) -> Result<Module, Vec<Diagnostic>> {
    parse_with(source, Imports::default())
}

/// Converts Python text in which some names are already imported.
///
/// # Errors
///
/// As for [`parse`].
pub fn parse_with(source: &str, imports: Imports) -> Result<Module, Vec<Diagnostic>> {
    nesting::check(source).map_err(|error| vec![error])?;
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
    if !parsed.errors().is_empty() {
        let errors = parsed.errors().iter().take(MAX_SYNTAX_ERRORS);
        return Err(errors
            .map(|e| syntax(e.error.to_string(), within(source, e.location), "here"))
            .collect());
    }
    let mut converter = Converter::new(source, parsed.tokens(), imports);
    let module = match parsed.syntax() {
        ast::Mod::Module(module) => converter.module(&module.body),
        ast::Mod::Expression(_) => Module::default(),
    };
    let mut diagnostics = converter.diagnostics;
    if diagnostics.is_empty() {
        return Ok(module);
    }
    diagnostics.sort_by_key(|d| d.labels.first().map(|(span, _)| span.start));
    Err(diagnostics)
}

/// The state of the walk over a module.
struct Converter<'a> {
    source: &'a str,
    tokens: &'a Tokens,
    imports: Imports,
    /// Where each name of the module's top level was bound in this text, and to what import.
    bound: BTreeMap<String, (Span, Option<Binding>)>,
    /// The functions and constants of the module.
    definitions: BTreeSet<String>,
    /// The values of the constants so far.
    constants: BTreeMap<String, Expr>,
    /// Names imported from elsewhere, which can stand there as long as they are not used.
    foreign: BTreeMap<String, Diagnostic>,
    /// The variables of the functions being converted, outermost first.
    scopes: Vec<BTreeSet<String>>,
    /// How many loops of its function are around the current statement.
    loops: u32,
    /// How many nodes are around the current one.
    depth: u32,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Converter<'a> {
    fn new(source: &'a str, tokens: &'a Tokens, imports: Imports) -> Self {
        Converter {
            source,
            tokens,
            imports,
            bound: BTreeMap::new(),
            definitions: BTreeSet::new(),
            constants: BTreeMap::new(),
            foreign: BTreeMap::new(),
            scopes: Vec::new(),
            loops: 0,
            depth: 0,
            diagnostics: Vec::new(),
        }
    }

    /// Keeps the value, or the diagnostic.
    fn keep<T>(&mut self, result: Converted<T>) -> Option<T> {
        result.map_err(|error| self.diagnostics.push(error)).ok()
    }

    /// Runs `convert` one level deeper.
    fn deeper<T>(
        &mut self,
        range: TextRange,
        convert: impl FnOnce(&mut Self) -> Converted<T>,
    ) -> Converted<T> {
        if self.depth == MAX_DEPTH {
            let message =
                format!("more than {MAX_DEPTH} statements and operations inside each other");
            return Err(
                too_deep(message, span(range)).help("assign the inner ones to variables first")
            );
        }
        self.depth += 1;
        let result = convert(self);
        self.depth -= 1;
        result
    }
}

fn syntax(message: impl Into<String>, at: Span, label: &str) -> Diagnostic {
    Diagnostic::new("syntax", message).label(at, label)
}

fn too_deep(message: String, at: Span) -> Diagnostic {
    Diagnostic::new("nesting-too-deep", message).label(at, "too deep from here on")
}

fn ident(identifier: &ast::Identifier) -> Name {
    Name { text: identifier.id.to_string(), span: span(identifier.range) }
}

fn span(range: TextRange) -> Span {
    Span { start: range.start().to_u32(), end: range.end().to_u32() }
}

/// A place the parser gives for what is not Python, moved into the text where it is not.
fn within(source: &str, range: TextRange) -> Span {
    let Range { start, end } = Range::<usize>::from(range);
    let start = source.floor_char_boundary(start);
    Span { start: start as u32, end: source.ceil_char_boundary(end.max(start)) as u32 }
}

/// The part of a statement on its first line, without the blocks below it.
fn first_line(source: &str, range: TextRange) -> Span {
    let Span { start, .. } = span(range);
    let text = &source[Range::<usize>::from(range)];
    let line = text.split(['\n', '\r']).next().unwrap_or(text).trim_end();
    Span { start, end: start + line.len() as u32 }
}
