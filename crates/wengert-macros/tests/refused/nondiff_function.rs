use wengert::differentiable;

#[differentiable]
#[nondiff]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {}
