use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    x * v.iter().position(|a| *a > x).unwrap() as f64
}

fn main() {}
