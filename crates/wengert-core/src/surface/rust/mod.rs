//! Rust functions to the surface tree.
//!
//! [`parse`] reads text; [`convert`] reads what a macro was given. Both give the same tree that Python text
//! gives, and a [`Signature`] for each function, which says what its types are in Rust.
//!
//! Rust is typed and scoped by blocks, the tree is neither. So the walk keeps a type for every variable and
//! expression (`value`), renames what is shadowed (`scope`), takes tuples apart into their elements, and turns
//! expressions that hold statements into statements before the one they stand in, in Rust's order of evaluation.
//! A struct is a tuple whose elements have names. References leave no trace: a `&mut` to a number is another name for the place it refers to. Closures are
//! written out where they are called.
//!
//! # What a function of the tree takes and gives
//!
//! Its parameters are those of the Rust function, tuples and structs as their elements. It returns the elements of the
//! result, then the final value of each `&mut` parameter, in their order ([`Signature::outputs`]).
//!
//! # Where programs differ from Rust's
//!
//! - All integers have 64 bits. Overflow of 64 bits is an error, as it is in Rust with checks; that of a narrower
//!   type is not noticed. `u64` and `usize` hold what fits `i64`. Casts to narrower types wrap as in Rust;
//!   casts of negative numbers to `u64` and `usize` are errors.
//! - A difference of unsigned integers below zero is an error, except inside an index, where the index is.
//! - `f64::min` and `max` leave a NaN aside as in Rust; where both are equal the derivative is the argument's,
//!   not the receiver's.
//! - `powi` and `powf` with a constant whole exponent are repeated multiplication. Elementary functions are
//!   wengert's own, equal to the bit on every machine; Rust leaves theirs to the system.
//! - Products and sums may be fused, which rounds once where Rust rounds twice.
//! - What a panic says is the text of its first argument, without values in it.
//!
//! Reading order: `spans`, `types`, `value`, `scope`; `item`, `generic`, `structs`, `methods`, `stmt`, `pattern`, `place`, `expr`, `number`, `cast`,
//! `array`, `rows`, `ndarray`, `mac`; `flow`, `labels`, `sequence`, `fold`, `closure`, `call`, `external`; `no` (what is refused).

mod array;
mod call;
mod cast;
mod closure;
mod constants;
mod expr;
mod external;
mod flow;
mod fold;
mod generic;
mod item;
mod labels;
mod mac;
mod methods;
mod ndarray;
mod nesting;
mod no;
mod number;
mod pattern;
mod place;
mod rows;
mod scope;
mod sequence;
mod spans;
mod stmt;
mod structs;
mod types;
mod value;

use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Function, MAX_DEPTH, Module, Stmt};
pub use external::Outside;
use labels::Around;
use mac::Macros;
use methods::Methods;
pub use rows::StructArray;
use rustc_hash::FxHashMap as HashMap;
use scope::Scopes;
pub use spans::Spans;
use std::collections::BTreeSet;
use std::sync::Arc;
pub use structs::{Known, RustField, RustStruct, written};
pub use types::{IntKind, Length, Mode, RustType, Signature, SignatureParam, is_builtin};
use value::Ty;

type Made<T> = Result<T, Diagnostic>;

/// The functions of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The tree.
    pub module: Module,
    /// The Rust types of its functions, those inside other functions left out.
    pub signatures: Vec<Signature>,
    /// The functions that they call and that are somewhere else.
    pub outside: Vec<Outside>,
    /// The structs that are defined beside the functions, as far as programs can have them.
    pub structs: Vec<Arc<RustStruct>>,
}

impl Parsed {
    /// The signature of the function of this name.
    pub fn signature(&self, name: &str) -> Option<&Signature> {
        self.signatures.iter().find(|s| s.name == name)
    }
}

/// Converts Rust text to its surface tree. Spans are bytes of the text.
///
/// ```
/// # use wengert_core::surface::rust;
/// let parsed = rust::parse("fn square(x: f64) -> f64 { x * x }").unwrap();
/// assert_eq!(parsed.module.functions[0].name.text, "square");
/// assert_eq!(parsed.signatures[0].result, rust::RustType::F64);
///
/// let errors = rust::parse("fn f(s: String) -> f64 { 1.0 }").unwrap_err();
/// assert_eq!(errors[0].code, "unsupported-type");
/// ```
///
/// # Errors
///
/// What in it is not Rust, or cannot be differentiated: one error for each function, in source order.
pub fn parse(source: &str) -> Result<Parsed, Vec<Diagnostic>> {
    nesting::check(source).map_err(|error| vec![error])?;
    let file = syn::parse_file(source).map_err(|error| {
        let spans = Spans::text(source);
        error
            .into_iter()
            .map(|e| Diagnostic::new("syntax", e.to_string()).label(spans.look(e.span()), "here"))
            .collect::<Vec<_>>()
    })?;
    let mut spans = Spans::text(source);
    let macros = Macros::of(&file.items);
    Converter::new(&mut spans, &macros, &[]).file(&file.items)
}

/// Converts functions, constants, structs and their methods, as a macro is given them; `known` are structs that stand
/// elsewhere. Spans are numbers of the table `spans`. What
/// they call may be somewhere else: [`Parsed::outside`].
///
/// # Errors
///
/// What cannot be differentiated: one error for each function.
pub fn convert(
    items: &[syn::Item],
    known: &[Known],
    spans: &mut Spans,
) -> Result<Parsed, Vec<Diagnostic>> {
    let macros = Macros::of(items);
    let mut converter = Converter::new(spans, &macros, known);
    converter.outside = Some(Vec::new());
    converter.file(items)
}

/// The types of a function, whose body is not looked at. Spans are numbers of the table `spans`.
///
/// # Errors
///
/// A type that programs do not have.
pub fn signature(function: &syn::ItemFn, spans: &mut Spans) -> Result<Signature, Diagnostic> {
    let macros = Macros::default();
    Converter::new(spans, &macros, &[]).signature(&function.attrs, &function.sig)
}

/// The struct that a definition makes, which may refer to others that are `known`.
///
/// # Errors
///
/// What of its fields programs cannot have.
pub fn structure(
    item: &syn::ItemStruct,
    known: &[Known],
    spans: &mut Spans,
) -> Result<Arc<RustStruct>, Diagnostic> {
    let macros = Macros::default();
    Converter::new(spans, &macros, known).structure(item)
}

/// The state of the walk.
struct Converter<'a> {
    spans: &'a mut Spans,
    macros: &'a Macros,
    /// Structs that stand elsewhere.
    known: &'a [Known],
    scopes: Scopes<'a>,
    /// The structs found so far.
    structs: HashMap<String, Arc<RustStruct>>,
    methods: Methods<'a>,
    /// The constant parameters of the function: their names, and those in the tree.
    constants: Vec<(String, String)>,
    /// What `Self` is.
    owner: Option<Arc<RustStruct>>,
    /// Every identifier of the text and every name made so far.
    taken: BTreeSet<String>,
    /// The functions made so far.
    functions: Vec<Function>,
    signatures: Vec<Signature>,
    /// Functions that are called and are somewhere else, where there may be such.
    outside: Option<Vec<Outside>>,
    /// The blocks being filled, outermost first.
    blocks: Vec<Vec<Stmt>>,
    /// What `break`, `continue` and `return` leave, outermost first.
    around: Vec<Around>,
    /// The function being converted.
    current: Option<item::Current>,
    /// What was found out about variables whose type is that of a literal, by where they are declared.
    hints: HashMap<usize, Ty>,
    /// Whether a hint was added since the function was begun.
    learned: bool,
    /// What stands at the beginning of the function: arrays that are constants.
    prologue: Vec<Stmt>,
    depth: u32,
    /// How many closures have been written out.
    expansions: usize,
}

impl<'a> Converter<'a> {
    fn new(spans: &'a mut Spans, macros: &'a Macros, known: &'a [Known]) -> Self {
        Converter {
            spans,
            macros,
            known,
            scopes: Scopes::default(),
            structs: HashMap::default(),
            methods: Methods::default(),
            constants: Vec::new(),
            owner: None,
            taken: BTreeSet::new(),
            functions: Vec::new(),
            signatures: Vec::new(),
            outside: None,
            blocks: Vec::new(),
            around: Vec::new(),
            current: None,
            hints: HashMap::default(),
            learned: false,
            prologue: Vec::new(),
            depth: 0,
            expansions: 0,
        }
    }

    /// Where a piece of syntax stands.
    fn at(&mut self, of: &impl quote::ToTokens) -> Span {
        self.spans.of(of)
    }

    /// Runs `convert` one level deeper.
    fn deeper<T>(&mut self, at: Span, convert: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        if self.depth == MAX_DEPTH {
            return Err(nesting::too_deep(at));
        }
        self.depth += 1;
        let result = convert(self);
        self.depth -= 1;
        result
    }
}
