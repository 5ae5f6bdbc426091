//! Losses of torch.nn.functional. `reduction` is "mean", "sum" or "none".

use super::activation::{log_softmax, softmax};
use super::pointwise::sigmoid;
use super::reduction::vector_norm;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "cross_entropy",
        "Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\", float label_smoothing=0.0",
        "-log_softmax(x) at the target class, or summed against target probabilities of x's shape. Classes are dimension 1 (0 of a \
         vector). Targets equal to ignore_index count for nothing, the mean's divisor included.",
        cross_entropy,
        cross_entropy_vjp
    )
    .full(),
    op!(
        "nll_loss",
        "Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction=\"mean\"",
        "Minus the log-probability x of the target class.",
        |b, x, a| {
            let t = Targets::new(b, x, a)?;
            let terms = t.against(b, x[0], a)?;
            Ok(vec![t.reduce(b, terms, a)?])
        }
    )
    .full(),
    op!("mse_loss", "Tensor input, Tensor target, str reduction=\"mean\"", "(x - target)^2", |b, x, a| {
        floats(b, x)?;
        let d = b.sub(x[0], x[1])?;
        let t = b.mul(d, d)?;
        reduced(b, t, a)
    })
    .full(),
    op!("l1_loss", "Tensor input, Tensor target, str reduction=\"mean\"", "|x - target|", |b, x, a| {
        super::activation::no_truth_values(b, x)?;
        let d = b.sub(x[0], x[1])?;
        let t = b.unary(ScalarOp::Abs, d)?;
        reduced(b, t, a)
    })
    .full(),
    op!(
        "smooth_l1_loss",
        "Tensor input, Tensor target, str reduction=\"mean\", float beta=1.0",
        "d^2 / (2 beta) where d = |x - target| is below beta, else d - beta / 2.",
        |b, x, a| {
            let beta = a.float("beta")?;
            floats(b, x)?;
            if beta < 0.0 {
                return Err(b.error(format!("beta is {beta}"), "use zero or more"));
            }
            let t = huber(b, x, beta)?;
            let t = if beta == 0.0 { t } else { b.mul_scalar(t, 1.0 / beta)? };
            reduced(b, t, a)
        }
    )
    .full(),
    op!(
        "huber_loss",
        "Tensor input, Tensor target, str reduction=\"mean\", float delta=1.0",
        "d^2 / 2 where d = |x - target| is below delta, else delta (d - delta / 2).",
        |b, x, a| {
            let delta = a.float("delta")?;
            floats(b, &x[..1])?;
            if delta <= 0.0 {
                return Err(b.error(format!("delta is {delta}"), "use a positive number"));
            }
            let t = huber(b, x, delta)?;
            reduced(b, t, a)
        }
    )
    .full(),
    op!(
        "binary_cross_entropy",
        "Tensor input, Tensor target, Tensor? weight=None, str reduction=\"mean\"",
        "-(target log x + (1 - target) log(1 - x)); logarithms are at least -100.",
        |b, x, a| {
            same_shape(b, x)?;
            floats(b, &x[..1])?;
            super::linalg::one_type(b, &x[..2])?;
            let log = |b: &mut Builder, p| {
                let l = b.unary(ScalarOp::Log, p)?;
                b.scalar(ScalarOp::Max, l, -100.0)
            };
            let (nx, nt) = (complement(b, x[0])?, complement(b, x[1])?);
            let (lx, ln) = (log(b, x[0])?, log(b, nx)?);
            let (p, q) = (b.mul(x[1], lx)?, b.mul(nt, ln)?);
            let s = b.add(p, q)?;
            let t = b.neg(s)?;
            weighted(b, t, x, a)
        }
    )
    .refused(),
    op!(
        "binary_cross_entropy_with_logits",
        "Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, str reduction=\"mean\"",
        "binary_cross_entropy(sigmoid(x), target) without overflow; pos_weight multiplies the positive part.",
        bce_with_logits,
        bce_with_logits_vjp
    )
    .full(),
    op!(
        "kl_div",
        "Tensor input, Tensor target, str reduction=\"mean\", bool log_target=False",
        "target (log target - x), for log-probabilities x; also reduction \"batchmean\".",
        kl_div
    )
    .full(),
    op!(
        "cosine_similarity",
        "Tensor x1, Tensor x2, int dim=1, float eps=1e-8",
        "x . y / (max(|x|, eps) max(|y|, eps)) along dim.",
        cosine_similarity
    )
    .full(),
];

// Distances of whole numbers have no mean and no slope.
fn floats(b: &Builder, x: &[ValueId]) -> Result<()> {
    match x.iter().any(|v| b.dtype(*v).is_float()) {
        true => Ok(()),
        false => Err(b.error(format!("compares {}", b.dtype(x[0])), "convert the operands to a float type with to()")),
    }
}

// Of a score and of a target, which is a probability too.
fn probabilities(b: &Builder, x: &[ValueId]) -> Result<()> {
    floats(b, &x[..1])?;
    match b.dtype(x[1]) {
        t if t.is_float() => Ok(()),
        t => Err(b.error(format!("a target of {t}"), "convert it to the input's type with to()")),
    }
}

fn same_shape(b: &mut Builder, x: &[ValueId]) -> Result<()> {
    let (p, q) = (b.shape(x[0]), b.shape(x[1]));
    if p.len() == q.len() && p.iter().zip(&q).all(|(p, q)| b.graph.env.equal(p, q, "a target for each element")) {
        return Ok(());
    }
    let text = format!("a target of {} for an input of {}", b.graph.env.show_shape(&q), b.graph.env.show_shape(&p));
    Err(b.error(text, "give a target for each element"))
}

fn complement(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let n = b.neg(x)?;
    b.add_scalar(n, 1.0)
}

pub(super) fn reduced(b: &mut Builder, x: ValueId, a: &Attrs) -> Result<Vec<ValueId>> {
    let dims: Vec<usize> = (0..b.rank(x)).collect();
    Ok(vec![match a.str("reduction")? {
        "mean" => b.mean(x, &dims, false)?,
        "sum" => b.sum(x, &dims, false)?,
        "none" => x,
        other => return Err(b.error(format!("unknown reduction {other:?}"), "use \"mean\", \"sum\" or \"none\"")),
    }])
}

fn weighted(b: &mut Builder, terms: ValueId, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let t = match x.get(2) {
        Some(w) => b.mul(terms, *w)?,
        None => terms,
    };
    keeps_shape(b, t, x[0])?;
    reduced(b, t, a)
}

/// Refuses weights that would broadcast a loss's terms into something larger than its input.
fn keeps_shape(b: &Builder, terms: ValueId, input: ValueId) -> Result<()> {
    let (have, want) = (b.shape(terms), b.shape(input));
    if have == want {
        return Ok(());
    }
    let text = format!("a weight makes {} of {}", b.graph.env.show_shape(&have), b.graph.env.show_shape(&want));
    Err(b.error(text, "give weights that broadcast to the input's shape"))
}

// d loss / d term for each element of a tensor of x's shape.
fn row_gradient(b: &mut Builder, dy: ValueId, x: ValueId, v: &VjpArgs) -> Result<ValueId> {
    let g = match v.attrs.str("reduction")? {
        "mean" => {
            let n = b.size_of(&b.shape(x), b.dtype(dy))?;
            b.div(dy, n)?
        }
        _ => dy,
    };
    b.broadcast_to(g, &b.shape(x))
}

fn huber(b: &mut Builder, x: &[ValueId], delta: f64) -> Result<ValueId> {
    let d = b.sub(x[0], x[1])?;
    let m = b.unary(ScalarOp::Abs, d)?;
    let square = b.mul(d, d)?;
    let square = b.mul_scalar(square, 0.5)?;
    let linear = b.add_scalar(m, -0.5 * delta)?;
    let linear = if delta == 0.0 { linear } else { b.mul_scalar(linear, delta)? };
    let near = b.scalar(ScalarOp::Lt, m, delta)?;
    b.select(near, square, linear)
}

// log(1 + e^-x), without overflow.
fn negative_log_sigmoid(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let m = b.unary(ScalarOp::Abs, x)?;
    let m = b.neg(m)?;
    let e = b.unary(ScalarOp::Exp, m)?;
    let l = b.unary(ScalarOp::Log1p, e)?;
    let n = b.neg(x)?;
    let p = b.scalar(ScalarOp::Max, n, 0.0)?;
    b.add(p, l)
}

// 1 + (pos_weight - 1) target
fn positive_weight(b: &mut Builder, target: ValueId, pos: ValueId) -> Result<ValueId> {
    let more = b.add_scalar(pos, -1.0)?;
    let more = b.mul(more, target)?;
    b.add_scalar(more, 1.0)
}

// max(x, 0) - x target + log1p(e^-|x|); with a weight w of what is positive (1 - target) x + (1 + (w - 1) target) log(1 + e^-x).
fn bce_terms(b: &mut Builder, x: ValueId, target: ValueId, pos: Option<ValueId>) -> Result<ValueId> {
    if let Some(pos) = pos {
        let (weight, l) = (positive_weight(b, target, pos)?, negative_log_sigmoid(b, x)?);
        let (rest, l) = (complement(b, target)?, b.mul(weight, l)?);
        let rest = b.mul(rest, x)?;
        return b.add(rest, l);
    }
    let m = b.unary(ScalarOp::Abs, x)?;
    let m = b.neg(m)?;
    let e = b.unary(ScalarOp::Exp, m)?;
    let l = b.unary(ScalarOp::Log1p, e)?;
    let p = b.scalar(ScalarOp::Max, x, 0.0)?;
    let t = b.mul(x, target)?;
    let d = b.sub(p, t)?;
    b.add(d, l)
}

fn bce_with_logits(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    same_shape(b, x)?;
    probabilities(b, x)?;
    let xt = b.promote(&x[..2])?;
    let mut t = bce_terms(b, xt[0], xt[1], a.tensor(x, "pos_weight"))?;
    if let Some(w) = a.tensor(x, "weight") {
        t = b.mul(t, w)?;
    }
    keeps_shape(b, t, x[0])?;
    reduced(b, t, a)
}

fn bce_with_logits_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let (x, target) = (v.inputs[0], v.inputs[1]);
    let (weight, pos) = (v.attrs.tensor(v.inputs, "weight"), v.attrs.tensor(v.inputs, "pos_weight"));
    let plain = row_gradient(b, dy, x, v)?;
    let g = match weight {
        Some(w) => b.mul(plain, w)?,
        None => plain,
    };
    let n = b.neg(x)?;
    let mut out = match pos {
        None => {
            let s = sigmoid(b, x)?;
            let d = b.sub(s, target)?;
            vec![Some(b.mul(g, d)?), Some(b.mul(g, n)?)]
        }
        Some(pos) => {
            let (s, factor) = (sigmoid(b, n)?, positive_weight(b, target, pos)?);
            let (rest, s) = (complement(b, target)?, b.mul(factor, s)?);
            let dx = b.sub(rest, s)?;
            let (more, l) = (b.add_scalar(pos, -1.0)?, negative_log_sigmoid(b, x)?);
            let more = b.mul(more, l)?;
            let dt = b.add(n, more)?;
            vec![Some(b.mul(g, dx)?), Some(b.mul(g, dt)?)]
        }
    };
    if weight.is_some() {
        let terms = bce_terms(b, x, target, pos)?;
        out.push(Some(b.mul(plain, terms)?));
    }
    if pos.is_some() {
        let l = negative_log_sigmoid(b, x)?;
        let t = b.mul(target, l)?;
        out.push(Some(b.mul(g, t)?));
    }
    Ok(out)
}

fn kl_div(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    for v in x {
        floats(b, &[*v])?;
    }
    let target = x[1];
    let t = if a.bool("log_target")? {
        let p = b.unary(ScalarOp::Exp, target)?;
        let d = b.sub(target, x[0])?;
        b.mul(p, d)?
    } else {
        // 0 log 0 is 0; what is below has no logarithm.
        let zero = b.scalar(ScalarOp::Eq, target, 0.0)?;
        let one = b.full_like(target, 1.0)?;
        let safe = b.select(zero, one, target)?;
        let l = b.unary(ScalarOp::Log, safe)?;
        let d = b.sub(l, x[0])?;
        b.mul(target, d)?
    };
    if a.str("reduction")? != "batchmean" {
        return reduced(b, t, a);
    }
    // The batch is the input's own, whatever the target broadcasts it to.
    let dims: Vec<usize> = (0..b.rank(t)).collect();
    let sum = b.sum(t, &dims, false)?;
    let Some(batch) = b.shape(x[0]).first().cloned() else { return Ok(vec![sum]) };
    let n = b.size_of(&[batch], b.dtype(sum))?;
    Ok(vec![b.div(sum, n)?])
}

fn cosine_similarity(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (dim, eps) = (a.int("dim")?, a.float("eps")?);
    floats(b, x)?;
    let xy = b.promote(x)?;
    let dims = b.dims(xy[0], Some(&[dim]))?;
    let p = b.mul(xy[0], xy[1])?;
    let dot = b.sum(p, &dims, false)?;
    let norm = |b: &mut Builder, v| {
        let n = vector_norm(b, v, 2.0, &dims, false)?;
        b.scalar(ScalarOp::Max, n, eps)
    };
    let (nx, ny) = (norm(b, xy[0])?, norm(b, xy[1])?);
    let n = b.mul(nx, ny)?;
    Ok(vec![b.div(dot, n)?])
}

/// What the targets of a classification loss weigh each class with.
struct Targets {
    /// The class dimension of the input.
    dim: usize,
    /// The weight of each class in each row, of the input's shape.
    distribution: ValueId,
    /// The sum of `distribution` over classes, kept as size 1, where it is not one.
    total: Option<ValueId>,
    /// What a mean divides by; the number of rows when absent.
    divisor: Option<ValueId>,
    /// Where class indices are given without smoothing: the one class of each row that counts.
    hot: Option<ValueId>,
    /// Whether targets are probabilities; then `d distribution / d target`.
    soft: Option<ValueId>,
}

impl Targets {
    fn new(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Targets> {
        let (input, target, weight) = (x[0], x[1], x.get(2).copied());
        let (shape, rank, dtype) = (b.shape(input), b.rank(input), b.dtype(input));
        if rank == 0 || !dtype.is_float() {
            return Err(b.error("needs float scores with a class dimension", "give scores of [N, C, ...]"));
        }
        let dim = usize::from(rank > 1);
        // A loss of log-probabilities has no such argument.
        let smoothing = a.opt_float("label_smoothing")?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&smoothing) {
            return Err(b.error(format!("label_smoothing is {smoothing}"), "use a number from 0 to 1"));
        }
        let classes = b.size_of(&[shape[dim].clone()], dtype)?;
        let spread = b.full(&[], smoothing, dtype)?;
        let spread = b.div(spread, classes)?;
        let weight = match weight {
            Some(w) => {
                let mut s = vec![Dim::ONE; rank];
                s[dim] = shape[dim].clone();
                if b.rank(w) != 1 || !b.graph.env.equal(&b.shape(w)[0].clone(), &shape[dim], "one weight for each class") {
                    return Err(b.error("the weight needs one value for each class", "give a vector of C values"));
                }
                let w = b.reshape(w, s)?;
                Some(b.cast(w, dtype)?)
            }
            None => None,
        };
        if b.dtype(target).is_float() {
            return Targets::probabilities(b, [input, target], dim, weight, (smoothing, spread));
        }
        if b.dtype(target) == crate::DType::Bool {
            return Err(b.error("the target is of bool", "give class indices as integers"));
        }
        if let Some(w) = x.get(2) {
            super::linalg::one_type(b, &[input, *w])?;
        }
        if shape[dim].is_zero() && !b.ty(target).numel().is_zero() {
            return Err(b.error("there are no classes", "give scores for at least one class"));
        }
        let mut rows = shape.clone();
        rows.remove(dim);
        let fits = b.rank(target) == rows.len()
            && (0..rows.len()).all(|d| b.graph.env.equal(&b.shape(target)[d].clone(), &rows[d], "one target for each row"));
        if !fits {
            let text = format!("needs a target of {}", b.graph.env.show_shape(&rows));
            return Err(b.error(text, "give one class index for each row of scores"));
        }
        Targets::classes(b, [input, target], dim, weight, (smoothing, spread), a.int("ignore_index")?)
    }

    /// A probability for each class. `smoothing` is the share that is spread over all classes, and each one's part of it.
    fn probabilities(
        b: &mut Builder,
        [input, target]: [ValueId; 2],
        dim: usize,
        weight: Option<ValueId>,
        smoothing: (f64, ValueId),
    ) -> Result<Targets> {
        let (shape, rank, dtype, (smoothing, spread)) = (b.shape(input), b.rank(input), b.dtype(input), smoothing);
        if b.rank(target) != rank
            || !(0..rank).all(|d| b.graph.env.equal(&b.shape(target)[d].clone(), &shape[d], "target probabilities have the input's shape"))
        {
            return Err(b.error(
                "target probabilities need the input's shape",
                "give class indices as integers, or one probability for each class",
            ));
        }
        let mut factor = b.full(&shape, 1.0 - smoothing, dtype)?;
        let mut t = b.cast(target, dtype)?;
        if smoothing > 0.0 {
            t = b.mul_scalar(t, 1.0 - smoothing)?;
            t = b.add(t, spread)?;
        }
        if let Some(w) = weight {
            t = b.mul(t, w)?;
            factor = b.mul(factor, w)?;
        }
        let total = Some(b.sum(t, &[dim], true)?);
        Ok(Targets { dim, distribution: t, total, divisor: None, hot: None, soft: Some(factor) })
    }

    /// The number of a class for each row.
    fn classes(
        b: &mut Builder,
        [input, target]: [ValueId; 2],
        dim: usize,
        weight: Option<ValueId>,
        smoothing: (f64, ValueId),
        ignore: i64,
    ) -> Result<Targets> {
        let (shape, rank, dtype, (smoothing, spread)) = (b.shape(input), b.rank(input), b.dtype(input), smoothing);
        // Compared with every class instead of gathered: the row is read anyway, and the gradient stays in the row.
        let class = b.iota(&shape, dim)?;
        let at = b.unsqueeze(target, dim)?;
        let mut hot = b.binary(ScalarOp::Eq, class, at)?;
        let zero = b.full(&shape, 0.0, dtype)?;
        let one = match weight {
            Some(w) => b.broadcast_to(w, &shape)?,
            None => b.full(&shape, 1.0, dtype)?,
        };
        let valid = b.scalar(ScalarOp::Ne, at, ignore as f64)?;
        if ignore >= 0 {
            // A negative index is no class and hits nothing by itself.
            let v = b.broadcast_to(valid, &shape)?;
            hot = b.binary(ScalarOp::And, hot, v)?;
        }
        let mut distribution = b.select(hot, one, zero)?;
        // The weight of each row's target; a mean divides by their sum. Without class weights it is read off the targets alone,
        // so the divisor does not wait for the scores.
        let counts = b.cast(valid, dtype)?;
        let all: Vec<usize> = (0..rank).collect();
        let divisor = if weight.is_some() { b.sum(distribution, &all, false)? } else { b.sum(counts, &all, false)? };
        if smoothing > 0.0 {
            let s = b.mul_scalar(distribution, 1.0 - smoothing)?;
            let t = b.mul(one, spread)?;
            distribution = b.add(s, t)?;
            let v = b.broadcast_to(valid, &shape)?;
            distribution = b.select(v, distribution, zero)?;
        }
        let total = if weight.is_some() || smoothing > 0.0 { b.sum(distribution, &[dim], true)? } else { counts };
        let (total, divisor) = (Some(total), Some(divisor));
        Ok(Targets { dim, distribution, total, divisor, hot: (smoothing == 0.0).then_some(hot), soft: None })
    }

    // Minus the sum over classes of distribution times log-probability.
    fn against(&self, b: &mut Builder, log_p: ValueId, a: &Attrs) -> Result<ValueId> {
        let rows = a.str("reduction")? == "none";
        let t = match self.hot {
            // Chosen, not multiplied: another class's score may be minus infinity.
            Some(hot) => {
                let zero = b.zeros_like(log_p)?;
                let one = self.total.map_or(Ok(log_p), |_| b.mul(self.distribution, log_p))?;
                // Of each row a result: what counts for nothing is zero, not minus zero.
                let one = if rows { b.neg(one)? } else { one };
                b.select(hot, one, zero)?
            }
            None => b.mul(self.distribution, log_p)?,
        };
        let s = b.sum(t, &[self.dim], false)?;
        if rows && self.hot.is_some() { Ok(s) } else { b.neg(s) }
    }

    fn reduce(&self, b: &mut Builder, rows: ValueId, a: &Attrs) -> Result<ValueId> {
        match (a.str("reduction")?, self.divisor) {
            ("mean", Some(n)) => {
                let all: Vec<usize> = (0..b.rank(rows)).collect();
                let s = b.sum(rows, &all, false)?;
                b.div(s, n)
            }
            ("batchmean", _) => Err(b.error("unknown reduction \"batchmean\"", "use \"mean\", \"sum\" or \"none\"")),
            _ => Ok(reduced(b, rows, a)?[0]),
        }
    }
}

fn cross_entropy(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let t = Targets::new(b, x, a)?;
    let l = log_softmax(b, x[0], t.dim as i64)?;
    let rows = t.against(b, l, a)?;
    Ok(vec![t.reduce(b, rows, a)?])
}

// With t the distribution and g the gradient of each row's loss: dx = g (softmax(x) sum(t) - t), d target = -g log_softmax(x).
fn cross_entropy_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let x = v.inputs[0];
    let t = Targets::new(b, v.inputs, v.attrs)?;
    let g = match v.attrs.str("reduction")? {
        "none" => b.unsqueeze(dy, t.dim)?,
        "mean" => {
            let mut rows = b.shape(x);
            rows.remove(t.dim);
            let n = match t.divisor {
                Some(n) => n,
                None => b.size_of(&rows, b.dtype(x))?,
            };
            b.div(dy, n)?
        }
        _ => dy,
    };
    let p = softmax(b, x, t.dim as i64)?;
    let p = match t.total {
        Some(s) => b.mul(p, s)?,
        None => p,
    };
    let d = b.sub(p, t.distribution)?;
    let mut out = vec![Some(b.mul(d, g)?)];
    out.push(match t.soft {
        Some(factor) => {
            let l = log_softmax(b, x, t.dim as i64)?;
            let l = b.mul(l, factor)?;
            let l = b.mul(l, g)?;
            Some(b.neg(l)?)
        }
        None => None,
    });
    // Class weights are constants to PyTorch as well.
    out.extend(v.inputs.get(2).map(|_| None));
    Ok(out)
}
