use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let a = [x, 1.0];
    let b = [1.0, x];
    if a == b { x } else { 2.0 * x }
}

fn main() {}
