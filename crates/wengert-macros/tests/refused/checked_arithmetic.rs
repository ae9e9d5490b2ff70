use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    x * n.checked_sub(1).unwrap_or(0) as f64
}

fn main() {}
