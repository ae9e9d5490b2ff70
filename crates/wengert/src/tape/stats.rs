//! How large a recording is.

use super::Tape;
use super::nodes::BYTES;

/// What a tape holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries: inputs, constants and operations.
    pub entries: usize,
    /// Bytes that they take.
    pub bytes: usize,
    /// Bytes that are set aside for them.
    pub reserved: usize,
    /// Comparisons that are kept.
    pub comparisons: usize,
    /// Values that were converted to `f64`, through which no derivative passes.
    pub conversions: u64,
}

impl Tape {
    /// How large the recording is, and what it has noticed.
    pub fn stats(&self) -> Stats {
        let of = |recorder: &mut super::Recorder| {
            let recording = &recorder.recording;
            let entries = recording.nodes.len();
            let primals = recording.primals.len() * size_of::<super::Var>();
            let places =
                recording.places.as_ref().map_or(0, |places| places.len() * size_of::<usize>());
            let terms = recording.terms.len() * size_of::<(u32, f64)>()
                + recording.singles.len() * size_of::<(u32, f32)>();
            Stats {
                entries,
                bytes: entries * BYTES + primals + places + terms,
                reserved: recording.nodes.bytes() + primals + places + terms,
                comparisons: recording.guards.as_ref().map_or(0, Vec::len),
                conversions: recording.conversions,
            }
        };
        self.recorder(of).unwrap_or_default()
    }
}
