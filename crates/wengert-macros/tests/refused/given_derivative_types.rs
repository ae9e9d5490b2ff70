use wengert::derivative;

fn f(x: f64, n: usize) -> f64 {
    x * n as f64
}

#[derivative(of = f)]
fn f_vjp(x: f64, y: f64, y_bar: f64) -> f64 {
    x * y * y_bar
}

fn main() {}
