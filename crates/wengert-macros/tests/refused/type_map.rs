use wengert::differentiable;

#[differentiable]
fn f(x: &std::collections::HashMap<u32, f64>) -> f64 {
    x[&1]
}

fn main() {}
