//! Random loops over time whose steps are passes over arrays: each computes an array from neighbours in others.
//!
//! Arrays have one to three axes, one to three of them are carried and handed on in any order, and a step has up to three
//! passes, which may write over what they read. Neighbours lie up to two places away along each axis, or as far as
//! an argument says; where there is none, another number stands for it. No index is out of range.

use crate::check::Random;
use crate::ops::Array;
use std::fmt::Write;

/// A program `@f` and what to call it with: the arrays, then the integers.
#[derive(Clone, Debug)]
pub struct Stencils {
    /// The program.
    pub text: String,
    /// The arrays, of one shape.
    pub arrays: Vec<Array>,
    /// Where the loop starts, where it ends, and a distance.
    pub integers: [i64; 3],
}

/// The sizes along the axes, by name.
const SIZES: [&str; 3] = ["%n0", "%n1", "%n2"];

struct Writer {
    random: Random,
    text: String,
    rank: usize,
    names: usize,
    /// What each of the arrays is called at this point.
    arrays: Vec<String>,
}

/// The program of a seed.
pub fn stencils(seed: u64) -> Stencils {
    let mut random = Random(seed);
    let rank = 1 + random.below(3) as usize;
    let count = 1 + random.below(3) as usize;
    let most = [45, 14, 6][rank - 1];
    let shape: Vec<usize> = (0..rank)
        .map(|axis| random.below(if axis == 0 { 2 * most } else { most }) as usize)
        .collect();
    let elements: usize = shape.iter().product();
    let mut floats = || (0..elements).map(|_| random.float(-2.0, 2.0)).collect::<Vec<f64>>();
    let arrays = (0..count).map(|_| Array::new(shape.clone(), floats())).collect();
    let start = random.below(3) as i64;
    let integers = [start, start + random.below(11) as i64 - 1, random.below(5) as i64 - 2];
    let mut writer = Writer { random, text: String::new(), rank, names: 0, arrays: Vec::new() };
    writer.program(count);
    Stencils { text: writer.text, arrays, integers }
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// A new value, computed so.
    fn set(&mut self, made: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {made}"));
        name
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn program(&mut self, count: usize) {
        let ty = ["[f64]", "[[f64]]", "[[[f64]]]"][self.rank - 1];
        let params: Vec<String> = (0..count).map(|k| format!("%x{k}: {ty}")).collect();
        let types = vec![ty; count].join(", ");
        let params = params.join(", ");
        self.line(&format!("func @f({params}, %from: i64, %to: i64, %d: i64) -> ({types}) {{"));
        for (axis, size) in SIZES.iter().enumerate().take(self.rank) {
            self.line(&format!("{size} = dim[{axis}] %x0"));
        }
        self.line("%half = sar %n0, 1");
        let carries: Vec<String> = (0..count).map(|k| format!("%u{k} = %x{k}")).collect();
        let results: Vec<String> = (0..count).map(|k| format!("%r{k}")).collect();
        let (results, carries) = (results.join(", "), carries.join(", "));
        self.line(&format!("{results} = for %t in %from..%to carry ({carries}) {{"));
        self.line("%time = itof %t");
        self.arrays = (0..count).map(|k| format!("%u{k}")).collect();
        for _ in 0..1 + self.below(3) {
            let array = self.below(count);
            if self.below(4) == 0 {
                self.pass(array, "0", "%half");
                self.pass(array, "%half", "%n0");
            } else {
                self.pass(array, "0", "%n0");
            }
        }
        let mut order = self.arrays.clone();
        for k in (1..count).rev() {
            order.swap(k, self.random.below(k as u64 + 1) as usize);
        }
        self.line(&format!("yield {}\n}}\nreturn {results}\n}}", order.join(", ")));
    }

    /// A pass over some rows that writes an array.
    fn pass(&mut self, array: usize, from: &str, to: &str) {
        let before = self.arrays[array].clone();
        self.arrays[array] = self.nest(array, &before, (from, to), &mut Vec::new());
    }

    fn nest(
        &mut self,
        array: usize,
        before: &str,
        (from, to): (&str, &str),
        counters: &mut Vec<String>,
    ) -> String {
        let [result, counter, version] = [(); 3].map(|()| self.name());
        self.line(&format!(
            "{result} = for {counter} in {from}..{to} carry ({version} = {before}) {{"
        ));
        counters.push(counter);
        let next = if counters.len() < self.rank {
            self.nest(array, &version, ("0", SIZES[counters.len()]), counters)
        } else {
            let outside = std::mem::replace(&mut self.arrays[array], version.clone());
            let value = self.element(counters);
            self.arrays[array] = outside;
            let place = self.place(counters);
            self.set(&format!("poke {version}, {place}, {value}"))
        };
        counters.pop();
        self.line(&format!("yield {next}\n}}"));
        result
    }

    /// The place of an element in row-major order.
    fn place(&mut self, indices: &[String]) -> String {
        let mut place = indices[0].clone();
        for (index, size) in indices[1..].iter().zip(&SIZES[1..]) {
            let row = self.set(&format!("wmul {place}, {size}"));
            place = self.set(&format!("wadd {row}, {index}"));
        }
        place
    }

    /// A sum over some neighbours.
    fn element(&mut self, counters: &[String]) -> String {
        let mut sum = match self.below(3) {
            0 => self.set("mul 0.001, %time"),
            _ => self.set("add 0.0, 0.125"),
        };
        for _ in 0..1 + self.below(4) {
            let near = self.neighbour(counters);
            let factor = [0.25, -0.5, 0.3][self.below(3)];
            sum = self.set(&format!("fma {factor:?}, {near}, {sum}"));
        }
        sum
    }

    fn neighbour(&mut self, counters: &[String]) -> String {
        let mut indices = Vec::new();
        let mut inside = String::from("true");
        for (counter, size) in counters.iter().zip(SIZES) {
            let distance = match self.below(8) {
                0 => "%d".to_string(),
                1 | 2 => (self.below(5) as i64 - 2).to_string(),
                3 | 4 => (self.below(3) as i64 - 1).to_string(),
                _ => "0".to_string(),
            };
            let index = self.set(&format!("wadd {counter}, {distance}"));
            for question in [format!("ile 0, {index}"), format!("ilt {index}, {size}")] {
                let holds = self.set(&question);
                inside = self.set(&format!("and {inside}, {holds}"));
            }
            indices.push(index);
        }
        let array = self.below(self.arrays.len());
        let array = self.arrays[array].clone();
        let result = self.name();
        self.line(&format!("{result} = if {inside} {{"));
        let place = self.place(&indices);
        let element = self.set(&format!("peek {array}, {place}"));
        let _ = writeln!(self.text, "yield {element}\n}} else {{\nyield 0.75\n}}");
        result
    }
}
