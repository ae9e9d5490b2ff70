use wengert::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let g: Box<dyn Fn(f64) -> f64> = Box::new(|a| a * a);
    g(x)
}

fn main() {}
