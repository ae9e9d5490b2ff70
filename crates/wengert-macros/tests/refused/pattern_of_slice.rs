use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let &[a, b] = v else { return x };
    a * b
}

fn main() {}
