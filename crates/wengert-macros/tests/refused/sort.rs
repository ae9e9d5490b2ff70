use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let mut y = v.to_vec();
    y.sort_by(|a, b| a.total_cmp(b));
    x * y[0]
}

fn main() {}
