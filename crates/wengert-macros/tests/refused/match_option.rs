use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    match v.first() {
        Some(y) => y * x,
        None => x,
    }
}

fn main() {}
