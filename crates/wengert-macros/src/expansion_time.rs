//! How long the attribute takes for a long function.

use std::fmt::Write;
use std::time::{Duration, Instant};

/// Lines of the function.
const LINES: usize = 200;

/// What it should take, where nothing else runs.
const AIM: Duration = Duration::from_millis(500);

/// A function of many statements: arithmetic, elementary functions, branches, loops over arrays in place.
fn function() -> String {
    let mut text =
        String::from("fn long(x: &[f64], u: &mut [f64], a: f64, steps: usize) -> f64 {\n");
    text += "    let (mut s, mut t) = (a, 0.5 * a);\n";
    let mut k = 0;
    // What is left is the end of the function.
    while text.lines().count() + 12 < LINES {
        let part = match k % 6 {
            0 => format!("    let p{k} = s * t + {k}.0 * a;\n    s += p{k}.sin() * t;\n"),
            1 => format!(
                "    let q{k} = (s - t).tanh();\n    t = 0.9 * t + 0.1 * q{k} * x[{k} % x.len()];\n"
            ),
            2 => format!(
                "    if s > {k}.0 {{\n        s = s * 0.5 + t;\n    }} else {{\n        t -= 0.01 * s * s;\n    }}\n"
            ),
            3 => format!(
                "    for i in 1..u.len() {{\n        u[i] += 0.1 * (u[i - 1] - u[i]) * s;\n        t += u[i] * x[i] * {k}.5;\n    }}\n"
            ),
            4 => "    for v in x {\n        s = s * 0.99 + v * (0.1 * t).exp();\n    }\n".into(),
            _ => format!(
                "    let r{k} = s * s + t * t + 1.0;\n    s /= r{k}.sqrt();\n    t += r{k}.ln();\n"
            ),
        };
        text += &part;
        k += 1;
    }
    text += "    let mut n = 0;\n    while n < steps && s.abs() < 10.0 {\n";
    while text.lines().count() + 5 < LINES {
        text += "        s += 0.01 * (t - s * s);\n";
    }
    writeln!(text, "        n += 1;\n    }}\n    let total: f64 = u.iter().map(|v| v * v).sum();\n    s + t * total\n}}").unwrap();
    text
}

/// How long the threads of this process have been running, without the times they waited for a processor, in steps of a hundredth
/// of a second; where the system does not tell, how long ago `start` was.
fn worked(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/self/stat").ok();
    let ticks = told.and_then(|text| {
        let (_, after) = text.rsplit_once(')')?;
        let mut times = after.split_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
        Some(times.next()?? + times.next()??)
    });
    ticks.map_or_else(|| start.elapsed(), |ticks| Duration::from_millis(10 * ticks))
}

#[test]
fn a_long_function_takes_little_time() {
    let text = function();
    assert_eq!(text.lines().count(), LINES, "{text}");
    let (mut least, mut elapsed) = (Duration::MAX, Duration::MAX);
    let mut length = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let before = worked(start);
        let tokens = text.parse().unwrap();
        let made = crate::expanded(Default::default(), tokens).unwrap_or_else(|e| panic!("{e:?}"));
        elapsed = elapsed.min(start.elapsed());
        least = least.min(worked(start).saturating_sub(before));
        length = made.to_string().len();
    }
    println!("{LINES} lines: {elapsed:?}, {least:?} of processors, {length} bytes");
    // Programs are made side by side; machines that test are slow, and share their processors.
    assert!(least < 5 * AIM, "{least:?}");
}
