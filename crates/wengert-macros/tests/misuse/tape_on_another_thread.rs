use wengert::tape::*;

fn sent<T: Send>(_: T) {}

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    sent(tape);
    let _ = x;
}
