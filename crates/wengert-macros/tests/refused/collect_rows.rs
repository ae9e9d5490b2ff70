use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = v.iter().map(|a| v.iter().map(|b| a * b).collect()).collect();
    x * rows[0][0]
}

fn main() {}
