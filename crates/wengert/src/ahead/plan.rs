//! Plans of printed functions.

use super::memory::{Memory, MemoryError};
use super::within::Looked;
use crate::foreseen::{Foreseen, Plan};

impl Plan {
    /// What was looked at; `places` are the lines and columns of places of the source, as `line:column` with spaces between.
    #[doc(hidden)]
    pub fn new(looked: Vec<Looked>, places: &str) -> Plan {
        let line = |place: u32| {
            let (line, _) = places.split(' ').nth(place as usize)?.split_once(':')?;
            line.parse().ok()
        };
        let foreseen = |of: Looked| Foreseen {
            line: line(of.place).unwrap_or(0),
            steps: of.steps,
            measured: of.measured,
        };
        Plan { loops: looked.into_iter().map(foreseen).collect(), memory: None }
    }

    /// What that is in so much memory, of which loops have equal parts.
    #[doc(hidden)]
    pub fn within(self, memory: &Result<Memory, MemoryError>) -> Plan {
        let loops = self.loops.len().max(1) as u64;
        let memory = memory.as_ref().ok().map(|memory| memory.in_bytes() / loops);
        Plan { memory, ..self }
    }
}
