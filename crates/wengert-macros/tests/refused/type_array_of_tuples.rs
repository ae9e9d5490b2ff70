use wengert::differentiable;

#[differentiable]
fn f(x: &[(f64, f64)]) -> f64 {
    x[0].0 * x[0].1
}

fn main() {}
