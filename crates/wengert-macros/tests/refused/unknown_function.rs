use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let y = x.sin();
    helper(y) + 1.0
}

fn helper(x: f64) -> f64 {
    x
}

mod other {
    pub fn scaled(x: f64, v: &[f64]) -> f64 {
        x * v[0]
    }
}

#[differentiable]
fn g(x: f64, v: &[f64]) -> f64 {
    other::scaled(x, v)
}

fn main() {}
