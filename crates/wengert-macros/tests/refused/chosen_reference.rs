use wengert::differentiable;

#[differentiable]
fn f(a: &mut f64, b: &mut f64) -> f64 {
    let r = if *a > *b { &mut *a } else { &mut *b };
    *r * 2.0
}

fn main() {}
