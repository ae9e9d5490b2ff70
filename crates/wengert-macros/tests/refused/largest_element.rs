use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    x * v.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap()
}

fn main() {}
