use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let g = f64::sin;
    g(x)
}

fn main() {}
