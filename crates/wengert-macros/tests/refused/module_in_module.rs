use wengert::differentiable;

#[differentiable]
mod m {
    pub mod inner {
        pub fn g(x: f64) -> f64 {
            x
        }
    }

    pub fn f(x: f64) -> f64 {
        inner::g(x)
    }
}

fn main() {}
