use std::ops::Add;
use wengert::differentiable;

#[differentiable]
mod vectors {
    #[derive(Clone, Copy)]
    pub struct Vector {
        pub x: f64,
    }

    impl super::Add for Vector {
        type Output = Vector;
        fn add(self, other: Vector) -> Vector {
            Vector { x: self.x + other.x }
        }
    }

    pub fn f(a: Vector, b: Vector) -> f64 {
        (a + b).x
    }
}

fn main() {}
