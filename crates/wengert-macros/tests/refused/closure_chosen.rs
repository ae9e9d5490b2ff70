use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let g: fn(f64) -> f64;
    if n > 1 {
        g = |a| a * a;
    } else {
        g = |a| a + 1.0;
    }
    g(x)
}

fn main() {}
