use wengert::{Differentiable, differentiable};

#[derive(Differentiable)]
struct Spring {
    stiffness: f64,
}

trait Energy {
    fn energy(&self, x: f64) -> f64;
}

#[differentiable]
impl Energy for Spring {
    fn energy(&self, x: f64) -> f64 {
        self.stiffness * x * x
    }
}

impl Spring {
    #[differentiable]
    fn force(&self, x: f64) -> f64 {
        -self.stiffness * x
    }
}

#[differentiable]
fn pulled(spring: &Spring, x: f64) -> f64 {
    spring.force(x)
}

#[differentiable]
fn sum(spring: &Spring) -> f64 {
    spring.stifness
}

fn main() {}
