//! Whether two functions are the same code.

use super::func::{Block, Func, Inst, Value};
use rustc_hash::FxHashMap as HashMap;

impl Func {
    /// Whether the code is that of another function: the same instructions on the same operands, whatever
    /// values are called and wherever they come from.
    ///
    /// ```
    /// use wengert_core::ir::parse;
    ///
    /// let text = "func @f(%x: f64) -> f64 { %y = sin %x  return %y }
    ///             func @g(%a: f64) -> f64 { %b = sin %a  return %b }
    ///             func @h(%x: f64) -> f64 { %y = cos %x  return %y }";
    /// let module = parse::module(text)?;
    /// assert!(module.funcs[0].has_code_of(&module.funcs[1]));
    /// assert!(!module.funcs[0].has_code_of(&module.funcs[2]));
    /// # Ok::<(), wengert_core::span::Diagnostic>(())
    /// ```
    pub fn has_code_of(&self, other: &Func) -> bool {
        let mut pairs = Pairs { funcs: (self, other), of: HashMap::default() };
        self.results == other.results && pairs.blocks(&self.body, &other.body)
    }
}

/// The values of one function and those of the other that stand for them.
struct Pairs<'f> {
    funcs: (&'f Func, &'f Func),
    of: HashMap<Value, Value>,
}

impl Pairs<'_> {
    fn define(&mut self, here: &[Value], there: &[Value]) -> bool {
        let same = |(a, b): (&Value, &Value)| self.funcs.0.ty(*a) == self.funcs.1.ty(*b);
        let fits = here.len() == there.len() && here.iter().zip(there).all(same);
        self.of.extend(here.iter().copied().zip(there.iter().copied()));
        fits
    }

    fn uses(&self, here: &[Value], there: &[Value]) -> bool {
        let (f, g) = self.funcs;
        let same = |(a, b): (&Value, &Value)| match (f.as_const(*a), g.as_const(*b)) {
            (None, None) => self.of.get(a) == Some(b),
            (a, b) => a == b,
        };
        here.len() == there.len() && here.iter().zip(there).all(same)
    }

    fn blocks(&mut self, here: &Block, there: &Block) -> bool {
        self.define(&here.params, &there.params)
            && (here.parallel, here.numbering) == (there.parallel, there.numbering)
            && here.insts.len() == there.insts.len()
            && here.insts.iter().zip(&there.insts).all(|(a, b)| self.insts(a, b))
            && self.uses(&here.yields, &there.yields)
    }

    fn insts(&mut self, here: &Inst, there: &Inst) -> bool {
        here.op == there.op
            && self.uses(&here.args, &there.args)
            && here.blocks.len() == there.blocks.len()
            && here.blocks.iter().zip(&there.blocks).all(|(a, b)| self.blocks(a, b))
            && self.define(&here.results, &there.results)
    }
}
