use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    x * x.to_string().len() as f64
}

fn main() {}
