use wengert::differentiable;

#[differentiable(memory = "64 bananas")]
fn f(x: f64) -> f64 {
    x
}

#[differentiable(memory = 1.5)]
fn g(x: f64) -> f64 {
    x
}

#[differentiable(memory)]
fn h(x: f64) -> f64 {
    x
}

fn main() {}
