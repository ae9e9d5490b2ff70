use wengert::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let mut y = vec![0.0];
    y.push(x[0] * 2.0);
    y[1]
}

fn main() {}
