use wengert::differentiable;

#[differentiable]
fn f<'a>(x: &'a [f64]) -> &'a f64 {
    &x[0]
}

fn main() {}
