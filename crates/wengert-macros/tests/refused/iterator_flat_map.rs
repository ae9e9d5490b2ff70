use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    v.iter().flat_map(|a| [*a, x]).sum()
}

fn main() {}
