//! Attention as prims: what a template computes in one kernel without writing the scores, and what it means in other prims.
//!
//! With s = scale q k^T, p = softmax(s) over the keys that a row sees and d what dropout leaves (0 or 1 / (1 - p)), the results
//! are (p d) v and the logarithm of the softmax's denominator. The backward prim computes p again from the logarithm, as in
//! T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023. A key that a row does not
//! see has weight zero, exactly; a row that sees none gives zero.

use crate::build::Builder;
use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::graph::ValueId;
use crate::prim::Prim;
use crate::scalar::ScalarOp;
use crate::shape::{Shape, ShapeEnv, TensorType};

/// Stands for minus infinity: targets may assume that infinities are absent. A mask that adds this or less hides a key.
pub const HIDDEN: f64 = -1e30;

/// What the attention prims compute.
///
/// Forward: `(q, k, v)` to (result, log-sum-exp), with q `[batch.., group, L, E]`, k `[batch.., S, E]`, v `[batch.., S, Ev]`; the
/// result is `[batch.., group, L, Ev]`, the logarithms f32 `[batch.., group, L]`. Backward: `(q, k, v, dout, lse, delta)` to
/// (dq, dk, dv), where delta `[batch.., group, L]` is f32: the sums of dout times the result over the last dimension, less the
/// gradient of the logarithms. Both take the mask and the dropout factors after these, where there are any:
/// `[batch.., group, L, S]`, a mask of bool (true is seen) or of floats (added).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attention {
    /// What q k^T is multiplied by.
    pub scale: Literal,
    /// Row i sees the keys up to i.
    pub causal: bool,
    pub mask: bool,
    pub dropout: bool,
}

impl Attention {
    /// Operands before the mask.
    const FORWARD: usize = 3;
    const BACKWARD: usize = 6;

    pub fn operands(&self, backward: bool) -> usize {
        (if backward { Self::BACKWARD } else { Self::FORWARD }) + self.mask as usize + self.dropout as usize
    }

    /// The mask among the operands.
    pub fn mask_of<T: Copy>(&self, x: &[T], backward: bool) -> Option<T> {
        let at = if backward { Self::BACKWARD } else { Self::FORWARD };
        self.mask.then(|| x.get(at).copied()).flatten()
    }

    /// The dropout factors among the operands.
    pub fn dropout_of<T: Copy>(&self, x: &[T]) -> Option<T> {
        self.dropout.then(|| x.last().copied()).flatten()
    }

    pub(crate) fn infer(&self, args: &[&TensorType], backward: bool, env: &mut ShapeEnv) -> std::result::Result<Vec<TensorType>, String> {
        let (q, k, v) = (args[0], args[1], args[2]);
        let n = k.rank().saturating_sub(2);
        if k.rank() < 2 || q.rank() != n + 3 || v.rank() != n + 2 {
            return Err("attention takes a query [batch.., group, L, E], a key [batch.., S, E] and a value [batch.., S, Ev]".into());
        }
        if !q.dtype.is_float() || k.dtype != q.dtype || v.dtype != q.dtype {
            return Err("query, key and value share one float type".into());
        }
        let (rows, keys, features, width) = (&q.shape[..n + 2], &k.shape[n], &q.shape[n + 2], &v.shape[n + 1]);
        let mut same = |shape: &[crate::expr::Dim], want: &[crate::expr::Dim], what: &str| -> std::result::Result<(), String> {
            let equal = shape.len() == want.len() && shape.iter().zip(want).all(|(a, b)| a == b || env.equal(a, b, what));
            if equal { Ok(()) } else { Err(format!("{what}: {} and {}", env.show_shape(shape), env.show_shape(want))) }
        };
        let with = |shape: &[crate::expr::Dim], last: &crate::expr::Dim| -> Shape { shape.iter().chain([last]).cloned().collect() };
        same(&k.shape, &with(&with(&q.shape[..n], keys), features), "the key fits the query")?;
        same(&v.shape[..n + 1], &with(&q.shape[..n], keys), "the value fits the key")?;
        let (out, square) = (with(rows, width), with(rows, keys));
        if backward {
            same(&args[3].shape, &out, "the gradient has the result's shape")?;
            same(&args[4].shape, rows, "one logarithm for each row")?;
            same(&args[5].shape, rows, "one delta for each row")?;
            if args[3].dtype != q.dtype || args[4].dtype != DType::F32 || args[5].dtype != DType::F32 {
                return Err("the gradient has the query's type, logarithms and deltas are f32".into());
            }
        }
        if let Some(m) = self.mask_of(args, backward) {
            same(&m.shape, &square, "the mask has the scores' shape")?;
            if m.dtype != DType::Bool && !m.dtype.is_float() {
                return Err("a mask is of bool or of floats".into());
            }
        }
        if let Some(d) = self.dropout_of(args) {
            same(&d.shape, &square, "the dropout factors have the scores' shape")?;
            if !d.dtype.is_float() {
                return Err("dropout factors are floats".into());
            }
        }
        let ty = |dtype, shape: Shape| TensorType { dtype, shape };
        Ok(if backward { vec![q.clone(), k.clone(), v.clone()] } else { vec![ty(q.dtype, out), ty(DType::F32, rows.to_vec())] })
    }

    fn batch(b: &Builder, k: ValueId) -> Vec<(usize, usize)> {
        (0..b.rank(k) - 2).map(|d| (d, d)).collect()
    }

    /// The scores of a prim's operands in f32, and which keys a row sees where not all.
    fn scores(&self, b: &mut Builder, x: &[ValueId], backward: bool) -> Result<(ValueId, Option<ValueId>)> {
        let (q, k) = (x[0], x[1]);
        let (rq, rk) = (b.rank(q), b.rank(k));
        let s = b.contract(q, k, &Self::batch(b, k), &[(rq - 1, rk - 1)])?;
        let s = b.cast(s, DType::F32)?;
        let mut s = b.mul_scalar(s, self.scale.value())?;
        let mut seen = None;
        if self.causal {
            let shape = b.shape(s);
            let square = &shape[rq - 2..];
            let (row, column) = (b.iota(square, 0)?, b.iota(square, 1)?);
            let below = b.binary(ScalarOp::Ge, row, column)?;
            seen = Some(b.broadcast_to(below, &shape)?);
        }
        if let Some(m) = self.mask_of(x, backward) {
            let keep = if b.dtype(m) == DType::Bool {
                m
            } else {
                let m = b.cast(m, DType::F32)?;
                let bounded = b.scalar(ScalarOp::Max, m, HIDDEN)?;
                s = b.add(s, bounded)?;
                b.scalar(ScalarOp::Gt, m, HIDDEN)?
            };
            seen = Some(match seen {
                Some(other) => b.binary(ScalarOp::And, other, keep)?,
                None => keep,
            });
        }
        Ok((s, seen))
    }

    /// The forward prim's results in other prims.
    pub fn decompose(&self, b: &mut Builder, x: &[ValueId]) -> Result<Vec<ValueId>> {
        let v = x[2];
        let (mut s, seen) = self.scores(b, x, false)?;
        let last = b.rank(s) - 1;
        let square = b.shape(s);
        if let Some(seen) = seen {
            let low = b.full_like(s, HIDDEN)?;
            s = b.select(seen, s, low)?;
        }
        // The softmax does not depend on what it is shifted by.
        let keyless = square[last].is_zero();
        // There is no maximum over no keys, and nothing to shift by it.
        let m = if keyless { b.sum(s, &[last], true)? } else { b.reduce(crate::prim::ReduceOp::Max, s, &[last], true)? };
        let m = b.prim(Prim::Detach, &[m])?;
        let wide = b.broadcast_to(m, &square)?;
        let d = b.sub(s, wide)?;
        let mut e = b.unary(ScalarOp::Exp, d)?;
        if let Some(seen) = seen {
            let zero = b.zeros_like(e)?;
            e = b.select(seen, e, zero)?;
        }
        let mut l = b.sum(e, &[last], true)?;
        let mut none = None;
        if seen.is_some() || keyless {
            let empty = b.scalar(ScalarOp::Eq, l, 0.0)?;
            let one = b.full_like(l, 1.0)?;
            l = b.select(empty, one, l)?;
            none = Some(empty);
        }
        let wide = b.broadcast_to(l, &square)?;
        let mut p = b.div(e, wide)?;
        if let Some(f) = self.dropout_of(x) {
            let f = b.cast(f, DType::F32)?;
            p = b.mul(p, f)?;
        }
        let p = b.cast(p, b.dtype(v))?;
        let out = b.contract(p, v, &Self::batch(b, v), &[(last, b.rank(v) - 2)])?;
        let l = b.unary(ScalarOp::Log, l)?;
        let mut lse = b.add(m, l)?;
        if let Some(none) = none {
            let zero = b.zeros_like(lse)?;
            lse = b.select(none, zero, lse)?;
        }
        let lse = b.reshape(lse, square[..last].to_vec())?;
        Ok(vec![out, lse])
    }

    /// Of the backward prim: the softmax again, the same times dropout's factors, and the gradient of the scores.
    fn again(&self, b: &mut Builder, x: &[ValueId]) -> Result<[ValueId; 2]> {
        let (v, dout, lse, delta) = (x[2], x[3], x[4], x[5]);
        let (s, seen) = self.scores(b, x, true)?;
        let square = b.shape(s);
        let row = |b: &mut Builder, r: ValueId| {
            let r = b.unsqueeze(r, square.len() - 1)?;
            b.broadcast_to(r, &square)
        };
        let (lse, delta) = (row(b, lse)?, row(b, delta)?);
        let d = b.sub(s, lse)?;
        let mut p = b.unary(ScalarOp::Exp, d)?;
        if let Some(seen) = seen {
            let zero = b.zeros_like(p)?;
            // Of what is hidden nothing is exponentiated: it might be too much for a float.
            let hidden = b.full_like(d, HIDDEN)?;
            let d = b.select(seen, d, hidden)?;
            p = b.unary(ScalarOp::Exp, d)?;
            p = b.select(seen, p, zero)?;
        }
        let dp = b.contract(dout, v, &Self::batch(b, v), &[(b.rank(dout) - 1, b.rank(v) - 1)])?;
        let mut dp = b.cast(dp, DType::F32)?;
        let mut dropped = p;
        if let Some(f) = self.dropout_of(x) {
            let f = b.cast(f, DType::F32)?;
            dp = b.mul(dp, f)?;
            dropped = b.mul(p, f)?;
        }
        let d = b.sub(dp, delta)?;
        Ok([dropped, b.mul(p, d)?])
    }

    /// The backward prim's results in other prims.
    pub fn decompose_backward(&self, b: &mut Builder, x: &[ValueId]) -> Result<Vec<ValueId>> {
        let (q, k, dout) = (x[0], x[1], x[3]);
        let [p, ds] = self.again(b, x)?;
        let (dtype, batch, rank) = (b.dtype(q), Self::batch(b, k), b.rank(q));
        let ds = b.mul_scalar(ds, self.scale.value())?;
        let (ds, p) = (b.cast(ds, dtype)?, b.cast(p, dtype)?);
        // Group and length of the query.
        let rows = [(rank - 3, rank - 3), (rank - 2, rank - 2)];
        let dq = b.contract(ds, k, &batch, &[(rank - 1, rank - 3)])?;
        let dk = b.contract(ds, q, &batch, &rows)?;
        let dv = b.contract(p, dout, &batch, &rows)?;
        Ok(vec![dq, dk, dv])
    }

    /// The gradients of the forward prim's operands, given its results `y` and theirs. That of a float mask is the scores' own,
    /// which no kernel keeps to itself: it is computed by other prims, where it is wanted.
    pub fn vjp(&self, b: &mut Builder, x: &[ValueId], y: &[ValueId], grads: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
        let rank = b.rank(y[0]);
        let mut none = vec![None; x.len()];
        let (dout, mut delta) = match grads[0] {
            Some(dout) => {
                let (o, d) = (b.cast(y[0], DType::F32)?, b.cast(dout, DType::F32)?);
                let product = b.mul(o, d)?;
                (dout, b.sum(product, &[rank - 1], false)?)
            }
            None if grads[1].is_some() => (b.zeros_like(y[0])?, b.zeros_like(y[1])?),
            None => return Ok(none),
        };
        if let Some(dl) = grads[1] {
            delta = b.sub(delta, dl)?;
        }
        let mut operands = vec![x[0], x[1], x[2], dout, y[1], delta];
        operands.extend(&x[3..]);
        let found = b.prims(Prim::AttentionBackward(*self), &operands)?;
        for (g, v) in none.iter_mut().zip(found) {
            *g = Some(v);
        }
        if let Some(m) = self.mask_of(x, false).filter(|m| b.dtype(*m).is_float()) {
            let [_, ds] = self.again(b, &operands)?;
            none[Self::FORWARD] = Some(b.cast(ds, b.dtype(m))?);
        }
        Ok(none)
    }
}

/// The results of an attention prim in other prims.
pub fn decompose(b: &mut Builder, prim: &Prim, x: &[ValueId]) -> Result<Vec<ValueId>> {
    match prim {
        Prim::Attention(a) => a.decompose(b, x),
        Prim::AttentionBackward(a) => a.decompose_backward(b, x),
        other => Err(Error::verify(other.name(), "is no attention")),
    }
}
