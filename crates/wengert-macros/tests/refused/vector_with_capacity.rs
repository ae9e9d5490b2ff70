use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let mut y: Vec<f64> = Vec::with_capacity(n);
    y.push(x);
    y[0]
}

fn main() {}
