use wengert::differentiable;

#[differentiable]
mod m {
    unsafe extern "C" {
        fn hypot(x: f64, y: f64) -> f64;
    }

    pub fn f(x: f64) -> f64 {
        x * 2.0
    }
}

fn main() {}
