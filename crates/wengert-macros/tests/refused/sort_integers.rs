use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let mut k = [n, 3, 1];
    k.sort();
    x * k[0] as f64
}

fn main() {}
