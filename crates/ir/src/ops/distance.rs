//! Norms and distances, and the losses made of them. PyTorch: torch.cdist, torch.nn.functional.

use super::loss::reduced;
use super::reduction::vector_norm;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attr, Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "norm",
        "Tensor input, Scalar|str? p=\"fro\", int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None",
        "linalg_vector_norm of order p along dim, or of all elements; \"fro\" is 2.",
        |b, x, a| {
            let p = match a.get("p") {
                Some(Attr::Str(s)) if s != "fro" => {
                    return Err(b.error(format!("there is no norm {s:?}"), "use \"fro\" or a number"));
                }
                Some(Attr::Str(_)) | None => 2.0,
                Some(_) => a.float("p")?,
            };
            let v = match a.opt_dtype("dtype")? {
                Some(d) => b.cast(x[0], d)?,
                None => x[0],
            };
            if !b.dtype(v).is_float() {
                return Err(b.error(format!("the input is {}", b.dtype(v)), "convert it with to(), or give a dtype"));
            }
            let dims = b.dims(v, a.opt_ints("dim")?.as_deref())?;
            Ok(vec![vector_norm(b, v, p, &dims, a.bool("keepdim")?)?])
        }
    )
    .full(),
    op!(
        "pairwise_distance",
        "Tensor x1, Tensor x2, float p=2.0, float eps=1e-6, bool keepdim=False",
        "The p-norm of x1 - x2 + eps along the last dimension.",
        |b, x, a| Ok(vec![pairwise(b, x[0], x[1], a.float("p")?, a.float("eps")?, a.bool("keepdim")?)?])
    )
    .full(),
    op!(
        "cdist",
        "Tensor x1, Tensor x2, float p=2.0, str compute_mode=\"use_mm_for_euclid_dist_if_necessary\"",
        "The p-norms of the differences of each row of x1 [.., P, M] from each row of x2 [.., R, M], batch dimensions broadcast. Always of \
         the differences themselves, whatever the mode: the form with a matrix product cancels.",
        cdist
    )
    .full(),
    op!(
        "triplet_margin_loss",
        "Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-6, bool swap=False, \
         str reduction=\"mean\"",
        "max(d(anchor, positive) - d(anchor, negative) + margin, 0) by pairwise_distance; with swap the distance of positive and negative, \
         where that is smaller, takes the negative's place.",
        |b, x, a| {
            let (p, eps) = (a.float("p")?, a.float("eps")?);
            let margin = a.float("margin")?;
            if margin <= 0.0 {
                return Err(b.error(format!("margin is {margin}"), "use a number above 0"));
            }
            if b.rank(x[0]) != b.rank(x[1]) || b.rank(x[0]) != b.rank(x[2]) {
                return Err(b.error("the three differ in rank", "give tensors of as many dimensions"));
            }
            let near = pairwise(b, x[0], x[1], p, eps, false)?;
            let mut far = pairwise(b, x[0], x[2], p, eps, false)?;
            if a.bool("swap")? {
                let other = pairwise(b, x[1], x[2], p, eps, false)?;
                far = b.binary(ScalarOp::Min, far, other)?;
            }
            let d = b.sub(near, far)?;
            let d = b.add_scalar(d, margin)?;
            let terms = b.scalar(ScalarOp::Max, d, 0.0)?;
            reduced(b, terms, a)
        }
    )
    .full(),
    op!(
        "cosine_embedding_loss",
        "Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction=\"mean\"",
        "1 - cos(input1, input2) where the target is 1, max(cos(input1, input2) - margin, 0) where it is -1.",
        cosine_embedding
    )
    .full(),
];

fn pairwise(b: &mut Builder, x: ValueId, y: ValueId, p: f64, eps: f64, keep: bool) -> Result<ValueId> {
    super::activation::no_truth_values(b, &[x, y])?;
    let both = b.promote(&[x, y])?;
    let d = b.sub(both[0], both[1])?;
    let d = b.add_scalar(d, eps)?;
    let Some(last) = b.rank(d).checked_sub(1) else { return Err(b.error("scalars have no last dimension", "give vectors")) };
    vector_norm(b, d, p, &[last], keep)
}

fn cdist(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (p, mode) = (a.float("p")?, a.str("compute_mode")?);
    let known = ["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"];
    if !known.contains(&mode) {
        return Err(b.error(format!("compute_mode is {mode:?}"), format!("use one of {}", known.join(", "))));
    }
    if p.is_nan() || p < 0.0 {
        return Err(b.error(format!("p is {p}"), "use a number of at least 0"));
    }
    let (m, n) = (b.rank(x[0]), b.rank(x[1]));
    if m < 2 || n < 2 || !b.dtype(x[0]).is_float() || !b.dtype(x[1]).is_float() {
        return Err(b.error("needs rows of floats", "give [.., P, M] and [.., R, M]"));
    }
    super::linalg::one_type(b, x)?;
    let (width, other) = (b.shape(x[0])[m - 1].clone(), b.shape(x[1])[n - 1].clone());
    if !b.graph.env.equal(&width, &other, "rows are of one length") {
        let text = format!("rows of {} and {} elements", b.graph.env.show(&width), b.graph.env.show(&other));
        return Err(b.error(text, "give rows of one length"));
    }
    let (l, r) = (b.unsqueeze(x[0], m - 1)?, b.unsqueeze(x[1], n - 2)?);
    let d = b.sub(l, r)?;
    let last = b.rank(d) - 1;
    if width.is_zero() {
        // No differences: no distance. A largest of none has no value.
        let shape: Vec<Dim> = b.shape(d)[..last].to_vec();
        return Ok(vec![b.full(&shape, 0.0, b.dtype(d))?]);
    }
    Ok(vec![vector_norm(b, d, p, &[last], false)?])
}

fn cosine_embedding(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (rank, target) = (b.rank(x[0]), b.rank(x[2]));
    if rank != b.rank(x[1]) || target + 1 != rank || !(1..=2).contains(&rank) {
        return Err(b.error("the target does not fit the inputs", "give inputs [N, D] with a target [N], or vectors with a scalar"));
    }
    let both = b.promote(&x[..2])?;
    let (p, q) = (b.float(both[0])?, b.float(both[1])?);
    const EPS: f64 = 1e-12;
    let last = rank - 1;
    let dot = |b: &mut Builder, x, y| {
        let t = b.mul(x, y)?;
        b.sum(t, &[last], false)
    };
    let (pq, pp, qq) = (dot(b, p, q)?, dot(b, p, p)?, dot(b, q, q)?);
    let (pp, qq) = (b.add_scalar(pp, EPS)?, b.add_scalar(qq, EPS)?);
    let norms = b.mul(pp, qq)?;
    let norms = b.unary(ScalarOp::Sqrt, norms)?;
    let cos = b.div(pq, norms)?;
    let apart = b.neg(cos)?;
    let apart = b.add_scalar(apart, 1.0)?;
    let near = b.add_scalar(cos, -a.float("margin")?)?;
    let near = b.scalar(ScalarOp::Max, near, 0.0)?;
    let zero = b.zeros_like(cos)?;
    let (same, other) = (b.scalar(ScalarOp::Eq, x[2], 1.0)?, b.scalar(ScalarOp::Eq, x[2], -1.0)?);
    let (p, q) = (b.select(same, apart, zero)?, b.select(other, near, zero)?);
    let terms = b.add(p, q)?;
    reduced(b, terms, a)
}
