//! Loops whose checks are made before them ([`crate::ahead::windows`]).
//!
//! An innermost `for` loop that reads and writes elements at indices that go up or down by one with its counter is
//! printed twice: first on slices that are just as long as the loop takes steps, where no index is checked, and behind that as it
//! is. The first runs where every slice is there; where one is not, some index is out of range or not
//! reached, and the second says which. Only then can a compiler use the vectors of a processor.
//!
//! Arrays that are only read have a slice for each index. Of an array that is written there are slices for indices
//! that differ by more than a constant, if they have no element in common.
//!
//! A loop that pushes one record of numbers per iteration, or pops one, does so in the same way: there is room for all of its
//! records before it runs, or they are taken back together ([`crate::ahead::tape`]).
//!
//! Elementary functions are compiled into the first version, in vectors where the compiler can, and called by the second.

use super::Printer;
use super::rows::literal;
use crate::ir::{Block, Inst, Op, Type, Value};
use crate::ops::{ArrayOp, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;

/// The fewest iterations of a loop that are worth it, where their number is known.
const WORTH: i64 = 8;

/// An index: the counter or its negative or neither, and values from outside the loop and a constant added to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Index {
    sign: i64,
    base: Option<Value>,
    offset: i64,
}

impl Index {
    fn constant(offset: i64) -> Index {
        Index { sign: 0, base: None, offset }
    }

    fn plus(self, other: Index) -> Option<Index> {
        let sign = self.sign + other.sign;
        if self.base.is_some() && other.base.is_some() || sign.abs() > 1 {
            return None;
        }
        let offset = self.offset.checked_add(other.offset)?;
        // So that sums of these and of what is small do not overflow.
        let base = self.base.or(other.base);
        (offset.abs() < 1 << 40).then_some(Index { sign, base, offset })
    }

    fn minus(self, other: Index) -> Option<Index> {
        let negative = Index { sign: -other.sign, offset: other.offset.checked_neg()?, ..other };
        if other.base.is_some() { None } else { self.plus(negative) }
    }
}

/// An element that a loop reads or writes.
struct Access {
    /// What reading it gives, or the next version of the array.
    result: Value,
    array: Value,
    index: Vec<Index>,
    /// By its number in row-major order.
    flat: bool,
    writes: bool,
}

/// Accesses to one slice.
struct Window {
    /// The index of its first element but for the counter, and how many more than the loop takes steps there are.
    first: Vec<Index>,
    more: i64,
    flat: bool,
    accesses: Vec<(Value, i64)>,
}

/// What is known of the body of a loop.
struct Look<'a> {
    counter: Value,
    /// Values of the loop and how each depends on the counter, where that is known.
    indices: HashMap<Value, Index>,
    /// Those that are sums checked for overflow.
    sums: Vec<Value>,
    conditions: HashMap<Value, &'a Inst>,
    inside: HashSet<Value>,
    /// The array outside that a value inside is a version of.
    arrays: HashMap<Value, Value>,
    accesses: Vec<Access>,
    /// Arrays that are used otherwise than by their elements.
    others: HashSet<Value>,
    asserted: Vec<Value>,
    /// What is done with tapes, and whether an iteration may end the loop.
    tapes: Vec<&'a Inst>,
    exits: bool,
}

/// How the loop being printed reaches elements.
#[derive(Default)]
pub(super) struct Unchecked {
    /// Elements, by what reading them gives or the version that writing them makes.
    pub(super) elements: HashMap<Value, String>,
    /// Sums that are known not to overflow.
    pub(super) sums: HashSet<Value>,
    /// Conditions that are known to hold.
    pub(super) held: HashSet<Value>,
    /// Whether iterations hand numbers on, each to the next.
    pub(super) recurs: bool,
    /// The record of an iteration, by the tape that pushing or popping it gives.
    pub(super) record: Option<(Value, String)>,
}

/// The first version of a loop.
pub(super) struct Entry {
    /// The number of its counter, which no other loop of the function has.
    id: u32,
    /// What stands before it; it leaves the block `'checks` where something is not as it should be.
    pub(super) checks: Vec<String>,
    pub(super) unchecked: Unchecked,
    /// Whether elements are numbered by what is still to come.
    pub(super) down: bool,
}

impl Entry {
    /// The block that its end leaves.
    pub(super) fn label(&self) -> String {
        format!("'loop_{}", self.id)
    }

    /// A variable of the loop: `n`, how many steps it takes, or `k`, the number of elements before or behind.
    pub(super) fn name(&self, letter: &str) -> String {
        format!("__{letter}{}", self.id)
    }
}

impl Printer<'_> {
    /// How a loop over a range runs without checks, where it can.
    pub(super) fn windows(&self, inst: &Inst, start: &str, end: &str) -> Option<Entry> {
        self.ahead?;
        let body = &inst.blocks[0];
        let constant = |v: Value| match self.func.as_const(v) {
            Some(Scalar::I64(n)) => Some(n),
            _ => None,
        };
        if let (Some(from), Some(to)) = (constant(inst.args[0]), constant(inst.args[1]))
            && to.saturating_sub(from) < WORTH
        {
            return None;
        }
        let look = self.look(inst, body)?;
        let (up, down): (Vec<_>, Vec<_>) = look
            .accesses
            .iter()
            .filter_map(|access| Some(access.index.last()?.sign))
            .filter(|sign| *sign != 0)
            .partition(|sign| *sign > 0);
        let down = down.len() > up.len();
        let id = look.counter.0;
        let mut entry = Entry { id, checks: Vec::new(), unchecked: Unchecked::default(), down };
        let (count, at) = (entry.name("n"), entry.name("k"));
        entry.checks.push(format!(
            "let Some({count}) = {}count({start}, {end}) else {{ break 'checks }};",
            self.path()
        ));
        let conditions = self.conditions(&look, start, end, &mut entry.unchecked);
        if !conditions.is_empty() {
            entry.checks.push(format!("if !({}) {{ break 'checks; }}", conditions.join(" && ")));
        }
        let mut arrays: Vec<Value> = look.accesses.iter().map(|access| access.array).collect();
        arrays.sort();
        arrays.dedup();
        let mut number = 0;
        for array in arrays {
            if look.others.contains(&array) {
                continue;
            }
            let Some((windows, writes)) = windows_of(&look, array, if down { -1 } else { 1 })
            else {
                continue;
            };
            let mut asked = Vec::new();
            for (k, window) in windows.iter().enumerate() {
                let name = format!("__w{id}_{}", number + k);
                let moves = window.first.last().is_some_and(|index| index.sign != 0);
                let place = |by: i64| match (moves, by) {
                    (false, by) => format!("{by}_usize"),
                    (true, 0) => at.clone(),
                    (true, by) => format!("{at} + {by}_usize"),
                };
                for (result, by) in &window.accesses {
                    entry.unchecked.elements.insert(*result, format!("{name}[{}]", place(*by)));
                }
                let first: Vec<String> = window
                    .first
                    .iter()
                    .map(|index| self.first_index(index, start, &count, down))
                    .collect();
                let steps = match (moves, window.more) {
                    (false, more) => format!("{}_usize", more + 1),
                    (true, 0) => count.clone(),
                    (true, more) => format!("{count} + {more}_usize"),
                };
                asked.push((name, first.join(", "), steps, window.flat));
            }
            number += windows.len();
            entry.checks.extend(self.asked(array, &asked, writes));
        }
        // The last check: where another one fails, nothing has been pushed or popped.
        entry.checks.extend(self.record(body, &look, down, &mut entry.unchecked, (&count, &at)));
        if entry.unchecked.elements.is_empty() && entry.unchecked.record.is_none() {
            return None;
        }
        Some(entry)
    }

    /// The records of a loop as one slice, where each iteration pushes or pops one, of numbers.
    fn record(
        &self,
        body: &Block,
        look: &Look,
        down: bool,
        unchecked: &mut Unchecked,
        (count, at): (&str, &str),
    ) -> Option<String> {
        let [inst] = look.tapes[..] else { return None };
        let fields = if inst.op == Op::Push { &inst.args[1..] } else { &inst.results[1..] };
        let numbers = fields.iter().all(|v| self.func.ty(*v).is_scalar());
        let always = body.insts.iter().any(|other| std::ptr::eq(other, inst));
        let carried = body.params.contains(&inst.args[0]);
        if fields.is_empty() || !numbers || !always || !carried || look.exits {
            return None;
        }
        let (name, tape) = (format!("__r{}", look.counter.0), self.name(inst.args[0]));
        // Those of the first iterations lie first; they are popped from the end.
        let place = match (&inst.op, down) {
            (Op::Push, false) | (Op::Pop, true) => at.to_string(),
            _ => format!("{count} - 1 - {at}"),
        };
        unchecked.record = Some((inst.results[0], format!("{name}[{place}]")));
        let call = if inst.op == Op::Push { "records" } else { "last_records" };
        let size = fields.len();
        Some(format!(
            "let Some({name}) = {tape}.{call}::<{size}>({count}) else {{ break 'checks }};"
        ))
    }

    /// The slices of an array.
    fn asked(
        &self,
        array: Value,
        all: &[(String, String, String, bool)],
        writes: bool,
    ) -> Vec<String> {
        let array = self.name(array);
        let otherwise = "else { break 'checks };";
        if let (true, [_, _, ..]) = (writes, all) {
            let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
            let ranges: Vec<String> =
                all.iter().map(|(_, first, steps, _)| format!("([{first}], {steps})")).collect();
            let (names, ranges) = (names.join(", "), ranges.join(", "));
            let call = format!("{array}.windows_mut([{ranges}])");
            return vec![format!("let Some([{names}]) = {call} {otherwise}")];
        }
        let mut text = Vec::new();
        for (name, first, steps, flat) in all {
            let mark = if writes { "_mut" } else { "" };
            let call = match flat {
                true => format!("{array}.run{mark}({first}, {steps})"),
                false => format!("{array}.window{mark}([{first}], {steps})"),
            };
            text.push(format!("let Some({name}) = {call} {otherwise}"));
        }
        text
    }

    /// The least value of an index while the loop runs.
    fn first_index(&self, index: &Index, start: &str, count: &str, down: bool) -> String {
        let mut text = match index.base {
            Some(base) => self.value(base),
            None => literal(Scalar::I64(index.offset)),
        };
        if index.base.is_some() && index.offset != 0 {
            text = format!("{text}.wrapping_add({})", literal(Scalar::I64(index.offset)));
        }
        match (index.sign, down) {
            (0, _) => text,
            (1, _) => format!("{text}.wrapping_add({start})"),
            _ => format!("{text}.wrapping_sub({start}).wrapping_sub({count} as i64 - 1)"),
        }
    }

    /// What must hold before the loop for sums not to overflow and assertions to hold all the time.
    fn conditions(
        &self,
        look: &Look,
        start: &str,
        end: &str,
        unchecked: &mut Unchecked,
    ) -> Vec<String> {
        let mut small = BTreeSet::new();
        let mut conditions = Vec::new();
        for v in &look.sums {
            small.extend(look.indices[v].base);
            unchecked.sums.insert(*v);
        }
        for cond in &look.asserted {
            if !look.inside.contains(cond) {
                conditions.push(self.value(*cond));
                unchecked.held.insert(*cond);
                continue;
            }
            let Some(comparisons) = self.comparisons(look, *cond) else { continue };
            unchecked.held.insert(*cond);
            for (sign, sides) in comparisons {
                small.extend(sides.iter().filter_map(|index| index.base));
                for counter in [start.to_string(), format!("{end}.wrapping_sub(1)")] {
                    let [a, b] = sides.map(|index| self.index_at(&index, &counter));
                    conditions.push(format!("{a} {sign} {b}"));
                }
            }
        }
        if unchecked.sums.is_empty() && unchecked.held.is_empty() {
            return conditions;
        }
        let mut small: Vec<String> = small.into_iter().map(|base| self.value(base)).collect();
        small.push(start.to_string());
        let path = self.path();
        let small = small.into_iter().map(|value| format!("{path}small({value})"));
        let mut all: Vec<String> = small.chain(conditions).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The comparisons that a condition is made of, each of which holds all along the loop if it holds at its ends.
    fn comparisons(&self, look: &Look, cond: Value) -> Option<Vec<(&'static str, [Index; 2])>> {
        let inst = look.conditions.get(&cond)?;
        let sign = match inst.op {
            Op::Prim(Prim::And) => {
                let mut all = self.comparisons(look, inst.args[0])?;
                all.extend(self.comparisons(look, inst.args[1])?);
                return Some(all);
            }
            Op::Prim(Prim::ILt) => "<",
            Op::Prim(Prim::ILe) => "<=",
            Op::Prim(Prim::IGt) => ">",
            _ => ">=",
        };
        let sides = [self.index(inst.args[0], look)?, self.index(inst.args[1], look)?];
        Some(vec![(sign, sides)])
    }

    /// An index where the counter has a value.
    fn index_at(&self, index: &Index, counter: &str) -> String {
        let mut text = literal(Scalar::I64(index.offset));
        if let Some(base) = index.base {
            text = format!("{text}.wrapping_add({})", self.value(base));
        }
        match index.sign {
            0 => text,
            1 => format!("{text}.wrapping_add({counter})"),
            _ => format!("{text}.wrapping_sub({counter})"),
        }
    }

    fn look<'b>(&self, inst: &'b Inst, body: &'b Block) -> Option<Look<'b>> {
        let counter = body.params[0];
        let mut look = Look {
            counter,
            indices: HashMap::from_iter([(counter, Index { sign: 1, base: None, offset: 0 })]),
            sums: Vec::new(),
            conditions: HashMap::default(),
            inside: body.params.iter().copied().collect(),
            arrays: HashMap::default(),
            accesses: Vec::new(),
            others: HashSet::default(),
            asserted: Vec::new(),
            tapes: Vec::new(),
            exits: false,
        };
        let carried: Vec<(Value, Value)> =
            inst.args[2..].iter().copied().zip(body.params[1..].iter().copied()).collect();
        for (first, carry) in &carried {
            if self.func.ty(*carry).is_array() {
                look.arrays.insert(*carry, *first);
            }
        }
        let firsts: Vec<Value> = carried.iter().map(|(first, _)| *first).collect();
        self.look_at(body, &firsts, &mut look)?;
        // An array that another takes the place of is not where it was.
        for (first, after) in firsts.iter().zip(&body.yields) {
            look.stays(self, *first, *after);
        }
        Some(look)
    }

    fn look_at<'b>(&self, block: &'b Block, firsts: &[Value], look: &mut Look<'b>) -> Option<()> {
        for inst in &block.insts {
            look.inside.extend(&inst.results);
            match &inst.op {
                Op::For | Op::While | Op::Call(_) | Op::Drive(..) => return None,
                Op::Load | Op::Array(ArrayOp::Peek) => self.access(inst, &inst.args[1..], look),
                Op::Store | Op::Array(ArrayOp::Poke) => {
                    self.access(inst, &inst.args[1..inst.args.len() - 1], look);
                }
                Op::If => {
                    for block in &inst.blocks {
                        self.look_at(block, firsts, look)?;
                    }
                    for (k, result) in inst.results.iter().enumerate() {
                        if self.func.ty(*result).is_array() {
                            let [one, other] = [0, 1].map(|b| inst.blocks[b].yields[k]);
                            let (one, other) = (look.array(one), look.array(other));
                            if one == other {
                                look.arrays.insert(*result, one);
                            } else {
                                look.others.extend([one, other]);
                            }
                        }
                    }
                }
                Op::Push | Op::Pop => {
                    look.tapes.push(inst);
                    // What is on a tape is there as a whole.
                    let arrays = inst.args.iter().filter(|a| self.func.ty(**a).is_array());
                    let used: Vec<Value> = arrays.map(|a| look.array(*a)).collect();
                    look.others.extend(used);
                }
                Op::ExitIf => {
                    look.exits = true;
                    self.look_at(&inst.blocks[0], firsts, look)?;
                    for (first, left) in firsts.iter().zip(&inst.blocks[0].yields) {
                        look.stays(self, *first, *left);
                    }
                }
                Op::Assert(_) => look.asserted.push(inst.args[0]),
                Op::Prim(prim) => self.number(*prim, inst, look),
                _ => {
                    // Arrays made inside are their own.
                    let arrays = inst.args.iter().filter(|a| self.func.ty(**a).is_array());
                    let used: Vec<Value> = arrays.map(|a| look.array(*a)).collect();
                    look.others.extend(used);
                    if let (Some(_), Some(result)) = (inst.op.takes(), inst.results.first()) {
                        let taken = look.array(inst.args[0]);
                        look.arrays.insert(*result, taken);
                    }
                }
            }
        }
        Some(())
    }

    fn access(&self, inst: &Inst, at: &[Value], look: &mut Look) {
        let (array, result) = (look.array(inst.args[0]), inst.results[0]);
        let writes = self.func.ty(result).is_array();
        if writes {
            look.arrays.insert(result, array);
        }
        let flat = matches!(inst.op, Op::Array(_));
        let index: Option<Vec<Index>> = at.iter().map(|v| self.index(*v, look)).collect();
        // Only the last axis is walked along.
        let index = index.filter(|index| {
            index.split_last().is_some_and(|(_, lead)| lead.iter().all(|index| index.sign == 0))
        });
        match index {
            Some(index) if !look.inside.contains(&array) => {
                look.accesses.push(Access { result, array, index, flat, writes });
            }
            // The array must be there as a whole.
            _ => {
                look.others.insert(array);
            }
        }
    }

    fn index(&self, v: Value, look: &Look) -> Option<Index> {
        if let Some(Scalar::I64(n)) = self.func.as_const(v) {
            return Some(Index::constant(n));
        }
        if look.inside.contains(&v) {
            return look.indices.get(&v).copied();
        }
        let outside = Index { sign: 0, base: Some(v), offset: 0 };
        (self.func.ty(v) == Type::I64).then_some(outside)
    }

    /// How a number depends on the counter.
    fn number<'b>(&self, prim: Prim, inst: &'b Inst, look: &mut Look<'b>) {
        if matches!(prim, Prim::ILt | Prim::ILe | Prim::IGt | Prim::IGe | Prim::And) {
            look.conditions.insert(inst.results[0], inst);
        }
        let checked = matches!(prim, Prim::IAdd | Prim::ISub);
        if !checked && !matches!(prim, Prim::WAdd | Prim::WSub) {
            return;
        }
        let [Some(a), Some(b)] = [0, 1].map(|k| self.index(inst.args[k], look)) else { return };
        let made = if matches!(prim, Prim::IAdd | Prim::WAdd) { a.plus(b) } else { a.minus(b) };
        if let Some(index) = made {
            look.indices.insert(inst.results[0], index);
            if checked {
                look.sums.push(inst.results[0]);
            }
        }
    }
}

impl Look<'_> {
    fn array(&self, v: Value) -> Value {
        self.arrays.get(&v).copied().unwrap_or(v)
    }

    /// Notes whether what a loop hands on in the place of an array is that array.
    fn stays(&mut self, printer: &Printer, first: Value, after: Value) {
        if printer.func.ty(after).is_array() {
            let after = self.array(after);
            if after != first {
                self.others.extend([first, after]);
            }
        }
    }
}

/// The slices that an array is reached through, and whether it is written; none where it cannot be.
fn windows_of(look: &Look, array: Value, direction: i64) -> Option<(Vec<Window>, bool)> {
    let all: Vec<&Access> = look.accesses.iter().filter(|a| a.array == array).collect();
    let writes = all.iter().any(|access| access.writes);
    let flat = all.first()?.flat;
    if all.iter().any(|access| access.flat != flat) {
        return None;
    }
    let mut windows: Vec<Window> = Vec::new();
    for access in all {
        let (last, lead) = access.index.split_last()?;
        if last.sign == -direction {
            if writes {
                return None;
            }
            continue;
        }
        let same = |window: &Window| {
            let Some((first, before)) = window.first.split_last() else { return false };
            let alike = |a: &Index, b: &Index| (a.sign, a.base) == (b.sign, b.base);
            let row = before.len() == lead.len()
                && before.iter().zip(lead).all(|(a, b)| alike(a, b) && a.offset == b.offset);
            // What is written has one slice for all of its offsets.
            row && alike(first, last) && (writes || first.offset == last.offset)
        };
        match windows.iter_mut().find(|window| same(window)) {
            Some(window) => {
                let first = window.first.last_mut()?;
                let by = last.offset.checked_sub(first.offset)?;
                if by.abs() > 1 << 16 {
                    return None;
                }
                if by < 0 {
                    first.offset = last.offset;
                    window.accesses.iter_mut().for_each(|(_, at)| *at -= by);
                    window.more -= by;
                    window.accesses.push((access.result, 0));
                } else {
                    window.more = window.more.max(by);
                    window.accesses.push((access.result, by));
                }
            }
            None => windows.push(Window {
                first: access.index.clone(),
                more: 0,
                flat,
                accesses: vec![(access.result, 0)],
            }),
        }
    }
    // Row-major runs of one array that is written are not told apart.
    if windows.is_empty() || windows.len() > 4 && writes || windows.len() > 1 && writes && flat {
        return None;
    }
    Some((windows, writes))
}
