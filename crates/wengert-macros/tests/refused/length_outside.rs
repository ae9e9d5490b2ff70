use wengert::differentiable;

const N: usize = 3;

#[differentiable]
fn f(x: [f64; N]) -> f64 {
    x[0] * x[1]
}

fn main() {}
