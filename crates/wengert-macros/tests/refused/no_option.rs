use wengert::differentiable;

#[differentiable(fast)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
