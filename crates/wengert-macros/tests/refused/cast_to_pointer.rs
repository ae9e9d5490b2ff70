use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let p = v as *const [f64];
    x * p.len() as f64
}

fn main() {}
