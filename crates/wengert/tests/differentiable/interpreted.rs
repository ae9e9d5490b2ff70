//! Rust text on the way of `#[differentiable]`, but for its last step: the programs are interpreted.

use wengert_core::interp::{Interp, Val};
use wengert_core::ir::{Module, Type};
use wengert_core::lower;
use wengert_core::ops::{Array, Data, Elem, Scalar};
use wengert_core::surface::rust::{self, Mode, Parsed, RustType, Signature};
use wengert_core::transform::{derivative, jvp, pipeline, vjp};

/// The functions of a module that the attribute stands before.
pub(crate) struct Source {
    parsed: Parsed,
}

impl Source {
    /// Reads the functions inside the only module of a file.
    pub(crate) fn new(file: &str) -> Source {
        let module = file.find("mod ").expect("a module");
        let first = module + file[module..].find('{').expect("a body") + 1;
        let last = file.rfind('}').expect("an end");
        let parsed = rust::parse(&file[first..last]).unwrap_or_else(|e| panic!("{e:?}"));
        Source { parsed }
    }

    /// A function and its derivatives.
    pub(crate) fn program(&self, name: &str) -> Program<'_> {
        let signature = self.parsed.signature(name).unwrap_or_else(|| panic!("no `{name}`"));
        let leaves: Vec<Leaf> = signature
            .params
            .iter()
            .map(|p| {
                let elem = p.ty.scalar().expect("a number or an array");
                let diff = elem.is_float() && !p.nondiff;
                Leaf { elem, rank: p.ty.rank(), diff, written: p.mode == Mode::RefMut }
            })
            .collect();
        let args: Vec<Type> = leaves.iter().map(|leaf| Type::of(leaf.elem, leaf.rank)).collect();
        let wrt: Vec<usize> = (0..leaves.len()).filter(|k| leaves[*k].diff).collect();
        let told = |e: wengert_core::span::Diagnostic| panic!("{name}: {e:?}");
        let lowered = lower::lower(&self.parsed.module, name, &args);
        let lowered = lowered.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let primal = pipeline::module(&lowered, name).unwrap_or_else(told);
        Program {
            name: name.into(),
            signature,
            forward: jvp::in_module(&primal, name, &wrt, 1).unwrap_or_else(told),
            reverse: vjp::in_module(&primal, name, &wrt).unwrap_or_else(told),
            second: derivative::products(&primal, name, &wrt, &wrt).unwrap_or_else(told),
            primal,
            leaves,
        }
    }
}

/// A parameter.
pub(crate) struct Leaf {
    elem: Elem,
    rank: usize,
    /// Whether it is differentiated by.
    pub(crate) diff: bool,
    /// Whether it is `&mut`.
    pub(crate) written: bool,
}

/// A function and its derivatives, as programs.
pub(crate) struct Program<'s> {
    name: String,
    signature: &'s Signature,
    pub(crate) leaves: Vec<Leaf>,
    primal: Module,
    forward: Module,
    reverse: Module,
    second: Module,
}

/// Numbers in a shape.
pub(crate) type Given<'a> = (&'a [usize], &'a [f64]);

impl Program<'_> {
    /// Arguments of the function.
    fn args(&self, given: &[Given<'_>]) -> Vec<Val> {
        assert_eq!(given.len(), self.leaves.len());
        let leaves = given.iter().zip(&self.leaves);
        leaves.map(|((shape, data), leaf)| val(leaf.elem, shape, data)).collect()
    }

    /// Directions of those arguments that are differentiated by.
    fn along(&self, given: &[Given<'_>]) -> Vec<Val> {
        let leaves = given.iter().zip(&self.leaves).filter(|(_, leaf)| leaf.diff);
        leaves.map(|((shape, data), leaf)| val(leaf.elem, shape, data)).collect()
    }

    /// Adjoints of the result and of what is written.
    fn adjoints(&self, result: Given<'_>, given: &[Given<'_>]) -> Vec<Val> {
        let (shape, mut data) = result;
        let mut all = Vec::new();
        for ty in self.signature.result.leaves() {
            let count = if ty.rank() == 0 { 1 } else { data.len() };
            let (own, rest) = data.split_at(count);
            let shape = if ty.rank() == 0 { &[][..] } else { shape };
            all.push(val(Elem::F64, shape, own));
            data = rest;
        }
        let written = given.iter().zip(&self.leaves).filter(|(_, leaf)| leaf.written);
        all.extend(written.map(|((shape, data), leaf)| val(leaf.elem, shape, data)));
        all
    }

    /// The numbers of all results.
    fn run(&self, module: &Module, entry: &str, given: Vec<Val>) -> Vec<f64> {
        let func = module.func(entry).unwrap_or_else(|| panic!("no {entry}"));
        let mut given = given.into_iter();
        let args = func.param_types().into_iter().map(|ty| match ty {
            Type::Tape => Val::tape(),
            _ => given.next().unwrap(),
        });
        let ran = Interp::new(module).call(entry, args.collect());
        let ran = ran.unwrap_or_else(|fault| panic!("{entry}: {fault:?}"));
        ran.iter().flat_map(numbers).collect()
    }

    /// Result, then what is written.
    pub(crate) fn value(&self, args: &[Given<'_>]) -> Vec<f64> {
        self.run(&self.primal, &self.name, self.args(args))
    }

    /// The value, then tangents of the same.
    pub(crate) fn jvp(&self, args: &[Given<'_>], along: &[Given<'_>]) -> Vec<f64> {
        let given = [self.args(args), self.along(along)].concat();
        self.run(&self.forward, &jvp::name(&self.name, 1), given)
    }

    /// The value, then adjoints of what it is differentiated by.
    pub(crate) fn vjp(
        &self,
        args: &[Given<'_>],
        result: Given<'_>,
        bars: &[Given<'_>],
    ) -> Vec<f64> {
        let given = [self.args(args), self.adjoints(result, bars)].concat();
        self.run(&self.reverse, &format!("{}.vjp", self.name), given)
    }

    /// The value, adjoints, tangents of the value, and those of the adjoints.
    pub(crate) fn products(
        &self,
        args: &[Given<'_>],
        result: Given<'_>,
        bars: &[Given<'_>],
        along: &[Given<'_>],
    ) -> Vec<f64> {
        let given = [self.args(args), self.adjoints(result, bars), self.along(along)].concat();
        self.run(&self.second, &format!("{}.vjp.jvp", self.name), given)
    }

    /// Whether the result is one float.
    pub(crate) fn is_scalar(&self) -> bool {
        self.signature.result == RustType::F64
    }

    /// Whether there is no result.
    pub(crate) fn is_unit(&self) -> bool {
        self.signature.result == RustType::Unit
    }
}

fn val(elem: Elem, shape: &[usize], data: &[f64]) -> Val {
    let shaped = |data| Val::shaped(Array { shape: shape.to_vec(), data });
    match (elem, shape) {
        (Elem::I64, []) => Val::i64(data[0] as i64),
        (Elem::F64, []) => Val::f64(data[0]),
        (Elem::I64, _) => shaped(Data::I64(data.iter().map(|x| *x as i64).collect())),
        (Elem::F64, _) => shaped(Data::F64(data.to_vec())),
        (other, _) => panic!("numbers of {other:?}"),
    }
}

fn numbers(val: &Val) -> Vec<f64> {
    let number = |x: Scalar| match x {
        Scalar::F64(x) => x,
        other => panic!("{other:?}"),
    };
    match val {
        Val::Scalar(x) => vec![number(*x)],
        Val::Array(x) => x.scalars().map(number).collect(),
        Val::Tape(_) => Vec::new(),
    }
}
