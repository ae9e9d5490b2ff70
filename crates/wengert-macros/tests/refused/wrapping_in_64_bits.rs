use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    x * (n as u64).wrapping_mul(6_364_136_223_846_793_005) as f64
}

fn main() {}
