use wengert::tape::*;

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let _: f64 = x;
}
