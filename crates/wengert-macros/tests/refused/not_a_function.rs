use wengert::differentiable;

#[differentiable]
const X: f64 = 1.0;

fn main() {}
