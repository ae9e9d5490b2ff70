use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize, v: &[f64]) -> f64 {
    let mut y = v.to_vec();
    y.truncate(n);
    x * y[0]
}

fn main() {}
