//! The batching rule of every prim: the same prim with a leading axis more.

use super::batch::{Batched, Batcher};
use aludel_ir::collective::IN_BROWSER;
use aludel_ir::{Builder, CollectiveOp, Dim, Prim, Result, ValueId};

/// The results for a batch, where at least one operand is batched.
pub fn prim(b: &mut Builder, batcher: &Batcher, prim: &Prim, x: &[Batched]) -> Result<Vec<Batched>> {
    let size = &batcher.size;
    let led = |dims: &[Dim]| std::iter::once(size.clone()).chain(dims.iter().cloned()).collect::<Vec<Dim>>();
    let later = |dims: &[usize]| dims.iter().map(|d| d + 1).collect::<Vec<usize>>();
    let prim = match prim {
        Prim::Contract { batch, contract } => return contraction(b, batch, contract, x),
        Prim::Collective(c) if !IN_BROWSER && (c.op.divides() || matches!(c.op, CollectiveOp::AllGather { .. })) => {
            // What the ranks divide or join stays in front.
            let operand = batcher.spread(b, x[0])?;
            let led = b.front(operand, 1)?;
            let y = b.prim(prim.clone(), &[led])?;
            return Ok(vec![(b.back(y, 1)?, true)]);
        }
        // No operands, or nothing that a dimension more before the others matters to.
        Prim::Attention(_) | Prim::AttentionBackward(_) | Prim::Fft { .. } | Prim::Collective(_) => prim.clone(),
        Prim::Scalar(_) | Prim::Const(_) | Prim::Size(_) | Prim::Cast(_) | Prim::Bitcast(_) | Prim::Detach => prim.clone(),
        Prim::Iota { shape, dim, dtype } => Prim::Iota { shape: led(shape), dim: dim + 1, dtype: *dtype },
        Prim::Reduce { op, dims } => Prim::Reduce { op: *op, dims: later(dims) },
        Prim::Scan { op, dim } => Prim::Scan { op: *op, dim: dim + 1 },
        Prim::Reshape(shape) => Prim::Reshape(led(shape)),
        Prim::Permute(perm) => Prim::Permute(std::iter::once(0).chain(later(perm)).collect()),
        Prim::Expand(shape) => Prim::Expand(led(shape)),
        Prim::Slice { start, size: sizes, step } => {
            let start = std::iter::once(Dim::ZERO).chain(start.iter().cloned()).collect();
            Prim::Slice { start, size: led(sizes), step: std::iter::once(1).chain(step.iter().copied()).collect() }
        }
        Prim::Pad { lo, hi, value } => {
            let none = |dims: &[Dim]| std::iter::once(Dim::ZERO).chain(dims.iter().cloned()).collect();
            Prim::Pad { lo: none(lo), hi: none(hi), value: *value }
        }
        Prim::Flip(dims) => Prim::Flip(later(dims)),
        Prim::Unfold { dim, size, step, dilation } => Prim::Unfold { dim: dim + 1, size: *size, step: *step, dilation: *dilation },
        Prim::Cat { dim } => Prim::Cat { dim: dim + 1 },
        Prim::Gather { dim } => Prim::Gather { dim: dim + 1 },
        Prim::ScatterAdd { dim } => Prim::ScatterAdd { dim: dim + 1 },
        Prim::Sort { dim, descending, first } => Prim::Sort { dim: dim + 1, descending: *descending, first: *first },
    };
    let operands = x.iter().map(|x| batcher.spread(b, *x)).collect::<Result<Vec<ValueId>>>()?;
    Ok(b.prims(prim, &operands)?.into_iter().map(|v| (v, true)).collect())
}

// Samples on both sides are a batch dimension; on one side they are one more free dimension, so that a weight that they share is still
// multiplied with all of them at once.
fn contraction(b: &mut Builder, batch: &[(usize, usize)], contract: &[(usize, usize)], x: &[Batched]) -> Result<Vec<Batched>> {
    let ((l, left), (r, right)) = (x[0], x[1]);
    let (i, j) = (left as usize, right as usize);
    let later = |pairs: &[(usize, usize)]| pairs.iter().map(|(l, r)| (l + i, r + j)).collect::<Vec<_>>();
    let (mut outer, inner) = (later(batch), later(contract));
    // Where the samples come to lie: before everything, or before one side's free dimensions.
    let at = match (left, right) {
        (true, true) => {
            outer.insert(0, (0, 0));
            0
        }
        (true, false) => outer.len(),
        _ => b.rank(l) - inner.len(),
    };
    let y = b.contract(l, r, &outer, &inner)?;
    let perm: Vec<usize> = std::iter::once(at).chain((0..b.rank(y)).filter(|d| *d != at)).collect();
    Ok(vec![(b.permute(y, &perm)?, true)])
}
