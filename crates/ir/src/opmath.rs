//! Operators of f16 and bf16 compute in f32 and round once, where they end, as PyTorch's kernels do ("opmath"): a mean does not overflow
//! f16, nor is its count rounded to bf16.
//!
//! Matrix products and convolutions keep narrow operands, which matrix units multiply exactly; their sums are in f32 all the same (see
//! `compiler/src/lower/widen.rs`). Operators that only move elements keep them too.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{InputKind, Node, Op, ValueId};
use crate::op::{Attrs, Autocast, OpDef, VjpArgs};
use crate::prim::Prim;
use crate::shape::TensorType;

fn is_narrow(d: DType) -> bool {
    matches!(d, DType::F16 | DType::BF16)
}

/// Inlines an operator's decomposition.
pub(crate) fn decompose(b: &mut Builder, def: &OpDef, inputs: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
    let narrow = inputs.iter().any(|v| is_narrow(b.dtype(*v)));
    if !narrow || def.autocast == Autocast::Low {
        return (def.decompose)(b, inputs, attrs);
    }
    // What types the results have, and whether anything is computed.
    let mut plain = Builder::new(def.name);
    plain.graph.env = b.graph.env.clone();
    let types: Vec<TensorType> = inputs.iter().map(|v| b.ty(*v).clone()).collect();
    let args: Vec<ValueId> = types.into_iter().map(|t| plain.graph.add_input("x", InputKind::Arg, t)).collect();
    let results = (def.decompose)(&mut plain, &args, attrs)?;
    if !plain.graph.nodes.iter().any(|n| computes(&plain, n)) {
        return (def.decompose)(b, inputs, attrs);
    }
    let wide = inputs.iter().map(|v| widen(b, *v)).collect::<Result<Vec<_>>>()?;
    let wide = (def.decompose)(b, &wide, attrs)?;
    wide.into_iter().zip(results).map(|(v, r)| b.cast(v, plain.dtype(r))).collect()
}

/// The gradients by an operator's own derivative, in f32 where the operator computes in it.
pub fn differentiate(b: &mut Builder, def: &OpDef, args: &VjpArgs) -> Option<Result<Vec<Option<ValueId>>>> {
    let vjp = def.vjp?;
    let narrow = args.inputs.iter().any(|v| is_narrow(b.dtype(*v)));
    if !narrow || def.autocast == Autocast::Low {
        return Some(vjp(b, args));
    }
    Some((|| {
        let all = |b: &mut Builder, list: &[ValueId]| list.iter().map(|v| widen(b, *v)).collect::<Result<Vec<_>>>();
        let (inputs, outputs) = (all(b, args.inputs)?, all(b, args.outputs)?);
        let grads = args.grads.iter().map(|g| g.map(|g| widen(b, g)).transpose()).collect::<Result<Vec<_>>>()?;
        // Gradients take their value's type when they are summed to its shape.
        vjp(b, &VjpArgs { inputs: &inputs, outputs: &outputs, grads: &grads, attrs: args.attrs })
    })())
}

fn widen(b: &mut Builder, v: ValueId) -> Result<ValueId> {
    if is_narrow(b.dtype(v)) { b.cast(v, DType::F32) } else { Ok(v) }
}

/// Whether a node does arithmetic on narrow values, other than what is exact.
fn computes(b: &Builder, node: &Node) -> bool {
    let Op::Prim(prim) = &node.op else { return true };
    let arithmetic = match prim {
        Prim::Scalar(op) => !op.is_exact(),
        Prim::Reduce { .. } | Prim::Scan { .. } | Prim::Contract { .. } | Prim::ScatterAdd { .. } => true,
        _ => false,
    };
    arithmetic && node.outputs.iter().any(|v| is_narrow(b.dtype(*v)))
}
