//! Elementary functions become their IR programs, in place.
//!
//! Runs after differentiation (the rule table knows `exp` itself, not its polynomial) and changes no
//! bit: the interpreter executes these same programs.

use super::copy::{Copier, rebuild};
use crate::ir::{Builder, Func, Inst, Module, Op, Type, Value};
use crate::math;
use crate::ops::Prim;
use std::borrow::Cow;

/// Expands every function of a module, and adds the functions that the programs call.
pub fn module(module: &Module) -> Module {
    let mut funcs: Vec<Func> = module.funcs.iter().map(|f| func(f).into_owned()).collect();
    // What is called may call on.
    let mut looked_at = 0;
    while looked_at < funcs.len() {
        let mut wanted: Vec<&'static Func> = Vec::new();
        funcs[looked_at].body.walk(&mut |inst| {
            if let Op::Call(name) = &inst.op {
                wanted.extend(math::called(name));
            }
        });
        for part in wanted {
            if funcs.iter().all(|f| f.name != part.name) {
                funcs.push(func(part).into_owned());
            }
        }
        looked_at += 1;
    }
    Module { funcs, ..module.clone() }
}

/// More elementary functions than this in one function are called instead of copied: code grows by a
/// hundred instructions with each, and the time to compile it with that.
pub(super) const MOST_COPIES: usize = 48;

/// Expands one function; one without elementary functions stays as it is.
pub fn func(from: &Func) -> Cow<'_, Func> {
    let mut count = 0;
    from.body.walk(&mut |inst| count += usize::from(program_of(from, inst).is_some()));
    if count == 0 {
        return Cow::Borrowed(from);
    }
    let how: How = if count > MOST_COPIES { called } else { copied };
    Cow::Owned(rebuild(from, &from.name, &mut |copier, b, inst| {
        let Some(result) = replaced(from, copier, b, inst, how) else { return false };
        if let Some(name) = from.name_of(inst.results[0]) {
            b.name(result, &name);
        }
        true
    }))
}

type How = fn(&Func, &mut Builder, &[Value]) -> Value;

/// What stands for an elementary function in the copy; nothing for other instructions.
fn replaced(
    from: &Func,
    copier: &mut Copier,
    b: &mut Builder,
    inst: &Inst,
    how: How,
) -> Option<Value> {
    let program = program_of(from, inst)?;
    let mut args = copier.all(from, b, &inst.args);
    // Single-precision numbers are computed with in double precision.
    let single = from.ty(inst.results[0]) == Type::F32;
    for a in args.iter_mut().filter(|_| single) {
        if b.ty(*a) == Type::F32 {
            *a = b.prim(Prim::Promote, &[*a]);
        }
    }
    let mut result = how(program, b, &args);
    if single {
        result = b.prim(Prim::Demote, &[result]);
    }
    copier.bind(inst.results[0], result);
    Some(result)
}

/// The program in place of the operation, and so for operations within the program.
fn copied(program: &Func, b: &mut Builder, args: &[Value]) -> Value {
    let place = b.span();
    Copier::of(program, args).hidden_in(place).body(program, b, &mut |copier, b, inst| {
        replaced(program, copier, b, inst, copied).is_some()
    })[0]
}

/// A call of the program.
fn called(program: &Func, b: &mut Builder, args: &[Value]) -> Value {
    let name = math::callable(program);
    b.inst(Op::Call(name), args.to_vec(), &program.results, Vec::new())[0]
}

/// The program of an elementary function of numbers; on arrays it is for `elementwise` to take apart first.
fn program_of(func: &Func, inst: &Inst) -> Option<&'static Func> {
    match inst.op {
        Op::Prim(prim) if func.ty(inst.results[0]).is_scalar() => math::find(prim),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interp, Val};
    use crate::ir::{parse, verify};
    use crate::ops::{Prim, Scalar};

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
        after.funcs[0].body.walk(&mut |inst| assert!(program_of(&after.funcs[0], inst).is_none()));
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

    /// Every row that is a program, with what it calls.
    #[test]
    fn every_program_expands() {
        let rows = Prim::ALL.iter().filter(|p| math::find(**p).is_some());
        for prim in rows {
            let letters: Vec<char> =
                prim.signature().chars().take_while(|letter| *letter != '>').collect();
            let ty = |letter: &char| if *letter == 'i' { "i64" } else { "f64" };
            let params: Vec<String> =
                letters.iter().enumerate().map(|(k, c)| format!("%x{k}: {}", ty(c))).collect();
            let args: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
            let text = format!(
                "func @f({}) -> f64 {{ %y = {} {}  return %y }}",
                params.join(", "),
                prim.name(),
                args.join(", ")
            );
            let before = parse::module(&text).unwrap();
            let after = module(&before);
            verify::module(&after).unwrap();
            let body = |f: &Func| f.body.walk(&mut |inst| assert!(program_of(f, inst).is_none()));
            after.funcs.iter().for_each(body);
            for x in [0.0, -0.0, 0.3, -3.0, 1e300, f64::INFINITY, f64::NAN, 1e7, 5e-324] {
                for y in [2.5, -0.0, 1e-300, f64::NEG_INFINITY, -7.0] {
                    let run = |m: &Module| {
                        let value = |(k, c): (usize, &char)| match c {
                            'i' => Val::i64(y as i64),
                            _ => Val::f64(if k == 0 { x } else { y }),
                        };
                        let args = letters.iter().enumerate().map(value).collect();
                        match Interp::new(m).call("f", args).unwrap()[0] {
                            Val::Scalar(s) => s,
                            _ => unreachable!(),
                        }
                    };
                    assert_eq!(run(&before), run(&after), "{} at {x}, {y}", prim.name());
                }
            }
        }
    }

    #[test]
    fn programs_within_programs() {
        // `sigmoid` and `softplus` are written with `exp`: copied with it, or called and then expanded.
        for copies in [1, MOST_COPIES + 1] {
            let steps: String = (0..copies)
                .map(|k| format!("%s{k} = sigmoid %y{k}\n%y{} = softplus %s{k}\n", k + 1))
                .collect();
            let text = format!("func @f(%y0: f64) -> f64 {{\n{steps}return %y{copies}\n}}");
            let before = parse::module(&text).unwrap();
            let after = module(&before);
            verify::module(&after).unwrap();
            for func in &after.funcs {
                func.body
                    .walk(&mut |inst| assert!(program_of(func, inst).is_none(), "{}", func.name));
            }
            for x in [-50.0, -0.3, 0.0, 2.0, f64::INFINITY, f64::NAN] {
                let run = |m: &Module| match Interp::new(m).call("f", vec![Val::f64(x)]).unwrap()[0]
                {
                    Val::Scalar(y) => y,
                    _ => unreachable!(),
                };
                assert_eq!(run(&before), run(&after), "x = {x}");
            }
        }
    }

    #[test]
    fn many_are_called() {
        let steps: String =
            (0..MOST_COPIES as i32 + 1).map(|k| format!("%y{} = sin %y{k}\n", k + 1)).collect();
        let last = MOST_COPIES + 1;
        let text = format!("func @f(%y0: f64) -> f64 {{\n{steps}return %y{last}\n}}");
        let before = parse::module(&text).unwrap();
        let after = module(&before);
        verify::module(&after).unwrap();
        let names: Vec<&str> = after.funcs.iter().map(|f| &*f.name).collect();
        assert_eq!(names, ["f", "math.sin", "math.reduce_huge"]);
        for x in [0.4, 1e9, f64::NAN] {
            let run = |m: &Module| match Interp::new(m).call("f", vec![Val::f64(x)]).unwrap()[0] {
                Val::Scalar(y) => y,
                _ => unreachable!(),
            };
            assert_eq!(run(&before), run(&after));
        }
    }
}
