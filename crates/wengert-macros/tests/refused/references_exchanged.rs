use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut a = x;
    let mut b = 2.0 * x;
    let (mut r, mut s) = (&mut a, &mut b);
    std::mem::swap(&mut r, &mut s);
    *r += 1.0;
    *s += 2.0;
    a * b
}

fn main() {}
