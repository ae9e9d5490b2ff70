use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let items = v.iter().map(|a| a * x);
    items.sum()
}

fn main() {}
