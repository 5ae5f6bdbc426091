//! What is known of the signs of a kernel's integers: divisors that are positive need no check, and dividends that are not negative
//! are divided as unsigned ones.

use aludel_ir::ScalarOp;
use aludel_ir::kernel::{KExpr, Kernel, Var};

/// Signs that hold whatever the launch, of the registers seen so far.
pub(super) struct Signs<'a> {
    kernel: &'a Kernel,
    positive: Vec<bool>,
    natural: Vec<bool>,
}

impl<'a> Signs<'a> {
    pub fn new(kernel: &'a Kernel) -> Self {
        let none = vec![false; kernel.vars.len()];
        Signs { kernel, positive: none.clone(), natural: none }
    }

    /// A register that is `e` from here on, or a loop's counter that goes up from `e`.
    pub fn fix(&mut self, v: Var, e: &KExpr) {
        let i = v.0 as usize;
        (self.positive[i], self.natural[i]) = (self.is_positive(e), self.is_natural(e));
    }

    /// Whether an integer is positive: sizes are, and what is made of them.
    pub fn is_positive(&self, e: &KExpr) -> bool {
        match e {
            KExpr::Lit(l) => l.value() > 0.0,
            // Sizes, which are two at least where they are symbols.
            KExpr::Param(p) => !self.kernel.buffers.iter().any(|b| b.offset == Some(*p)),
            KExpr::Var(v) => self.positive[v.0 as usize],
            KExpr::Scalar(ScalarOp::Add | ScalarOp::Mul | ScalarOp::Min, parts) => parts.iter().all(|p| self.is_positive(p)),
            KExpr::Scalar(ScalarOp::Max, parts) => parts.iter().any(|p| self.is_positive(p)),
            _ => false,
        }
    }

    /// Whether an integer is surely not negative: places, and index arithmetic on them, which does not overflow.
    pub fn is_natural(&self, e: &KExpr) -> bool {
        match e {
            KExpr::LocalId(_) | KExpr::WorkgroupId(_) => true,
            KExpr::Lit(l) => l.value() >= 0.0,
            KExpr::Var(v) => self.natural[v.0 as usize] || self.positive[v.0 as usize],
            KExpr::Scalar(ScalarOp::Add | ScalarOp::Mul | ScalarOp::Div | ScalarOp::Fmod | ScalarOp::Min, parts) => {
                parts.iter().all(|p| self.is_natural(p))
            }
            KExpr::Scalar(ScalarOp::Max, parts) => parts.iter().any(|p| self.is_natural(p)),
            KExpr::Scalar(ScalarOp::Select, parts) => parts[1..].iter().all(|p| self.is_natural(p)),
            _ => self.is_positive(e),
        }
    }
}
