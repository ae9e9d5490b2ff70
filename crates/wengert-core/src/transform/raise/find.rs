//! Which loops are operations on arrays.

use super::look::{Index, Look};
use crate::ir::{Block, Inst, Op, Value, uses};
use crate::ops::Prim;
use rustc_hash::FxHashMap as HashMap;

/// The fewest iterations of a loop that is worth it, where their number is known.
const WORTH: i64 = 8;

/// What a loop is.
pub(super) enum Plan {
    /// Elements of arrays that are written one by one.
    Stores(Stores),
    /// Sums over the rows of a matrix.
    Rows(Rows),
    /// Rows of a matrix added to a vector.
    Columns(Columns),
}

/// Every array that a loop writes is written once in each iteration, at its counter or counters.
pub(super) struct Stores {
    /// One counter, or those of two loops of which the outer one does nothing else.
    pub(super) counters: Vec<Value>,
    pub(super) writes: Vec<Write>,
    /// Arrays that stay as they are: carry, and what it is in the loop.
    pub(super) unchanged: Vec<(usize, Value)>,
}

/// An array that a loop writes.
pub(super) struct Write {
    pub(super) carry: usize,
    /// What it is in an iteration, before and after.
    pub(super) versions: [Value; 2],
    pub(super) value: Value,
    pub(super) offsets: Vec<i64>,
    /// Whether nothing of what was there is left.
    pub(super) whole: bool,
}

/// A matrix that a loop reads row by row: an element of it is at the counters and these constants.
pub(super) struct Matrix {
    pub(super) array: Value,
    pub(super) offsets: [i64; 2],
    pub(super) whole: [bool; 2],
}

/// A loop with a loop inside that adds the products of a row and a vector to a number.
pub(super) struct Rows {
    pub(super) counters: [Value; 2],
    /// The range of the loop inside.
    pub(super) range: [Value; 2],
    pub(super) sum: Value,
    pub(super) start: Value,
    pub(super) matrix: Matrix,
    pub(super) factor: Value,
}

/// A loop with a loop inside that adds a multiple of a row to a vector.
pub(super) struct Columns {
    pub(super) counters: [Value; 2],
    pub(super) range: [Value; 2],
    pub(super) carry: usize,
    pub(super) inner: Value,
    pub(super) matrix: Matrix,
    pub(super) factor: Value,
}

impl Plan {
    /// What a loop is, if it is any of these.
    pub(super) fn of(look: &mut Look, inst: &Inst) -> Option<Plan> {
        let body = &inst.blocks[0];
        let exits = body.insts.iter().any(|i| i.op == Op::ExitIf);
        if inst.op != Op::For || body.parallel || exits || look.is_short(inst, WORTH) {
            return None;
        }
        let rows = look.rows(inst).map(Plan::Rows);
        let columns = || look.columns(inst).map(Plan::Columns);
        let found = rows.or_else(columns);
        found.or_else(|| look.stores(inst).map(Plan::Stores))
    }
}

fn only_loop(body: &Block) -> Option<&Inst> {
    let mut loops = body.insts.iter().filter(|i| !i.blocks.is_empty());
    let inner = loops.next().filter(|i| i.op == Op::For)?;
    (loops.next().is_none() && !inner.blocks[0].parallel).then_some(inner)
}

impl Look<'_> {
    /// A product of which one factor is an element of a matrix at the two counters.
    fn matrix(&self, v: Value, counters: [Value; 2]) -> Option<Matrix> {
        let inst = self.maker(v).filter(|inst| inst.op == Op::Load)?;
        let array = inst.args[0];
        let index = self.place(array, &inst.args[1..])?;
        let [row, column] = index[..] else { return None };
        if [row.of, column.of] != counters.map(Some) || self.inside.contains(&array) {
            return None;
        }
        let sizes = self.sizes(array)?;
        let offsets = [row.offset, column.offset];
        let whole = [0, 1].map(|k| self.is_whole(counters[k], offsets[k], &sizes[k]));
        Some(Matrix { array, offsets, whole })
    }

    fn is_used_once(&self, block: &Block, v: Value) -> bool {
        uses::counts(block).get(&v) == Some(&1)
    }

    fn rows(&self, inst: &Inst) -> Option<Rows> {
        let i = inst.blocks[0].params[0];
        inst.blocks[0].insts.iter().filter(|inner| inner.op == Op::For).find_map(|inner| {
            let body = &inner.blocks[0];
            let ([sum], [j, carry], [next]) =
                (&inner.results[..], &body.params[..], &body.yields[..])
            else {
                return None;
            };
            let range = [inner.args[0], inner.args[1]];
            let mut quiet = body.insts.iter().all(|inst| self.is_quiet(inst));
            quiet &= !range.iter().any(|v| self.inside.contains(v));
            if !quiet || body.parallel || self.is_short(inner, WORTH) {
                return None;
            }
            let last = self.maker(*next).filter(|last| last.op == Op::Prim(Prim::Fma))?;
            if last.args[2] != *carry || !self.is_used_once(body, *carry) {
                return None;
            }
            let (start, counters) = (inner.args[2], [i, *j]);
            let factors = [(last.args[0], last.args[1]), (last.args[1], last.args[0])];
            factors.into_iter().find_map(|(matrix, factor)| {
                let matrix = self.matrix(matrix, counters)?;
                let fits = self.is_vector(factor, &[*j]) && self.is_vector(start, &[i]);
                fits.then_some(Rows { counters, range, sum: *sum, start, matrix, factor })
            })
        })
    }

    fn columns(&self, inst: &Inst) -> Option<Columns> {
        let outer = &inst.blocks[0];
        let inner = only_loop(outer)?;
        let body = &inner.blocks[0];
        let ([made], [j, vector], [next]) =
            (&inner.results[..], &body.params[..], &body.yields[..])
        else {
            return None;
        };
        let carry = outer.yields.iter().position(|y| y == made)?;
        let (k, whole) = (outer.params[0], outer.params[carry + 1]);
        let range = [inner.args[0], inner.args[1]];
        let alone = inner.args[2] == whole
            && self.is_used_once(outer, whole)
            && self.is_used_once(outer, *made);
        let others = outer.insts.iter().filter(|i| i.blocks.is_empty());
        let mut quiet = others.clone().all(|inst| self.is_quiet(inst));
        quiet &= !range.iter().any(|v| self.inside.contains(v));
        // Only numbers are left for the loop itself.
        let numbers = inst
            .results
            .iter()
            .enumerate()
            .all(|(n, r)| n == carry || self.func.ty(*r).is_scalar());
        let store = self.maker(*next).filter(|store| store.op == Op::Store)?;
        let rest = body.insts.iter().filter(|i| !std::ptr::eq(*i, store));
        // The vector has the elements of the array before the loop.
        let sizes = self.shapes.shape(inst.args[carry + 2]);
        let [size] = &sizes[..] else { return None };
        let at = |index: &Value| self.index(*index) == Index { of: Some(*j), offset: 0 };
        if !alone
            || !quiet
            || !numbers
            || self.is_short(inner, WORTH)
            || body.parallel
            || store.args[0] != *vector
            || !at(&store.args[1])
            || !self.is_whole(*j, 0, size)
        {
            return None;
        }
        let last = self.maker(store.args[2]).filter(|last| last.op == Op::Prim(Prim::Fma))?;
        let before = self.maker(last.args[2]).filter(|i| i.op == Op::Load)?;
        let reads = before.args[0] == *vector && at(&before.args[1]);
        let uses_of = |v: &Value| uses::counts(body).get(v).copied().unwrap_or(0);
        let quiet = rest.filter(|i| !std::ptr::eq(*i, before)).all(|i| self.is_quiet(i));
        if !reads || !quiet || uses_of(vector) != 2 || uses_of(next) != 1 {
            return None;
        }
        let counters = [k, *j];
        let factors = [(last.args[0], last.args[1]), (last.args[1], last.args[0])];
        factors.into_iter().find_map(|(matrix, factor)| {
            let matrix = self.matrix(matrix, counters)?;
            let fits = self.is_vector(factor, &[k]);
            fits.then_some(Columns { counters, range, carry, inner: *made, matrix, factor })
        })
    }

    fn stores(&mut self, inst: &Inst) -> Option<Stores> {
        let outer = &inst.blocks[0];
        let mut counters = vec![outer.params[0]];
        let mut body = outer;
        if outer.insts.iter().any(|i| !i.blocks.is_empty()) {
            let inner = only_loop(outer)?;
            let others = outer.insts.iter().filter(|i| i.blocks.is_empty());
            let plain = inner.args[2..] == outer.params[1..] && inner.results == outer.yields;
            let outside = !inner.args[..2].iter().any(|v| self.inside.contains(v));
            let numbers = inst.results.iter().any(|r| self.func.ty(*r).is_scalar());
            let quiet = others.clone().all(|i| self.is_quiet(i));
            if !plain || !outside || numbers || !quiet || self.is_short(inner, WORTH) {
                return None;
            }
            body = &inner.blocks[0];
            counters.push(body.params[0]);
            if body.insts.iter().any(|i| !i.blocks.is_empty()) {
                return None;
            }
        }
        let mut found = Stores { counters, writes: Vec::new(), unchanged: Vec::new() };
        let mut stores = HashMap::default();
        for (carry, (param, next)) in body.params[1..].iter().zip(&body.yields).enumerate() {
            if !self.func.ty(*param).is_array() {
                continue;
            }
            let first = inst.args[carry + 2];
            self.first.insert(*param, first);
            if param == next {
                found.unchanged.push((carry, *param));
                continue;
            }
            let store = self.maker(*next).filter(|i| i.op == Op::Store && i.args[0] == *param)?;
            let (value, at) = store.args[1..].split_last()?;
            let index = self.place(*param, at)?;
            let along =
                index.iter().map(|index| index.of).eq(found.counters.iter().map(|c| Some(*c)));
            if !along || uses::counts(body).get(next) != Some(&1) {
                return None;
            }
            let offsets: Vec<i64> = index.iter().map(|index| index.offset).collect();
            let sizes = self.shapes.shape(first);
            let all = found.counters.iter().zip(&offsets).zip(&sizes);
            let whole = all.clone().all(|((c, offset), size)| self.is_whole(*c, *offset, size));
            stores.insert(*param, index);
            let versions = [*param, *next];
            found.writes.push(Write { carry, versions, value: *value, offsets, whole });
        }
        if found.writes.is_empty() {
            return None;
        }
        let next: Vec<Value> = found.writes.iter().map(|w| w.versions[1]).collect();
        for i in &body.insts {
            let stored = i.results.first().is_some_and(|r| next.contains(r));
            if !stored && !self.is_quiet(i) {
                return None;
            }
            for (at, a) in i.args.iter().enumerate() {
                let Some(index) = stores.get(a).filter(|_| !(stored && at == 0)) else { continue };
                // What is written is read where it will be written, and nowhere else.
                let here = i.op == Op::Load && self.place(*a, &i.args[1..]).as_ref() == Some(index);
                if !here && !matches!(i.op, Op::Dim(_)) {
                    return None;
                }
            }
        }
        // What is read before it is written is what was there; behind that, nothing reads it.
        let late = found.writes.iter().any(|w| {
            let at = body.insts.iter().position(|i| i.results.first() == Some(&w.versions[1]));
            at.is_some_and(|at| {
                body.insts[at + 1..].iter().any(|i| i.args.contains(&w.versions[0]))
            })
        });
        let vectors = found.writes.iter().all(|w| self.is_vector(w.value, &found.counters));
        (!late && vectors).then_some(found)
    }
}
