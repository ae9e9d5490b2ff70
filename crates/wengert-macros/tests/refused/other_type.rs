use wengert::differentiable;

mod other {
    use wengert::differentiable;

    #[differentiable]
    pub fn single(x: f32) -> f32 {
        x * x
    }
}

#[differentiable]
fn wrong_type(x: f64) -> f64 {
    let y: f64 = other::single(x);
    y
}

fn main() {}
