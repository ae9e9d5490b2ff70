use wengert::{Differentiable, differentiable};

#[derive(Differentiable)]
struct Chain {
    x: Vec<f64>,
}

#[derive(Differentiable)]
struct Particle {
    x: f64,
}

#[differentiable]
fn of_vectors(all: &[Chain]) -> f64 {
    all[0].x[0]
}

#[differentiable]
fn in_rows(all: &[[Particle; 2]]) -> f64 {
    all[0][0].x
}

#[differentiable]
fn parts(all: &[Particle]) -> f64 {
    let (left, _) = all.split_at(1);
    left[0].x
}

fn main() {}
