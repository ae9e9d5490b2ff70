use wengert::{Differentiable, differentiable};

#[derive(Differentiable)]
struct Particle {
    x: f64,
}

#[differentiable]
fn f(all: &[Particle]) -> f64 {
    all[0].x
}

fn main() {}
