use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut y = Vec::new();
    y.push(x);
    y[0]
}

fn main() {}
