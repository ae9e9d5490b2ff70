use wengert::differentiable;

#[differentiable]
mod m {
    pub fn f(x: f64) -> f64 {
        println!("{x}");
        x
    }

    pub fn g(x: f64, _name: &str) -> f64 {
        x * 2.0
    }
}

fn main() {}
