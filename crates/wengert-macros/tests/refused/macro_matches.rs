use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    if matches!(n, 1..=3) { x } else { -x }
}

fn main() {}
