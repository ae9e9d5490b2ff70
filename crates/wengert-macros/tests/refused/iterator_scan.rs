use wengert::differentiable;

#[differentiable]
fn f(x: f64, v: &[f64]) -> f64 {
    let y: Vec<f64> = v
        .iter()
        .scan(x, |s, a| {
            *s += a;
            Some(*s)
        })
        .collect();
    y[0]
}

fn main() {}
