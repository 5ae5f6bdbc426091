//! Recurrent cells, one step, and recurrent layers over a sequence.
//!
//! A layer takes what the input contributes to every step's gates as one tensor (one product for all steps, made outside) and runs
//! its steps one after the other: one product with the hidden state and one pointwise kernel each. Its derivative walks back in the
//! same way and makes the gradient of the weights by one product over all steps at the end.

use super::pointwise::sigmoid;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "lstm_cell",
        "Tensor input, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
        "One step of an LSTM: the new h and c. Gates in the order i, f, g, o.",
        lstm_cell
    )
    .low(),
    op!(
        "gru_cell",
        "Tensor input, Tensor h, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
        "One step of a GRU: the new h. Gates in the order r, z, n.",
        gru_cell
    )
    .low(),
    op!(
        "lstm",
        "Tensor gates, Tensor w_hh, Tensor? h_0=None, Tensor? c_0=None, bool reverse=False",
        "An LSTM over a sequence. gates [T, N, 4 H] is what the inputs and biases contribute, in the order i, f, g, o. Gives the output \
         [T, N, H], the last h and c, and for the derivative every step's c [T, N, H] and sums of gates [T, N, 4 H].",
        |b, x, a| Ok(lstm(b, x, a)?.results()),
        lstm_vjp
    )
    .low(),
    op!(
        "gru",
        "Tensor gates, Tensor w_hh, Tensor? b_hh=None, Tensor? h_0=None, bool reverse=False",
        "A GRU over a sequence. gates [T, N, 3 H] is what the inputs and their bias contribute, in the order r, z, n; b_hh has one \
         dimension, h_0 two. Gives the output [T, N, H], the last h, and for the derivative what the hidden state contributes \
         [T, N, 3 H].",
        gru,
        gru_vjp
    )
    .low(),
    op!(
        "rnn",
        "Tensor gates, Tensor w_hh, Tensor? h_0=None, bool reverse=False, str nonlinearity=\"tanh\"",
        "An Elman network over a sequence: tanh or relu of gates [T, N, H] plus w_hh times the last h. Gives the output [T, N, H] and \
         the last h.",
        rnn,
        rnn_vjp
    )
    .low(),
];

fn project(b: &mut Builder, x: ValueId, w: ValueId, bias: Option<&ValueId>) -> Result<ValueId> {
    if b.rank(w) != 2 {
        return Err(b.error("a weight is no matrix", "give weights of [gates * hidden, features]"));
    }
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

// A cell's gates are of the operands' type, what follows is in f32 and rounds once, as in PyTorch's kernels (see `opmath`).
fn wide(b: &mut Builder, v: ValueId) -> Result<ValueId> {
    b.cast(v, b.dtype(v).promote(DType::F32))
}

fn lstm_cell(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let input = project(b, x[0], x[3], x.get(5))?;
    let hidden = project(b, x[1], x[4], x.get(6))?;
    let dtype = b.dtype(input);
    let (input, hidden, c) = (wide(b, input)?, wide(b, hidden)?, wide(b, x[2])?);
    let gates = b.add(input, hidden)?;
    let g = LstmGates::of(b, gates)?;
    let (h, c) = g.step(b, Some(c))?;
    Ok(vec![b.cast(h, dtype)?, b.cast(c, dtype)?])
}

/// The gates of one step, their functions applied.
struct LstmGates {
    i: ValueId,
    f: ValueId,
    g: ValueId,
    o: ValueId,
}

impl LstmGates {
    fn of(b: &mut Builder, sums: ValueId) -> Result<LstmGates> {
        let part = |b: &mut Builder, i| gate(b, sums, i, 4);
        let (i, f, g, o) = (part(b, 0)?, part(b, 1)?, part(b, 2)?, part(b, 3)?);
        let (i, f, o) = (sigmoid(b, i)?, sigmoid(b, f)?, sigmoid(b, o)?);
        Ok(LstmGates { i, f, g: b.unary(ScalarOp::Tanh, g)?, o })
    }

    // The new h and c; without the old c as from zeros.
    fn step(&self, b: &mut Builder, c: Option<ValueId>) -> Result<(ValueId, ValueId)> {
        let mut new = b.mul(self.i, self.g)?;
        if let Some(c) = c {
            let kept = b.mul(self.f, c)?;
            new = b.add(kept, new)?;
        }
        let t = b.unary(ScalarOp::Tanh, new)?;
        Ok((b.mul(self.o, t)?, new))
    }
}

fn gru_cell(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let input = project(b, x[0], x[2], x.get(4))?;
    let hidden = project(b, x[1], x[3], x.get(5))?;
    let dtype = b.dtype(input);
    let (input, hidden, h) = (wide(b, input)?, wide(b, hidden)?, wide(b, x[1])?);
    let g = GruGates::of(b, input, Some(hidden))?;
    let h = g.step(b, Some(h))?;
    Ok(vec![b.cast(h, dtype)?])
}

/// The gates of one step, their functions applied.
struct GruGates {
    r: ValueId,
    z: ValueId,
    n: ValueId,
    /// What the hidden state contributes to `n`, before `r` scales it.
    hidden_n: Option<ValueId>,
}

impl GruGates {
    fn of(b: &mut Builder, input: ValueId, hidden: Option<ValueId>) -> Result<GruGates> {
        let part = |b: &mut Builder, i| -> Result<(ValueId, Option<ValueId>)> {
            Ok((gate(b, input, i, 3)?, hidden.map(|h| gate(b, h, i, 3)).transpose()?))
        };
        let sum = |b: &mut Builder, (p, q): (ValueId, Option<ValueId>)| q.map_or(Ok(p), |q| b.add(p, q));
        let (pr, pz, (p, hidden_n)) = (part(b, 0)?, part(b, 1)?, part(b, 2)?);
        let (r, z) = (sum(b, pr)?, sum(b, pz)?);
        let (r, z) = (sigmoid(b, r)?, sigmoid(b, z)?);
        let scaled = hidden_n.map(|q| b.mul(r, q)).transpose()?;
        let n = sum(b, (p, scaled))?;
        Ok(GruGates { r, z, n: b.unary(ScalarOp::Tanh, n)?, hidden_n })
    }

    // (1 - z) n + z h; without h as from zeros.
    fn step(&self, b: &mut Builder, h: Option<ValueId>) -> Result<ValueId> {
        let d = match h {
            Some(h) => b.sub(h, self.n)?,
            None => b.neg(self.n)?,
        };
        let d = b.mul(self.z, d)?;
        b.add(self.n, d)
    }
}

/// A sequence `[T, N, C]` and the order in which its steps run.
struct Steps {
    /// Positions in order of time.
    order: Vec<i64>,
    batch: Dim,
}

impl Steps {
    // The number of steps becomes part of what a graph is valid for: they are unrolled.
    fn of(b: &mut Builder, gates: ValueId, w_hh: ValueId, count: i64, a: &Attrs) -> Result<Steps> {
        let (shape, weight) = (b.shape(gates), b.shape(w_hh));
        if shape.len() != 3 || weight.len() != 2 {
            return Err(b.error("needs gates of [time, batch, gates * hidden] and a weight of [gates * hidden, hidden]", "reshape them"));
        }
        let hidden = weight[1].scale(count);
        let env = &mut b.graph.env;
        if !env.equal(&shape[2], &weight[0], "gates have the weight's rows") || !env.equal(&weight[0], &hidden, "a gate for each unit") {
            return Err(b.error(
                format!("gates, weight and {count} times the hidden size differ"),
                "give gates of [time, batch, gates * hidden] and a weight of [gates * hidden, hidden]",
            ));
        }
        let steps = env.hint_or_one(&shape[0]);
        env.equal(&shape[0], &Dim::Const(steps), "the steps of a recurrent layer are unrolled");
        if steps < 1 {
            return Err(b.error("the sequence has no steps", "give at least one"));
        }
        let order = if a.bool("reverse")? { (0..steps).rev().collect() } else { (0..steps).collect() };
        Ok(Steps { order, batch: shape[1].clone() })
    }

    // One step of a sequence: `[N, C]`.
    fn at(&self, b: &mut Builder, x: ValueId, t: i64) -> Result<ValueId> {
        let v = b.narrow(x, 0, Dim::Const(t), Dim::ONE)?;
        let width = b.shape(x)[2].clone();
        b.reshape(v, vec![self.batch.clone(), width])
    }

    // The sequence of values that were made in order of time.
    fn stack(&self, b: &mut Builder, mut values: Vec<ValueId>) -> Result<ValueId> {
        if self.order.first() > self.order.last() {
            values.reverse();
        }
        let values = values.into_iter().map(|v| b.unsqueeze(v, 0)).collect::<Result<Vec<_>>>()?;
        b.cat(&values, 0)
    }
}

// x w^T of matrices.
fn times_transposed(b: &mut Builder, x: ValueId, w: ValueId) -> Result<ValueId> {
    b.contract(x, w, &[], &[(1, 1)])
}

fn sum_of(b: &mut Builder, parts: impl IntoIterator<Item = Option<ValueId>>) -> Result<Option<ValueId>> {
    let mut parts = parts.into_iter().flatten();
    let Some(first) = parts.next() else { return Ok(None) };
    parts.try_fold(first, |sum, p| b.add(sum, p)).map(Some)
}

// The gradient of a weight that multiplied every step's last h: sum over t of d[t]^T h[t - 1].
fn recurrent_weight(b: &mut Builder, steps: &Steps, d: ValueId, output: ValueId, h0: Option<ValueId>) -> Result<Option<ValueId>> {
    let n = steps.order.len() as i64;
    let mut parts = Vec::new();
    if n > 1 {
        // In order of time the first step has no predecessor and the last one no successor.
        let (later, earlier) = if steps.order[0] == 0 { (1, 0) } else { (0, 1) };
        let (dd, hh) =
            (b.narrow(d, 0, Dim::Const(later), Dim::Const(n - 1))?, b.narrow(output, 0, Dim::Const(earlier), Dim::Const(n - 1))?);
        parts.push(Some(b.contract(dd, hh, &[], &[(0, 0), (1, 1)])?));
    }
    if let Some(h0) = h0 {
        let first = steps.at(b, d, steps.order[0])?;
        parts.push(Some(b.contract(first, h0, &[], &[(0, 0)])?));
    }
    sum_of(b, parts)
}

struct Lstm {
    output: ValueId,
    h: ValueId,
    c: ValueId,
    cells: ValueId,
    sums: ValueId,
}

impl Lstm {
    fn results(self) -> Vec<ValueId> {
        vec![self.output, self.h, self.c, self.cells, self.sums]
    }
}

fn lstm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Lstm> {
    let (gates, w) = (x[0], x[1]);
    let steps = Steps::of(b, gates, w, 4, a)?;
    if x.len() == 3 {
        return Err(b.error("h_0 without c_0", "give both or none"));
    }
    let (mut h, mut c) = (x.get(2).copied(), x.get(3).copied());
    let (mut outputs, mut cells, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for t in &steps.order {
        let mut z = steps.at(b, gates, *t)?;
        if let Some(h) = h {
            let p = times_transposed(b, h, w)?;
            z = b.add(z, p)?;
        }
        let g = LstmGates::of(b, z)?;
        let (new_h, new_c) = g.step(b, c)?;
        (h, c) = (Some(new_h), Some(new_c));
        outputs.push(new_h);
        cells.push(new_c);
        sums.push(z);
    }
    let last = |v: &Vec<ValueId>| v[v.len() - 1];
    let (h, c) = (last(&outputs), last(&cells));
    Ok(Lstm { output: steps.stack(b, outputs)?, h, c, cells: steps.stack(b, cells)?, sums: steps.stack(b, sums)? })
}

// y (1 - y), the derivative of the logistic function by its value.
fn sigmoid_slope(b: &mut Builder, y: ValueId) -> Result<ValueId> {
    let y2 = b.mul(y, y)?;
    b.sub(y, y2)
}

// 1 - y^2, the derivative of tanh by its value, times a gradient.
fn through_tanh(b: &mut Builder, d: ValueId, y: ValueId) -> Result<ValueId> {
    let y2 = b.mul(y, y)?;
    let t = b.mul(d, y2)?;
    b.sub(d, t)
}

fn through_sigmoid(b: &mut Builder, d: ValueId, y: ValueId) -> Result<ValueId> {
    let s = sigmoid_slope(b, y)?;
    b.mul(d, s)
}

// Per-gate sequences as one: [T, N, gates * H].
fn join_gates(b: &mut Builder, steps: &Steps, parts: Vec<Vec<ValueId>>) -> Result<ValueId> {
    let parts = parts.into_iter().map(|p| steps.stack(b, p)).collect::<Result<Vec<_>>>()?;
    b.cat(&parts, 2)
}

fn lstm_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let mut out = vec![None; v.inputs.len()];
    if v.grads.iter().all(Option::is_none) {
        return Ok(out);
    }
    let w = v.inputs[1];
    let steps = Steps::of(b, v.inputs[0], w, 4, v.attrs)?;
    let (h0, c0) = (v.inputs.get(2).copied(), v.inputs.get(3).copied());
    let (output, cells, sums) = (v.outputs[0], v.outputs[3], v.outputs[4]);
    let (mut dh, mut dc) = (v.grads[1], v.grads[2]);
    let mut parts: Vec<Vec<ValueId>> = vec![Vec::new(); 4];
    for (k, t) in steps.order.iter().enumerate().rev() {
        let z = steps.at(b, sums, *t)?;
        let g = LstmGates::of(b, z)?;
        let c = steps.at(b, cells, *t)?;
        let before = if k > 0 { Some(steps.at(b, cells, steps.order[k - 1])?) } else { c0 };
        let dy = v.grads[0].map(|d| steps.at(b, d, *t)).transpose()?;
        let tanh_c = b.unary(ScalarOp::Tanh, c)?;
        let d = sum_of(b, [dy, dh])?;
        let from_h = d.map(|d| -> Result<ValueId> {
            let t = b.mul(d, g.o)?;
            through_tanh(b, t, tanh_c)
        });
        let from_h = from_h.transpose()?;
        let zero = b.zeros_like(c)?;
        let d = d.unwrap_or(zero);
        let of_cell = v.grads[3].map(|d| steps.at(b, d, *t)).transpose()?;
        let of_sums = v.grads[4].map(|d| steps.at(b, d, *t)).transpose()?;
        let dc_all = sum_of(b, [dc, from_h, of_cell])?.unwrap_or(zero);
        let d_o = b.mul(d, tanh_c)?;
        let d_i = b.mul(dc_all, g.g)?;
        let d_g = b.mul(dc_all, g.i)?;
        let d_f = match before {
            Some(c) => b.mul(dc_all, c)?,
            None => zero,
        };
        let di = through_sigmoid(b, d_i, g.i)?;
        let df = through_sigmoid(b, d_f, g.f)?;
        let dg = through_tanh(b, d_g, g.g)?;
        let d_o = through_sigmoid(b, d_o, g.o)?;
        let mut dz = [di, df, dg, d_o];
        for (k, (part, d)) in parts.iter_mut().zip(&mut dz).enumerate() {
            let more = of_sums.map(|s| gate(b, s, k as i64, 4)).transpose()?;
            *d = sum_of(b, [Some(*d), more])?.unwrap_or(*d);
            part.push(*d);
        }
        (dh, dc) = (None, None);
        if before.is_some() {
            let dz = b.cat(&dz, 1)?;
            dh = Some(b.contract(dz, w, &[], &[(1, 0)])?);
            dc = Some(b.mul(dc_all, g.f)?);
        }
    }
    parts.iter_mut().for_each(|p| p.reverse());
    let d_gates = join_gates(b, &steps, parts)?;
    out[0] = Some(d_gates);
    out[1] = recurrent_weight(b, &steps, d_gates, output, h0)?;
    if h0.is_some() {
        (out[2], out[3]) = (dh, dc);
    }
    Ok(out)
}

// Where b_hh and h_0 are among the operands: they have one and two dimensions.
fn gru_operands(b: &Builder, x: &[ValueId]) -> (Option<usize>, Option<usize>) {
    let find = |rank: usize| (2..x.len()).find(|i| b.rank(x[*i]) == rank);
    (find(1), find(2))
}

fn gru(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (gates, w) = (x[0], x[1]);
    let steps = Steps::of(b, gates, w, 3, a)?;
    let (bias, h0) = gru_operands(b, x);
    if bias.is_some() as usize + h0.is_some() as usize + 2 != x.len() {
        return Err(b.error("needs b_hh of one dimension and h_0 of two", "give each at most once"));
    }
    let mut h = h0.map(|i| x[i]);
    let (mut outputs, mut hidden) = (Vec::new(), Vec::new());
    for t in &steps.order {
        let input = steps.at(b, gates, *t)?;
        let product = h.map(|h| times_transposed(b, h, w)).transpose()?;
        let bias = bias
            .map(|i| {
                let s = b.shape(input);
                b.broadcast_to(x[i], &s)
            })
            .transpose()?;
        let p = sum_of(b, [product, bias])?;
        let g = GruGates::of(b, input, p)?;
        let new = g.step(b, h)?;
        h = Some(new);
        outputs.push(new);
        hidden.push(match p {
            Some(p) => p,
            None => b.zeros_like(input)?,
        });
    }
    let last = outputs[outputs.len() - 1];
    Ok(vec![steps.stack(b, outputs)?, last, steps.stack(b, hidden)?])
}

fn gru_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let mut out = vec![None; v.inputs.len()];
    if v.grads.iter().all(Option::is_none) {
        return Ok(out);
    }
    let (gates, w) = (v.inputs[0], v.inputs[1]);
    let steps = Steps::of(b, gates, w, 3, v.attrs)?;
    let (bias, h0) = gru_operands(b, v.inputs);
    let (output, hidden) = (v.outputs[0], v.outputs[2]);
    let mut dh = v.grads[1];
    // The gradients of what the inputs and of what the hidden state contribute: they differ in n alone, and by what is asked of the
    // operator's last result.
    let (mut of_gates, mut of_hidden): (Vec<Vec<ValueId>>, Vec<Vec<ValueId>>) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for (k, t) in steps.order.iter().enumerate().rev() {
        let (input, p) = (steps.at(b, gates, *t)?, steps.at(b, hidden, *t)?);
        let g = GruGates::of(b, input, Some(p))?;
        let before = if k > 0 { Some(steps.at(b, output, steps.order[k - 1])?) } else { h0.map(|i| v.inputs[i]) };
        let dy = v.grads[0].map(|d| steps.at(b, d, *t)).transpose()?;
        let zero = b.zeros_like(g.n)?;
        let d = sum_of(b, [dy, dh])?.unwrap_or(zero);
        // h = n + z (before - n)
        let kept = b.mul(d, g.z)?;
        let d_n = b.sub(d, kept)?;
        let gap = match before {
            Some(h) => b.sub(h, g.n)?,
            None => b.neg(g.n)?,
        };
        let d_z = b.mul(d, gap)?;
        let dz = through_sigmoid(b, d_z, g.z)?;
        let dn = through_tanh(b, d_n, g.n)?;
        let d_r = b.mul(dn, g.hidden_n.unwrap_or(zero))?;
        let dr = through_sigmoid(b, d_r, g.r)?;
        let dp = b.mul(dn, g.r)?;
        let asked = v.grads[2].map(|d| steps.at(b, d, *t)).transpose()?;
        let mut d_hidden = [dr, dz, dp];
        for (k, d) in d_hidden.iter_mut().enumerate() {
            let more = asked.map(|s| gate(b, s, k as i64, 3)).transpose()?;
            *d = sum_of(b, [Some(*d), more])?.unwrap_or(*d);
        }
        of_gates.iter_mut().zip([dr, dz, dn]).for_each(|(part, d)| part.push(d));
        of_hidden.iter_mut().zip(d_hidden).for_each(|(part, d)| part.push(d));
        dh = None;
        if before.is_some() {
            let d = b.cat(&d_hidden, 1)?;
            let back = b.contract(d, w, &[], &[(1, 0)])?;
            dh = Some(b.add(kept, back)?);
        }
    }
    of_gates.iter_mut().chain(&mut of_hidden).for_each(|p| p.reverse());
    out[0] = Some(join_gates(b, &steps, of_gates)?);
    let d_hidden = join_gates(b, &steps, of_hidden)?;
    out[1] = recurrent_weight(b, &steps, d_hidden, output, h0.map(|i| v.inputs[i]))?;
    if let Some(i) = bias {
        out[i] = Some(b.sum(d_hidden, &[0, 1], false)?);
    }
    if let Some(i) = h0 {
        out[i] = dh;
    }
    Ok(out)
}

fn is_relu(b: &Builder, a: &Attrs) -> Result<bool> {
    match a.str("nonlinearity")? {
        "tanh" => Ok(false),
        "relu" => Ok(true),
        other => Err(b.error(format!("nonlinearity is {other:?}"), "use \"tanh\" or \"relu\"")),
    }
}

fn rnn(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (gates, w) = (x[0], x[1]);
    let (steps, relu) = (Steps::of(b, gates, w, 1, a)?, is_relu(b, a)?);
    let mut h = x.get(2).copied();
    let mut outputs = Vec::new();
    for t in &steps.order {
        let mut z = steps.at(b, gates, *t)?;
        if let Some(h) = h {
            let p = times_transposed(b, h, w)?;
            z = b.add(z, p)?;
        }
        let new = if relu { b.scalar(ScalarOp::Max, z, 0.0)? } else { b.unary(ScalarOp::Tanh, z)? };
        h = Some(new);
        outputs.push(new);
    }
    let last = outputs[outputs.len() - 1];
    Ok(vec![steps.stack(b, outputs)?, last])
}

fn rnn_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let mut out = vec![None; v.inputs.len()];
    if v.grads.iter().all(Option::is_none) {
        return Ok(out);
    }
    let w = v.inputs[1];
    let (steps, relu) = (Steps::of(b, v.inputs[0], w, 1, v.attrs)?, is_relu(b, v.attrs)?);
    let h0 = v.inputs.get(2).copied();
    let mut dh = v.grads[1];
    let mut all = Vec::new();
    for (k, t) in steps.order.iter().enumerate().rev() {
        let y = steps.at(b, v.outputs[0], *t)?;
        let dy = v.grads[0].map(|d| steps.at(b, d, *t)).transpose()?;
        let zero = b.zeros_like(y)?;
        let d = sum_of(b, [dy, dh])?.unwrap_or(zero);
        let d = if relu {
            let on = b.scalar(ScalarOp::Gt, y, 0.0)?;
            b.select(on, d, zero)?
        } else {
            through_tanh(b, d, y)?
        };
        all.push(d);
        dh = if k > 0 || h0.is_some() { Some(b.contract(d, w, &[], &[(1, 0)])?) } else { None };
    }
    all.reverse();
    let d_gates = steps.stack(b, all)?;
    out[0] = Some(d_gates);
    out[1] = recurrent_weight(b, &steps, d_gates, v.outputs[0], h0)?;
    if h0.is_some() {
        out[2] = dh;
    }
    Ok(out)
}
