//! The forward-mode rule of every prim: the tangents of its results, given those of its operands.

use super::forward::transpose;
use aludel_ir::{Builder, Collective, CollectiveOp, Literal, Node, Op, Prim, ReduceOp, Result, ValueId};

/// One tangent for each result; `None` where it is zero everywhere. `None` for an operand says the same of it.
pub fn jvp(b: &mut Builder, prim: &Prim, node: &Node, dx: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    let (x, y) = (&node.inputs, &node.outputs);
    let one = |v: ValueId| Ok(vec![Some(v)]);
    // Linear in one operand: the prim itself, on the tangent.
    let same = |b: &mut Builder, v: Option<ValueId>| v.map_or(Ok(vec![None]), |v| Ok(vec![Some(b.prim(prim.clone(), &[v])?)]));
    match prim {
        Prim::Scalar(op) => {
            // The Jacobian is diagonal, so it is its own transpose: the reverse rule, fed with a tangent.
            let Some(grad) = op.def().grad else { return Ok(vec![None]) };
            let mut sum = None;
            for (i, dx) in dx.iter().enumerate() {
                if let Some(dx) = dx
                    && let Some(term) = grad(b, x, y[0], *dx)?[i]
                {
                    sum = Some(match sum {
                        Some(s) => b.add(s, term)?,
                        None => term,
                    });
                }
            }
            Ok(vec![sum])
        }
        Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. } | Prim::Bitcast(_) | Prim::Detach => Ok(vec![None]),
        Prim::Cast(d) => Ok(vec![dx[0].filter(|_| d.is_float()).map(|v| b.cast(v, *d)).transpose()?]),
        Prim::Reshape(_)
        | Prim::Permute(_)
        | Prim::Expand(_)
        | Prim::Slice { .. }
        | Prim::Flip(_)
        | Prim::Unfold { .. }
        | Prim::Fft { .. }
        | Prim::Collective(Collective {
            op:
                CollectiveOp::AllReduce(ReduceOp::Sum)
                | CollectiveOp::ReduceScatter(ReduceOp::Sum)
                | CollectiveOp::AllGather { .. }
                | CollectiveOp::Broadcast { .. }
                | CollectiveOp::AllToAll,
            ..
        })
        | Prim::Reduce { op: ReduceOp::Sum, .. }
        | Prim::Scan { op: ReduceOp::Sum, .. } => same(b, dx[0]),
        Prim::Pad { lo, hi, .. } => {
            let Some(v) = dx[0] else { return Ok(vec![None]) };
            let value = Literal::new(0.0, b.dtype(v));
            one(b.prim(Prim::Pad { lo: lo.clone(), hi: hi.clone(), value }, &[v])?)
        }
        Prim::Cat { .. } => {
            let parts = x.iter().zip(dx).map(|(x, d)| d.map_or_else(|| b.zeros_like(*x), Ok)).collect::<Result<Vec<_>>>()?;
            one(b.prim(prim.clone(), &parts)?)
        }
        Prim::Gather { .. } => Ok(vec![dx[0].map(|v| b.prim(prim.clone(), &[v, x[1]])).transpose()?]),
        Prim::ScatterAdd { .. } => {
            let into = dx[0].map_or_else(|| b.zeros_like(x[0]), Ok)?;
            match dx[2] {
                Some(src) => one(b.prim(prim.clone(), &[into, x[1], src])?),
                None => one(into),
            }
        }
        // The order is that of the values.
        Prim::Sort { dim, .. } => {
            let tangent = dx[0].map(|v| b.prim(Prim::Gather { dim: *dim }, &[v, y[1]])).transpose()?;
            Ok(vec![tangent, None])
        }
        Prim::Contract { .. } => {
            let left = dx[0].map(|v| b.prim(prim.clone(), &[v, x[1]])).transpose()?;
            let right = dx[1].map(|v| b.prim(prim.clone(), &[x[0], v])).transpose()?;
            Ok(vec![match (left, right) {
                (Some(l), Some(r)) => Some(b.add(l, r)?),
                (l, r) => l.or(r),
            }])
        }
        Prim::Reduce { op: ReduceOp::ArgMax | ReduceOp::ArgMin, .. } => Ok(vec![None]),
        // Products, extrema, attention: what the reverse rule says, transposed.
        Prim::Reduce { .. } | Prim::Scan { .. } | Prim::Attention(_) | Prim::AttentionBackward(_) | Prim::Collective(_) => {
            transpose(b, &Node { op: Op::Prim(prim.clone()), ..node.clone() }, dx)
        }
    }
}
