//! The text form: parsing. What `print` writes, and the same written by hand.
//!
//! ```text
//! func @decay(%w: f64, %h0: f64, %n: i64) -> (f64) {
//!   %h = for %i in 0..%n carry (%h_in = %h0) {
//!     %t = mul %w, %h_in
//!     yield %t
//!   }
//!   return %h
//! }
//! ```

mod parts;

use super::builder::Builder;
use super::func::{Block, Func, Module, Numbering, Value};
use super::lex::{Token, tokens};
use super::spell;
use super::types::{MAX_RANK, Op, Phase, Type};
use crate::ops::{ArrayOp, Prim, Scalar};
use crate::span::{Diagnostic, Span};
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// Nesting deeper than this is refused, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 200;

/// What names of the library begin with: the programs that elementary functions become calls of.
pub(crate) const LIBRARY: &str = "math.";

/// Parses a module. Its functions have names of their own, not those of the library.
pub fn module(text: &str) -> Result<Module, Diagnostic> {
    let module = library(text)?;
    match module.funcs.iter().find(|f| f.name.starts_with(LIBRARY)) {
        None => Ok(module),
        Some(func) => {
            let name = &func.name;
            let message =
                format!("`@{name}`: names that begin with `@{LIBRARY}` belong to the library");
            let at = text.find(&format!("@{name}")).unwrap_or(0) as u32;
            let span = Span { start: at, end: at + name.len() as u32 + 1 };
            Err(Diagnostic::new("ir-syntax", message)
                .label(span, "here")
                .help("give the function another name"))
        }
    }
}

/// Parses a module that may have functions of the library.
pub(crate) fn library(text: &str) -> Result<Module, Diagnostic> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        names: HashMap::default(),
        places: HashMap::default(),
        depth: 0,
    };
    let mut module = Module::default();
    loop {
        match parser.peek().clone() {
            Token::End => return Ok(module),
            Token::Word(w) if w == "func" => {
                let span = parser.span();
                let func = parser.func()?;
                if module.func(&func.name).is_some() || module.external(&func.name).is_some() {
                    return Err(parser.error(span, format!("`@{}` is defined twice", func.name)));
                }
                module.funcs.push(func);
            }
            Token::Word(w) if w == "extern" => {
                let span = parser.span();
                let external = parser.external()?;
                let name = &external.name;
                if module.func(name).is_some() || module.external(name).is_some() {
                    return Err(parser.error(span, format!("`@{name}` is defined twice")));
                }
                module.externals.push(external);
            }
            Token::Word(w) if w == "loop" => {
                let span = parser.span();
                let plan = parser.plan()?;
                if module.plan(&plan.name).is_some() {
                    let message = format!("the loop `@{}` is defined twice", plan.name);
                    return Err(parser.error(span, message));
                }
                module.loops.push(plan);
            }
            Token::Word(w) if w == "rule" => {
                let span = parser.span();
                let rule = parser.rule()?;
                if module.rule(&rule.func).is_some() {
                    return Err(parser.error(span, format!("`@{}` has two rules", rule.func)));
                }
                module.rules.push(rule);
            }
            _ => return Err(parser.expected("`func`, `extern`, `loop` or `rule`")),
        }
    }
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    names: HashMap<String, Value>,
    /// Where each name is defined.
    places: HashMap<String, Span>,
    depth: usize,
}

type Parsed<T> = Result<T, Diagnostic>;

/// An operation with its operands, result types and blocks.
type Operation = (Op, Vec<Value>, Vec<Type>, Vec<Block>);

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("ir-syntax", message).label(span, "here")
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::Value(name) => format!("`%{name}` stands"),
            Token::Symbol(name) => format!("`@{name}` stands"),
            Token::Word(word) => format!("`{word}` stands"),
            Token::Mark(mark) => format!("`{mark}` stands"),
            Token::Float(_) | Token::Single(_) | Token::Int(_) => "a number stands".into(),
            Token::Text(_) => "a quoted message stands".into(),
            Token::End => "the text ends".into(),
        };
        self.error(self.span(), format!("expected {what}, but {found} here"))
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(m) if *m == mark)
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.next();
        }
        found
    }

    fn mark(&mut self, mark: &str) -> Parsed<()> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.is_word(word) {
            self.next();
            Ok(())
        } else {
            Err(self.expected(&format!("`{word}`")))
        }
    }

    fn symbol(&mut self) -> Parsed<Arc<str>> {
        match self.peek().clone() {
            Token::Symbol(name) => {
                self.next();
                Ok(name.into())
            }
            _ => Err(self.expected("a name such as `@f`")),
        }
    }

    /// The name of a value about to be defined.
    fn new_name(&mut self) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek().clone() {
            Token::Value(name) => {
                self.next();
                Ok((name, span))
            }
            _ => Err(self.expected("a value such as `%x`")),
        }
    }

    fn define(&mut self, (name, span): (String, Span), v: Value) -> Parsed<()> {
        self.names.insert(name.clone(), v);
        match self.places.insert(name.clone(), span) {
            None => Ok(()),
            Some(first) => Err(self
                .error(span, format!("`%{name}` is defined twice"))
                .label(first, "the first time")
                .help("a name stands for one value in the whole function: choose another")),
        }
    }

    fn ty(&mut self) -> Parsed<Type> {
        const TYPES: &str =
            "a type: f64, f32, i64, bool, tape, or an array of one such as [f64] or [[f64]]";
        let mut rank = 0;
        while self.accept("[") {
            rank += 1;
        }
        let ty = match self.peek() {
            Token::Word(w) => match w.as_str() {
                "f64" => Type::F64,
                "f32" => Type::F32,
                "i64" => Type::I64,
                "bool" => Type::Bool,
                "tape" => Type::Tape,
                _ => return Err(self.expected(TYPES)),
            },
            _ => return Err(self.expected(TYPES)),
        };
        let span = self.span();
        self.next();
        (0..rank).try_for_each(|_| self.mark("]"))?;
        match ty.elem() {
            _ if rank == 0 => Ok(ty),
            Some(elem) if rank <= MAX_RANK => Ok(Type::of(elem, rank)),
            Some(_) => {
                let message = format!("arrays have at most {MAX_RANK} dimensions, this has {rank}");
                Err(self.error(span, message))
            }
            None => Err(self
                .error(span, "there are no arrays of tapes")
                .help("a tape is a stack of records already: `push` onto it")),
        }
    }

    fn types(&mut self) -> Parsed<Vec<Type>> {
        let mut types = vec![self.ty()?];
        while self.accept(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// `(f64, [f64])`
    fn type_list(&mut self) -> Parsed<Vec<Type>> {
        self.mark("(")?;
        let types = if self.is_mark(")") { Vec::new() } else { self.types()? };
        self.mark(")")?;
        Ok(types)
    }

    fn func(&mut self) -> Parsed<Func> {
        self.names.clear();
        self.places.clear();
        self.depth = 0;
        self.word("func")?;
        let name = self.symbol()?;
        self.mark("(")?;
        let (mut names, mut params) = (Vec::new(), Vec::new());
        while !self.accept(")") {
            if !names.is_empty() {
                self.mark(",")?;
            }
            let (param, span) = self.new_name()?;
            self.mark(":")?;
            params.push((self.ty()?, hint(&param)));
            names.push((param, span));
        }
        let (mut b, values) = Builder::new(name, &params);
        for (name, v) in names.into_iter().zip(values) {
            self.define(name, v)?;
        }
        self.mark("->")?;
        let declared_at = self.span();
        let declared = if self.is_mark("(") { self.type_list()? } else { self.types()? };
        self.mark("{")?;
        let (results, end) = self.body(&mut b, "return")?;
        let actual: Vec<Type> = results.iter().map(|r| b.ty(*r)).collect();
        if actual != declared {
            let message = format!(
                "the function returns ({}), but declares ({})",
                super::infer::list(&actual),
                super::infer::list(&declared)
            );
            return Err(self.error(end, message).label(declared_at, "declared here"));
        }
        let mut func = b.finish(results);
        func.body.end = end;
        Ok(func)
    }

    /// Instructions up to the terminator `end` and the closing brace; gives back what `end` hands on, and
    /// where it stands.
    fn body(&mut self, b: &mut Builder, end: &str) -> Parsed<(Vec<Value>, Span)> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("blocks are nested more than {MAX_DEPTH} deep");
            return Err(self
                .error(self.span(), message)
                .help("put the inner blocks into a function and `call` it"));
        }
        while !self.is_word(end) {
            if self.is_mark("}") || *self.peek() == Token::End {
                return Err(self.expected(&format!("an instruction or `{end}`")));
            }
            if self.is_word("return") || self.is_word("yield") {
                let message = if end == "yield" {
                    "a block inside a function ends with `yield`"
                } else {
                    "a function ends with `return`"
                };
                return Err(self.error(self.span(), message).help(format!("write `{end}` here")));
            }
            self.inst(b)?;
        }
        let start = self.span();
        self.next();
        let results = if self.is_mark("}") { Vec::new() } else { self.operands(b)? };
        let span = start.to(self.tokens[self.at - 1].1);
        if !self.accept("}") {
            return Err(self.expected(&format!("`}}` after `{end}`, which ends the block")));
        }
        self.depth -= 1;
        Ok((results, span))
    }

    fn operands(&mut self, b: &mut Builder) -> Parsed<Vec<Value>> {
        let mut values = vec![self.operand(b)?];
        while self.accept(",") {
            values.push(self.operand(b)?);
        }
        Ok(values)
    }

    fn operand(&mut self, b: &mut Builder) -> Parsed<Value> {
        let span = self.span();
        let v = match self.peek().clone() {
            Token::Value(name) => {
                *self.names.get(&name).ok_or_else(|| self.undefined(&name, span))?
            }
            Token::Float(x) => b.constant(Scalar::F64(x)),
            Token::Single(x) => b.constant(Scalar::F32(x)),
            Token::Int(x) => b.constant(Scalar::I64(x)),
            Token::Word(w) if w == "true" => b.bool(true),
            Token::Word(w) if w == "false" => b.bool(false),
            _ => return Err(self.expected("a value or a constant")),
        };
        self.next();
        Ok(v)
    }

    fn undefined(&self, name: &str, span: Span) -> Diagnostic {
        let error = self.error(span, format!("`%{name}` is not defined before this"));
        match spell::nearest(name, self.names.keys().map(String::as_str)) {
            Some(near) => error.help(format!("is `%{near}` meant?")),
            None => error,
        }
    }

    /// What is said where a word should be an operation.
    fn no_operation(&self, word: &str, span: Span) -> Diagnostic {
        let error = self.error(span, format!("`{word}` is not an operation"));
        match spell::operation(word) {
            _ if self.is_mark("=") => error.help(format!("values start with `%`: `%{word} = ..`")),
            Some(near) => error.help(format!("is `{near}` meant?")),
            None => error,
        }
    }

    fn inst(&mut self, b: &mut Builder) -> Parsed<()> {
        let start = self.span();
        let mut results = Vec::new();
        if matches!(self.peek(), Token::Value(_)) {
            results.push(self.new_name()?);
            while self.accept(",") {
                results.push(self.new_name()?);
            }
            self.mark("=")?;
        }
        let op_span = self.span();
        let word = match self.peek().clone() {
            Token::Word(w) => w,
            _ => return Err(self.expected("an operation")),
        };
        self.next();
        let (op, args, types, blocks) = self.operation(b, &word, op_span)?;
        b.at(start.to(self.tokens[self.at - 1].1));
        let values = b.inst(op, args, &types, blocks);
        if values.len() != results.len() {
            let message = format!(
                "`{word}` has {}, but {} before it",
                counted(values.len(), "result"),
                match results.len() {
                    1 => "1 name stands".to_string(),
                    n => format!("{n} names stand"),
                }
            );
            return Err(self.error(op_span, message));
        }
        for (name, v) in results.into_iter().zip(values) {
            if let Some(hint) = hint(&name.0) {
                b.name(v, &hint);
            }
            self.define(name, v)?;
        }
        Ok(())
    }

    fn operation(&mut self, b: &mut Builder, word: &str, span: Span) -> Parsed<Operation> {
        let attributes = self.attributes()?;
        let texts: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let simple = match word {
            "len" => Some(Op::Len),
            "dim" => match texts[..] {
                [axis] => match axis.parse() {
                    Ok(axis) => Some(Op::Dim(axis)),
                    Err(_) => return Err(self.error(span, format!("`{axis}` is not an axis"))),
                },
                _ => return Err(self.error(span, "`dim` needs one axis, as in `dim[0]`")),
            },
            "load" => Some(Op::Load),
            "store" => Some(Op::Store),
            "fill" => Some(Op::Fill),
            "copy" => Some(Op::Copy),
            "push" => Some(Op::Push),
            _ if texts.is_empty() && Prim::from_name(word).is_some() => {
                Prim::from_name(word).map(Op::Prim)
            }
            _ => {
                let op = ArrayOp::from_text(word, &texts).map_err(|m| self.error(span, m))?;
                op.map(Op::Array)
            }
        };
        if !texts.is_empty() && !matches!(simple, Some(Op::Dim(_) | Op::Array(_)))
            || word == "len" && !texts.is_empty()
        {
            return Err(self.error(span, format!("`{word}` takes nothing in brackets")));
        }
        if let Some(op) = simple {
            let first = self.at;
            let args = self.operands(b)?;
            let types: Vec<Type> = args.iter().map(|a| b.ty(*a)).collect();
            let results = super::infer::results(&op, &types)
                .unwrap_or_else(|| Ok(Vec::new()))
                .map_err(|message| self.misfit(span, message, first, &types))?;
            return Ok((op, args, results, Vec::new()));
        }
        match word {
            "tape" => Ok((Op::Tape, Vec::new(), vec![Type::Tape], Vec::new())),
            "pop" => {
                let tape = self.operand(b)?;
                self.mark(":")?;
                Ok((Op::Pop, vec![tape], self.types()?, Vec::new()))
            }
            "call" => {
                let name = self.symbol()?;
                let (args, types) = self.call_operands(b)?;
                Ok((Op::Call(name), args, types, Vec::new()))
            }
            "drive" => {
                let name = self.symbol()?;
                let phase = if self.is_word("forward") { Phase::Forward } else { Phase::Reverse };
                if phase == Phase::Reverse && !self.is_word("reverse") {
                    return Err(self.expected("`forward` or `reverse`"));
                }
                self.next();
                let (args, types) = self.call_operands(b)?;
                Ok((Op::Drive(name, phase), args, types, Vec::new()))
            }
            "assert" => {
                let condition = self.operand(b)?;
                self.mark(",")?;
                match self.next() {
                    Token::Text(message) => {
                        Ok((Op::Assert(message.into()), vec![condition], Vec::new(), Vec::new()))
                    }
                    _ => Err(self.error(span, "`assert` takes a condition and a quoted message")),
                }
            }
            "if" => {
                let condition = self.operand(b)?;
                let then = self.nested(b, &[])?;
                if !self.is_word("else") {
                    let help = "an `if` has two blocks; one with nothing to do is `else { yield }`";
                    return Err(self.expected("`else`").help(help));
                }
                self.next();
                let otherwise = self.nested(b, &[])?;
                let types = then.yields.iter().map(|y| b.ty(*y)).collect();
                Ok((Op::If, vec![condition], types, vec![then, otherwise]))
            }
            "exit_if" => {
                let condition = self.operand(b)?;
                let body = self.nested(b, &[])?;
                Ok((Op::ExitIf, vec![condition], Vec::new(), vec![body]))
            }
            "for" | "while" => self.looping(b, word),
            "parallel" => {
                self.word("for")?;
                let mut looping = self.looping(b, "for")?;
                looping.3[0].parallel = true;
                Ok(looping)
            }
            "counted" | "hidden" => {
                let numbering =
                    if word == "counted" { Numbering::ByCounter } else { Numbering::Hidden };
                self.word("for")?;
                let mut looping = self.looping(b, "for")?;
                looping.3[0].numbering = numbering;
                Ok(looping)
            }
            _ => Err(self.no_operation(word, span)),
        }
    }

    /// An operation that does not take its operands, the first of which is this token: each is shown
    /// with its type.
    fn misfit(&self, span: Span, message: String, first: usize, types: &[Type]) -> Diagnostic {
        let places = self.tokens[first..].iter().step_by(2).map(|(_, place)| *place);
        let mut error = self.error(span, message);
        let has = |ty: Type| types.contains(&ty);
        if has(Type::I64) && has(Type::F64) && error.message.contains("must be f64") {
            error = error.help("`itof` makes a float of an integer");
        }
        places.zip(types).fold(error, |error, (place, ty)| error.label(place, ty.to_string()))
    }

    /// What stands in brackets behind an operation: axes, or letters.
    fn attributes(&mut self) -> Parsed<Vec<String>> {
        let mut found = Vec::new();
        if !self.accept("[") {
            return Ok(found);
        }
        while !self.accept("]") {
            if !found.is_empty() {
                self.mark(",")?;
            }
            match self.peek().clone() {
                Token::Int(axis) => found.push(axis.to_string()),
                Token::Word(letter) => found.push(letter),
                _ => return Err(self.expected("an axis or a letter")),
            }
            self.next();
        }
        Ok(found)
    }

    fn looping(&mut self, b: &mut Builder, word: &str) -> Parsed<Operation> {
        let counter = self.new_name()?;
        let mut args = Vec::new();
        let op = if word == "for" {
            self.word("in")?;
            args.push(self.operand(b)?);
            self.mark("..")?;
            args.push(self.operand(b)?);
            Op::For
        } else {
            Op::While
        };
        if !self.is_word("carry") {
            let help = "a loop says what it carries: `carry (%h = %h0)`, or `carry ()` for nothing";
            return Err(self.expected("`carry`").help(help));
        }
        self.next();
        self.mark("(")?;
        let mut params = vec![(counter, Type::I64)];
        while !self.accept(")") {
            if params.len() > 1 {
                self.mark(",")?;
            }
            let name = self.new_name()?;
            self.mark("=")?;
            let init = self.operand(b)?;
            params.push((name, b.ty(init)));
            args.push(init);
        }
        let types = params[1..].iter().map(|p| p.1).collect();
        let body = self.nested(b, &params)?;
        Ok((op, args, types, vec![body]))
    }

    fn nested(&mut self, b: &mut Builder, params: &[((String, Span), Type)]) -> Parsed<Block> {
        let typed: Vec<_> = params.iter().map(|((name, _), ty)| (*ty, hint(name))).collect();
        let values = b.open_block(&typed);
        for ((name, _), v) in params.iter().zip(values) {
            self.define(name.clone(), v)?;
        }
        self.mark("{")?;
        let (yields, end) = self.body(b, "yield")?;
        Ok(Block { end, ..b.close_block(yields) })
    }

    fn call_operands(&mut self, b: &mut Builder) -> Parsed<(Vec<Value>, Vec<Type>)> {
        self.mark("(")?;
        let args = if self.is_mark(")") { Vec::new() } else { self.operands(b)? };
        self.mark(")")?;
        self.mark(":")?;
        Ok((args, self.types()?))
    }
}

/// `1 result`, `2 results`.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The user's name in `name.7`; `7` alone has none.
fn hint(name: &str) -> Option<Arc<str>> {
    let base = match name.rsplit_once('.') {
        Some((base, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    };
    let is_number = base.bytes().all(|b| b.is_ascii_digit());
    (!is_number).then(|| base.into())
}
