//! A loop whose steps are taken back: near to what recording everything gives, and exact where every state is stored.

use std::ops::Range;
use wengert_checkpoint::{InvertError, Inverted, Run, Steps, Unstep, Unwound};

/// Pendulums in a row, coupled by springs, under leapfrog (kick, drift, kick). It knows where it stands, and complains when it is
/// asked for something else.
#[derive(Clone)]
struct Pendulums {
    /// How strongly they are pulled down, and coupled.
    pull: f64,
    spring: f64,
    x: Vec<f64>,
    v: Vec<f64>,
    at: u64,
    /// After how many steps it ends.
    ends: u64,
    /// The state before each step.
    tape: Vec<(u64, Vec<f64>, Vec<f64>)>,
    by_x: Vec<f64>,
    by_v: Vec<f64>,
    by_pull: f64,
    by_spring: f64,
    /// Where the adjoint stands.
    back: u64,
    /// Added whenever a step is taken back: a mistake in it.
    wrong: f64,
}

const H: f64 = 0.05;

impl Pendulums {
    fn new(width: usize, ends: u64) -> Pendulums {
        let spread = |k: usize| ((7 * k + 3) % 11) as f64 / 11.0;
        Pendulums {
            pull: 1.3,
            spring: 0.4,
            x: (0..width).map(|k| 1.2 * spread(k) - 0.5).collect(),
            v: (0..width).map(|k| 0.3 - 0.4 * spread(k + 5)).collect(),
            at: 0,
            ends,
            tape: Vec::new(),
            by_x: vec![0.0; width],
            by_v: vec![0.0; width],
            by_pull: 0.0,
            by_spring: 0.0,
            back: ends,
            wrong: 0.0,
        }
    }

    fn width(&self) -> usize {
        self.x.len()
    }

    /// Differences to both neighbours; those beyond the ends stand still at zero.
    fn stretch(x: &[f64], k: usize) -> f64 {
        let left = if k == 0 { 0.0 } else { x[k - 1] };
        2.0 * x[k] - left - x.get(k + 1).unwrap_or(&0.0)
    }

    /// Speeds change by so many half steps of the force.
    fn kick(&mut self, halves: f64) {
        for k in 0..self.width() {
            let force = self.pull * self.x[k].sin() + self.spring * Self::stretch(&self.x, k);
            self.v[k] -= halves * (0.5 * H * force);
        }
    }

    fn drift(&mut self, steps: f64) {
        for (x, v) in self.x.iter_mut().zip(&self.v) {
            *x += steps * (H * v);
        }
    }

    fn step(&mut self) {
        self.kick(1.0);
        self.drift(1.0);
        self.kick(1.0);
        self.at += 1;
    }

    /// The adjoint of a kick at these places.
    fn back_kick(&mut self, x: &[f64]) {
        let by_force: Vec<f64> = self.by_v.iter().map(|d| -0.5 * H * d).collect();
        for k in 0..x.len() {
            self.by_pull += x[k].sin() * by_force[k];
            self.by_spring += Self::stretch(x, k) * by_force[k];
            self.by_x[k] += self.pull * x[k].cos() * by_force[k];
            self.by_x[k] += self.spring * Self::stretch(&by_force, k);
        }
    }

    /// Half the sum of squares, whose derivatives are wanted.
    fn value(&self) -> f64 {
        0.5 * self.x.iter().chain(&self.v).map(|x| x * x).sum::<f64>()
    }

    fn seed(&mut self) {
        assert_eq!(self.at, self.ends);
        (self.by_x, self.by_v) = (self.x.clone(), self.v.clone());
    }

    /// By all positions, all speeds, the pull and the springs.
    fn gradient(&self) -> Vec<f64> {
        assert_eq!(self.back, 0);
        assert!(self.tape.is_empty());
        let all = self.by_x.iter().chain(&self.by_v);
        all.copied().chain([self.by_pull, self.by_spring]).collect()
    }
}

impl Steps for Pendulums {
    type Error = String;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, String> {
        assert_eq!(self.at, range.start, "another state is live");
        (range.start..range.end.min(self.ends)).for_each(|_| self.step());
        Ok(self.at)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, String> {
        assert_eq!(self.at, range.start, "another state is live");
        if 16 * self.width() as u64 * (range.end - range.start) > room {
            self.at = u64::MAX;
            return Ok(None);
        }
        for k in range.start..range.end.min(self.ends) {
            self.tape.push((k, self.x.clone(), self.v.clone()));
            self.step();
        }
        Ok(Some(self.at))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), String> {
        assert_eq!(self.back, range.end);
        for k in range.clone().rev() {
            let (step, x, v) = self.tape.pop().expect("a record");
            assert_eq!(step, k);
            let mut again = Pendulums { x: x.clone(), v, tape: Vec::new(), ..self.clone() };
            again.kick(1.0);
            again.drift(1.0);
            self.back_kick(&again.x);
            for (by_v, by_x) in self.by_v.iter_mut().zip(&self.by_x) {
                *by_v += H * by_x;
            }
            self.back_kick(&x);
        }
        self.back = range.start;
        Ok(())
    }

    fn forget(&mut self) {
        self.tape.clear();
    }

    fn record_bytes(&self) -> u64 {
        16 * (self.width() * self.tape.len()) as u64
    }

    fn state_bytes(&self) -> u64 {
        8 * (1 + 2 * self.width() as u64)
    }

    fn save(&self, to: &mut [u8]) {
        assert_ne!(self.at, u64::MAX, "the live state is lost");
        let floats = self.x.iter().chain(&self.v).map(|x| x.to_bits());
        for (to, word) in to.chunks_exact_mut(8).zip([self.at].into_iter().chain(floats)) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn load(&mut self, from: &[u8]) -> Result<(), String> {
        let words: Vec<u64> =
            from.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        let floats: Vec<f64> = words[1..].iter().map(|w| f64::from_bits(*w)).collect();
        self.at = words[0];
        (self.x, self.v) = (floats[..self.width()].to_vec(), floats[self.width()..].to_vec());
        Ok(())
    }
}

impl Unstep for Pendulums {
    fn unstep(&mut self, range: Range<u64>) -> Result<(), String> {
        assert_eq!(self.at, range.end, "another state is live");
        assert!(range.start < range.end && self.tape.is_empty());
        for _ in range {
            self.kick(-1.0);
            self.drift(-1.0);
            self.kick(-1.0);
            self.v[0] += self.wrong;
            self.at -= 1;
        }
        Ok(())
    }
}

/// The gradient with everything recorded.
fn everything(mut loop_: Pendulums) -> Vec<f64> {
    let mut run = Run::new(u64::MAX, Some(loop_.ends), None);
    run.forward(&mut loop_).unwrap();
    loop_.seed();
    run.backward(&mut loop_).unwrap();
    loop_.gradient()
}

fn inverted(loop_: Pendulums, run: Inverted) -> Result<(Vec<f64>, Unwound), InvertError<String>> {
    let ends = loop_.ends;
    let (gradient, done) = driven(loop_, run)?;
    assert_eq!([done.advanced, done.unstepped, done.recorded], [ends; 3]);
    assert_eq!(done.evaluations(), 3 * ends);
    Ok((gradient, done))
}

fn driven(
    mut loop_: Pendulums,
    mut run: Inverted,
) -> Result<(Vec<f64>, Unwound), InvertError<String>> {
    let first = loop_.x.clone();
    run.forward(&mut loop_)?;
    loop_.seed();
    run.backward(&mut loop_)?;
    // The first state is live, as it was.
    assert_eq!((loop_.at, &loop_.x), (0, &first));
    Ok((loop_.gradient(), *run.done()))
}

fn bits(gradient: &[f64]) -> Vec<u64> {
    gradient.iter().map(|x| x.to_bits()).collect()
}

const WIDTH: usize = 4;
const STEPS: u64 = 1000;
const STATE: u64 = 8 * (1 + 2 * WIDTH as u64);
const RECORD: u64 = 16 * WIDTH as u64;

/// What states and records take at most: stored states, and the records of a unit beside those that are left on the way back.
fn peak(every: u64, unit: u64) -> u64 {
    let states = STEPS.div_ceil(every) + 1;
    let unit = unit.min(every);
    // The first unit to be recorded may be that of a short last block.
    let last_block = STEPS - (states - 2) * every;
    let beside = |unit: u64, copies: u64| (states - 2 + copies) * STATE + unit * RECORD;
    let first = if unit >= last_block { beside(last_block, 1) } else { beside(unit, 2) };
    first.max(states * STATE)
}

#[test]
fn near_to_the_gradient_of_everything_recorded() {
    let wanted = everything(Pendulums::new(WIDTH, STEPS));
    let size = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let mut drifts = Vec::new();
    for every in [u64::MAX, STEPS, 400, 50, 7] {
        for unit in [1, 3, 10] {
            let memory = peak(every.min(STEPS), unit);
            let run = || Inverted::new(memory, STEPS).storing_every(every).recording(unit);
            let (found, done) =
                inverted(Pendulums::new(WIDTH, STEPS), run().within(1e-10)).unwrap();
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-9 * size, "{found} {wanted} {every} {unit}");
            }
            let drift = done.drift;
            assert!(drift.relative > 0.0 && drift.relative < 1e-10, "{drift:?}");
            assert!(drift.absolute > 0.0 && drift.absolute < 1e-10, "{drift:?}");
            assert!(drift.step % every == 0 && drift.step < STEPS, "{drift:?}");
            assert_eq!(done.stored, STEPS.div_ceil(every) + 1);
            // It is no more than what is needed.
            assert_eq!(done.peak_bytes, memory);
            if unit == 1 {
                drifts.push(drift.relative);
            }
        }
    }
    // States that are stored bound the drift.
    assert_eq!(drifts[0], drifts[1]);
    assert!(drifts[4] < drifts[0] / 3.0, "{drifts:?}");
}

#[test]
fn exact_where_every_state_is_stored() {
    for steps in [0, 1, 2, 100] {
        let wanted = everything(Pendulums::new(WIDTH, steps));
        for unit in [1, 5] {
            let run = Inverted::new(u64::MAX, steps).storing_every(1).recording(unit);
            let (found, done) = inverted(Pendulums::new(WIDTH, steps), run).unwrap();
            assert_eq!(bits(&found), bits(&wanted), "{steps}");
            assert_eq!(done.stored, if steps == 0 { 0 } else { steps + 1 });
            // One step back is what each of them drifts.
            let drift = done.drift.relative;
            assert!(drift < 1e-14 && (drift > 0.0 || steps < 100), "{drift}");
        }
    }
    // One step begins at a state that is stored in any case.
    let (found, _) = inverted(Pendulums::new(WIDTH, 1), Inverted::new(u64::MAX, 1)).unwrap();
    assert_eq!(bits(&found), bits(&everything(Pendulums::new(WIDTH, 1))));
}

#[test]
fn fewer_steps_are_recorded_together_where_there_is_no_room_for_more() {
    let near = |run: Inverted| {
        let wanted = everything(Pendulums::new(WIDTH, STEPS));
        let (found, done) = driven(Pendulums::new(WIDTH, STEPS), run).unwrap();
        let most = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * most;
        assert!(found.iter().zip(&wanted).all(is_near));
        done
    };
    let memory = peak(STEPS, 3);
    let done = near(Inverted::new(memory, STEPS).recording(100));
    assert!(done.peak_bytes <= memory && done.peak_bytes > peak(STEPS, 2), "{done:?}");
    assert_eq!((done.unstepped, done.recorded), (STEPS, STEPS));
    // Parts of the first unit were run again to be recorded.
    assert!(done.advanced > STEPS && done.advanced < 3 * STEPS, "{done:?}");
    // The first step left alone.
    for (unit, every) in [(1, 400), (7, STEPS), (STEPS, STEPS)] {
        let run = Inverted::new(u64::MAX, STEPS).recording(unit).storing_every(every);
        let done = near(run.beginning_apart());
        assert_eq!((done.unstepped, done.recorded), (STEPS - 1, STEPS));
        assert!(done.drift.relative > 0.0 && (every < STEPS || done.drift.step == 1));
    }
    let (found, done) =
        driven(Pendulums::new(WIDTH, 1), Inverted::new(u64::MAX, 1).beginning_apart()).unwrap();
    assert_eq!(bits(&found), bits(&everything(Pendulums::new(WIDTH, 1))));
    assert_eq!((done.unstepped, done.drift.relative), (0, 0.0));
}

/// The adjoint that all of this is compared with is right.
#[test]
fn the_gradient_is_that_of_differences() {
    let found = everything(Pendulums::new(WIDTH, 100));
    let value = |which: usize, by: f64| {
        let mut moved = Pendulums::new(WIDTH, 100);
        match which {
            k if k < WIDTH => moved.x[k] += by,
            k if k < 2 * WIDTH => moved.v[k - WIDTH] += by,
            k if k == 2 * WIDTH => moved.pull += by,
            _ => moved.spring += by,
        }
        moved.advance(0..100).unwrap();
        moved.value()
    };
    for (k, found) in found.iter().enumerate() {
        let differences = (value(k, 1e-5) - value(k, -1e-5)) / 2e-5;
        assert!((found - differences).abs() < 1e-7, "{k}: {found} {differences}");
    }
}

#[test]
fn a_drift_beyond_the_bound_is_an_error() {
    let run = |every| Inverted::new(u64::MAX, STEPS).storing_every(every);
    let tiny = |every| inverted(Pendulums::new(WIDTH, STEPS), run(every).within(1e-18));
    // Found at the first state that is met, and named.
    for (every, at) in [(u64::MAX, 0), (50, 950), (300, 900)] {
        let e = tiny(every).unwrap_err();
        let InvertError::Drift { step, relative, bound } = e else { panic!("{e}") };
        assert_eq!((step, bound), (at, 1e-18));
        assert!(relative > 1e-18 && relative < 1e-10);
        assert!(e.to_string().contains(&format!("before step {at} came out")), "{e}");
    }
    // Steps that are taken back wrongly are found without a bound being given.
    let wrong = |wrong| Pendulums { wrong, ..Pendulums::new(WIDTH, STEPS) };
    let e = inverted(wrong(1e-5), run(100)).unwrap_err();
    assert!(matches!(e, InvertError::Drift { step: 900, .. }), "{e}");
    let e = inverted(wrong(f64::NAN), run(100)).unwrap_err();
    let InvertError::Drift { relative, .. } = e else { panic!("{e}") };
    assert_eq!(relative, f64::INFINITY);
    // Not even a bound that allows everything lets it pass unseen.
    let (_, done) = inverted(wrong(1e-5), run(100).within(f64::INFINITY)).unwrap();
    assert!(done.drift.relative > 1e-6);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let in_memory = |memory, every| {
        let run = Inverted::new(memory, STEPS).storing_every(every);
        inverted(Pendulums::new(WIDTH, STEPS), run).unwrap_err()
    };
    let states = STEPS / 100 + 1;
    let e = in_memory(states * STATE - 1, 100);
    assert_eq!(e, InvertError::TooSmall { allowed: states * STATE - 1, states, state: STATE });
    let e = in_memory(states * STATE + RECORD - 1, 100);
    assert_eq!(e, InvertError::NoRoom { step: STEPS - 1, room: RECORD - 1 });
    // One byte more is enough.
    let run = Inverted::new(states * STATE + RECORD, STEPS).storing_every(100);
    assert!(inverted(Pendulums::new(WIDTH, STEPS), run).is_ok());
}

#[test]
fn loops_that_end_early_and_sweeps_out_of_order() {
    let mut short = Pendulums::new(WIDTH, 70);
    let mut run = Inverted::new(u64::MAX, 100).storing_every(30);
    let e = run.forward(&mut short).unwrap_err();
    assert_eq!(e, InvertError::Ended { wanted: 90, now: 70 });
    assert_eq!(run.backward(&mut short), Err(InvertError::NotRun));
    let mut run = Inverted::new(u64::MAX, 70);
    assert_eq!(run.backward(&mut short), Err(InvertError::NotRun));
    // A first sweep that is done again begins anew.
    run.forward(&mut Pendulums::new(WIDTH, 70)).unwrap();
    let mut whole = Pendulums::new(WIDTH, 70);
    run.forward(&mut whole).unwrap();
    assert_eq!((run.done().stored, run.done().peak_bytes), (2, 2 * STATE));
    whole.seed();
    run.backward(&mut whole).unwrap();
    assert_eq!(run.backward(&mut whole), Err(InvertError::NotRun));
}
