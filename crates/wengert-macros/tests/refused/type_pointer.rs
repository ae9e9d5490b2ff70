use wengert::differentiable;

#[differentiable]
fn f(x: f64, _p: *const f64) -> f64 {
    x
}

fn main() {}
