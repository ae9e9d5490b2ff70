use wengert::differentiable;

#[differentiable]
fn f(x: f64, _name: &str) -> f64 {
    x
}

fn main() {}
