//! What `break`, `continue` and `return` leave.
//!
//! The tree leaves its innermost loop and nothing else. To leave one further out, a flag is set and the innermost is
//! left; after each loop in between the flag is looked at. Blocks that can be left are loops that run once.

use super::structs::holds_alias;
use super::value::{How, Leaf, Ty, Val, int, named, truth};
use super::{Converter, Made};
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Iter, IterKind, Name, Stmt, StmtKind, Target};

/// What is around, as far as it can be left.
pub(super) struct Around {
    kind: Kind,
    label: Option<String>,
    /// What it evaluates to, where it is left with a value.
    pub(super) value: Option<Merged>,
    /// What is wanted of that.
    want: Option<Ty>,
    /// Whether anything leaves it by `break`.
    pub(super) is_left: bool,
    /// Whether anything inside leaves the function.
    pub(super) returns: bool,
    /// The flag that says to leave it, and the one that says to go on with its next iteration.
    leave: Option<String>,
    again: Option<String>,
    /// Flags that are set inside, of what is further out: where in the list, and whether it is left.
    through: Vec<(usize, bool)>,
    passes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Loop,
    Block,
    Closure,
}

impl Around {
    /// Whether something inside leaves what is further out.
    pub(super) fn leaves_others(&self) -> bool {
        self.passes
    }
}

/// A value that several ways lead to: variables that each of them sets.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    pub(super) ty: Ty,
    names: Vec<String>,
    how: How,
    from: Vec<usize>,
}

impl Merged {
    /// The value.
    pub(super) fn val<'a>(&self, span: Span) -> Val<'a> {
        let mut names = self.names.iter();
        self.part(&self.ty, &mut names, span)
    }

    fn part<'a>(&self, ty: &Ty, names: &mut std::slice::Iter<String>, span: Span) -> Val<'a> {
        match ty {
            Ty::Tuple(all) => Val::Tuple(all.iter().map(|ty| self.part(ty, names, span)).collect()),
            Ty::Struct(def) => {
                let fields = def.fields.iter().map(|f| self.part(&f.ty.ty(), names, span));
                Val::Struct(def.clone(), fields.collect())
            }
            Ty::Array(elem, len) if let Ty::Struct(def) = &**elem => {
                let types = super::types::RustType::Struct(def.clone());
                let columns: Vec<Leaf> = (types.leaves().into_iter())
                    .map(|ty| Ty::Array(Box::new(ty.ty()), *len))
                    .flat_map(|ty| self.part(&ty, names, span).leaves())
                    .collect();
                Val::rows(def, *len, &mut columns.into_iter())
            }
            Ty::Unit => Val::Unit,
            Ty::Never => Val::Never,
            ty => match names.next() {
                Some(name) => {
                    let from = if ty.is_open() { self.from.clone() } else { Vec::new() };
                    Val::Leaf(Leaf { e: named(name, span), ty: ty.clone(), how: self.how, from })
                }
                None => Val::Unit,
            },
        }
    }
}

impl<'a> Converter<'a> {
    /// Sets the variables of a value that several ways lead to.
    pub(super) fn merge(&mut self, into: &mut Option<Merged>, val: Val<'a>, at: Span) -> Made<()> {
        if holds_alias(&val) {
            return Err(super::no::CHOSEN_REFERENCE.at(at));
        }
        if let Val::Closure(_) = val {
            return Err(super::no::CLOSURE_VALUE.at(at));
        }
        let found = val.ty();
        let merged = match into.take() {
            Some(merged) => merged,
            None => {
                let names = val.leaves().iter().map(|_| self.fresh("t")).collect();
                Merged { ty: found.clone(), names, how: How::Fresh, from: Vec::new() }
            }
        };
        let Some(ty) = merged.ty.join(&found) else {
            return Err(super::call::expected(&merged.ty, &found, at));
        };
        let mut merged = Merged { ty: ty.clone(), ..merged };
        for (leaf, name) in
            self.fitted(val, &ty, at)?.leaves().into_iter().zip(merged.names.clone())
        {
            if leaf.how == How::Ref && leaf.ty.is_array() {
                merged.how = How::Ref;
            }
            merged.from.extend(&leaf.from);
            let leaf = self.taken_over(leaf);
            self.assign(Target::Name(Name { text: name, span: at }), leaf.e, at);
        }
        *into = Some(merged);
        Ok(())
    }

    /// Gives the variables of such a value something to be before any way is taken.
    fn prepare(&mut self, merged: &Merged, at: Span) {
        let val = self.stand_in(&merged.ty, at);
        for (leaf, name) in val.leaves().into_iter().zip(merged.names.clone()) {
            self.assign(Target::Name(Name { text: name, span: at }), leaf.e, at);
        }
    }

    /// Converts what can be left, and emits it: `body` fills it, `close` makes a statement of it.
    pub(super) fn leavable(
        &mut self,
        kind: Kind,
        label: Option<String>,
        want: Option<Ty>,
        at: Span,
        body: impl FnOnce(&mut Self) -> Made<()>,
        close: impl FnOnce(Vec<Stmt>) -> StmtKind,
    ) -> Made<Around> {
        self.around.push(Around {
            kind,
            label,
            value: None,
            want,
            is_left: false,
            returns: false,
            leave: None,
            again: None,
            through: Vec::new(),
            passes: false,
        });
        let filled = self.inside(body);
        let Some(mut around) = self.around.pop() else {
            return Err(super::no::OTHER_EXPRESSION.at(at));
        };
        let (mut stmts, ()) = filled?;
        if let Some(flag) = &around.again {
            stmts.insert(0, set(flag, false, at));
        }
        if let Some(flag) = &around.leave {
            let off = set(flag, false, at);
            self.append(vec![off]);
        }
        if let Some(merged) = &around.value {
            self.prepare(merged, at);
        }
        self.emit(close(stmts), at);
        let outer = self.around.len();
        for (target, leaves) in std::mem::take(&mut around.through) {
            // What is directly around goes on or is left by itself; what is further out is asked again.
            let direct = target + 1 == outer;
            let flag = match (leaves, self.around.get(target)) {
                (true, Some(found)) => found.leave.clone(),
                (false, Some(found)) => found.again.clone(),
                _ => None,
            };
            let Some(flag) = flag else { continue };
            let kind = if direct && !leaves { StmtKind::Continue } else { StmtKind::Break };
            let then = vec![Stmt { kind, span: at }];
            self.emit(StmtKind::If { cond: named(&flag, at), then, otherwise: Vec::new() }, at);
            if !direct {
                self.pass_through(outer - 1, (target, leaves));
            }
        }
        if around.returns
            && let Some(next) = self.around.last_mut()
        {
            next.returns = true;
        }
        Ok(around)
    }

    fn pass_through(&mut self, at: usize, what: (usize, bool)) {
        if let Some(around) = self.around.get_mut(at)
            && !around.through.contains(&what)
        {
            around.through.push(what);
            around.passes = true;
        }
    }

    /// `'a: { ... }`.
    pub(super) fn labelled_block(
        &mut self,
        label: &syn::Label,
        block: &'a syn::Block,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let label = Some(label.name.ident.to_string());
        self.once(Kind::Block, label, want, at, |c| c.block(block, want))
    }

    /// Something that runs once, and can be left with a value.
    pub(super) fn once(
        &mut self,
        kind: Kind,
        label: Option<String>,
        want: Option<&Ty>,
        at: Span,
        body: impl FnOnce(&mut Self) -> Made<Val<'a>>,
    ) -> Made<Val<'a>> {
        let counter = Name { text: self.fresh("once"), span: at };
        let around = self.leavable(
            kind,
            label,
            want.cloned(),
            at,
            |c| {
                let val = body(c)?;
                c.leave_with(c.around.len() - 1, val, at)
            },
            |body| {
                let (start, stop, step) = (int(0, at), int(1, at), int(1, at));
                let iter = Box::new(Iter { kind: IterKind::Range { start, stop, step }, span: at });
                StmtKind::For { target: Target::Name(counter), iter, body }
            },
        )?;
        Ok(match (&around.value, around.is_left) {
            (Some(merged), _) => merged.val(at),
            (None, true) => Val::Unit,
            (None, false) => Val::Never,
        })
    }

    /// Notes what something is left with.
    fn leave_with(&mut self, target: usize, val: Val<'a>, at: Span) -> Made<()> {
        if matches!(val, Val::Never) {
            return Ok(());
        }
        let (mut value, want) = match self.around.get_mut(target) {
            Some(around) => {
                around.is_left = true;
                (around.value.take(), around.want.clone())
            }
            None => return Ok(()),
        };
        let val = match want {
            Some(want) if want.join(&val.ty()).is_some() => self.fitted(val, &want, at)?,
            _ => val,
        };
        if !matches!(val, Val::Unit) {
            self.merge(&mut value, val, at)?;
        }
        if let Some(around) = self.around.get_mut(target) {
            around.value = value;
        }
        Ok(())
    }

    /// What `break` or `continue` means.
    fn target(&mut self, label: Option<&syn::Lifetime>, word: &str, at: Span) -> Made<usize> {
        let found = match label {
            None => self.around.iter().rposition(|a| a.kind == Kind::Loop),
            Some(label) => {
                let name = label.ident.to_string();
                self.around.iter().rposition(|a| a.label.as_ref() == Some(&name))
            }
        };
        found.ok_or_else(|| match label {
            None => {
                Diagnostic::new("syntax", format!("`{word}` outside of a loop")).label(at, "here")
            }
            Some(label) => Diagnostic::new("syntax", format!("there is no label `{label}` here"))
                .label(at, "used here")
                .help(format!("put it before the loop that is meant: `{label}: for ...`")),
        })
    }

    /// `break`.
    pub(super) fn break_(&mut self, b: &'a syn::ExprBreak, at: Span) -> Made<Val<'a>> {
        let target = self.target(b.label.as_ref(), "break", at)?;
        let val = match &b.expr {
            Some(e) => {
                let want = self.around.get(target).and_then(|a| a.want.clone());
                self.expr(e, want.as_ref())?
            }
            None => Val::Unit,
        };
        self.leave_with(target, val, at)?;
        self.jump(target, true, at);
        Ok(Val::Never)
    }

    /// `continue`.
    pub(super) fn continue_(&mut self, c: &'a syn::ExprContinue, at: Span) -> Made<Val<'a>> {
        let target = self.target(c.label.as_ref(), "continue", at)?;
        self.jump(target, false, at);
        Ok(Val::Never)
    }

    /// `return`.
    pub(super) fn return_(&mut self, r: &'a syn::ExprReturn, at: Span) -> Made<Val<'a>> {
        let closure = self.around.iter().rposition(|a| a.kind == Kind::Closure);
        let want = match closure.and_then(|k| self.around.get(k)) {
            Some(around) => around.want.clone(),
            None => self.current.as_ref().and_then(|c| c.result.clone()),
        };
        let val = match &r.expr {
            Some(e) => self.expr(e, want.as_ref())?,
            None => Val::Unit,
        };
        if matches!(val, Val::Never) {
            return Ok(Val::Never);
        }
        match closure {
            Some(target) => {
                self.leave_with(target, val, at)?;
                self.jump(target, true, at);
            }
            None => {
                if let Some(around) = self.around.last_mut() {
                    around.returns = true;
                }
                self.give_back(val, at)?;
            }
        }
        Ok(Val::Never)
    }

    /// Leaves what is at `target`, or goes on with its next iteration.
    fn jump(&mut self, target: usize, leaves: bool, at: Span) {
        let innermost = self.around.len() - 1;
        if target == innermost {
            let kind = if leaves { StmtKind::Break } else { StmtKind::Continue };
            self.emit(kind, at);
            return;
        }
        let wanted = if leaves { "leave" } else { "again" };
        let around = &self.around[target];
        let known = if leaves { around.leave.clone() } else { around.again.clone() };
        let flag = known.unwrap_or_else(|| self.fresh(wanted));
        let around = &mut self.around[target];
        *(if leaves { &mut around.leave } else { &mut around.again }) = Some(flag.clone());
        let on = set(&flag, true, at);
        self.append(vec![on]);
        self.emit(StmtKind::Break, at);
        self.pass_through(innermost, (target, leaves));
    }
}

fn set(flag: &str, value: bool, span: Span) -> Stmt {
    let target = Target::Name(Name { text: flag.to_owned(), span });
    Stmt { kind: StmtKind::Assign { targets: vec![target], value: truth(value, span) }, span }
}
