//! What fewer digits in states do to a gradient.
//!
//! Of some ranges of steps it is known by how much they change the adjoint when they are reversed from a shortened state. What this means
//! for the gradient is told when that is there. An adjoint that has grown or shrunk on its way to the gradient has taken its
//! difference with it; what is only added to keeps its difference, and what an adjoint with a difference adds
//! later has one as well.

use crate::short::Change;

/// Differences that are less than these are none, each and all together, and those that are more are no worse.
const NOTHING: f64 = 1e-30;
const NOTHING_AT_ALL: f64 = 1e-20;
const HOPELESS: f64 = 1e30;

/// One in so many is few.
const FEW: u64 = 4;

/// What ranges that are reversed do to the adjoint.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Those that were compared: how many were not since the one before, and the differences in each part of the adjoint.
    compared: Vec<(u64, Vec<Change>)>,
    /// How many were not since the last one.
    since: u64,
    /// How many there were up to the last one that made no difference at all, and since the one before it.
    without: u64,
}

impl Effects {
    /// A range was reversed that is not compared, or not yet.
    pub(super) fn reversed(&mut self) {
        self.since += 1;
    }

    /// It made these differences.
    pub(super) fn compare(&mut self, differences: Vec<Change>) {
        let since = std::mem::take(&mut self.since);
        match differences.iter().all(|part| part.difference == 0.0) {
            true => self.without += since,
            false => self.compared.push((since.saturating_sub(1), differences)),
        }
    }

    /// What all of several kinds together do to the gradient, relative to its largest number; given are the largest numbers of its parts.
    /// Nothing where too few were compared.
    ///
    /// Roundings of different states know nothing of each other, so what ranges do adds up by squares. Those between two that were
    /// compared are taken to do what lies between them.
    pub(super) fn of_gradient(kinds: &[&Effects], gradient: &[f64]) -> Option<f64> {
        let all: u64 = kinds.iter().map(|kind| kind.count()).sum();
        let mut squares = 0.0;
        for kind in kinds {
            match kind.squares(gradient) {
                Some(of_kind) => squares += of_kind,
                None if kind.count() > all / FEW => return None,
                None => {}
            }
        }
        Some(Some(squares.sqrt()).filter(|all| *all > NOTHING_AT_ALL).unwrap_or(0.0))
    }

    /// How many ranges there were.
    fn count(&self) -> u64 {
        let compared = self.compared.iter().map(|(since, _)| since + 1).sum::<u64>();
        self.since + self.without + compared
    }

    fn squares(&self, gradient: &[f64]) -> Option<f64> {
        let alone = self.compared.iter().map(|(since, parts)| (*since, alone(parts, gradient)));
        let alone: Vec<(u64, f64)> = alone.collect();
        if alone.is_empty() {
            return (self.without > 0 && self.since <= self.count() / FEW).then_some(0.0);
        }
        let ((since, first), (_, last)) = (*alone.first()?, *alone.last()?);
        if since > (self.count() / FEW).max(2) {
            // Of those near the end, which may do most, nothing is known.
            return None;
        }
        let (mut before, mut squares) = (first, self.since as f64 * last * last);
        for (since, now) in alone {
            // From one to the other, each by the same factor.
            let factor = (now / before).powf(1.0 / (since + 1) as f64);
            for _ in 0..since {
                before *= factor;
                squares += before * before;
            }
            squares += now * now;
            before = now;
        }
        Some(squares)
    }
}

/// What one range does to the gradient.
fn alone(parts: &[Change], gradient: &[f64]) -> f64 {
    let largest = gradient.iter().fold(0.0, |largest: f64, part| largest.max(*part));
    let most = parts.iter().fold(0.0, |most: f64, part| most.max(part.relative()));
    let of_part = |(part, now): (&Change, &f64)| {
        // What shrinks is nothing that is added to.
        let added = if *now >= part.largest / 2.0 { (now - part.largest).abs() } else { 0.0 };
        (part.relative() * now).max(most * added)
    };
    let all = parts.iter().zip(gradient).map(of_part).fold(0.0, f64::max);
    (all / largest).clamp(NOTHING, HOPELESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(difference: f64, largest: f64) -> Change {
        Change { difference, largest }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn nothing_compared_says_nothing() {
        let mut effects = Effects::default();
        effects.reversed();
        assert_eq!(Effects::of_gradient(&[&effects], &[1.0]), None);
        effects.compare(vec![part(0.0, 1.0)]);
        assert_eq!(Effects::of_gradient(&[&effects], &[1.0]), Some(0.0));
        // Few others do not matter.
        let mut others = Effects::default();
        (0..9).for_each(|_| effects.reversed());
        effects.compare(vec![part(0.0, 1.0)]);
        (0..3).for_each(|_| others.reversed());
        assert_eq!(Effects::of_gradient(&[&effects, &others], &[1.0]), Some(0.0));
        others.reversed();
        assert_eq!(Effects::of_gradient(&[&effects, &others], &[1.0]), None);
        // One alone does not speak for all.
        (0..20).for_each(|_| effects.reversed());
        assert_eq!(Effects::of_gradient(&[&effects], &[1.0]), None);
        // It must be among the first.
        let mut late = Effects::default();
        (0..20).for_each(|_| late.reversed());
        late.compare(vec![part(0.1, 1.0)]);
        assert_eq!(Effects::of_gradient(&[&late], &[1.0]), None);
    }

    #[test]
    fn those_between_do_what_lies_between() {
        let mut effects = Effects::default();
        let mut one = |others: u64, difference: f64| {
            (0..=others).for_each(|_| effects.reversed());
            effects.compare(vec![part(difference, 2.0)]);
        };
        one(2, 2e-3);
        one(1, 2e-5);
        one(0, 2e-5);
        (0..4).for_each(|_| effects.reversed());
        let squares = 3.0 * 1e-6 + 1e-8 + 1e-10 + 1e-10 + 4e-10;
        let told = |kinds: &[&Effects]| Effects::of_gradient(kinds, &[2.0]).unwrap();
        assert!(near(told(&[&effects]), f64::sqrt(squares)));
        assert!(near(told(&[&effects, &effects]), f64::sqrt(2.0 * squares)));
    }

    #[test]
    fn adjoints_take_their_differences_with_them() {
        // One that shrinks to nothing beside a sum that keeps its own, and gets nothing more.
        assert!(near(alone(&[part(1e-3, 1.0), part(1e-7, 5.0)], &[1e-20, 5.0]), 2e-8));
        // What is added later has the difference of what adds it.
        assert!(near(alone(&[part(1e-3, 1.0), part(0.0, 1.0)], &[1e-20, 5.0]), 8e-4));
        // One that grows.
        assert!(near(alone(&[part(1e-3, 1.0)], &[1e9]), 1e-3));
        // One that shrinks, and is all there is.
        assert!(near(alone(&[part(1e-3, 1.0)], &[1e-9]), 1e-3));
        assert_eq!(alone(&[part(0.0, 1.0)], &[1.0]), NOTHING);
        assert_eq!(alone(&[part(f64::INFINITY, 1.0)], &[1.0]), HOPELESS);
    }
}
