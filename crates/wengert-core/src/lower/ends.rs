//! Where an iteration ends: the variables are compared with what the head of the loop took them to be.
//!
//! What does not fit the guess is noted as wanted, and the loop is lowered again.

use super::env::{Binding, Env, StorageId, Unset, UnsetReason, View};
use super::guess::{Carry, Guess, Slot};
use super::operand::join_elem;
use super::stmt::{BROKEN, CONTINUED, is_for_after};
use super::{Lowered, Lowering};
use crate::ir::{Elem, Type, Value};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The head of a loop under a guess.
pub(super) struct Head {
    /// The bindings in the body before its first statement.
    pub(super) env: Env,
    pub(super) carries: Vec<Carry>,
    /// What the body was found to need beyond the guess.
    pub(super) wanted: Guess,
    pub(super) span: Span,
}

impl Lowering<'_> {
    /// The values of the carries where an iteration or the loop ends, and what the guess lacks.
    pub(super) fn yields(&mut self, head: &mut Head) -> Lowered<Vec<Value>> {
        self.compare_scalars(head);
        let targets = self.compare_arrays(head);
        let carries = head.carries.clone();
        let slots = Slots::new(&carries, &targets);
        let mut taken = BTreeSet::new();
        let mut yields = Vec::new();
        for carry in &carries {
            let v = match carry {
                Carry::Scalar { name, elem, at } => {
                    let v = match self.env.own(name) {
                        Some((Binding::Scalar(v), _)) => *v,
                        // It is lost in the next round.
                        _ => self.zero(*elem),
                    };
                    let joined = join_elem(*elem, self.elem(v));
                    if joined == *elem {
                        self.convert(v, *elem, *at)?
                    } else {
                        head.wanted.scalars.insert(name.clone(), joined);
                        v
                    }
                }
                Carry::Storage { storage, slot } => {
                    let view = &targets[storage];
                    self.yield_storage(head, *storage, slot, view, &slots, &mut taken)?
                }
            };
            yields.push(v);
        }
        for (a, b) in self.env.shares().clone() {
            for x in slots.of(a, head) {
                for y in slots.of(b, head) {
                    head.want_share(x, y);
                }
            }
        }
        Ok(yields)
    }

    fn yield_storage(
        &mut self,
        head: &mut Head,
        storage: StorageId,
        slot: &Slot,
        view: &View,
        slots: &Slots,
        taken: &mut BTreeSet<StorageId>,
    ) -> Lowered<Value> {
        let own = self.b.ty(head.env.version(storage));
        let ty = self.type_of(view);
        if ty != own {
            // Another kind of array after an iteration: its names cannot be used.
            let reason = UnsetReason::Kind;
            for (depth, name, at) in head.env.names_of(storage) {
                let unset = Unset { reason: reason.clone(), set_at: at, by: head.span };
                head.wanted.lost.insert((depth, name), unset);
            }
            return Ok(self.stand_in(own));
        }
        let inside = slots.carries(view.storage)
            || self.env.made_since(view.storage, head.env.storage_count());
        let v = if view.part.is_none() && inside && taken.insert(view.storage) {
            self.env.version(view.storage)
        } else {
            let copy = self.read_copy(view, head.span);
            for other in slots.of(view.storage, head) {
                head.want_share(storage, other);
            }
            copy
        };
        let units = self.units_of(head.env.version(storage));
        if units & !self.units_of(v) != 0 {
            head.wanted.growing.insert(slot.clone());
        }
        Ok(v)
    }

    /// Variables that are not arrays, before and after an iteration.
    fn compare_scalars(&mut self, head: &mut Head) {
        let depth = self.env.depth() - 1;
        for (d, name) in head.env.differing(&self.env) {
            let Some((old, at)) = head.env.at_depth(d, &name).cloned() else { continue };
            let now = self.env.at_depth(d, &name).map(|(b, _)| b.clone());
            let lost = |reason| Unset { reason, set_at: at, by: head.span };
            match (old, now) {
                (old, Some(now)) if old == now => {}
                (Binding::Maybe(_), _) => {}
                (_, Some(Binding::Maybe(unset))) => {
                    head.wanted.lost.insert((d, name), unset);
                }
                (Binding::Scalar(v), Some(Binding::Scalar(w))) => {
                    if [BROKEN, CONTINUED].contains(&&*name) {
                        continue;
                    }
                    let known = head
                        .carries
                        .iter()
                        .any(|c| matches!(c, Carry::Scalar { name: n, .. } if *n == name));
                    if d == depth && !known {
                        let elem = join_elem(self.elem(v), self.elem(w));
                        head.wanted.scalars.insert(name, elem);
                    }
                }
                (Binding::Array(_), Some(Binding::Array(_))) => {}
                _ => {
                    head.wanted.lost.insert((d, name), lost(UnsetReason::Kind));
                }
            }
        }
        // Returned values and others, which the code after the loop looks at.
        let mut set: Vec<(Arc<str>, Type, bool)> = Vec::new();
        for (name, (binding, _)) in self.env.names() {
            if !is_for_after(name) || head.env.own(name).is_some() {
                continue;
            }
            match binding {
                Binding::Scalar(v) => set.push((name.clone(), self.b.ty(*v), false)),
                Binding::Array(view) => {
                    let list = self.env.is_list(view.storage);
                    set.push((name.clone(), self.type_of(view), list));
                }
                Binding::Maybe(unset) => {
                    head.wanted.lost.insert((depth, name.clone()), unset.clone());
                }
                _ => {}
            }
        }
        for (name, ty, list) in set {
            let (known, known_list) = head.wanted.set.entry(name).or_insert((ty, list));
            *known_list |= list;
            if !known.is_array() && !ty.is_array() {
                let elem =
                    join_elem(known.elem().unwrap_or(Elem::F64), ty.elem().unwrap_or(Elem::F64));
                *known = elem.scalar();
            }
        }
    }

    /// Arrays, before and after an iteration: what each carried storage holds for the next one.
    fn compare_arrays(&mut self, head: &mut Head) -> BTreeMap<StorageId, View> {
        let depth = self.env.depth() - 1;
        let mut targets = BTreeMap::new();
        let carried: BTreeSet<StorageId> = head
            .carries
            .iter()
            .filter_map(|c| match c {
                Carry::Storage { storage, .. } => Some(*storage),
                Carry::Scalar { .. } => None,
            })
            .collect();
        let mut rebound = BTreeSet::new();
        for (d, name) in head.env.differing(&self.env) {
            if let Some((Binding::Array(old), _)) = head.env.at_depth(d, &name)
                && let Some((Binding::Array(now), _)) = self.env.at_depth(d, &name)
                && now != old
            {
                rebound.insert(old.storage);
            }
        }
        for s in head.env.all_storage().filter(|s| !carried.contains(s)) {
            if rebound.contains(&s) || self.env.version(s) != head.env.version(s) {
                head.wanted.storage.insert(s);
            }
        }
        let mut names = head.env.names_by_storage();
        for s in carried {
            let whole = View::whole(s);
            // Where each of its names points now; all of it where the name still means what it meant.
            let mut now: Vec<(usize, Arc<str>, View)> = Vec::new();
            for (d, name) in names.remove(&s).unwrap_or_default() {
                let Some((Binding::Array(old), _)) = head.env.at_depth(d, &name) else { continue };
                let Some((Binding::Array(new), _)) = self.env.at_depth(d, &name) else { continue };
                if old == new {
                    now.push((d, name, whole.clone()));
                } else if old.part.is_some() {
                    head.wanted.split.insert(name);
                } else {
                    now.push((d, name, new.clone()));
                }
            }
            let target = match now.first() {
                None => whole.clone(),
                Some((_, _, first)) if now.iter().all(|(_, _, v)| v == first) => first.clone(),
                Some(_) => {
                    // They part ways: those that moved get storage of their own, save one if all did.
                    let stays = now.iter().any(|(_, _, v)| *v == whole);
                    let moved = now.iter().filter(|(d, _, v)| *v != whole && *d == depth);
                    for (_, name, _) in moved.skip(usize::from(!stays)) {
                        head.wanted.split.insert(name.clone());
                    }
                    whole.clone()
                }
            };
            targets.insert(s, target);
        }
        targets
    }
}

/// Which carried storage holds what after an iteration.
pub(super) struct Slots {
    holds: Vec<(StorageId, StorageId)>,
}

impl Slots {
    fn new(carries: &[Carry], targets: &BTreeMap<StorageId, View>) -> Slots {
        let storages = carries.iter().filter_map(|c| match c {
            Carry::Storage { storage, .. } => Some(*storage),
            Carry::Scalar { .. } => None,
        });
        Slots { holds: storages.map(|s| (s, targets[&s].storage)).collect() }
    }

    fn carries(&self, storage: StorageId) -> bool {
        self.holds.iter().any(|(s, _)| *s == storage)
    }

    /// Where the contents of a piece of storage are found in the next iteration.
    fn of(&self, storage: StorageId, head: &Head) -> Vec<StorageId> {
        let held = self.holds.iter().filter(|(_, t)| *t == storage).map(|(s, _)| *s);
        let old = !self.carries(storage) && !head.env.made_since(storage, head.env.storage_count());
        held.chain(old.then_some(storage)).collect()
    }
}

impl Head {
    fn want_share(&mut self, a: StorageId, b: StorageId) {
        if a == b || self.env.shares().contains(&(a.min(b), a.max(b))) {
            return;
        }
        let slot = |s: StorageId| {
            let found = self.carries.iter().find_map(|c| match c {
                Carry::Storage { storage, slot } if *storage == s => Some(slot.clone()),
                _ => None,
            });
            found.unwrap_or(Slot::Old(s))
        };
        self.wanted.shares.insert((slot(a), slot(b)));
    }
}
