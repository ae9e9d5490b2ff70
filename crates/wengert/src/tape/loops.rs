//! Loops in the memory allowed: some states are kept, and steps are run again from them on the way back.
//!
//! A loop runs on plain numbers first, and keeps nothing. When a sweep comes to it, it runs under a schedule
//! ([`wengert_checkpoint`]). What the schedule keeps of a step is the state before it, not its recording: that is so much
//! larger that it is cheaper to make it when the step is reversed, one at a time.

use super::Tape;
use super::adjoints::Adjoints;
use super::error::Error;
use super::nodes::{BYTES, CHUNK};
use super::outside::Outside;
use super::region::{constants, only_inputs, plain, same};
use super::var::Var;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_checkpoint::{Error as RunError, Fingerprint, Run, Steps};

impl Tape {
    /// Runs `n` steps, `state = step(k, state, params)`, without keeping them, and gives back the last state. On the way back
    /// `memory_bytes` are enough for it, however many steps there are: states are kept in them, and the steps between are run again.
    /// Steps have to compute the same from the same numbers; all variables that they use are in the state or among the parameters.
    ///
    /// Beside those bytes there is the recording of a step of up to 16384 operations, which takes about 0.3 MB. What is larger is
    /// counted, with all else.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let (x, rate) = (tape.var(0.3), tape.var(3.2));
    /// let logistic = |_: usize, x: &[_], p: &[_]| vec![p[0] * x[0] * (1.0 - x[0])];
    /// let last = tape.for_each(100_000, &[x], &[rate], logistic, 10_000)?[0];
    /// assert_eq!(tape.len(), 3);
    /// assert!((last.backward()?.wrt(rate)? - 0.281_482_158_072).abs() < 1e-9);
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn for_each(
        &self,
        n: usize,
        state: &[Var],
        params: &[Var],
        step: impl Fn(usize, &[Var], &[Var]) -> Vec<Var> + 'static,
        memory_bytes: u64,
    ) -> Result<Vec<Var>, Error> {
        let goes_on = move |k: usize, _: &[Var], _: &[Var]| k < n;
        let (inputs, states) = joined(state, params);
        let at = Location::caller();
        let many = Loop { n: Some(n), goes_on, step, states, memory: memory_bytes, at };
        self.call(many, &inputs)
    }

    /// The same for as many steps as `goes_on(k, state, params)` holds before.
    ///
    /// ```
    /// use wengert::tape::Tape;
    ///
    /// let tape = Tape::new();
    /// let x = tape.var(1.5);
    /// let doubled = |_: usize, x: &[_], _: &[_]| vec![x[0] * 2.0];
    /// let y = tape.repeat_while(|_, x, _| x[0] < 1000.0, &[x], &[], doubled, 10_000)?[0];
    /// assert_eq!((y.value(), y.backward()?.wrt(x)?), (1536.0, 1024.0));
    /// # Ok::<(), wengert::tape::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat_while(
        &self,
        goes_on: impl Fn(usize, &[Var], &[Var]) -> bool + 'static,
        state: &[Var],
        params: &[Var],
        step: impl Fn(usize, &[Var], &[Var]) -> Vec<Var> + 'static,
        memory_bytes: u64,
    ) -> Result<Vec<Var>, Error> {
        let (inputs, states) = joined(state, params);
        let at = Location::caller();
        self.call(Loop { n: None, goes_on, step, states, memory: memory_bytes, at }, &inputs)
    }
}

fn joined(state: &[Var], params: &[Var]) -> (Vec<Var>, usize) {
    (state.iter().chain(params).copied().collect(), state.len())
}

/// A loop as it was given.
struct Loop<C, F> {
    /// How many steps, where that is known.
    n: Option<usize>,
    goes_on: C,
    step: F,
    /// How many numbers are the state; those behind them are parameters.
    states: usize,
    memory: u64,
    at: &'static Location<'static>,
}

impl<C, F> Loop<C, F>
where
    C: Fn(usize, &[Var], &[Var]) -> bool,
    F: Fn(usize, &[Var], &[Var]) -> Vec<Var>,
{
    fn counted(&self, given: usize) -> Result<(), Error> {
        let (what, wanted) = ("numbers of the next state", self.states);
        if given == wanted {
            return Ok(());
        }
        Err(Error::Outside { at: self.at, what, wanted, given })
    }

    /// Runs steps on plain numbers, as long as there are any; gives back the one before which it stands.
    fn advance(
        &self,
        range: Range<u64>,
        state: &mut Vec<f64>,
        params: &[Var],
        mut before: impl FnMut(&[f64]),
    ) -> Result<u64, Error> {
        let mut x = constants(state);
        for k in range.clone() {
            if !(self.goes_on)(k as usize, &x, params) {
                return Ok(k);
            }
            before(state);
            x = (self.step)(k as usize, &x, params);
            *state = plain(&x, self.at)?;
            self.counted(x.len())?;
        }
        Ok(range.end)
    }

    /// Records one step on a tape that holds the parameters. Gives back the variables of the state before it and after it.
    fn record(
        &self,
        k: u64,
        state: &[f64],
        tape: &Tape,
        params: &[Var],
    ) -> Result<[Vec<Var>; 2], Error> {
        let x = tape.var_vec(state);
        let y = (self.step)(k as usize, &x, params);
        only_inputs(tape, &y, self.at)?;
        self.counted(y.len())?;
        Ok([x, y])
    }

    fn too_small(&self, needed: u64) -> Error {
        Error::Memory(format!(
            "{}: {} bytes are too few for this loop: one step and a state take {needed}; allow more memory, or make the step smaller",
            self.at, self.memory
        ))
    }

    /// What went wrong with a schedule.
    fn failed(&self, error: RunError<Error>) -> Error {
        match error {
            RunError::Step(error) => error,
            RunError::OtherEnd { .. } | RunError::OtherState(_) => {
                Error::NotRepeatable { at: self.at, what: error.to_string() }
            }
            _ => Error::Memory(format!("{}: {error}", self.at)),
        }
    }
}

impl<C, F> Outside for Loop<C, F>
where
    C: Fn(usize, &[Var], &[Var]) -> bool,
    F: Fn(usize, &[Var], &[Var]) -> Vec<Var>,
{
    fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        let (state, params) = x.split_at(self.states);
        let mut state = state.to_vec();
        self.advance(0..u64::MAX, &mut state, &constants(params), |_| {})?;
        Ok(state)
    }

    fn vjp(&self, x: &[f64], y: &[f64], dy: &[f64]) -> Result<Vec<f64>, Error> {
        let mut steps = Recomputed::new(self, x)?;
        if self.n == Some(0) {
            steps.adjoint.copy_from_slice(dy);
            return Ok(steps.gathered());
        }
        let left = self.memory - steps.beside;
        let mut run = Run::new(left, self.n.map(|n| n as u64), None);
        steps.allowed = run.allowed();
        run.forward(&mut steps).map_err(|error| self.failed(error))?;
        same(y, &steps.state, self.at)?;
        steps.adjoint.copy_from_slice(dy);
        run.backward(&mut steps).map_err(|error| self.failed(error))?;
        Ok(steps.gathered())
    }

    fn jvp(&self, x: &[f64], y: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        let (state, params) = x.split_at(self.states);
        let (mut state, constant) = (state.to_vec(), constants(params));
        let (tangents, of_params) = dx.split_at(self.states);
        let mut tangents = tangents.to_vec();
        let tape = Tape::new();
        let params = tape.var_vec(params);
        let begin = tape.position();
        for k in 0.. {
            if !(self.goes_on)(k as usize, &constants(&state), &constant) {
                break;
            }
            let [x, next] = self.record(k, &state, &tape, &params)?;
            let direction = x.into_iter().zip(tangents);
            let direction = direction.chain(params.iter().copied().zip(of_params.iter().copied()));
            tangents = tape.forward(&direction.collect::<Vec<_>>(), &next)?;
            state = next.into_iter().map(Var::value).collect();
            tape.rewind(begin)?;
        }
        same(y, &state, self.at)?;
        Ok(tangents)
    }
}

/// States in the order they were met; the last ones go first. They lie in blocks, so that none is ever copied.
struct States {
    blocks: Vec<Vec<f64>>,
    /// Numbers of a state, and states of a block.
    each: usize,
    in_block: usize,
}

impl States {
    fn new(each: usize, memory: u64) -> States {
        let bytes = (memory / 64).clamp(1, 16 << 10) as usize;
        States { blocks: Vec::new(), each, in_block: (bytes / (8 * each.max(1))).max(1) }
    }

    fn block_bytes(&self) -> u64 {
        // With what an empty vector takes.
        (self.in_block * self.each * 8 + size_of::<Vec<f64>>()) as u64
    }

    fn bytes(&self) -> u64 {
        self.blocks.len() as u64 * self.block_bytes()
    }

    /// What so many more would take.
    fn bytes_for(&self, count: u64) -> u64 {
        let last = self.blocks.last().map_or(0, |block| self.in_block - self.held(block)) as u64;
        let blocks = count.saturating_sub(last).div_ceil(self.in_block as u64);
        blocks.saturating_mul(self.block_bytes())
    }

    fn held(&self, block: &[f64]) -> usize {
        // States without numbers take no room.
        block.len().checked_div(self.each).unwrap_or(0)
    }

    fn push(&mut self, state: &[f64]) {
        let size = self.in_block * self.each;
        match self.blocks.last_mut() {
            Some(block) if block.len() < size => block.extend(state),
            _ if self.each == 0 => {}
            _ => {
                let mut block = Vec::with_capacity(size);
                block.extend(state);
                self.blocks.push(block);
            }
        }
    }

    fn pop(&mut self, to: &mut Vec<f64>) {
        to.clear();
        if let Some(block) = self.blocks.last_mut() {
            to.extend(block.drain(block.len() - self.each..));
            if block.is_empty() {
                self.blocks.pop();
            }
        }
    }
}

/// A loop under a schedule.
struct Recomputed<'a, C, F> {
    of: &'a Loop<C, F>,
    state: Vec<f64>,
    params: Vec<f64>,
    /// States before the steps that are to be reversed next.
    records: States,
    /// For one step at a time: its tape, with the parameters, and adjoints of everything on it.
    tape: Tape,
    variables: Vec<Var>,
    adjoints: Adjoints,
    /// Adjoints of the state and of the parameters.
    adjoint: Vec<f64>,
    of_params: Vec<f64>,
    /// What one step takes beside states: its recording, where that is large, and numbers on their way.
    beside: u64,
    allowed: Arc<AtomicU64>,
}

impl<'a, C, F> Recomputed<'a, C, F>
where
    C: Fn(usize, &[Var], &[Var]) -> bool,
    F: Fn(usize, &[Var], &[Var]) -> Vec<Var>,
{
    fn new(of: &'a Loop<C, F>, x: &[f64]) -> Result<Self, Error> {
        let (state, params) = x.split_at(of.states);
        let tape = Tape::new();
        let variables = tape.var_vec(params);
        let (records, allowed) = (States::new(of.states, of.memory), Arc::default());
        let (adjoint, of_params) = (vec![0.0; state.len()], vec![0.0; params.len()]);
        let (state, params) = (state.to_vec(), params.to_vec());
        let adjoints = Adjoints::default();
        let mut this = Recomputed {
            of,
            state,
            params,
            records,
            tape,
            variables,
            adjoints,
            adjoint,
            of_params,
            beside: 0,
            allowed,
        };
        // What the first step takes, so that there is room for it from the start.
        let begin = this.tape.position();
        if (of.goes_on)(0, &constants(&this.state), &constants(&this.params)) {
            of.record(0, &this.state, &this.tape, &this.variables)?;
        }
        this.look()?;
        this.tape.rewind(begin)?;
        Ok(this)
    }

    /// Sees what the step on the tape takes; states may take less from now on if that is more than was known.
    fn look(&mut self) -> Result<(), Error> {
        let numbers = 11 * (self.state.len() + self.params.len());
        let stats = self.tape.stats();
        let larger = stats.reserved.saturating_sub(CHUNK * BYTES);
        let adjoints = if larger > 0 { 8 * stats.entries } else { 0 };
        let needed = (8 * numbers + larger + adjoints) as u64;
        if needed <= self.beside {
            return Ok(());
        }
        self.beside = needed;
        let least = needed + 8 * self.state.len() as u64;
        let left = self.of.memory.checked_sub(needed).filter(|_| least <= self.of.memory);
        let left = left.ok_or_else(|| self.of.too_small(least))?;
        self.allowed.store(left, Ordering::Relaxed);
        Ok(())
    }

    fn gathered(self) -> Vec<f64> {
        self.adjoint.into_iter().chain(self.of_params).collect()
    }

    /// Reverses one step from the state before it.
    fn back(&mut self, k: u64) -> Result<(), Error> {
        let begin = self.tape.position();
        let [x, y] = self.of.record(k, &self.state, &self.tape, &self.variables)?;
        self.look()?;
        // What parameters have gathered goes first: sums come out as on a tape that holds everything.
        let params = self.variables.iter().copied().zip(self.of_params.iter().copied());
        let seeds: Vec<(Var, f64)> =
            y.into_iter().zip(self.adjoint.iter().copied()).chain(params).collect();
        self.tape.reverse_into(&seeds, &mut self.adjoints)?;
        self.adjoint = self.adjoints.wrt_all(&x)?;
        self.of_params = self.adjoints.wrt_all(&self.variables)?;
        self.tape.rewind(begin)
    }
}

impl<C, F> Steps for Recomputed<'_, C, F>
where
    C: Fn(usize, &[Var], &[Var]) -> bool,
    F: Fn(usize, &[Var], &[Var]) -> Vec<Var>,
{
    type Error = Error;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, Error> {
        self.of.advance(range, &mut self.state, &constants(&self.params), |_| {})
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, Error> {
        if self.records.bytes_for(range.end - range.start) > room {
            return Ok(None);
        }
        let (records, params) = (&mut self.records, constants(&self.params));
        let at = self.of.advance(range, &mut self.state, &params, |state| records.push(state))?;
        Ok(Some(at))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), Error> {
        for k in range.rev() {
            self.records.pop(&mut self.state);
            self.back(k)?;
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.records.blocks.clear();
    }

    fn record_bytes(&self) -> u64 {
        self.records.bytes()
    }

    fn state_bytes(&self) -> u64 {
        8 * self.state.len() as u64
    }

    fn save(&self, to: &mut [u8]) {
        for (to, x) in to.chunks_exact_mut(8).zip(&self.state) {
            to.copy_from_slice(&x.to_le_bytes());
        }
    }

    fn load(&mut self, from: &[u8]) -> Result<(), Error> {
        let (numbers, _) = from.as_chunks::<8>();
        self.state.clear();
        self.state.extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        Ok(())
    }

    fn fingerprint(&self) -> u64 {
        let mut print = Fingerprint::new();
        print.floats(&self.state);
        print.finish()
    }
}
