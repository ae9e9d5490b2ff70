//! What is known of a module because of who has made it.
//!
//! Reverse mode makes functions over chunks of a parallel loop. That no chunk touches what another does follows from the
//! loop they were made of, which has been looked at, and cannot be seen in the functions without doing
//! the transform again. So the transform says so, and keeps what it has made: a plan is *vouched for* in a module that holds
//! the code that was made with it, and nothing else. Nobody else can say it: it has no text form, and a function that was changed is not the one that
//! was made. All functions of the module count, because what a plan's functions are given comes from the others.
//!
//! The same goes for functions that record and reverse in one: that what they take from their tape is what they put there,
//! path by path, is known of those that reverse mode has made.

use super::func::{Func, LoopPlan, Module};
use super::types::Op;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Who has made a module. By default it is not known.
#[derive(Clone, Debug, Default)]
pub struct Origin(Option<Arc<Made>>);

/// What a transform has made.
#[derive(Debug)]
struct Made {
    funcs: Vec<Func>,
    plans: Vec<LoopPlan>,
}

impl Made {
    /// Whether these functions were made so, all of them.
    fn is_all_of(&self, funcs: &[Func]) -> bool {
        funcs.iter().all(|func| {
            let found = self.funcs.iter().find(|f| f.name == func.name);
            found.is_some_and(|found| func.has_code_of(found))
        })
    }
}

impl Module {
    /// Vouches for parallel plans among what has been added to a given module. Their loops must have been found
    /// independent.
    pub(crate) fn vouch(&mut self, given: &Module, plans: &[LoopPlan]) {
        // A function that was there before and calls what is made now would hand it what it likes.
        let mut calls = false;
        for func in &given.funcs {
            func.body.walk(&mut |inst| match &inst.op {
                Op::Call(name) => calls |= given.func(name).is_none() && self.func(name).is_some(),
                Op::Drive(name, _) => calls |= given.plan(name).is_none(),
                _ => {}
            });
        }
        let plans: Vec<LoopPlan> = plans.iter().filter(|p| p.parallel).cloned().collect();
        let vouches = !calls && !plans.is_empty();
        let funcs = || self.funcs.clone();
        self.origin = Origin(vouches.then(|| Arc::new(Made { funcs: funcs(), plans })));
    }

    /// A module of one function, which reverses what it records as reverse mode has made it.
    pub(crate) fn of_reversal(func: Func) -> Module {
        let mut module = Module::of(func);
        let made = Made { funcs: module.funcs.clone(), plans: Vec::new() };
        module.origin = Origin(Some(Arc::new(made)));
        module
    }

    /// Whether it is known that its functions take from a tape of their own what they have put there, on every path.
    pub fn reverses(&self) -> bool {
        self.origin.0.as_ref().is_some_and(|made| made.is_all_of(&self.funcs))
    }

    /// The plans that the transform which made the module vouches for: what is recorded and reversed
    /// by their functions can be so in several ranges at the same time. Those of another module, and of one that was changed
    /// since, are not among them.
    pub fn vouched(&self) -> Vec<&LoopPlan> {
        let Some(made) = self.origin.0.as_ref().filter(|made| made.is_all_of(&self.funcs)) else {
            return Vec::new();
        };
        self.loops.iter().filter(|plan| made.plans.contains(plan)).collect()
    }
}

/// Everything that decides what is made of a module: its text form, where it comes from in the user's source, and the
/// plans that are vouched for.
impl Hash for Module {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Module { funcs, externals, loops, rules, origin: _ } = self;
        (funcs, externals, loops, rules).hash(state);
        (self.vouched(), self.reverses()).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;
    use crate::transform::{batch, pipeline, vjp};
    use std::hash::DefaultHasher;

    const SQUARES: &str = "
        func @f(%x: [f64], %n: i64) -> [f64] {
          %out = fill %n, 0.0
          %r = parallel for %i in 0..%n carry (%o = %out) {
            %v = load %x, %i
            %w = mul %v, %v
            %o1 = store %o, %i, %w
            yield %o1
          }
          return %r
        }";

    fn hash(module: &Module) -> u64 {
        let mut hasher = DefaultHasher::new();
        module.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn only_what_was_made_is_known_to_reverse() {
        let original = parse::module(
            "func @f(%x: f64) -> f64 {
              %r = for %i in 0..3 carry (%y = %x) {
                %z = sin %y
                yield %z
              }
              return %r
            }",
        );
        let original = pipeline::module(&original.unwrap(), "f").unwrap();
        assert!(!original.reverses());
        let made = batch::gradients(&original, "f", &[0], &[0]).unwrap().unwrap();
        assert!(made.reverses());
        let read = parse::module(&made.to_string()).unwrap();
        assert!(!read.reverses() && hash(&made) != hash(&read));
        let mut changed = made.clone();
        changed.funcs[0].body.insts.pop();
        assert!(!changed.reverses());
    }

    #[test]
    fn only_what_was_made_is_vouched_for() {
        let original = parse::module(SQUARES).unwrap();
        assert!(original.vouched().is_empty());
        let made = vjp::vjp(&pipeline::run(&original, "f").unwrap(), &[0]).unwrap();
        assert_eq!(made.vouched().len(), 1);
        // The same text, written by anybody.
        let read = parse::module(&made.to_string()).unwrap();
        assert!(read.loops[0].parallel && read.vouched().is_empty());
        // Another function in the place of any of them, or one more.
        for k in 0..made.funcs.len() {
            let mut changed = made.clone();
            let name = changed.funcs[k].name.clone();
            changed.funcs[k] = original.funcs[0].clone();
            changed.funcs[k].name = name;
            assert!(changed.vouched().is_empty(), "{k}");
        }
        let mut more = made.clone();
        more.funcs.push(original.funcs[0].clone());
        assert!(more.vouched().is_empty());
        // One function less changes nothing; another plan is not the one that was made.
        let mut less = made.clone();
        less.funcs.pop();
        assert_eq!(less.vouched().len(), 1);
        let mut other = made.clone();
        other.loops[0].reverse = other.loops[0].record.clone();
        assert!(other.vouched().is_empty());
        // Whoever keeps what was compiled tells them apart.
        assert_eq!(hash(&made), hash(&made.clone()));
        let mut forged = made.clone();
        forged.origin = Origin::default();
        assert_ne!(hash(&made), hash(&forged));
    }

    /// One that was there before, and calls what is made later.
    #[test]
    fn nobody_hands_over_what_they_like() {
        let caller = "func @g(%x: [f64], %s: [f64], %t: tape) -> ([f64], tape) {
              %x_bar, %u = call @f.reverse(%x, %s, %t) : [f64], tape
              return %x_bar, %u
            }";
        let vouched = |text: &str| {
            let module = parse::module(text).unwrap();
            vjp::in_module(&module, "f", &[0]).unwrap().vouched().len()
        };
        assert_eq!(vouched(SQUARES), 1);
        assert_eq!(vouched(&format!("{SQUARES}{caller}")), 0);
    }

    #[test]
    fn everything_else_counts_in_the_hash() {
        let base = parse::module(SQUARES).unwrap();
        let named =
            |from: &str, to: &str| hash(&parse::module(&SQUARES.replace(from, to)).unwrap());
        assert_eq!(hash(&base), named("mul", "mul"));
        for (from, to) in [("mul", "add"), ("%out", "%put"), ("0.0", "-0.0"), ("parallel ", "")] {
            assert_ne!(hash(&base), named(from, to), "{from}");
        }
        // Where it stands in the source.
        assert_ne!(hash(&base), named("func @f", " func @f"));
    }
}
