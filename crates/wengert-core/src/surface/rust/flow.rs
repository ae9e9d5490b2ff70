//! `if`, `match` and loops.

use super::labels::{Kind, Merged};
use super::value::{Leaf, Ty, Val, not, truth};
use super::{Converter, Made, no};
use crate::span::Span;
use crate::surface::tree::{Expr, Stmt, StmtKind};

/// A way through a choice: its test, none where it is always taken, and what is done.
struct Arm {
    test: Option<Expr>,
    stmts: Vec<Stmt>,
    at: Span,
}

impl<'a> Converter<'a> {
    /// `if cond { .. } else { .. }`.
    pub(super) fn if_expr(
        &mut self,
        branch: &'a syn::ExprIf,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let test = self.condition(&branch.cond)?;
        let mut merged = None;
        let mut goes_on = false;
        let then = self.way(&mut merged, &mut goes_on, at, |c| {
            let val = c.block(&branch.then_branch, want)?;
            Ok(if branch.else_branch.is_none() && !matches!(val, Val::Never) {
                Val::Unit
            } else {
                val
            })
        })?;
        let otherwise = match &branch.else_branch {
            Some((_, e)) => {
                let at = self.at(&**e);
                self.way(&mut merged, &mut goes_on, at, |c| c.expr(e, want))?
            }
            None => {
                goes_on = true;
                Vec::new()
            }
        };
        self.emit(StmtKind::If { cond: test, then, otherwise }, at);
        Ok(outcome(merged.as_ref(), goes_on, at))
    }

    /// One way of several to a value.
    fn way(
        &mut self,
        merged: &mut Option<Merged>,
        goes_on: &mut bool,
        at: Span,
        fill: impl FnOnce(&mut Self) -> Made<Val<'a>>,
    ) -> Made<Vec<Stmt>> {
        let (stmts, ()) = self.inside(|c| {
            let val = fill(c)?;
            match val {
                Val::Never => {}
                Val::Unit => *goes_on = true,
                val => {
                    *goes_on = true;
                    c.merge(merged, val, at)?;
                }
            }
            Ok(())
        })?;
        Ok(stmts)
    }

    /// `match`.
    pub(super) fn match_expr(
        &mut self,
        choice: &'a syn::ExprMatch,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let val = self.expr(&choice.expr, None)?;
        if matches!(val, Val::Never) {
            return Ok(Val::Never);
        }
        let val = self.looked_at(val);
        let (mut merged, mut goes_on) = (None, false);
        let mut arms: Vec<Arm> = Vec::new();
        for arm in &choice.arms {
            let at = self.at(&arm.pat);
            self.scopes.enter();
            let made = self.arm(arm, &val, want, &mut merged, &mut goes_on, at);
            self.scopes.leave();
            let arm = made?;
            let last = arm.test.is_none();
            arms.push(arm);
            if last {
                break;
            }
        }
        if arms.last().is_some_and(|arm| arm.test.is_some()) {
            if !exhaustive(&choice.arms, &val) {
                return Err(no::NOT_EXHAUSTIVE.at(at));
            }
            // The last one is what is left.
            if let Some(arm) = arms.last_mut() {
                arm.test = None;
            }
        }
        let mut otherwise: Vec<Stmt> = Vec::new();
        for arm in arms.into_iter().rev() {
            otherwise = match arm.test {
                None => arm.stmts,
                Some(cond) => {
                    vec![Stmt {
                        kind: StmtKind::If { cond, then: arm.stmts, otherwise },
                        span: arm.at,
                    }]
                }
            };
        }
        self.append(otherwise);
        Ok(outcome(merged.as_ref(), goes_on, at))
    }

    fn arm(
        &mut self,
        arm: &'a syn::Arm,
        val: &Val<'a>,
        want: Option<&Ty>,
        merged: &mut Option<Merged>,
        goes_on: &mut bool,
        at: Span,
    ) -> Made<Arm> {
        let (mut stmts, mut test) = self.inside(|c| c.tested(&arm.pat, val))?;
        if let Some((_, guard)) = &arm.guard {
            let at = self.at(&**guard);
            let (more, guard) = self.inside(|c| c.condition(guard))?;
            if !more.is_empty() || !stmts.is_empty() {
                return Err(no::GUARD.at(at));
            }
            test = Some(match test {
                Some(test) => super::pattern::both(test, guard, at),
                None => guard,
            });
        }
        let at_body = self.at(&*arm.body);
        stmts.extend(self.way(merged, goes_on, at_body, |c| c.expr(&arm.body, want))?);
        Ok(Arm { test, stmts, at })
    }

    /// What a `match` looks at, as variables and constants.
    fn looked_at(&mut self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Leaf(leaf) if leaf.ty.is_scalar() => {
                let e = self.kept(leaf.e);
                Val::Leaf(Leaf { e, ..leaf })
            }
            Val::Alias(place, ty) => {
                let e = self.kept(place.read());
                Val::of(e, ty)
            }
            Val::Tuple(all) => Val::Tuple(all.into_iter().map(|v| self.looked_at(v)).collect()),
            Val::Struct(def, all) => {
                Val::Struct(def, all.into_iter().map(|v| self.looked_at(v)).collect())
            }
            other => other,
        }
    }

    /// `while`.
    pub(super) fn while_loop(&mut self, l: &'a syn::ExprWhile, at: Span) -> Made<Val<'a>> {
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        let (before, cond) = self.inside(|c| c.condition(&l.cond))?;
        let at_cond = self.at(&*l.cond);
        // What the test does is done each time.
        let (head, cond) = if before.is_empty() {
            (None, cond)
        } else {
            (Some(not(cond, at_cond)), truth(true, at_cond))
        };
        self.leavable(
            Kind::Loop,
            label,
            None,
            at,
            |c| {
                c.append(before);
                if let Some(cond) = head {
                    let then = vec![Stmt { kind: StmtKind::Break, span: at_cond }];
                    c.emit(StmtKind::If { cond, then, otherwise: Vec::new() }, at_cond);
                }
                c.block(&l.body, None).map(|_| ())
            },
            |body| StmtKind::While { cond, body },
        )?;
        Ok(Val::Unit)
    }

    /// `loop`.
    pub(super) fn endless(
        &mut self,
        l: &'a syn::ExprLoop,
        want: Option<&Ty>,
        at: Span,
    ) -> Made<Val<'a>> {
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        let around = self.leavable(
            Kind::Loop,
            label,
            want.cloned(),
            at,
            |c| c.block(&l.body, None).map(|_| ()),
            |body| StmtKind::While { cond: truth(true, at), body },
        )?;
        match (&around.value, around.is_left) {
            (Some(merged), _) => Ok(merged.val(at)),
            (None, true) => Ok(Val::Unit),
            (None, false) if around.returns || around.leaves_others() => Ok(Val::Never),
            (None, false) => {
                let at = self.at(&l.loop_token);
                Err(no::FOREVER.at(at))
            }
        }
    }
}

/// What several ways lead to.
fn outcome<'a>(merged: Option<&Merged>, goes_on: bool, at: Span) -> Val<'a> {
    match merged {
        Some(merged) => merged.val(at),
        None if goes_on => Val::Unit,
        None => Val::Never,
    }
}

/// Whether some arm fits any truth values.
fn exhaustive(arms: &[syn::Arm], val: &Val<'_>) -> bool {
    let leaves = val.leaves();
    if leaves.is_empty() || leaves.len() > 6 || leaves.iter().any(|leaf| leaf.ty != Ty::Bool) {
        return false;
    }
    (0..1_u32 << leaves.len()).all(|bits| {
        arms.iter().any(|arm| {
            let mut place = 0;
            arm.guard.is_none() && covers(&arm.pat, val, bits, &mut place)
        })
    })
}

/// Whether a pattern fits these truth values, the first of which is bit `place`.
fn covers(pattern: &syn::Pat, val: &Val<'_>, bits: u32, place: &mut u32) -> bool {
    let first = *place;
    match pattern {
        syn::Pat::Paren(inner) => return covers(&inner.pat, val, bits, place),
        syn::Pat::Reference(inner) => return covers(&inner.pat, val, bits, place),
        syn::Pat::Tuple(tuple) => {
            let Val::Tuple(all) = val else { return false };
            // Each moves the place on, also after one that does not fit.
            let mut fits = true;
            for (pattern, val) in tuple.elems.iter().zip(all) {
                fits &= covers(pattern, val, bits, place);
            }
            return fits;
        }
        _ => *place += val.leaves().len() as u32,
    }
    match pattern {
        syn::Pat::Wild(_) | syn::Pat::Ident(_) => true,
        syn::Pat::Lit(lit) => match &lit.lit {
            syn::Lit::Bool(b) => b.value == (bits >> first & 1 == 1),
            _ => false,
        },
        syn::Pat::Or(or) => or.cases.iter().any(|case| covers(case, val, bits, &mut { first })),
        _ => false,
    }
}
