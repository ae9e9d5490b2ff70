use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize, v: &[f64]) -> f64 {
    x * unsafe { *v.get_unchecked(n) }
}

fn main() {}
