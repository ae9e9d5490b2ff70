//! What makes the derivative at a point doubtful, found by looking on while the program runs there.
//!
//! - a NaN or an infinity that appears although everything it is computed from is finite; not where `select`
//!   leaves it out, and it comes to nothing;
//! - a kink hit exactly: `abs` of 0, `max` of equals, a comparison of equals that is not a loop's end. The
//!   derivative there is one of several. Where both sides are equal all around, as a number compared with
//!   itself is, there is no kink;
//! - a loop whose stopping test depends on what is differentiated by: the derivative is that of the
//!   iterations that ran, and the nearer the test came to deciding otherwise, the smaller the
//!   neighbourhood in which that is the derivative of the program.
//!
//! ```
//! use wengert_core::check::{FindingKind, inspect};
//! use wengert_core::{interp::Val, ir::parse};
//!
//! let module = parse::module("func @f(%x: f64) -> f64 { %y = abs %x  return %y }")?;
//! let found = inspect(&module, "f", &[0], &[Val::f64(0.0)], 1000)?;
//! assert_eq!(found[0].kind, FindingKind::Kink { operation: "abs", taken: "0 at 0" });
//! assert!(inspect(&module, "f", &[0], &[Val::f64(1.0)], 1000)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Random, shifted};
use crate::fault::Fault;
use crate::interp::{Event, Interp, Observer, Val};
use crate::ir::{Func, Inst, Module, Op, Type, Value};
use crate::ops::{Prim, Scalar};
use crate::span::Span;
use crate::transform::activity::Activity;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// Something to know about a derivative.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was found.
    pub kind: FindingKind,
    /// Where in the source.
    pub span: Span,
    /// The variable it happens to, where it has a name.
    pub name: Option<Arc<str>>,
    /// The loops around it when it was found first (a stopping test: when it was nearest), innermost
    /// first: the loop's place and the iteration counted from 0.
    pub iterations: Vec<(Span, i64)>,
    /// How often it happened.
    pub times: u64,
    /// Whether a result of the function is not finite.
    pub spoils_results: bool,
}

/// How near a stopping test must come to deciding otherwise to be worth a word: nearer than the steps in which
/// derivatives are checked.
const NEAR: f64 = 1e-3;

/// What can be found.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// The result is a NaN, though the operands are finite.
    NaN,
    /// The result is an infinity, though the operands are finite.
    Infinity,
    /// The operation stands exactly on one of its kinks.
    Kink {
        /// Its name.
        operation: &'static str,
        /// What its derivative is taken to be there.
        taken: &'static str,
    },
    /// The two sides of a comparison that depends on what is differentiated by are equal.
    Tie,
    /// A loop's stopping test depends on what is differentiated by.
    Stopping {
        /// The least distance of the two sides of a comparison, relative to the larger of them.
        margin: f64,
    },
}

impl Finding {
    /// Whether it makes the derivative wrong rather than doubtful.
    pub fn is_failure(&self) -> bool {
        self.kind == FindingKind::NaN && self.spoils_results
    }

    /// Whether it makes the derivative doubtful. A loop whose stopping test keeps away from deciding otherwise
    /// does not.
    pub fn is_doubtful(&self) -> bool {
        !matches!(self.kind, FindingKind::Stopping { margin } if margin > NEAR)
    }
}

impl Finding {
    /// Whether it is that two sides are equal.
    fn is_meeting(&self) -> bool {
        matches!(self.kind, FindingKind::Tie | FindingKind::Kink { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or("a value".to_string(), |name| format!("`{name}`"));
        match &self.kind {
            FindingKind::NaN => {
                write!(f, "{name} becomes NaN, though what it is computed from is finite")
            }
            FindingKind::Infinity => {
                write!(f, "{name} becomes infinite, though what it is computed from is finite")
            }
            FindingKind::Kink { operation, taken } => write!(
                f,
                "`{operation}` stands exactly on its kink, where it has no derivative; it is taken as {taken}"
            ),
            FindingKind::Tie => {
                write!(
                    f,
                    "the two sides of a comparison are equal: the other branch is as near as this one"
                )
            }
            FindingKind::Stopping { margin } => write!(
                f,
                "how often the loop runs depends on what is differentiated by; its test came within {margin:.1e} (relative) of deciding otherwise"
            ),
        }?;
        match self.times {
            0 | 1 => Ok(()),
            _ if matches!(self.kind, FindingKind::Stopping { .. }) => Ok(()),
            n => write!(f, " ({n} times)"),
        }
    }
}

/// Runs a function in the interpreter and looks on. Its calls are in place; `wrt` are the parameters
/// differentiated by.
pub fn inspect(
    module: &Module,
    name: &str,
    wrt: &[usize],
    args: &[Val],
    max_iterations: u64,
) -> Result<Vec<Finding>, Fault> {
    let Some(func) = module.func(name) else { return Ok(Vec::new()) };
    let look = |args: &[Val], slack: f64| {
        let looker = Rc::new(RefCell::new(Looker::new(func, wrt, slack)));
        let mut interp = Interp::new(module);
        interp.max_iterations = max_iterations;
        interp.observe(looker.clone());
        let mut args = args.to_vec();
        if func.param_types().contains(&Type::Tape) {
            args.push(Val::tape());
        }
        let results = interp.call(name, args)?;
        drop(interp);
        let found = std::mem::take(&mut looker.borrow_mut().found);
        Ok((found, results.iter().any(|r| worst(r).is_some())))
    };
    let (mut found, spoilt) = look(args, 0.0)?;
    let none = |f: &Finding| matches!(f.kind, FindingKind::NaN | FindingKind::Infinity);
    if !spoilt && found.iter().any(none) {
        let uses = Uses::new(func);
        found.retain(|f| !(none(f) && uses.leave_out(f.span)));
    }
    found.iter_mut().for_each(|f| f.spoils_results = spoilt);
    if found.iter().any(Finding::is_meeting) {
        // What meets here and a little further on meets everywhere near, and is no kink.
        let mut random = Random(1);
        let mut moved = args.to_vec();
        for k in wrt {
            moved[*k] = shifted(&args[*k], &random.like(&args[*k]), 1e-6);
        }
        if let Ok((near, _)) = look(&moved, 1e-11) {
            found.retain(|f| {
                let again =
                    |n: &Finding| n.span == f.span && n.kind == f.kind && n.times >= f.times;
                !(f.is_meeting() && near.iter().any(again))
            });
        }
    }
    found.sort_by_key(|f| (f.span.start, f.span.end));
    Ok(found)
}

/// Who uses which value.
struct Uses<'f> {
    func: &'f Func,
    by: HashMap<Value, Vec<&'f Inst>>,
    /// Values that blocks hand on.
    handed_on: HashSet<Value>,
}

impl<'f> Uses<'f> {
    fn new(func: &'f Func) -> Self {
        let mut by: HashMap<Value, Vec<&Inst>> = HashMap::default();
        let mut handed_on: HashSet<Value> = func.body.yields.iter().copied().collect();
        func.body.walk(&mut |inst| {
            inst.args.iter().for_each(|a| by.entry(*a).or_default().push(inst));
            inst.blocks.iter().for_each(|b| handed_on.extend(&b.yields));
        });
        Uses { func, by, handed_on }
    }

    /// Whether what is made at a place is looked at by `select` only, directly or through arithmetic.
    fn leave_out(&self, span: Span) -> bool {
        let mut idle = true;
        self.func.body.walk(&mut |inst| {
            idle &= inst.span != span || inst.results.iter().all(|v| self.only_chosen_from(*v));
        });
        idle
    }

    fn only_chosen_from(&self, v: Value) -> bool {
        let (mut work, mut seen) = (vec![v], HashSet::default());
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            if self.handed_on.contains(&v) {
                return false;
            }
            for user in self.by.get(&v).into_iter().flatten() {
                match user.op {
                    Op::Prim(Prim::Select) if user.args[0] != v => {}
                    Op::Prim(prim) if !is_comparison(prim) => work.extend(&user.results),
                    Op::Array(_) | Op::Copy | Op::Dim(_) => work.extend(&user.results),
                    _ => return false,
                }
            }
        }
        true
    }
}

#[derive(Debug)]
struct Looker {
    /// Only compared: elementary functions run in the same interpreter.
    func: *const Func,
    varied: HashSet<Value>,
    active: HashSet<Value>,
    /// How far apart, relative to their size, two sides still meet.
    slack: f64,
    /// What bools are made of.
    made: HashMap<Value, (Prim, Vec<Value>)>,
    /// Comparisons that decide whether a loop ends.
    stopping: HashSet<Value>,
    found: Vec<Finding>,
}

impl Looker {
    fn new(func: &Func, wrt: &[usize], slack: f64) -> Looker {
        let by: Vec<Value> = wrt.iter().filter_map(|k| func.params().get(*k).copied()).collect();
        let activity = Activity::new(func, &by);
        let all = (0..func.values.len() as u32).map(Value);
        let active = all.clone().filter(|v| activity.is_active(*v)).collect();
        let varied = all.filter(|v| activity.is_varied(*v)).collect();
        let mut looker = Looker {
            func,
            varied,
            active,
            slack,
            made: HashMap::default(),
            stopping: HashSet::default(),
            found: Vec::new(),
        };
        let mut tests = Vec::new();
        func.body.walk(&mut |inst| match inst.op {
            Op::Prim(prim) if func.ty(inst.results[0]) == Type::Bool => {
                looker.made.insert(inst.results[0], (prim, inst.args.clone()));
            }
            Op::ExitIf => tests.push(inst.args[0]),
            _ => {}
        });
        for test in tests {
            let comparisons = looker.comparisons(test);
            looker.stopping.extend(comparisons.into_iter().map(|(result, _, _)| result));
        }
        looker
    }

    /// The comparisons of varied floats a bool is made of: result, left and right side.
    fn comparisons(&self, test: Value) -> Vec<(Value, Value, Value)> {
        let mut found = Vec::new();
        let mut work = vec![test];
        while let Some(v) = work.pop() {
            match self.made.get(&v) {
                Some((prim, args))
                    if is_comparison(*prim) && args.iter().any(|a| self.varied.contains(a)) =>
                {
                    found.push((v, args[0], args[1]));
                }
                Some((Prim::And | Prim::Or | Prim::Not | Prim::Select, args)) => work.extend(args),
                _ => {}
            }
        }
        found
    }

    fn note(&mut self, event: &Event<'_>, kind: FindingKind, name: Option<Arc<str>>) {
        let span = event.inst.span;
        let same = |a: &FindingKind, b: &FindingKind| match (a, b) {
            (FindingKind::Stopping { .. }, FindingKind::Stopping { .. }) => true,
            (a, b) => a == b,
        };
        if let Some(known) = self.found.iter_mut().find(|f| f.span == span && same(&f.kind, &kind))
        {
            known.times += 1;
            if let (FindingKind::Stopping { margin: old }, FindingKind::Stopping { margin }) =
                (&mut known.kind, &kind)
                && *margin < *old
            {
                *old = *margin;
                known.iterations = event.iterations();
            }
            return;
        }
        let iterations = event.iterations();
        self.found.push(Finding { kind, span, name, iterations, times: 1, spoils_results: false });
    }

    fn stopping_test(&mut self, event: &Event<'_>) {
        let sides = self.comparisons(event.inst.args[0]);
        let margins = sides.into_iter().filter_map(|(_, l, r)| {
            let (l, r) = (number(&event.value(l)?)?, number(&event.value(r)?)?);
            let size = l.abs().max(r.abs());
            Some(if size == 0.0 { 0.0 } else { (l - r).abs() / size })
        });
        let nearest = margins.filter(|m| m.is_finite()).min_by(f64::total_cmp);
        if let Some(margin) = nearest {
            self.note(event, FindingKind::Stopping { margin }, None);
        }
    }

    fn not_finite(&mut self, event: &Event<'_>) {
        let bad = event.results.iter().zip(&event.inst.results);
        let bad = bad.filter_map(|(val, v)| Some((worst(val)?, v)));
        let Some((value, result)) = bad.max_by_key(|(x, _)| x.is_nan()) else { return };
        let finite = |a: &Value| event.value(*a).is_none_or(|val| worst(&val).is_none());
        if !event.inst.args.iter().all(finite) {
            return;
        }
        let kind = if value.is_nan() { FindingKind::NaN } else { FindingKind::Infinity };
        self.note(event, kind, event.func.name_of(*result));
    }

    fn kink(&mut self, event: &Event<'_>, prim: Prim) {
        let inst = event.inst;
        // What only decides has no slope to doubt.
        let matters = match is_comparison(prim) {
            true => inst.args.iter().any(|a| self.varied.contains(a)),
            false => inst.results.iter().any(|r| self.active.contains(r)),
        };
        if !matters {
            return;
        }
        let args: Vec<Option<Val>> = inst.args.iter().map(|a| event.value(*a)).collect();
        let equal = |a: usize, b: usize| match (&args[a], &args[b]) {
            (Some(a), Some(b)) => meet(a, b, self.slack),
            _ => false,
        };
        let zero = |k: usize| args[k].as_ref().is_some_and(|a| meet(a, &Val::f64(0.0), self.slack));
        let hit = match prim {
            Prim::Abs | Prim::Relu | Prim::CopySign | Prim::Sqrt | Prim::Cbrt => zero(0),
            Prim::Hypot | Prim::Atan2 => zero(0) && zero(1),
            Prim::Min | Prim::Max => equal(0, 1),
            Prim::Clamp => equal(0, 1) || equal(0, 2),
            _ if is_comparison(prim) => !self.stopping.contains(&inst.results[0]) && equal(0, 1),
            _ => false,
        };
        if hit {
            let kind = match is_comparison(prim) {
                true => FindingKind::Tie,
                false => FindingKind::Kink {
                    operation: prim.name(),
                    taken: prim.at_kinks().unwrap_or("0"),
                },
            };
            let name = inst.results.first().and_then(|r| event.func.name_of(*r));
            self.note(event, kind, name);
        }
    }
}

impl Observer for Looker {
    fn ran(&mut self, event: &Event<'_>) {
        if !std::ptr::eq(event.func, self.func) {
            return;
        }
        let inst: &Inst = event.inst;
        match &inst.op {
            Op::ExitIf => self.stopping_test(event),
            Op::Prim(prim) => {
                self.not_finite(event);
                self.kink(event, *prim);
            }
            Op::Array(_) => self.not_finite(event),
            _ => {}
        }
    }
}

fn is_comparison(prim: Prim) -> bool {
    use Prim::*;
    matches!(prim, Lt | Le | Gt | Ge | Eq | Ne)
}

fn number(val: &Val) -> Option<f64> {
    match val {
        Val::Scalar(Scalar::F64(x)) => Some(*x),
        Val::Scalar(Scalar::F32(x)) => Some(f64::from(*x)),
        _ => None,
    }
}

/// The floats of a value; none for what holds no floats.
fn all(val: &Val) -> Vec<f64> {
    match val {
        Val::Array(x) => x.floats(),
        one => number(one).into_iter().collect(),
    }
}

/// A float among them that is not finite, a NaN if there is one.
fn worst(val: &Val) -> Option<f64> {
    all(val).into_iter().filter(|x| !x.is_finite()).max_by_key(|x| x.is_nan())
}

/// Whether two values are equal anywhere, element by element; a number stands for equal elements.
fn meet(a: &Val, b: &Val, slack: f64) -> bool {
    let (a, b) = (all(a), all(b));
    let n = a.len().max(b.len());
    let at =
        |x: &[f64], k: usize| if x.len() == 1 { x.first().copied() } else { x.get(k).copied() };
    let near = |(a, b): (f64, f64)| {
        (a - b).abs() <= slack * a.abs().max(b.abs()) && a.is_finite() && b.is_finite()
    };
    (0..n).any(|k| at(&a, k).zip(at(&b, k)).is_some_and(near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn found(text: &str, args: &[f64]) -> Vec<Finding> {
        let module = parse::module(text).unwrap();
        let args: Vec<Val> = args.iter().map(|x| Val::f64(*x)).collect();
        let wrt: Vec<usize> = (0..args.len()).collect();
        inspect(&module, "f", &wrt, &args, 1000).unwrap()
    }

    const NEWTON: &str = "func @f(%a: f64) -> f64 {
       %x = while %i carry (%x0 = 1.0) {
         %q = mul %x0, %x0
         %r = sub %q, %a
         %e = abs %r
         %done = le %e, 1e-12
         exit_if %done { yield %x0 }
         %d = add %x0, %x0
         %s = div %r, %d
         %x1 = sub %x0, %s
         yield %x1
       }
       return %x
     }";

    #[test]
    fn stopping_tests_and_how_near_they_came() {
        let all = found(NEWTON, &[2.0]);
        let [Finding { kind: FindingKind::Stopping { margin }, times, .. }] = &all[..] else {
            panic!("{all:?}")
        };
        assert!((0.5..1.0).contains(margin), "{margin}");
        assert!(*times > 3);
        assert!(!all[0].is_doubtful());
        // The square root of 1 is found at once: the residual stands on the kink of `abs`, but only decides.
        let all = found(NEWTON, &[1.0]);
        let kinks = |f: &&Finding| matches!(f.kind, FindingKind::Kink { .. });
        assert_eq!(all.iter().filter(kinks).count(), 0, "{all:?}");
    }

    #[test]
    fn what_meets_everywhere_is_no_kink() {
        let text = "func @f(%x: f64, %y: f64) -> f64 {
           %a = mul %x, %y
           %b = mul %y, %x
           %c = lt %a, %b
           %m = max %a, %b
           %r = select %c, %m, %a
           return %r
         }";
        assert_eq!(found(text, &[1.5, 0.7]), []);
    }

    #[test]
    fn what_is_not_chosen_does_no_harm() {
        let text = "func @f(%x: f64) -> f64 {
           %l = log %x
           %s = mul %l, 2.0
           %c = gt %x, 0.0
           %r = select %c, %s, %x
           return %r
         }";
        assert_eq!(found(text, &[-1.0]), []);
        let used = text.replace("return %r", "%q = add %r, %l  return %q");
        assert!(found(&used, &[-1.0])[0].is_failure());
    }

    #[test]
    fn stopping_tests_that_depend_on_nothing_are_silent() {
        let text = "func @f(%x: f64, %n: f64) -> f64 {
           %y = while %i carry (%y0 = %x, %t = 0.0) {
             %done = ge %t, 3.0
             exit_if %done { yield %y0, %t }
             %y1 = mul %y0, %x
             %t1 = add %t, 1.0
             yield %y1, %t1
           }
           return %y
         }";
        let text = text.replace("%y = while", "%y, %z = while");
        assert_eq!(found(&text, &[2.0, 1.0]), []);
    }

    #[test]
    fn numbers_that_are_none_with_their_iteration() {
        let text = "func @f(%x: f64) -> f64 {
           %y = for %i in 0..5 carry (%y0 = %x) {
             %y1 = sub %y0, 1.0
             %l = log %y1
             %z = add %l, %y1
             yield %y1
           }
           %big = mul 1e200, %x
           %inf = mul %big, 1e200
           return %inf
         }";
        let all = found(text, &[3.5]);
        let nan = all.iter().find(|f| f.kind == FindingKind::NaN).unwrap();
        // 3.5 - 4 is the first negative number.
        assert_eq!((nan.iterations[0].1, nan.name.as_deref()), (3, Some("l")));
        assert_eq!(nan.times, 2);
        assert!(nan.is_failure());
        let infinite = all.iter().find(|f| f.kind == FindingKind::Infinity).unwrap();
        assert_eq!(infinite.name.as_deref(), Some("inf"));
        assert_eq!(all.len(), 2, "{all:?}");
    }

    #[test]
    fn kinks_and_ties() {
        let text = "func @f(%x: f64, %y: f64) -> f64 {
           %m = max %x, %y
           %c = lt %x, %y
           %r = if %c { %p = add %x, 1.0  yield %p } else { yield %m }
           return %r
         }";
        let kinds =
            |args: &[f64]| found(text, args).into_iter().map(|f| f.kind).collect::<Vec<_>>();
        let max = FindingKind::Kink { operation: "max", taken: "a tie goes wholly to b" };
        assert_eq!(kinds(&[1.0, 2.0]), []);
        assert_eq!(kinds(&[2.0, 2.0]), [max, FindingKind::Tie]);
        assert_eq!(kinds(&[f64::INFINITY, f64::INFINITY]), []);
    }
}
