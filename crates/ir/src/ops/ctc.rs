//! Connectionist temporal classification: A. Graves, S. Fernández, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
//! labelling unsegmented sequence data with recurrent neural networks", 2006.

use super::index::check_index;
use super::loss::reduced;
use super::shape::constant;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[op!(
    "ctc_loss",
    "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, str reduction=\"mean\", \
     bool zero_infinity=False",
    "Minus the logarithm of the probability that log-probabilities [T, N, C] (or [T, C]) spell the targets [N, S] (or all of them in a row), \
     by any path with blanks between. The mean is of each loss over its target's length. As in PyTorch, the gradient is that of the \
     scores that log_softmax made the log-probabilities of.",
    ctc
)
.full()];

/// Stands for the logarithm of zero: sums with it stay finite, and no probability of f32 is as small.
const NEVER: f64 = -1e30;

/// log(e^x + e^y + e^z)
fn log_sum(b: &mut Builder, terms: &[ValueId]) -> Result<ValueId> {
    let mut most = terms[0];
    for t in &terms[1..] {
        most = b.binary(ScalarOp::Max, most, *t)?;
    }
    let most = b.prim(Prim::Detach, &[most])?;
    let mut sum = None;
    for t in terms {
        let d = b.sub(*t, most)?;
        let e = b.unary(ScalarOp::Exp, d)?;
        sum = Some(match sum {
            Some(s) => b.add(s, e)?,
            None => e,
        });
    }
    let l = b.unary(ScalarOp::Log, sum.unwrap_or(most))?;
    b.add(l, most)
}

/// `x` with its last dimension moved on by `n`, impossible before.
fn after(b: &mut Builder, x: ValueId, n: i64, length: i64) -> Result<ValueId> {
    let kept = b.narrow(x, 1, Dim::ZERO, Dim::Const((length - n).max(0)))?;
    b.pad(kept, 1, Dim::Const(n.min(length)), Dim::ZERO, NEVER)
}

/// Targets as rows [N, S], and the S of all.
fn target_rows(b: &mut Builder, targets: ValueId, lengths: ValueId, batch: &Dim, times: i64) -> Result<(ValueId, i64)> {
    check_index(b, targets)?;
    let targets = b.cast(targets, DType::I32)?;
    let shape = b.shape(targets);
    if shape.len() == 2 {
        if !b.graph.env.equal(&shape[0], batch, "a target for each sequence") {
            return Err(b.error("there are not as many targets as sequences", "give a row of targets for each"));
        }
        let most = constant(b, &shape[1])?;
        return Ok((targets, most));
    }
    if shape.len() != 1 {
        return Err(b.error("targets have too many dimensions", "give [N, S], or a vector of all"));
    }
    // All in a row: each starts behind the ones before. None that can be spelled is longer than the input.
    let total = constant(b, &shape[0])?;
    let most = total.min(times);
    let upto = b.prim(Prim::Scan { op: ReduceOp::Sum, dim: 0 }, &[lengths])?;
    let start = b.sub(upto, lengths)?;
    let start = b.unsqueeze(start, 1)?;
    let place = b.iota(&[Dim::ONE, Dim::Const(most)], 1)?;
    let at = b.add(start, place)?;
    if most == 0 {
        return Ok((b.cast(at, DType::I32)?, 0));
    }
    let at = b.scalar(ScalarOp::Min, at, (total - 1) as f64)?;
    let flat = b.reshape(at, vec![batch.scale(most)])?;
    let rows = b.prim(Prim::Gather { dim: 0 }, &[targets, flat])?;
    Ok((b.reshape(rows, vec![batch.clone(), Dim::Const(most)])?, most))
}

fn ctc(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let rank = b.rank(x[0]);
    if !(2..=3).contains(&rank) || !b.dtype(x[0]).is_float() {
        return Err(b.error("the log-probabilities are not [T, N, C]", "give floats of three dimensions, or [T, C]"));
    }
    let mut x = x.to_vec();
    if rank == 2 {
        x[0] = b.unsqueeze(x[0], 1)?;
        let n = Expr::product(&b.shape(x[1]));
        x[1] = b.reshape(x[1], vec![Dim::ONE, n])?;
    }
    let shape = b.shape(x[0]);
    let (times, classes, batch) = (constant(b, &shape[0])?, constant(b, &shape[2])?, shape[1].clone());
    let blank = a.int("blank")?;
    if !(0..classes).contains(&blank) {
        return Err(b.error(format!("blank is {blank} of {classes} classes"), "name one of the classes"));
    }
    for v in &mut x[2..4] {
        check_index(b, *v)?;
        let n = Expr::product(&b.shape(*v));
        if b.rank(*v) > 1 || !b.graph.env.equal(&n, &batch, "a length for each sequence") {
            return Err(b.error("there are not as many lengths as sequences", "give a vector of N lengths"));
        }
        *v = b.reshape(*v, vec![n])?;
        *v = b.cast(*v, DType::I32)?;
    }
    let (log_probs, lengths, target_lengths) = (x[0], x[2], x[3]);
    let (targets, most) = target_rows(b, x[1], target_lengths, &batch, times)?;
    let (loss, possible) = Paths::new(b, targets, &batch, most, blank, classes)?.loss(b, log_probs, lengths, target_lengths, times)?;
    // Nothing in value; the gradient of the scores that log_softmax normalised.
    let probs = b.unary(ScalarOp::Exp, log_probs)?;
    let fixed = b.prim(Prim::Detach, &[probs])?;
    let extra = b.sub(probs, fixed)?;
    let time = b.iota(&shape, 0)?;
    let last = b.unsqueeze(lengths, 1)?;
    let running = b.binary(ScalarOp::Lt, time, last)?;
    let zero = b.zeros_like(extra)?;
    let extra = b.select(running, extra, zero)?;
    let extra = b.sum(extra, &[0, 2], false)?;
    let loss = b.add(loss, extra)?;
    let never = b.full_like(loss, if a.bool("zero_infinity")? { 0.0 } else { f64::INFINITY })?;
    let loss = b.select(possible, loss, never)?;
    if a.str("reduction")? == "mean" {
        let n = b.scalar(ScalarOp::Max, target_lengths, 1.0)?;
        let n = b.cast(n, b.dtype(loss))?;
        let each = b.div(loss, n)?;
        return Ok(vec![b.mean(each, &[0], false)?]);
    }
    let loss = if rank == 2 { b.reshape(loss, Vec::new())? } else { loss };
    reduced(b, loss, a)
}

/// The states that a path goes through: the targets of each row with blanks before, between and behind.
struct Paths {
    batch: Dim,
    /// How many states: 2 S + 1.
    count: i64,
    /// The class of each state, [N, 2 S + 1].
    class: ValueId,
    /// Whether a state may follow the one before the last: neither a blank nor the same class.
    skips: ValueId,
}

impl Paths {
    fn new(b: &mut Builder, targets: ValueId, batch: &Dim, most: i64, blank: i64, classes: i64) -> Result<Paths> {
        let count = 2 * most + 1;
        // What fills rows up behind their targets may be no class.
        let targets = b.scalar(ScalarOp::Max, targets, 0.0)?;
        let targets = b.scalar(ScalarOp::Min, targets, (classes - 1) as f64)?;
        let wide = b.unsqueeze(targets, 2)?;
        let pairs = b.pad(wide, 2, Dim::ONE, Dim::ZERO, blank as f64)?;
        let flat = b.reshape(pairs, vec![batch.clone(), Dim::Const(2 * most)])?;
        let class = b.pad(flat, 1, Dim::ZERO, Dim::ONE, blank as f64)?;
        let before = b.narrow(class, 1, Dim::ZERO, Dim::Const((count - 2).max(0)))?;
        let before = b.pad(before, 1, Dim::Const(2.min(count)), Dim::ZERO, blank as f64)?;
        let (letter, new) = (b.scalar(ScalarOp::Ne, class, blank as f64)?, b.binary(ScalarOp::Ne, class, before)?);
        let skips = b.binary(ScalarOp::And, letter, new)?;
        Ok(Paths { batch: batch.clone(), count, class, skips })
    }

    /// The loss of each row, and whether any path spells its target.
    fn loss(&self, b: &mut Builder, log_probs: ValueId, lengths: ValueId, targets: ValueId, times: i64) -> Result<(ValueId, ValueId)> {
        let dtype = b.dtype(log_probs);
        let states = [self.batch.clone(), Dim::Const(self.count)];
        let state = b.iota(&states, 1)?;
        let start = b.scalar(ScalarOp::Eq, state, 0.0)?;
        let (zero, never) = (b.full(&states, 0.0, dtype)?, b.full(&states, NEVER, dtype)?);
        // Before the first time a path is in the first blank, or just before it: what it can reach are the first two states.
        let mut alpha = b.select(start, zero, never)?;
        let (last, ends) = (b.unsqueeze(lengths, 1)?, b.scalar(ScalarOp::Mul, targets, 2.0)?);
        for t in 0..times {
            let row = b.narrow(log_probs, 0, Dim::Const(t), Dim::ONE)?;
            let row = b.reshape(row, b.shape(row)[1..].to_vec())?;
            let here = b.prim(Prim::Gather { dim: 1 }, &[row, self.class])?;
            let one = after(b, alpha, 1, self.count)?;
            let two = after(b, alpha, 2, self.count)?;
            let two = b.select(self.skips, two, never)?;
            let terms = if t == 0 { vec![alpha, one] } else { vec![alpha, one, two] };
            let sum = log_sum(b, &terms)?;
            let next = b.add(sum, here)?;
            let running = b.scalar(ScalarOp::Gt, last, t as f64)?;
            alpha = b.select(running, next, alpha)?;
        }
        // In the last blank, or in the last letter.
        let end = b.unsqueeze(ends, 1)?;
        let at = b.scalar(ScalarOp::Min, end, (self.count - 1) as f64)?;
        let letter = b.add_scalar(at, -1.0)?;
        let safe = b.scalar(ScalarOp::Max, letter, 0.0)?;
        let blank = b.prim(Prim::Gather { dim: 1 }, &[alpha, at])?;
        let other = b.prim(Prim::Gather { dim: 1 }, &[alpha, safe])?;
        let none = b.full_like(other, NEVER)?;
        let spelled = b.scalar(ScalarOp::Ge, letter, 0.0)?;
        let other = b.select(spelled, other, none)?;
        let sum = log_sum(b, &[blank, other])?;
        let sum = b.reshape(sum, vec![self.batch.clone()])?;
        let (reached, fits) = (b.scalar(ScalarOp::Gt, sum, NEVER / 2.0)?, b.scalar(ScalarOp::Lt, ends, self.count as f64)?);
        let possible = b.binary(ScalarOp::And, reached, fits)?;
        Ok((b.neg(sum)?, possible))
    }
}
