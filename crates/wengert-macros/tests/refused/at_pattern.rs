use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let all @ (a, b) = (x, x * x);
    a + b + all.0
}

fn main() {}
