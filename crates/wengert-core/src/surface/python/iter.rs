//! What `for` loops go over.

use ruff_python_ast::{self as ast, Expr as Py};
use ruff_text_size::Ranged;

use super::{Converted, Converter, span};
use crate::surface::tree::{Callee, Expr, ExprKind, Iter, IterKind};
use crate::surface::unsupported as no;

impl Converter<'_> {
    pub(super) fn iter(&mut self, over: &Py) -> Converted<Iter> {
        let kind = match over {
            Py::Call(call) => match self.python_iterator(call)?.as_deref() {
                Some("range") => self.range(call)?,
                Some("enumerate") => self.deeper(over.range(), |c| c.enumerate(call))?,
                Some("zip") => self.deeper(over.range(), |c| c.zip(call))?,
                Some("reversed") => self.deeper(over.range(), |c| c.reversed(call))?,
                _ if self.is_parallel(call)? => self.parallel(call)?,
                _ => IterKind::Items(self.expr(over)?),
            },
            _ => IterKind::Items(self.expr(over)?),
        };
        Ok(Iter { kind, span: span(over.range()) })
    }

    /// The canonical name of what is called, if it is a library function called by its bare name.
    fn python_iterator(&mut self, call: &ast::ExprCall) -> Converted<Option<String>> {
        if !call.func.is_name_expr() {
            return Ok(None);
        }
        Ok(match self.callee(call)? {
            Callee::Builtin(name) => Some(name.text),
            _ => None,
        })
    }

    /// Whether this is `wengert.parallel(..)`, by whatever name.
    fn is_parallel(&mut self, call: &ast::ExprCall) -> Converted<bool> {
        let is_it = |name: &str| name == "parallel";
        Ok(match &*call.func {
            Py::Name(_) => self.python_iterator(call)?.as_deref().is_some_and(is_it),
            Py::Attribute(attribute) => {
                self.library_member(attribute)?.as_deref().is_some_and(is_it)
            }
            _ => false,
        })
    }

    fn parallel(&mut self, call: &ast::ExprCall) -> Converted<IterKind> {
        let ([of], []) = (&*call.arguments.args, &*call.arguments.keywords) else {
            return Err(no::PARALLEL_ARGUMENTS.at(span(call.range())));
        };
        let of = self.iter(of)?;
        match of.kind {
            IterKind::Range { .. } => Ok(IterKind::Parallel(Box::new(of))),
            _ => Err(no::PARALLEL_ARGUMENTS.at(of.span)),
        }
    }

    fn range(&mut self, call: &ast::ExprCall) -> Converted<IterKind> {
        let (args, keywords) = self.arguments(&call.arguments)?;
        let all = span(call.range());
        let number = |value| Expr { kind: ExprKind::Int(value), span: all };
        let mut args = args.into_iter();
        let (start, stop, step) = match (args.next(), args.next(), args.next()) {
            (Some(stop), None, _) => (number(0), stop, number(1)),
            (Some(start), Some(stop), None) => (start, stop, number(1)),
            (Some(start), Some(stop), Some(step)) => (start, stop, step),
            (None, ..) => return Err(no::RANGE_ARGUMENTS.at(all)),
        };
        if args.next().is_some() || !keywords.is_empty() {
            return Err(no::RANGE_ARGUMENTS.at(all));
        }
        Ok(IterKind::Range { start, stop, step })
    }

    fn enumerate(&mut self, call: &ast::ExprCall) -> Converted<IterKind> {
        let start = match (&*call.arguments.args, &*call.arguments.keywords) {
            ([_], []) => None,
            ([_, start], []) => Some(start),
            ([_], [keyword]) if keyword.arg.as_ref().is_some_and(|name| name.id == "start") => {
                Some(&keyword.value)
            }
            _ => return Err(no::ENUMERATE_ARGUMENTS.at(span(call.range()))),
        };
        let of = Box::new(self.iter(&call.arguments.args[0])?);
        let start = start.map(|start| self.expr(start)).transpose()?;
        Ok(IterKind::Enumerate { of, start })
    }

    fn zip(&mut self, call: &ast::ExprCall) -> Converted<IterKind> {
        if call.arguments.args.is_empty() || !call.arguments.keywords.is_empty() {
            return Err(no::ZIP_ARGUMENTS.at(span(call.range())));
        }
        let items = call.arguments.args.iter().map(|of| self.iter(of));
        Ok(IterKind::Zip(items.collect::<Converted<_>>()?))
    }

    fn reversed(&mut self, call: &ast::ExprCall) -> Converted<IterKind> {
        let ([of], []) = (&*call.arguments.args, &*call.arguments.keywords) else {
            return Err(no::REVERSED_ARGUMENTS.at(span(call.range())));
        };
        let of = self.iter(of)?;
        match of.kind {
            // Python has these only from the first to the last.
            IterKind::Enumerate { .. } | IterKind::Zip(_) | IterKind::Reversed(_) => {
                Err(no::REVERSED_PAIRS.at(of.span))
            }
            _ => Ok(IterKind::Reversed(Box::new(of))),
        }
    }
}
