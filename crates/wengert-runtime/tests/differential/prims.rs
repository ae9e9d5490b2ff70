//! Every row of the table, over special and random inputs, with variables and with constants.

use crate::random::{FLOATS, INTS, Random, SINGLES};
use crate::{Arg, Both, all_or};
use std::time::{SystemTime, UNIX_EPOCH};
use wengert_core::math;
use wengert_core::ops::{Prim, Scalar};

/// Inputs a row is tried at.
fn inputs(letters: &[char], random: &mut Random) -> Vec<Vec<Scalar>> {
    let special = |letter: char, few: bool| -> Vec<Scalar> {
        let step = if few { 2 } else { 1 };
        match letter {
            'f' => FLOATS.iter().step_by(step).map(|x| Scalar::F64(*x)).collect(),
            's' => SINGLES.iter().step_by(step).map(|x| Scalar::F32(*x)).collect(),
            'i' => INTS.iter().step_by(step).map(|x| Scalar::I64(*x)).collect(),
            _ => vec![Scalar::Bool(false), Scalar::Bool(true)],
        }
    };
    let mut all: Vec<Vec<Scalar>> = vec![Vec::new()];
    for letter in letters {
        let choices = special(*letter, letters.len() > 2);
        let extended = all.iter().flat_map(|prefix| {
            choices.iter().map(move |c| prefix.iter().copied().chain([*c]).collect())
        });
        all = extended.collect();
    }
    for _ in 0..2000 {
        let any = letters.iter().map(|letter| match letter {
            'f' => Scalar::F64(random.float()),
            's' => Scalar::F32(random.single()),
            'i' => Scalar::I64(random.int()),
            _ => Scalar::Bool(random.bits() & 1 == 1),
        });
        all.push(any.collect());
    }
    all
}

fn type_name(letter: char) -> &'static str {
    match letter {
        'f' => "f64",
        's' => "f32",
        'i' => "i64",
        _ => "bool",
    }
}

fn arg(s: &Scalar) -> Arg<'static> {
    match s {
        Scalar::F64(x) => Arg::F64(*x),
        Scalar::F32(x) => Arg::F32(*x),
        Scalar::I64(x) => Arg::I64(*x),
        Scalar::Bool(x) => Arg::Bool(*x),
    }
}

/// The signatures of a row: `*` replaced by each scalar, `f` by either float (`f` is then f64, `s` f32).
fn signatures(prim: Prim) -> Vec<(Vec<char>, char)> {
    let (inputs, output) = prim.signature().split_once('>').unwrap();
    let output = output.chars().next().unwrap();
    let any = match inputs {
        _ if inputs.contains('*') => vec!['f', 's', 'i', 'b'],
        _ if inputs.contains('f') => vec!['f', 's'],
        _ => vec!['f'],
    };
    let replace = |c: char, by: char| match c {
        '*' => by,
        'f' if by == 's' => 's',
        'd' => 'f',
        _ => c,
    };
    any.into_iter()
        .map(|by| (inputs.chars().map(|c| replace(c, by)).collect(), replace(output, by)))
        .collect()
}

#[test]
fn rows_of_variables() {
    let mut random = Random(1);
    let (mut texts, mut kinds) = (Vec::new(), Vec::new());
    for prim in Prim::ALL {
        for (letters, output) in signatures(*prim) {
            let params: Vec<String> =
                (0..letters.len()).map(|k| format!("%x{k}: {}", type_name(letters[k]))).collect();
            let args: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
            let text = format!(
                "func @f({}) -> {} {{ %y = {} {}  return %y }}",
                params.join(", "),
                type_name(output),
                prim.name(),
                args.join(", ")
            );
            texts.push(text);
            kinds.push(letters);
        }
    }
    for (both, letters) in Both::all(&texts).iter().zip(kinds) {
        for input in inputs(&letters, &mut random) {
            let args: Vec<Arg> = input.iter().map(arg).collect();
            let _ = both.agree("f", &args);
        }
    }
}

/// One operand is a constant: other code is generated for some rows. Each run takes a third of the constants, by the time, and a
/// long one all.
#[test]
fn rows_with_a_constant() {
    let mut random = Random(2);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs() as usize);
    let (first, step) = all_or((0, 1), (now % 3, 3));
    println!("every constant from {first} in steps of {step}");
    let (mut texts, mut kinds) = (Vec::new(), Vec::new());
    for prim in Prim::ALL.iter().filter(|p| p.arity() == 2) {
        for ((letters, output), which) in
            signatures(*prim).into_iter().flat_map(|s| [(s.clone(), 0), (s, 1)])
        {
            let all: Vec<Scalar> = match letters[which] {
                'f' => FLOATS.iter().map(|x| Scalar::F64(*x)).collect(),
                's' => SINGLES.iter().map(|x| Scalar::F32(*x)).collect(),
                'i' => INTS.iter().map(|x| Scalar::I64(*x)).collect(),
                _ => vec![Scalar::Bool(true), Scalar::Bool(false)],
            };
            let constants: Vec<Scalar> = match all.len() {
                ..3 => all,
                _ => all.into_iter().skip(first).step_by(step).collect(),
            };
            let mut text = String::new();
            for (k, c) in constants.iter().enumerate() {
                let args = if which == 0 { format!("{c}, %x") } else { format!("%x, {c}") };
                text += &format!(
                    "func @f{k}(%x: {}) -> {} {{ %y = {} {args}  return %y }}\n",
                    type_name(letters[1 - which]),
                    type_name(output),
                    prim.name(),
                );
            }
            texts.push(text);
            kinds.push((letters[1 - which], constants.len()));
        }
    }
    for (both, (letter, constants)) in Both::all(&texts).iter().zip(kinds) {
        for input in inputs(&[letter], &mut random).iter().take(300) {
            for k in 0..constants {
                let _ = both.agree(&format!("f{k}"), &[arg(&input[0])]);
            }
        }
    }
}

/// GCC fuses these with the sums, though told not to, where it computes them in lanes.
#[test]
fn products_in_sums_and_differences() {
    let both = Both::new(
        "func @numbers(%a: f64, %b: f64, %c: f64, %d: f64) -> (f64, f64) {
           %m = mul %a, 0.7182818284590452
           %n = mul %b, 0.14159265358979312
           %x = add %m, %c
           %y = sub %n, %d
           return %x, %y
         }
         func @elements(%u: [f64], %v: [f64], %w: [f64], %n: i64) -> [f64] {
           %k = imul %n, 2
           %z = fill %k, 0.0
           %r = for %i in 0..%n carry (%p = %z) {
             %e = imul %i, 2
             %o = iadd %e, 1
             %ue = load %u, %e
             %ve = load %v, %e
             %we = load %w, %e
             %me = mul %ue, %ve
             %se = add %me, %we
             %uo = load %u, %o
             %vo = load %v, %o
             %wo = load %w, %o
             %mo = mul %uo, %vo
             %so = sub %mo, %wo
             %p1 = store %p, %e, %se
             %p2 = store %p1, %o, %so
             yield %p2
           }
           return %r
         }",
    );
    let mut random = Random(3);
    let mut any = || (random.bits() % 100_000) as f64 / 7919.0 - 5.0;
    for _ in 0..50 {
        let args = [any(), any(), any(), any()].map(Arg::F64);
        let _ = both.agree("numbers", &args).unwrap();
    }
    let [u, v, w] = [(); 3].map(|()| (0..200).map(|_| any()).collect::<Vec<f64>>());
    let args = [Arg::Array(&u), Arg::Array(&v), Arg::Array(&w), Arg::I64(100)];
    let _ = both.agree("elements", &args).unwrap();
}

/// Comparisons that feed a branch and a select directly.
#[test]
fn conditions() {
    let (mut texts, mut kinds) = (Vec::new(), Vec::new());
    let rows: Vec<&Prim> = Prim::ALL.iter().filter(|p| p.signature().ends_with(">b")).collect();
    for prim in rows {
        for (letters, _) in signatures(*prim) {
            let params: Vec<String> =
                (0..letters.len()).map(|k| format!("%x{k}: {}", type_name(letters[k]))).collect();
            let args: Vec<String> = (0..letters.len()).map(|k| format!("%x{k}")).collect();
            let text = format!(
                "func @f({}) -> (f64, i64, bool) {{
               %c = {} {}
               %n = not %c
               %v = if %c {{ yield 1.5 }} else {{ yield -0.0 }}
               %s = select %n, 3, 4
               return %v, %s, %c
             }}",
                params.join(", "),
                prim.name(),
                args.join(", ")
            );
            texts.push(text);
            kinds.push(letters);
        }
    }
    for (both, letters) in Both::all(&texts).iter().zip(kinds) {
        for input in inputs(&letters, &mut Random(3)) {
            let args: Vec<Arg> = input.iter().map(arg).collect();
            both.agree("f", &args).unwrap();
        }
    }
}

/// One row after another: compilers have their own ideas of what two operations make together. Three of them, so that what
/// two numbers differ in is seen.
#[test]
fn rows_of_rows() {
    let plain = |p: &&Prim| p.arity() == 1 && math::find(**p).is_none();
    let rows: Vec<(Prim, char, char)> = Prim::ALL
        .iter()
        .filter(plain)
        .flat_map(|p| signatures(*p).into_iter().map(|(from, to)| (*p, from[0], to)))
        .collect();
    let (mut texts, mut kinds) = (Vec::new(), Vec::new());
    for (first, from, between) in &rows {
        let mut text = String::new();
        let seconds: Vec<_> = rows.iter().filter(|(_, takes, _)| takes == between).collect();
        for (k, (second, _, to)) in seconds.iter().enumerate() {
            // The sign of a zero.
            let (more, result) = match to {
                'f' => ("%z = div 1.0, %y", "%y, %z"),
                _ => ("", "%y, 0.0"),
            };
            text += &format!(
                "func @f{k}(%x: {}) -> ({}, f64) {{ %a = {} %x  %y = {} %a  {more}  return {result} }}\n",
                type_name(*from),
                type_name(*to),
                first.name(),
                second.name(),
            );
        }
        texts.push(text);
        kinds.push((*from, seconds.len()));
    }
    let mut random = Random(3);
    for (both, (letter, count)) in Both::all(&texts).iter().zip(kinds) {
        for input in inputs(&[letter], &mut random).iter().take(120) {
            for k in 0..count {
                let _ = both.agree(&format!("f{k}"), &[arg(&input[0])]);
            }
        }
    }
}
