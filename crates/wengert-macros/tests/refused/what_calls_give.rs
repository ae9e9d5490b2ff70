use wengert::differentiable;

mod other {
    use wengert::differentiable;

    #[differentiable]
    pub fn scaled(x: f64, v: &[f64]) -> f64 {
        x * v[0]
    }
}

#[differentiable]
fn open(x: f64) -> f64 {
    let y = other::scaled(x, &[x, 1.0]);
    y + 1.0
}

#[differentiable]
fn method(x: f64) -> f64 {
    other::scaled(x, &[x, 1.0]).sin()
}

#[differentiable]
fn closure(x: f64) -> f64 {
    let g = |a: f64| a * 2.0;
    other::scaled(x, g)
}

#[differentiable]
fn generic(x: f64) -> f64 {
    other::scaled::<f64>(x, &[x])
}

fn main() {}
