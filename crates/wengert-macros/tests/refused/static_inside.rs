use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    static mut CALLS: u32 = 0;
    x
}

fn main() {}
