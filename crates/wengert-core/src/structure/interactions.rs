//! Which inputs meet in a nonlinear operation: where a Hessian can be other than zero.
//!
//! A second derivative of a program by inputs `p` and `q` is a sum over its operations: of each, the second
//! derivative by two operands, one of which depends on `p` and the other on `q`. An operation therefore adds
//! the product of two sets of inputs, and its result also has the products its operands have. Products are
//! kept once, in a graph from results to operands; those of values that nothing uses are never looked at.

use super::pattern::Pattern;
use super::set::Set;
use super::sparsity::Choices;
use super::traced::Dep;
use crate::ops::{Class, Partial, Prim, Scalar};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The products of one value, and the values whose products it has too.
#[derive(Debug)]
struct Node {
    before: Vec<u32>,
    products: Vec<(Set, Set)>,
}

/// The interactions of all values of a run. Node 0 stands for none.
#[derive(Debug, Default)]
pub(super) struct Interactions {
    nodes: Vec<Node>,
    /// Whether they are asked for.
    on: bool,
    rules: HashMap<Prim, Vec<(usize, usize)>>,
}

impl Interactions {
    /// `on`: whether they are asked for; otherwise nothing is kept.
    pub(super) fn new(on: bool) -> Self {
        Interactions { on, ..Interactions::default() }
    }

    /// What a linear function of values depends on.
    pub(super) fn join(&mut self, parts: &[Dep]) -> Dep {
        self.node(parts, Vec::new())
    }

    /// What the sum of two values depends on.
    pub(super) fn sum(&mut self, a: &Dep, b: &Dep) -> Dep {
        match (a.is_none(), b.is_none()) {
            (_, true) => a.clone(),
            (true, _) => b.clone(),
            _ => self.join(&[a.clone(), b.clone()]),
        }
    }

    /// What a linear function of `parts` and of some products depends on; the factors depend on nothing
    /// that `parts` do not.
    pub(super) fn products<'d>(
        &mut self,
        parts: &[Dep],
        factors: impl Iterator<Item = (&'d Dep, &'d Dep)>,
    ) -> Dep {
        let mut products = Vec::new();
        if self.on {
            let both = factors.filter(|(a, b)| !a.inputs.is_empty() && !b.inputs.is_empty());
            products.extend(both.map(|(a, b)| (a.inputs.clone(), b.inputs.clone())));
        }
        self.node(parts, products)
    }

    /// What an unknown function of values depends on.
    pub(super) fn anything<'d>(&mut self, parts: impl Iterator<Item = &'d Dep>) -> Dep {
        let all = self.join(&parts.cloned().collect::<Vec<Dep>>());
        self.products(std::slice::from_ref(&all), std::iter::once((&all, &all)))
    }

    /// What one element of a row of the table depends on, given what its operands depend on and are, and
    /// the result.
    pub(super) fn prim(
        &mut self,
        choices: Choices,
        prim: Prim,
        mut parts: Vec<Dep>,
        inputs: &[Scalar],
        y: Scalar,
    ) -> Dep {
        if parts.iter().all(Dep::is_none) {
            return Dep::default();
        }
        let taken = choices == Choices::Taken;
        match prim.class() {
            Class::Zero => Dep::default(),
            Class::Select if taken => match inputs[0] {
                Scalar::Bool(true) => parts.swap_remove(1),
                _ => parts.swap_remove(2),
            },
            Class::Select | Class::Linear | Class::Cast => self.join(&parts),
            Class::Smooth => {
                if taken && is_piecewise_linear(prim) && prim != Prim::Abs {
                    let x: Vec<f64> = inputs.iter().map(float).collect();
                    for (part, partial) in parts.iter_mut().zip(prim.partials(&x, float(&y))) {
                        // The piece this point lies on does not contain the input.
                        let (Partial::Const(p) | Partial::Of(p) | Partial::Where(p)) = partial;
                        if p == 0.0 {
                            *part = Dep::default();
                        }
                    }
                }
                self.smooth(prim, &parts)
            }
        }
    }

    /// What a row of the table depends on; operands without a derivative have an empty dependence.
    fn smooth(&mut self, prim: Prim, parts: &[Dep]) -> Dep {
        let mut products = Vec::new();
        if self.on {
            let rules = self.rules.entry(prim).or_insert_with(|| second_order(prim));
            for (j, k) in rules {
                let (a, b) = (&parts[*j].inputs, &parts[*k].inputs);
                if !a.is_empty() && !b.is_empty() {
                    products.push((a.clone(), b.clone()));
                }
            }
        }
        self.node(parts, products)
    }

    fn node(&mut self, parts: &[Dep], products: Vec<(Set, Set)>) -> Dep {
        let inputs = Set::union_of(parts.iter().map(|part| &part.inputs));
        let mut before: Vec<u32> = parts.iter().map(|p| p.pairs).filter(|p| *p != 0).collect();
        before.sort_unstable();
        before.dedup();
        let pairs = match (products.is_empty(), before.as_slice()) {
            (true, []) => 0,
            (true, [one]) => *one,
            _ => {
                self.nodes.push(Node { before, products });
                // Node 0 is not stored.
                self.nodes.len() as u32
            }
        };
        Dep { inputs, pairs }
    }

    /// The pattern of all interactions of these values, over `n` inputs: symmetric.
    pub(super) fn pattern(&self, ends: impl IntoIterator<Item = u32>, n: usize) -> Pattern {
        let mut rows = vec![Set::Empty; n];
        let mut seen = vec![false; self.nodes.len() + 1];
        let mut done = HashSet::default();
        let mut stack: Vec<u32> = ends.into_iter().collect();
        while let Some(at) = stack.pop() {
            if at == 0 || std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            let node = &self.nodes[at as usize - 1];
            stack.extend(&node.before);
            for (a, b) in &node.products {
                for (from, to) in [(a, b), (b, a)] {
                    if done.insert((from.key(), to.key())) {
                        for p in from.elements() {
                            rows[p as usize] = rows[p as usize].union(to);
                        }
                    }
                }
            }
        }
        let mut pattern = Pattern::without_rows(n);
        for row in &rows {
            pattern.push_row(|entries| row.append_to(entries));
        }
        pattern
    }
}

fn float(s: &Scalar) -> f64 {
    match s {
        Scalar::F64(x) => *x,
        Scalar::F32(x) => f64::from(*x),
        _ => f64::NAN,
    }
}

/// Rows made of straight pieces: their partials are constant between the kinks.
fn is_piecewise_linear(prim: Prim) -> bool {
    use Prim::*;
    matches!(prim, Abs | Min | Max | CopySign | Relu | Clamp | Rem)
}

/// The pairs of operands, `j <= k`, by which a row has a second derivative: the partial by one of them
/// mentions the other, or the output, which depends on all.
fn second_order(prim: Prim) -> Vec<(usize, usize)> {
    if prim.class() != Class::Smooth || is_piecewise_linear(prim) {
        return Vec::new();
    }
    let mentions = |j: usize, k: usize| {
        let uses = prim.needs(j);
        uses.has_input(k) || uses.has_output()
    };
    let n = prim.arity();
    let pairs = (0..n).flat_map(|j| (j..n).map(move |k| (j, k)));
    pairs.filter(|(j, k)| mentions(*j, *k) || mentions(*k, *j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_derivatives_of_rows() {
        assert_eq!(second_order(Prim::Add), []);
        assert_eq!(second_order(Prim::Mul), [(0, 1)]);
        assert_eq!(second_order(Prim::Fma), [(0, 1)]);
        assert_eq!(second_order(Prim::Div), [(0, 1), (1, 1)]);
        assert_eq!(second_order(Prim::Tanh), [(0, 0)]);
        assert_eq!(second_order(Prim::Sqrt), [(0, 0)]);
        assert_eq!(second_order(Prim::Pow), [(0, 0), (0, 1), (1, 1)]);
        assert_eq!(second_order(Prim::Min), []);
        assert_eq!(second_order(Prim::Clamp), []);
        assert_eq!(second_order(Prim::Floor), []);
    }
}
