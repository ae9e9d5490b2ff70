use wengert::differentiable;

#[differentiable]
fn f(mut a: f64, mut b: f64, n: usize) -> f64 {
    let mut r = &mut a;
    *r += 1.0;
    if n > 2 {
        r = &mut b;
    }
    *r *= 2.0;
    a * b
}

fn main() {}
