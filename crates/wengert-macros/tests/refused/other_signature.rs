use wengert::differentiable;

mod other {
    use wengert::differentiable;

    #[differentiable]
    pub fn total(v: &[f64]) -> f64 {
        v[0]
    }
}

#[differentiable]
fn reborrowed(v: &mut [f64]) -> f64 {
    v[0] *= 2.0;
    other::total(v)
}

fn main() {}
