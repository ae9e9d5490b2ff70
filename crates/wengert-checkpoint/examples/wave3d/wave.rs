//! Sound in three dimensions, and its adjoint, written by hand.
//!
//! With `u` the pressure, `c` the speed of sound and `s` a source, `u_tt = c^2 (div grad u + s)`. In time it is leapfrog, in space the
//! sum over the six neighbours; `r` is `(c dt / h)^2`:
//!
//! ```text
//! pull(k)  = sum of neighbours of u(k) - 6 u(k) + source(k)
//! u(k + 1) = g (2 u(k) - g u(k - 1) + r pull(k))
//! ```
//!
//! At the outermost points `u` is zero. `g` is one inside and falls towards the boundary: a sponge that swallows waves. It is a product of
//! one number for each direction, so it takes no field.
//!
//! A state is two fields, `u(k - 1)` and `u(k)`. The way back needs `pull(k)` of a step, because the derivative by `r` is its product with
//! the adjoint; nothing else, because all the rest is linear. So a record is one field, half of a state.
//!
//! What receivers hear is no part of a state: it is written down as steps go by, the same whenever a step is run again. A step is recorded
//! right before it is reversed, so what was heard is there when the residual is needed, also in a process that was not there
//! when the first sweep went by. The misfit is summed up on the way back for the same reason, and belongs to the adjoint.

use std::ops::Range;
use wengert_checkpoint::{Fingerprint, Steps, Unstep};

/// Between two points, in metres.
const SPACING: f64 = 10.0;

/// No model is faster than this, in metres per second.
const FASTEST: f64 = 3200.0;

/// Seconds of a step. In three dimensions it is stable below `1 / sqrt(3)` of the time that sound takes from point to point.
pub(crate) const STEP: f64 = 0.5 * SPACING / FASTEST;

/// Of the source, in hertz: eight points to the shortest of its main waves.
const FREQUENCY: f64 = 25.0;

/// What a wave loses at the edge of a sponge in a step, as an exponent.
const LOSS: f64 = 0.09;

/// A grid, what happens on it, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Points in each direction, those at the boundary among them.
    pub(crate) size: usize,
    pub(crate) steps: u64,
    /// How many points of the sponge lie inside each face.
    pub(crate) sponge: usize,
}

impl Setup {
    pub(crate) fn points(&self) -> usize {
        self.size * self.size * self.size
    }

    /// The widest sponge that leaves room for the source and the receivers.
    pub(crate) fn widest_sponge(size: usize) -> usize {
        (size / 2).saturating_sub(3)
    }

    fn point(&self, x: usize, y: usize, z: usize) -> usize {
        (z * self.size + y) * self.size + x
    }

    /// Near the top.
    fn source(&self) -> usize {
        self.point(self.size / 2, self.size / 2, self.sponge + 2)
    }

    /// In a line along the bottom.
    pub(crate) fn receivers(&self) -> Vec<usize> {
        let margin = self.sponge + 2;
        let along = (margin..self.size - margin).step_by(2);
        along.map(|x| self.point(x, self.size / 2, self.size - 1 - margin)).collect()
    }

    /// The speed of sound that is known: it grows with depth.
    pub(crate) fn known_model(&self) -> Result<Vec<f64>, String> {
        self.model(0.0)
    }

    /// The speed of sound that there is: something slow lies in the middle.
    pub(crate) fn true_model(&self) -> Result<Vec<f64>, String> {
        self.model(-300.0)
    }

    fn model(&self, in_the_middle: f64) -> Result<Vec<f64>, String> {
        let mut speed = zeros(self.points())?;
        let middle = (self.size - 1) as f64 / 2.0;
        let from_middle = |x: usize| 6.0 * (x as f64 - middle) / self.size as f64;
        for (at, speed) in speed.iter_mut().enumerate() {
            let [x, y, z] = [at, at / self.size, at / self.size / self.size].map(|k| k % self.size);
            let distance: f64 = [x, y, z].map(|k| from_middle(k).powi(2)).iter().sum();
            *speed = 2000.0 + 800.0 * z as f64 / self.size as f64;
            *speed += in_the_middle * (-distance).exp();
        }
        Ok(speed)
    }

    /// What receivers hear, step by step.
    pub(crate) fn traces(&self, speed: &[f64]) -> Result<Vec<f64>, String> {
        let mut wave = Wave::new(*self, speed, Vec::new())?;
        wave.advance(0..self.steps)?;
        Ok(wave.traces)
    }

    /// Half the sum of squares of residuals.
    pub(crate) fn misfit(&self, speed: &[f64], observed: &[f64]) -> Result<f64, String> {
        let traces = self.traces(speed)?;
        let residuals = traces.iter().zip(observed).map(|(heard, observed)| heard - observed);
        // The last ones first, as on the way back: so it has the same bits.
        Ok(residuals.rev().fold(0.0, |sum, residual| sum + 0.5 * residual * residual))
    }

    /// The shape of the source in time: a Ricker wavelet.
    fn pulse(step: u64) -> f64 {
        let time = step as f64 * STEP - 1.0 / FREQUENCY;
        let square = (std::f64::consts::PI * FREQUENCY * time).powi(2);
        (1.0 - 2.0 * square) * (-square).exp()
    }
}

/// Waves, and what is wanted to know of them.
pub(crate) struct Wave {
    setup: Setup,
    speed: Vec<f64>,
    /// `(c dt / h)^2` at each point.
    ratio: Vec<f64>,
    /// `g` along one direction.
    fade: Vec<f64>,
    receivers: Vec<usize>,
    observed: Vec<f64>,
    /// What receivers heard after each step.
    traces: Vec<f64>,
    /// The live state.
    before: Vec<f64>,
    now: Vec<f64>,
    /// The pull at inner points, for each recorded step.
    tape: Vec<Vec<f64>>,
    /// The adjoint of the state, and of `ratio`.
    by_before: Vec<f64>,
    by_now: Vec<f64>,
    by_ratio: Vec<f64>,
    misfit: f64,
    /// Room for a row, and for a field.
    row: Vec<f64>,
    field: Vec<f64>,
}

impl Wave {
    pub(crate) fn new(setup: Setup, speed: &[f64], observed: Vec<f64>) -> Result<Wave, String> {
        let Setup { size, steps, sponge } = setup;
        let points = setup.points();
        let receivers = setup.receivers();
        let per_metre = STEP / SPACING;
        let mut ratio = zeros(points)?;
        for (ratio, speed) in ratio.iter_mut().zip(speed) {
            *ratio = (per_metre * speed).powi(2);
        }
        let into_sponge = |x: usize| sponge.saturating_sub(x.min(size - 1 - x)) as f64;
        let loss = |x: usize| LOSS * (into_sponge(x) / sponge.max(1) as f64).powi(2);
        let heard = usize::try_from(steps).ok().and_then(|n| n.checked_mul(receivers.len()));
        let heard = heard.ok_or("so many steps cannot be listened to")?;
        let mut copy = zeros(points)?;
        copy.copy_from_slice(speed);
        Ok(Wave {
            setup,
            speed: copy,
            ratio,
            fade: (0..size).map(|x| (-loss(x)).exp()).collect(),
            receivers,
            observed,
            traces: zeros(heard)?,
            before: zeros(points)?,
            now: zeros(points)?,
            tape: Vec::new(),
            by_before: zeros(points)?,
            by_now: zeros(points)?,
            by_ratio: zeros(points)?,
            misfit: 0.0,
            row: zeros(size - 2)?,
            field: zeros(points)?,
        })
    }

    /// What tells this problem from others.
    pub(crate) fn owner(&self) -> u64 {
        let mut print = Fingerprint::new();
        let Setup { size, steps, sponge } = self.setup;
        [size as u64, steps, sponge as u64].into_iter().for_each(|word| print.word(word));
        print.floats(&self.speed);
        print.floats(&self.observed);
        print.finish()
    }

    /// Half the sum of squares of residuals, after the way back.
    pub(crate) fn misfit(&self) -> f64 {
        self.misfit
    }

    /// Its derivative by the speed of sound at each point.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        let per_metre = STEP / SPACING;
        let all = self.by_ratio.iter().zip(&self.speed);
        all.map(|(by_ratio, speed)| 2.0 * per_metre * per_metre * speed * by_ratio).collect()
    }

    /// Points in a direction that are not at the boundary.
    fn inner(&self) -> usize {
        self.setup.size - 2
    }

    fn per_record(&self) -> u64 {
        8 * (self.inner() as u64).pow(3)
    }

    /// The next field takes the place of the one before. The pull is kept where there is room for it.
    fn next(&mut self, step: u64, mut keep: Option<&mut [f64]>) {
        let (size, inner, source) = (self.setup.size, self.inner(), self.setup.source());
        let Wave { before, now, ratio, fade, row, .. } = self;
        for (number, (at, along)) in rows(size, fade).enumerate() {
            let pull = match &mut keep {
                Some(keep) => &mut keep[number * inner..][..inner],
                None => &mut row[..],
            };
            neighbours(now, at, size, pull);
            if (at..at + inner).contains(&source) {
                pull[source - at] += Setup::pulse(step);
            }
            let state = before[at..at + inner].iter_mut().zip(&now[at..at + inner]);
            let model = ratio[at..at + inner].iter().zip(&fade[1..]);
            for (((before, now), pull), (ratio, fade)) in state.zip(pull).zip(model) {
                let fade = along * fade;
                *before = fade * (2.0 * now - fade * *before + ratio * *pull);
            }
        }
    }

    fn step(&mut self, step: u64, keep: Option<&mut [f64]>) {
        self.next(step, keep);
        std::mem::swap(&mut self.before, &mut self.now);
        let first = step as usize * self.receivers.len();
        for (trace, at) in self.traces[first..].iter_mut().zip(&self.receivers) {
            *trace = self.now[*at];
        }
    }

    /// The adjoint of a step.
    fn back(&mut self, step: u64, pull: &[f64]) {
        // What was heard after it.
        let heard =
            step as usize * self.receivers.len()..(step as usize + 1) * self.receivers.len();
        let residuals = self.traces[heard.clone()].iter().zip(&self.observed[heard]);
        for ((heard, observed), at) in residuals.zip(&self.receivers).rev() {
            let residual = heard - observed;
            self.misfit += 0.5 * residual * residual;
            self.by_now[*at] += residual;
        }
        let (size, inner) = (self.setup.size, self.inner());
        let Wave { by_before, by_now, by_ratio, ratio, fade, row, field, .. } = self;
        for ((at, along), pull) in rows(size, fade).zip(pull.chunks_exact(inner)) {
            let by_next = by_now[at..at + inner].iter().zip(&fade[1..]);
            let model = field[at..at + inner].iter_mut().zip(&ratio[at..at + inner]);
            let by_model = by_ratio[at..at + inner].iter_mut().zip(pull);
            for (((by, fade), (field, ratio)), (by_ratio, pull)) in by_next.zip(model).zip(by_model)
            {
                let by = along * fade * by;
                *by_ratio += by * pull;
                *field = by * ratio;
            }
        }
        // If one point is a neighbour of another, that is one of its own: the sum over neighbours is its own transpose.
        for (at, along) in rows(size, fade) {
            neighbours(field, at, size, row);
            let both = by_before[at..at + inner].iter_mut().zip(&mut by_now[at..at + inner]);
            for (((by_before, by_now), sum), fade) in both.zip(&*row).zip(&fade[1..]) {
                let fade = along * fade;
                let by = fade * *by_now;
                *by_now = *by_before + 2.0 * by + sum;
                *by_before = -fade * by;
            }
        }
    }
}

/// Where the inner points of rows begin, and what `g` is across each of them.
fn rows(size: usize, fade: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    let all = (1..size - 1).flat_map(move |z| (1..size - 1).map(move |y| (y, z)));
    all.map(move |(y, z)| ((z * size + y) * size + 1, fade[y] * fade[z]))
}

/// The sum over the six neighbours less six times the value itself, for the points of a row.
fn neighbours(field: &[f64], at: usize, size: usize, sums: &mut [f64]) {
    let row = |at: usize| field[at..at + sums.len()].iter();
    let along_x = row(at - 1).zip(row(at + 1));
    let along_y = row(at - size).zip(row(at + size));
    let along_z = row(at - size * size).zip(row(at + size * size));
    let all = along_x.zip(along_y).zip(along_z).zip(row(at));
    for (sum, ((((left, right), (front, rear)), (above, below)), here)) in sums.iter_mut().zip(all)
    {
        *sum = (left + right) + (front + rear) + (above + below) - 6.0 * here;
    }
}

impl Steps for Wave {
    type Error = String;

    fn advance(&mut self, range: Range<u64>) -> Result<u64, String> {
        let end = range.end.min(self.setup.steps);
        (range.start..end).for_each(|step| self.step(step, None));
        Ok(end)
    }

    fn record(&mut self, range: Range<u64>, room: u64) -> Result<Option<u64>, String> {
        let range = range.start..range.end.min(self.setup.steps);
        if self.per_record().saturating_mul(range.end - range.start) > room {
            return Ok(None);
        }
        for step in range.clone() {
            let mut pull = zeros(self.inner().pow(3))?;
            self.step(step, Some(&mut pull));
            self.tape.push(pull);
        }
        Ok(Some(range.end))
    }

    fn reverse(&mut self, range: Range<u64>) -> Result<(), String> {
        for step in range.rev() {
            let pull = self.tape.pop().ok_or("there is no record")?;
            self.back(step, &pull);
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.tape.clear();
    }

    fn record_bytes(&self) -> u64 {
        self.per_record() * self.tape.len() as u64
    }

    fn state_bytes(&self) -> u64 {
        16 * self.setup.points() as u64
    }

    fn save(&self, to: &mut [u8]) {
        write(to, &[&self.before, &self.now]);
    }

    fn load(&mut self, from: &[u8]) -> Result<(), String> {
        read(from, [&mut self.before, &mut self.now])
    }

    fn adjoint_bytes(&self) -> u64 {
        8 * (1 + 3 * self.setup.points() as u64)
    }

    fn save_adjoint(&self, to: &mut [u8]) {
        write(to, &[&[self.misfit], &self.by_before, &self.by_now, &self.by_ratio]);
    }

    fn load_adjoint(&mut self, from: &[u8]) -> Result<(), String> {
        let mut misfit = [0.0];
        let Wave { by_before, by_now, by_ratio, .. } = self;
        read(from, [&mut misfit, by_before, by_now, by_ratio])?;
        self.misfit = misfit[0];
        Ok(())
    }

    /// Without a copy.
    fn fingerprint(&self) -> u64 {
        let mut print = Fingerprint::new();
        print.floats(&self.before);
        print.floats(&self.now);
        print.finish()
    }
}

impl Unstep for Wave {
    /// `u(k + 1) + u(k - 1)` depends on `u(k)` alone: backwards it is the same step.
    fn unstep(&mut self, range: Range<u64>) -> Result<(), String> {
        if self.setup.sponge > 0 {
            return Err("what a sponge has swallowed does not come back".into());
        }
        for step in range.rev() {
            std::mem::swap(&mut self.before, &mut self.now);
            self.next(step, None);
        }
        Ok(())
    }
}

/// Numbers, all zero, or an error where there is no memory for them.
fn zeros(count: usize) -> Result<Vec<f64>, String> {
    let mut all = Vec::new();
    let none = |_| format!("there is no memory for {count} numbers");
    all.try_reserve_exact(count).map_err(none)?;
    all.resize(count, 0.0);
    Ok(all)
}

/// Writes fields one after the other.
fn write(to: &mut [u8], fields: &[&[f64]]) {
    let (mut rest, _) = to.as_chunks_mut();
    for field in fields {
        for (to, number) in rest.iter_mut().zip(*field) {
            *to = number.to_le_bytes();
        }
        rest = rest.get_mut(field.len()..).unwrap_or_default();
    }
}

/// Reads fields that were written so.
fn read<const N: usize>(from: &[u8], fields: [&mut [f64]; N]) -> Result<(), String> {
    let (mut rest, end) = from.as_chunks::<8>();
    for field in fields {
        let (words, others) =
            rest.split_at_checked(field.len()).ok_or("what was saved is too short")?;
        for (number, word) in field.iter_mut().zip(words) {
            *number = f64::from_le_bytes(*word);
        }
        rest = others;
    }
    match rest.is_empty() && end.is_empty() {
        true => Ok(()),
        false => Err("what was saved is too long".into()),
    }
}
