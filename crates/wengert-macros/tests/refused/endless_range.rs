use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let mut y = x;
    for i in 0.. {
        y *= 0.5;
        if i == n {
            break;
        }
    }
    y
}

fn main() {}
