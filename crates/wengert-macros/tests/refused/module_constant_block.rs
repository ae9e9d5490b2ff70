use wengert::differentiable;

#[differentiable]
mod m {
    const RATE: f64 = {
        let half = 0.5;
        half * half
    };

    pub fn f(x: f64) -> f64 {
        RATE * x
    }
}

fn main() {}
