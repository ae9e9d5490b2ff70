use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    v.iter().chain([x].iter()).sum()
}

fn main() {}
