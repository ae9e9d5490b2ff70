//! What `wengert plan` says: what a schedule costs before anything runs under it, and what it looks like.

use crate::PlanOptions;
use crate::command::{Failure, Outcome, printed};
use crate::human::size;
use crate::picture;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use wengert_schedule::{
    Action, Binomial, Cost, Impossible, InBytes, Limits, Online, Schedule, Times, TwoLevel, check,
    most_evaluations,
};

/// Schedules of more actions than this are not counted one by one.
const COUNTED: u64 = 50_000_000;

/// Says what was asked for, as text, as JSON or as a picture.
pub(crate) fn plan(options: &PlanOptions) -> Outcome {
    if options.svg {
        return printed(drawn(options).map_err(Failure::input)?);
    }
    let planned = Planned::new(options).map_err(Failure::input)?;
    printed(if options.json { format!("{}\n", planned.json()) } else { planned.text() })
}

/// A schedule and its costs.
struct Planned {
    what: String,
    steps: u64,
    cost: Cost,
    /// How often the step that is evaluated most often is evaluated, if that can be told in reasonable time.
    most: Option<u64>,
    /// The fewest evaluations with as many slots, had the end been known.
    known: Option<u128>,
}

/// A schedule of its own kind.
enum Kind {
    Binomial(Binomial),
    InBytes(InBytes),
    TwoLevel(TwoLevel),
    Online(Box<Online>),
}

impl Kind {
    fn of(options: &PlanOptions) -> Result<Kind, String> {
        let steps = &options.steps.unwrap_or(0);
        let impossible = |why: Impossible| why.to_string();
        if let Some(memory) = options.memory {
            let (Some(state), Some(tape)) = (options.state_bytes, options.tape_bytes) else {
                return Err("`--memory` needs `--state-bytes` and `--tape-bytes`".into());
            };
            let made = InBytes::new(*steps, state.0, tape.0, memory.0, &Times::EVALUATIONS);
            return made.map(Kind::InBytes).map_err(impossible);
        }
        let Some(slots) = options.slots else {
            return Err("say how many states are stored with `--slots`, or how many bytes there are with `--memory`, `--state-bytes` and `--tape-bytes`".into());
        };
        let made = match (options.online, options.disk_slots) {
            (true, Some(_)) => {
                return Err("a schedule with a disk must know the number of steps: leave `--online` or `--disk-slots` out".into());
            }
            (true, None) => Online::new(slots).map(|online| Kind::Online(Box::new(online))),
            (false, None) => Binomial::new(*steps, slots).map(Kind::Binomial),
            (false, Some(disk_slots)) => {
                let times = Times {
                    disk_store: options.write_cost,
                    disk_load: options.read_cost,
                    ..Times::EVALUATIONS
                };
                TwoLevel::new(*steps, slots, disk_slots, &times).map(Kind::TwoLevel)
            }
        };
        made.map_err(impossible)
    }

    /// Its actions. Of one that does not know the end, for this number of steps.
    fn actions(self, steps: u64) -> Box<dyn Iterator<Item = Action>> {
        match self {
            Kind::Binomial(schedule) => Box::new(schedule),
            Kind::InBytes(schedule) => Box::new(schedule),
            Kind::TwoLevel(schedule) => Box::new(schedule),
            Kind::Online(schedule) => Box::new(Ending { schedule, steps }),
        }
    }
}

/// A loop that ends after so many steps.
struct Ending {
    schedule: Box<Online>,
    steps: u64,
}

impl Iterator for Ending {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match self.schedule.next()? {
            Action::Advance { from, to } if self.schedule.steps().is_none() && to > self.steps => {
                self.schedule.ended(self.steps).ok()?;
                match from < self.steps {
                    true => Some(Action::Advance { from, to: self.steps }),
                    false => self.schedule.next(),
                }
            }
            action => Some(action),
        }
    }
}

impl Planned {
    /// Plans and counts.
    fn new(options: &PlanOptions) -> Result<Planned, String> {
        let steps = options.steps.unwrap_or(0);
        let kind = Kind::of(options)?;
        let mut known = None;
        let (what, cost) = match &kind {
            Kind::Binomial(schedule) => ("binomial".to_string(), schedule.cost()),
            Kind::InBytes(schedule) => {
                (format!("in bytes, {} steps recorded together", schedule.group()), schedule.cost())
            }
            Kind::TwoLevel(schedule) => (
                format!("memory and disk, in groups of {} steps", schedule.group()),
                schedule.cost(),
            ),
            Kind::Online(schedule) => {
                if steps > COUNTED {
                    return Err(format!(
                        "what a schedule that does not know the end costs is counted step by step: {COUNTED} steps at most"
                    ));
                }
                let slots = options.slots.unwrap_or(1);
                let counted = check(Online::clone(schedule), Limits::slots(steps, slots));
                let best = Binomial::new(steps, slots).map_err(|why| why.to_string())?;
                known = Some(best.cost().evaluations());
                ("online".to_string(), counted.map_err(|illegal| illegal.to_string())?)
            }
        };
        let most = match kind {
            Kind::Binomial(schedule) => Some(schedule.most_evaluations()),
            kind if cost.evaluations() <= u128::from(COUNTED) => {
                Some(most_evaluations(kind.actions(steps)))
            }
            _ => None,
        };
        Ok(Planned { what, steps, cost, most, known })
    }

    fn json(&self) -> Json {
        let number = |n: u128| u64::try_from(n).map_or_else(|_| json!(n.to_string()), |n| json!(n));
        let Cost { advances, records, stores, loads, disk_stores, disk_loads, .. } = self.cost;
        let mut out = json!({
            "evaluations": number(self.cost.evaluations()),
            "advances": number(advances),
            "max_evaluations_of_a_step": self.most,
            "records": number(records),
            "stores": number(stores),
            "loads": number(loads),
            "disk_stores": number(disk_stores),
            "disk_loads": number(disk_loads),
            "peak_slots": self.cost.peak_slots,
            "peak_disk_slots": self.cost.peak_disk_slots,
            "peak_tapes": self.cost.peak_tapes,
            "peak_bytes": number(self.cost.peak_bytes),
            "schedule": self.what,
        });
        if let Some(known) = self.known {
            out["evaluations_with_known_end"] = number(known);
        }
        out
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, text: String| {
            let _ = writeln!(out, "{name:<14}{text}");
        };
        let cost = &self.cost;
        let per_step = |n: u128| match self.steps {
            0 => String::new(),
            steps => format!(", {:.3} per step", n as f64 / steps as f64),
        };
        line("schedule", self.what.clone());
        line("evaluations", format!("{}{}", cost.evaluations(), per_step(cost.evaluations())));
        if let Some(known) = self.known {
            let over = cost.evaluations() as f64 / known.max(1) as f64;
            line("", format!("{over:.3} times as many as had the end been known ({known})"));
        }
        if let Some(most) = self.most {
            line("", format!("no step more than {most} times"));
        }
        line("advances", cost.advances.to_string());
        line("states", format!("{} at once, stored {} times", cost.peak_slots, cost.stores));
        if cost.disk_stores > 0 {
            let (at_once, stored) = (cost.peak_disk_slots, cost.disk_stores);
            line(
                "on disk",
                format!(
                    "{at_once} at once, written {stored} times, read {} times",
                    cost.disk_loads
                ),
            );
        }
        line("tapes", format!("of {} steps at once", cost.peak_tapes));
        if let Ok(bytes @ 1..) = u64::try_from(cost.peak_bytes) {
            line("memory", size(bytes));
        }
        out
    }
}

/// A picture of a schedule, if it is short enough to be drawn.
fn drawn(options: &PlanOptions) -> Result<String, String> {
    let steps = options.steps.unwrap_or(0);
    let sizes = (options.state_bytes.map_or(1, |b| b.0), options.tape_bytes.map_or(1, |b| b.0));
    let bytes = options.memory.is_some();
    drawable(Planned::new(options)?.cost.evaluations())?;
    let actions: Vec<Action> = Kind::of(options)?.actions(steps).collect();
    Ok(picture::svg(&actions, steps, bytes.then_some(sizes)))
}

/// The schedule that fits so many bytes, drawn as SVG: a state takes `state` of them, the record of a step `tape`.
///
/// ```
/// let drawn = wengert_cli::schedule_in_bytes(100, 24, 24, 480)?;
/// assert!(drawn.starts_with("<svg") && drawn.contains("100 steps"));
/// assert!(wengert_cli::schedule_in_bytes(100, 24, 24, 10).is_err());
/// # Ok::<(), String>(())
/// ```
pub fn schedule_in_bytes(steps: u64, state: u64, tape: u64, memory: u64) -> Result<String, String> {
    let made = InBytes::new(steps, state, tape, memory, &Times::EVALUATIONS);
    let schedule = made.map_err(|why| why.to_string())?;
    drawable(schedule.cost().evaluations())?;
    let actions: Vec<Action> = schedule.collect();
    Ok(picture::svg(&actions, steps, Some((state, tape))))
}

fn drawable(evaluations: u128) -> Result<(), String> {
    if evaluations > picture::MOST {
        return Err(format!(
            "the schedule has {evaluations} evaluations, too many for a picture: {} at most",
            picture::MOST
        ));
    }
    Ok(())
}
