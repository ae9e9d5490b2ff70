use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    x * v.first().unwrap()
}

fn main() {}
