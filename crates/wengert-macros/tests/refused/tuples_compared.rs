use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    if (x, 1.0) < (1.0, x) { x } else { 2.0 * x }
}

fn main() {}
