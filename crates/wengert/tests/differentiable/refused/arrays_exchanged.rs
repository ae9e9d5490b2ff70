use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut a = [x; 4];
    let mut b = [1.0; 4];
    let (mut r, mut s) = (&mut a, &mut b);
    std::mem::swap(&mut r, &mut s);
    r[0] += 1.0;
    s[0] += 2.0;
    a[0]
}

fn main() {}
