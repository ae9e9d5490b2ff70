use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let name = format!("{x}");
    x * name.len() as f64
}

fn main() {}
