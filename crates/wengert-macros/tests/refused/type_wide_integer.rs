use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: i128) -> f64 {
    x * n as f64
}

fn main() {}
