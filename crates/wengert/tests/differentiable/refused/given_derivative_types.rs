use wengert::{derivative, differentiable};

fn f(x: f64, n: usize) -> f64 {
    x * n as f64
}

#[derivative(of = f)]
fn f_vjp(x: f64, y: f64, y_bar: f64) -> f64 {
    x * y * y_bar
}

fn g(x: f64) -> f64 {
    x
}

#[derivative(of = g)]
fn g_vjp(_x: f64, _y: f64, y_bar: f64) -> f64 {
    y_bar
}

#[differentiable]
fn takes_more(x: f64) -> f64 {
    g(x)
}

fn main() {}
