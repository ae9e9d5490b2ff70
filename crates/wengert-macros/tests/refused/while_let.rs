use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let mut all = v.iter();
    let mut sum = x;
    while let Some(y) = all.next() {
        sum += y;
    }
    sum
}

fn main() {}
