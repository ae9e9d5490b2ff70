use wengert::differentiable;

#[differentiable]
fn f(x: f64, #[nondiff(always)] y: f64) -> f64 {
    x * y
}

fn main() {}
