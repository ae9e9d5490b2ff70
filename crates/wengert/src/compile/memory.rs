//! Loops in limited memory: what they would take, and what they took.

use crate::compile::args::{Args, Wrt};
use crate::compile::derivative::one;
use crate::compile::error::Error;
use crate::compile::function::{Function, Task};
use crate::compile::source::Source;
use crate::foreseen::Foreseen;
use crate::value::Value;
use wengert_checkpoint::{Done, Forecast, Measured, Unwound};
use wengert_runtime as runtime;

/// A loop whose gradient is computed in limited memory, or could be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopReport {
    /// The line where it begins, counted from 1.
    pub line: usize,
    /// The bytes allowed for what its reversal needs; the largest number where there is no limit.
    pub memory: u64,
    /// How many iterations it has, where that is known. Several short ones of the program may be one here.
    pub steps: Option<u64>,
    /// What iterations take; nothing of a loop that has none.
    pub measured: Option<Measured>,
    /// What was done, once it is.
    pub done: Option<Done>,
    /// What was done instead, where it was taken back ([`Invert`](crate::Invert)).
    pub taken_back: Option<TakenBack>,
}

/// What a loop took that was taken back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakenBack {
    /// A state was stored every so many iterations.
    pub every: u64,
    /// What was done, and how far states came out from those that were stored.
    pub done: Unwound,
}

impl LoopReport {
    pub(crate) fn new(source: &Source, of: runtime::LoopStats) -> LoopReport {
        let runtime::LoopStats { span, memory, steps, measured, done, taken_back } = of;
        let taken_back = taken_back.map(|(done, every)| TakenBack { every, done });
        LoopReport { line: source.line(span), memory, steps, measured, done, taken_back }
    }

    /// What is known of it before it runs.
    pub fn foreseen(&self) -> Foreseen {
        Foreseen { line: self.line, steps: self.steps, measured: self.measured }
    }

    /// What the loop takes in so many bytes: nothing where its end is not known, or where they do not hold a state and the record of
    /// one iteration.
    pub fn forecast(&self, memory: u64) -> Option<Forecast> {
        self.foreseen().forecast(memory)
    }

    /// Whether states were to be kept with fewer digits.
    pub(crate) fn is_shortened(&self) -> bool {
        self.done.is_some_and(|done| done.shortened.is_some())
    }

    /// About how far its gradient is from the exact one at most, relative to the largest number, where states were kept with fewer
    /// digits and that is known; see [`Shortened`](wengert_checkpoint::Shortened).
    pub fn effect(&self) -> Option<f64> {
        self.done?.shortened?.effect
    }

    /// What keeping everything takes, in bytes.
    pub fn everything(&self) -> Option<u64> {
        self.foreseen().everything()
    }
}

impl Function {
    /// How the loops of a gradient would be reversed in the memory allowed ([`Options::memory`](crate::Options::memory)).
    ///
    /// Nothing is run but a few iterations of each loop, and what comes before the last of them.
    ///
    /// ```
    /// let text = "
    /// def f(x, n):
    ///     for i in range(n):
    ///         x = 3.7 * x * (1.0 - x)
    ///     return x
    /// ";
    /// let f = wengert::Function::from_source(text, "f")?;
    /// let plan = f.plan((0.3, 1_000_000), "x")?;
    /// let of = &plan[0];
    /// assert_eq!(of.line, 3);
    /// // In a hundredth of what it takes to keep everything, every iteration is run two or three times.
    /// let forecast = of.forecast(of.everything().unwrap() / 100).unwrap();
    /// assert!(forecast.evaluations < 3 * u128::from(of.steps.unwrap()));
    /// # Ok::<(), wengert::Error>(())
    /// ```
    pub fn plan(
        &self,
        args: impl Into<Args>,
        wrt: impl Into<Wrt>,
    ) -> Result<Vec<LoopReport>, Error> {
        let call = self.prepare(args.into())?;
        let by = self.by(&call, wrt.into())?;
        self.one_float(&call)?;
        let program = self.program(&call, Task::Reverse(by))?;
        let one = one(&call);
        let args: Vec<&Value> = call.values.iter().chain([&one]).collect();
        let loops = program.plan(&args, &self.options).map_err(|fault| self.fault(fault))?;
        let source = self.source();
        Ok(loops.into_iter().map(|of| LoopReport::new(source, of)).collect())
    }
}
