use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let mut y = v.to_vec();
    y.pop();
    x * y[0]
}

fn main() {}
