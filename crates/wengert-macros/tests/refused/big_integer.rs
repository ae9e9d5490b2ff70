use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    x * 18_446_744_073_709_551_615_u64 as f64
}

fn main() {}
