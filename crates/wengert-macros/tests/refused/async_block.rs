use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let later = async { x };
    drop(later);
    x
}

fn main() {}
