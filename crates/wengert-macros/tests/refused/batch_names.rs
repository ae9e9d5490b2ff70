use wengert::differentiable;

#[differentiable(batch(b))]
fn f(a: f64) -> f64 {
    a
}

#[differentiable(batch(x))]
fn g(x: f64, out: &mut [f64]) {
    out[0] = x;
}

#[differentiable(batch)]
fn h(x: f64) -> f64 {
    x
}

#[differentiable(batch(x, x))]
fn k(x: f64) -> f64 {
    x
}

#[differentiable(batch(x))]
mod several {
    pub fn f(x: f64) -> f64 {
        x
    }
}

fn main() {}
