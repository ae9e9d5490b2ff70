use wengert::differentiable;

mod other {
    use wengert::differentiable;

    #[differentiable]
    pub fn total(v: &[f64]) -> f64 {
        v[0]
    }

    #[differentiable]
    pub fn single(x: f32) -> f32 {
        x * x
    }
}

#[differentiable]
fn reborrowed(v: &mut [f64]) -> f64 {
    v[0] *= 2.0;
    other::total(v)
}

#[differentiable]
fn wrong_type(x: f64) -> f64 {
    let y: f64 = other::single(x);
    y
}

fn main() {}
