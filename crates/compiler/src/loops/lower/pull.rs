//! Pulling: the value of a graph value at an index, as loop operations. Views become index arithmetic here.

use super::Lowering;
use crate::nest::NestBuilder;
use aludel_ir::expr::{Expr, Ranges};
use aludel_ir::graph::{Origin, ValueId};
use aludel_ir::loops::{LoopOp, ValId};
use aludel_ir::{DType, Error, Prim, Result, ScalarOp};
use rustc_hash::FxHashMap;

/// Pulls values into one nest.
pub(super) struct Puller<'a, 'g> {
    lw: &'a mut Lowering<'g>,
    pub b: NestBuilder,
    origins: Vec<Origin>,
    /// What was pulled already, by value, index and mask.
    seen: FxHashMap<(ValueId, Vec<Expr>, Option<ValId>), ValId>,
}

impl<'a, 'g> Puller<'a, 'g> {
    pub fn new(lw: &'a mut Lowering<'g>) -> Self {
        Puller { lw, b: NestBuilder::default(), origins: Vec::new(), seen: FxHashMap::default() }
    }

    pub fn done(self) -> (NestBuilder, Vec<Origin>) {
        (self.b, self.origins)
    }

    /// The element of `v` at `index`. Where `mask` is false nothing is read and the result does not matter.
    pub fn at(&mut self, v: ValueId, index: &[Expr], mask: Option<ValId>) -> Result<ValId> {
        let key = (v, index.to_vec(), mask);
        if let Some(x) = self.seen.get(&key) {
            return Ok(*x);
        }
        let x = self.pull(v, index, mask)?;
        self.seen.insert(key, x);
        Ok(x)
    }

    // Long: an arm for each prim.
    fn pull(&mut self, v: ValueId, index: &[Expr], mask: Option<ValId>) -> Result<ValId> {
        let ty = self.lw.graph.ty(v);
        if let Some(buffer) = self.lw.buffers[v.index()] {
            return Ok(self.b.push(LoopOp::Load { buffer, index: index.to_vec(), mask }, ty.dtype));
        }
        let Some((prim, x, origin)) = self.lw.prim(v) else {
            return Err(Error::verify(format!("value %{}", v.0), "has neither a buffer nor a prim that defines it"));
        };
        // Constants, counters and views are nobody's work: a kernel is not named after them.
        let works = !prim.is_view() && !matches!(prim, Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. });
        if works && !self.origins.contains(origin) {
            self.origins.push(origin.clone());
        }
        let shape_of = |v: ValueId| &self.lw.graph.ty(v).shape;
        match prim {
            Prim::Scalar(op) => {
                let args = x.iter().map(|a| self.at(*a, index, mask)).collect::<Result<Vec<_>>>()?;
                Ok(self.b.scalar(*op, &args))
            }
            Prim::Const(l) => Ok(self.b.push(LoopOp::Const(*l), l.dtype)),
            Prim::Size(e) => Ok(self.b.index(e.clone())),
            Prim::Iota { dim, dtype, .. } => {
                let i = self.b.index(index[*dim].clone());
                Ok(self.b.cast(i, *dtype))
            }
            Prim::Cast(d) => {
                let a = self.at(x[0], index, mask)?;
                Ok(self.b.cast(a, *d))
            }
            Prim::Bitcast(d) => {
                let a = self.at(x[0], index, mask)?;
                Ok(self.b.push(LoopOp::Bitcast(*d, a), *d))
            }
            Prim::Detach => self.at(x[0], index, mask),
            Prim::Reshape(to) => {
                let source = reshape_index(index, to, shape_of(x[0]), &self.lw.program);
                self.at(x[0], &source, mask)
            }
            Prim::Permute(perm) => {
                let mut source = vec![Expr::ZERO; perm.len()];
                for (d, p) in perm.iter().enumerate() {
                    source[*p] = index[d].clone();
                }
                self.at(x[0], &source, mask)
            }
            Prim::Expand(_) => {
                let source: Vec<Expr> =
                    shape_of(x[0]).iter().zip(index).map(|(d, i)| if d.is_one() { Expr::ZERO } else { i.clone() }).collect();
                self.at(x[0], &source, mask)
            }
            Prim::Slice { start, step, .. } => {
                let source: Vec<Expr> = (0..index.len()).map(|d| index[d].scale(step[d]).add(&start[d])).collect();
                self.at(x[0], &source, mask)
            }
            Prim::Flip(dims) => {
                let shape = shape_of(x[0]).clone();
                let mut source = index.to_vec();
                for d in dims {
                    source[*d] = shape[*d].sub(&Expr::ONE).sub(&index[*d]);
                }
                self.at(x[0], &source, mask)
            }
            Prim::Unfold { dim, step, dilation, .. } => {
                let (last, rest) = index.split_last().ok_or_else(|| Error::verify("unfold", "has no window dimension"))?;
                let mut source = rest.to_vec();
                source[*dim] = source[*dim].scale(*step).add(&last.scale(*dilation));
                self.at(x[0], &source, mask)
            }
            Prim::Pad { lo, hi, value } => self.padded(x[0], [lo, hi], *value, index, mask),
            Prim::Cat { dim } => self.joined(x, *dim, index, mask),
            Prim::Gather { dim } => self.gathered(x, *dim, index, mask),
            Prim::Reduce { .. }
            | Prim::Contract { .. }
            | Prim::Scan { .. }
            | Prim::ScatterAdd { .. }
            | Prim::Sort { .. }
            | Prim::Fft { .. }
            | Prim::Collective(_)
            | Prim::Attention(_)
            | Prim::AttentionBackward(_) => Err(Error::verify(format!("value %{}", v.0), format!("{} must have a buffer", prim.name()))),
        }
    }

    /// An element of a padded value: where it lies outside of what was padded, the filling.
    fn padded(
        &mut self,
        x: ValueId,
        [lo, hi]: [&[Expr]; 2],
        value: aludel_ir::Literal,
        index: &[Expr],
        mask: Option<ValId>,
    ) -> Result<ValId> {
        let shape = self.lw.graph.ty(x).shape.clone();
        let mut inside = None;
        let mut source = Vec::with_capacity(index.len());
        for d in 0..index.len() {
            let end = lo[d].add(&shape[d]);
            // Where a dimension is as it was, an index is in it wherever it is read at all.
            if !(lo[d].is_zero() && hi[d].is_zero())
                && let Some(c) = self.b.in_range(&index[d], &lo[d], &end, &self.lw.program)
            {
                inside = Some(self.b.and(inside, c));
            }
            source.push(index[d].sub(&lo[d]));
        }
        let Some(inside) = inside else { return self.at(x, &source, mask) };
        let guard = self.b.and(mask, inside);
        let a = self.at(x, &source, Some(guard))?;
        let fill = self.b.push(LoopOp::Const(value), value.dtype);
        Ok(self.b.scalar(ScalarOp::Select, &[inside, a, fill]))
    }

    /// An element of values joined along a dimension.
    fn joined(&mut self, x: &[ValueId], dim: usize, index: &[Expr], mask: Option<ValId>) -> Result<ValId> {
        // From the last piece backwards: select(i < end of piece, piece, the rest).
        let mut ends = vec![Expr::ZERO];
        for p in x {
            let end = ends[ends.len() - 1].add(&self.lw.graph.ty(*p).shape[dim]);
            ends.push(end);
        }
        let mut out: Option<ValId> = None;
        for (k, p) in x.iter().enumerate().rev() {
            let mut source = index.to_vec();
            source[dim] = index[dim].sub(&ends[k]);
            let within = self.b.in_range(&index[dim], &ends[k], &ends[k + 1], &self.lw.program);
            let guard = within.map(|w| self.b.and(mask, w)).or(mask);
            let a = self.at(*p, &source, guard)?;
            out = Some(match (out, within) {
                (Some(rest), Some(w)) => self.b.scalar(ScalarOp::Select, &[w, a, rest]),
                (_, None) | (None, _) => a,
            });
        }
        out.ok_or_else(|| Error::verify("cat", "joins nothing"))
    }

    /// An element at an index that is data.
    fn gathered(&mut self, x: &[ValueId], dim: usize, index: &[Expr], mask: Option<ValId>) -> Result<ValId> {
        let i = self.at(x[1], index, mask)?;
        let i = self.b.cast(i, DType::I32);
        let size = self.lw.graph.ty(x[0]).shape[dim].clone();
        if size.is_zero() {
            // There is no element: whatever asks for one gets zero.
            let dtype = self.lw.graph.ty(x[0]).dtype;
            return Ok(self.b.constant(0.0, dtype));
        }
        // An index out of range reads the nearest element: defined on every target, never a wild read.
        let i = self.b.clamp_index(i, &size);
        let mut source = index.to_vec();
        source[dim] = Expr::value(i.0);
        self.at(x[0], &source, mask)
    }
}

/// The index into `from` of the element at `index` of `to`, two shapes of as many elements. Dimensions are matched in the
/// smallest groups of equal products, so that a split or merged dimension does not disturb its neighbours.
pub(crate) fn reshape_index(index: &[Expr], to: &[Expr], from: &[Expr], ranges: &dyn Ranges) -> Vec<Expr> {
    let mut out = vec![Expr::ZERO; from.len()];
    let (mut i, mut j) = (0, 0);
    while i < to.len() || j < from.len() {
        // Sizes of one hold no information.
        if j < from.len() && from[j].is_one() {
            j += 1;
            continue;
        }
        if i < to.len() && to[i].is_one() {
            i += 1;
            continue;
        }
        let (i0, j0) = (i, j);
        let (mut pi, mut pj) = (Expr::ONE, Expr::ONE);
        loop {
            if pi == pj && i > i0 && j > j0 {
                break;
            }
            // Grow the side that divides the other; where neither does, take everything.
            let grow_to = if i == to.len() {
                false
            } else if j == from.len() {
                true
            } else {
                match (pi.as_const(), pj.as_const()) {
                    (Some(a), Some(b)) => a <= b,
                    _ => pj.exact_div(&pi).is_some() || pi.exact_div(&pj).is_none(),
                }
            };
            if grow_to {
                pi = pi.mul(&to[i]);
                i += 1;
            } else if j < from.len() {
                pj = pj.mul(&from[j]);
                j += 1;
            } else {
                break;
            }
        }
        let mut flat = Expr::ZERO;
        for d in i0..i {
            flat = flat.mul(&to[d]).add(&index[d]);
        }
        for d in (j0..j).rev() {
            if d == j0 {
                out[d] = flat.clone();
            } else {
                out[d] = flat.modulo(&from[d], ranges);
                flat = flat.floordiv(&from[d], ranges);
            }
        }
    }
    out
}
