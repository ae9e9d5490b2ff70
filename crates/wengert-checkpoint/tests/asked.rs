//! A run that is asked to end writes where it stands, and is gone on with from there.

use std::ops::Range;
use std::time::Duration;
use wengert_checkpoint::{Error, Folder, Run, Steps};

/// The logistic map, until so many steps have been taken or reversed.
struct Logistic {
    x: f64,
    tape: Vec<f64>,
    adjoint: f64,
    /// The state that the adjoint is of.
    at: u64,
    /// The state of the adjoint that was read from the folder.
    read: Option<u64>,
    left: u64,
}

impl Logistic {
    fn new(left: u64) -> Logistic {
        Logistic { x: 0.3, tape: Vec::new(), adjoint: 1.0, at: ENDS, read: None, left }
    }

    fn begin(&mut self, range: &Range<u64>) -> Result<(), &'static str> {
        if self.left == 0 {
            return Err("asked to end");
        }
        self.left = self.left.saturating_sub(range.end - range.start);
        Ok(())
    }
}

impl Steps for Logistic {
    type Error = &'static str;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, &'static str> {
        self.begin(&range)?;
        range.clone().for_each(|_| self.x = 3.7 * self.x * (1.0 - self.x));
        Ok(range.end)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, &'static str> {
        self.begin(&range)?;
        if 8 * (range.end - range.start) > room {
            return Ok(None);
        }
        for _ in range.clone() {
            self.tape.push(self.x);
            self.x = 3.7 * self.x * (1.0 - self.x);
        }
        Ok(Some(range.end))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), &'static str> {
        self.begin(&range)?;
        assert_eq!(self.at, range.end);
        for _ in range.clone() {
            self.adjoint *= 3.7 * (1.0 - 2.0 * self.tape.pop().unwrap());
        }
        self.at = range.start;
        Ok(())
    }

    fn forget(&mut self) {
        self.tape.clear();
    }

    fn is_asked_to_end(&self) -> bool {
        self.left == 0
    }

    fn record_bytes(&self) -> u64 {
        8 * self.tape.len() as u64
    }

    fn state_bytes(&self) -> u64 {
        8
    }

    fn save(&self, to: &mut [u8]) {
        to.copy_from_slice(&self.x.to_le_bytes());
    }

    fn load(&mut self, from: &[u8]) -> Result<(), &'static str> {
        self.x = f64::from_le_bytes(from.try_into().unwrap());
        Ok(())
    }

    fn adjoint_bytes(&self) -> u64 {
        16
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        to[..8].copy_from_slice(&self.adjoint.to_le_bytes());
        to[8..].copy_from_slice(&self.at.to_le_bytes());
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), &'static str> {
        self.adjoint = f64::from_le_bytes(from[..8].try_into().unwrap());
        self.at = u64::from_le_bytes(from[8..].try_into().unwrap());
        self.read = Some(self.at);
        Ok(())
    }
}

const ENDS: u64 = 500;

fn both_ways(run: &mut Run, steps: &mut Logistic) -> Result<u64, Error<&'static str>> {
    run.forward(steps)?;
    run.backward(steps)?;
    Ok(steps.adjoint.to_bits())
}

#[test]
fn nothing_is_lost() {
    let path = std::env::temp_dir().join(format!("wengert-asked-{}", std::process::id()));
    let folder = Folder { path: path.clone(), bytes: 2_000, owner: 1, synced: false };
    let mut all = Logistic::new(u64::MAX);
    let wanted = both_ways(&mut Run::new(1 << 20, Some(ENDS), None), &mut all).unwrap();
    let begin = || Run::new(400, Some(ENDS), None);
    let mut on_the_way_back = 0;
    for life in (100..2_000).step_by(37) {
        let _ = std::fs::remove_dir_all(&path);
        let mut steps = Logistic::new(life);
        // Nothing but being asked makes it write.
        let mut run = begin().in_folder(&folder).unwrap().noted_every(Duration::from_secs(3600));
        let Err(why) = both_ways(&mut run, &mut steps) else { break };
        assert_eq!(why, Error::Step("asked to end"));
        drop(run);
        let mut again = Logistic::new(u64::MAX);
        let bits = both_ways(&mut begin().resumed(&folder).unwrap(), &mut again).unwrap();
        assert_eq!(bits, wanted, "{life}");
        if steps.at < ENDS {
            assert_eq!(again.read, Some(steps.at), "{life}");
            on_the_way_back += 1;
        }
    }
    assert!(on_the_way_back > 5 && !path.exists(), "{on_the_way_back}");
}
