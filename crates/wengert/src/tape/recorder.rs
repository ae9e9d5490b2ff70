//! The tapes that a thread records, and how an operation finds the one it belongs to.
//!
//! A thread has a stack of tapes. A variable carries the tag of the recording it belongs to; an operation on variables of
//! several tapes is recorded on the latest of them, for which a value of an earlier tape is a number that has a
//! derivative of its own (its *primal*, a variable of the earlier tape). So levels nest, and what is differentiated by
//! at one level is never taken for what is at another.
//!
//! Reading order: [`Recorder`] (one tape), [`Stack`], [`unary`] and [`binary`] (the short way, for one tape), [`apply`]
//! (the long way: nested tapes, source lines, variables that do not belong).

use super::error::{Misuse, MisuseKind, remember};
use super::guard::Guard;
use super::nodes::{Nodes, Op};
use super::number::value;
use super::outside::Call;
pub(super) use super::recording::{Recording, Segment};
use super::var::Var;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread::ThreadId;
use wengert_core::ops::Prim;

/// The tag of what is on no tape: a constant.
pub(super) const CONSTANT: u32 = 0;
/// The tag of what comes of a misuse, whose number is the index.
pub(super) const MISUSED: u32 = u32::MAX;
/// A tag that no variable has.
pub(super) const NOBODY: u32 = u32::MAX - 1;

/// A tape of a thread.
pub(super) struct Recorder {
    /// Which tape it is, for its owner.
    pub(super) id: u64,
    /// The tag of what is recorded now.
    tag: u32,
    /// The same where the short way may be taken.
    short: u32,
    pub(super) recording: Recording,
    /// Where constants are that were met before, by their bits.
    constants: [(u64, u32); CONSTANTS],
    /// Whether its recording is away, being swept.
    pub(super) busy: bool,
    /// Whose the recording is that is away.
    away: Vec<Segment>,
}

const CONSTANTS: usize = 32;

/// The place where a constant is looked for.
#[inline(always)]
fn slot(c: f64) -> usize {
    (c.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59) as usize
}
/// The place of no constant.
const ABSENT: (u64, u32) = (0, u32::MAX);

impl Recorder {
    /// The one of a thread that records nothing.
    const fn none() -> Recorder {
        let recording = Recording {
            nodes: Nodes::none(),
            primals: Vec::new(),
            places: None,
            guards: None,
            terms: Vec::new(),
            singles: Vec::new(),
            calls: Vec::new(),
            conversions: 0,
            segments: Vec::new(),
        };
        let constants = [ABSENT; CONSTANTS];
        Recorder {
            id: 0,
            tag: NOBODY,
            short: NOBODY,
            recording,
            constants,
            busy: false,
            away: Vec::new(),
        }
    }

    /// Begins to record under a new tag, from where the recording ends.
    pub(super) fn begin(&mut self, tag: u32) {
        let start = self.recording.nodes.len() as u32;
        self.recording.segments.push(Segment { tag, start, end: u32::MAX });
        self.tag = tag;
        self.constants = [ABSENT; CONSTANTS];
        self.choose();
    }

    /// The same where entries have other numbers than before: no variable of before belongs here.
    pub(super) fn begin_anew(&mut self, tag: u32) {
        self.begin(tag);
        self.recording.segments = vec![Segment { tag, start: 0, end: u32::MAX }];
    }

    /// Whether the short way may be taken.
    pub(super) fn choose(&mut self) {
        let recording = &self.recording;
        let long = self.busy || recording.places.is_some() || !recording.primals.is_empty();
        self.short = if long { NOBODY } else { self.tag };
    }

    /// Forgets entries from one on, and variables with them.
    pub(super) fn rewind(&mut self, len: u32, tag: u32) -> Vec<Rc<Call>> {
        let gone = self.recording.truncate(len);
        self.begin(tag);
        gone
    }

    /// Takes the recording away, to be swept; nothing where it is away.
    pub(super) fn lend(&mut self) -> Option<Recording> {
        if self.busy {
            return None;
        }
        self.busy = true;
        self.away.clone_from(&self.recording.segments);
        let recording = std::mem::take(&mut self.recording);
        self.choose();
        Some(recording)
    }

    /// Brings it back.
    pub(super) fn take_back(&mut self, recording: Recording) {
        self.recording = recording;
        self.busy = false;
        self.choose();
    }

    /// The entry of a constant.
    fn constant(&mut self, c: f64, at: &'static Location<'static>) -> u32 {
        if let Some(entry) = self.known(c) {
            return entry;
        }
        let entry = self.recording.push(Op::Constant, [0, 0], Var::constant(c), at);
        self.constants[slot(c)] = (c.to_bits(), entry);
        entry
    }

    /// The entry of a constant that was met before.
    #[inline(always)]
    fn known(&self, c: f64) -> Option<u32> {
        let (bits, at) = self.constants[slot(c)];
        (bits == c.to_bits() && at != u32::MAX).then_some(at)
    }

    /// The entry of a variable recorded under the tag of now, or of a known constant.
    #[inline(always)]
    fn here(&self, (index, tag): (u32, u32), value: f64) -> Option<u32> {
        match tag {
            tag if tag == self.short => Some(index),
            CONSTANT => self.known(value),
            _ => None,
        }
    }

    /// The same, for any constant and for variables made before the tape was rewound.
    fn entry(&mut self, x: Var, at: &'static Location<'static>) -> Option<u32> {
        if self.short == NOBODY {
            return None;
        }
        if x.tag() == CONSTANT {
            return self.has_room().then(|| self.constant(x.value(), at));
        }
        self.recording.owns(x).then_some(x.index())
    }

    /// The entry of any value: of a variable of this tape, or of a number with its derivative at earlier tapes.
    fn entry_of(&mut self, x: Var, at: &'static Location<'static>) -> u32 {
        if self.recording.owns(x) {
            return x.index();
        }
        if x.tag() == CONSTANT {
            return self.constant(x.value(), at);
        }
        let entry = self.recording.push(Op::Constant, [0, 0], x, at);
        self.choose();
        entry
    }

    /// Whether there is room for an operation, with its constants.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.recording.nodes.len() < Nodes::MOST - 8
    }

    /// Why so many entries cannot be recorded now.
    fn refuses(&self, entries: usize) -> Option<MisuseKind> {
        let has_room = entries < Nodes::MOST - 8 - self.recording.nodes.len().min(Nodes::MOST - 8);
        match () {
            () if self.busy => Some(MisuseKind::Busy),
            () if self.tag == NOBODY => Some(MisuseKind::Recordings),
            () if !has_room => Some(MisuseKind::Full),
            () => None,
        }
    }

    fn var(&self, value: f64, index: u32) -> Var {
        Var::new(value, index, self.tag)
    }
}

/// The tapes of a thread: those that lie below are earlier.
pub(super) struct Stack {
    top: Recorder,
    below: Vec<Recorder>,
    /// Tags that this thread may give out.
    tags: std::ops::Range<u32>,
}

thread_local! {
    // What is never dropped is reached without a question. It holds nothing when all tapes have ended.
    static STACK: ManuallyDrop<RefCell<Stack>> = const {
        let none = Stack { top: Recorder::none(), below: Vec::new(), tags: 1..1 };
        ManuallyDrop::new(RefCell::new(none))
    };
}

/// Looks at the tapes of this thread.
pub(super) fn with<R>(look: impl FnOnce(&mut Stack) -> R) -> R {
    STACK.with(|stack| look(&mut stack.borrow_mut()))
}

/// Threads take tags in blocks of this size.
const BLOCK: u32 = 256;
/// Whose each block is.
static BLOCKS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

/// The thread that a tag was given out by.
fn thread_of(tag: u32) -> Option<ThreadId> {
    let blocks = BLOCKS.lock().unwrap_or_else(|blocks| blocks.into_inner());
    blocks.get((tag / BLOCK) as usize).copied()
}

impl Stack {
    /// A tag that no recording had before.
    pub(super) fn tag(&mut self) -> u32 {
        if let Some(tag) = self.tags.next() {
            return tag;
        }
        let mut blocks = BLOCKS.lock().unwrap_or_else(|blocks| blocks.into_inner());
        if blocks.len() as u32 >= (NOBODY - 1) / BLOCK {
            // No variable has it: recording under it is a misuse.
            return NOBODY;
        }
        let first = blocks.len() as u32 * BLOCK;
        blocks.push(std::thread::current().id());
        self.tags = first.max(1)..first + BLOCK;
        drop(blocks);
        self.tag()
    }

    /// Puts a new tape on top.
    pub(super) fn add(&mut self, id: u64) {
        let mut recorder = Recorder::none();
        recorder.id = id;
        let tag = self.tag();
        recorder.begin(tag);
        let before = std::mem::replace(&mut self.top, recorder);
        if before.id != 0 {
            self.below.push(before);
        }
    }

    /// Takes a tape away.
    pub(super) fn remove(&mut self, id: u64) -> Option<Recorder> {
        if self.top.id == id {
            let next = self.below.pop().unwrap_or(Recorder::none());
            return Some(std::mem::replace(&mut self.top, next));
        }
        let at = self.below.iter().position(|recorder| recorder.id == id)?;
        Some(self.below.remove(at))
    }

    /// Gives memory back when no tape is left: a thread that ends does not.
    pub(super) fn tidy(&mut self) {
        if self.below.is_empty() {
            self.below = Vec::new();
        }
    }

    pub(super) fn find(&mut self, id: u64) -> Option<&mut Recorder> {
        let all = std::iter::once(&mut self.top).chain(&mut self.below);
        all.filter(|recorder| recorder.id != 0).find(|recorder| recorder.id == id)
    }

    /// The tape of a variable, and how late it was begun.
    pub(super) fn owner(&mut self, x: Var) -> Option<(usize, &mut Recorder)> {
        let height = self.below.len();
        if self.top.recording.owns(x) {
            return Some((height, &mut self.top));
        }
        self.below.iter_mut().enumerate().find(|(_, recorder)| recorder.recording.owns(x))
    }

    fn at(&mut self, height: usize) -> &mut Recorder {
        if height == self.below.len() { &mut self.top } else { &mut self.below[height] }
    }

    /// What is wrong with a variable that no tape of this thread owns.
    pub(super) fn misuse(&self, x: Var) -> MisuseKind {
        let all = std::iter::once(&self.top).chain(&self.below);
        let is_away = |recorder: &Recorder| {
            let segments = &recorder.away;
            recorder.busy
                && segments
                    .iter()
                    .any(|s| s.tag == x.tag() && (s.start..s.end).contains(&x.index()))
        };
        if all.into_iter().any(is_away) {
            return MisuseKind::Busy;
        }
        match thread_of(x.tag()) {
            Some(thread) if thread != std::thread::current().id() => MisuseKind::OtherThread,
            _ => MisuseKind::Stale,
        }
    }
}

/// What comes of a misuse: a number without a derivative, which whoever asks for one is told of.
#[cold]
pub(super) fn misused(value: f64, kind: MisuseKind, at: &'static Location<'static>) -> Var {
    Var::new(value, remember(Misuse { kind, at }), MISUSED)
}

/// A row of one input.
#[inline(always)]
#[track_caller]
pub(super) fn unary(row: Prim, x: Var) -> Var {
    let y = value(row, [x.value(), 0.0, 0.0]);
    if x.tag() == CONSTANT {
        return Var::constant(y);
    }
    match record_one(Op::Row(row), x.index(), x.tag(), y) {
        Some(index) => Var::new(y, index, x.tag()),
        None => apply(row, [x, x, x], Location::caller()),
    }
}

/// As [`record`], of one value.
#[inline(never)]
fn record_one(op: Op, index: u32, tag: u32, y: f64) -> Option<u32> {
    let record = |stack: &ManuallyDrop<RefCell<Stack>>| {
        let top = &mut stack.try_borrow_mut().ok()?.top;
        if tag != top.short {
            return None;
        }
        top.recording.nodes.push_here(op, index, 0, y)
    };
    STACK.try_with(record).ok().flatten()
}

/// A row of two inputs.
#[inline(always)]
#[track_caller]
pub(super) fn binary(row: Prim, a: Var, b: Var) -> Var {
    let y = value(row, [a.value(), b.value(), 0.0]);
    if a.tag() | b.tag() == CONSTANT {
        return Var::constant(y);
    }
    let (op, values) = (Op::Row(row), (a.value(), b.value(), y));
    let index =
        record(op, (a.index(), a.tag()), (b.index(), b.tag()), values.0, values.1, values.2);
    match index {
        Some(index) => Var::new(y, index, if a.tag() == CONSTANT { b.tag() } else { a.tag() }),
        None => longer(row, a, b, y, Location::caller()),
    }
}

/// Appends an operation of two values to the latest tape: the short way, in which nothing calls anything. It is a call
/// with all its arguments in registers, which is faster than what inlining makes of it.
#[inline(never)]
fn record(op: Op, a: (u32, u32), b: (u32, u32), x: f64, z: f64, y: f64) -> Option<u32> {
    let record = |stack: &ManuallyDrop<RefCell<Stack>>| {
        let top = &mut stack.try_borrow_mut().ok()?.top;
        let i = top.here(a, x)?;
        let j = top.here(b, z)?;
        top.recording.nodes.push_here(op, i, j, y)
    };
    // Unlike `with`, it may be inlined.
    STACK.try_with(record).ok().flatten()
}

/// A row of two inputs of which one is a constant that was not met before, or was made before the tape was rewound.
#[inline(never)]
fn longer(row: Prim, a: Var, b: Var, y: f64, at: &'static Location<'static>) -> Var {
    let pushed = with(|stack| {
        let top = &mut stack.top;
        let (i, j) = (top.entry(a, at)?, top.entry(b, at)?);
        let index = top.recording.nodes.push_here(Op::Row(row), i, j, y)?;
        Some(Var::new(y, index, top.tag))
    });
    pushed.unwrap_or_else(|| apply(row, [a, b, a], at))
}

/// A row, whatever tapes its inputs are on. Inputs that it has not are not looked at.
#[inline(never)]
pub(super) fn apply(row: Prim, inputs: [Var; 3], at: &'static Location<'static>) -> Var {
    let count = row.arity();
    let used = &inputs[..count];
    let plain = |inputs: [Var; 3]| value(row, inputs.map(|x| x.value()));
    if let Some(misuse) = used.iter().find(|x| x.tag() == MISUSED) {
        return Var::new(plain(inputs), misuse.index(), MISUSED);
    }
    if used.iter().all(|x| x.tag() == CONSTANT) {
        return Var::constant(plain(inputs));
    }
    // The latest tape, and what its inputs are at those before.
    let found = with(|stack| {
        let mut latest = 0;
        for x in used.iter().filter(|x| x.tag() != CONSTANT) {
            match stack.owner(*x) {
                Some((height, _)) => latest = latest.max(height),
                None => return Err(stack.misuse(*x)),
            }
        }
        let recorder = stack.at(latest);
        if let Some(kind) = recorder.refuses(1) {
            return Err(kind);
        }
        let recording = &recorder.recording;
        let primal = |x: Var| if recording.owns(x) { recording.primal(x.index()) } else { x };
        Ok((recorder.id, inputs.map(primal)))
    });
    let (id, primals) = match found {
        Ok(found) => found,
        Err(kind) => return misused(plain(inputs), kind, at),
    };
    let y = apply(row, primals, at);
    if y.tag() == MISUSED {
        return y;
    }
    let pushed = with(|stack| {
        let recorder = stack.find(id)?;
        let entries: Vec<u32> = used.iter().map(|x| recorder.entry_of(*x, at)).collect();
        if let [_, _, third] = entries[..] {
            let zero = Var::constant(0.0);
            recorder.recording.push(Op::Third, [third, 0], zero, at);
        }
        let two = [entries[0], entries.get(1).copied().unwrap_or(0)];
        let index = recorder.recording.push(Op::Row(row), two, y, at);
        recorder.choose();
        Some(recorder.var(y.value(), index))
    });
    pushed.unwrap_or_else(|| misused(y.value(), MisuseKind::Stale, at))
}

/// A value that something else than a row gives: an input, a sum of known partials, an output of a call.
pub(super) fn append(
    id: u64,
    op: Op,
    places: [u32; 2],
    primal: Var,
    at: &'static Location<'static>,
) -> Var {
    let pushed = with(|stack| {
        let recorder = stack.find(id)?;
        if let Some(kind) = recorder.refuses(1) {
            return Some(misused(primal.value(), kind, at));
        }
        let index = recorder.recording.push(op, places, primal, at);
        recorder.choose();
        Some(recorder.var(primal.value(), index))
    });
    pushed.unwrap_or_else(|| misused(primal.value(), MisuseKind::Stale, at))
}

/// The entries of values on a tape, with room for some more; constants and variables of earlier tapes get one.
pub(super) fn entries(
    id: u64,
    inputs: &[Var],
    more: usize,
    at: &'static Location<'static>,
) -> Result<Vec<u32>, Misuse> {
    let found = with(|stack| {
        let recorder = stack.find(id).ok_or(MisuseKind::Stale)?;
        if let Some(kind) = recorder.refuses(inputs.len() + more) {
            return Err(kind);
        }
        let entries = inputs.iter().map(|x| recorder.entry_of(*x, at)).collect();
        recorder.choose();
        Ok(entries)
    });
    found.map_err(|kind| Misuse { kind, at })
}

/// Whether variables of earlier tapes are among inputs for a tape, or on it. Those of later tapes do not belong there.
pub(super) fn is_above(
    id: u64,
    inputs: &[Var],
    at: &'static Location<'static>,
) -> Result<bool, Misuse> {
    if let Some(misuse) = inputs.iter().find_map(|x| x.misuse()) {
        return Err(misuse);
    }
    let found = with(|stack| {
        let recorder = stack.find(id).ok_or(MisuseKind::Stale)?;
        if recorder.busy {
            return Err(MisuseKind::Busy);
        }
        let mut is_above = !recorder.recording.primals.is_empty();
        for x in inputs.iter().filter(|x| x.tag() != CONSTANT) {
            let Some((_, owner)) = stack.owner(*x) else { return Err(stack.misuse(*x)) };
            // Later tapes have greater numbers.
            if owner.id > id {
                return Err(MisuseKind::Later);
            }
            is_above |= owner.id < id;
        }
        Ok(is_above)
    });
    found.map_err(|kind| Misuse { kind, at })
}

/// Notes a comparison, where its tape keeps them.
#[inline]
pub(super) fn compared(row: Prim, a: Var, b: Var, holds: bool, at: &'static Location<'static>) {
    if a.tag() | b.tag() == CONSTANT {
        return;
    }
    with(|stack| {
        let keeps = |recorder: &Recorder| recorder.recording.guards.is_some();
        if !keeps(&stack.top) && !stack.below.iter().any(keeps) {
            return;
        }
        let owner = |stack: &mut Stack, x: Var| stack.owner(x).map(|(height, _)| height);
        let (of_a, of_b) = (owner(stack, a), owner(stack, b));
        let Some(height) = of_a.max(of_b) else { return };
        // One that is no variable any more is compared as the number it was.
        let a = of_a.map_or(Var::constant(a.value()), |_| a);
        let b = of_b.map_or(Var::constant(b.value()), |_| b);
        let recorder = stack.at(height);
        if recorder.recording.guards.is_none() {
            return;
        }
        if recorder.refuses(2).is_some() {
            return;
        }
        let (a, b) = (recorder.entry_of(a, at), recorder.entry_of(b, at));
        let before = recorder.recording.nodes.len() as u32;
        if let Some(guards) = &mut recorder.recording.guards {
            guards.push(Guard { row, a, b, before, holds, at });
        }
    });
}

/// Counts a value that became a plain number.
pub(super) fn converted(x: Var) {
    if x.tag() != CONSTANT && x.tag() != MISUSED {
        with(|stack| {
            if let Some((_, recorder)) = stack.owner(x) {
                recorder.recording.conversions += 1;
            }
        });
    }
}
