//! Derivatives of functions written for variables, without a tape in sight.

use super::Tape;
use super::error::Error;
use super::recorder::is_above;
use super::var::Var;
use std::panic::Location;

/// The gradient of a function of several numbers.
///
/// ```
/// let d = wengert::tape::grad(|x| x[0] * x[1].sin(), &[2.0, 0.0])?;
/// assert_eq!(d, [0.0, 2.0]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn grad(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<Vec<f64>, Error> {
    Ok(value_and_grad(f, x)?.1)
}

/// The value of a function and its gradient.
///
/// ```
/// let (y, d) = wengert::tape::value_and_grad(|x| x[0] * x[0] + x[1], &[3.0, 1.0])?;
/// assert_eq!((y, d), (10.0, vec![6.0, 1.0]));
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn value_and_grad(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
    let tape = Tape::new();
    let x = tape.var_vec(x);
    let y = seen_from(&tape, f(&x));
    Ok((y.value(), tape.reverse(&[(y, 1.0)])?.wrt_all(&x)?))
}

/// A result of an earlier tape depends on nothing that is on this one.
#[track_caller]
fn seen_from(tape: &Tape, y: Var) -> Var {
    match is_above(tape.id, &[y], Location::caller()) {
        Ok(_) if !tape.owns(y) => Var::constant(y.value()),
        _ => y,
    }
}

/// The Jacobian of a function with several results: a row for each.
///
/// ```
/// let j = wengert::tape::jacobian(|x| vec![x[0] * x[1], x[0] + x[1]], &[2.0, 3.0])?;
/// assert_eq!(j, [[3.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn jacobian(f: impl FnOnce(&[Var]) -> Vec<Var>, x: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
    let tape = Tape::new();
    let x = tape.var_vec(x);
    let y: Vec<Var> = f(&x).into_iter().map(|y| seen_from(&tape, y)).collect();
    if x.len() < y.len() {
        let mut columns = Vec::with_capacity(x.len());
        for x in &x {
            columns.push(tape.forward(&[(*x, 1.0)], &y)?);
        }
        return Ok((0..y.len())
            .map(|row| columns.iter().map(|column| column[row]).collect())
            .collect());
    }
    let seeds: Vec<[(Var, f64); 1]> = y.iter().map(|y| [(*y, 1.0)]).collect();
    let seeds: Vec<&[(Var, f64)]> = seeds.iter().map(|seed| &seed[..]).collect();
    tape.reverse_many(&seeds)?.iter().map(|row| row.wrt_all(&x)).collect()
}

/// The gradient as variables of the tape below.
#[track_caller]
fn slopes(f: impl FnOnce(&[Var]) -> Var, x: &[Var]) -> Result<Vec<Var>, Error> {
    let tape = Tape::new();
    let x: Vec<Var> = x.iter().map(|x| tape.var(*x)).collect();
    let y = f(&x);
    y.checked(Location::caller())?;
    y.backward_var()?.wrt_all(&x)
}

/// The Hessian of a function of several numbers.
///
/// ```
/// let h = wengert::tape::hessian(|x| x[0].powi(3) * x[1], &[2.0, 5.0])?;
/// assert_eq!(h, [[60.0, 12.0], [12.0, 0.0]]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn hessian(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
    let mut failed = None;
    let h = jacobian(
        |x| {
            slopes(f, x).unwrap_or_else(|e| {
                failed = Some(e);
                Vec::new()
            })
        },
        x,
    );
    failed.map_or(h, Err)
}

/// The Hessian times a direction.
///
/// ```
/// let hv = wengert::tape::hvp(|x| x[0].powi(3) * x[1], &[2.0, 5.0], &[1.0, 10.0])?;
/// assert_eq!(hv, [60.0 + 120.0, 12.0]);
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn hvp(f: impl FnOnce(&[Var]) -> Var, x: &[f64], direction: &[f64]) -> Result<Vec<f64>, Error> {
    if x.len() != direction.len() {
        let what = "numbers of a direction";
        return Err(Error::Count { what, wanted: x.len(), given: direction.len() });
    }
    let tape = Tape::new();
    let x = tape.var_vec(x);
    let d = slopes(f, &x)?;
    let along = d.iter().zip(direction).map(|(d, v)| *d * *v).sum::<Var>();
    tape.reverse(&[(along, 1.0)])?.wrt_all(&x)
}

/// All third derivatives: entry `[i][j][k]` is by `x[i]`, `x[j]` and `x[k]`.
///
/// ```
/// let t = wengert::tape::third(|x| x[0].powi(3) * x[1], &[2.0, 5.0])?;
/// assert_eq!((t[0][0][0], t[0][0][1], t[1][0][1]), (30.0, 12.0, 0.0));
/// # Ok::<(), wengert::tape::Error>(())
/// ```
#[track_caller]
pub fn third(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<Vec<Vec<Vec<f64>>>, Error> {
    let n = x.len();
    let mut failed = None;
    let rows = |x: &[Var]| -> Result<Vec<Var>, Error> {
        // The Hessian, row by row, as variables of the outermost tape.
        let middle = Tape::new();
        let lifted: Vec<Var> = x.iter().map(|x| middle.var(*x)).collect();
        let d = slopes(f, &lifted)?;
        let mut all = Vec::with_capacity(n * n);
        for d in d {
            all.extend(d.backward_var()?.wrt_all(&lifted)?);
        }
        Ok(all)
    };
    let j = jacobian(
        |x| {
            rows(x).unwrap_or_else(|e| {
                failed = Some(e);
                Vec::new()
            })
        },
        x,
    );
    if let Some(failed) = failed {
        return Err(failed);
    }
    Ok(j?.chunks(n.max(1)).map(<[Vec<f64>]>::to_vec).collect())
}
