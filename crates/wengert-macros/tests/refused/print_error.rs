use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    eprintln!("{x}");
    x
}

fn main() {}
