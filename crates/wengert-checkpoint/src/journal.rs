//! Where a run stands, in a file, so that another process can go on with it.
//!
//! States are in files of their own ([`Disk`](crate::Disk)); the journal says how far the adjoint has come, and what it is. It is written
//! under another name first and at most once a second. Whatever is lost, the journal that is there is whole and right: a state that
//! it knows of and that is gone is computed again, and one that it does not know of is used.

use crate::disk::{DiskError, Folder, checked, stamp, write};
use crate::plan::Measured;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How it begins: eight letters and a version.
const MAGIC: [u8; 8] = *b"wngrtjn3";

/// Numbers at its beginning.
const WORDS: usize = 10;

/// The least time between two of them, if nothing else is said.
const BETWEEN: Duration = Duration::from_secs(1);

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// How many steps the loop has, if that is known.
    pub(crate) steps: Option<u64>,
    pub(crate) measured: Measured,
    /// How states are kept.
    pub(crate) precision: u64,
    /// What is known of the state before the last step that is reversed, where states are shortened.
    pub(crate) outline: Option<u64>,
    /// How far the adjoint has come, and what it is; nothing in the first sweep.
    pub(crate) adjoint: Option<(u64, Vec<u8>)>,
}

/// A journal.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    owner: u64,
    /// Whether it is to survive a loss of power.
    synced: bool,
    written: Option<Instant>,
    pub(crate) between: Duration,
}

impl Journal {
    pub(crate) fn new(folder: &Folder) -> Journal {
        let Folder { path, owner, synced, .. } = folder;
        let (path, owner, synced) = (path.join("journal"), *owner, *synced);
        Journal { path, owner, synced, written: None, between: BETWEEN }
    }

    /// Whether there is one.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Whether it was written here.
    pub(crate) fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// Whether it is time for another.
    pub(crate) fn is_due(&self) -> bool {
        self.written.is_none_or(|at| at.elapsed() >= self.between)
    }

    /// Writes it.
    pub(crate) fn write(&mut self, standing: &Standing) -> Result<(), DiskError> {
        let Standing { steps, measured, precision, outline, adjoint } = standing;
        let Measured { state_bytes, whole_bytes, record_bytes, advance, record, reverse } =
            *measured;
        let mut bytes = Vec::new();
        let (at, state) = adjoint.as_ref().map_or((u64::MAX, &[][..]), |(at, a)| (*at, &a[..]));
        let steps = steps.unwrap_or(u64::MAX);
        let sizes = [steps, at, state_bytes, whole_bytes, record_bytes];
        let others = [advance, record, reverse, *precision, outline.unwrap_or(u64::MAX)];
        let words = [sizes, others].concat();
        words.into_iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(state);
        let header = stamp(MAGIC, self.owner, 0, &bytes);
        write(&self.path, &header, &bytes, self.synced)?;
        self.written = Some(Instant::now());
        Ok(())
    }

    /// Reads it.
    pub(crate) fn read(&self) -> Result<Standing, DiskError> {
        let refused = |what| DiskError::Refused { path: self.path.clone(), what };
        let (_, bytes) = checked(&self.path, MAGIC, self.owner)?;
        let (words, state) =
            bytes.split_at_checked(8 * WORDS).ok_or_else(|| refused("it is too short"))?;
        let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let words: Vec<u64> = words.collect();
        let Ok(
            [
                steps,
                at,
                state_bytes,
                whole_bytes,
                record_bytes,
                advance,
                record,
                reverse,
                precision,
                outline,
            ],
        ) = <[u64; WORDS]>::try_from(words)
        else {
            return Err(refused("it is too short"));
        };
        let known = |word: u64| (word != u64::MAX).then_some(word);
        Ok(Standing {
            steps: known(steps),
            measured: Measured { state_bytes, whole_bytes, record_bytes, advance, record, reverse },
            precision,
            outline: known(outline),
            adjoint: known(at).map(|at| (at, state.to_vec())),
        })
    }

    /// The run is over.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}
