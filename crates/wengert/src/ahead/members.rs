//! Batches: many members on threads, with the same bits on any number of them.
//!
//! Members are cut into blocks of a power of two, and threads take block after block. What is summed over members is summed in halves: of
//! so many, the first greatest power of two below their number, then the rest, each the same way. So a block is a
//! part of that tree whatever the size of blocks is, and the order is that of `Function::batch`.

use super::memory::{Memory, MemoryError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use wengert_core::ahead::{FaultKind, RunError};

/// The stack of a thread, in bytes: as much as a program's first thread mostly has.
const STACK: usize = 8 << 20;

/// How many blocks there are for a thread, about.
const BLOCKS: usize = 8;

/// What derivatives are that can be summed.
pub trait Sum {
    /// Adds another one.
    fn add(&mut self, other: Self);
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Sum for $ty {
            fn add(&mut self, other: $ty) {
                *self += other;
            }
        }
    )*};
}
numbers! { f64 f32 }

impl<T: Sum> Sum for Vec<T> {
    fn add(&mut self, other: Vec<T>) {
        self.iter_mut().zip(other).for_each(|(x, y)| x.add(y));
    }
}

impl<T: Sum, const N: usize> Sum for [T; N] {
    fn add(&mut self, other: [T; N]) {
        self.iter_mut().zip(other).for_each(|(x, y)| x.add(y));
    }
}

macro_rules! tuples {
    ($($($name:ident $k:tt)*;)*) => {$(
        impl<$($name: Sum),*> Sum for ($($name,)*) {
            #[allow(unused_variables, reason = "nothing is added to nothing")]
            fn add(&mut self, other: Self) {
                $(self.$k.add(other.$k);)*
            }
        }
    )*};
}
tuples! {
    ;
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}

/// A sum in the order of halves, of what comes one after the other.
struct Halves<S> {
    /// Sums of powers of two members, fewer and fewer.
    parts: Vec<(usize, S)>,
}

impl<S: Sum> Halves<S> {
    fn new() -> Halves<S> {
        Halves { parts: Vec::new() }
    }

    /// Adds the sum of so many members: a power of two, or the last ones.
    fn add(&mut self, mut count: usize, mut sum: S) {
        while let Some((_, mut before)) = self.parts.pop_if(|(n, _)| *n == count) {
            before.add(sum);
            (count, sum) = (2 * count, before);
        }
        self.parts.push((count, sum));
    }

    fn total(mut self) -> Option<S> {
        let (_, mut sum) = self.parts.pop()?;
        while let Some((_, mut before)) = self.parts.pop() {
            before.add(sum);
            sum = before;
        }
        Some(sum)
    }
}

/// How the members of a batch are run.
#[derive(Clone, Debug, Default)]
pub struct Members {
    threads: Option<usize>,
    memory: Option<Result<Memory, MemoryError>>,
}

/// What a block has come to: what members have each, and their sum.
type Block<O, S> = Result<(Vec<O>, Option<S>), RunError>;

impl Members {
    /// On so many threads.
    pub fn threads(self, threads: usize) -> Members {
        Members { threads: Some(threads), ..self }
    }

    /// Each in so much memory.
    pub fn within(self, memory: Result<Memory, MemoryError>) -> Members {
        Members { memory: Some(memory), ..self }
    }

    /// The memory of each.
    pub fn memory(&self) -> Option<&Result<Memory, MemoryError>> {
        self.memory.as_ref()
    }

    /// How many members there are, where all arguments that differ say the same.
    pub fn count(given: &[(&str, usize)]) -> Result<usize, RunError> {
        let Some((first, count)) = given.first().copied() else { return Ok(0) };
        let wrong = |why: String| RunError::plain(FaultKind::Shape(why.as_str().into()));
        if let Some((name, n)) = given.iter().find(|(_, n)| *n != count) {
            return Err(wrong(format!("`{first}` has {count} members, but `{name}` has {n}")));
        }
        match count {
            0 => Err(wrong(format!("the batch has no members: `{first}` is empty"))),
            n => Ok(n),
        }
    }

    /// Runs every member, which gives what is its own and what is summed over all; there is at least one.
    pub fn run<O: Send, S: Sum + Send>(
        &self,
        count: usize,
        member: impl Fn(usize) -> Result<(O, S), RunError> + Sync,
    ) -> Result<(Vec<O>, S), RunError> {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(cores).clamp(1, count.max(1));
        let size = (count / threads / BLOCKS).max(1).next_power_of_two();
        let blocks = count.div_ceil(size);
        let made: Mutex<Vec<Option<Block<O, S>>>> = Mutex::new((0..blocks).map(|_| None).collect());
        let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let work = || loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            let first = block.saturating_mul(size);
            if first >= count || first > failed.load(Ordering::Relaxed) {
                break;
            }
            let members = first..(first + size).min(count);
            let came = one_by_one(members, &member, &failed);
            made.lock().unwrap_or_else(PoisonError::into_inner)[block] = Some(came);
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where no more threads can be had, there are fewer.
                let builder = thread::Builder::new().stack_size(STACK);
                if builder.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let (mut own, mut sum) = (Vec::with_capacity(count), Halves::new());
        for block in made.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten()
        {
            let (all, part) = block?;
            if let Some(part) = part {
                sum.add(all.len(), part);
            }
            own.extend(all);
        }
        let none = || RunError::plain(FaultKind::Shape("the batch has no members".into()));
        Ok((own, sum.total().ok_or_else(none)?))
    }
}

fn one_by_one<O, S: Sum>(
    members: std::ops::Range<usize>,
    member: &impl Fn(usize) -> Result<(O, S), RunError>,
    failed: &AtomicUsize,
) -> Block<O, S> {
    let (mut own, mut sum) = (Vec::with_capacity(members.len()), Halves::new());
    for k in members {
        match member(k) {
            Ok((one, part)) => {
                own.push(one);
                sum.add(1, part);
            }
            Err(error) => {
                failed.fetch_min(k, Ordering::Relaxed);
                return Err(error.in_member(k));
            }
        }
    }
    Ok((own, sum.total()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order as it is described.
    fn halves(x: &[f64]) -> f64 {
        match x {
            [one] => *one,
            all => {
                let (first, rest) = all.split_at(all.len().next_power_of_two() / 2);
                halves(first) + halves(rest)
            }
        }
    }

    #[test]
    fn sums_are_those_of_halves() {
        for count in [1, 2, 3, 7, 8, 64, 100, 257] {
            let x: Vec<f64> = (0..count).map(|k| 1.0 / (1.0 + f64::from(k))).collect();
            for threads in [1, 2, 3, 8] {
                let members = Members::default().threads(threads);
                let (own, sum) = members.run(x.len(), |k| Ok((k, x[k]))).unwrap();
                assert_eq!(own, (0..x.len()).collect::<Vec<_>>());
                assert_eq!(sum.to_bits(), halves(&x).to_bits(), "{count} on {threads}");
            }
        }
    }

    #[test]
    fn the_first_error_is_told() {
        for threads in [1, 3] {
            let ran = Members::default().threads(threads).run(100, |k| match k % 40 {
                37 => Err(RunError::plain(FaultKind::Overflow)),
                _ => Ok((k, 1.0)),
            });
            let told = ran.unwrap_err().to_string();
            assert!(told.contains("member 37 of the batch"), "{told}");
        }
    }
}
