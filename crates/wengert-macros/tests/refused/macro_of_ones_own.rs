use wengert::differentiable;

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

#[differentiable]
fn f(x: f64) -> f64 {
    square!(x)
}

fn main() {}
