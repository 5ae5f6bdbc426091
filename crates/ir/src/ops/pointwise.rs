//! Pointwise operators.

use crate::build::Builder;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::scalar::ScalarOp;

macro_rules! unary {
    ($name:literal, $op:ident, $doc:literal) => {
        OpDef { name: $name, doc: $doc, signature: "x", decompose: |b, x, _| Ok(vec![b.unary(ScalarOp::$op, x[0])?]), vjp: None }
    };
}

pub static OPS: &[OpDef] = &[
    unary!("abs", Abs, "|x|"),
    OpDef {
        name: "relu",
        doc: "max(x, 0). PyTorch: torch.nn.functional.relu.",
        signature: "x",
        decompose: relu,
        vjp: Some(|b, v| {
            // Masked by the result, so that the pre-activation need not be kept.
            let Some(dy) = v.grads[0] else { return Ok(vec![None]) };
            let zero = b.zeros_like(dy)?;
            let pos = b.binary(ScalarOp::Gt, v.outputs[0], zero)?;
            Ok(vec![Some(b.select(pos, dy, zero)?)])
        }),
    },
];

fn relu(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let zero = b.zeros_like(x[0])?;
    Ok(vec![b.binary(ScalarOp::Max, x[0], zero)?])
}
