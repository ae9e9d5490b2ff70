use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> Result<f64, String> {
    Ok(x)
}

fn main() {}
