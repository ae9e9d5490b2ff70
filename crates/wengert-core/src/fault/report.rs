//! What a caller is told of a fault.

use super::{Fault, FaultKind};
use crate::span::Span;
use std::fmt;
use std::sync::Arc;

/// Why a derivative function of `#[differentiable]` has no result: an index out of range, a failed `assert!`, an integer that
/// does not fit, shapes that do not go together, memory that is not there.
///
/// It prints as `file:line:column: message`, and in which iterations of which loops.
#[derive(Clone, PartialEq)]
pub struct RunError {
    kind: FaultKind,
    message: Box<str>,
    file: &'static str,
    /// Line and column, from 1; zeros where they are not known. It is small, because it is returned.
    place: (u32, u32),
    loops: Box<[(u32, i64)]>,
    calls: Box<[CallSite]>,
    member: Option<u32>,
}

/// Where a function of another module or crate was called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSite {
    file: &'static str,
    place: Option<(u32, u32)>,
    loops: Vec<(u32, i64)>,
}

impl CallSite {
    /// The source file, as it was given to the compiler.
    pub fn file(&self) -> &str {
        self.file
    }

    /// The line, from 1, where it is known.
    pub fn line(&self) -> Option<u32> {
        self.place.map(|(line, _)| line)
    }

    /// The column, from 1.
    pub fn column(&self) -> Option<u32> {
        self.place.map(|(_, column)| column)
    }

    /// The loops around the call, innermost first: the line of each, and its iteration, from 0.
    pub fn loops(&self) -> &[(u32, i64)] {
        &self.loops
    }
}

/// A fault on its way to a caller that stands elsewhere, where its places mean nothing: told here.
#[cold]
#[inline(never)]
pub fn left(fault: Box<Fault>, file: &'static str, places: &str) -> Box<Fault> {
    let told = RunError::new(fault, file, places);
    let kind = FaultKind::Elsewhere(Arc::new(told));
    Box::new(Fault { kind, span: Span::default(), iterations: Vec::new() })
}

impl RunError {
    /// Tells of a fault. `places` are the lines and columns of the places of the source, as `line:column` with spaces between.
    #[cold]
    #[inline(never)]
    #[allow(clippy::boxed_local, reason = "as faults are passed")]
    pub fn new(fault: Box<Fault>, file: &'static str, places: &str) -> RunError {
        let places: Vec<(u32, u32)> = places
            .split(' ')
            .filter_map(|place| {
                let (line, column) = place.split_once(':')?;
                Some((line.parse().ok()?, column.parse().ok()?))
            })
            .collect();
        let place = |span: Span| places.get(span.start as usize).copied();
        let loops = fault.iterations.iter();
        let loops = loops.filter_map(|(span, k)| Some((place(*span)?.0, *k))).collect();
        if let FaultKind::Elsewhere(told) = &fault.kind {
            let mut told = RunError::clone(told);
            let call = CallSite { file, place: place(fault.span), loops };
            told.calls = told.calls.into_iter().chain([call]).collect();
            return told;
        }
        RunError {
            message: fault.message().into(),
            file,
            place: place(fault.span).unwrap_or_default(),
            loops: loops.into(),
            calls: [].into(),
            kind: fault.kind,
            member: None,
        }
    }

    /// What is wrong with arguments.
    pub fn plain(kind: FaultKind) -> RunError {
        let span = Span { start: u32::MAX, end: u32::MAX };
        RunError::new(Box::new(Fault { kind, span, iterations: Vec::new() }), "", "")
    }

    /// The same, of a member of a batch.
    #[must_use]
    pub fn in_member(self, k: usize) -> RunError {
        RunError { member: u32::try_from(k).ok(), ..self }
    }

    /// Which member of a batch it is, from 0.
    pub fn member(&self) -> Option<usize> {
        self.member.map(|k| k as usize)
    }

    /// What happened.
    pub fn kind(&self) -> &FaultKind {
        &self.kind
    }

    /// The source file, as it was given to the compiler.
    pub fn file(&self) -> &str {
        self.file
    }

    /// The line, from 1; none where an argument is wrong.
    pub fn line(&self) -> Option<u32> {
        (self.place.0 > 0).then_some(self.place.0)
    }

    /// The column, from 1.
    pub fn column(&self) -> Option<u32> {
        (self.place.1 > 0).then_some(self.place.1)
    }

    /// The loops around, innermost first: the line of each, and its iteration, from 0.
    pub fn loops(&self) -> &[(u32, i64)] {
        &self.loops
    }

    /// The calls of functions of other modules and crates that led to it, innermost first. File, line and loops of the error
    /// are those of the function that failed.
    pub fn calls(&self) -> &[CallSite] {
        &self.calls
    }

    /// Ends the program with it, for those who do not ask for a result.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub fn panic(&self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (line @ 1.., column) = self.place {
            write!(f, "{}:{line}:{column}: ", self.file)?;
        }
        if let Some(k) = self.member {
            write!(f, "member {k} of the batch: ")?;
        }
        f.write_str(&self.message)?;
        around(f, &self.loops)?;
        for call in self.calls.iter() {
            write!(f, ", called in {}", call.file)?;
            if let Some((line, column)) = call.place {
                write!(f, ":{line}:{column}")?;
            }
            around(f, &call.loops)?;
        }
        Ok(())
    }
}

/// The loops around a place.
fn around(f: &mut fmt::Formatter<'_>, loops: &[(u32, i64)]) -> fmt::Result {
    for (k, (line, iteration)) in loops.iter().enumerate() {
        let before = if k == 0 { ", in" } else { " of" };
        write!(f, "{before} iteration {iteration} of the loop in line {line}")?;
        if k + 1 < loops.len() {
            f.write_str(",")?;
        }
    }
    Ok(())
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RunError {}
