//! The example of waves in three dimensions: the same bits in every memory, and the right ones.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;
use wengert_checkpoint::{Disk, Done, Error, Folder, InvertError, Inverted, Run, Steps};

// The example prints more than is compared here.
#[allow(dead_code)]
#[path = "../examples/wave3d/options.rs"]
mod options;
#[allow(dead_code)]
#[path = "../examples/wave3d/wave.rs"]
mod wave;

use options::Options;
use wave::{Setup, Wave};

const SMALL: Setup = Setup { size: 12, steps: 60, sponge: 2 };

/// Of a state on the small grid, and of the record of a step.
const STATE: u64 = 16 * 12 * 12 * 12;
const RECORD: u64 = 8 * 10 * 10 * 10;

fn begin(setup: Setup) -> Wave {
    let observed = setup.traces(&setup.true_model().unwrap()).unwrap();
    Wave::new(setup, &setup.known_model().unwrap(), observed).unwrap()
}

/// The bits of the misfit and of the gradient.
fn bits(wave: &Wave) -> Vec<u64> {
    wave.gradient().iter().chain([&wave.misfit()]).map(|x| x.to_bits()).collect()
}

fn gradient(setup: Setup, mut run: Run) -> Result<(Wave, Done), Error<String>> {
    let mut wave = begin(setup);
    run.forward(&mut wave)?;
    run.backward(&mut wave)?;
    Ok((wave, *run.done()))
}

fn everything(setup: Setup) -> Wave {
    let (wave, done) = gradient(setup, Run::new(u64::MAX, Some(setup.steps), None)).unwrap();
    assert_eq!(done.evaluations(), setup.steps);
    wave
}

/// A folder that goes with the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = std::env::temp_dir().join(format!("wengert-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_memory_gives_the_same_bits() {
    for sponge in [0, 2] {
        let setup = Setup { sponge, ..SMALL };
        let wanted = bits(&everything(setup));
        for known in [true, false] {
            for memory in [2, 3, 4, 6, 10, 16].map(|states| states * STATE) {
                let run = Run::new(memory, known.then_some(setup.steps), None);
                let (wave, done) = gradient(setup, run).unwrap();
                assert!(bits(&wave) == wanted, "in {memory}");
                assert!(done.peak_bytes <= memory, "{} of {memory}", done.peak_bytes);
                assert!(done.evaluations() > setup.steps && done.steps == setup.steps);
            }
        }
    }
    let e = gradient(SMALL, Run::new(STATE, Some(60), None)).err().unwrap();
    assert_eq!(e, Error::TooSmall { allowed: STATE, state: STATE, step: 0 });
}

#[test]
fn a_disk_beside_the_memory() {
    let folder = Temporary::new("wave-disk");
    let setup = Setup { steps: 200, ..SMALL };
    let wanted = bits(&everything(setup));
    for on_disk in [1, 4, 30] {
        let memory = 6 * (STATE + 32) + RECORD;
        let disk = Disk::new(&folder.0, on_disk * Disk::file_bytes(STATE), 1).unwrap();
        let run = Run::new(memory, Some(setup.steps), None).with_disk(disk);
        let (wave, done) = gradient(setup, run).unwrap();
        assert!(bits(&wave) == wanted, "{on_disk} on disk");
        assert!(done.peak_bytes <= memory, "{} of {memory}", done.peak_bytes);
    }
    // Whether that is faster is for the run to say; in a folder states are written in any case.
    let wave = begin(setup);
    let of = Folder { path: folder.0.clone(), bytes: 1 << 20, owner: wave.owner(), synced: false };
    let memory = 6 * (STATE + 32) + RECORD;
    let run = Run::new(memory, Some(setup.steps), None).in_folder(&of).unwrap();
    let (wave, done) = gradient(setup, run).unwrap();
    assert!(bits(&wave) == wanted);
    assert!(done.peak_bytes <= memory && done.written > 0, "{done:?}");
    assert!(!folder.0.exists());
}

/// Waves that fail after so many steps.
struct Cut {
    wave: Wave,
    left: u64,
}

impl Cut {
    fn spend(&mut self, range: &Range<u64>) -> Result<(), String> {
        self.left = self.left.checked_sub(range.end - range.start).ok_or("it is over")?;
        Ok(())
    }
}

impl Steps for Cut {
    type Error = String;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, String> {
        self.spend(&range)?;
        self.wave.advance(range)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, String> {
        self.spend(&range)?;
        self.wave.record(range, room)
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), String> {
        self.spend(&range)?;
        self.wave.reverse(range)
    }

    fn forget(&mut self) {
        self.wave.forget();
    }

    fn record_bytes(&self) -> u64 {
        self.wave.record_bytes()
    }

    fn state_bytes(&self) -> u64 {
        self.wave.state_bytes()
    }

    fn save(&self, to: &mut [u8]) {
        self.wave.save(to);
    }

    fn load(&mut self, from: &[u8]) -> Result<(), String> {
        self.wave.load(from)
    }

    fn adjoint_bytes(&self) -> u64 {
        self.wave.adjoint_bytes()
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        self.wave.save_adjoint(to);
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), String> {
        self.wave.load_adjoint(from)
    }

    fn fingerprint(&self) -> u64 {
        self.wave.fingerprint()
    }
}

/// The process that goes on has not heard what receivers heard before, nor seen what was reversed.
#[test]
fn a_run_that_was_cut_off_gives_the_same_bits() {
    let folder = Temporary::new("wave-cut");
    let setup = Setup { steps: 120, ..SMALL };
    let wanted = bits(&everything(setup));
    for life in [130, 200, 300] {
        let mut attempts = 0;
        loop {
            attempts += 1;
            assert!(attempts < 100, "nothing is gained");
            let mut cut = Cut { wave: begin(setup), left: life };
            let owner = cut.wave.owner();
            let of = Folder { path: folder.0.clone(), bytes: 20 * STATE, owner, synced: false };
            let run = Run::new(7 * STATE, Some(setup.steps), None).resumed(&of).unwrap();
            let mut run = run.noted_every(Duration::ZERO);
            match run.forward(&mut cut).and_then(|()| run.backward(&mut cut)) {
                Ok(()) => {
                    assert!(bits(&cut.wave) == wanted, "{life}");
                    break;
                }
                Err(e) => assert_eq!(e, Error::Step("it is over".into())),
            }
            // What was left there is not taken up with another model.
            let other = Setup { sponge: 1, ..setup };
            let of = Folder { owner: begin(other).owner(), ..of };
            assert!(Run::new(7 * STATE, Some(120), None).resumed(&of).is_err());
        }
        assert!(attempts > 1, "{life} was enough");
        let left = std::fs::read_dir(&folder.0).map_or(0, |files| files.count());
        assert_eq!(left, 0);
    }
}

/// At single points and along a direction, with and without a sponge.
#[test]
fn the_gradient_is_that_of_differences() {
    for sponge in [0, 2] {
        let setup = Setup { sponge, ..SMALL };
        let speed = setup.known_model().unwrap();
        let observed = setup.traces(&setup.true_model().unwrap()).unwrap();
        let wave = everything(setup);
        let gradient = wave.gradient();
        let misfit = setup.misfit(&speed, &observed).unwrap();
        assert_eq!(misfit.to_bits(), wave.misfit().to_bits());
        assert!(misfit > 0.0);
        let largest = gradient.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let along = |direction: &[f64]| {
            let moved = |by: f64| {
                let speed: Vec<f64> =
                    speed.iter().zip(direction).map(|(c, d)| c + by * d).collect();
                setup.misfit(&speed, &observed).unwrap()
            };
            let size = direction.iter().map(|d| d.abs()).fold(0.0, f64::max);
            (moved(0.1 / size) - moved(-0.1 / size)) * size / 0.2
        };
        let mut compared = 0;
        let point = |x: usize, y: usize, z: usize| (z * setup.size + y) * setup.size + x;
        // The source, a receiver, points between them and in the sponge.
        let source = point(6, 6, sponge + 2);
        for at in [source, setup.receivers()[0], point(6, 6, 6), point(4, 7, 5), point(1, 6, 6)] {
            let mut direction = vec![0.0; setup.points()];
            direction[at] = 1.0;
            let differences = along(&direction);
            assert!((differences - gradient[at]).abs() < 1e-5 * largest, "{at} {differences}");
            compared += usize::from(gradient[at].abs() > 1e-3 * largest);
        }
        assert!(compared >= 4, "{compared}");
        let direction: Vec<f64> =
            (0..setup.points()).map(|k| (k * k % 101) as f64 / 101.0).collect();
        let dot: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let differences = along(&direction);
        assert!((differences - dot).abs() < 1e-6 * dot.abs(), "{differences} {dot}");
        // At the boundary nothing moves.
        assert_eq!(gradient[point(0, 6, 6)], 0.0);
    }
}

/// In a box with fixed walls, sound is that of the source and of its images behind the walls.
#[test]
fn waves_are_those_of_theory() {
    let setup = Setup { size: 16, steps: 70, sponge: 0 };
    let speed = 3000.0;
    let traces = setup.traces(&vec![speed; setup.points()]).unwrap();
    let receivers = setup.receivers();
    // Ten metres from point to point; the source has twenty-five hertz and is highest when a period has passed.
    let wavelet = |time: f64| {
        let square = (std::f64::consts::PI * 25.0 * (time - 1.0 / 25.0)).powi(2);
        (1.0 - 2.0 * square) * (-square).exp()
    };
    // A wall turns the sign.
    let images = |at: f64| {
        [-2, -1, 0, 1, 2]
            .map(|k| [(30.0 * f64::from(k) + at, 1.0), (30.0 * f64::from(k) - at, -1.0)])
    };
    let (across, down) = (images(8.0), images(2.0));
    let (across, down) = (across.as_flattened(), down.as_flattened());
    let (mut apart, mut all) = (0.0, 0.0);
    for (step, heard) in traces.chunks_exact(receivers.len()).enumerate() {
        let time = (step + 1) as f64 * wave::STEP;
        for (heard, at) in heard.iter().zip(&receivers) {
            let mut wanted = 0.0;
            for (x, sign_x) in across {
                for (y, sign_y) in across {
                    for (z, sign_z) in down {
                        let [dx, dy, dz] = [(at % 16) as f64 - x, 8.0 - y, 13.0 - z];
                        let distance = 10.0 * (dx * dx + dy * dy + dz * dz).sqrt();
                        let loudness = 10.0 / (4.0 * std::f64::consts::PI * distance);
                        wanted +=
                            sign_x * sign_y * sign_z * loudness * wavelet(time - distance / speed);
                    }
                }
            }
            apart += (heard - wanted).powi(2);
            all += wanted.powi(2);
        }
    }
    assert!(all > 0.0 && apart < 0.03 * all, "{apart} {all}");
}

#[test]
fn a_sponge_swallows_waves() {
    let late = |sponge| {
        let setup = Setup { size: 24, steps: 400, sponge };
        let traces = setup.traces(&setup.known_model().unwrap()).unwrap();
        let energy = |traces: &[f64]| traces.iter().map(|x| x * x).sum::<f64>();
        energy(&traces[3 * traces.len() / 4..]) / energy(&traces)
    };
    let (with, without) = (late(8), late(0));
    assert!(without > 0.1 && with < 1e-3 * without, "{with} {without}");
}

#[test]
fn steps_taken_back() {
    let setup = Setup { size: 12, steps: 300, sponge: 0 };
    let all = everything(setup);
    let largest = all.gradient().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (every, unit) in [(1, 1), (40, 1), (300, 1), (300, 7)] {
        let memory = (setup.steps.div_ceil(every) + 1) * STATE + unit * RECORD;
        let mut run = Inverted::new(memory, setup.steps).storing_every(every).recording(unit);
        run = run.within(1e-12);
        let mut wave = begin(setup);
        run.forward(&mut wave).unwrap();
        run.backward(&mut wave).unwrap();
        let done = run.done();
        assert!(done.peak_bytes <= memory, "{}", done.peak_bytes);
        assert!(done.drift.relative > 0.0 && done.drift.relative < 1e-12, "{:?}", done.drift);
        let pairs = all.gradient().into_iter().zip(wave.gradient());
        let apart = pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(apart < 1e-10 * largest, "{apart} {largest}");
        assert_eq!(bits(&wave) == bits(&all), every == 1);
    }
    let mut run = Inverted::new(u64::MAX, SMALL.steps);
    let mut wave = begin(SMALL);
    run.forward(&mut wave).unwrap();
    let e = run.backward(&mut wave).unwrap_err();
    assert!(matches!(&e, InvertError::Step(e) if e.contains("sponge")), "{e}");
}

#[test]
fn states_of_another_size_are_refused() {
    let mut wave = begin(SMALL);
    let mut state = vec![0; STATE as usize];
    wave.advance(0..30).unwrap();
    wave.save(&mut state);
    assert!(wave.load(&state).is_ok());
    assert!(wave.load(&state[8..]).is_err() && wave.load(&state[1..]).is_err());
    state.push(0);
    assert!(wave.load(&state).is_err());
    let mut adjoint = vec![0; wave.adjoint_bytes() as usize];
    wave.save_adjoint(&mut adjoint);
    assert!(wave.load_adjoint(&adjoint).is_ok() && wave.load_adjoint(&adjoint[8..]).is_err());
}

/// What tells problems from each other in a folder.
#[test]
fn other_problems_have_other_numbers() {
    let (known, slow) = (SMALL.known_model().unwrap(), SMALL.true_model().unwrap());
    let observed = SMALL.traces(&slow).unwrap();
    let owner = |setup, speed: &[f64], observed: &[f64]| {
        Wave::new(setup, speed, observed.to_vec()).unwrap().owner()
    };
    let one = owner(SMALL, &known, &observed);
    assert_eq!(one, owner(SMALL, &known, &observed));
    let mut other = observed.clone();
    other[100] += 1e-12;
    assert_ne!(one, owner(SMALL, &slow, &observed));
    assert_ne!(one, owner(SMALL, &known, &other));
    assert_ne!(one, owner(Setup { sponge: 1, ..SMALL }, &known, &observed));
    assert_ne!(one, owner(Setup { steps: 59, ..SMALL }, &known, &observed));
}

#[test]
fn what_is_said_on_the_command_line() {
    let parse = |text: &str| Options::parse(text.split_whitespace().map(String::from));
    let options = |text: &str| parse(text).unwrap().unwrap();
    let usual = options("");
    assert_eq!(usual.setup, Setup { size: 48, steps: 400, sponge: 8 });
    assert_eq!((usual.memory, usual.disk), (16 << 20, 1 << 30));
    assert!(!usual.resume && !usual.invert && !usual.check && usual.folder.is_none());
    let other =
        options("--size 20 --steps 1_000 --sponge 0 --memory 2MB --run a/b --resume --check");
    assert_eq!(other.setup, Setup { size: 20, steps: 1000, sponge: 0 });
    assert_eq!((other.memory, other.folder), (2_000_000, Some("a/b".into())));
    assert!(other.resume && other.check);
    let invert = options("--invert --every 10 --size 8");
    assert_eq!((invert.setup.sponge, invert.invert, invert.every), (0, true, Some(10)));
    assert_eq!(parse("--steps 5 --help"), Ok(None));
    for (wrong, told) in [
        ("--size 7", "from 8 to"),
        ("--size 1e3", "from 8 to"),
        ("--steps 0", "from 1 on"),
        ("--steps -3", "from 1 on"),
        ("--steps", "`--steps` needs a value"),
        ("--steps --size 10", "`--steps` needs a value"),
        ("--memory much", "`--memory much`: it takes a size such as"),
        ("--memory 99999999999GiB", "it takes a size"),
        ("--sponge 22", "21 points wide at most"),
        ("--colour", "`--colour` is not known"),
        ("48", "`48` is not known"),
        ("--resume", "--run FOLDER --resume"),
        ("--disk 3MB", "`--disk` is for"),
        ("--every 3", "`--every` is for"),
        ("--invert --sponge 1", "does not come back"),
        ("--invert --run a", "leave out `--run`"),
    ] {
        let e = parse(wrong).unwrap_err();
        assert!(e.contains(told), "{wrong}: {e}");
    }
    // The narrowest grid has room for everything.
    for sponge in 0..=Setup::widest_sponge(8) {
        let setup = Setup { size: 8, steps: 40, sponge };
        assert!(!setup.receivers().is_empty());
        assert!(everything(setup).misfit() > 0.0);
    }
}
