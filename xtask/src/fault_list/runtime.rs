//! Faults in `wengert-runtime`: native code, memory, threads, what is kept on disk.

use super::{COMMAND, RUNTIME, Tests};
use crate::faults::Fault;

const NATIVE: Tests = &[(RUNTIME, "differential")];
const POOL: Tests = &[(RUNTIME, "lib")];
const CACHE: Tests = &[(COMMAND, "compilers")];

pub(super) const FAULTS: &[Fault] = &[
    // Two iterations at once, although one reads what the other writes.
    Fault {
        name: "pairs-apart",
        file: "crates/wengert-runtime/src/jit/pairs.rs",
        from: "moves && apart && (ahead",
        to: "let _ = apart;\n        moves && (ahead",
        tests: NATIVE,
    },
    // Pairs that run together all write to the place of the first one.
    Fault {
        name: "pairs-together",
        file: "crates/wengert-runtime/src/jit/pairs.rs",
        from: "self.b.ins().store(flags, both, address, more);",
        to: "self.b.ins().store(flags, both, address, 0 * more);",
        tests: NATIVE,
    },
    // An index that counts on is looked at where it starts only.
    Fault {
        name: "ahead-room",
        file: "crates/wengert-runtime/src/jit/ahead.rs",
        from: "self.b.ins().isub(len, way)",
        to: "len",
        tests: NATIVE,
    },
    // Of a loop over rows only the first one is looked at.
    Fault {
        name: "nest-last-row",
        file: "crates/wengert-runtime/src/jit/nest.rs",
        from: "for row in [start, last] {",
        to: "for row in [start, start] {",
        tests: NATIVE,
    },
    // What is left of a loop after whole vectors is left out.
    Fault {
        name: "eights-last",
        file: "crates/wengert-runtime/src/jit/eights.rs",
        from: "let on = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, last);",
        to: "let on = self.b.ins().icmp(IntCC::UnsignedLessThan, further, last);",
        tests: NATIVE,
    },
    // Vectors overlap although a loop reads what it writes.
    Fault {
        name: "eights-twice",
        file: "crates/wengert-runtime/src/jit/pairs.rs",
        from: "!written.contains_key(&self.identity.find(i.args[0]))",
        to: "!written.is_empty()",
        tests: NATIVE,
    },
    // The element before is taken for the one behind, and the other way round.
    Fault {
        name: "neighbours-sides",
        file: "crates/wengert-runtime/src/jit/neighbours.rs",
        from: "let sides = [sides[k], sides[1 - k]];",
        to: "let sides = [sides[1 - k], sides[k]];",
        tests: NATIVE,
    },
    // The last iteration of an odd number is left out.
    Fault {
        name: "pairs-rest",
        file: "crates/wengert-runtime/src/jit/loops.rs",
        from: "        self.round(shape, inits);\n        shape.start = start;",
        to: "        if shape.start == start {\n            self.round(shape, inits);\n        } else {\n            let args = self.block_args(&[]);\n            self.b.ins().jump(shape.exit.after, &args);\n        }\n        shape.start = start;",
        tests: NATIVE,
    },
    // Native code takes single-precision elements to be as large as doubles.
    Fault {
        name: "element-size",
        file: "crates/wengert-runtime/src/jit/memory.rs",
        from: "Some(Elem::F32) => (F32, 2),",
        to: "Some(Elem::F32) => (F32, 3),",
        tests: NATIVE,
    },
    // Native code takes columns for rows.
    Fault {
        name: "row-stride",
        file: "crates/wengert-runtime/src/jit/memory.rs",
        from: "let row = self.b.ins().imul(at, *len);",
        to: "let row = self.b.ins().imul(at, array.dims()[0]);",
        tests: NATIVE,
    },
    // Native code pops the fields of a record in the wrong order.
    Fault {
        name: "native-pop-order",
        file: "crates/wengert-runtime/src/jit/tapes.rs",
        from: "self.b.ins().store(self.regions.tape, word, top, 8 * k as i32);",
        to: "self.b.ins().store(self.regions.tape, word, top, size as i32 - 8 - 8 * k as i32);",
        tests: NATIVE,
    },
    // Native code keeps subnormals that the interpreter flushes.
    Fault {
        name: "native-flush",
        file: "crates/wengert-runtime/src/jit/prims.rs",
        from: "b.ins().brif(exponent, on, &[BlockArg::Value(x(0))], tiny, &[]);",
        to: "b.ins().brif(exponent, on, &[BlockArg::Value(x(0))], on, &[BlockArg::Value(x(0))]);",
        tests: NATIVE,
    },
    // Native code takes an index that one axis allows for one that every axis allows.
    Fault {
        name: "native-index-check",
        file: "crates/wengert-runtime/src/jit/memory.rs",
        from: "self.bounds.checked(storage, along, place);",
        to: "self.bounds.checked(storage, Along::Axis(0), place);",
        tests: NATIVE,
    },
    // Native code runs a loop over an empty range once.
    Fault {
        name: "native-empty-loop",
        file: "crates/wengert-runtime/src/jit/loops.rs",
        from: "let some = self.b.ins().icmp(IntCC::SignedLessThan, shape.start, shape.bound);",
        to: "let some = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, shape.start, shape.bound);",
        tests: NATIVE,
    },
    // No tape is used twice.
    Fault {
        name: "no-pool",
        file: "crates/wengert-runtime/src/tape.rs",
        from: "if pool.len() < POOLED {",
        to: "if pool.len() < POOLED && pool.len() > POOLED {",
        tests: POOL,
    },
    // A tape may hold what the others hold already.
    Fault {
        name: "limit-for-each",
        file: "crates/wengert-runtime/src/jit/tapes.rs",
        from: "let left = self.b.ins().isub(left, needed);",
        to: "",
        tests: NATIVE,
    },
    // A pop does not look whether there is anything to pop.
    Fault {
        name: "pop-of-nothing",
        file: "crates/wengert-runtime/src/jit/tapes.rs",
        from: "self.fault_if(empty, SiteKind::Record, inst.span, &[]);",
        to: "let _ = empty;",
        tests: NATIVE,
    },
    // What is known in one branch counts after it.
    Fault {
        name: "leaked-shapes",
        file: "crates/wengert-runtime/src/jit/bounds.rs",
        from: "        self.alike.pop();\n",
        to: "",
        tests: NATIVE,
    },
    // Parameters of a block are set one after the other.
    Fault {
        name: "moves-in-turn",
        file: "crates/wengert-runtime/src/cc/print.rs",
        from: "let apart = moves",
        to: "let apart = false && moves",
        tests: NATIVE,
    },
    // C's conversion of large floats.
    Fault {
        name: "wrong-saturation",
        file: "crates/wengert-runtime/src/cc/prelude.rs",
        from: "return 0x7fffffffffffffffull;",
        to: "return 0x8000000000000000ull;",
        tests: NATIVE,
    },
    // C's arithmetic shift.
    Fault {
        name: "shifted-zeros",
        file: "crates/wengert-runtime/src/cc/print.rs",
        from: "(u64)(({sx}) >> ({y} & 63))",
        to: "(u64)(({x}) >> ({y} & 63))",
        tests: NATIVE,
    },
    // A library that is damaged is loaded.
    Fault {
        name: "unchecked-library",
        file: "crates/wengert-runtime/src/cc/cache.rs",
        from: "if magic != MAGIC || hash(key, content).as_bytes() != sum {",
        to: "if magic != MAGIC || hash(key, content).as_bytes().len() != sum.len() {",
        tests: POOL,
    },
    // A folder that others can write to is used.
    Fault {
        name: "open-folder",
        file: "crates/wengert-runtime/src/cc/cache.rs",
        from: "data.mode() & 0o022 != 0",
        to: "data.mode() & 0o022 == 0o100",
        tests: POOL,
    },
    // The runtime in C adds lanes in another order.
    Fault {
        name: "other-tree",
        file: "crates/wengert-runtime/src/cc/standalone/sums.c",
        from: "TYPE low = (l[0] + l[4]) + (l[2] + l[6]);",
        to: "TYPE low = (l[0] + l[2]) + (l[4] + l[6]);",
        tests: NATIVE,
    },
    // The runtime in C loses an entry of a table when another is removed.
    Fault {
        name: "lost-entry",
        file: "crates/wengert-runtime/src/cc/standalone/runtime.c",
        from: "      hole = k;\n",
        to: "",
        tests: NATIVE,
    },
    // An argument of C's that is written into is not copied.
    Fault {
        name: "uncopied-argument",
        file: "crates/wengert-runtime/src/cc/standalone/interface.rs",
        from: "u8::from(consumed)",
        to: "u8::from(consumed) * 0",
        tests: NATIVE,
    },
    // A product of several iterations is taken from the row of another.
    Fault {
        name: "products-other-row",
        file: "crates/wengert-runtime/src/jit/batches.rs",
        from: "let number = self.b.ins().isub(t, first);",
        to: "let number = self.b.ins().isub(first, first);",
        tests: NATIVE,
    },
    // Products are computed ahead although the loop changes the matrix.
    Fault {
        name: "products-changed-matrix",
        file: "crates/wengert-runtime/src/jit/batches.rs",
        from: "|| !outside(matrix)",
        to: "",
        tests: NATIVE,
    },
    // A part of a row is taken for all of it.
    Fault {
        name: "products-part-of-a-row",
        file: "crates/wengert-runtime/src/jit/batches.rs",
        from: "IntCC::Equal, rows.dims()[1], k",
        to: "IntCC::Equal, k, k",
        tests: NATIVE,
    },
    // Both lanes of a pair take the other side of a branch.
    Fault {
        name: "pair-other-side",
        file: "crates/wengert-runtime/src/jit/sides.rs",
        from: "self.choose(condition, then, otherwise)",
        to: "self.choose(condition, otherwise, then)",
        tests: NATIVE,
    },
    // The dots of two vectors at a time are those of the first one.
    Fault {
        name: "products-second-vector",
        file: "crates/wengert-kernels/src/products.rs",
        from: "V::trees(second)",
        to: "V::trees(first)",
        tests: &[("wengert-kernels", "lib")],
    },
    // An array is freed twice.
    Fault {
        name: "small-freed-twice",
        file: "crates/wengert-runtime/src/small.rs",
        from: "        self.bytes[(address - self.base) / LINE] = 0;\n",
        to: "",
        tests: POOL,
    },
    // An array on a tape is handed out although another has been pushed to its place.
    Fault {
        name: "held-stale-array",
        file: "crates/wengert-runtime/src/held.rs",
        from: "is_some_and(|last| *last >= slot as u64)",
        to: "is_some_and(|last| *last > u64::MAX)",
        tests: POOL,
    },
    // Whoever writes that a recorded loop is parallel is believed.
    Fault {
        name: "believed-plan",
        file: "crates/wengert-runtime/src/jit/mod.rs",
        from: "plan.parallel &= plan.is_only_run() || vouched.contains(&&*plan);",
        to: "let _ = (plan, &vouched);",
        tests: NATIVE,
    },
    // Operations read from disk are believed to fit their operands.
    Fault {
        name: "believed-tables",
        file: "crates/wengert-runtime/src/cc/tables.rs",
        from: "&& kernels.iter().all(fits_kernel)",
        to: "&& kernels.iter().all(|k| fits_kernel(k) || true)",
        tests: POOL,
    },
    // A library of one compiler serves another.
    Fault {
        name: "any-compiler",
        file: "crates/wengert-runtime/src/cc/mod.rs",
        from: "if host != tables.host {",
        to: "if host.is_empty() {",
        tests: CACHE,
    },
    // On the way back lanes are other iterations than those that were recorded.
    Fault {
        name: "lanes-turned",
        file: "crates/wengert-runtime/src/jit/lanes/mod.rs",
        from: "let l = if order == Order::Up { l } else { LANES - 1 - l };",
        to: "let l = if order == Order::Up { l } else { (LANES - l) % LANES };",
        tests: NATIVE,
    },
    // A lane that does not take a branch fails in it.
    Fault {
        name: "lanes-fail-unasked",
        file: "crates/wengert-runtime/src/jit/lanes/mod.rs",
        from: "Some(mask) => self.b.ins().band(fails, mask),",
        to: "Some(mask) => self.b.ins().bor(fails, mask),",
        tests: NATIVE,
    },
    // Lanes that need no way back are given what it makes of them.
    Fault {
        name: "lanes-swept-unasked",
        file: "crates/wengert-runtime/src/jit/lanes/flow.rs",
        from: "*x = self.choose(condition, *x, y);",
        to: "*x = self.choose(condition, *x, *x);\n                let _ = y;",
        tests: NATIVE,
    },
    // A lane that has left a loop goes on with what it carries.
    Fault {
        name: "lanes-left-unheld",
        file: "crates/wengert-runtime/src/jit/lanes/uneven.rs",
        from: "state.slots[i] = self.choose(state.going, yielded, state.slots[i]);",
        to: "state.slots[i] = yielded;",
        tests: NATIVE,
    },
    // On the way back lanes join a loop an iteration late.
    Fault {
        name: "lanes-join-late",
        file: "crates/wengert-runtime/src/jit/lanes/uneven.rs",
        from: "icmp(IntCC::SignedGreaterThanOrEqual, here, joins)",
        to: "icmp(IntCC::SignedGreaterThan, here, joins)",
        tests: NATIVE,
    },
    // On the way back the iterations of a lane count from where the loop begins, not from where it joins.
    Fault {
        name: "lanes-count-together",
        file: "crates/wengert-runtime/src/jit/lanes/uneven.rs",
        from: "let since = self.b.ins().isub(here, joins);",
        to: "let since = here;",
        tests: NATIVE,
    },
    // Records of lanes that need no way back are left on the tape.
    Fault {
        name: "lanes-records-left",
        file: "crates/wengert-runtime/src/jit/lanes/uneven.rs",
        from: "records = self.b.ins().isub(records, early);",
        to: "records = self.b.ins().iadd(early, early);",
        tests: NATIVE,
    },
    // Records that lanes write before they leave a loop lie among those of lanes that go on.
    Fault {
        name: "lanes-early-records",
        file: "crates/wengert-runtime/src/jit/lanes/look.rs",
        from: "let written = !early || !uneven;",
        to: "let written = early || !early || !uneven;",
        tests: NATIVE,
    },
    // An iteration takes back what it has recorded in another order than a group.
    Fault {
        name: "lanes-not-mirrored",
        file: "crates/wengert-runtime/src/jit/lanes/mirror.rs",
        from: "Some(_) => return None,",
        to: "Some(_) => {}",
        tests: NATIVE,
    },
    // Eight iterations that have no room for their records are taken to fail, though each of them has.
    Fault {
        name: "lanes-full",
        file: "crates/wengert-runtime/src/jit/lanes/memory.rs",
        from: "self.b.ins().brif(over, decline, &[], on, &[]);",
        to: "let bail = [decline, self.lockstep().bail][1];\n            self.b.ins().brif(over, bail, &[], on, &[]);",
        tests: NATIVE,
    },
    // Eight iterations have changed something before they find that there is no room for their records.
    Fault {
        name: "lanes-record-late",
        file: "crates/wengert-runtime/src/jit/lanes/look.rs",
        from: "Op::Push => !*changed,",
        to: "Op::Push => true,",
        tests: NATIVE,
    },
    // A tape of an iteration's own may hold more on a thread than the limit says.
    Fault {
        name: "own-tape-limit",
        file: "crates/wengert-runtime/src/workers.rs",
        from: "limit.min(base.saturating_add(bytes))",
        to: "limit.max(base.saturating_add(bytes))",
        tests: NATIVE,
    },
    // A compiler works on after the process that started it has ended.
    Fault {
        name: "compiler-left-at-work",
        file: "crates/wengert-runtime/src/cc/toolchain.rs",
        from: "kill -9 0;",
        to: "true;",
        tests: CACHE,
    },
    // Iterations that anybody has written are taken to reverse what they record.
    Fault {
        name: "lanes-unvouched",
        file: "crates/wengert-runtime/src/jit/mod.rs",
        from: "(graph.own_tape() && !reverses)",
        to: "(graph.own_tape() && !reverses && false)",
        tests: NATIVE,
    },
    // What an iteration needs of a tape of its own is taken for what all of them need together.
    Fault {
        name: "own-tape-blamed",
        file: "crates/wengert-runtime/src/workers.rs",
        from: "let shared = frame.tape.is_some();",
        to: "let shared = frame.params > 0;",
        tests: NATIVE,
    },
];
