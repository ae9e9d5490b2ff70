use wengert::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let kept: Vec<f64> = x.iter().copied().filter(|v| *v > 0.0).collect();
    kept[0]
}

fn main() {}
