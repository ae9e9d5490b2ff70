use wengert::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    x * f64::from(n as u8 as char == 'a')
}

fn main() {}
