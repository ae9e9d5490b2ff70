//! What a `for` loop goes over: ranges, arrays, and `enumerate`, `zip` and `reversed` of them.

use super::env::{Binding, Unset, UnsetReason};
use super::operand::Operand;
use super::parallel::not_around_a_loop;
use super::{Lowered, Lowering};
use crate::ir::{Op, Value};
use crate::ops::Prim;
use crate::span::{Diagnostic, Span};
use crate::surface::tree::{Expr, Iter, IterKind};
use std::sync::Arc;

/// What a `for` loop goes over: how often, and what the items are.
#[derive(Debug)]
pub(super) enum Items {
    /// `lo + k * by`; the counter itself where there is no step.
    Range {
        lo: Value,
        by: Option<Value>,
        bound: Option<i64>,
    },
    /// The items of the array that a hidden variable holds: a write to what it may share memory with is noticed.
    Array(Arc<str>),
    Enumerate(Box<Items>, Value),
    Zip(Vec<Items>),
    /// Backwards, given how many there are.
    Reversed(Box<Items>, Value),
}

/// What a loop goes over, evaluated.
pub(super) enum Source {
    /// Different things, for each of which the body is written out.
    Written(Vec<(Operand, Span)>),
    /// So many items, found by their numbers.
    Counted(Items, Value),
}

impl Lowering<'_> {
    pub(super) fn bounds(&mut self, start: &Expr, stop: &Expr, step: &Expr) -> Lowered<[Value; 3]> {
        Ok([
            self.integer(start, "the start of a range")?,
            self.integer(stop, "the end of a range")?,
            self.integer(step, "the step of a range")?,
        ])
    }

    /// The items of a range, and the counter's first value and bound.
    pub(super) fn range(
        &mut self,
        lo: Value,
        hi: Value,
        by: Value,
        span: Span,
    ) -> Lowered<(Items, Value, Value)> {
        let constant = self.known_integer(by);
        if constant == Some(1) {
            let bound = self.lower_bound(lo);
            return Ok((Items::Range { lo, by: None, bound }, lo, hi));
        }
        if constant == Some(0) {
            return Err(Diagnostic::new("zero-step", "the step of a range cannot be 0")
                .label(span, "this step")
                .help("use a positive or a negative step, or `while`"));
        }
        let zero = self.b.i64(0);
        // ceil((hi - lo) / by), which floor division gives with the signs turned.
        let nonzero = self.b.prim(Prim::INe, &[by, zero]);
        self.b.op(Op::Assert("the step of a range cannot be 0".into()), &[nonzero]);
        let distance = self.b.prim(Prim::ISub, &[lo, hi]);
        let trips = self.b.prim(Prim::IDiv, &[distance, by]);
        let trips = self.b.prim(Prim::INeg, &[trips]);
        let bound = match constant {
            Some(k) if k > 0 => self.lower_bound(lo),
            Some(_) => self.lower_bound(hi).and_then(|h| h.checked_add(1)),
            None => None,
        };
        Ok((Items::Range { lo, by: Some(by), bound }, zero, trips))
    }

    /// What a loop goes over, counted from 0.
    pub(super) fn items(&mut self, iter: &Iter) -> Lowered<Source> {
        let zero = self.b.i64(0);
        Ok(match &iter.kind {
            IterKind::Range { start, stop, step } => {
                let [lo, hi, by] = self.bounds(start, stop, step)?;
                self.b.at(iter.span);
                match self.range(lo, hi, by, step.span)? {
                    (Items::Range { by: None, bound, .. }, lo, hi) => {
                        let n = self.b.prim(Prim::ISub, &[hi, lo]);
                        let n = self.b.prim(Prim::IMax, &[n, zero]);
                        let one = self.b.i64(1);
                        Source::Counted(Items::Range { lo, by: Some(one), bound }, n)
                    }
                    (items, _, trips) => {
                        Source::Counted(items, self.b.prim(Prim::IMax, &[trips, zero]))
                    }
                }
            }
            IterKind::Items(e) => match self.expr(e)? {
                Operand::Tuple(items) | Operand::List(items) => {
                    let numbers = items.iter().all(|(i, _)| matches!(i, Operand::Scalar(_)));
                    if !numbers || items.len() <= 1 {
                        return Ok(Source::Written(items));
                    }
                    // Numbers are looked up in an array of them.
                    self.array_items(Operand::List(items), e.span)?
                }
                operand => self.array_items(operand, e.span)?,
            },
            IterKind::Enumerate { of, start } => {
                let of = self.items(of)?;
                let start = match start {
                    Some(e) => self.integer(e, "the start of `enumerate`")?,
                    None => zero,
                };
                match of {
                    Source::Counted(of, n) => {
                        Source::Counted(Items::Enumerate(Box::new(of), start), n)
                    }
                    Source::Written(items) => {
                        let mut numbered = Vec::new();
                        for (k, (item, at)) in items.into_iter().enumerate() {
                            let k = self.b.i64(k as i64);
                            let number = Operand::Scalar(self.b.prim(Prim::IAdd, &[start, k]));
                            numbered.push((Operand::Tuple(vec![(number, at), (item, at)]), at));
                        }
                        Source::Written(numbered)
                    }
                }
            }
            IterKind::Zip(all) => self.zipped(all, iter.span)?,
            IterKind::Parallel(_) => return Err(not_around_a_loop(iter.span)),
            IterKind::Reversed(of) => match self.items(of)? {
                Source::Counted(of, n) => Source::Counted(Items::Reversed(Box::new(of), n), n),
                Source::Written(items) => Source::Written(items.into_iter().rev().collect()),
            },
        })
    }

    /// `zip`: as many items as the shortest has.
    fn zipped(&mut self, all: &[Iter], span: Span) -> Lowered<Source> {
        let (mut counted, mut least, mut written) = (Vec::new(), None, Vec::new());
        for iter in all {
            match self.items(iter)? {
                Source::Counted(of, n) => {
                    counted.push(of);
                    least = Some(match least {
                        None => n,
                        Some(m) => self.b.prim(Prim::IMin, &[m, n]),
                    });
                }
                Source::Written(items) => written.push((items, iter.span)),
            }
        }
        let (Some((first, at)), rest) = (written.first(), written.len() < all.len()) else {
            let n = least.unwrap_or_else(|| self.b.i64(0));
            return Ok(Source::Counted(Items::Zip(counted), n));
        };
        if rest {
            let message = "a tuple of arrays cannot be zipped with what is counted as it runs";
            return Err(Diagnostic::new("unsupported-syntax", message)
                .label(*at, "this is written out")
                .label(span, "zipped here")
                .help("loop over the index, or make it one array: `np.stack([...])`"));
        }
        let n = written.iter().map(|(items, _)| items.len()).min().unwrap_or(first.len());
        let together = (0..n).map(|k| {
            let items = written.iter().map(|(items, _)| items[k].clone()).collect();
            (Operand::Tuple(items), span)
        });
        Ok(Source::Written(together.collect()))
    }

    /// The items of an array, and how many there are.
    fn array_items(&mut self, operand: Operand, span: Span) -> Lowered<Source> {
        let view = self.as_view(operand, span)?;
        let n = self.dims_of(&view)[0];
        let name: Arc<str> = format!("items at {}", span.start).into();
        self.env.bind(&name, Binding::Array(view), span);
        Ok(Source::Counted(Items::Array(name), n))
    }

    /// Forgets the hidden variables.
    pub(super) fn unbind_items(&mut self, items: &Items) {
        match items {
            Items::Range { .. } => {}
            Items::Array(name) => self.env.unbind(name),
            Items::Enumerate(of, _) | Items::Reversed(of, _) => self.unbind_items(of),
            Items::Zip(all) => all.iter().for_each(|of| self.unbind_items(of)),
        }
    }

    /// Item `k`.
    pub(super) fn item(&mut self, items: &Items, k: Value, span: Span) -> Lowered<Operand> {
        self.b.at(span);
        Ok(match items {
            Items::Range { lo, by, bound } => {
                let i = match by {
                    None => k,
                    Some(by) => {
                        // The range has been computed without overflow, so this cannot.
                        let offset = self.b.prim(Prim::WMul, &[k, *by]);
                        self.b.prim(Prim::WAdd, &[*lo, offset])
                    }
                };
                if let Some(bound) = bound {
                    self.lower_bounds.insert(i, *bound);
                }
                Operand::Scalar(i)
            }
            Items::Array(name) => {
                self.lower_bounds.insert(k, 0);
                match self.env.own(name).map(|(b, _)| b.clone()) {
                    Some(Binding::Array(view)) => self.item_of(&view, k, span),
                    Some(Binding::Maybe(Unset {
                        reason: UnsetReason::Stale(other), by, ..
                    })) => {
                        let message = format!(
                            "the loop may go over the array of `{other}`, which is written in it"
                        );
                        return Err(Diagnostic::new("ambiguous-alias", message)
                            .label(span, "what the loop goes over")
                            .label(by, format!("`{other}` is written here"))
                            .help("go over a copy: `for v in np.copy(...)`"));
                    }
                    _ => unreachable!("bound before the loop"),
                }
            }
            Items::Enumerate(of, start) => {
                let number = self.b.prim(Prim::IAdd, &[*start, k]);
                if let Some(low) = self.lower_bound(*start) {
                    self.lower_bounds.insert(number, low);
                }
                let item = self.item(of, k, span)?;
                Operand::Tuple(vec![(Operand::Scalar(number), span), (item, span)])
            }
            Items::Zip(all) => {
                let items = all.iter().map(|of| Ok((self.item(of, k, span)?, span)));
                Operand::Tuple(items.collect::<Lowered<_>>()?)
            }
            Items::Reversed(of, n) => {
                let one = self.b.i64(1);
                let last = self.b.prim(Prim::WSub, &[*n, one]);
                let k = self.b.prim(Prim::WSub, &[last, k]);
                self.lower_bounds.insert(k, 0);
                self.item(of, k, span)?
            }
        })
    }
}
