//! Symbolic shapes: the symbols, what is known of them, and the guards under which a trace is valid.
//!
//! Tracing asks questions about sizes. [`ShapeEnv`] proves the answer from ranges where it can; otherwise it answers from
//! the hints (the sizes of the call being traced) and records a [`Guard`], so that another call with another answer
//! compiles anew instead of computing nonsense. Source of the scheme: PyTorch's `torch.fx.experimental.symbolic_shapes`.

use crate::dtype::DType;
use crate::expr::{Atom, AxisId, Dim, Expr, Ranges, Sym, write_expr};
use std::fmt;

/// A shape: one symbolic size for each dimension.
pub type Shape = Vec<Dim>;

/// Element type and shape of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    pub dtype: DType,
    pub shape: Shape,
}

impl TensorType {
    pub fn new(dtype: DType, shape: impl IntoIterator<Item = impl Into<Dim>>) -> Self {
        TensorType { dtype, shape: shape.into_iter().map(Into::into).collect() }
    }

    pub fn scalar(dtype: DType) -> Self {
        TensorType { dtype, shape: Vec::new() }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn numel(&self) -> Expr {
        Expr::product(&self.shape)
    }
}

/// One size symbol.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symbol {
    pub name: String,
    /// The size in the call that was traced.
    pub hint: i64,
    /// Inclusive range. Sizes 0 and 1 are never symbols: they broadcast and vanish, so a trace specialises on them.
    pub lo: i64,
    pub hi: i64,
    /// Where the size comes from, for messages: `arg 0 dim 1`.
    pub origin: String,
}

/// What must hold of an expression for a trace to be valid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    Zero,
    NonZero,
    NonNegative,
    Negative,
}

/// A recorded answer: `expr` relates to zero as stated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    pub expr: Expr,
    pub relation: Relation,
    /// The question that was asked, for the inspector.
    pub reason: String,
}

impl Guard {
    pub fn holds(&self, value: i64) -> bool {
        match self.relation {
            Relation::Zero => value == 0,
            Relation::NonZero => value != 0,
            Relation::NonNegative => value >= 0,
            Relation::Negative => value < 0,
        }
    }
}

/// The symbols of a graph and the guards recorded on them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShapeEnv {
    pub symbols: Vec<Symbol>,
    pub guards: Vec<Guard>,
}

impl ShapeEnv {
    /// A new symbol with the usual range: 2 up to 2^31-1.
    pub fn symbol(&mut self, name: impl Into<String>, hint: i64, origin: impl Into<String>) -> Sym {
        self.symbols.push(Symbol { name: name.into(), hint, lo: 2, hi: i32::MAX as i64, origin: origin.into() });
        Sym(self.symbols.len() as u32 - 1)
    }

    /// The value under the hints.
    pub fn hint(&self, e: &Expr) -> Option<i64> {
        e.eval(&|a| match a {
            Atom::Sym(s) => self.symbols.get(s.0 as usize).map(|s| s.hint),
            _ => None,
        })
    }

    /// The value under the hints, for cost models: an unknown counts as one.
    pub fn hint_or_one(&self, e: &Expr) -> i64 {
        self.hint(e).unwrap_or(1)
    }

    /// Whether two sizes are equal: proved, or answered from the hints and guarded.
    pub fn equal(&mut self, a: &Dim, b: &Dim, reason: &str) -> bool {
        let diff = a.sub(b);
        match diff.bounds(self) {
            (Some(0), Some(0)) => return true,
            (Some(lo), _) if lo > 0 => return false,
            (_, Some(hi)) if hi < 0 => return false,
            _ => {}
        }
        let answer = self.hint(&diff) == Some(0);
        self.record(diff, if answer { Relation::Zero } else { Relation::NonZero }, reason);
        answer
    }

    /// Whether `a >= b`: proved, or answered from the hints and guarded.
    pub fn at_least(&mut self, a: &Dim, b: &Dim, reason: &str) -> bool {
        let diff = a.sub(b);
        match diff.bounds(self) {
            (Some(lo), _) if lo >= 0 => return true,
            (_, Some(hi)) if hi < 0 => return false,
            _ => {}
        }
        let answer = self.hint(&diff).is_some_and(|d| d >= 0);
        self.record(diff, if answer { Relation::NonNegative } else { Relation::Negative }, reason);
        answer
    }

    fn record(&mut self, expr: Expr, relation: Relation, reason: &str) {
        let known = self.guards.iter().any(|g| g.expr == expr && g.relation == relation);
        if !known {
            self.guards.push(Guard { expr, relation, reason: reason.to_string() });
        }
    }

    /// The first guard that sizes (one for each symbol) break.
    pub fn broken_guard(&self, sizes: &[i64]) -> Option<&Guard> {
        let value = |a: &Atom| match a {
            Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
            _ => None,
        };
        self.guards.iter().find(|g| !g.expr.eval(&value).is_some_and(|v| g.holds(v)))
    }

    /// An expression with the symbols' names.
    pub fn show(&self, e: &Expr) -> String {
        let mut s = String::new();
        let name = |a: &Atom| match a {
            Atom::Sym(s) => self.symbols.get(s.0 as usize).map(|s| s.name.clone()),
            _ => None,
        };
        write_expr(e, &name, &mut s);
        s
    }

    pub fn show_shape(&self, shape: &[Dim]) -> String {
        format!("[{}]", shape.iter().map(|d| self.show(d)).collect::<Vec<_>>().join(", "))
    }

    pub fn show_type(&self, ty: &TensorType) -> String {
        format!("{}{}", ty.dtype, self.show_shape(&ty.shape))
    }

    /// A guard as text: `B - 64 == 0`.
    pub fn show_guard(&self, g: &Guard) -> String {
        let relation = match g.relation {
            Relation::Zero => "== 0",
            Relation::NonZero => "!= 0",
            Relation::NonNegative => ">= 0",
            Relation::Negative => "< 0",
        };
        format!("{} {relation}", self.show(&g.expr))
    }
}

impl Ranges for ShapeEnv {
    fn sym_range(&self, sym: Sym) -> (i64, i64) {
        self.symbols.get(sym.0 as usize).map_or((0, i64::MAX), |s| (s.lo, s.hi))
    }
    fn extent(&self, _: AxisId) -> Option<Expr> {
        None
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ShapeEnv::default().show_type(self))
    }
}
