//! Where a run stands: written for another process, and taken up by it.

use super::Run;
use crate::journal::{Journal, Standing};
use crate::kept::{HEAD, LAST};
use crate::outcome::Error;
use crate::steps::Steps;

impl Run {
    /// Takes up a run that was left. Whether its first sweep was over: then the last state is live.
    pub(super) fn go_on<S: Steps>(
        &mut self,
        steps: &mut S,
        left: Standing,
    ) -> Result<bool, Error<S::Error>> {
        let Standing { steps: all, measured, precision, outline, adjoint } = left;
        if precision != self.kept.precision.number() {
            let what = "the run that was left kept its states with other digits: ask for the same precision as then";
            return Err(Error::Disk(what.into()));
        }
        let other = self.steps.zip(all).is_some_and(|(now, then)| now != then);
        if measured.whole_bytes != self.state_bytes || other {
            let what = "the run that was left had other states, or another number of steps";
            return Err(Error::Disk(what.into()));
        }
        (self.steps, self.measured) = (all.or(self.steps), Some(measured));
        self.done.resumed = true;
        let Some((at, _)) = adjoint else {
            self.left = None;
            if let (Some(head), true) = (self.head, self.rounded.is_some()) {
                // Other points have fewer digits.
                self.load(steps, head, HEAD)?;
                if !self.kept.points.contains_key(&head) {
                    self.mark(steps, head)?;
                }
            }
            return Ok(false);
        };
        let Some(all) = all else {
            return Err(Error::Disk("the run that was left does not say where it ended".into()));
        };
        // The first sweep was over.
        self.load(steps, all, LAST)?;
        self.adjoint = at;
        self.rounded
            .iter_mut()
            .for_each(|rounded| rounded.joint = outline.map(|outline| (at, outline)));
        self.kept.drop_points_from(at)?;
        Ok(true)
    }

    /// Writes where the run stands, from time to time.
    pub(super) fn note<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        match self.journal.as_ref().is_some_and(Journal::is_due) {
            true => self.note_now(steps),
            false => Ok(()),
        }
    }

    /// Before something is asked for that will be refused: writes where the run stands.
    pub(super) fn note_last<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        match self.journal.is_some() && steps.is_asked_to_end() {
            true => self.note_now(steps),
            false => Ok(()),
        }
    }

    fn note_now<S: Steps>(&mut self, steps: &S) -> Result<(), Error<S::Error>> {
        self.store_head(steps)?;
        let outline = self.joint();
        let (Some(journal), Some(disk), Some(measured)) =
            (&mut self.journal, &mut self.kept.disk, self.measured)
        else {
            return Ok(());
        };
        // What it speaks of must be there.
        disk.flush()?;
        let mut adjoint = None;
        if self.is_back {
            let bytes = steps.adjoint_bytes();
            let storage = usize::try_from(bytes).ok().and_then(|bytes| disk.storage(bytes));
            let mut storage = storage.ok_or(Error::NoMemory(bytes))?;
            steps.save_adjoint(&mut storage);
            adjoint = Some((self.adjoint, storage));
        }
        let precision = self.kept.precision.number();
        journal.write(&Standing { steps: self.steps, measured, precision, outline, adjoint })?;
        Ok(())
    }
}
