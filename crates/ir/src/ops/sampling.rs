//! Random choices. As every random operator, they take a key of two u32 and give the same for the same key; see [`super::random`].

use super::shape::constant;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "multinomial",
        "Tensor input, Tensor key, int num_samples, bool replacement=False",
        "i32: num_samples classes for each row of weights [N, C] or [C], drawn with probabilities in proportion to them.",
        multinomial
    )
    .full(),
    op!("bernoulli", "Tensor input, Tensor key", "One with the probability that the input says, else zero.", |b, x, _| {
        let shape = b.shape(x[0]);
        if !b.dtype(x[0]).is_float() {
            return Err(b.error("probabilities are not floats", "convert them with to()"));
        }
        let u = uniform(b, x[1], &shape)?;
        let hit = b.binary(ScalarOp::Lt, u, x[0])?;
        Ok(vec![b.cast(hit, b.dtype(x[0]))?])
    }),
    op!("randperm", "Tensor key, int n", "The i32 numbers from 0 to before n in random order.", |b, x, a| {
        let n = a.int("n")?;
        if n < 0 {
            return Err(b.error(format!("n is {n}"), "use zero or more"));
        }
        let bits = b.op("rand_bits", &[x[0]], &Attrs::new().with("size", vec![n]))?[0];
        Ok(vec![b.prims(Prim::Sort { dim: 0, descending: false, first: None }, &[bits])?[1]])
    }),
];

fn uniform(b: &mut Builder, key: ValueId, shape: &[Dim]) -> Result<ValueId> {
    Ok(b.op("uniform", &[key], &Attrs::new().with("size", shape.to_vec()))?[0])
}

fn multinomial(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (weights, count, rank) = (x[0], a.int("num_samples")?, b.rank(x[0]));
    if !(1..=2).contains(&rank) || !b.dtype(weights).is_float() {
        return Err(b.error("the weights are not rows of floats", "give [N, C] or [C]"));
    }
    let (last, shape) = (rank - 1, b.shape(weights));
    let classes = constant(b, &shape[last])?;
    let again = a.bool("replacement")?;
    if count < 1 || classes < 1 || (!again && count > classes) {
        return Err(
            b.error(format!("{count} samples of {classes} classes"), "draw at least one, and no more than there are without replacement")
        );
    }
    if !again {
        // The first of exponential clocks that run as fast as the weights say, the next, and so on: P. Efraimidis, P. Spirakis, "Weighted
        // random sampling with a reservoir", 2006.
        let u = uniform(b, x[1], &shape)?;
        let u = b.neg(u)?;
        let e = b.unary(ScalarOp::Log1p, u)?;
        let e = b.neg(e)?;
        let e = b.scalar(ScalarOp::Max, e, f32::MIN_POSITIVE as f64)?;
        let score = b.div(weights, e)?;
        return Ok(vec![b.prims(Prim::Sort { dim: last, descending: true, first: Some(count) }, &[score])?[1]]);
    }
    let mut drawn = shape.clone();
    drawn[last] = Dim::Const(count);
    let upto = b.prim(Prim::Scan { op: ReduceOp::Sum, dim: last }, &[weights])?;
    let total = b.narrow(upto, last, Dim::Const(classes - 1), Dim::ONE)?;
    let u = uniform(b, x[1], &drawn)?;
    let u = b.mul(u, total)?;
    let y = b.op("searchsorted", &[upto, u], &Attrs::new().with("right", true))?[0];
    // Rounding may reach the total: never behind the last class that has a weight.
    let class = b.iota(&shape, last)?;
    let has = b.scalar(ScalarOp::Gt, weights, 0.0)?;
    let has = b.cast(has, DType::I32)?;
    let most = b.mul(class, has)?;
    let most = b.reduce(ReduceOp::Max, most, &[last], true)?;
    Ok(vec![b.binary(ScalarOp::Min, y, most)?])
}
