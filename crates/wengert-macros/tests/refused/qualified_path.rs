use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    <f64 as std::ops::Mul>::mul(x, 2.0)
}

fn main() {}
