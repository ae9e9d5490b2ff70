use wengert::differentiable;

struct Point {
    x: f64,
}

#[differentiable]
fn f(p: Point) -> f64 {
    p.x
}

fn main() {}
