use wengert::tape::*;

fn shared<T: Sync>(_: T) {}

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    shared(tape);
    let _ = x;
}
