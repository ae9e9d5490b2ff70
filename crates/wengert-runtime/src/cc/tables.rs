//! What runs need beside a library, as bytes: to be kept with it, so that a program which was compiled before
//! needs no pass, no printing and no compiler.
//!
//! Bytes that were not written here, or by another version, are `None`, and so is what does not fit together: numbers of
//! functions, places in frames and the types of operations are looked at as if anybody could have written them. (What
//! is read was found whole by `cache`, so this is a second lock.)

use crate::jit::link::{Frame, Pieces, Shape, Signature, Ways};
use crate::jit::site::{Site, SiteKind};
use crate::kernel::{Kernel, Work};
use std::sync::Arc;
use wengert_core::ir::{Elem, MAX_RANK, Op, Type, infer};
use wengert_core::ops::ArrayOp;
use wengert_core::span::Span;

/// The programs of a library.
#[derive(Debug)]
pub(super) struct Tables {
    /// The compiler and the machine that it was made by and for.
    pub(super) host: String,
    /// The key of the library.
    pub(super) library: String,
    pub(super) programs: Vec<Tabled>,
}

/// A program of a library.
#[derive(Debug)]
pub(super) struct Tabled {
    /// How many of the library's functions are its own.
    pub(super) framed: usize,
    /// What runs need, functions being places among those.
    pub(super) ways: Ways<usize>,
}

impl Tables {
    /// As bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Of bytes; `None` where they are no tables, or not of programs with so many entries each.
    pub(super) fn read(mut bytes: &[u8], entries: &[usize]) -> Option<Tables> {
        let tables = Tables::get(&mut bytes)?;
        let fits = tables.programs.len() == entries.len()
            && tables.programs.iter().zip(entries).all(|(program, n)| program.fits(*n));
        (bytes.is_empty() && fits).then_some(tables)
    }
}

impl Tabled {
    /// Whether everything in it is in its range.
    fn fits(&self, wanted: usize) -> bool {
        let Tabled { framed, ways } = self;
        let Ways { entries, plans, unsteps, pieces, shapes, sites, kernels, max_loops, .. } = ways;
        let is_function = |k: &usize| k < framed;
        let plan = |(record, reverse, advance): &(usize, usize, Option<usize>)| {
            [Some(record), Some(reverse), advance.as_ref()].into_iter().flatten().all(is_function)
        };
        entries.len() == wanted
            && entries.iter().all(is_function)
            && plans.iter().all(plan)
            && unsteps.len() == plans.len()
            && unsteps.iter().flatten().all(is_function)
            && pieces.len() == plans.len()
            && pieces.iter().flatten().all(fits_pieces)
            && shapes.len() == plans.len()
            && shapes.iter().flatten().all(fits_shape)
            && sites.iter().all(|site| site.loops.len() <= *max_loops)
            && *max_loops <= sites.iter().map(|site| site.loops.len()).max().unwrap_or(0)
            && kernels.iter().all(fits_kernel)
    }
}

fn fits_pieces(pieces: &Pieces) -> bool {
    let Pieces { forward, reverse, span: _ } = pieces;
    [Some(forward), reverse.as_ref()].into_iter().flatten().all(fits_frame)
}

/// Functions over a range that hand on what they are given.
fn fits_shape(shape: &Shape) -> bool {
    let Shape { advance, record, reverse, unstep, free, carries, written, state, .. } = shape;
    let hands_on = |of: &Signature, first: usize, carried: usize, more: usize| {
        let given = first.checked_add(carried).and_then(|end| of.params.get(first..end));
        let alike =
            |given: &[(Type, bool)]| given.iter().map(|(ty, _)| ty).eq(&of.results[..carried]);
        of.results.len() == carried + more && given.is_some_and(alike)
    };
    let taken_over = |of: &Signature, k: usize| {
        let array = |(ty, taken): &(Type, bool)| ty.is_array() && *taken;
        k < *carries && of.params.get(2 + k).is_some_and(array)
    };
    *carries < 1 << 32
        && *state < 1 << 32
        && written.iter().all(|k| taken_over(advance, *k) && taken_over(record, *k))
        && hands_on(advance, 2, *carries, 2)
        && hands_on(record, 2, *carries, 3)
        && hands_on(reverse, 3, *state, 1)
        && record.params.len() == advance.params.len() + 1
        && unstep
            .iter()
            .all(|of| hands_on(of, 2, *carries, 0) && of.params.len() == advance.params.len())
        && free.iter().all(|k| k < carries)
        && reverse.params.len() > 3 + state
}

/// A range comes first, and everything else lies among the parameters and results.
fn fits_frame(frame: &Frame) -> bool {
    let Frame { params, results, arrays, ended, tape } = frame;
    let Some(end) = params.checked_add(*results) else { return false };
    let given = |at: usize, n: usize| at >= 2 && at.checked_add(n).is_some_and(|e| e <= *params);
    let back = |at: usize, n: usize| at >= *params && at.checked_add(n).is_some_and(|e| e <= end);
    *params >= 2
        && arrays.iter().all(|(from, to, n)| given(*from, *n) && back(*to, *n))
        && ended.is_none_or(|at| back(at, 2))
        && tape.is_none_or(|(from, to)| given(from, 1) && back(to, 1))
}

/// An operation on operands that it takes, as the verifier would have it.
fn fits_kernel(kernel: &Kernel) -> bool {
    let Kernel { work, args, result } = kernel;
    let op = match work {
        Work::Array(op) => Op::Array(op.clone()),
        Work::Fill | Work::Blank => Op::Fill,
        Work::Copy => Op::Copy,
        Work::Keep => Op::Array(ArrayOp::Slice),
    };
    let known = |ty: &Type| match ty {
        Type::Array(_, rank) => (1..=MAX_RANK).contains(&usize::from(*rank)),
        Type::Tape => false,
        _ => true,
    };
    let types: Vec<Type> = result.iter().copied().collect();
    args.iter().chain(&types).all(known)
        && matches!(infer::results(&op, args), Some(Ok(found)) if found == types)
}

/// What has a form in bytes.
trait Stored: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// Takes it off the front.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

impl Stored for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn get(from: &mut &[u8]) -> Option<u8> {
        from.split_off_first().copied()
    }
}

impl Stored for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<u32> {
        let (first, rest) = from.split_first_chunk()?;
        *from = rest;
        Some(u32::from_le_bytes(*first))
    }
}

impl Stored for usize {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend((*self as u64).to_le_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<usize> {
        let (first, rest) = from.split_first_chunk()?;
        *from = rest;
        usize::try_from(u64::from_le_bytes(*first)).ok()
    }
}

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn get(from: &mut &[u8]) -> Option<bool> {
        match u8::get(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend(self.as_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<String> {
        let length = usize::get(from)?;
        let text = from.split_off(..length)?;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl Stored for Arc<str> {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_string().put(out);
    }

    fn get(from: &mut &[u8]) -> Option<Arc<str>> {
        String::get(from).map(Arc::from)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|x| x.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<Option<T>> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|x| x.put(out));
    }

    fn get(from: &mut &[u8]) -> Option<Vec<T>> {
        let length = usize::get(from)?;
        // Nothing is smaller than a byte.
        (length <= from.len()).then(|| (0..length).map(|_| T::get(from)).collect())?
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<A: Stored, B: Stored, C: Stored> Stored for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn get(from: &mut &[u8]) -> Option<(A, B, C)> {
        Some((A::get(from)?, B::get(from)?, C::get(from)?))
    }
}

/// A row by its text, as in the IR.
impl Stored for ArrayOp {
    fn put(&self, out: &mut Vec<u8>) {
        self.name().to_string().put(out);
        self.attributes().put(out);
    }

    fn get(from: &mut &[u8]) -> Option<ArrayOp> {
        let (name, attributes) = <(String, String)>::get(from)?;
        let inner = attributes.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
        let inner: Vec<&str> = inner.map(|a| a.split(',').collect()).unwrap_or_default();
        let op = ArrayOp::from_text(&name, &inner).ok()??;
        (op.attributes() == attributes).then_some(op)
    }
}

/// The fields of a structure, one after the other. One that is not named here does not compile.
macro_rules! fields {
    ($name:ty { $($field:ident),* }) => {
        impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(out);)*
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                $(let $field = Stored::get(from)?;)*
                Some(Self { $($field),* })
            }
        }
    };
}

/// A number for each case of an enumeration, then what belongs to it.
macro_rules! cases {
    ($name:ty { $($tag:literal $case:ident $(($($field:ident),*))?),* }) => {
        impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$case $(($($field),*))? => {
                        out.push($tag);
                        $($($field.put(out);)*)?
                    })*
                }
            }

            fn get(from: &mut &[u8]) -> Option<Self> {
                Some(match u8::get(from)? {
                    $($tag => {
                        $($(let $field = Stored::get(from)?;)*)?
                        Self::$case $(($($field),*))?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

fields!(Tables { host, library, programs });
fields!(Tabled { framed, ways });
fields!(Ways<usize> {
    entries, plans, unsteps, pieces, shapes, sites, kernels, several_tapes, own_tape, max_loops
});
fields!(Shape {
    advance,
    record,
    reverse,
    unstep,
    free,
    apart,
    carries,
    written,
    state,
    adjoints,
    counted,
    cut_apart,
    beside,
    inside,
    counts_anew,
    span
});
fields!(Signature { params, results });
fields!(Pieces { forward, reverse, span });
fields!(Frame { params, results, arrays, ended, tape });
fields!(Site { kind, span, loops });
fields!(Span { start, end });
fields!(Kernel { work, args, result });
cases!(Work { 0 Array(op), 1 Fill, 2 Blank, 3 Copy, 4 Keep });
cases!(Type { 0 F64, 1 F32, 2 I64, 3 Bool, 4 Array(elem, rank), 5 Tape });
cases!(Elem { 0 F64, 1 F32, 2 I64, 3 Bool });
cases!(SiteKind {
    0 Index(array, axis),
    1 Kernel(name),
    2 Overflow,
    3 DivisionByZero,
    4 NegativeLength,
    5 Assert(message),
    6 IterationLimit,
    7 Record,
    8 TapeLimit,
    9 CallDepth,
    10 OutOfMemory,
    11 NoAddresses,
    12 Interrupted,
    13 Call
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jit;
    use wengert_core::ir::parse;
    use wengert_core::transform::{pipeline, vjp};

    /// Kernels, asserted conditions, indices, tapes, and a parallel loop, recorded and reversed.
    const TEXT: &str = "
        func @f(%x: [f64], %a: [[f64]], %n: i64) -> [f64] {
          %t = transpose[1,0] %a
          %z = fill %n, 0.0
          %y = gemm %z, %t, %x
          %out = fill %n, 0.0
          %ok = ilt 0, %n
          assert %ok, \"not empty\"
          %r = parallel for %i in 0..%n carry (%o = %out) {
            %v = load %y, %i
            %e = exp %v
            %k = imul %i, 3
            %u = load %x, %k
            %w = mul %e, %u
            %o1 = store %o, %i, %w
            yield %o1
          }
          return %r
        }";

    fn tables() -> Tables {
        let module = parse::module(TEXT).unwrap();
        let made = vjp::vjp(&pipeline::run(&module, "f").unwrap(), &[0, 1]).unwrap();
        let program = |module, entry: &str| {
            let printed = jit::print(module, &[entry], "p").unwrap();
            Tabled { framed: printed.framed.len(), ways: printed.ways }
        };
        let programs = vec![program(&module, "f"), program(&made, "f.vjp")];
        Tables { host: "some compiler".into(), library: "some key".into(), programs }
    }

    #[test]
    fn what_is_written_is_read() {
        let tables = tables();
        let ways = &tables.programs[1].ways;
        assert!(!ways.kernels.is_empty() && !ways.sites.is_empty());
        assert!(ways.pieces.iter().flatten().any(|p| p.forward.tape.is_some()));
        let bytes = tables.bytes();
        let read = Tables::read(&bytes, &[1, 1]).unwrap();
        assert_eq!(format!("{read:?}"), format!("{tables:?}"));
        assert_eq!(read.bytes(), bytes);
        // Of other programs.
        assert!(Tables::read(&bytes, &[1]).is_none());
        assert!(Tables::read(&bytes, &[1, 2]).is_none());
    }

    /// Whatever a byte is changed to, and wherever the bytes end: nothing, or tables that fit together.
    #[test]
    fn damaged_bytes_are_no_tables_or_others() {
        let bytes = tables().bytes();
        for end in 0..bytes.len() {
            assert!(Tables::read(&bytes[..end], &[1, 1]).is_none(), "{end}");
        }
        assert!(Tables::read(&[&bytes[..], &[0]].concat(), &[1, 1]).is_none());
        let (mut refused, mut taken) = (0, 0);
        for k in 0..bytes.len() {
            for change in [0x01, 0x04, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[k] ^= change;
                match Tables::read(&damaged, &[1, 1]) {
                    None => refused += 1,
                    // The text of a message, say.
                    Some(other) => {
                        assert!(other.bytes() == damaged, "{k}");
                        taken += 1;
                    }
                }
            }
        }
        assert!(refused > taken, "{refused} {taken}");
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let refused = |change: &dyn Fn(&mut Tables)| {
            let mut tables = tables();
            assert!(Tables::read(&tables.bytes(), &[1, 1]).is_some());
            change(&mut tables);
            assert!(Tables::read(&tables.bytes(), &[1, 1]).is_none());
        };
        refused(&|t| t.programs[0].framed = 0);
        refused(&|t| t.programs[1].ways.entries[0] = t.programs[1].framed);
        refused(&|t| t.programs[1].ways.plans[0].1 = 1000);
        refused(&|t| drop(t.programs[1].ways.pieces.pop()));
        refused(&|t| t.programs[1].ways.max_loops += 1);
        refused(&|t| t.programs[1].ways.max_loops = 0);
        fn frame(t: &mut Tables) -> &mut Frame {
            let pieces = t.programs[1].ways.pieces.iter_mut().flatten();
            &mut pieces.into_iter().find(|p| p.forward.tape.is_some()).unwrap().forward
        }
        refused(&|t| frame(t).params -= 1);
        refused(&|t| frame(t).results -= 1);
        refused(&|t| frame(t).results = usize::MAX);
        refused(&|t| frame(t).arrays[0].0 = 0);
        refused(&|t| frame(t).arrays[0].2 = usize::MAX);
        refused(&|t| frame(t).ended = Some(0));
        refused(&|t| frame(t).tape = Some((0, 0)));
        fn kernel(t: &mut Tables) -> &mut Kernel {
            let kernels = &mut t.programs[1].ways.kernels;
            let product = |k: &&mut Kernel| matches!(k.work, Work::Array(ArrayOp::Gemm(..)));
            kernels.iter_mut().find(product).unwrap()
        }
        refused(&|t| kernel(t).args.truncate(2));
        refused(&|t| kernel(t).args[1] = Type::F64);
        refused(&|t| kernel(t).args[1] = Type::Array(Elem::F64, 200));
        refused(&|t| kernel(t).args[1] = Type::Tape);
        refused(&|t| kernel(t).result = None);
        refused(&|t| kernel(t).work = Work::Copy);
    }
}
