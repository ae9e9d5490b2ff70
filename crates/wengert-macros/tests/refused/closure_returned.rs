use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let g = |a: f64| a * a;
    let h = if n > 1 { g } else { g };
    h(x)
}

fn main() {}
