//! The structure of derivatives: which entries of a Jacobian or Hessian can be other than zero, and how
//! few directional derivatives give all of them.
//!
//! A banded Jacobian of 10000 columns and bandwidth 3 does not take 10000 forward runs: columns that have
//! no row in common can share one seed, and three runs give every entry.
//!
//! Reading order: [`pattern`] (where the entries are), `set` (sets of input elements), `traced` and
//! `arrays` (values with what they depend on), `interactions` (which inputs meet in a nonlinear
//! operation), [`sparsity`] (the pattern of a program, by running it), `order` and [`colouring`] (who can
//! share a seed), [`compressed`] (all entries from the shared runs), [`step`] (one iteration of a loop as
//! a function of its own).
//!
//! ```
//! use wengert_core::check::{Derived, Interpreter};
//! use wengert_core::interp::Val;
//! use wengert_core::ir::parse;
//! use wengert_core::structure::{compressed, Plan};
//!
//! // One explicit step of the heat equation: y[i] = x[i] + (x[i-1] + x[i+1]) in the interior.
//! let module = parse::module(
//!     "func @heat(%x: [f64]) -> [f64] {
//!        %n = len %x
//!        %last = isub %n, 1
//!        %y0 = copy %x
//!        %y = for %i in 1..%last carry (%y1 = %y0) {
//!          %left = isub %i, 1
//!          %right = iadd %i, 1
//!          %a = load %x, %left
//!          %b = load %x, %i
//!          %c = load %x, %right
//!          %s = add %a, %c
//!          %t = add %b, %s
//!          %y2 = store %y1, %i, %t
//!          yield %y2
//!        }
//!        return %y
//!      }",
//! )?;
//! let derived = Derived::new(module.funcs[0].clone(), vec![0])?;
//! let args = [Val::array(vec![1.0; 100])];
//!
//! let plan = Plan::of(&derived, &args)?;
//! assert_eq!(plan.pattern().describe(), "banded, 1 below and 1 above");
//! assert_eq!(plan.runs(), 3);
//! let jacobian = compressed::jacobian_by(&plan, &derived, &mut Interpreter::default(), &args)?;
//! assert_eq!(jacobian.get(5, 4), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! References: Gebremedhin, Manne, Pothen, *What color is your Jacobian? Graph coloring for computing
//! derivatives*, SIAM Review 47 (2005), whose partial distance-2 and star colourings these are; Curtis,
//! Powell, Reid, *On the estimation of sparse Jacobian matrices* (1974), for sharing seeds; Coleman, Moré,
//! *Estimation of sparse Hessian matrices and graph coloring problems* (1984), for direct recovery of
//! symmetric ones; Matula, Beck, *Smallest-last ordering* (1983); Walther, *Computing sparse Hessians with
//! automatic differentiation* (2008), for index domains and nonlinear interactions.

mod arrays;
pub mod colouring;
pub mod compressed;
mod interactions;
mod order;
pub mod pattern;
mod set;
pub mod sparsity;
pub mod step;
mod traced;

pub use colouring::{Colouring, Direction, Order};
pub use compressed::{Plan, Sparse};
pub use pattern::Pattern;
pub use sparsity::{Choices, Sparsity};
pub use step::OneStep;
