//! Building nests: hash-consed loop operations.

use aludel_ir::expr::{Atom, AxisId, Expr, Ranges};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::order::Order;
use aludel_ir::{DType, Literal, ScalarOp};
use rustc_hash::FxHashMap;

/// A nest under construction; equal operations become one.
#[derive(Default)]
pub struct NestBuilder {
    pub nest: Nest,
    seen: FxHashMap<(LoopOp, DType), ValId>,
}

impl NestBuilder {
    /// Continues an existing nest.
    pub fn resume(nest: Nest) -> Self {
        let seen = nest.ops.iter().enumerate().map(|(i, op)| (op.clone(), ValId(i as u32))).collect();
        NestBuilder { nest, seen }
    }

    pub fn push(&mut self, op: LoopOp, dtype: DType) -> ValId {
        if let Some(v) = self.seen.get(&(op.clone(), dtype)) {
            return *v;
        }
        let v = ValId(self.nest.ops.len() as u32);
        self.nest.ops.push((op.clone(), dtype));
        self.seen.insert((op, dtype), v);
        v
    }

    pub fn constant(&mut self, value: f64, dtype: DType) -> ValId {
        self.push(LoopOp::Const(Literal::new(value, dtype)), dtype)
    }

    pub fn index(&mut self, e: Expr) -> ValId {
        match e.as_const() {
            Some(c) => self.constant(c as f64, DType::I32),
            None => self.push(LoopOp::Index(e), DType::I32),
        }
    }

    pub fn scalar(&mut self, op: ScalarOp, args: &[ValId]) -> ValId {
        let types: Vec<DType> = args.iter().map(|v| self.nest.dtype(*v)).collect();
        // The operands were typed as prims; a mismatch here would be a bug of lowering and is caught by verify().
        let dtype = op.result_dtype(&types).unwrap_or(types[0]);
        self.push(LoopOp::Scalar(op, args.to_vec()), dtype)
    }

    pub fn cast(&mut self, v: ValId, dtype: DType) -> ValId {
        if self.nest.dtype(v) == dtype { v } else { self.push(LoopOp::Cast(dtype, v), dtype) }
    }

    /// `lo <= e < hi` as a bool; `None` where it always holds.
    pub fn in_range(&mut self, e: &Expr, lo: &Expr, hi: &Expr, ranges: &dyn Ranges) -> Option<ValId> {
        let mut cond = None;
        if !matches!(e.sub(lo).bounds(ranges), (Some(l), _) if l >= 0) {
            let (a, b) = (self.index(e.clone()), self.index(lo.clone()));
            cond = Some(self.scalar(ScalarOp::Ge, &[a, b]));
        }
        if !e.sub(lo).within(&hi.sub(lo), ranges) {
            let (a, b) = (self.index(e.clone()), self.index(hi.clone()));
            let below = self.scalar(ScalarOp::Lt, &[a, b]);
            cond = Some(self.and(cond, below));
        }
        cond
    }

    /// An index that data gave, moved into `0..size`. Zero comes last, so that no size, not even one of zero, leaves it negative.
    pub fn clamp_index(&mut self, i: ValId, size: &Expr) -> ValId {
        let (zero, last) = (self.constant(0.0, DType::I32), self.index(size.sub(&Expr::ONE)));
        let i = self.scalar(ScalarOp::Min, &[i, last]);
        self.scalar(ScalarOp::Max, &[i, zero])
    }

    /// The conjunction of an optional mask and a condition.
    pub fn and(&mut self, mask: Option<ValId>, cond: ValId) -> ValId {
        match mask {
            None => cond,
            Some(m) if m == cond => m,
            Some(m) => self.scalar(ScalarOp::And, &[m, cond]),
        }
    }

    /// Copies an operation of another nest: axes are replaced by expressions, operands by what they became here.
    pub fn import(&mut self, op: &LoopOp, dtype: DType, axes: &FxHashMap<AxisId, Expr>, values: &[ValId], ranges: &dyn Ranges) -> ValId {
        let expr = |e: &Expr| rename(e, axes, Some(values), ranges);
        let at = |v: &ValId| values[v.0 as usize];
        let op = match op {
            LoopOp::Const(_) => op.clone(),
            LoopOp::Index(e) => return self.index(expr(e)),
            LoopOp::Load { buffer, index, mask } => {
                LoopOp::Load { buffer: *buffer, index: index.iter().map(expr).collect(), mask: mask.as_ref().map(at) }
            }
            LoopOp::Scalar(s, args) => LoopOp::Scalar(*s, args.iter().map(at).collect()),
            LoopOp::Cast(d, v) => LoopOp::Cast(*d, at(v)),
            LoopOp::Bitcast(d, v) => LoopOp::Bitcast(*d, at(v)),
            LoopOp::Reduce { op, axes: over, value } => {
                // A reduced axis is renamed to axes: the product of a split one, in order.
                let mut renamed = Vec::new();
                for a in over {
                    match axes.get(a) {
                        Some(e) => renamed.extend(split_order(e)),
                        None => renamed.push(*a),
                    }
                }
                LoopOp::Reduce { op: *op, axes: renamed, value: at(value) }
            }
        };
        self.push(op, dtype)
    }

    /// Copies all operations of another nest, but for those that `stored` says to be here already; gives what each became.
    pub fn import_all(
        &mut self,
        nest: &Nest,
        axes: &FxHashMap<AxisId, Expr>,
        stored: impl Fn(&LoopOp) -> Option<ValId>,
        ranges: &dyn Ranges,
    ) -> Vec<ValId> {
        let mut values = Vec::with_capacity(nest.ops.len());
        for (op, dtype) in &nest.ops {
            let v = stored(op).unwrap_or_else(|| self.import(op, *dtype, axes, &values, ranges));
            values.push(v);
        }
        values
    }
}

/// The axes of an expression that replaces one axis, outermost first: `i*32 + j` gives `[i, j]`.
pub fn split_order(e: &Expr) -> Vec<AxisId> {
    let mut out: Vec<(AxisId, Expr)> = e.axes().into_iter().map(|a| (a, e.coefficient(a).unwrap_or(Expr::ONE))).collect();
    // Larger strides first. Strides of a split are products of one another, so comparing by divisibility is total.
    out.order_by(|(_, x), (_, y)| match (x.exact_div(y), y.exact_div(x)) {
        (Some(_), Some(_)) | (None, None) => std::cmp::Ordering::Equal,
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
    });
    out.into_iter().map(|(a, _)| a).collect()
}

/// Replaces axes, and values where given, in an expression.
pub fn rename(e: &Expr, axes: &FxHashMap<AxisId, Expr>, values: Option<&[ValId]>, ranges: &dyn Ranges) -> Expr {
    e.subst(ranges, &mut |a| match a {
        Atom::Axis(x) => axes.get(x).cloned(),
        Atom::Value(v) => values.map(|m| Expr::value(m[*v as usize].0)),
        _ => None,
    })
}
