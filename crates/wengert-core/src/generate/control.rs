//! Random branches and loops.

use super::program::Generator;
use super::scalar::Int;
use crate::ir::{Block, Op, Type, Value};
use crate::ops::Prim;
use std::sync::Arc;

impl Generator {
    pub(super) fn branch(&mut self) {
        let condition = if self.chance(3) { self.bool() } else { self.float_comparison() };
        let types: Vec<Type> = (0..1 + self.random.below(3)).map(|_| self.kind()).collect();
        let before = self.scope.clone();
        let mut left = before.arrays.clone();
        let mut blocks = Vec::new();
        for _ in 0..2 {
            self.scope = before.clone();
            self.b.open_block(&[]);
            self.statements(4);
            let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
            blocks.push(self.b.close_block(yields));
            // What either branch takes over is gone.
            let still = &self.scope.arrays;
            left.retain(|a| still.iter().any(|s| s.value == a.value));
        }
        self.scope = before;
        self.scope.arrays = left;
        let results = self.b.inst(Op::If, vec![condition], &types, blocks);
        self.see_all(&results, &types);
    }

    pub(super) fn see_all(&mut self, values: &[Value], types: &[Type]) {
        for (v, ty) in values.iter().zip(types) {
            self.see(*v, *ty);
        }
    }

    pub(super) fn for_loop(&mut self) {
        let mut over = None;
        let hi = match self.random.below(8) {
            0 | 1 => {
                over = self.readable();
                match over {
                    Some(array) => self.b.op(Op::Len, &[array])[0],
                    None => self.b.i64(2),
                }
            }
            2 | 3 => {
                let i = if self.chance(2) { self.int_expression() } else { self.int() };
                self.remainder(i.value, 4).value
            }
            4 => {
                let n = self.random.below(2) as i64;
                self.b.i64(n)
            }
            _ => {
                let n = 1 + self.random.below(4) as i64;
                self.b.i64(n)
            }
        };
        let lo = match self.random.below(8) {
            0 => 1,
            1 => 2,
            2 if over.is_none() => -1,
            _ => 0,
        };
        let lo = self.b.i64(lo);
        let exits = if self.chance(3) { 1 + self.random.below(2) as usize } else { 0 };
        self.looping(Some((lo, hi)), over, exits);
    }

    pub(super) fn while_loop(&mut self) {
        let exits = 1 + self.random.below(3) as usize;
        self.looping(None, None, exits);
    }

    /// A loop; one without bounds gets an exit that its counter is sure to take.
    pub(super) fn looping(
        &mut self,
        bounds: Option<(Value, Value)>,
        over: Option<Value>,
        exits: usize,
    ) {
        let types: Vec<Type> = (0..1 + self.random.below(4)).map(|_| self.kind()).collect();
        let mut args: Vec<Value> = bounds.map_or(Vec::new(), |(lo, hi)| vec![lo, hi]);
        for ty in &types {
            args.push(self.hand_on(*ty));
        }
        let outer = self.scope.clone();
        for array in &mut self.scope.arrays {
            array.owned = false;
        }
        let mut params: Vec<(Type, Option<Arc<str>>)> = vec![(Type::I64, None)];
        params.extend(types.iter().map(|ty| (*ty, None)));
        let values = self.b.open_block(&params);
        self.scope.ints.push(Int { value: values[0], bound: 7 });
        let unchanged = self.scope.arrays.iter().map(|a| a.value);
        let over = over.filter(|x| unchanged.clone().any(|a| a == *x));
        self.scope.element_of.extend(over.map(|x| (values[0], x)));
        self.see_all(&values[1..], &types);
        self.loops += 1;
        let sure = self.random.below(exits.max(1) as u64) as usize;
        for k in 0..exits {
            self.statements(3);
            let limit = (bounds.is_none() && k == sure).then(|| self.random.below(5) as i64);
            self.exit(values[0], limit, &types);
        }
        self.statements(if exits > 0 { 3 } else { 6 });
        let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
        let body = self.b.close_block(yields);
        self.loops -= 1;
        self.scope = outer;
        let op = if bounds.is_some() { Op::For } else { Op::While };
        let results = self.b.inst(op, args, &types, vec![body]);
        self.see_all(&results, &types);
    }

    pub(super) fn exit(&mut self, counter: Value, limit: Option<i64>, types: &[Type]) {
        let mut data = if self.chance(5) { self.bool() } else { self.float_comparison() };
        if self.chance(2) {
            let first = self.b.i64(1);
            let running = self.b.prim(Prim::IGe, &[counter, first]);
            data = self.b.prim(Prim::And, &[running, data]);
        }
        let condition = match limit {
            Some(limit) => {
                let limit = self.b.i64(limit);
                let late = self.b.prim(Prim::IGe, &[counter, limit]);
                if self.chance(4) { late } else { self.b.prim(Prim::Or, &[late, data]) }
            }
            None => data,
        };
        let before = self.scope.clone();
        self.b.open_block(&[]);
        if self.chance(2) {
            self.statements(3);
        }
        let yields = types.iter().map(|ty| self.hand_on(*ty)).collect();
        let block: Block = self.b.close_block(yields);
        self.scope = before;
        self.b.inst(Op::ExitIf, vec![condition], &[], vec![block]);
    }
}
