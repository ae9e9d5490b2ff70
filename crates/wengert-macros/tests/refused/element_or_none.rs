use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize, v: &[f64]) -> f64 {
    x * v.get(n).copied().unwrap_or(0.0)
}

fn main() {}
