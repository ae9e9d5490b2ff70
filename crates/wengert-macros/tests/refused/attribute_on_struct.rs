use wengert::differentiable;

#[differentiable]
struct Spring {
    stiffness: f64,
}

fn main() {}
