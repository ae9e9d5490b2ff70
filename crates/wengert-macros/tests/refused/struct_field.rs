use wengert::Differentiable;

#[derive(Differentiable)]
struct Named {
    name: String,
    x: f64,
}

#[derive(Differentiable)]
struct Borrowed<'a> {
    x: &'a [f64],
}

#[derive(Differentiable)]
struct Rows {
    rows: Vec<Vec<f64>>,
}

#[derive(Differentiable)]
enum Shape {
    Round(f64),
}

struct Plain {
    x: f64,
}

#[derive(Differentiable)]
struct Outer {
    plain: Plain,
}

fn main() {}
