use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let mut a = x;
    let mut b = 2.0 * x;
    let r;
    if n > 1 {
        r = &mut a;
    } else {
        r = &mut b;
    }
    *r += 1.0;
    a * b
}

fn main() {}
