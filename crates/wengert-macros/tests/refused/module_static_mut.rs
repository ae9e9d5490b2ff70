use wengert::differentiable;

#[differentiable]
mod m {
    static mut CALLS: f64 = 0.0;

    pub fn f(x: f64) -> f64 {
        x * 2.0
    }
}

fn main() {}
