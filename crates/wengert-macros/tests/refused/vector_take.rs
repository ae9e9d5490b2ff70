use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let mut y = v.to_vec();
    let z = std::mem::take(&mut y);
    x * z[0]
}

fn main() {}
