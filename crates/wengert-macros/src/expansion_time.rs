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

/// How long this thread has been running, without the times it waited for a processor; where the system does not tell, how long
/// ago `start` was.
fn worked(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

#[test]
fn a_long_function_takes_little_time() {
    let text = function();
    assert_eq!(text.lines().count(), LINES, "{text}");
    let mut least = Duration::MAX;
    let mut length = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let before = worked(start);
        let tokens = text.parse().unwrap();
        let made = crate::expanded(Default::default(), tokens).unwrap_or_else(|e| panic!("{e:?}"));
        least = least.min(worked(start).saturating_sub(before));
        length = made.to_string().len();
    }
    println!("{LINES} lines: {least:?}, {length} bytes");
    // Machines that test are slow, and share their processors.
    assert!(least < 4 * AIM, "{least:?}");
}
