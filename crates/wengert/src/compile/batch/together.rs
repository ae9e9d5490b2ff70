//! All members of a batch by one program.
//!
//! The program (`wengert_core::transform::batch`) gives one array per result, members along its first axis. What is to be
//! summed over the members comes as what each of them contributes; it is added up here, in the order that is promised.
//! A batch may be run in blocks of members, of any sizes: no bit depends on them.
//!
//! A member that fails is run once more, alone, which says what is wrong in the words of a call.

use super::{Alone, Batch, Members, Results, Whole};
use crate::array::Array;
use crate::compile::error::Error;
use crate::compile::executable::Executable;
use crate::compile::options::{Backend, Stats};
use crate::value::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wengert_core::fault::Fault;
use wengert_core::span::Span;

/// Elements of arrays to be summed over the members that a block may hold.
const ELEMENTS: usize = 1 << 20;
/// Fewer members than this are not worth a block: their arrays are large.
const FEW: usize = 8;
/// The members of the first block where faster code may come while the batch runs, and how long a block is to take then.
const FIRST: usize = 512;
const BLOCK: Duration = Duration::from_millis(50);

impl Batch<'_> {
    /// Runs all members; nothing where they are to be run one by one.
    pub(super) fn together(
        &self,
        members: &Members,
        program: &Executable,
        results: &Results<'_>,
        alone: &Alone<'_>,
    ) -> Result<Option<Whole>, Error> {
        let start = Instant::now();
        let options = &self.function.options;
        let shared = results.like.iter().filter(|k| !members.over.contains(k));
        let elements: usize = shared.map(|k| members.values[*k].len()).sum();
        let summed = results.own.contains(&false);
        let most = if summed { ELEMENTS / elements.max(1) } else { usize::MAX };
        if most < FEW {
            return Ok(None);
        }
        let mut size = if options.backend == Backend::Auto { FIRST.min(most) } else { most };
        let mut stats = Stats::default();
        let mut own: Vec<Option<Array>> = vec![None; results.own.len()];
        let mut sums: Vec<Sum> = results.own.iter().map(|_| Sum::default()).collect();
        let mut from = 0;
        while from < members.count {
            let to = from.saturating_add(size).min(members.count);
            let ends = [from, to].map(|k| Value::Int(k as i64));
            let args: Vec<&Value> = members.values.iter().chain(&ends).collect();
            let interrupt = options.interrupt.as_ref();
            if interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(self.interrupted().in_member(from));
            }
            let ran = match program.run(&args, options) {
                Ok(ran) => ran,
                Err(fault) => return self.failed(members, alone, from, &fault),
            };
            stats.backend = ran.backend;
            stats.tape_bytes = stats.tape_bytes.max(ran.tape_bytes);
            for (k, value) in ran.values.into_iter().enumerate() {
                let Value::Array(array) = value else { unreachable!("results are per member") };
                match &mut own[k] {
                    _ if !results.own[k] => sums[k].add_all(&array),
                    Some(before) => before.append(array),
                    none => *none = Some(array),
                }
            }
            from = to;
            if ran.backend == Backend::Cc {
                size = most;
            } else if Duration::from_secs_f64(ran.seconds) < BLOCK / 2 {
                size = size.saturating_mul(2).min(most);
            }
        }
        let own = own.into_iter().flatten().map(Value::Array).collect();
        let shared = sums.into_iter().filter_map(Sum::total).collect();
        stats.run_seconds = start.elapsed().as_secs_f64();
        Ok(Some(Whole { own, shared, stats }))
    }

    /// What is wrong with the member that has failed. Nothing where it is not known which, or where alone it does not fail:
    /// then they are to be run one by one.
    fn failed(
        &self,
        members: &Members,
        alone: &Alone<'_>,
        from: usize,
        fault: &Fault,
    ) -> Result<Option<Whole>, Error> {
        // The loop over the members is the outermost, and stands nowhere in the source.
        let Some((_, k)) = fault.iterations.last().filter(|(at, _)| *at == Span::default()) else {
            return Ok(None);
        };
        let Some(k) = usize::try_from(*k).ok().and_then(|k| k.checked_add(from)) else {
            return Ok(None);
        };
        match self.member(members, &*alone()?, k, &AtomicUsize::new(usize::MAX)) {
            Err(Some(error)) => Err(*error),
            _ => Ok(None),
        }
    }
}

/// A sum over members in the order of halves: of so many that came, the first greatest power of two, then the
/// rest.
#[derive(Default)]
struct Sum {
    /// Sums of powers of two members, fewer and fewer.
    parts: Vec<(usize, Value)>,
}

impl Sum {
    /// What members along the first axis contribute.
    fn add_all(&mut self, members: &Array) {
        for k in 0..members.shape()[0] {
            let (mut count, mut value) = (1, members.member(k));
            while let Some((_, mut before)) = self.parts.pop_if(|(n, _)| *n == count) {
                before.add(&value);
                (count, value) = (2 * count, before);
            }
            self.parts.push((count, value));
        }
    }

    /// All of it.
    fn total(mut self) -> Option<Value> {
        let (_, mut sum) = self.parts.pop()?;
        while let Some((_, mut before)) = self.parts.pop() {
            before.add(&sum);
            sum = before;
        }
        Some(sum)
    }
}
