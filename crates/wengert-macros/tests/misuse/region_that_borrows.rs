use wengert::tape::*;

fn main() {
    let tape = Tape::new();
    let x = tape.var(1.0);
    let scale = vec![2.0];
    let _ = tape.checkpoint(&[x], |x| vec![x[0] * scale[0]]);
}
