//! The surface tree: modules, functions, statements and expressions, each with its span.
//!
//! It is neutral between languages and holds fewer concepts than any of them:
//!
//! - Library names are canonical ([`super::names`]): `np.arcsin`, `math.asin` and an imported
//!   `asin` are all `Builtin("asin")`. A [`Callee::Function`] or [`ExprKind::Name`] is never one.
//! - `a * b + c - d` is one node: operators applied from left to right, so that a long sum is not
//!   a deep tree.
//! - `elif` is an `If` in the `otherwise` block of an `If`; an absent `else` is an empty block.
//! - `range(n)` is written out as start, stop and step; `enumerate`, `zip` and `reversed` are forms of
//!   their own, and so is a loop over the items of an array.
//! - `x.sum(axis=0)` is a call of a method, `x.T` an attribute; neither is ever a library name.
//! - `a @ b` is a call of the builtin `matmul`.
//! - `return`, `return a` and `return a, b` are lists of zero, one and two values.
//!
//! Evaluation order is the source's: left to right, the right-hand side before the targets.
//! The tree is at most [`MAX_DEPTH`] nodes deep, so that walking it recursively is safe.

use crate::ops::Elem;
use crate::span::Span;
use std::sync::Arc;

/// The most statements and expressions on a path from a function to a leaf. Front ends refuse what
/// is deeper; at this depth a recursive walk fits the smallest default stack, 1 MiB, unoptimised.
pub const MAX_DEPTH: u32 = 100;

/// A source text: the functions and constants it defines, each in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The functions. No two have the same name, nor the name of a constant.
    pub functions: Vec<Function>,
    /// The values named outside functions.
    pub constants: Vec<Constant>,
    /// Variables from outside the text, which all functions read: parameters of the function that is lowered, after its own.
    pub captured: Vec<Param>,
}

impl Module {
    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name.text == name)
    }

    /// The constant of this name.
    pub fn constant(&self, name: &str) -> Option<&Constant> {
        self.constants.iter().find(|c| c.name.text == name)
    }
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name itself.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A value named outside functions, such as `g = 9.81`.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// Its value. It may name other constants of the module.
    pub value: Expr,
    /// The whole definition.
    pub span: Span,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters, all positional.
    pub params: Vec<Param>,
    /// What it does.
    pub body: Block,
    /// The whole definition.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its declared type, where there is one that says something about the value.
    pub annotation: Option<Annotation>,
    /// The lengths of an array's axes, as far as its type says them.
    pub lengths: Vec<Option<i64>>,
    /// Its value when the caller gives none: a literal, possibly negated.
    pub default: Option<Expr>,
    /// The whole parameter.
    pub span: Span,
}

/// A declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// What was declared.
    pub ty: DeclaredType,
    /// Where.
    pub span: Span,
}

/// The types that can be declared. Everything else about a type is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// A 64-bit float.
    F64,
    /// A 32-bit float.
    F32,
    /// A 64-bit integer.
    I64,
    /// True or false.
    Bool,
    /// An array, of any rank. Where no elements are declared, of whatever elements the argument has.
    Array(Option<Elem>),
    /// A list of numbers, or of lists of them: arithmetic on it is not arithmetic on its elements.
    List(Option<Elem>),
}

impl DeclaredType {
    /// Whether arguments are several numbers, and of which kind where that is declared.
    pub fn elements(self) -> Option<Option<Elem>> {
        match self {
            DeclaredType::Array(elements) | DeclaredType::List(elements) => Some(elements),
            _ => None,
        }
    }
}

/// Statements executed in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The whole statement, its blocks included.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `a = value`, or `a = b = value`: one value, assigned to each target from left to right.
    Assign {
        /// At least one target.
        targets: Vec<Target>,
        /// The value.
        value: Expr,
    },
    /// `target op= value`. The target is read and written once; it is not a tuple.
    AugAssign {
        /// What is updated.
        target: Target,
        /// The operation.
        op: BinaryOp,
        /// Its right operand.
        value: Expr,
    },
    /// `for target in iter`. What is iterated over is evaluated once, before the loop.
    For {
        /// What each item is assigned to. Assigning to it in the body does not change the iteration.
        target: Target,
        /// What is iterated over.
        iter: Box<Iter>,
        /// The body.
        body: Block,
    },
    /// `while cond`.
    While {
        /// Evaluated before every iteration.
        cond: Expr,
        /// The body.
        body: Block,
    },
    /// `if cond`.
    If {
        /// The condition.
        cond: Expr,
        /// Executed when it holds.
        then: Block,
        /// Executed when it does not.
        otherwise: Block,
    },
    /// Leaves the innermost loop. Always inside one.
    Break,
    /// Goes on with the next iteration of the innermost loop. Always inside one.
    Continue,
    /// Leaves the function with zero or more values. A tuple is its elements, except that a tuple
    /// of one element is one value, an [`ExprKind::Tuple`].
    Return {
        /// The values.
        values: Vec<Expr>,
    },
    /// Stops with an error unless the condition holds.
    Assert {
        /// The condition.
        cond: Expr,
        /// What to say.
        message: Option<String>,
    },
    /// Nothing.
    Pass,
    /// A call whose result is not used: an [`ExprKind::Call`].
    Call(Expr),
    /// A function defined inside another. It sees the variables around it as they are when it is called.
    Define(Arc<Function>),
}

/// What a `for` loop goes over.
#[derive(Clone, Debug, PartialEq)]
pub struct Iter {
    /// What it is.
    pub kind: IterKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of things a `for` loop goes over.
#[derive(Clone, Debug, PartialEq)]
pub enum IterKind {
    /// `range(start, stop, step)`.
    Range {
        /// The first value.
        start: Expr,
        /// The bound, not reached.
        stop: Expr,
        /// The increment, of either sign.
        step: Expr,
    },
    /// The items of an array along its first axis, or those of a tuple or a list.
    Items(Expr),
    /// `enumerate(of, start)`: pairs of a number and an item.
    Enumerate {
        /// What the items come from.
        of: Box<Iter>,
        /// The number of the first; 0 where none is given.
        start: Option<Expr>,
    },
    /// `zip(a, b, ...)`: tuples of items, as long as every one has some. At least one.
    Zip(Vec<Iter>),
    /// `reversed(of)`: the items from the last to the first.
    Reversed(Box<Iter>),
    /// `wengert.parallel(of)`: the iterations run in any order. A range, and around no other.
    Parallel(Box<Iter>),
}

/// What can be assigned to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A variable.
    Name(Name),
    /// `a, b`: the value is taken apart, element by element. Tuples nest.
    Tuple {
        /// The targets of the elements.
        elements: Vec<Target>,
        /// All of them.
        span: Span,
    },
    /// `base[i, j]`.
    Element {
        /// The array.
        base: Expr,
        /// At least one index.
        indices: Vec<Index>,
        /// The whole target.
        span: Span,
    },
}

impl Target {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Target::Name(name) => name.span,
            Target::Tuple { span, .. } | Target::Element { span, .. } => *span,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it stands, without parentheses around it.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A variable, a constant of the module, or a function passed by name.
    Name(String),
    /// A library name used as a value, by its canonical name: `pi`, `inf`, a type such as `float`.
    Builtin(String),
    /// One operand.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `first op a op b ...`: each operator is applied to all that is on its left, and to its
    /// operand: `[(Add, a), (Mul, b)]` is `(first + a) * b`. The first operand is never a `Binary`.
    Binary {
        /// The leftmost operand.
        first: Box<Expr>,
        /// At least one operator with the operand to its right.
        rest: Vec<(BinaryOp, Expr)>,
    },
    /// `first op a op b ...`: holds when every neighbouring pair does. Each operand is evaluated at
    /// most once, and none after the first pair that fails.
    Compare {
        /// The leftmost operand.
        first: Box<Expr>,
        /// At least one operator with the operand to its right.
        rest: Vec<(CompareOp, Expr)>,
    },
    /// `a and b and c`, or the same with `or`; evaluation stops at the operand that decides.
    Logical {
        /// Which of the two.
        op: LogicalOp,
        /// At least two operands.
        operands: Vec<Expr>,
    },
    /// `then if cond else otherwise`: only the chosen side is evaluated.
    Conditional {
        /// The condition.
        cond: Box<Expr>,
        /// The value when it holds.
        then: Box<Expr>,
        /// The value when it does not.
        otherwise: Box<Expr>,
    },
    /// A call.
    Call {
        /// What is called.
        callee: Callee,
        /// The arguments given by position.
        args: Vec<Expr>,
        /// The arguments given by name, after the others.
        keywords: Vec<Keyword>,
    },
    /// `base[i, j]`.
    Index {
        /// The array.
        base: Box<Expr>,
        /// At least one index.
        indices: Vec<Index>,
    },
    /// `(a, b)`. May be empty.
    Tuple(Vec<Expr>),
    /// `[a, b]`. May be empty.
    List(Vec<Expr>),
    /// `base.name`, of a value.
    Attribute {
        /// The value.
        base: Box<Expr>,
        /// The attribute.
        name: Name,
    },
    /// A function without a name: its body is one `return`.
    Lambda(Arc<Function>),
    /// Text, which only some library functions take, such as the formula of `einsum`.
    Text(String),
    /// `None`, which only some library functions take, such as an axis.
    None,
}

/// What can stand between the brackets of `x[...]`, separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// One place on an axis, or an array of places.
    At(Expr),
    /// `start:stop:step`.
    Slice {
        /// The first place.
        start: Option<Expr>,
        /// The bound, not reached.
        stop: Option<Expr>,
        /// The increment, of either sign.
        step: Option<Expr>,
        /// All of it.
        span: Span,
    },
    /// `None` or `np.newaxis`: a new axis of length 1.
    NewAxis(Span),
    /// `...`: all axes that no other index names. At most one.
    Rest(Span),
}

impl Index {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Index::At(e) => e.span,
            Index::Slice { span, .. } | Index::NewAxis(span) | Index::Rest(span) => *span,
        }
    }

    /// The expressions in it.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let parts = match self {
            Index::At(e) => [Some(e), None, None],
            Index::Slice { start, stop, step, .. } => {
                [start.as_ref(), stop.as_ref(), step.as_ref()]
            }
            Index::NewAxis(_) | Index::Rest(_) => [None; 3],
        };
        parts.into_iter().flatten()
    }
}

/// What a call calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A library function, by its canonical name. The span covers what was written, as in `np.sin`.
    Builtin(Name),
    /// A function of the module, one defined in the functions around, or a variable that holds one.
    Function(Name),
    /// A function that is somewhere else.
    External(Box<External>),
    /// `base.name(...)`: a method of a value.
    Method {
        /// The value.
        base: Box<Expr>,
        /// The method.
        name: Name,
    },
}

/// A function that is somewhere else, and what a call of it takes and gives: numbers, and arrays of a rank. Its value is its results, and
/// then what its written parameters come to. Arrays among these are written in place.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// What it is called in programs, and where that is written.
    pub name: Name,
    /// The parameters.
    pub params: Vec<(Elem, usize)>,
    /// The results.
    pub results: Vec<(Elem, usize)>,
    /// The parameters that are written, by number, in order.
    pub written: Vec<usize>,
}

/// An argument given by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// The parameter.
    pub name: Name,
    /// The argument.
    pub value: Expr,
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `+x`: the number itself.
    Plus,
    /// `not x`
    Not,
    /// `~x`
    Invert,
}

/// Operations of two operands. Division and remainder follow Python: `/` is true division, `//`
/// rounds down, `%` has the sign of the divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a // b`
    FloorDiv,
    /// `a % b`
    Rem,
    /// `a ** b`
    Pow,
    /// `a & b`
    BitAnd,
    /// `a | b`
    BitOr,
    /// `a ^ b`
    BitXor,
    /// `a << b`
    Shl,
    /// `a >> b`
    Shr,
}

impl BinaryOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
        }
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

impl CompareOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

/// The connectives that stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicalOp {
    /// `and`
    And,
    /// `or`
    Or,
}
