//! Elementary functions become their IR programs, in place.
//!
//! Runs after differentiation (the rule table knows `exp` itself, not its polynomial) and changes no
//! bit: the interpreter executes these same programs.

use super::copy::{Copier, rebuild};
use crate::ir::{Builder, Func, Inst, Module, Op};
use crate::math;
use std::borrow::Cow;

/// Expands every function of a module, and adds the functions that the programs call.
pub fn module(module: &Module) -> Module {
    let mut funcs: Vec<Func> = module.funcs.iter().map(|f| func(f).into_owned()).collect();
    let mut helpers: Vec<&'static Func> = Vec::new();
    for func in &funcs {
        func.body.walk(&mut |inst| {
            if let Op::Call(name) = &inst.op {
                let missing = |h: &&'static Func| {
                    module.func(&h.name).is_none() && helpers.iter().all(|k| k.name != h.name)
                };
                let found = math::helper(name).filter(missing);
                helpers.extend(found);
            }
        });
    }
    funcs.extend(helpers.into_iter().cloned());
    Module { funcs, loops: module.loops.clone() }
}

/// Expands one function; one without elementary functions stays as it is.
pub fn func(from: &Func) -> Cow<'_, Func> {
    let mut any = false;
    from.body.walk(&mut |inst| any |= program_of(inst).is_some());
    if !any {
        return Cow::Borrowed(from);
    }
    Cow::Owned(rebuild(from, &from.name, &mut |copier, b, inst| elementary(from, copier, b, inst)))
}

/// The hook: an elementary function is replaced by its program, which may use others.
fn elementary(func: &Func, copier: &mut Copier, b: &mut Builder, inst: &Inst) -> bool {
    let Some(program) = program_of(inst) else { return false };
    let args = copier.all(func, b, &inst.args);
    let results =
        Copier::of(program, &args)
            .hidden_in(b.span())
            .body(program, b, &mut |c, b, i| elementary(program, c, b, i));
    copier.bind(inst.results[0], results[0]);
    if let Some(name) = func.name_of(inst.results[0]) {
        b.name(results[0], &name);
    }
    true
}

fn program_of(inst: &Inst) -> Option<&'static Func> {
    match inst.op {
        Op::Prim(prim) => math::find(prim),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{parse, verify};
    use crate::ops::Scalar;

    #[test]
    fn expansion_changes_no_bit() {
        let text = "
            func @f(%x: f64, %n: i64) -> (f64, f64) {
              %s = for %i in 0..%n carry (%a = %x) {
                %e = exp %a
                %big = gt %e, 2.0
                %b = if %big { %l = log %e  yield %l } else { %t = tanh %a  yield %t }
                %c = sin %b
                %d = cos %c
                yield %d
              }
              %k = exp 1.5
              return %s, %k
            }";
        let before = parse::module(text).unwrap();
        let after = module(&before);
        verify::module(&after).unwrap();
        after.funcs[0].body.walk(&mut |inst| assert!(program_of(inst).is_none()));
        for x in [0.0, -0.0, 0.5, -3.0, 1e300, f64::INFINITY, f64::NAN, 1e7, 5e-324] {
            for n in 0..4 {
                let run = |m: &Module| -> Vec<Scalar> {
                    let out = Interp::new(m).call("f", vec![Val::f64(x), Val::i64(n)]).unwrap();
                    let scalar = |v: Val| match v {
                        Val::Scalar(s) => s,
                        _ => unreachable!(),
                    };
                    out.into_iter().map(scalar).collect()
                };
                assert_eq!(run(&before), run(&after), "x = {x}, n = {n}");
            }
        }
    }
}
