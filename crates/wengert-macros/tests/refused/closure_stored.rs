use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let all = [|a: f64| a.sin(), |a: f64| a.cos()];
    all[n](x)
}

fn main() {}
