//! Recurrent cells, one step.

use super::pointwise::sigmoid;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!("lstm_cell", "x, h, c, w_ih, w_hh, [b_ih], [b_hh]", "One step of an LSTM: the new h and c. Gates in the order i, f, g, o.", lstm),
    op!("gru_cell", "x, h, w_ih, w_hh, [b_ih], [b_hh]", "One step of a GRU: the new h. Gates in the order r, z, n.", gru),
];

fn project(b: &mut Builder, x: ValueId, w: ValueId, bias: Option<&ValueId>) -> Result<ValueId> {
    let args: Vec<ValueId> = [x, w].into_iter().chain(bias.copied()).collect();
    Ok(b.op("linear", &args, &Attrs::new())?[0])
}

// The `i`-th of `count` equal parts of the last dimension.
fn gate(b: &mut Builder, x: ValueId, i: i64, count: i64) -> Result<ValueId> {
    let dim = b.rank(x) - 1;
    let Some(size) = b.shape(x)[dim].exact_div(&Dim::Const(count)) else {
        return Err(b.error(format!("the weights' rows do not divide into {count} gates"), "give weights of [gates * hidden, features]"));
    };
    b.narrow(x, dim, size.scale(i), size)
}

fn lstm(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let input = project(b, x[0], x[3], x.get(5))?;
    let hidden = project(b, x[1], x[4], x.get(6))?;
    let gates = b.add(input, hidden)?;
    let part = |b: &mut Builder, i| gate(b, gates, i, 4);
    let (i, f, g, o) = (part(b, 0)?, part(b, 1)?, part(b, 2)?, part(b, 3)?);
    let (i, f, o) = (sigmoid(b, i)?, sigmoid(b, f)?, sigmoid(b, o)?);
    let g = b.unary(ScalarOp::Tanh, g)?;
    let kept = b.mul(f, x[2])?;
    let new = b.mul(i, g)?;
    let c = b.add(kept, new)?;
    let t = b.unary(ScalarOp::Tanh, c)?;
    Ok(vec![b.mul(o, t)?, c])
}

fn gru(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let input = project(b, x[0], x[2], x.get(4))?;
    let hidden = project(b, x[1], x[3], x.get(5))?;
    let both = |b: &mut Builder, i| {
        let (p, q) = (gate(b, input, i, 3)?, gate(b, hidden, i, 3)?);
        let s = b.add(p, q)?;
        sigmoid(b, s)
    };
    let (r, z) = (both(b, 0)?, both(b, 1)?);
    let (p, q) = (gate(b, input, 2, 3)?, gate(b, hidden, 2, 3)?);
    let q = b.mul(r, q)?;
    let n = b.add(p, q)?;
    let n = b.unary(ScalarOp::Tanh, n)?;
    // (1 - z) n + z h
    let d = b.sub(x[1], n)?;
    let d = b.mul(z, d)?;
    Ok(vec![b.add(n, d)?])
}
