use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    match n {
        k if { let half = k / 2; half > 3 } => x * x,
        _ => x,
    }
}

fn main() {}
