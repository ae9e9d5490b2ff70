use wengert::differentiable;

#[differentiable]
fn generic<T>(x: T) -> f64 {
    1.0
}

#[differentiable]
fn flag<const UP: bool>(x: f64) -> f64 {
    if UP { x } else { -x }
}

fn main() {}
