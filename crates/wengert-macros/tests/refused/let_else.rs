use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let Some(y) = v.first() else {
        return x;
    };
    y * x
}

fn main() {}
