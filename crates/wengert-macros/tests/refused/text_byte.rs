use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    x * f64::from(b'a')
}

fn main() {}
