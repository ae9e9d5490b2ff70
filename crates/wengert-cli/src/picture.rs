//! Schedules as pictures: which step is at work when, and what is held meanwhile.

use crate::human::size;
use std::collections::HashMap;
use std::fmt::Write;
use wengert_schedule::{Action, Slot};

/// The most evaluations in a picture.
pub(crate) const MOST: u128 = 200_000;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 20.0;
/// Top and height of the two parts.
const SWEEPS: (f64, f64) = (64.0, 340.0);
const MEMORY: (f64, f64) = (460.0, 130.0);
const HEIGHT: f64 = 640.0;

const ADVANCE: &str = "#8fa3b8";
const RECORD: &str = "#d1601f";
const REVERSE: &str = "#2b6cb0";
const STATES: &str = "#c9d3de";
const TAPES: &str = "#f0c7a8";

/// A schedule over time, in evaluations of steps; reversing a step counts as one. With sizes of a state and a tape memory is in bytes,
/// otherwise in states and tapes of one step.
pub(crate) fn svg(actions: &[Action], steps: u64, sizes: Option<(u64, u64)>) -> String {
    let time: u64 = actions.iter().map(length).sum();
    let x = |t: u64| LEFT + (WIDTH - LEFT - RIGHT) * t as f64 / time.max(1) as f64;
    let y = |step: u64| SWEEPS.0 + SWEEPS.1 * (1.0 - step as f64 / steps.max(1) as f64);
    let mut out = String::new();
    let mut put = |text: std::fmt::Arguments| {
        let _ = writeln!(out, "{text}");
    };
    put(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>
<text x="{LEFT}" y="24" font-size="16" font-weight="600">{steps} steps</text>"##
    ));
    for (k, (colour, text)) in
        [(ADVANCE, "advance"), (RECORD, "record"), (REVERSE, "reverse")].iter().enumerate()
    {
        let at = LEFT + 100.0 * k as f64;
        put(format_args!(
            r#"<line x1="{at}" y1="44" x2="{}" y2="44" stroke="{colour}" stroke-width="4"/><text x="{}" y="48">{text}</text>"#,
            at + 22.0,
            at + 28.0
        ));
    }
    axes(&mut put, SWEEPS, "step", &[(0.0, "0".into()), (1.0, steps.to_string())]);

    // States by their slots, since when they are held; and tapes.
    let mut held: HashMap<Slot, (u64, u64)> = HashMap::new();
    let mut lines = Vec::new();
    let (mut now, mut tapes) = (0, 0u64);
    let mut memory: Vec<(u64, u64, u64)> = vec![(0, 0, 0)];
    let (state, tape) = sizes.unwrap_or((1, 1));
    for action in actions {
        let before = now;
        now += length(action);
        match action {
            Action::Advance { from, to } => lines.push((before, *from, now, *to, ADVANCE)),
            Action::Record { from, to } => {
                lines.push((before, *from, now, *to, RECORD));
                tapes += to - from;
            }
            Action::Reverse { from, to } => {
                lines.push((before, *to, now, *from, REVERSE));
                tapes = tapes.saturating_sub(to - from);
            }
            Action::Store { step, slot } => _ = held.insert(*slot, (*step, now)),
            Action::Free { slot } => {
                if let Some((step, since)) = held.remove(slot) {
                    kept(&mut put, *slot, (x(since), x(now)), y(step));
                }
            }
            Action::Load { .. } | Action::PrimalDone => {}
        }
        let in_memory = held.keys().filter(|slot| matches!(slot, Slot::Memory(_))).count() as u64;
        memory.push((now, in_memory * state, tapes * tape));
    }
    for (slot, (step, since)) in held {
        kept(&mut put, slot, (x(since), x(now)), y(step));
    }
    for (from, first, to, last, colour) in lines {
        put(format_args!(
            r#"<line x1="{:.2}" y1="{:.2}" x2="{:.2}" y2="{:.2}" stroke="{colour}" stroke-width="1.6" stroke-linecap="round"/>"#,
            x(from),
            y(first),
            x(to),
            y(last)
        ));
    }

    let most = memory.iter().map(|(_, states, tapes)| states + tapes).max().unwrap_or(0).max(1);
    let what = if sizes.is_some() { "bytes" } else { "held" };
    let label = if sizes.is_some() { size(most) } else { most.to_string() };
    let level = |n: u64| MEMORY.0 + MEMORY.1 * (1.0 - n as f64 / most as f64);
    area(
        &mut put,
        memory.iter().map(|(t, states, tapes)| (x(*t), level(states + tapes))),
        level(0),
        TAPES,
    );
    area(&mut put, memory.iter().map(|(t, states, _)| (x(*t), level(*states))), level(0), STATES);
    axes(&mut put, MEMORY, what, &[(0.0, "0".into()), (1.0, label)]);
    for (k, (colour, text)) in [(STATES, "states"), (TAPES, "tapes")].iter().enumerate() {
        let at = LEFT + 100.0 * k as f64;
        put(format_args!(
            r#"<rect x="{at}" y="{}" width="16" height="12" fill="{colour}"/><text x="{}" y="{}">{text}</text>"#,
            MEMORY.0 - 26.0,
            at + 22.0,
            MEMORY.0 - 15.0
        ));
    }
    put(format_args!(
        r#"<text x="{}" y="{}" text-anchor="end">time, in steps evaluated and reversed: {time}</text>"#,
        WIDTH - RIGHT,
        MEMORY.0 + MEMORY.1 + 30.0
    ));
    put(format_args!("</svg>"));
    out
}

/// How long an action takes.
fn length(action: &Action) -> u64 {
    match action {
        Action::Advance { from, to }
        | Action::Record { from, to }
        | Action::Reverse { from, to } => to - from,
        _ => 0,
    }
}

/// A state while it is held.
fn kept(put: &mut impl FnMut(std::fmt::Arguments), slot: Slot, (from, to): (f64, f64), y: f64) {
    let dashes = if matches!(slot, Slot::Disk(_)) { r#" stroke-dasharray="3 3""# } else { "" };
    put(format_args!(
        r##"<line x1="{from:.2}" y1="{y:.2}" x2="{to:.2}" y2="{y:.2}" stroke="#cbd5df" stroke-width="0.8"{dashes}/>"##
    ));
}

/// What is held over time.
fn area(
    put: &mut impl FnMut(std::fmt::Arguments),
    points: impl Iterator<Item = (f64, f64)>,
    floor: f64,
    colour: &str,
) {
    let (mut path, mut end) = (format!("M{LEFT} {floor:.2}"), LEFT);
    for (x, y) in points {
        let _ = write!(path, "L{x:.2} {y:.2}");
        end = x;
    }
    put(format_args!(r#"<path d="{path}L{end:.2} {floor:.2}Z" fill="{colour}"/>"#));
}

/// Two axes, with labels from the bottom (0) to the top (1).
fn axes(
    put: &mut impl FnMut(std::fmt::Arguments),
    (top, height): (f64, f64),
    name: &str,
    labels: &[(f64, String)],
) {
    let (bottom, right) = (top + height, WIDTH - RIGHT);
    put(format_args!(
        r##"<path d="M{LEFT} {top}V{bottom}H{right}" fill="none" stroke="#555"/>
<text x="{}" y="{}" text-anchor="end" fill="#555">{name}</text>"##,
        LEFT - 8.0,
        top + height / 2.0
    ));
    for (at, text) in labels {
        put(format_args!(
            r#"<text x="{}" y="{}" text-anchor="end">{text}</text>"#,
            LEFT - 8.0,
            bottom - height * at + 4.0
        ));
    }
}
