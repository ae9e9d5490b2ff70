use wengert::derivative;

fn f(x: f64, v: &[f64]) -> f64 {
    x * v[0]
}

#[derivative]
fn of_nothing(x: f64, y: f64, y_bar: f64) -> f64 {
    x * y * y_bar
}

#[derivative(of = f, vjp)]
fn no_such_option(x: f64, y: f64, y_bar: f64) -> f64 {
    x * y * y_bar
}

#[derivative(of = f)]
fn too_few(x: f64) -> f64 {
    x
}

#[derivative(of = f)]
fn other_adjoints(x: f64, v: &[f64], y: f64, y_bar: f64) -> f64 {
    x * v[0] * y * y_bar
}

#[derivative(of = f)]
fn other_seed(x: f64, v: &[f64], y: f64, y_bar: f32) -> (f64, Vec<f64>) {
    (x * y, vec![v[0] * y_bar as f64])
}

#[derivative(of = f, jvp)]
fn tangents_missing(x: f64, v: &[f64], dx: f64) -> (f64, f64) {
    (x * v[0], dx)
}

#[derivative(of = f, jvp)]
fn value_missing(x: f64, v: &[f64], dx: f64, dv: &[f64]) -> f64 {
    x * v[0] * dx * dv[0]
}

#[derivative(of = f)]
fn written(x: f64, v: &mut [f64], y: f64, y_bar: f64) -> f64 {
    x * v[0] * y * y_bar
}

#[derivative(of = f)]
struct NotAFunction;

fn main() {}
