use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut a = x;
    let mut b = 2.0 * x;
    let mut r = &mut a;
    *r += 1.0;
    r = &mut b;
    *r += 1.0;
    a * b
}

fn main() {}
