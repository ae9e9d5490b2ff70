use wengert::differentiable;

#[differentiable]
fn f(x: f64, _c: char) -> f64 {
    x
}

fn main() {}
