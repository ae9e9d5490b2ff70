use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    x * const { 2.0 * 3.0 }
}

fn main() {}
