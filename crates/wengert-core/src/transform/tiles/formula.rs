//! Indices as formulas: sums of products of values, in the wrapping arithmetic that programs compute them in.

use crate::ir::{Builder, Func, Value};
use crate::ops::Prim;
use crate::transform::copy::Copier;
use std::collections::BTreeMap;

/// Products of values (in order, repeated where they are powers), and how often each is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Formula(BTreeMap<Vec<Value>, i64>);

/// Most products of a formula.
const MOST: usize = 16;

impl Formula {
    /// A number.
    pub(super) fn number(c: i64) -> Formula {
        Formula::default().with(Vec::new(), c)
    }

    /// A value.
    pub(super) fn of(v: Value) -> Formula {
        Formula::default().with(vec![v], 1)
    }

    fn with(mut self, product: Vec<Value>, times: i64) -> Formula {
        let entry = self.0.entry(product).or_default();
        *entry = entry.wrapping_add(times);
        self.0.retain(|_, times| *times != 0);
        self
    }

    /// The sum with another one, taken so many times.
    pub(super) fn plus(self, other: &Formula, times: i64) -> Formula {
        other.0.iter().fold(self, |sum, (p, t)| sum.with(p.clone(), t.wrapping_mul(times)))
    }

    /// The product with another one, unless it is long.
    pub(super) fn times(&self, other: &Formula) -> Option<Formula> {
        let mut product = Formula::default();
        for (a, s) in &self.0 {
            for (b, t) in &other.0 {
                let mut factors = [&a[..], &b[..]].concat();
                factors.sort_unstable();
                product = product.with(factors, s.wrapping_mul(*t));
            }
        }
        (product.0.len() <= MOST).then_some(product)
    }

    /// What a value is multiplied by, and the rest; none where it stands in a power.
    pub(super) fn parted(&self, v: Value) -> Option<(Formula, Formula)> {
        let (mut factor, mut rest) = (Formula::default(), Formula::default());
        for (product, times) in &self.0 {
            let others: Vec<Value> = product.iter().copied().filter(|w| *w != v).collect();
            match product.len() - others.len() {
                0 => rest = rest.with(others, *times),
                1 => factor = factor.with(others, *times),
                _ => return None,
            }
        }
        Some((factor, rest))
    }

    /// Whether it is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The values it is made of.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.0.keys().flatten().copied()
    }

    /// The instructions that compute it.
    pub(super) fn emit(&self, func: &Func, copier: &Copier, b: &mut Builder) -> Value {
        let mut sum = b.i64(0);
        for (product, times) in &self.0 {
            let mut term = b.i64(*times);
            for v in product {
                let v = copier.get(func, b, *v);
                term = b.prim(Prim::WMul, &[term, v]);
            }
            sum = b.prim(Prim::WAdd, &[sum, term]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products() {
        let [x, y] = [Value(1), Value(2)].map(Formula::of);
        let two = Formula::number(2);
        // (x + 2) (y - 2) = x y - 2 x + 2 y - 4
        let product = x.clone().plus(&two, 1).times(&y.clone().plus(&two, -1)).unwrap();
        let expected = x.times(&y).unwrap().plus(&x, -2).plus(&y, 2).plus(&Formula::number(4), -1);
        assert_eq!(product, expected);
        let (factor, rest) = product.parted(Value(1)).unwrap();
        assert_eq!(factor, y.clone().plus(&two, -1));
        assert_eq!(rest, y.clone().plus(&y, 1).plus(&Formula::number(-4), 1));
        assert!(product.clone().plus(&product, -1).is_zero());
        assert_eq!(x.times(&x).unwrap().parted(Value(1)), None);
        assert_eq!(product.values().max(), Some(Value(2)));
    }
}
