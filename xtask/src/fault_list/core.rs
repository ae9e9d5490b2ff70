//! Faults in `wengert-core`: transforms, rules, passes.

use super::{CORE, Tests, WHOLE};
use crate::faults::Fault;

const DERIVATIVES: Tests =
    &[(CORE, "generated"), (CORE, "derivatives"), (CORE, "arrays"), (CORE, "filetests")];
const ARRAYS: Tests = &[(CORE, "arrays"), (CORE, "generated"), (CORE, "filetests")];
const NESTED: Tests = &[(CORE, "nesting"), (CORE, "nesting_generated"), (CORE, "filetests")];
const ROWS: Tests = &[(CORE, "rules")];
const FREE: Tests = &[(CORE, "free"), (CORE, "lib"), (CORE, "filetests")];
const TILES: Tests = &[(CORE, "tiles")];
const CHOSEN: Tests = &[(WHOLE, "chosen"), (CORE, "generated")];
const STORES: Tests = &[(CORE, "generated"), (CORE, "lib"), (CORE, "filetests")];
const FMA: Tests = &[(CORE, "generated"), (CORE, "arrays"), (CORE, "filetests")];
const HOIST: Tests = &[(CORE, "generated"), (CORE, "filetests")];
const FAULTY: Tests = &[(CORE, "filetests"), (CORE, "generated")];
const MADE: Tests = &[(CORE, "lib")];
const BATCH: Tests = &[(WHOLE, "batch")];

pub(super) const FAULTS: &[Fault] = &[
    // Values of the program that are computed again are fused like adjoints.
    Fault {
        name: "fused-again",
        file: "crates/wengert-core/src/transform/vjp/mod.rs",
        from: "fma::fuse_adjoints(&turned, &|sum| of_turned.is_varied(sum))",
        to: "{\n        let _ = of_turned;\n        fma::fuse_adjoints(&turned, &|_| true)\n    }",
        tests: DERIVATIVES,
    },
    // A sum that is taken at the end of an iteration is not taken for the first.
    Fault {
        name: "first-sum",
        file: "crates/wengert-core/src/transform/rotate.rs",
        from: "    inst.args.push(first);\n",
        to: "    inst.args.push(inst.args[2 + carry]);\n",
        tests: DERIVATIVES,
    },
    // A branch joins one on the other side of what it reads.
    Fault {
        name: "joined-too-early",
        file: "crates/wengert-core/src/transform/branches.rs",
        from: "places.get(v).is_none_or(|at| *at < before)",
        to: "places.get(v).is_none_or(|at| *at < before || before > 0)",
        tests: MADE,
    },
    // An element is carried although another store may have hit it.
    Fault {
        name: "carried-past-a-store",
        file: "crates/wengert-core/src/transform/registers.rs",
        from: "stores[last + 1..].iter().all(|(at, _)| at.differs(&next))",
        to: "stores[last + 1..].iter().all(|(at, _)| at.differs(&next) || true)",
        tests: MADE,
    },
    // Effects in a loop change places.
    Fault {
        name: "effects-out-of-order",
        file: "crates/wengert-core/src/transform/order.rs",
        from: "    for pair in fixed.windows(2) {\n        waiting[pair[0]] += 1;\n    }\n    let ahead: HashMap<usize, usize> = fixed.windows(2).map(|pair| (pair[1], pair[0])).collect();\n",
        to: "    let ahead: HashMap<usize, usize> = HashMap::new();\n    let _ = &fixed;\n",
        tests: FREE,
    },
    // What is known of one function is taken for another.
    Fault {
        name: "wrong-companion",
        file: "crates/wengert-core/src/transform/emit.rs",
        from: "Some((known, v)) if known == prim => v,",
        to: "Some((_, v)) => v,",
        tests: DERIVATIVES,
    },
    // An overwritten element is not put back.
    Fault {
        name: "skipped-restore",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "reverse.b.op(store, &[&place[..], &[old]].concat())[0]",
        to: "{\n                let _ = (store, old);\n                place[0]\n            }",
        tests: DERIVATIVES,
    },
    // An overwritten slice is not put back.
    Fault {
        name: "skipped-slice-restore",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "reverse.b.array(ArrayOp::Put, &[&place[..], &[old]].concat())",
        to: "{\n                let _ = old;\n                place[0]\n            }",
        tests: ARRAYS,
    },
    // The first two fields of a record are taken for each other.
    Fault {
        name: "swapped-pops",
        file: "crates/wengert-core/src/transform/vjp/reverse.rs",
        from: "let (tape, values) = self.b.pop(self.tape, &types);",
        to: "let (tape, mut values) = self.b.pop(self.tape, &types);\n        if types.len() > 1 && types[0] == types[1] {\n            values.swap(0, 1);\n        }",
        tests: DERIVATIVES,
    },
    // A partial with the wrong sign.
    Fault {
        name: "wrong-sign",
        file: "crates/wengert-core/src/ops/table.rs",
        from: "=> [-x.sin()];",
        to: "=> [x.sin()];",
        tests: ROWS,
    },
    // A partial with the wrong factor.
    Fault {
        name: "wrong-factor",
        file: "crates/wengert-core/src/ops/table.rs",
        from: "=> [y.recip_of(0.5)];",
        to: "=> [y.recip_of(2.0)];",
        tests: ROWS,
    },
    // A partial is not multiplied with what it meets.
    Fault {
        name: "missing-chain",
        file: "crates/wengert-core/src/transform/emit.rs",
        from: "(Partial::Of(p), None) => b.mul(p, d),",
        to: "(Partial::Of(p), None) => p,",
        tests: DERIVATIVES,
    },
    // What a loop is given and what it gives back are taken for different storage.
    Fault {
        name: "missed-alias-of-a-loop",
        file: "crates/wengert-core/src/transform/vjp/nest.rs",
        from: "self.unite_all(carried(inst), &inst.results);",
        to: "",
        tests: DERIVATIVES,
    },
    // What a branch yields and its result are taken for different storage.
    Fault {
        name: "missed-alias-of-a-branch",
        file: "crates/wengert-core/src/transform/vjp/nest.rs",
        from: "self.unite_all(&block.yields, &inst.results);",
        to: "let _ = block;",
        tests: DERIVATIVES,
    },
    // The reverse of a loop takes the exits that were not taken.
    Fault {
        name: "flipped-exit",
        file: "crates/wengert-core/src/transform/vjp/reverse_loop.rs",
        from: "self.b.prim(Prim::IEq, &[exit, number])",
        to: "self.b.prim(Prim::INe, &[exit, number])",
        tests: DERIVATIVES,
    },
    // The reverse of a loop counts from one too high.
    Fault {
        name: "reversed-range",
        file: "crates/wengert-core/src/transform/vjp/reverse_loop.rs",
        from: "let last = self.b.prim(Prim::WSub, &[to, one]);",
        to: "let (last, _) = (to, one);",
        tests: DERIVATIVES,
    },
    // The adjoint of an overwritten element lives on.
    Fault {
        name: "forgotten-reset",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let bar = self.b.op(store.clone(), &[&place[..], &[zero]].concat())[0];",
        to: "let _ = zero;",
        tests: DERIVATIVES,
    },
    // What a second use contributes replaces what the first did.
    Fault {
        name: "overwritten-adjoint",
        file: "crates/wengert-core/src/transform/vjp/reverse.rs",
        from: "let sum = self.scope.adjoint.get(v).filter(|_| !of_tape);",
        to: "let sum = self.scope.adjoint.get(v).filter(|_| of_tape);",
        tests: DERIVATIVES,
    },
    // A choice is followed to the side that was not chosen.
    Fault {
        name: "wrong-case",
        file: "crates/wengert-core/src/transform/when.rs",
        from: "When::Is(c, true) => Partial::Of(b.select(c, p, zero)),",
        to: "When::Is(c, true) => Partial::Of(b.select(c, zero, p)),",
        tests: CHOSEN,
    },
    // What has a part in two cases is taken to have one in the first only.
    Fault {
        name: "forgotten-case",
        file: "crates/wengert-core/src/transform/when.rs",
        from: "When::Is(b.prim(Prim::Or, &both), true)",
        to: "When::Is(both[0], true)",
        tests: CHOSEN,
    },
    // The slope of what is not chosen is a factor.
    Fault {
        name: "unchosen-slope",
        file: "crates/wengert-core/src/transform/when.rs",
        from: "When::Is(c, false) => Partial::Of(b.select(c, zero, p)),",
        to: "When::Is(..) => partial,",
        tests: CHOSEN,
    },
    // The same for elements of arrays.
    Fault {
        name: "overwritten-element",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let sum = self.b.add(old, d);",
        to: "let (sum, _) = (d, old);",
        tests: DERIVATIVES,
    },
    // A carry-out is taken for the carry beside its own.
    Fault {
        name: "wrong-join",
        file: "crates/wengert-core/src/transform/vjp/remat.rs",
        from: "let p = *block.params.get(k + 1)?;",
        to: "let p = *block.params.get(k)?;",
        tests: DERIVATIVES,
    },
    // A load is executed again although its element may have been overwritten.
    Fault {
        name: "late-load",
        file: "crates/wengert-core/src/transform/vjp/remat.rs",
        from: "&& !insts[at..upto].iter().any(|i| takes_over(i, x))",
        to: "",
        tests: DERIVATIVES,
    },
    // What only an exit makes vary is taken for constant.
    Fault {
        name: "passive-exit",
        file: "crates/wengert-core/src/transform/activity.rs",
        from: "changed |= self.vary_all(func, &exit.blocks[0].yields, &inst.results);",
        to: "",
        tests: DERIVATIVES,
    },
    // What only an exit hands on is taken for useless.
    Fault {
        name: "useless-exit",
        file: "crates/wengert-core/src/transform/activity.rs",
        from: "changed |= self.use_block(func, &exit.blocks[0], &inst.results);",
        to: "",
        tests: DERIVATIVES,
    },
    // Versions of a tape do not share what is known of them.
    Fault {
        name: "passive-tape",
        file: "crates/wengert-core/src/transform/activity.rs",
        from: "Op::Push | Op::Pop => join(&inst.args[..1], &inst.results[..1]),",
        to: "",
        tests: NESTED,
    },
    // An adjoint gets the shape of the result.
    Fault {
        name: "dims-of-another-array",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let dims = self.dims(x);\n                let d = self.b.array(ArrayOp::Reshape",
        to: "let dims = self.dims(inst.results[0]);\n                let d = self.b.array(ArrayOp::Reshape",
        tests: ARRAYS,
    },
    // The adjoint of a product without its transpose.
    Fault {
        name: "gemm-left-transpose",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "(false, No) => ((ta.flip(), No), [other, bar]),",
        to: "(false, No) => ((ta, No), [other, bar]),",
        tests: ARRAYS,
    },
    // The same of a product with the transpose of its right factor.
    Fault {
        name: "gemm-right-transpose",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "(false, Yes) => ((Yes, ta), [bar, other]),",
        to: "(false, Yes) => ((Yes, ta.flip()), [bar, other]),",
        tests: ARRAYS,
    },
    // The adjoint of what was added to is forgotten.
    Fault {
        name: "add-slice-ends",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "if self.activity.is_active(x0) {\n                if *op == ArrayOp::Put {",
        to: "if self.activity.is_active(x0) && *op == ArrayOp::Put {\n                if *op == ArrayOp::Put {",
        tests: ARRAYS,
    },
    // The adjoint of a gather is gathered as well.
    Fault {
        name: "gather-for-scatter",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let bar = self.b.array(ArrayOp::ScatterAdd, &[bar, at, d]);",
        to: "let d = self.b.array(ArrayOp::Gather, &[d, at]);\n                let bar = self.b.array(ArrayOp::ScatterAdd, &[bar, at, d]);",
        tests: ARRAYS,
    },
    // The adjoint of a sum is spread along the axis before.
    Fault {
        name: "sum-axis",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let d = self.b.array(ArrayOp::Expand(*axis), &[d, n]);",
        to: "let d = self.b.array(ArrayOp::Expand(axis.saturating_sub(1)), &[d, n]);",
        tests: ARRAYS,
    },
    // The adjoint of an expansion is summed along the axis before.
    Fault {
        name: "expand-axis",
        file: "crates/wengert-core/src/transform/vjp/arrays.rs",
        from: "let d = self.b.array(ArrayOp::Sum(Some(*axis)), &[d]);",
        to: "let d = self.b.array(ArrayOp::Sum(Some(axis.saturating_sub(1))), &[d]);",
        tests: ARRAYS,
    },
    // A choice has the tangent of the side that was not chosen.
    Fault {
        name: "other-tangent",
        file: "crates/wengert-core/src/transform/jvp.rs",
        from: "let t = [tangents[1].unwrap_or(zero), tangents[2].unwrap_or(zero)];",
        to: "let t = [tangents[2].unwrap_or(zero), tangents[1].unwrap_or(zero)];",
        tests: DERIVATIVES,
    },
    // The reverse of a branch is that of the other side.
    Fault {
        name: "other-branch",
        file: "crates/wengert-core/src/transform/vjp/reverse.rs",
        from: "let results = self.b.inst(Op::If, vec![condition], &types, blocks);",
        to: "let blocks = blocks.into_iter().rev().collect();\n        let results = self.b.inst(Op::If, vec![condition], &types, blocks);",
        tests: DERIVATIVES,
    },
    // Elementwise operations wait although what they read is overwritten.
    Fault {
        name: "elementwise-write-between",
        file: "crates/wengert-core/src/transform/elementwise.rs",
        from: "\n                || g.reads.iter().any(|r| taken.contains(r))",
        to: "",
        tests: FREE,
    },
    // A copy goes although the original is overwritten before it is read.
    Fault {
        name: "copy-write-between",
        file: "crates/wengert-core/src/transform/copies.rs",
        from: "&& !taken(x, &after[..=end])",
        to: "",
        tests: FREE,
    },
    // A copy of the caller's array goes, and the caller's array is written.
    Fault {
        name: "copy-of-the-callers",
        file: "crates/wengert-core/src/transform/copies.rs",
        from: "let owned = uses::defined(block).contains(&x) && !kept.contains(&x);",
        to: "let owned = uses::defined(block).contains(&x);",
        tests: FREE,
    },
    // Storage is used again without clearing although its elements are read.
    Fault {
        name: "reuse-read-between",
        file: "crates/wengert-core/src/transform/reuse.rs",
        from: "let user = body.insts.iter().find(|i| uses_of(i, p) > 0)?;",
        to: "let user = body.insts.iter().rev().find(|i| uses_of(i, p) > 0)?;",
        tests: FREE,
    },
    // Elements that nothing has written count as written: rows are taken to be longer than they are.
    Fault {
        name: "blank-rows",
        file: "crates/wengert-core/src/transform/reuse.rs",
        from: "self.shapes.int(self.func, p[1]) == self.shape[axis]",
        to: "self.shape.len() > axis",
        tests: FREE,
    },
    // Where parts meet is taken to be larger than it is.
    Fault {
        name: "parts-meet",
        file: "crates/wengert-core/src/transform/parts.rs",
        from: "to = b.prim(Prim::IMin, &[to, end]);",
        to: "to = b.prim(Prim::IMax, &[to, end]);",
        tests: FREE,
    },
    // Nobody asks whether parts lie in their array.
    Fault {
        name: "parts-unasked",
        file: "crates/wengert-core/src/transform/parts.rs",
        from: "ask(b, Prim::ILe, start, room);",
        to: "let _ = room;",
        tests: FREE,
    },
    // Arrays that are handed on in turn are taken for others in the next step.
    Fault {
        name: "tiles-storage",
        file: "crates/wengert-core/src/transform/tiles/find.rs",
        from: "least = least.min(at);",
        to: "",
        tests: TILES,
    },
    // Steps follow each other a block too early.
    Fault {
        name: "tiles-delay",
        file: "crates/wengert-core/src/transform/tiles.rs",
        from: "let delay = divided_up(b, apart, rows);",
        to: "let delay = b.prim(Prim::IDiv, &[apart, rows]);",
        tests: TILES,
    },
    // Passes are taken not to depend on each other.
    Fault {
        name: "tiles-groups",
        file: "crates/wengert-core/src/transform/tiles/find.rs",
        from: "last.group + i64::from(!are_in_step(&all))",
        to: "last.group + 0 * i64::from(!are_in_step(&all))",
        tests: TILES,
    },
    // After the last steps arrays are where they were before the first.
    Fault {
        name: "tiles-turns",
        file: "crates/wengert-core/src/transform/tiles.rs",
        from: "let turns = b.prim(Prim::IMod, &[count, order]);",
        to: "let turns = b.prim(Prim::IMod, &[zero, order]);",
        tests: TILES,
    },
    // A step behind the last one runs.
    Fault {
        name: "tiles-last",
        file: "crates/wengert-core/src/transform/tiles.rs",
        from: "let to = b.select(runs, to, from);",
        to: "let _ = runs;",
        tests: TILES,
    },
    // What numbers say is believed however large they are.
    Fault {
        name: "tiles-large",
        file: "crates/wengert-core/src/transform/tiles.rs",
        from: "question.within(b, -LARGE * LARGE, offset, LARGE * LARGE);",
        to: "",
        tests: TILES,
    },
    // A sum is read from the wrong end of the range of its second term.
    Fault {
        name: "range-of-a-difference",
        file: "crates/wengert-core/src/ir/ranges.rs",
        from: "(a.0 - b.1, a.1 - b.0)",
        to: "(a.0 - b.0, a.1 - b.1)",
        tests: FREE,
    },
    // The length of an array that a loop gives another shape is taken from before the loop.
    Fault {
        name: "kept-carry",
        file: "crates/wengert-core/src/transform/shapes.rs",
        from: "kept.extend(carries.filter(|(p, init)| shapes.same(**p, **init)));",
        to: "kept.extend(carries);",
        tests: HOIST,
    },
    // Storage that something took over is used again.
    Fault {
        name: "reuse-write-between",
        file: "crates/wengert-core/src/transform/reuse.rs",
        from: "free.extend(dying[at].iter().filter(|v| !taken.contains(v)));",
        to: "free.extend(dying[at].iter());",
        tests: FREE,
    },
    // Loops are fused although the second overwrites what the first reads.
    Fault {
        name: "fuse-write-between",
        file: "crates/wengert-core/src/transform/fuse.rs",
        from: "if uses_value(a, *init) && self.func.ty(*init).is_array() {",
        to: "if false && self.func.ty(*init).is_array() {",
        tests: FREE,
    },
    // Loops are fused although the second reads elements not made yet.
    Fault {
        name: "fuse-other-element",
        file: "crates/wengert-core/src/transform/fuse.rs",
        from: "inst.args[0] != v || inst.args[1] != counter ||",
        to: "inst.args[0] != v ||",
        tests: FREE,
    },
    // The products left over at the end are those of the wrong rows.
    Fault {
        name: "deferred-last-block",
        file: "crates/wengert-core/src/transform/deferred.rs",
        from: "let section = [x, zero, rows, one, zero, n, one];",
        to: "let section = [x, one, rows, one, zero, n, one];",
        tests: FREE,
    },
    // A store goes although something reads what it stored.
    Fault {
        name: "store-read-between",
        file: "crates/wengert-core/src/transform/stores.rs",
        from: "if uses.get(&inst.results[0]) == Some(&1) {",
        to: "if uses.contains_key(&inst.results[0]) {",
        tests: STORES,
    },
    // An element stays in a register although its place is written again.
    Fault {
        name: "register-write-between",
        file: "crates/wengert-core/src/transform/registers.rs",
        from: "if stores[last + 1..].iter().all(|(at, _)| at.differs(&next)) {",
        to: "if true {",
        tests: STORES,
    },
    // A product is fused with a sum although its factor has been overwritten.
    Fault {
        name: "fma-changed-operand",
        file: "crates/wengert-core/src/transform/fma.rs",
        from: "if !inst.args.iter().any(gone) {",
        to: "let _ = gone;\n        {",
        tests: FMA,
    },
    // What can fail is executed before the loop that may not run.
    Fault {
        name: "hoisted-failure",
        file: "crates/wengert-core/src/transform/hoist.rs",
        from: "scalar && (asked || self.func.is_movable(inst))",
        to: "scalar && (asked || inst.blocks.is_empty())",
        tests: HOIST,
    },
    // What only an exit hands on is taken for dead.
    Fault {
        name: "dropped-live-value",
        file: "crates/wengert-core/src/transform/dce.rs",
        from: "live.extend(exits.map(|e| e.blocks[0].yields[k]));",
        to: "let _ = exits;",
        tests: DERIVATIVES,
    },
    // A loop whose stores can fail is taken for dead.
    Fault {
        name: "dropped-live-store",
        file: "crates/wengert-core/src/transform/dce.rs",
        from: "Op::If | Op::For => nested(inst),",
        to: "Op::If => nested(inst),\n            Op::For => false,",
        tests: FAULTY,
    },
    // A dead row on arrays goes with the error that their shapes differ.
    Fault {
        name: "dropped-shape-check",
        file: "crates/wengert-core/src/transform/dce.rs",
        from: "Some(checks) => block.insts.extend_from_slice(checks),",
        to: "Some(_) => {}",
        tests: FREE,
    },
    // The error of a sum of arrays becomes that of the fused operation.
    Fault {
        name: "fma-renamed-error",
        file: "crates/wengert-core/src/transform/fma.rs",
        from: "for (x, y) in uneven.get(&inst.results[0]).into_iter().flatten() {",
        to: "for (x, y) in uneven.get(&inst.results[0]).into_iter().flatten().take(0) {",
        tests: FREE,
    },
    // A product leaves a loop that may not run: its adjoint is zero times what may be infinite.
    Fault {
        name: "hoisted-product",
        file: "crates/wengert-core/src/transform/hoist.rs",
        from: "Prim::Mul => constant(0).or(constant(1)).is_some_and(f64::is_finite),",
        to: "Prim::Mul => true,",
        tests: HOIST,
    },
    // Loops are fused although one inside of the first may leave with another array.
    Fault {
        name: "fused-over-exit",
        file: "crates/wengert-core/src/transform/fuse.rs",
        from: "if inst.op == Op::ExitIf {",
        to: "if inst.op == Op::ExitIf && false {",
        tests: FREE,
    },
    // An array that the program indexes by one name is named by another in errors.
    Fault {
        name: "carried-name",
        file: "crates/wengert-core/src/transform/carries.rs",
        from: "if !unchanged || self.is_named(p, init) || self.is_named(result, init) {",
        to: "if !unchanged {",
        tests: FREE,
    },
    // The iterations left over by groups start at the beginning.
    Fault {
        name: "group-remainder",
        file: "crates/wengert-core/src/transform/unroll.rs",
        from: "let rest = b.prim(Prim::WAdd, &[lo, covered]);",
        to: "let (rest, _) = (lo, covered);",
        tests: DERIVATIVES,
    },
    // The reverse of a pop pushes adjoints in the wrong order.
    Fault {
        name: "push-transpose",
        file: "crates/wengert-core/src/transform/vjp/tapes.rs",
        from: "let bar = self.b.push(bar, &adjoints);",
        to: "let adjoints: Vec<Value> = adjoints.into_iter().rev().collect();\n        let bar = self.b.push(bar, &adjoints);",
        tests: NESTED,
    },
    // Records hold zeros for the tangents of their fields.
    Fault {
        name: "missing-tangents",
        file: "crates/wengert-core/src/transform/jvp.rs",
        from: "args.extend(tangents);\n        let tape",
        to: "args.extend(tangents.iter().map(|_| self.b.f64(0.0)).collect::<Vec<_>>());\n        let tape",
        tests: NESTED,
    },
    // A function that was changed is taken for the one that reverse mode has made.
    Fault {
        name: "vouched-change",
        file: "crates/wengert-core/src/ir/origin.rs",
        from: "found.is_some_and(|found| func.has_code_of(found))",
        to: "found.is_some()",
        tests: MADE,
    },
    // What was compiled is kept under a name that does not say who vouches for its plans.
    Fault {
        name: "kept-without-origin",
        file: "crates/wengert-core/src/ir/origin.rs",
        from: "(self.vouched(), self.reverses()).hash(state);",
        to: "",
        tests: MADE,
    },
    // The code of a program is no part of the name it is kept under.
    Fault {
        name: "kept-without-code",
        file: "crates/wengert-core/src/ir/func.rs",
        from: "(name, results, body, values).hash(state);",
        to: "let _ = body;\n        (name, results, values).hash(state);",
        tests: MADE,
    },
    // A member of a batch writes its derivatives where another's belong.
    Fault {
        name: "batch-place",
        file: "crates/wengert-core/src/transform/batch.rs",
        from: "copier.bind(rows.place, *place);",
        to: "copier.bind(rows.place, member);",
        tests: MADE,
    },
    // Members of a batch share an array that each of them writes into.
    Fault {
        name: "batch-shared-copy",
        file: "crates/wengert-core/src/transform/batch.rs",
        from: "b.op(Op::Copy, &[*x])[0]",
        to: "*x",
        tests: MADE,
    },
    // Derivatives that members share are summed up one after the other.
    Fault {
        name: "batch-sum-order",
        file: "crates/wengert/src/compile/batch/together.rs",
        from: "self.parts.pop_if(|(n, _)| *n == count)",
        to: "self.parts.pop_if(|(n, _)| *n >= count)",
        tests: BATCH,
    },
    // The first of the sums that a loop carries is taken anew in every piece of it.
    Fault {
        name: "first-sum-in-every-piece",
        file: "crates/wengert-core/src/transform/vjp/mod.rs",
        from: "rotate::hand_on(&mut programs);",
        to: "",
        tests: MADE,
    },
];
