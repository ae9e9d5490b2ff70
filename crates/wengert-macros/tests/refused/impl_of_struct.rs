use wengert::differentiable;

struct Other {
    x: f64,
}

#[differentiable]
impl Other {
    fn value(&self) -> f64 {
        self.x
    }
}

fn main() {}
