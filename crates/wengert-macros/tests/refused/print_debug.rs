use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    dbg!(x) * 2.0
}

fn main() {}
