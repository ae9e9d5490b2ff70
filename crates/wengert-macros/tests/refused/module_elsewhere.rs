use wengert::differentiable;

#[differentiable]
struct S;

fn main() {}
