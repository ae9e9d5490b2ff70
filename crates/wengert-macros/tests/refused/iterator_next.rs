use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let mut all = v.iter();
    x * all.next().unwrap()
}

fn main() {}
