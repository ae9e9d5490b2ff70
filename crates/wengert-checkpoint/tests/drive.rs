//! A loop under every budget: the same bits, and never more memory than allowed.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wengert_checkpoint::{Disk, Done, Error, Folder, Run, Steps};

/// A recurrence of several numbers that knows where it stands, and complains when it is asked for something else.
struct Map {
    width: usize,
    /// After how many steps it ends.
    ends: u64,
    /// Extra bytes in the record of a step.
    extra: fn(u64) -> u64,
    x: Vec<f64>,
    at: u64,
    tape: Vec<(u64, Vec<f64>, u64)>,
    adjoint: Vec<f64>,
    by_r: f64,
    /// Where the adjoint stands.
    back: Option<u64>,
    most: u64,
    /// Added in every step.
    drift: f64,
    /// How many more steps are taken before it is over.
    left: u64,
    /// What a step takes at least.
    pause: Duration,
    /// What it takes to begin with a range of steps.
    begin: Duration,
    /// So much is allowed after so many more steps.
    lowered: Option<(u64, Arc<AtomicU64>, u64)>,
    /// Whether the record of a step can be made smaller, and how many bytes it takes at most.
    can_tighten: bool,
    tight: u64,
    /// Bytes of memory behind the records, and how many of them were ever found anew.
    touched: u64,
    fresh: u64,
}

const R: f64 = 3.7;

impl Map {
    fn new(width: usize, ends: u64, extra: fn(u64) -> u64) -> Map {
        Map {
            width,
            ends,
            extra,
            x: (0..width).map(|k| 0.2 + 0.5 * k as f64 / width as f64).collect(),
            at: 0,
            tape: Vec::new(),
            adjoint: vec![0.0; width],
            by_r: 0.0,
            back: None,
            most: 0,
            drift: 0.0,
            left: u64::MAX,
            pause: Duration::ZERO,
            begin: Duration::ZERO,
            lowered: None,
            can_tighten: false,
            tight: u64::MAX,
            touched: 0,
            fresh: 0,
        }
    }

    fn step(&mut self) {
        let last = self.x[self.width - 1] + self.drift;
        self.x.iter_mut().for_each(|x| *x = 0.99 * (R * *x * (1.0 - *x)) + 0.01 * last);
        self.at += 1;
        spend_time(self.pause);
    }

    /// One step less is left.
    fn spend(&mut self) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or("it is over")?;
        if let Some((left, allowed, bytes)) = &mut self.lowered {
            match left {
                0 => allowed.store(*bytes, Ordering::Relaxed),
                _ => *left -= 1,
            }
        }
        Ok(())
    }

    fn start(&self, range: &Range<u64>) {
        assert_eq!(self.at, range.start, "another state is live");
        assert!(range.end > range.start && range.start <= self.ends, "{range:?}");
        spend_time(self.begin);
    }
}

fn spend_time(time: Duration) {
    let begin = Instant::now();
    while !time.is_zero() && begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

impl Steps for Map {
    type Error = String;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, String> {
        self.start(&range);
        for _ in range.start..range.end.min(self.ends) {
            self.spend()?;
            self.step();
        }
        Ok(self.at)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, String> {
        self.start(&range);
        let before = self.record_bytes();
        for k in range.start..range.end.min(self.ends) {
            self.spend()?;
            let bytes = (8 * self.width as u64 + (self.extra)(k)).min(self.tight);
            self.tape.push((k, self.x.clone(), bytes));
            if self.record_bytes() - before > room {
                self.tape.retain(|(step, ..)| *step < range.start);
                self.x.fill(f64::NAN);
                self.at = u64::MAX;
                return Ok(None);
            }
            self.step();
        }
        let taken = self.record_bytes();
        self.most = self.most.max(taken);
        self.fresh += taken.saturating_sub(self.touched);
        self.touched = self.touched.max(taken);
        Ok(Some(self.at))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), String> {
        assert_eq!(*self.back.get_or_insert(self.ends), range.end);
        for k in range.clone().rev() {
            self.spend()?;
            let (step, x, _) = self.tape.pop().expect("a record");
            assert_eq!(step, k);
            let all: f64 = self.adjoint.iter().sum();
            for (x, adjoint) in x.iter().zip(&mut self.adjoint) {
                self.by_r += *adjoint * 0.99 * x * (1.0 - x);
                *adjoint *= 0.99 * R * (1.0 - 2.0 * x);
            }
            self.adjoint[self.width - 1] += 0.01 * all;
        }
        self.back = Some(range.start);
        Ok(())
    }

    fn forget(&mut self) {
        self.tape.clear();
    }

    fn spare(&mut self, bytes: u64) {
        if self.touched > bytes {
            self.touched = self.record_bytes();
        }
    }

    fn tighten(&mut self, bytes: u64) -> bool {
        assert!(self.tape.is_empty() && self.tight == u64::MAX);
        if self.can_tighten {
            self.tight = bytes;
        }
        self.can_tighten
    }

    fn record_bytes(&self) -> u64 {
        self.tape.iter().map(|(.., bytes)| bytes).sum()
    }

    fn state_bytes(&self) -> u64 {
        8 * (self.width as u64 + 1)
    }

    fn save(&self, to: &mut [u8]) {
        assert_ne!(self.at, u64::MAX, "the live state is lost");
        let words = std::iter::once(self.at).chain(self.x.iter().map(|x| x.to_bits()));
        for (to, word) in to.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn load(&mut self, from: &[u8]) -> Result<(), String> {
        let words: Vec<u64> =
            from.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        self.at = words[0];
        self.x = words[1..].iter().map(|w| f64::from_bits(*w)).collect();
        Ok(())
    }

    fn adjoint_bytes(&self) -> u64 {
        8 * (self.width as u64 + 2)
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        let words = self.adjoint.iter().chain([&self.by_r]).map(|x| x.to_bits());
        let words = words.chain([self.back.unwrap()]);
        for (to, word) in to.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), String> {
        let words: Vec<u64> =
            from.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        self.adjoint = words[..self.width].iter().map(|w| f64::from_bits(*w)).collect();
        self.by_r = f64::from_bits(words[self.width]);
        self.back = Some(words[self.width + 1]);
        Ok(())
    }
}

/// The bits of results and derivatives, and what was done.
fn gradient(map: Map, memory: u64, known: bool) -> Result<(Vec<u64>, Done), Error<String>> {
    gradient_on(map, memory, known, None)
}

fn gradient_on(
    mut map: Map,
    memory: u64,
    known: bool,
    disk: Option<Disk>,
) -> Result<(Vec<u64>, Done), Error<String>> {
    let mut run = Run::new(memory, known.then_some(map.ends), None);
    if let Some(disk) = disk {
        run = run.with_disk(disk);
    }
    run.forward(&mut map)?;
    assert_eq!(map.at, map.ends);
    let result = map.x.clone();
    map.adjoint.fill(1.0);
    run.backward(&mut map)?;
    assert_eq!(map.back.unwrap_or(0), 0);
    assert!(map.tape.is_empty());
    let all = result.iter().chain(&map.adjoint).chain([&map.by_r]);
    let done = *run.done();
    assert!(done.peak_bytes <= memory, "{} of {memory}", done.peak_bytes);
    assert!(map.most <= memory);
    Ok((all.map(|x| x.to_bits()).collect(), done))
}

const SAME: fn(u64) -> u64 = |_| 0;

#[test]
fn every_budget_gives_the_same_bits() {
    for known in [true, false] {
        for (width, ends) in
            [(1, 0), (1, 1), (3, 7), (3, 8), (2, 9), (5, 100), (1, 1000), (40, 333)]
        {
            let (wanted, all) = gradient(Map::new(width, ends, SAME), u64::MAX, known).unwrap();
            assert_eq!((all.evaluations(), all.recorded), (ends, ends));
            let (state, record) = (8 * (width as u64 + 1), 8 * width as u64);
            let least = state + 32 + record;
            for memory in (0..60).map(|k| least + k * k * record / 3) {
                let (bits, done) = gradient(Map::new(width, ends, SAME), memory, known)
                    .unwrap_or_else(|e| panic!("{e}: {ends} steps of {width} in {memory}"));
                assert_eq!(bits, wanted, "{ends} steps of {width} in {memory}");
                assert_eq!(done.steps, ends);
            }
        }
    }
}

/// Memory of records is not given back where the next ones need it at once: finding it takes longer than steps do.
#[test]
fn records_keep_what_the_next_ones_need() {
    for (k, memory) in (2_000..30_000).step_by(1_234).enumerate() {
        for known in [true, false] {
            let mut map = Map::new(1 + k % 7, 5_000, SAME);
            let mut run = Run::new(memory, known.then_some(map.ends), None);
            run.forward(&mut map).unwrap();
            map.adjoint.fill(1.0);
            run.backward(&mut map).unwrap();
            assert!(run.done().recorded >= 5_000 && run.done().peak_bytes <= memory);
            assert!(map.fresh <= 4 * memory, "{} bytes in {memory}, {known}", map.fresh);
        }
    }
}

/// What it takes to begin with a range is not taken for what its steps take.
#[test]
fn what_is_planned_is_about_what_it_takes() {
    let mut seen = Vec::new();
    // Others may be busy while eight steps are measured.
    for _ in 0..20 {
        let (pause, begin) = (Duration::from_micros(1), Duration::from_micros(50));
        let map = Map { pause, begin, ..Map::new(3, 4_000, SAME) };
        let (_, done) = gradient(map, 48_000, true).unwrap();
        let ratio = done.forecast.unwrap().time as f64 / done.time.as_nanos() as f64;
        if (0.3..3.0).contains(&ratio) {
            return;
        }
        seen.push(ratio);
    }
    panic!("planned, of what it took: {seen:?}");
}

/// Steps whose records take more than the first ones did.
#[test]
fn records_of_any_size() {
    let sizes: [fn(u64) -> u64; 4] = [
        |k| if k % 50 == 49 { 400 } else { 0 },
        |k| 3 * k,
        |k| if k > 100 { 2000 } else { 0 },
        |k| 1000u64.saturating_sub(10 * k),
    ];
    for known in [true, false] {
        for extra in sizes {
            let map = || Map::new(3, 200, extra);
            let (wanted, _) = gradient(map(), u64::MAX, known).unwrap();
            for memory in [2_200, 2_500, 3_000, 5_000, 10_000, 50_000, 200_000] {
                let (bits, _) = gradient(map(), memory, known)
                    .unwrap_or_else(|e| panic!("{e}: in {memory}, known: {known}"));
                assert_eq!(bits, wanted, "in {memory}");
            }
        }
    }
}

/// Steps whose records are too large, and can be made smaller.
#[test]
fn records_that_are_made_smaller() {
    let folder = std::env::temp_dir().join(format!("wengert-tight-{}", std::process::id()));
    let sizes: [fn(u64) -> u64; 3] =
        [|_| 5000, |k| if k > 100 { 5000 } else { 0 }, |k| 50 * (k % 150)];
    for known in [true, false] {
        for extra in sizes {
            let map = |can_tighten| Map { can_tighten, ..Map::new(3, 200, extra) };
            let (wanted, _) = gradient(map(false), u64::MAX, known).unwrap();
            for memory in [200, 300, 1_000, 4_000] {
                for on_disk in [0, 1, 10] {
                    let disk =
                        || (on_disk > 0).then(|| Disk::new(&folder, on_disk * 80, 5).unwrap());
                    let refused = gradient_on(map(false), memory, known, disk()).unwrap_err();
                    assert!(matches!(refused, Error::TooSmall { .. }), "{refused}");
                    let (bits, _) = gradient_on(map(true), memory, known, disk())
                        .unwrap_or_else(|e| panic!("{e}: in {memory}, known: {known}"));
                    assert_eq!(bits, wanted, "in {memory}");
                }
            }
        }
    }
}

/// The last step is reversed by somebody else.
#[test]
fn the_last_record_is_left() {
    for (known, ends) in [true, false].into_iter().flat_map(|k| [0, 1, 2, 9, 200].map(|n| (k, n))) {
        let (wanted, _) = gradient(Map::new(3, ends, SAME), u64::MAX, known).unwrap();
        for memory in [120, 200, 500, 3_000, u64::MAX] {
            let mut map = Map::new(3, ends, SAME);
            let mut run = Run::new(memory, known.then_some(ends), None);
            run.forward(&mut map).unwrap();
            run.leave_last(&mut map).unwrap();
            let result = map.x.clone();
            map.adjoint.fill(1.0);
            if ends > 0 {
                map.reverse(ends - 1..ends).unwrap();
            }
            run.backward(&mut map).unwrap();
            let all = result.iter().chain(&map.adjoint).chain([&map.by_r]);
            let bits: Vec<u64> = all.map(|x| x.to_bits()).collect();
            assert_eq!(bits, wanted, "{ends} steps in {memory}");
            assert!(map.tape.is_empty() && run.done().peak_bytes <= memory);
        }
    }
}

#[test]
fn too_little_is_an_error() {
    for known in [true, false] {
        for memory in [0, 8, 31, 50] {
            let e = gradient(Map::new(3, 100, SAME), memory, known).unwrap_err();
            let Error::TooSmall { allowed, state, step } = &e else { panic!("{e}") };
            assert_eq!((*allowed, *state, *step), (memory, 32, 0));
        }
        // Far into the loop.
        let late = |k| if k == 77 { 10_000 } else { 0 };
        let e = gradient(Map::new(3, 100, late), 5_000, known).unwrap_err();
        assert!(matches!(e, Error::TooSmall { step: 77, .. }), "{e}");
    }
}

/// A loop that is not the same when it runs again is found out, and where.
#[test]
fn a_loop_that_changes_is_found_out() {
    for known in [true, false] {
        let mut map = Map::new(3, 1000, SAME);
        let mut run = Run::new(20_000, known.then_some(1000), None);
        run.forward(&mut map).unwrap();
        map.adjoint.fill(1.0);
        // From here on steps do something else.
        map.drift = 1e-13;
        let e = run.backward(&mut map).unwrap_err();
        assert!(matches!(e, Error::OtherState(1..=1000)), "{e}");
    }
}

#[test]
fn a_disk_beside_little_memory() {
    let folder = std::env::temp_dir().join(format!("wengert-drive-{}", std::process::id()));
    let mut written = [0; 2];
    for known in [true, false] {
        for (width, ends) in [(3, 7), (5, 100), (40, 700), (300, 90)] {
            let (wanted, _) = gradient(Map::new(width, ends, SAME), u64::MAX, known).unwrap();
            let state = 8 * (width as u64 + 1);
            for (states, on_disk) in [(6, 1), (6, 3), (7, 10), (8, 100), (20, 1000)] {
                let disk = Disk::new(&folder, on_disk * (state + 48), 5).unwrap();
                let memory = states * (state + 32);
                let mut map = Map::new(width, ends, SAME);
                // Slower than a disk, in some.
                if ends == 100 {
                    map.pause = Duration::from_micros(300);
                }
                let (bits, done) = gradient_on(map, memory, known, Some(disk))
                    .unwrap_or_else(|e| panic!("{e}: {ends} steps of {width} in {memory}"));
                assert_eq!(bits, wanted, "{ends} steps of {width} in {memory}");
                written[usize::from(known)] += done.written;
                // Nothing is left.
                assert!(!folder.exists());
            }
        }
    }
    // While others write, a disk is worth it for slower steps only.
    for (pause, known) in [1, 4, 16, 64].into_iter().flat_map(|ms| [(ms, false), (ms, true)]) {
        if written[usize::from(known)] == 0 {
            let disk = Disk::new(&folder, 100 * (48 + 48), 5).unwrap();
            let map = Map { pause: Duration::from_millis(pause), ..Map::new(5, 100, SAME) };
            let (_, done) = gradient_on(map, 8 * (48 + 32), known, Some(disk)).unwrap();
            written[usize::from(known)] += done.written;
        }
    }
    assert!(written[0] > 0 && written[1] > 0, "{written:?}");
}

/// Memory that becomes less while the loop runs.
#[test]
fn less_memory_in_the_middle() {
    let (width, ends) = (3, 500);
    for known in [true, false] {
        let (wanted, everything) = gradient(Map::new(width, ends, SAME), u64::MAX, known).unwrap();
        for memory in [u64::MAX, 8_000, 2_000] {
            for after in [0, 20, 300, 499, 500, 600, 900, 1_100] {
                let mut map = Map::new(width, ends, SAME);
                let mut run = Run::new(memory, known.then_some(ends), None);
                map.lowered = Some((after, run.allowed(), 600));
                run.forward(&mut map).unwrap();
                let result = map.x.clone();
                map.adjoint.fill(1.0);
                run.backward(&mut map).unwrap();
                let all = result.iter().chain(&map.adjoint).chain([&map.by_r]);
                let bits: Vec<u64> = all.map(|x| x.to_bits()).collect();
                assert_eq!(bits, wanted, "{known} {memory} {after}");
                if after == 0 {
                    // It is seen between two pieces of the loop.
                    assert!(run.done().evaluations() > 2 * everything.evaluations());
                }
            }
        }
    }
}

/// A run that ends anywhere is gone on with, again and again, to the same bits, and with less work than from the start.
#[test]
fn a_run_that_was_left_is_gone_on_with() {
    let folder = std::env::temp_dir().join(format!("wengert-left-{}", std::process::id()));
    let of = |owner| Folder { path: folder.clone(), bytes: 2_000, owner, synced: false };
    let (width, ends) = (3, 500);
    let mut resumed = 0;
    for known in [true, false] {
        let map = || Map::new(width, ends, SAME);
        let (wanted, _) = gradient(map(), u64::MAX, known).unwrap();
        let memory = 500;
        let begin = || Run::new(memory, known.then_some(ends), None);
        for life in [400, 700, 1100, 2500, 100_000] {
            let _ = std::fs::remove_dir_all(&folder);
            let mut attempts = 0;
            let mut total = 0;
            let bits = loop {
                attempts += 1;
                assert!(attempts < 200, "nothing is gained");
                let run = match attempts {
                    1 => begin().in_folder(&of(9)),
                    _ => begin().resumed(&of(9)),
                };
                let mut run = run.unwrap().noted_every(Duration::ZERO);
                let mut map = map();
                map.left = life;
                let ran = run.forward(&mut map).and_then(|()| {
                    assert_eq!(map.at, ends);
                    let result = map.x.clone();
                    map.adjoint.fill(1.0);
                    map.back = Some(ends);
                    run.backward(&mut map).map(|()| result)
                });
                total += run.done().evaluations();
                match ran {
                    Ok(result) => {
                        let all = result.iter().chain(&map.adjoint).chain([&map.by_r]);
                        break all.map(|x| x.to_bits()).collect::<Vec<u64>>();
                    }
                    Err(e) => assert_eq!(e, Error::Step("it is over".into())),
                }
                // Others do not take it up.
                assert!(begin().in_folder(&of(9)).is_err());
                assert!(begin().resumed(&of(8)).is_err());
            };
            resumed += attempts - 1;
            assert_eq!(bits, wanted, "{known} {life}");
            assert!(total < 40 * ends, "{total}");
        }
    }
    assert!(!folder.exists() && resumed > 10, "{resumed}");
}

/// What is not what was written is refused, by its name.
#[test]
fn a_file_that_was_changed_is_refused() {
    let folder = std::env::temp_dir().join(format!("wengert-changed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let of = |owner| Folder { path: folder.clone(), bytes: 2_000, owner, synced: true };
    let begin = || Run::new(500, Some(500), None);
    let mut run = begin().in_folder(&of(9)).unwrap().noted_every(Duration::ZERO);
    let mut map = Map::new(3, 500, SAME);
    map.left = 800;
    run.forward(&mut map).unwrap();
    map.adjoint.fill(1.0);
    assert!(run.backward(&mut map).is_err());
    drop(run);
    let files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 3 && files.contains(&folder.join("journal")), "{files:?}");
    for file in files {
        let good = std::fs::read(&file).unwrap();
        let mut changed = good.clone();
        changed[good.len() - 1] ^= 1;
        for bad in [&changed[..], &good[..good.len() / 2], b""] {
            std::fs::write(&file, bad).unwrap();
            let told = begin().resumed(&of(9)).unwrap_err().to_string();
            assert!(told.contains(&*file.to_string_lossy()), "{told}");
        }
        std::fs::write(&file, good).unwrap();
    }
    assert!(begin().resumed(&of(9)).is_ok());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A loop whose end is not known takes little more than one whose end is.
#[test]
fn an_unknown_end_costs_little() {
    let ends = 2000;
    for (width, slots) in [3, 300].into_iter().flat_map(|w| [2, 3, 5, 10, 20, 100].map(|s| (w, s)))
    {
        let memory = slots * (8 * (width as u64 + 1) + 48) + 8 * width as u64;
        // With steps as short as the noise of the clock, fewer evaluations are not what takes least.
        let pause = Duration::from_micros(2);
        let map = || Map { pause, ..Map::new(width, ends, SAME) };
        let (_, known) = gradient(map(), memory, true).unwrap();
        let (_, unknown) = gradient(map(), memory, false).unwrap();
        let over = unknown.evaluations() as f64 / known.evaluations() as f64;
        assert!(over < 1.1, "{slots} slots of {width} numbers: {over}");
    }
}
