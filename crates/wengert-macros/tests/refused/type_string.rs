use wengert::differentiable;

#[differentiable]
fn f(x: f64, _name: String) -> f64 {
    x
}

fn main() {}
