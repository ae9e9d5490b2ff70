use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    x * f64::from_bits(n as u64)
}

fn main() {}
