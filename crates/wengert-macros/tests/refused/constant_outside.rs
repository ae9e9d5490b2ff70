use wengert::differentiable;

const G: f64 = 9.81;

#[differentiable]
fn f(t: f64) -> f64 {
    0.5 * G * t * t
}

fn main() {}
