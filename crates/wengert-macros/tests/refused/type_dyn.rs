use wengert::differentiable;

#[differentiable]
fn f(x: f64, g: &dyn Fn(f64) -> f64) -> f64 {
    g(x)
}

fn main() {}
