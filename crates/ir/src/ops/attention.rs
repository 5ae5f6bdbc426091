//! Scaled dot-product attention.

use super::activation::softmax;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[op!(
    "scaled_dot_product_attention",
    "query, key, value, [attn_mask]; is_causal=False, scale=None, enable_gqa=False",
    "softmax(query @ key^T * scale + mask) @ value over the last two dimensions; the scale is 1 / sqrt(E) by default. A bool mask \
     keeps where it is true, a float mask is added; a row that is masked entirely gives zero.",
    attention,
    attention_vjp
)];

/// Stands for minus infinity: targets may assume that infinities are absent, and this vanishes in any softmax.
fn masked_score(dtype: DType) -> f64 {
    if dtype == DType::F16 { dtype.min_finite() } else { -1e30 }
}

struct Scores {
    /// Query with heads grouped by the key head they share: [..., heads, group, L, E].
    q: ValueId,
    /// [..., heads, S, E] and [..., heads, S, Ev]
    k: ValueId,
    v: ValueId,
    /// How many leading dimensions q, k and v share.
    batch: usize,
    scale: f64,
    /// softmax of the masked scores: [..., heads, group, L, S]
    weights: ValueId,
}

fn scores(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Scores> {
    let (mut q, mut k, mut v) = (b.float(x[0])?, b.float(x[1])?, b.float(x[2])?);
    let rank = b.rank(q);
    if rank < 2 || b.rank(k) != rank || b.rank(v) != rank {
        return Err(b.error("query, key and value need the same number of dimensions, two or more", "give [..., length, features]"));
    }
    let (qs, ks, vs) = (b.shape(q), b.shape(k), b.shape(v));
    let gqa = a.bool("enable_gqa", false)?;
    let agree = |b: &mut Builder, x: &Dim, y: &Dim, what: &str| {
        if x == y || b.graph.env.equal(x, y, what) {
            return Ok(());
        }
        let text = format!("{what}: {} and {}", b.graph.env.show(x), b.graph.env.show(y));
        Err(b.error(text, "check the shapes of query, key and value"))
    };
    agree(b, &qs[rank - 1], &ks[rank - 1], "query and key have the same features")?;
    agree(b, &ks[rank - 2], &vs[rank - 2], "key and value have the same length")?;
    let batch = rank - 2;
    for d in 0..batch {
        agree(b, &ks[d], &vs[d], "key and value have the same batch and heads")?;
        if !(gqa && d + 1 == batch) {
            agree(b, &qs[d], &ks[d], "query and key have the same batch and heads")?;
        }
    }
    let common = [q, k, v].iter().map(|t| b.dtype(*t)).fold(b.dtype(q), DType::promote);
    (q, k, v) = (b.cast(q, common)?, b.cast(k, common)?, b.cast(v, common)?);
    if gqa && batch > 0 {
        let Some(group) = qs[batch - 1].exact_div(&ks[batch - 1]) else {
            return Err(b.error("the query's heads are not a multiple of the key's", "use a number of key heads that divides the query's"));
        };
        let mut shape = ks[..batch].to_vec();
        shape.extend([group, qs[rank - 2].clone(), qs[rank - 1].clone()]);
        q = b.reshape(q, shape)?;
    }
    let scale = match a.opt_float("scale")? {
        Some(s) => s,
        None => match qs[rank - 1].as_const() {
            Some(e) if e > 0 => 1.0 / (e as f64).sqrt(),
            _ => return Err(b.error("the number of features is not known", "give a scale")),
        },
    };
    let pairs: Vec<(usize, usize)> = (0..batch).map(|d| (d, d)).collect();
    let s = b.contract(q, k, &pairs, &[(b.rank(q) - 1, rank - 1)])?;
    let mut s = b.mul_scalar(s, scale)?;
    let low = b.full_like(s, masked_score(b.dtype(s)))?;
    if a.bool("is_causal", false)? {
        let (shape, r) = (b.shape(s), b.rank(s));
        let square = &shape[r - 2..];
        let (row, column) = (b.iota(square, 0)?, b.iota(square, 1)?);
        let seen = b.binary(ScalarOp::Ge, row, column)?;
        s = b.select(seen, s, low)?;
    }
    let mut keep = None;
    if let Some(mask) = x.get(3) {
        let mask = grouped_mask(b, *mask, s, &qs, gqa && batch > 0)?;
        if b.dtype(mask) == DType::Bool {
            s = b.select(mask, s, low)?;
            keep = Some(mask);
        } else {
            let mask = b.cast(mask, b.dtype(s))?;
            let bounded = b.scalar(ScalarOp::Max, mask, masked_score(b.dtype(s)))?;
            s = b.add(s, bounded)?;
        }
    }
    let mut weights = softmax(b, s, -1)?;
    if let Some(mask) = keep {
        // Only a row without any key is changed by this: it gives zero, as in PyTorch.
        let zero = b.zeros_like(weights)?;
        weights = b.select(mask, weights, zero)?;
    }
    Ok(Scores { q, k, v, batch, scale, weights })
}

// The mask broadcast to the scores; a mask with heads is split into groups as the query is.
fn grouped_mask(b: &mut Builder, mask: ValueId, scores: ValueId, q: &[Dim], gqa: bool) -> Result<ValueId> {
    let target = b.shape(scores);
    if !gqa || b.rank(mask) <= 2 {
        return b.broadcast_to(mask, &target);
    }
    let mut full = q[..q.len() - 1].to_vec();
    full.push(target[target.len() - 1].clone());
    let m = b.broadcast_to(mask, &full)?;
    b.reshape(m, target)
}

fn attention(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let s = scores(b, x, a)?;
    let pairs: Vec<(usize, usize)> = (0..s.batch).map(|d| (d, d)).collect();
    let y = b.contract(s.weights, s.v, &pairs, &[(b.rank(s.weights) - 1, s.batch)])?;
    let mut shape = b.shape(x[0]);
    shape.pop();
    shape.extend(b.shape(x[2]).pop());
    Ok(vec![b.reshape(y, shape)?])
}

// With p the weights: dv = p^T dy, dp = dy v^T, ds = p (dp - sum(dp p)), dq = scale ds k, dk = scale ds^T q.
fn attention_vjp(b: &mut Builder, g: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = g.grads[0] else { return Ok(vec![None; g.inputs.len()]) };
    let s = scores(b, g.inputs, g.attrs)?;
    let (n, p) = (s.batch, s.weights);
    let rank = b.rank(p);
    let pairs: Vec<(usize, usize)> = (0..n).map(|d| (d, d)).collect();
    // The dimensions between the batch and the last one: the group (with grouped heads) and the query's length.
    let rows: Vec<(usize, usize)> = (n..rank - 1).map(|d| (d, d)).collect();
    let mut shape = b.shape(p);
    shape.pop();
    shape.extend(b.shape(s.v).pop());
    let dy = b.reshape(dy, shape)?;
    let dv = b.contract(p, dy, &pairs, &rows)?;
    let dp = b.contract(dy, s.v, &pairs, &[(rank - 1, n + 1)])?;
    let t = b.mul(dp, p)?;
    let t = b.sum(t, &[rank - 1], true)?;
    let d = b.sub(dp, t)?;
    let ds = b.mul(p, d)?;
    let scaled = b.mul_scalar(ds, s.scale)?;
    let dq = b.contract(scaled, s.k, &pairs, &[(rank - 1, n)])?;
    let dq = b.reshape(dq, b.shape(g.inputs[0]))?;
    let dk = b.contract(scaled, s.q, &pairs, &rows)?;
    let mut out = vec![Some(dq), Some(dk), Some(dv)];
    if let Some(mask) = g.inputs.get(3) {
        out.push(if b.dtype(*mask).is_float() {
            // Back from the groups to heads; what the mask broadcast over is summed by the caller.
            let mut full = b.shape(g.inputs[0]);
            full.pop();
            full.extend(b.shape(ds).pop());
            Some(b.reshape(ds, full)?)
        } else {
            None
        });
    }
    Ok(out)
}
