use wengert::differentiable;

#[differentiable]
pub type Number = f64;

fn main() {}
