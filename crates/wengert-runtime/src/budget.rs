//! Outlined loops in a number of bytes.
//!
//! A loop that is recorded under a budget is run by the checkpointing driver, in pieces: its three functions over ranges of
//! iterations, on frames made here. What the loop carries is its state; stored, it is words and the elements
//! of arrays. What it only reads, its captures, is kept from the first sweep to the end of the second, because the program may overwrite
//! an array between the two.
//!
//! A loop may be left in the middle of an iteration. As far as it got, that iteration is a step like the others: the
//! last one.
//!
//! Arrays have one owner. Those that are carried belong to the loop here, from the first call to the last; a function that takes
//! one over gives another one back, and what it only reads is freed behind it.

use crate::arrays::Arrays;
use crate::context::Context;
use crate::jit::abi_slots;
use crate::jit::link::{Plan, Shape, Signature, Step};
use crate::kernel::operand;
use std::ops::Range;
use std::slice;
use wengert_checkpoint::{Done, Error, Run, Steps};
use wengert_core::fault::FaultKind;
use wengert_core::ir::{Phase, Type};
use wengert_core::ops::kernels::Operand;
use wengert_core::ops::{Data, Elem};

/// The loops of a run that have been recorded and not yet reversed, and what is left of the memory.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Bytes for the states and records of every loop.
    memory: Option<u64>,
    open: Vec<Open>,
    /// Whether a loop is being run: those inside it are parts of its steps.
    is_inside: bool,
    /// What loops have done.
    pub(crate) done: Vec<(usize, Done)>,
}

/// A loop between its two sweeps.
#[derive(Debug)]
struct Open {
    plan: usize,
    run: Run,
    place: Place,
    captures: Vec<u64>,
    /// Copies of captures, which are freed at the end.
    copies: Vec<u64>,
}

/// Where a loop lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its range.
    from: i64,
    to: i64,
    /// How far it came, and by which exit, once that is known.
    ended: Option<(i64, u64)>,
    /// The tape before its records.
    base: u64,
}

impl Place {
    /// How many steps it is until there.
    fn steps_to(&self, done: i64, exit: u64) -> u64 {
        (i128::from(done) - i128::from(self.from)) as u64 + u64::from(exit != 0)
    }

    /// How many steps there are, once that is known.
    fn steps(&self) -> Option<u64> {
        self.ended.map(|(done, exit)| self.steps_to(done, exit))
    }
}

impl Budget {
    pub(crate) fn new(memory: Option<u64>) -> Budget {
        Budget { memory, ..Budget::default() }
    }

    /// Iterations that were run more than once.
    pub(crate) fn run_again(&self) -> u64 {
        self.done.iter().map(|(_, done)| done.evaluations().saturating_sub(done.steps)).sum()
    }

    /// Whether a loop is to be run here.
    pub(crate) fn is_for(&self, plan: &Plan) -> bool {
        self.memory.is_some() && !self.is_inside && plan.shape.is_some()
    }
}

/// What went wrong: compiled code has written a fault, or there is something to be told.
type Failed = Error<u32>;

/// A loop in the middle of a sweep.
struct Loop<'c, 'p> {
    context: *mut Context<'p>,
    plan: &'c Plan,
    shape: &'c Shape,
    advance: Step,
    place: Place,
    /// The words of what is carried; those of arrays belong to the loop.
    live: Vec<u64>,
    captures: Vec<u64>,
    /// The tape.
    top: u64,
    /// The words of the state of the second sweep, and of what it only reads.
    back: Vec<u64>,
    fixed: Vec<u64>,
    /// Arrays in `back` belong to the loop, after its first call.
    owns_back: bool,
    /// Ranges of records: where the tape stood before each, and how many bytes of arrays are on it.
    ranges: Vec<(u64, u64)>,
    frame: Vec<u64>,
}

/// Runs one phase of a loop under the budget. The status is 0, or that of the first call at fault.
///
/// # Safety
/// As for `Step::call`: the frame is laid out for the plan's functions, and nobody else uses the context.
pub(crate) unsafe fn drive<'p>(
    context: *mut Context<'p>,
    (number, plan): (usize, &Plan),
    phase: Phase,
    frame: *mut u64,
) -> u32 {
    let (Some(shape), Some(advance)) = (&plan.shape, plan.advance) else {
        return 1;
    };
    let signature = if phase == Phase::Forward { &shape.record } else { &shape.reverse };
    // SAFETY: the caller's frame has these words.
    let frame = unsafe { slice::from_raw_parts_mut(frame, signature.words()) };
    let of = Of { context, plan, shape, advance };
    // SAFETY: compiled code is not running, here and behind the match.
    unsafe { (*context).budget.is_inside = true };
    let ran = match phase {
        Phase::Forward => of.forward(number, frame),
        Phase::Reverse => of.backward(number, frame),
    };
    // SAFETY: as above.
    unsafe { (*context).budget.is_inside = false };
    match ran {
        Ok(()) => 0,
        Err(Error::Step(status)) => status,
        Err(other) => {
            // SAFETY: compiled code is not running.
            let context = unsafe { &mut *context };
            context.stop(plan.stopped, FaultKind::Budget(other.to_string().into()));
            1
        }
    }
}

/// A loop of a run.
struct Of<'c, 'p> {
    context: *mut Context<'p>,
    plan: &'c Plan,
    shape: &'c Shape,
    advance: Step,
}

impl<'c, 'p> Of<'c, 'p> {
    fn context(&mut self) -> &mut Context<'p> {
        // SAFETY: compiled code is not running while a reference is in use, and nobody else has the context.
        unsafe { &mut *self.context }
    }

    fn steps(self, place: Place, captures: Vec<u64>) -> Loop<'c, 'p> {
        let Of { context, plan, shape, advance } = self;
        Loop {
            context,
            plan,
            shape,
            advance,
            place,
            live: Vec::new(),
            captures,
            top: place.base,
            back: Vec::new(),
            fixed: Vec::new(),
            owns_back: false,
            ranges: Vec::new(),
            frame: Vec::new(),
        }
    }

    fn forward(mut self, number: usize, frame: &mut [u64]) -> Result<(), Failed> {
        let shape = self.shape;
        let record = &shape.record;
        let (carried, captured) = (
            record.slots(2..2 + shape.carries),
            record.slots(2 + shape.carries..record.params.len() - 1),
        );
        let (from, to) = (frame[0] as i64, frame[1] as i64);
        let tape = record.slots(record.params.len() - 1..record.params.len()).start;
        let place = Place { from, to, ended: None, base: frame[tape] };
        let (mut live, mut captures) = (frame[carried.clone()].to_vec(), frame[captured].to_vec());
        let arrays = &mut self.context().arrays;
        let mut copies = Vec::new();
        for (at, ty, consumed) in record.arrays(2..2 + shape.carries) {
            if !consumed {
                let at = at - carried.start;
                live[at] = copy_of(arrays, ty, &live[at..])?;
            }
        }
        for (at, ty, _) in record.arrays(2 + shape.carries..record.params.len() - 1) {
            let at = at - carried.end;
            if arrays.owns(captures[at] as usize) {
                captures[at] = copy_of(arrays, ty, &captures[at..])?;
                copies.push(captures[at]);
            }
        }
        let budget = &self.context().budget;
        let memory = budget.memory.unwrap_or(u64::MAX);
        // Every loop has the same share.
        let loops = self.context().program.plans.iter().filter(|p| p.shape.is_some()).count();
        let memory = memory / loops.max(1) as u64;
        let length = u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0);
        let known = *self.plan.measured.lock().unwrap_or_else(|e| e.into_inner());
        let mut run = Run::new(memory, shape.counted.then_some(length), known);
        let mut steps = self.steps(place, captures);
        steps.live = live;
        run.forward(&mut steps)?;
        *steps.plan.measured.lock().unwrap_or_else(|e| e.into_inner()) = run.measured().copied();
        let Loop { place, live, captures, top, context, .. } = steps;
        let (done, exit) = place.ended.unwrap_or((from.max(to), 0));
        let results = record.words_of_params();
        let ends = results + live.len();
        frame[results..ends].copy_from_slice(&live);
        frame[ends..ends + 3].copy_from_slice(&[done as u64, exit, top]);
        // SAFETY: as in `context`.
        let budget = unsafe { &mut (*context).budget };
        budget.open.push(Open {
            plan: number,
            run,
            place: Place { ended: Some((done, exit)), ..place },
            captures,
            copies,
        });
        Ok(())
    }

    fn backward(mut self, number: usize, frame: &mut [u64]) -> Result<(), Failed> {
        let shape = self.shape;
        let reverse = &shape.reverse;
        let last = self.context().budget.open.pop();
        let Some(open) = last.filter(|open| open.plan == number) else {
            return Err(Error::Schedule("a loop is reversed that was not recorded last".into()));
        };
        let Open { mut run, place, captures, copies, .. } = open;
        let stated = reverse.slots(3..3 + shape.state);
        let fixed = reverse.slots(3 + shape.state..reverse.params.len() - 1);
        let tape = fixed.end;
        let mut steps = self.steps(place, captures);
        steps.back = frame[stated].to_vec();
        steps.fixed = frame[fixed].to_vec();
        steps.top = frame[tape];
        steps.find_records();
        run.backward(&mut steps)?;
        if !steps.owns_back {
            // Of no iterations, too, what comes out is not what was given.
            steps.reverse(0..0).map_err(Error::Step)?;
        }
        steps.drop_live();
        let results = reverse.words_of_params();
        let ends = results + steps.back.len();
        frame[results..ends].copy_from_slice(&steps.back);
        frame[ends] = steps.top;
        // SAFETY: as in `context`.
        let context = unsafe { &mut *steps.context };
        copies.iter().for_each(|copy| context.arrays.free(*copy as usize));
        context.budget.done.push((number, *run.done()));
        Ok(())
    }
}

impl<'p> Loop<'_, 'p> {
    fn context(&self) -> &Context<'p> {
        // SAFETY: compiled code is not running while a reference is in use, and nobody else has the context.
        unsafe { &*self.context }
    }

    fn context_mut(&mut self) -> &mut Context<'p> {
        // SAFETY: as above.
        unsafe { &mut *self.context }
    }

    /// The types of what is carried, and where the words of each begin.
    fn carried(&self) -> Vec<(usize, Type)> {
        let of = &self.shape.record;
        let start = of.slots(0..2).end;
        let params = 2..2 + self.shape.carries;
        params.map(|k| (of.slots(0..k).end - start, of.params[k].0)).collect()
    }

    /// Calls a function over a range: parameters are the range, then these words. Gives back its status; results are
    /// behind the parameters in the frame.
    fn call(&mut self, step: Step, signature: &Signature, words: &[&[u64]]) -> u32 {
        self.frame.clear();
        words.iter().for_each(|words| self.frame.extend_from_slice(words));
        debug_assert_eq!(self.frame.len(), signature.words_of_params());
        self.frame.resize(signature.words(), 0);
        // SAFETY: the frame has the words of the function's parameters, which have the types of the loop's own, and
        // room for its results; arrays in them are alive, and those that it takes over are the loop's.
        unsafe { step.call(self.context, self.frame.as_mut_ptr()) }
    }

    /// Frees the arrays that a function was given and has not taken over, and which it does not give back.
    fn free_lent(
        &mut self,
        signature: &Signature,
        params: Range<usize>,
        given: &[u64],
        back: &[u64],
    ) {
        let start = signature.slots(0..params.start).end;
        for (at, _, consumed) in signature.arrays(params) {
            let address = given[at - start];
            if !consumed && back[at - start] != address {
                self.context_mut().arrays.free(address as usize);
            }
        }
    }

    /// Runs steps forward, by recording them or not; gives back the state that is live then.
    fn run(&mut self, range: Range<u64>, recorded: bool) -> Result<u64, u32> {
        let Place { from, to, .. } = self.place;
        if let Some(all) = self.place.steps().filter(|all| *all <= range.start) {
            return Ok(all);
        }
        let at = |k: u64| {
            i64::try_from(i128::from(from).saturating_add(i128::from(k)))
                .unwrap_or(i64::MAX)
                .min(to)
        };
        let bounds = [at(range.start) as u64, at(range.end) as u64];
        let (live, captures) = (std::mem::take(&mut self.live), std::mem::take(&mut self.captures));
        let top = [self.top];
        let shape = self.shape;
        let (step, signature, tape) = match recorded {
            true => (self.plan.record, &shape.record, &top[..]),
            false => (self.advance, &shape.advance, &[][..]),
        };
        let status = self.call(step, signature, &[&bounds, &live, &captures, tape]);
        self.captures = captures;
        if status != 0 {
            // Its arrays are where nobody knows.
            return Err(status);
        }
        let results = signature.words_of_params();
        self.live = self.frame[results..results + live.len()].to_vec();
        let ends = results + live.len();
        let (done, exit) = (self.frame[ends] as i64, self.frame[ends + 1]);
        if recorded {
            self.top = self.frame[ends + 2];
        }
        let back = self.live.clone();
        self.free_lent(signature, 2..2 + shape.carries, &live, &back);
        if exit != 0 || done == to {
            self.place.ended = Some((done, exit));
        }
        Ok(self.place.steps_to(done, exit))
    }

    /// Counts the bytes of arrays on the tape from a place on.
    fn note_range(&mut self, start: u64) {
        let bytes = self.context().held.bytes_from(start as usize);
        self.ranges.push((start, bytes));
    }

    /// What was recorded in the first sweep is one range.
    fn find_records(&mut self) {
        let base = self.place.base;
        if self.top > base {
            self.note_range(base);
        }
    }

    /// Frees what is live.
    fn drop_live(&mut self) {
        let live = std::mem::take(&mut self.live);
        if live.is_empty() {
            return;
        }
        for (at, ty) in self.carried() {
            if ty.is_array() {
                self.context_mut().arrays.free(live[at] as usize);
            }
        }
    }
}

impl Steps for Loop<'_, '_> {
    type Error = u32;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, u32> {
        self.run(range, false)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, u32> {
        let (start, shape) = (self.top, self.shape);
        let limit = self.context().tape_limit;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let allowed = (start as usize).saturating_add(room);
        // What it takes over may be lost as well as what it makes.
        let taken: Vec<u64> = {
            let words = shape.record.slots(0..2).end;
            let arrays = shape.record.arrays(2..2 + shape.carries);
            arrays.map(|(at, ..)| self.live[at - words]).collect()
        };
        let context = self.context_mut();
        context.tape_limit = limit.min(allowed);
        context.arrays.watch(&taken);
        let ran = self.run(range, true);
        let context = self.context_mut();
        context.tape_limit = limit;
        let made = context.arrays.watched();
        match ran {
            Ok(now) => {
                self.note_range(start);
                let bytes = self.top - start + self.ranges.last().map_or(0, |(_, bytes)| *bytes);
                if bytes <= room as u64 {
                    return Ok(Some(now));
                }
                self.ranges.pop();
                self.drop_records(start);
                self.drop_live();
                Ok(None)
            }
            Err(status) => {
                let context = self.context_mut();
                if allowed >= limit || !context.is_full() {
                    return Err(status);
                }
                context.clear_fault();
                self.drop_records(start);
                let context = self.context_mut();
                made.into_iter().for_each(|address| context.arrays.free(address));
                Ok(None)
            }
        }
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), u32> {
        let Place { from, ended, .. } = self.place;
        let at = |k: u64| i128::from(from).saturating_add(i128::from(k)) as i64;
        let (mut to, mut exit) = (at(range.end), 0);
        if let Some((done, by)) = ended
            && by != 0
            && to > done
        {
            (to, exit) = (done, by);
        }
        let bounds = [at(range.start) as u64, to as u64, exit];
        let (back, fixed) = (std::mem::take(&mut self.back), std::mem::take(&mut self.fixed));
        let shape = self.shape;
        let top = [self.top];
        let status = self.call(self.plan.reverse, &shape.reverse, &[&bounds, &back, &fixed, &top]);
        self.fixed = fixed;
        if status != 0 {
            return Err(status);
        }
        let results = shape.reverse.words_of_params();
        let ends = results + back.len();
        self.back = self.frame[results..ends].to_vec();
        self.top = self.frame[ends];
        // The first ones belong to the caller, who frees those that were lent.
        if std::mem::replace(&mut self.owns_back, true) {
            let now = self.back.clone();
            self.free_lent(&shape.reverse, 3..3 + shape.state, &back, &now);
        }
        while self.ranges.pop_if(|(start, _)| *start >= self.top).is_some() {}
        if let Some((start, _)) = self.ranges.pop() {
            self.note_range(start);
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.drop_records(self.place.base);
        self.ranges.clear();
    }

    fn record_bytes(&self) -> u64 {
        self.top - self.place.base + self.ranges.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }

    fn state_bytes(&self) -> u64 {
        let arrays = self.carried().into_iter().filter(|(_, ty)| ty.is_array());
        let bytes = arrays.map(|(at, ty)| {
            let (elem, count) = extent(ty, &self.live[at..]);
            (count * size(elem)) as u64 - 8
        });
        8 * self.live.len() as u64 + bytes.fold(0, u64::wrapping_add)
    }

    fn save(&self, mut to: &mut [u8]) {
        for (at, ty) in self.carried() {
            let words = &self.live[at..at + abi_slots(&[ty])];
            let plain = if ty.is_array() { &words[1..] } else { words };
            for word in plain {
                if let Some(place) = to.split_off_mut(..8) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
            if ty.is_array() {
                let (elem, count) = extent(ty, words);
                // SAFETY: the words are those of an array that is alive.
                let elements = unsafe { bytes_of(words[0], elem, count) };
                if let Some(place) = to.split_off_mut(..elements.len()) {
                    place.copy_from_slice(elements);
                }
            }
        }
    }

    fn load(&mut self, mut from: &[u8]) -> Result<(), u32> {
        self.drop_live();
        let mut live = Vec::new();
        for (_, ty) in self.carried() {
            let plain = if ty.is_array() { ty.rank() } else { 1 };
            let mut words = vec![0; abi_slots(&[ty]) - plain];
            for _ in 0..plain {
                let word = from.split_off(..8).and_then(|word| word.try_into().ok());
                words.push(word.map_or(0, u64::from_le_bytes));
            }
            if ty.is_array() {
                let (elem, count) = extent(ty, &words);
                let elements = from.split_off(..count * size(elem)).unwrap_or_default();
                let made = array_of(&mut self.context_mut().arrays, elem, count, elements);
                let Some(address) = made else {
                    let stopped = self.plan.stopped;
                    let bytes = elements.len() as u64;
                    self.context_mut().stop(stopped, FaultKind::OutOfMemory(bytes));
                    return Err(1);
                };
                words[0] = address as u64;
            }
            live.extend(words);
        }
        self.live = live;
        Ok(())
    }
}

impl Loop<'_, '_> {
    /// Takes records off the tape, and frees the arrays among them.
    fn drop_records(&mut self, start: u64) {
        let context = self.context_mut();
        for address in context.held.drop_from(start as usize) {
            context.arrays.free(address);
        }
        self.top = start;
    }
}

/// The elements of an array.
///
/// # Safety
/// An array of so many elements must be at the address, and stay there unchanged.
unsafe fn bytes_of<'a>(address: u64, elem: Elem, count: usize) -> &'a [u8] {
    // SAFETY: as the caller promises; elements have no bytes between them.
    unsafe { slice::from_raw_parts(address as usize as *const u8, count * size(elem)) }
}

/// A copy of an array, given its words.
fn copy_of(arrays: &mut Arrays, ty: Type, words: &[u64]) -> Result<u64, Failed> {
    let (elem, count) = extent(ty, words);
    // SAFETY: the words are those of an array of that type that is alive.
    let copied = match unsafe { operand(ty, &words[..1 + ty.rank()]) } {
        Operand::Array(_, elements) => arrays.copy(elements),
        Operand::Scalar(_) => None,
    };
    copied.map(|address| address as u64).ok_or(Error::NoMemory((count * size(elem)) as u64))
}

/// A new array of elements as they lie in memory; `None` where there is not enough of it, or other elements than these.
fn array_of(arrays: &mut Arrays, elem: Elem, len: usize, bytes: &[u8]) -> Option<usize> {
    fn all<T, const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (elements, rest) = bytes.as_chunks::<N>();
        let mut array = Vec::new();
        array.try_reserve_exact(elements.len()).ok()?;
        array.extend(elements.iter().map(|x| of(*x)));
        rest.is_empty().then_some(array)
    }
    if bytes.len() != len.checked_mul(size(elem))? {
        return None;
    }
    Some(match elem {
        Elem::F64 => {
            let address = arrays.blank(len)?;
            // SAFETY: so many doubles lie there, which nobody else uses.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, 8 * len) };
            address
        }
        Elem::F32 => arrays.own(Data::F32(all(bytes, f32::from_ne_bytes)?)),
        Elem::I64 => arrays.own(Data::I64(all(bytes, i64::from_ne_bytes)?)),
        Elem::Bool => arrays.own(Data::Bool(all(bytes, |[b]| b != 0)?)),
    })
}

/// What an array consists of.
fn extent(ty: Type, words: &[u64]) -> (Elem, usize) {
    let dims = words[1..1 + ty.rank()].iter().map(|dim| *dim as usize);
    (ty.elem().unwrap_or(Elem::F64), dims.product())
}

/// Bytes of an element.
fn size(elem: Elem) -> usize {
    match elem {
        Elem::F64 | Elem::I64 => 8,
        Elem::F32 => 4,
        Elem::Bool => 1,
    }
}
