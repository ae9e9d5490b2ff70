use wengert::differentiable;

#[differentiable]
#[unsafe(no_mangle)]
pub fn f(x: f64) -> f64 {
    x * x
}

fn main() {}
