use wengert::differentiable;

#[differentiable]
mod m {
    macro_rules! square {
        ($x:expr) => {
            $x * $x
        };
    }

    pub fn f(x: f64) -> f64 {
        square!(x)
    }
}

fn main() {}
