use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut y = x;
    loop {
        y *= 0.5;
        assert!(y > 0.0);
    }
}

fn main() {}
