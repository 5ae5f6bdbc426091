//! Searching sorted sequences, membership, histograms and running extremes.

use super::shape::constant;
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
        "searchsorted",
        "Tensor sorted_sequence, Tensor|Scalar input, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None",
        "i32: where the input would go into the sequence, sorted along its last dimension, to keep it sorted: before equals, or behind \
         them with right. The sequence is a vector, or one for each row of the input; sorter has the order of one that is not sorted.",
        |b, x, a| {
            let sequence = match a.tensor(x, "sorter") {
                Some(order) if b.shape(order) == b.shape(x[0]) && b.dtype(order).is_int() => {
                    let dim = b.rank(x[0]).saturating_sub(1);
                    b.prim(Prim::Gather { dim }, &[x[0], order])?
                }
                Some(_) => return Err(b.error("the sorter is not an index for each element", "give the indices of argsort()")),
                None => x[0],
            };
            search(b, sequence, x[1], is_right(b, a)?)
        }
    ),
    op!(
        "bucketize",
        "Tensor|Scalar input, Tensor boundaries, *, bool out_int32=False, bool right=False",
        "i32: which interval between sorted boundaries the input lies in: boundaries[i - 1] < input <= boundaries[i], or with right \
         boundaries[i - 1] <= input < boundaries[i].",
        |b, x, a| {
            if b.rank(x[1]) != 1 {
                return Err(b.error("the boundaries are not a vector", "use searchsorted() for rows of boundaries"));
            }
            search(b, x[1], x[0], a.bool("right")?)
        }
    ),
    op!(
        "isin",
        "Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=False, bool invert=False",
        "Whether each element is among the test elements; with invert whether it is not.",
        |b, x, a| {
            super::activation::no_truth_values(b, x)?;
            let both = b.promote_dtype(x)?;
            let shape = b.shape(both[0]);
            let tests = Expr::product(&b.shape(both[1]));
            let tests = b.reshape(both[1], vec![tests])?;
            let elements = b.unsqueeze(both[0], shape.len())?;
            let same = b.binary(ScalarOp::Eq, elements, tests)?;
            let same = b.cast(same, DType::I32)?;
            let hits = b.sum(same, &[shape.len()], false)?;
            let op = if a.bool("invert")? { ScalarOp::Eq } else { ScalarOp::Gt };
            Ok(vec![b.scalar(op, hits, 0.0)?])
        }
    ),
    op!(
        "cummax",
        "Tensor input, int dim",
        "The largest element so far along dim, and the i32 index of its last occurrence; NaN is the largest.",
        |b, x, a| running(b, x[0], a, ScalarOp::Ge)
    ),
    op!(
        "cummin",
        "Tensor input, int dim",
        "The smallest element so far along dim, and the i32 index of its last occurrence; NaN is the smallest.",
        |b, x, a| running(b, x[0], a, ScalarOp::Le)
    ),
    op!(
        "histc",
        "Tensor input, int bins=100, Scalar min=0, Scalar max=0",
        "How many elements lie in each of equal intervals from min to max, the last one closed; what lies outside is not counted. Where \
         min equals max, they are the smallest and the largest element.",
        histc
    ),
];

fn is_right(b: &Builder, a: &Attrs) -> Result<bool> {
    let right = a.bool("right")?;
    match a.opt_str("side")? {
        None => Ok(right),
        Some("right") => Ok(true),
        Some("left") if !right => Ok(false),
        Some("left") => Err(b.error("side is \"left\" and right is set", "give one of them")),
        Some(other) => Err(b.error(format!("side is {other:?}"), "use \"left\" or \"right\"")),
    }
}

/// Binary search for every element at once: log2(n + 1) steps, each one gather.
fn search(b: &mut Builder, sequence: ValueId, values: ValueId, right: bool) -> Result<Vec<ValueId>> {
    let both = b.promote_dtype(&[sequence, values])?;
    let (mut sequence, values) = (both[0], both[1]);
    let (rank, shape) = (b.rank(sequence), b.shape(values));
    let Some(dim) = rank.checked_sub(1) else { return Err(b.error("a scalar is no sequence", "give a vector")) };
    let size = b.shape(sequence)[dim].clone();
    let n = constant(b, &size)?;
    // A vector is searched for all values in a row.
    let mut wanted = values;
    if rank == 1 {
        wanted = b.reshape(values, vec![Expr::product(&shape)])?;
    } else {
        let rows = shape.len() == rank
            && (0..dim).all(|d| b.graph.env.equal(&b.shape(sequence)[d].clone(), &shape[d], "a row of values for each sequence"));
        if !rows {
            let (s, v) = (b.graph.env.show_shape(&b.shape(sequence)), b.graph.env.show_shape(&shape));
            return Err(b.error(format!("sequences {s} do not fit values {v}"), "give a vector, or rows for each row of the input"));
        }
    }
    let (mut low, mut high) = (b.full(&b.shape(wanted), 0.0, DType::I32)?, b.full(&b.shape(wanted), n as f64, DType::I32)?);
    if n == 0 {
        return Ok(vec![b.reshape(low, shape)?]);
    }
    if b.dtype(sequence) == DType::Bool {
        sequence = b.cast(sequence, DType::I32)?;
        wanted = b.cast(wanted, DType::I32)?;
    }
    for _ in 0..(n as u64).ilog2() + 1 {
        // low <= answer <= high; where they are equal, the step changes neither.
        let sum = b.add(low, high)?;
        let middle = b.scalar(ScalarOp::Shr, sum, 1.0)?;
        let at = b.scalar(ScalarOp::Min, middle, (n - 1) as f64)?;
        let here = b.prim(Prim::Gather { dim }, &[sequence, at])?;
        // Not the other comparison turned round: NaN goes behind everything.
        let stop = b.binary(if right { ScalarOp::Gt } else { ScalarOp::Ge }, here, wanted)?;
        let open = b.binary(ScalarOp::Lt, low, high)?;
        let after = b.add_scalar(middle, 1.0)?;
        let up = b.select(stop, low, after)?;
        low = b.select(open, up, low)?;
        high = b.select(stop, middle, high)?;
    }
    Ok(vec![b.reshape(low, shape)?])
}

/// In log2(n) rounds each element takes in the best of those before it (W. Hillis, G. Steele, "Data parallel algorithms", 1986): of each
/// the place is kept, and the value read from there, so that the one element takes the gradient.
fn running(b: &mut Builder, x: ValueId, a: &Attrs, wins: ScalarOp) -> Result<Vec<ValueId>> {
    let dim = b.dim(x, a.int("dim")?)?;
    if b.rank(x) == 0 {
        let zero = b.constant(0.0, DType::I32)?;
        return Ok(vec![x, zero]);
    }
    let shape = b.shape(x);
    let n = constant(b, &shape[dim])?;
    let mut place = b.iota(&shape, dim)?;
    let fixed = b.prim(Prim::Detach, &[x])?;
    let mut best = if b.dtype(x) == DType::Bool { b.cast(fixed, DType::I32)? } else { fixed };
    let mut reach = 1;
    while reach < n {
        let before = |b: &mut Builder, v: ValueId| {
            // The first ones have nobody before them: they meet themselves.
            let (own, rest) = (b.narrow(v, dim, Dim::ZERO, Dim::Const(reach))?, b.narrow(v, dim, Dim::ZERO, Dim::Const(n - reach))?);
            b.cat(&[own, rest], dim)
        };
        let (old, old_place) = (before(b, best)?, before(b, place)?);
        let mut later = b.binary(wins, best, old)?;
        if b.dtype(best).is_float() {
            let (new_nan, old_nan) = (b.unary(ScalarOp::IsNan, best)?, b.unary(ScalarOp::IsNan, old)?);
            let number = b.unary(ScalarOp::Not, old_nan)?;
            later = b.binary(ScalarOp::And, later, number)?;
            later = b.binary(ScalarOp::Or, later, new_nan)?;
        }
        best = b.select(later, best, old)?;
        place = b.select(later, place, old_place)?;
        reach *= 2;
    }
    let y = b.prim(Prim::Gather { dim }, &[x, place])?;
    Ok(vec![y, place])
}

fn histc(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (bins, low, high) = (a.int("bins")?, a.float("min")?, a.float("max")?);
    if bins < 1 {
        return Err(b.error(format!("bins is {bins}"), "use one or more"));
    }
    if low > high || !low.is_finite() || !high.is_finite() {
        return Err(b.error(format!("no interval from {low} to {high}"), "give finite numbers, the larger as max"));
    }
    let dtype = b.dtype(x[0]);
    if dtype == DType::Bool {
        return Err(b.error("bool has no histogram", "convert with to()"));
    }
    let n = Expr::product(&b.shape(x[0]));
    let v = b.reshape(x[0], vec![n.clone()])?;
    let v = b.float(v)?;
    let wide = b.dtype(v);
    let (min, max) = if low < high || n.is_zero() {
        let (low, high) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
        (b.full(&[], low, wide)?, b.full(&[], high, wide)?)
    } else {
        let (min, max) = (b.reduce(ReduceOp::Min, v, &[0], false)?, b.reduce(ReduceOp::Max, v, &[0], false)?);
        // All elements equal: an interval around them.
        let same = b.binary(ScalarOp::Eq, min, max)?;
        let (below, above) = (b.add_scalar(min, -1.0)?, b.add_scalar(max, 1.0)?);
        (b.select(same, below, min)?, b.select(same, above, max)?)
    };
    let (after, before) = (b.binary(ScalarOp::Ge, v, min)?, b.binary(ScalarOp::Le, v, max)?);
    let inside = b.binary(ScalarOp::And, after, before)?;
    let (above, width) = (b.sub(v, min)?, b.sub(max, min)?);
    let place = b.mul_scalar(above, bins as f64)?;
    let place = b.div(place, width)?;
    let (zero, rest) = (b.zeros_like(place)?, b.full(&[n], bins as f64, DType::I32)?);
    let place = b.select(inside, place, zero)?;
    let place = b.cast(place, DType::I32)?;
    let place = b.scalar(ScalarOp::Min, place, (bins - 1) as f64)?;
    // What lies outside goes to one more bin, which is dropped.
    let place = b.select(inside, place, rest)?;
    let (counts, ones) = (b.full(&[Dim::Const(bins + 1)], 0.0, DType::I32)?, b.full(&b.shape(place), 1.0, DType::I32)?);
    let counts = b.prim(Prim::ScatterAdd { dim: 0 }, &[counts, place, ones])?;
    let counts = b.narrow(counts, 0, Dim::ZERO, Dim::Const(bins))?;
    Ok(vec![b.cast(counts, dtype)?])
}
