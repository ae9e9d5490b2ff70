use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let y = x.sin();
    helper(y) + 1.0
}

fn helper(x: f64) -> f64 {
    x
}

fn main() {}
