use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    if x.total_cmp(&1.0).is_lt() { x } else { 1.0 }
}

fn main() {}
