//! Bounds how deep a text can nest before it is parsed: parser and walk are recursive.

use crate::span::{Diagnostic, Span};
use crate::surface::tree::{
    Block, Callee, Expr, ExprKind, Function, Index, Iter, IterKind, MAX_DEPTH, StmtKind, Target,
};
use proc_macro2::{TokenStream, TokenTree};

/// The most brackets of any kind inside each other.
const MAX_BRACKETS: usize = 80;

/// The most signs that are no brackets in one statement: each can be a level of the tree.
const MAX_SIGNS: usize = 2_000;

/// The most of them that the parser reads one inside the other.
const MAX_RIGHT: usize = 150;

/// Refuses a text that nests too deep.
pub(super) fn check(source: &str) -> Result<(), Diagnostic> {
    if u32::try_from(source.len()).is_err() {
        return Err(Diagnostic::new("syntax", "the source text is larger than 4 GiB")
            .label(Span::default(), "starts here")
            .help("split it into several files"));
    }
    // What is no Rust at all is left for the parser to report.
    let Ok(tokens) = source.parse::<TokenStream>() else { return Ok(()) };
    let mut stack = vec![(tokens.into_iter(), Signs::default())];
    while let Some((tokens, signs)) = stack.last_mut() {
        let Some(token) = tokens.next() else {
            stack.pop();
            continue;
        };
        let range = token.span().byte_range();
        let at = Span { start: range.start as u32, end: range.end as u32 };
        signs.read(&token);
        if signs.all > MAX_SIGNS || signs.right > MAX_RIGHT || signs.run > MAX_RIGHT {
            return Err(Diagnostic::new("nesting-too-deep", "too many operators in one statement")
                .label(at, "too deep from here on")
                .help("split it into several statements"));
        }
        if let TokenTree::Group(group) = token {
            stack.push((group.stream().into_iter(), Signs::default()));
            if stack.len() > MAX_BRACKETS {
                return Err(too_deep(Span { end: at.start + 1, ..at }));
            }
        }
    }
    Ok(())
}

/// What the statement has so far that can be a level of the tree.
#[derive(Default)]
struct Signs {
    /// All of it.
    all: usize,
    /// What the parser reads one inside the other.
    right: usize,
    /// Signs without anything between them.
    run: usize,
}

impl Signs {
    fn read(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == ';' => *self = Signs::default(),
            TokenTree::Punct(sign) => {
                self.all += 1;
                self.run += 1;
                self.right += usize::from("=|".contains(sign.as_char()));
            }
            TokenTree::Ident(word) if word == "fn" || word == "let" => *self = Signs::default(),
            TokenTree::Ident(word) => {
                self.run = 0;
                let inner = ["else", "return", "break", "move", "async", "unsafe"];
                self.right += usize::from(inner.iter().any(|w| word == w));
            }
            TokenTree::Group(_) => {
                self.all += 1;
                self.run = 0;
            }
            TokenTree::Literal(_) => self.run = 0,
        }
    }
}

/// The error for syntax inside too much other syntax.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    let message = format!("more than {MAX_DEPTH} statements and operations inside each other");
    Diagnostic::new("nesting-too-deep", message)
        .label(at, "too deep from here on")
        .help("assign the inner ones to variables first, or move them into a function")
}

/// Whether a function of the tree keeps to its depth.
pub(super) fn fits(function: &Function) -> bool {
    block(&function.body, 0)
}

fn block(stmts: &Block, depth: u32) -> bool {
    depth < MAX_DEPTH
        && stmts.iter().all(|stmt| {
            let below = depth + 1;
            match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    targets.iter().all(|t| target(t, below)) && expr(value, below)
                }
                StmtKind::AugAssign { target: t, value, .. } => {
                    target(t, below) && expr(value, below)
                }
                StmtKind::For { target: t, iter: over, body } => {
                    target(t, below) && iter(over, below) && block(body, below)
                }
                StmtKind::While { cond, body } => expr(cond, below) && block(body, below),
                StmtKind::If { cond, then, otherwise } => {
                    expr(cond, below) && block(then, below) && block(otherwise, below)
                }
                StmtKind::Return { values } => values.iter().all(|e| expr(e, below)),
                StmtKind::Assert { cond: e, .. } | StmtKind::Call(e) => expr(e, below),
                StmtKind::Break | StmtKind::Continue | StmtKind::Pass | StmtKind::Define(_) => true,
            }
        })
}

fn target(target_: &Target, depth: u32) -> bool {
    match target_ {
        Target::Name(_) => true,
        Target::Tuple { elements, .. } => elements.iter().all(|t| target(t, depth + 1)),
        Target::Element { base, indices, .. } => {
            expr(base, depth + 1)
                && indices.iter().flat_map(Index::exprs).all(|e| expr(e, depth + 1))
        }
    }
}

fn iter(over: &Iter, depth: u32) -> bool {
    match &over.kind {
        IterKind::Range { start, stop, step } => {
            [start, stop, step].into_iter().all(|e| expr(e, depth + 1))
        }
        IterKind::Items(e) => expr(e, depth + 1),
        IterKind::Enumerate { of, .. } | IterKind::Reversed(of) | IterKind::Parallel(of) => {
            iter(of, depth + 1)
        }
        IterKind::Zip(all) => all.iter().all(|i| iter(i, depth + 1)),
    }
}

fn expr(e: &Expr, depth: u32) -> bool {
    let below = depth + 1;
    below < MAX_DEPTH
        && match &e.kind {
            ExprKind::Unary { operand, .. } => expr(operand, below),
            ExprKind::Binary { first, rest } => {
                expr(first, below) && rest.iter().all(|(_, e)| expr(e, below))
            }
            ExprKind::Compare { first, rest } => {
                expr(first, below) && rest.iter().all(|(_, e)| expr(e, below))
            }
            ExprKind::Logical { operands, .. } => operands.iter().all(|e| expr(e, below)),
            ExprKind::Conditional { cond, then, otherwise } => {
                [cond, then, otherwise].into_iter().all(|e| expr(e, below))
            }
            ExprKind::Call { callee, args, keywords } => {
                let base = match callee {
                    Callee::Method { base, .. } => expr(base, below),
                    _ => true,
                };
                base && args.iter().all(|e| expr(e, below))
                    && keywords.iter().all(|k| expr(&k.value, below))
            }
            ExprKind::Index { base, indices } => {
                expr(base, below) && indices.iter().flat_map(Index::exprs).all(|e| expr(e, below))
            }
            ExprKind::Tuple(all) | ExprKind::List(all) => all.iter().all(|e| expr(e, below)),
            ExprKind::Attribute { base, .. } => expr(base, below),
            _ => true,
        }
}
