use wengert::tape::*;

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let table = [1.0, 2.0];
    let _ = table[x];
}
