use wengert::differentiable;

#[differentiable]
fn f(x: &[f64]) -> &[f64] {
    &x[1..]
}

fn main() {}
