use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    if let Some(y) = v.first() { *y * x } else { x }
}

fn main() {}
