use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    y * x
}

fn main() {}
