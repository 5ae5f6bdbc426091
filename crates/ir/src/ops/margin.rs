//! Losses of margins, of several labels, and of counts and variances. PyTorch: torch.nn.functional.

use super::index::check_index;
use super::loss::reduced;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "margin_ranking_loss",
        "Tensor input1, Tensor input2, Tensor target, float margin=0.0, str reduction=\"mean\"",
        "max(-target (input1 - input2) + margin, 0)",
        |b, x, a| {
            if b.rank(x[0]) != b.rank(x[1]) || b.rank(x[0]) != b.rank(x[2]) {
                return Err(b.error("the three differ in rank", "give tensors of as many dimensions"));
            }
            let d = b.sub(x[0], x[1])?;
            let d = b.mul(x[2], d)?;
            let d = b.neg(d)?;
            let d = b.float(d)?;
            let d = b.add_scalar(d, a.float("margin")?)?;
            let terms = b.scalar(ScalarOp::Max, d, 0.0)?;
            reduced(b, terms, a)
        }
    )
    .full(),
    op!(
        "hinge_embedding_loss",
        "Tensor input, Tensor target, float margin=1.0, str reduction=\"mean\"",
        "The input where the target is 1, max(margin - input, 0) where it is -1.",
        |b, x, a| {
            super::activation::no_truth_values(b, &x[..1])?;
            let both = b.broadcast(x)?;
            // A truth value is 1 or 0.
            let target = if b.dtype(x[1]) == DType::Bool { b.cast(both[1], DType::I32)? } else { both[1] };
            let v = b.float(both[0])?;
            let apart = b.neg(v)?;
            let apart = b.add_scalar(apart, a.float("margin")?)?;
            let apart = b.scalar(ScalarOp::Max, apart, 0.0)?;
            let zero = b.zeros_like(v)?;
            let (other, same) = (b.scalar(ScalarOp::Ne, target, 1.0)?, b.scalar(ScalarOp::Ne, target, -1.0)?);
            let (p, q) = (b.select(other, apart, zero)?, b.select(same, v, zero)?);
            let terms = b.add(p, q)?;
            reduced(b, terms, a)
        }
    )
    .full(),
    op!("soft_margin_loss", "Tensor input, Tensor target, str reduction=\"mean\"", "log(1 + e^(-target input))", |b, x, a| {
        if !b.dtype(x[0]).is_float() {
            return Err(b.error(format!("scores of {}", b.dtype(x[0])), "convert them to a float type with to()"));
        }
        let t = b.mul(x[0], x[1])?;
        let t = log_sigmoid(b, t)?;
        let terms = b.neg(t)?;
        reduced(b, terms, a)
    })
    .full(),
    op!(
        "multi_margin_loss",
        "Tensor input, Tensor target, Scalar p=1, Scalar margin=1.0, Tensor? weight=None, str reduction=\"mean\"",
        "Over the classes that are not the target's: the sum of max(margin - input[target] + input[class], 0)^p, times the target's weight, \
         over the number of classes. Inputs are [N, C] or [C].",
        multi_margin
    )
    .full(),
    op!(
        "multilabel_margin_loss",
        "Tensor input, Tensor target, str reduction=\"mean\"",
        "For each target class and each class that is none: max(1 - input[target] + input[class], 0), over the number of classes. Targets \
         are class indices up to the first -1, [N, C] or [C] as the inputs.",
        multilabel_margin
    )
    .full(),
    op!(
        "multilabel_soft_margin_loss",
        "Tensor input, Tensor target, Tensor? weight=None, str reduction=\"mean\"",
        "Minus the mean over classes of target log(sigmoid(input)) + (1 - target) log(sigmoid(-input)).",
        |b, x, a| {
            let minus = b.neg(x[0])?;
            let (p, q) = (log_sigmoid(b, x[0])?, log_sigmoid(b, minus)?);
            let rest = b.neg(x[1])?;
            let rest = b.add_scalar(rest, 1.0)?;
            let (p, q) = (b.mul(x[1], p)?, b.mul(rest, q)?);
            let sum = b.add(p, q)?;
            let mut terms = b.neg(sum)?;
            if let Some(w) = a.tensor(x, "weight") {
                terms = b.mul(terms, w)?;
            }
            let Some(last) = b.rank(terms).checked_sub(1) else { return Err(b.error("a scalar has no classes", "give [.., C]")) };
            let rows = b.mean(terms, &[last], false)?;
            reduced(b, rows, a)
        }
    )
    .full(),
    op!(
        "poisson_nll_loss",
        "Tensor input, Tensor target, bool log_input=True, bool full=False, float eps=1e-8, str reduction=\"mean\"",
        "e^input - target input, or input - target log(input + eps) without log_input; with full plus Stirling's approximation of \
         log(target!) where the target is above 1.",
        poisson_nll
    )
    .full(),
    op!(
        "gaussian_nll_loss",
        "Tensor input, Tensor target, Tensor|Scalar var, bool full=False, float eps=1e-6, str reduction=\"mean\"",
        "(log var + (input - target)^2 / var) / 2 for a variance of at least eps; with full plus log(2 pi) / 2. The variance has the input's \
         shape, or one value for each row. Gradients ignore the lower bound.",
        gaussian_nll
    )
    .full(),
];

/// min(x, 0) - log(1 + e^-|x|)
fn log_sigmoid(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let x = b.float(x)?;
    let m = b.unary(ScalarOp::Abs, x)?;
    let m = b.neg(m)?;
    let e = b.unary(ScalarOp::Exp, m)?;
    let l = b.unary(ScalarOp::Log1p, e)?;
    let low = b.scalar(ScalarOp::Min, x, 0.0)?;
    b.sub(low, l)
}

/// Scores as [N, C], and whether a batch dimension was added.
fn rows(b: &mut Builder, x: ValueId) -> Result<(ValueId, bool)> {
    if !b.dtype(x).is_float() || b.rank(x) > 2 || b.shape(x).last().is_some_and(Expr::is_zero) {
        return Err(b.error("needs scores of floats", "give [N, C], or [C], of at least one class"));
    }
    let shape = b.shape(x);
    match &shape[..] {
        [_, _] => Ok((x, false)),
        _ => Ok((b.reshape(x, vec![Dim::ONE, Expr::product(&shape)])?, true)),
    }
}

/// The loss of each row, reduced; of one vector a scalar.
fn reduced_rows(b: &mut Builder, rows: ValueId, added: bool, a: &Attrs) -> Result<Vec<ValueId>> {
    let rows = if added { b.reshape(rows, Vec::new())? } else { rows };
    reduced(b, rows, a)
}

fn multi_margin(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let p = a.float("p")?;
    if p != 1.0 && p != 2.0 {
        return Err(b.error(format!("p is {p}"), "use 1 or 2"));
    }
    check_index(b, x[1])?;
    let (scores, added) = rows(b, x[0])?;
    let shape = b.shape(scores);
    let n = Expr::product(&b.shape(x[1]));
    if b.rank(x[1]) > 1 || !b.graph.env.equal(&n, &shape[0], "a target for each row") {
        let text = format!("{} targets for {} rows", b.graph.env.show(&n), b.graph.env.show(&shape[0]));
        return Err(b.error(text, "give a class for each row"));
    }
    let target = b.reshape(x[1], vec![n, Dim::ONE])?;
    let own = b.prim(Prim::Gather { dim: 1 }, &[scores, target])?;
    let d = b.sub(scores, own)?;
    let d = b.add_scalar(d, a.float("margin")?)?;
    let mut terms = b.scalar(ScalarOp::Max, d, 0.0)?;
    if p == 2.0 {
        terms = b.mul(terms, terms)?;
    }
    if let Some(w) = a.tensor(x, "weight") {
        let fits = b.rank(w) == 1 && b.graph.env.equal(&b.shape(w)[0].clone(), &shape[1], "a weight for each class");
        if !fits || b.dtype(w) != b.dtype(scores) {
            return Err(b.error("the weight needs one value for each class", "give a vector of C values of the input's type"));
        }
        let all = b.broadcast_to(w, &shape)?;
        let mine = b.prim(Prim::Gather { dim: 1 }, &[all, target])?;
        terms = b.mul(terms, mine)?;
    }
    let class = b.iota(&shape, 1)?;
    let other = b.binary(ScalarOp::Ne, class, target)?;
    let zero = b.zeros_like(terms)?;
    let terms = b.select(other, terms, zero)?;
    let loss = b.mean(terms, &[1], false)?;
    reduced_rows(b, loss, added, a)
}

fn multilabel_margin(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check_index(b, x[1])?;
    let (scores, added) = rows(b, x[0])?;
    let (given, shape) = (b.shape(x[1]), b.shape(scores));
    let have = b.shape(x[0]);
    if given.len() != have.len() || !given.iter().zip(&have).all(|(p, q)| b.graph.env.equal(p, q, "targets have the input's shape")) {
        return Err(b.error("the target has another shape than the input", "fill the targets of each row up with -1"));
    }
    let target = b.reshape(x[1], shape.clone())?;
    let target = b.cast(target, DType::I32)?;
    // Up to the first that is negative.
    let valid = b.scalar(ScalarOp::Ge, target, 0.0)?;
    let valid = b.cast(valid, DType::I32)?;
    let valid = b.prim(Prim::Scan { op: ReduceOp::Prod, dim: 1 }, &[valid])?;
    let valid = b.cast(valid, DType::Bool)?;
    let at = b.scalar(ScalarOp::Max, target, 0.0)?;
    let own = b.prim(Prim::Gather { dim: 1 }, &[scores, at])?;
    // [N, targets, classes]
    let (target, valid, own) = (b.unsqueeze(target, 2)?, b.unsqueeze(valid, 2)?, b.unsqueeze(own, 2)?);
    let all = vec![shape[0].clone(), shape[1].clone(), shape[1].clone()];
    let class = b.iota(&all, 2)?;
    let is = b.binary(ScalarOp::Eq, class, target)?;
    let is = b.binary(ScalarOp::And, is, valid)?;
    let is = b.cast(is, DType::I32)?;
    let hits = b.sum(is, &[1], true)?;
    let other = b.scalar(ScalarOp::Eq, hits, 0.0)?;
    let counts = b.binary(ScalarOp::And, other, valid)?;
    let scores = b.unsqueeze(scores, 1)?;
    let d = b.sub(scores, own)?;
    let d = b.add_scalar(d, 1.0)?;
    let d = b.scalar(ScalarOp::Max, d, 0.0)?;
    let zero = b.zeros_like(d)?;
    let terms = b.select(counts, d, zero)?;
    let sum = b.sum(terms, &[1, 2], false)?;
    let n = b.size_of(&shape[1..], b.dtype(sum))?;
    let loss = b.div(sum, n)?;
    reduced_rows(b, loss, added, a)
}

fn poisson_nll(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (v, target) = (b.float(x[0])?, x[1]);
    let mut terms = if a.bool("log_input")? {
        let (e, t) = (b.unary(ScalarOp::Exp, v)?, b.mul(target, v)?);
        b.sub(e, t)?
    } else {
        let l = b.add_scalar(v, a.float("eps")?)?;
        let l = b.unary(ScalarOp::Log, l)?;
        let t = b.mul(target, l)?;
        b.sub(v, t)?
    };
    if a.bool("full")? {
        // t log t - t + log(2 pi t) / 2
        let target = b.float(target)?;
        let l = b.unary(ScalarOp::Log, target)?;
        let p = b.mul(target, l)?;
        let p = b.sub(p, target)?;
        let q = b.mul_scalar(target, std::f64::consts::TAU)?;
        let q = b.unary(ScalarOp::Log, q)?;
        let q = b.mul_scalar(q, 0.5)?;
        let stirling = b.add(p, q)?;
        let large = b.scalar(ScalarOp::Gt, target, 1.0)?;
        let zero = b.zeros_like(stirling)?;
        let stirling = b.select(large, stirling, zero)?;
        terms = b.add(terms, stirling)?;
    }
    reduced(b, terms, a)
}

fn gaussian_nll(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (v, target, mut var) = (x[0], x[1], x[2]);
    let eps = a.float("eps")?;
    if eps <= 0.0 {
        return Err(b.error(format!("eps is {eps}"), "use a number above 0"));
    }
    let (shape, have) = (b.shape(v), b.shape(var));
    if have != shape && !have.is_empty() {
        if !shape.is_empty() && have[..] == shape[..shape.len() - 1] {
            var = b.unsqueeze(var, have.len())?;
        } else if have.len() != shape.len() || have[..have.len() - 1] != shape[..shape.len() - 1] || !have[have.len() - 1].is_one() {
            let text = format!("a variance of {} for {}", b.graph.env.show_shape(&have), b.graph.env.show_shape(&shape));
            return Err(b.error(text, "give one for each element, or one for each row"));
        }
    }
    let var = b.float(var)?;
    // The bound is added without a derivative.
    let bound = b.scalar(ScalarOp::Max, var, eps)?;
    let more = b.sub(bound, var)?;
    let more = b.prim(Prim::Detach, &[more])?;
    let var = b.add(var, more)?;
    let d = b.sub(v, target)?;
    let d = b.mul(d, d)?;
    let d = b.div(d, var)?;
    let l = b.unary(ScalarOp::Log, var)?;
    let sum = b.add(l, d)?;
    let mut terms = b.mul_scalar(sum, 0.5)?;
    if a.bool("full")? {
        terms = b.add_scalar(terms, 0.5 * std::f64::consts::TAU.ln())?;
    }
    reduced(b, terms, a)
}
