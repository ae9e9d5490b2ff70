//! Parallel loops on threads.
//!
//! A range of a parallel loop is run in pieces, each by one call of compiled code. A *worker* is what a thread
//! needs for that: a context of its own, with its own arrays and its own tape, on which the pieces it records lie
//! one behind the other. Workers take pieces in order, one by one; on the way back each reverses those it
//! has recorded, the last one first. What pieces share they only read, and of arrays that they
//! change each changes rows of its own. Where pieces begin and end is no matter for the results: sums over
//! iterations are the program's own, over chunks that do not depend on who runs them.
//!
//! Where iterations make tapes of their own, each worker has one for all of its iterations, which may hold what the
//! limit says: nothing is left on it from one to the next.
//!
//! A loop that takes less time than threads need to begin is run as a whole, by the caller.
//!
//! The tapes of all workers together may hold what the limit leaves beside the program's own tape when the loop
//! begins. Each worker has a block for nothing, and takes one more from what is left, for all of them, whenever the
//! last is full. There is none left only where full blocks have used up the whole: then more is needed than
//! there may be, whoever runs what. Blocks that are not full are room beyond the limit, so what
//! was recorded is counted when the loop has ended; one that needed too much always fails, and no other.

use crate::context::Context;
use crate::control::DefaultFloats;
use crate::jit::lanes::LANES;
use crate::jit::link::{Frame, Plan, Step};
use crate::jit::site::SiteKind;
use crate::program::Stats;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::slice;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use wengert_core::ir::Phase;
use wengert_core::ir::parallel::MOST_TRIPS;
use wengert_core::ir::pieces::{Split, trips};

/// The most pieces of a loop: enough for threads that are done early to take one more.
const PIECES: u64 = 64;
/// Nanoseconds below which a phase of a loop is not worth the waking of threads.
const WORTH: u64 = 30_000;
/// The most bytes of tape that a worker takes at a time, and the least.
pub(crate) const BLOCK: u64 = 64 << 20;
const BLOCK_LEAST: u64 = 1 << 10;
/// Tapes so many times shorter than the program's own are not used.
const FAR_SHORTER: u64 = 16;
/// The stack of a thread, in bytes.
const STACK: usize = 8 << 20;

/// The workers of a run, and what has been recorded on them.
#[derive(Debug, Default)]
pub(crate) struct Workers<'p> {
    workers: Vec<Worker<'p>>,
    recorded: Vec<Recorded>,
    /// The most bytes that stood on the tapes of workers at once.
    tape_peak: u64,
    /// Pieces that other threads than the caller's have run.
    elsewhere: u64,
}

/// What a thread needs to run pieces.
#[derive(Debug)]
struct Worker<'p> {
    context: Box<Context<'p>>,
    /// The end of what is recorded on its tape; 0 while it has none.
    top: usize,
    /// The highest such end.
    highest: usize,
}

/// A loop that has been recorded and not yet reversed.
#[derive(Debug)]
struct Recorded {
    plan: usize,
    range: (i64, i64),
    /// Per worker the pieces it has recorded; nothing where they lie on the program's own tape.
    runs: Option<Vec<Vec<Run>>>,
}

/// A recorded piece: which, and where its records end.
#[derive(Clone, Copy, Debug)]
struct Run {
    piece: u64,
    end: usize,
}

/// A worker at work.
struct Work<'l, 'p> {
    worker: &'l mut Worker<'p>,
    runs: Vec<Run>,
    /// The piece that has failed.
    failed: Option<u64>,
    busy: Duration,
    /// How many pieces were run on another thread than the caller's.
    elsewhere: u64,
}

// SAFETY: the pointers in a context are to what all workers share and only look at (the interrupt flag) or change by
// atomic instructions (the room for tapes), or to what the context itself owns. A worker is lent to one thread,
// which has ended its work before the loan does.
unsafe impl Send for Work<'_, '_> {}

/// What is to be done, for all workers.
struct Task<'t> {
    step: Step,
    frame: &'t Frame,
    /// The words of the parameters.
    words: Vec<u64>,
    caller: ThreadId,
    /// Pieces are so many iterations long, or a multiple of that; only the last one may be shorter.
    unit: u64,
    pieces: u64,
    /// The next piece to be taken.
    next: AtomicUsize,
    /// The first piece known to fail.
    failed: AtomicUsize,
}

impl Task<'_> {
    /// The same for a phase and for the way back, if the number of workers is.
    fn new(step: Step, frame: &Frame, words: Vec<u64>, workers: usize) -> Task<'_> {
        let trips = trips(words[0] as i64, words[1] as i64);
        let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let caller = std::thread::current().id();
        // Where there are enough, as many as run in lockstep.
        let lanes = LANES as u64;
        let unit = if trips / lanes >= 2 * workers as u64 { lanes } else { 1 };
        let pieces = trips.div_ceil(unit).min(PIECES);
        Task { step, frame, words, caller, unit, pieces, next, failed }
    }

    /// The first iteration of a piece.
    fn start(&self, piece: u64) -> i64 {
        let (from, to) = (self.words[0] as i64, self.words[1] as i64);
        let trips = trips(from, to);
        let split = Split::new(trips.div_ceil(self.unit), self.pieces);
        from + trips.min(self.unit * split.start(piece)) as i64
    }

    /// Runs a piece; gives back the end of the tape after it.
    fn run(
        &self,
        context: &mut Context,
        frame: &mut [u64],
        piece: u64,
        top: usize,
    ) -> Option<usize> {
        frame[..self.frame.params].copy_from_slice(&self.words);
        (frame[0], frame[1]) = (self.start(piece) as u64, self.start(piece + 1) as u64);
        if let Some((given, _)) = self.frame.tape {
            frame[given] = top as u64;
        }
        // SAFETY: the context is one of the program's and lent to this thread. The frame is as long as the function's
        // parameters and results, and holds what the caller of the loop has laid out for it; the arrays in it live
        // as long as that call. Iterations of a parallel loop touch no row that another changes, as there are no more of them
        // than `MOST_TRIPS`: that was looked at when the code was linked (`Graph::pieces`), or the transform that
        // made the loop vouches for it, and for all code around it (`Module::vouched`); that the arrays handed back are
        // those given has been looked at in both. The room for tapes outlives the call.
        let status = unsafe { self.step.call(context, frame.as_mut_ptr()) };
        let top = self.frame.tape.map_or(top, |(_, given_back)| frame[given_back] as usize);
        (status == 0).then_some(top)
    }
}

impl Work<'_, '_> {
    /// Runs pieces until there are no more.
    fn forward(&mut self, task: &Task) {
        let _floats = DefaultFloats::set();
        let start = Instant::now();
        let elsewhere = u64::from(std::thread::current().id() != task.caller);
        let mut frame = vec![0; task.frame.params + task.frame.results];
        loop {
            let piece = task.next.fetch_add(1, Ordering::Relaxed);
            if piece as u64 >= task.pieces || piece > task.failed.load(Ordering::Relaxed) {
                break;
            }
            let worker = &mut *self.worker;
            let Some(end) = task.run(&mut worker.context, &mut frame, piece as u64, worker.top)
            else {
                task.failed.fetch_min(piece, Ordering::Relaxed);
                self.failed = Some(piece as u64);
                break;
            };
            worker.top = end;
            worker.highest = worker.highest.max(end);
            self.elsewhere += elsewhere;
            self.runs.push(Run { piece: piece as u64, end });
        }
        self.busy = start.elapsed();
    }

    /// Reverses the pieces that lie on its tape.
    fn reverse(&mut self, task: &Task) {
        let _floats = DefaultFloats::set();
        let start = Instant::now();
        let elsewhere = u64::from(std::thread::current().id() != task.caller);
        let mut frame = vec![0; task.frame.params + task.frame.results];
        for run in std::mem::take(&mut self.runs).into_iter().rev() {
            // Somebody else's fault ends the run.
            if task.failed.load(Ordering::Relaxed) != usize::MAX {
                break;
            }
            let worker = &mut *self.worker;
            let Some(end) = task.run(&mut worker.context, &mut frame, run.piece, run.end) else {
                task.failed.fetch_min(run.piece as usize, Ordering::Relaxed);
                self.failed = Some(run.piece);
                break;
            };
            worker.top = end;
            self.elsewhere += elsewhere;
        }
        self.busy = start.elapsed();
    }
}

impl<'p> Workers<'p> {
    /// Sees that there are workers, with tapes where they are needed; gives back how many there are.
    fn open(&mut self, main: &Context<'p>, wanted: usize, tapes: bool) -> usize {
        for k in 0..wanted {
            if k == self.workers.len() {
                let context = Box::new(main.worker());
                self.workers.push(Worker { context, top: 0, highest: 0 });
            }
            let worker = &mut self.workers[k];
            if tapes && worker.top == 0 {
                let Some(base) = worker.context.open_tape() else { return k };
                (worker.top, worker.highest) = (base, base);
                if main.program.own_tape {
                    let bytes = usize::try_from(main.tapes.bytes()).unwrap_or(usize::MAX);
                    let limit = worker.context.tape_limit;
                    worker.context.tape_limit = limit.min(base.saturating_add(bytes));
                }
            }
            worker.context.depth = main.depth;
        }
        wanted
    }

    /// The bytes that are recorded on workers.
    fn recorded_bytes(&self) -> u64 {
        self.workers.iter().map(|worker| (worker.top - worker.context.tape_base) as u64).sum()
    }

    /// What the shortest tape of the first workers has left. One is as long as the limit, and two blocks more, unless there were no
    /// addresses for so much.
    fn spare(&self, count: usize) -> u64 {
        let spare = |worker: &Worker| {
            let end = worker.context.tapes.limit(worker.context.tape_base);
            end.saturating_sub(worker.top) as u64
        };
        self.workers[..count].iter().map(spare).min().unwrap_or(0)
    }

    /// Lets the first workers take what is left of the limit; gives back how much that is.
    fn share(&mut self, main: &Context, top: usize, count: usize, room: &AtomicI64) -> u64 {
        let used = (top - main.tape_base) as u64 + self.recorded_bytes();
        let spare = self.spare(count);
        let workers = &mut self.workers[..count];
        let left = main.tapes.bytes().saturating_sub(used).min(spare);
        // One per worker together are to be small beside what there may be; but code that has taken one looks for its
        // limit with every record until the piece has ended, so they are not to be smaller than they must.
        let block = (left / (16 * count as u64)).clamp(BLOCK_LEAST, BLOCK);
        let left = left.min(spare.saturating_sub(2 * block));
        room.store(i64::try_from(left).unwrap_or(i64::MAX), Ordering::Relaxed);
        for worker in workers {
            let end = worker.context.tapes.limit(worker.context.tape_base);
            worker.context.tape_limit = end.min(worker.top + block as usize);
            (worker.context.tape_shared, worker.context.tape_block) = (room, block as usize);
        }
        left
    }

    /// The run is over: what workers have held at once on tapes and in arrays, and what was done on other threads.
    pub(crate) fn close(&mut self) -> Stats {
        let mut arrays = 0;
        for worker in &mut self.workers {
            arrays += worker.context.arrays.peak_bytes();
            if worker.context.program.own_tape {
                worker.highest = worker.highest.max(worker.context.tape_peak);
                let held = (worker.highest - worker.context.tape_base) as u64;
                self.tape_peak = self.tape_peak.max(held);
            }
            worker.context.tapes.note(worker.highest);
            worker.context.tapes.close();
        }
        Stats {
            tape_peak_bytes: self.tape_peak,
            array_peak_bytes: arrays,
            pieces_elsewhere: self.elsewhere,
            ..Stats::default()
        }
    }
}

/// Runs one phase of a parallel loop.
///
/// # Safety
/// As for [`Step::call`]: the context must be valid and used by nobody else, and the frame laid out for the plan's
/// function of that phase.
pub(crate) unsafe fn drive<'p>(
    context: *mut Context<'p>,
    (number, plan): (usize, &'p Plan),
    (phase, frame): (Phase, &'p Frame),
    at: *mut u64,
) -> u32 {
    // SAFETY: the frame begins with the words of the parameters.
    let words = unsafe { slice::from_raw_parts(at, frame.params) }.to_vec();
    let range = (words[0] as i64, words[1] as i64);
    let trips = trips(range.0, range.1);
    let (step, pace) = match phase {
        Phase::Forward => (plan.record, &plan.pace[0]),
        Phase::Reverse => (plan.reverse, &plan.pace[1]),
    };
    // SAFETY: nobody else uses the context, and compiled code does not run on it while this reference is in use.
    let main = unsafe { &mut *context };
    let mut workers = std::mem::take(&mut main.workers);
    let recorded = match phase {
        Phase::Forward => {
            let worth = trips > 1 && trips <= MOST_TRIPS && worth(plan, trips);
            let count = main.threads.min(trips.min(PIECES) as usize);
            let worth = worth && count > 1 && pool(count - 1).is_some();
            let tapes = frame.tape.is_some() || main.program.own_tape;
            let mut count = if worth { workers.open(main, count, tapes) } else { 0 };
            // Where addresses are few, one tape may be much longer than several.
            if count > 1 && tapes && workers.spare(count) < main.tapes.bytes() / FAR_SHORTER {
                count = 0;
            }
            (count > 1).then(|| vec![Vec::new(); count])
        }
        Phase::Reverse => {
            let is_it = |r: &Recorded| r.plan == number && r.range == range;
            let found = workers.recorded.iter().rposition(is_it);
            found
                .and_then(|k| workers.recorded.drain(k..).next())
                .and_then(|recorded| recorded.runs)
        }
    };
    let start = Instant::now();
    let Some(runs) = recorded else {
        if phase == Phase::Forward && frame.tape.is_some() {
            workers.recorded.push(Recorded { plan: number, range, runs: None });
        }
        main.workers = workers;
        // SAFETY: as the caller promises.
        let status = unsafe { step.call(context, at) };
        note(pace, start.elapsed(), trips);
        return status;
    };
    let (room, before) = (AtomicI64::new(0), workers.recorded_bytes());
    let mut left = u64::MAX;
    if let Some((given, _)) = frame.tape {
        left = workers.share(main, words[given] as usize, runs.len(), &room);
    }
    let task = Task::new(step, frame, words, runs.len());
    let mut works: Vec<Work> = workers
        .workers
        .iter_mut()
        .zip(runs)
        .map(|(worker, runs)| Work {
            worker,
            runs,
            failed: None,
            busy: Duration::ZERO,
            elsewhere: 0,
        })
        .collect();
    together(&mut works, &|work| match phase {
        Phase::Forward => work.forward(&task),
        Phase::Reverse => work.reverse(&task),
    });
    works.iter_mut().for_each(|work| work.worker.context.tape_shared = std::ptr::null());
    note(pace, works.iter().map(|work| work.busy).sum(), trips);
    let elsewhere: u64 = works.iter().map(|work| work.elsewhere).sum();
    let failed = task.failed.load(Ordering::Relaxed);
    if let Some(work) = works.iter_mut().find(|work| work.failed == Some(failed as u64)) {
        main.take_fault(&mut work.worker.context);
        // Who finds a tape full that all share is chance.
        let shared = frame.tape.is_some();
        if shared && matches!(main.program.sites[main.site as usize].kind, SiteKind::TapeLimit) {
            main.full(plan.full);
        }
        main.workers = workers;
        return 1;
    }
    let runs = works.into_iter().map(|work| work.runs).collect();
    workers.elsewhere += elsewhere;
    if phase == Phase::Forward && workers.recorded_bytes() - before > left {
        main.full(plan.full);
        main.workers = workers;
        return 1;
    }
    let words = task.words;
    // SAFETY: behind the parameters there is room for the results.
    let out = unsafe { slice::from_raw_parts_mut(at, frame.params + frame.results) };
    for (from, to, n) in &frame.arrays {
        out[*to..to + n].copy_from_slice(&words[*from..from + n]);
    }
    if let Some(ended) = frame.ended {
        (out[ended], out[ended + 1]) = (range.0.max(range.1) as u64, 0);
    }
    if let Some((given, given_back)) = frame.tape {
        out[given_back] = words[given];
        if phase == Phase::Forward {
            let held = (words[given] as usize - main.tape_base) as u64 + workers.recorded_bytes();
            workers.tape_peak = workers.tape_peak.max(held);
            workers.recorded.push(Recorded { plan: number, range, runs: Some(runs) });
        }
    }
    main.workers = workers;
    0
}

/// Whether a loop is likely to take longer than threads need to begin, in all its phases. The first time it is.
fn worth(plan: &Plan, trips: u64) -> bool {
    let paces = plan.pace.each_ref().map(|pace| pace.load(Ordering::Relaxed));
    // One that has not run says nothing: there may be no way back, or it was never needed.
    let phases = paces.iter().filter(|pace| **pace != 0).count() as u64;
    let both = paces[0].saturating_add(paces[1]);
    phases == 0 || both.saturating_mul(trips) >= WORTH * phases
}

/// Remembers how long an iteration took.
fn note(pace: &std::sync::atomic::AtomicU64, busy: Duration, trips: u64) {
    if let Some(each) = u64::try_from(busy.as_nanos()).ok().and_then(|ns| ns.checked_div(trips)) {
        pace.store(each.max(1), Ordering::Relaxed);
    }
}

/// Workers at work at the same time, the first on this thread.
fn together(works: &mut [Work], run: &(dyn Fn(&mut Work) + Sync)) {
    let pool = pool(works.len() - 1);
    let Some((first, others)) = works.split_first_mut() else { return };
    match pool {
        Some(pool) => pool.in_place_scope(|scope| {
            for work in others {
                scope.spawn(move |_| run(work));
            }
            run(first);
        }),
        // No threads are to be had any more.
        None => {
            run(first);
            others.iter_mut().for_each(run);
        }
    }
}

/// The threads of this process, which wait for the next loop.
struct Pool {
    threads: Arc<ThreadPool>,
    /// A process that was forked has the memory, but not the threads.
    process: u32,
}

/// Threads for so many workers, if there are any to be had. There is one pool, as large as was needed so far: workers
/// are no more than a loop is to have, whatever the pool holds.
fn pool(wanted: usize) -> Option<Arc<ThreadPool>> {
    static POOL: Mutex<Option<Pool>> = Mutex::new(None);
    /// So many could not be had.
    static TOO_MANY: AtomicUsize = AtomicUsize::new(usize::MAX);
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let process = std::process::id();
    if let Some(other) = pool.take_if(|pool| pool.process != process) {
        // Its threads do not hear that they are to end.
        std::mem::forget(other);
    }
    let has = pool.as_ref().map_or(0, |pool| pool.threads.current_num_threads());
    let too_many = TOO_MANY.load(Ordering::Relaxed);
    if has < wanted && wanted < too_many {
        match ThreadPoolBuilder::new().num_threads(wanted).stack_size(STACK).build() {
            // Loops that run on the one before keep it until they have ended.
            Ok(threads) => *pool = Some(Pool { threads: Arc::new(threads), process }),
            Err(_) => TOO_MANY.store(wanted, Ordering::Relaxed),
        }
    }
    pool.as_ref().map(|pool| pool.threads.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_pool_and_it_grows() {
        let has = |pool: &Option<Arc<ThreadPool>>| pool.as_ref().unwrap().current_num_threads();
        let first = pool(1);
        assert!(has(&first) >= 1);
        let larger = pool(3);
        assert!(has(&larger) >= 3);
        let again = pool(2);
        assert!(Arc::ptr_eq(again.as_ref().unwrap(), larger.as_ref().unwrap()));
    }
}
