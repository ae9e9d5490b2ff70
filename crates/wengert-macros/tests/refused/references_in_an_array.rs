use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let mut a = x;
    let mut b = 2.0 * x;
    let all = [&mut a, &mut b];
    *all[n] += 1.0;
    a * b
}

fn main() {}
