use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    match v {
        [a, b] => a * b,
        _ => x,
    }
}

fn main() {}
