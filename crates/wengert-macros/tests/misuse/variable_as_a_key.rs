use wengert::tape::*;

fn key<T: std::hash::Hash>(_: T) {}

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    key(x);
}
