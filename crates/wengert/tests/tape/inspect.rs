//! What people see of a recording.

use wengert::tape::{Compression, Error, Tape, Var};

#[test]
fn entries_as_a_table() {
    let tape = Tape::with_lines();
    let [x, y] = tape.vars([2.0, 0.5]);
    let line = line!() + 1;
    let z = x.mul_add(y, x.sin()) * 3.0;
    let table = tape.table(..);
    let names: Vec<&str> = table.rows.iter().map(|row| row.operation).collect();
    assert_eq!(names, ["input", "input", "sin", "fma", "constant", "mul"]);
    let last = &table.rows[5];
    assert_eq!((last.value, last.line.unwrap().line()), (z.value(), line));
    assert_eq!(table.rows[3].inputs, [0, 1, table.rows[2].index]);
    let text = table.to_string();
    println!("{text}");
    assert!(text.lines().nth(4).unwrap().contains("fma        %0, %1, %2"), "{text}");
    assert!(text.contains(&format!("inspect.rs:{line}")), "{text}");
    assert_eq!(tape.table(1..3).rows.len(), 2);
    assert_eq!(tape.table(100..).rows.len(), 0);
    // A tape without lines has the same table without them.
    let tape = Tape::new();
    let x = tape.var(2.0);
    let y = tape.preaccumulate(&[x], |x| vec![x[0].sin()]).unwrap()[0];
    let table = tape.table(..);
    assert_eq!((table.rows[1].operation, table.rows[1].value), ("sum", y.value()));
    assert_eq!(table.rows[1].partials, [2.0_f64.cos()]);
    assert_eq!(table.rows[1].line, None);
    println!("{table}");
}

#[test]
fn a_graph_of_a_small_tape() {
    let tape = Tape::with_lines();
    let [x, y] = tape.vars([2.0, 0.5]);
    let z = (x * y).sin() + x.powi(2) / 3.0;
    assert!(z.value() > 0.0);
    let graph = tape.graphviz().unwrap();
    assert_eq!(graph.matches("fillcolor").count(), 2);
    assert_eq!(graph.matches(" -> ").count(), 9);
    if let Ok(to) = std::env::var("WENGERT_GRAPH") {
        std::fs::write(to, &graph).unwrap();
    }
    let tape = Tape::new();
    let y = (0..1000).fold(tape.var(1.0), |y, _| y * 0.5);
    assert!(y.value() >= 0.0);
    let error = tape.graphviz().unwrap_err();
    assert!(matches!(&error, Error::Inspection(why) if why.contains("1002 entries")), "{error}");
}

#[test]
fn what_is_doubtful() {
    let tape = Tape::with_lines();
    let [a, b, c, d] = tape.vars([0.0, -1.0, 2.0, 0.0]);
    let line = line!() + 1;
    let wrong = (b * 2.0).ln();
    let y = wrong + c.floor() + d.sqrt();
    let audit = tape.audit(&[y]).unwrap();
    let first = audit.first_not_finite.as_ref().unwrap();
    assert_eq!((first.operation, first.line.unwrap().line()), ("log", line));
    assert_eq!(audit.unused_inputs, [0]);
    assert_eq!(audit.zero_gradients, [2]);
    assert_eq!(audit.gradients_not_finite, [3]);
    assert_eq!(audit.conversions, 0);
    let text = audit.to_string();
    println!("{text}");
    assert!(text.contains("log %5 is NaN, at") && text.contains("input %0 is not used"), "{text}");
    // What was infinite before an operation is not its doing.
    let z = c / a;
    let infinite = tape.audit(&[z]).unwrap();
    assert_eq!(infinite.first_not_finite.unwrap().operation, "log");

    let tape = Tape::new();
    let x = tape.var(2.0);
    let number: f64 = (x * x).into();
    let audit = tape.audit(&[x * number]).unwrap();
    assert_eq!(audit.conversions, 1);
    assert!(audit.to_string().contains("converted"), "{audit}");

    let tape = Tape::new();
    let x = tape.var(2.0);
    let audit = tape.audit(&[x * x, x.exp(), Var::from(1.0)]).unwrap();
    assert!(audit.is_clean());
    assert_eq!(audit.to_string(), "nothing doubtful");
}

#[test]
fn what_lines_cost() {
    let tape = Tape::with_lines();
    let mut x = tape.var(0.5);
    let line = line!() + 2;
    for _ in 0..10_000 {
        x = x.sin();
        x *= 1.1;
    }
    let lines = tape.lines().unwrap();
    println!("{lines}");
    assert_eq!(lines.lines.len(), 3, "{lines}");
    let of = |line: u32| lines.lines.iter().find(|one| one.line.line() == line).unwrap();
    assert_eq!((of(line).entries, of(line + 1).entries), (10_000, 10_001));
    let bytes: usize = lines.lines.iter().map(|one| one.bytes).sum();
    assert_eq!(bytes, tape.stats().bytes);
    assert!(lines.lines.iter().any(|one| !one.time.is_zero()));
    // Lines stay with what is compressed.
    let small = tape.compress_with(&[x], Compression { fuse: true, single: false }).unwrap();
    assert_eq!(small.after.entries, 2);
    assert_eq!(tape.table(..).rows[1].line.unwrap().line(), line + 1);
    assert_eq!(Tape::new().lines().unwrap().lines.len(), 0);
}
