use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut y = x;
    for c in "abc".chars() {
        y *= f64::from(c as u32);
    }
    y
}

fn main() {}
