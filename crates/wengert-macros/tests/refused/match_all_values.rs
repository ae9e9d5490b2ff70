use wengert::differentiable;

#[differentiable]
fn f(x: f64, k: u8) -> f64 {
    match k {
        0..=127 => x,
        128..=255 => -x,
    }
}

fn main() {}
