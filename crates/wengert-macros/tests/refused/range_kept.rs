use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize, v: &[f64]) -> f64 {
    let all = 0..n;
    let mut sum = x;
    for i in all {
        sum += v[i];
    }
    sum
}

fn main() {}
