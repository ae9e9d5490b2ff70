use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut t = (x, x);
    let r = &mut t;
    r.0 += 1.0;
    t.0 * t.1
}

fn main() {}
