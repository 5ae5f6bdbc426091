//! Scaled dot-product attention.

use super::random::keep_mask;
use crate::attention::Attention;
use crate::build::Builder;
use crate::dtype::{DType, Literal};
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::Prim;

pub static OPS: &[OpDef] = &[
    op!(
        "scaled_dot_product_attention",
        "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, Tensor? dropout_key=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False",
        "softmax(query @ key^T * scale + mask) @ value over the last two dimensions; the scale is 1 / sqrt(E) by default. A bool mask \
         keeps where it is true, a float mask is added; a row that is masked entirely gives zero. With dropout_p above zero the last \
         operand is the random key.",
        |b, x, a| {
            let c = call(b, x, a)?;
            let out = c.forward(b)?[0];
            Ok(vec![c.result(b, out)?])
        },
        |b, g| {
            let c = call(b, g.inputs, g.attrs)?;
            let y = c.forward(b)?;
            c.vjp(b, &y, g, &[g.grads[0], None])
        }
    )
    .eagerly("_scaled_dot_product_flash_attention")
    .low(),
    op!(
        "_scaled_dot_product_flash_attention",
        "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, Tensor? dropout_key=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False",
        "scaled_dot_product_attention, and the logarithm of each row's softmax denominator, which its derivative reads.",
        |b, x, a| {
            let c = call(b, x, a)?;
            let y = c.forward(b)?;
            Ok(vec![c.result(b, y[0])?, c.result(b, y[1])?])
        },
        |b, g| {
            let c = call(b, g.inputs, g.attrs)?;
            let y = [c.grouped(b, g.outputs[0])?, c.grouped(b, g.outputs[1])?];
            c.vjp(b, &y, g, &[g.grads[0], g.grads[1]])
        }
    )
    .low(),
];

/// One call, brought to the form of the prims: heads of the query grouped by the key head that they share.
struct Call {
    what: Attention,
    /// The prim's operands.
    operands: Vec<ValueId>,
    /// The shape of the query.
    query: Vec<Dim>,
    /// The key's batch and heads, and how many heads of the query share one.
    batch: Vec<Dim>,
    group: Dim,
}

/// The operands with batches of one shape. Heads stay as they are where the query's are groups of the key's.
fn broadcast_batches(b: &mut Builder, x: [ValueId; 3], gqa: bool) -> Result<(ValueId, ValueId, ValueId)> {
    let batch = |b: &Builder, v: ValueId| {
        let shape = b.shape(v);
        shape[..shape.len() - 2].to_vec()
    };
    let shapes: Vec<_> = x.iter().map(|v| batch(b, *v)).collect();
    if shapes.iter().all(|s| s.len() == shapes[0].len() && !s.iter().zip(&shapes[0]).any(|(p, q)| p.is_one() != q.is_one()))
        || (gqa && shapes.iter().all(|s| s.len() == shapes[0].len()))
    {
        return Ok((x[0], x[1], x[2]));
    }
    // One element for each batch stands for its shape.
    let mut ones = Vec::new();
    for s in &shapes {
        ones.push(b.full(s, 0.0, DType::Bool)?);
    }
    let common = b.broadcast_shape(&ones)?;
    let mut out = x;
    for v in &mut out {
        let mut shape = common.clone();
        let own = b.shape(*v);
        shape.extend_from_slice(&own[own.len() - 2..]);
        *v = b.broadcast_to(*v, &shape)?;
    }
    Ok((out[0], out[1], out[2]))
}

fn call(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Call> {
    if !b.dtype(x[0]).is_float() {
        return Err(b.error(format!("a query of {}", b.dtype(x[0])), "convert query, key and value to a float type with to()"));
    }
    super::linalg::one_type(b, &x[..3])?;
    let (mut q, mut k, mut v) = (x[0], x[1], x[2]);
    if [q, k, v].iter().any(|t| b.rank(*t) < 2) {
        return Err(b.error("query, key and value need two dimensions or more", "give [..., length, features]"));
    }
    let gqa = a.bool("enable_gqa")?;
    (q, k, v) = broadcast_batches(b, [q, k, v], gqa)?;
    let rank = b.rank(q);
    let (qs, ks, vs) = (b.shape(q), b.shape(k), b.shape(v));
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
    super::linalg::one_type(b, &[q, k, v])?;
    let mut group = Dim::ONE;
    if gqa && batch > 0 {
        let Some(n) = qs[batch - 1].exact_div(&ks[batch - 1]) else {
            return Err(b.error("the query's heads are not a multiple of the key's", "use a number of key heads that divides the query's"));
        };
        group = n;
    }
    let scale = match a.opt_float("scale")? {
        Some(s) => s,
        None => match qs[rank - 1].as_const() {
            Some(e) if e > 0 => 1.0 / (e as f64).sqrt(),
            _ => return Err(b.error("the number of features is not known", "give a scale")),
        },
    };
    let p = a.float("dropout_p")?;
    if !(0.0..=1.0).contains(&p) {
        return Err(b.error(format!("dropout_p is {p}"), "use a probability from 0 to 1"));
    }
    let (mask, key) = match (&x[3..], p > 0.0) {
        ([], false) => (None, None),
        ([mask], false) => (Some(*mask), None),
        ([key], true) => (None, Some(*key)),
        ([mask, key], true) => (Some(*mask), Some(*key)),
        (_, false) => return Err(b.error("a random key without dropout", "give dropout_p, or leave the key out")),
        (_, true) => return Err(b.error("dropout without a random key", "give a key of two u32 as the last operand")),
    };
    let causal = a.bool("is_causal")?;
    let scale = Literal::new(scale, DType::F32);
    let what = Attention { scale, causal, mask: mask.is_some(), dropout: key.is_some() };
    let mut c = Call { what, operands: vec![], query: qs.clone(), batch: ks[..batch].to_vec(), group };
    let q = c.grouped(b, q)?;
    c.operands = vec![q, k, v];
    // One for each score: [batch.., group, L, S], broadcast from what the query's heads see.
    let mut square = qs[..rank - 1].to_vec();
    square.push(ks[rank - 2].clone());
    if let Some(mask) = mask {
        let mask = if b.dtype(mask) == DType::Bool { mask } else { b.float(mask)? };
        let mask = b.broadcast_to(mask, &square)?;
        let mask = c.grouped(b, mask)?;
        c.operands.push(mask);
    }
    if let Some(key) = key {
        let factor = keep_mask(b, key, &square, p)?;
        let factor = c.grouped(b, factor)?;
        c.operands.push(factor);
    }
    Ok(c)
}

impl Call {
    /// A value with the query's heads, with these grouped.
    fn grouped(&self, b: &mut Builder, v: ValueId) -> Result<ValueId> {
        let mut shape = self.batch.clone();
        shape.push(self.group.clone());
        shape.extend_from_slice(&b.shape(v)[self.batch.len()..]);
        b.reshape(v, shape)
    }

    /// A result of the prims with the heads of the query again.
    fn result(&self, b: &mut Builder, v: ValueId) -> Result<ValueId> {
        let n = self.batch.len();
        let mut shape = self.query[..n].to_vec();
        shape.extend_from_slice(&b.shape(v)[n + 1..]);
        b.reshape(v, shape)
    }

    /// The result and the logarithms.
    fn forward(&self, b: &mut Builder) -> Result<Vec<ValueId>> {
        b.prims(Prim::Attention(self.what), &self.operands)
    }

    fn vjp(&self, b: &mut Builder, y: &[ValueId], g: &VjpArgs, grads: &[Option<ValueId>; 2]) -> Result<Vec<Option<ValueId>>> {
        let dtype = b.dtype(y[0]);
        let mut dy = [None; 2];
        for (dy, grad) in dy.iter_mut().zip(grads) {
            *dy = grad.map(|v| self.grouped(b, v)).transpose()?;
        }
        if let Some(d) = dy[0] {
            dy[0] = Some(b.cast(d, dtype)?);
        }
        let mut found = self.what.vjp(b, &self.operands, y, &dy)?;
        found[0] = found[0].map(|v| self.result(b, v)).transpose()?;
        if self.what.mask {
            // What the mask broadcast over is summed by the caller.
            found[3] = found[3].map(|v| self.result(b, v)).transpose()?;
        }
        found.resize(g.inputs.len(), None);
        Ok(found)
    }
}
