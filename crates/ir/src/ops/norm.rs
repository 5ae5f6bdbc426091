//! Normalization. Means are subtracted before variances are taken, so that an offset costs no precision.

use super::reduction::vector_norm;
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::prim::Prim;
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "layer_norm",
        "Tensor input, SymInt[]? normalized_shape=None, Tensor? weight=None, Tensor? bias=None, float eps=1e-5",
        "(x - mean) / sqrt(var + eps) over the last dimensions, * weight + bias.",
        layer_norm,
        layer_norm_vjp
    )
    .full(),
    op!(
        "rms_norm",
        "Tensor input, SymInt[]? normalized_shape=None, Tensor? weight=None, float? eps=None",
        "x / sqrt(mean(x^2) + eps) over the last dimensions, * weight.",
        rms_norm,
        rms_norm_vjp
    ),
    op!(
        "group_norm",
        "Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-5",
        "Normalizes groups of channels (dimension 1) of each sample.",
        group_norm
    )
    .full(),
    op!(
        "instance_norm",
        "Tensor input, Tensor? weight=None, Tensor? bias=None, Tensor? running_mean=None, Tensor? running_var=None, \
         bool use_input_stats=True, float momentum=0.1, float eps=1e-5",
        "Normalizes each channel of each sample, or by the running statistics without use_input_stats. With running statistics, which the \
         batch's mean moves, these are results too.",
        instance_norm
    ),
    op!(
        "batch_norm",
        "Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-5",
        "Normalizes each channel over the batch when training, else by the running statistics. Gives the result and the new running mean and variance.",
        batch_norm,
        batch_norm_vjp
    ),
    op!("normalize", "Tensor input, float p=2.0, int[] dim=1, float eps=1e-12", "x / max(norm(x), eps) along dim.", |b, x, a| {
        let dim = a.ints("dim")?;
        let dims = b.dims(x[0], Some(&dim))?;
        if !b.dtype(x[0]).is_float() {
            return Err(b.error(format!("normalizes {}", b.dtype(x[0])), "convert the tensor to a float type with to()"));
        }
        let n = vector_norm(b, x[0], a.float("p")?, &dims, true)?;
        let n = b.scalar(ScalarOp::Max, n, a.float("eps")?)?;
        Ok(vec![b.div(x[0], n)?])
    })
    .full(),
];

// The last dimensions, as many as `normalized_shape` names.
fn last_dims(b: &mut Builder, x: ValueId, weight: Option<ValueId>, a: &Attrs) -> Result<Vec<usize>> {
    let (shape, rank) = (b.shape(x), b.rank(x));
    let named = match (a.opt_dims("normalized_shape")?, weight) {
        (Some(s), _) => s,
        (None, Some(w)) => b.shape(w),
        (None, None) => return Err(b.error("needs a normalized_shape", "name the sizes of the last dimensions")),
    };
    let n = named.len();
    let fits = n >= 1
        && n <= rank
        && named.iter().zip(&shape[rank - n..]).all(|(s, d)| b.graph.env.equal(s, d, "normalized_shape is the last dimensions"));
    if !fits {
        let text = format!("normalized_shape {} is not the last sizes of the input", b.graph.env.show_shape(&named));
        return Err(b.error(text, "name the sizes of the last dimensions"));
    }
    Ok((rank - n..rank).collect())
}

struct Centred {
    /// (x - mean) / sqrt(var + eps)
    normal: ValueId,
    /// 1 / sqrt(var + eps), with the reduced dimensions kept
    scale: ValueId,
}

fn centred(b: &mut Builder, x: ValueId, dims: &[usize], eps: f64) -> Result<Centred> {
    let m = b.mean(x, dims, true)?;
    let d = b.sub(x, m)?;
    let d2 = b.mul(d, d)?;
    let var = b.mean(d2, dims, true)?;
    let var = b.add_scalar(var, eps)?;
    let scale = b.unary(ScalarOp::Rsqrt, var)?;
    Ok(Centred { normal: b.mul(d, scale)?, scale })
}

fn affine(b: &mut Builder, x: ValueId, weight: Option<ValueId>, bias: Option<ValueId>) -> Result<ValueId> {
    let y = match weight {
        Some(w) => b.mul(x, w)?,
        None => x,
    };
    match bias {
        Some(c) => b.add(y, c),
        None => Ok(y),
    }
}

/// Refuses a parameter of another shape than that of what it scales: it would broadcast the result into something else.
fn shaped(b: &mut Builder, v: Option<ValueId>, shape: &[Dim], name: &str) -> Result<()> {
    let Some(v) = v else { return Ok(()) };
    if !b.dtype(v).is_float() {
        return Err(b.error(format!("the {name} is of {}", b.dtype(v)), "convert it to a float type with to()"));
    }
    let have = b.shape(v);
    if have.len() == shape.len() && have.iter().zip(shape).all(|(h, s)| b.graph.env.equal(h, s, "a parameter fits what it scales")) {
        return Ok(());
    }
    let (have, want) = (b.graph.env.show_shape(&have), b.graph.env.show_shape(shape));
    Err(b.error(format!("the {name} is {have}, not {want}"), format!("give a {name} of {want}")))
}

/// The same for what there is one of for each channel, by the operands' names.
fn one_a_channel(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<()> {
    let channels = [b.shape(x[0])[1].clone()];
    let names = ["weight", "bias", "running_mean", "running_var"];
    parameters_fit(b, x[0], &names.map(|name| a.tensor(x, name)))?;
    names.iter().try_for_each(|name| shaped(b, a.tensor(x, name), &channels, name))
}

/// Refuses parameters of a type that PyTorch's norms do not take: they are of the input's, or all f32 beside an input of 16 bits.
fn parameters_fit(b: &Builder, x: ValueId, parameters: &[Option<ValueId>]) -> Result<()> {
    let own = b.dtype(x);
    let mut types = parameters.iter().flatten().map(|v| b.dtype(*v));
    let Some(first) = types.next() else { return Ok(()) };
    let narrow = matches!(own, DType::F16 | DType::BF16);
    match types.find(|t| *t != first).or((first != own && !(narrow && first == DType::F32)).then_some(first)) {
        Some(other) if own.is_float() => {
            let beside = if other == first { own } else { first };
            Err(b.error(format!("a parameter of {other} beside {beside}"), "convert all of them to the input's type, or to f32"))
        }
        _ => Ok(()),
    }
}

/// A tensor as a norm computes with it: of 16 bits beside parameters of f32 as f32, so that only the result is rounded.
fn beside(b: &mut Builder, x: ValueId, parameters: &[Option<ValueId>]) -> Result<ValueId> {
    let x = b.float(x)?;
    let dtype = parameters.iter().flatten().fold(b.dtype(x), |dtype, v| dtype.promote(b.dtype(*v)));
    b.cast(x, dtype)
}

/// A norm's result, which is of its input's type whatever its parameters are.
fn of_input(b: &mut Builder, y: ValueId, x: ValueId) -> Result<ValueId> {
    let x = b.float(x)?;
    b.cast(y, b.dtype(x))
}

fn layer_norm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (weight, bias) = (a.tensor(x, "weight"), a.tensor(x, "bias"));
    parameters_fit(b, x[0], &[weight, bias])?;
    let dims = last_dims(b, x[0], weight, a)?;
    let normal = b.shape(x[0])[dims[0]..].to_vec();
    shaped(b, weight, &normal, "weight")?;
    shaped(b, bias, &normal, "bias")?;
    let v = beside(b, x[0], &[weight, bias])?;
    let c = centred(b, v, &dims, a.float("eps")?)?;
    let y = affine(b, c.normal, weight, bias)?;
    Ok(vec![of_input(b, y, x[0])?])
}

// With n = (x - mean) r and g = dy w: dx = r (g - mean(g) - n mean(g n)), dw = sum(dy n), db = sum(dy).
fn layer_norm_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let (weight, bias) = (v.attrs.tensor(v.inputs, "weight"), v.attrs.tensor(v.inputs, "bias"));
    let dims = last_dims(b, v.inputs[0], weight, v.attrs)?;
    let (x, dy) = (beside(b, v.inputs[0], &[weight, bias])?, beside(b, dy, &[weight, bias])?);
    let c = centred(b, x, &dims, v.attrs.float("eps")?)?;
    let g = affine(b, dy, weight, None)?;
    let mean_g = b.mean(g, &dims, true)?;
    let gn = b.mul(g, c.normal)?;
    let mean_gn = b.mean(gn, &dims, true)?;
    let t = b.mul(c.normal, mean_gn)?;
    let d = b.sub(g, mean_g)?;
    let d = b.sub(d, t)?;
    let dx = b.mul(d, c.scale)?;
    let mut out = vec![Some(of_input(b, dx, v.inputs[0])?)];
    let outer: Vec<usize> = (0..dims[0]).collect();
    if weight.is_some() {
        let t = b.mul(dy, c.normal)?;
        out.push(Some(b.sum(t, &outer, false)?));
    }
    if bias.is_some() {
        out.push(Some(b.sum(dy, &outer, false)?));
    }
    Ok(out)
}

fn root_mean_square(b: &mut Builder, x: ValueId, dims: &[usize], a: &Attrs) -> Result<ValueId> {
    // PyTorch's default is the machine epsilon of the type.
    let eps = a.opt_float("eps")?.unwrap_or(f32::EPSILON as f64);
    let x2 = b.mul(x, x)?;
    let m = b.mean(x2, dims, true)?;
    let m = b.add_scalar(m, eps)?;
    b.unary(ScalarOp::Rsqrt, m)
}

fn rms_norm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let weight = x.get(1).copied();
    let dims = last_dims(b, x[0], weight, a)?;
    let normal = b.shape(x[0])[dims[0]..].to_vec();
    shaped(b, weight, &normal, "weight")?;
    let v = beside(b, x[0], &[weight])?;
    let r = root_mean_square(b, v, &dims, a)?;
    let n = b.mul(v, r)?;
    let y = affine(b, n, weight, None)?;
    Ok(vec![of_input(b, y, x[0])?])
}

fn rms_norm_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; v.inputs.len()]) };
    let weight = v.inputs.get(1).copied();
    let (x, dy) = (beside(b, v.inputs[0], &[weight])?, beside(b, dy, &[weight])?);
    let dims = last_dims(b, x, weight, v.attrs)?;
    let r = root_mean_square(b, x, &dims, v.attrs)?;
    let n = b.mul(x, r)?;
    let g = affine(b, dy, weight, None)?;
    let gn = b.mul(g, n)?;
    let m = b.mean(gn, &dims, true)?;
    let t = b.mul(n, m)?;
    let d = b.sub(g, t)?;
    let dx = b.mul(d, r)?;
    let mut out = vec![Some(of_input(b, dx, v.inputs[0])?)];
    if let Some(weight) = weight {
        let t = b.mul(dy, n)?;
        let outer: Vec<usize> = (0..dims[0]).collect();
        let dw = b.sum(t, &outer, false)?;
        out.push(Some(of_input(b, dw, weight)?));
    }
    Ok(out)
}

// A value for each channel, shaped to broadcast against [N, C, ...].
fn per_channel(b: &mut Builder, v: ValueId, rank: usize) -> Result<ValueId> {
    let mut shape = vec![Dim::ONE; rank];
    shape[1] = b.ty(v).numel();
    b.reshape(v, shape)
}

fn channel_affine(b: &mut Builder, y: ValueId, x: &[ValueId], a: &Attrs) -> Result<ValueId> {
    let rank = b.rank(y);
    let w = a.tensor(x, "weight").map(|w| per_channel(b, w, rank)).transpose()?;
    let c = a.tensor(x, "bias").map(|c| per_channel(b, c, rank)).transpose()?;
    affine(b, y, w, c)
}

fn check_channels(b: &Builder, x: ValueId) -> Result<()> {
    if b.rank(x) >= 2 { Ok(()) } else { Err(b.error("needs a batch and a channel dimension", "give an input of [N, C, ...]")) }
}

fn group_norm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check_channels(b, x[0])?;
    one_a_channel(b, x, a)?;
    let shape = b.shape(x[0]);
    let groups = a.int("num_groups")?;
    let Some(width) = (groups > 0).then(|| shape[1].exact_div(&Dim::Const(groups))).flatten() else {
        let text = format!("{} channels do not divide into {groups} groups", b.graph.env.show(&shape[1]));
        return Err(b.error(text, "use a divisor of the number of channels"));
    };
    if shape[1..].iter().any(|d| d.is_zero()) {
        return Err(b.error("has no channels, or channels of nothing", "only the batch may be empty"));
    }
    let inner = width.mul(&Dim::product(&shape[2..]));
    let v = beside(b, x[0], &["weight", "bias"].map(|name| a.tensor(x, name)))?;
    let v = b.reshape(v, vec![shape[0].clone(), Dim::Const(groups), inner])?;
    let c = centred(b, v, &[2], a.float("eps")?)?;
    let y = b.reshape(c.normal, shape)?;
    let y = channel_affine(b, y, x, a)?;
    Ok(vec![of_input(b, y, x[0])?])
}

fn instance_norm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    check_channels(b, x[0])?;
    if b.rank(x[0]) < 3 {
        return Err(b.error("needs a dimension to normalize after the channels", "give an input of [N, C, L, ...]"));
    }
    one_a_channel(b, x, a)?;
    let (running, eps) = (running(b, x, a)?, a.float("eps")?);
    let v = beside(b, x[0], &["weight", "bias", "running_mean", "running_var"].map(|name| a.tensor(x, name)))?;
    let dims: Vec<usize> = (2..b.rank(v)).collect();
    if !a.bool("use_input_stats")? {
        let Some([mean, variance]) = running else {
            return Err(b.error("has no statistics", "give running_mean and running_var, or set use_input_stats"));
        };
        let (mean, variance) = (per_channel(b, mean, b.rank(v))?, per_channel(b, variance, b.rank(v))?);
        let d = b.sub(v, mean)?;
        let r = b.add_scalar(variance, eps)?;
        let r = b.unary(ScalarOp::Rsqrt, r)?;
        let n = b.mul(d, r)?;
        let y = channel_affine(b, n, x, a)?;
        return Ok([vec![of_input(b, y, x[0])?], running.map_or(vec![], |r| r.to_vec())].concat());
    }
    if b.shape(v)[2..].iter().all(Dim::is_one) {
        return Err(
            b.error("has one element a channel, which is its own mean", "give more elements, or use_input_stats=False with statistics")
        );
    }
    let c = centred(b, v, &dims, eps)?;
    let y = channel_affine(b, c.normal, x, a)?;
    let y = of_input(b, y, x[0])?;
    let Some(old) = running else { return Ok(vec![y]) };
    // The batch's mean of each channel's mean and unbiased variance.
    let momentum = a.float("momentum")?;
    let m = b.mean(v, &dims, true)?;
    let d = b.sub(v, m)?;
    let d2 = b.mul(d, d)?;
    let s = b.sum(d2, &dims, true)?;
    let sizes = b.shape(v)[2..].to_vec();
    let n = b.size_of(&sizes, b.dtype(v))?;
    let n = b.add_scalar(n, -1.0)?;
    let variance = b.div(s, n)?;
    let (m, variance) = (b.mean(m, &[0], true)?, b.mean(variance, &[0], true)?);
    Ok(vec![y, blend(b, old[0], m, momentum)?, blend(b, old[1], variance, momentum)?])
}

/// What normalizes each channel: all shaped to broadcast against the input.
struct Statistics {
    mean: ValueId,
    /// Of the population.
    variance: ValueId,
    /// 1 / sqrt(variance + eps)
    scale: ValueId,
    /// Elements of one channel.
    count: ValueId,
}

/// Statistics of narrow floats are f32's, whatever the result is.
fn wide(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let x = b.float(x)?;
    let dtype = b.dtype(x).promote(DType::F32);
    b.cast(x, dtype)
}

/// Every dimension but the channels'.
fn but_channels(b: &Builder, x: ValueId) -> Vec<usize> {
    (0..b.rank(x)).filter(|d| *d != 1).collect()
}

// Both sums come from one pass over the input. Squares are summed of differences from one element of the channel: an offset
// common to all then costs no precision. Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample
// variance", 1983 (shifted data).
fn channel_statistics(b: &mut Builder, x: ValueId, eps: f64) -> Result<Statistics> {
    let (dims, shape) = (but_channels(b, x), b.shape(x));
    let mut shift = b.prim(Prim::Detach, &[x])?;
    for d in &dims {
        shift = b.narrow(shift, *d, Dim::ZERO, Dim::ONE)?;
    }
    let sizes: Vec<Dim> = dims.iter().map(|d| shape[*d].clone()).collect();
    let count = b.size_of(&sizes, b.dtype(x))?;
    let d = b.sub(x, shift)?;
    let d2 = b.mul(d, d)?;
    let (sum, squares) = (b.sum(d, &dims, true)?, b.sum(d2, &dims, true)?);
    let (m, m2) = (b.div(sum, count)?, b.div(squares, count)?);
    let square = b.mul(m, m)?;
    let variance = b.sub(m2, square)?;
    let variance = b.scalar(ScalarOp::Max, variance, 0.0)?;
    let v = b.add_scalar(variance, eps)?;
    Ok(Statistics { mean: b.add(m, shift)?, variance, scale: b.unary(ScalarOp::Rsqrt, v)?, count })
}

/// The statistics that a call normalizes by.
fn statistics(b: &mut Builder, x: ValueId, running: Option<[ValueId; 2]>, a: &Attrs) -> Result<Statistics> {
    let eps = a.float("eps")?;
    if a.bool("training")? {
        return channel_statistics(b, x, eps);
    }
    let Some(running) = running else {
        return Err(b.error("has no statistics", "give running_mean and running_var, or set training"));
    };
    let rank = b.rank(x);
    let (mean, variance) = (per_channel(b, running[0], rank)?, per_channel(b, running[1], rank)?);
    let v = b.add_scalar(variance, eps)?;
    Ok(Statistics { mean, variance, scale: b.unary(ScalarOp::Rsqrt, v)?, count: b.constant(1.0, b.dtype(x))? })
}

fn batch_norm(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    // PyTorch takes a vector of nothing.
    if b.rank(x[0]) == 1 && b.shape(x[0])[0].is_zero() {
        let y = b.float(x[0])?;
        return Ok([vec![y], x[1..].iter().copied().take(2).collect()].concat());
    }
    check_channels(b, x[0])?;
    one_a_channel(b, x, a)?;
    let (v, running) = (wide(b, x[0])?, running(b, x, a)?);
    let with = |y: ValueId, running: Option<[ValueId; 2]>| [vec![y], running.map_or(vec![], |r| r.to_vec())].concat();
    let shape = b.shape(x[0]);
    let values: Vec<Dim> = but_channels(b, x[0]).into_iter().map(|d| shape[d].clone()).collect();
    if a.bool("training")? {
        if Dim::product(&values).is_one() {
            let text = "training needs more than one value for each channel: the variance of one is nothing";
            return Err(b.error(text, "give a larger batch, or normalize by the running statistics with eval()"));
        }
        if values.iter().any(|d| d.is_zero()) {
            let y = b.float(x[0])?;
            return Ok(with(y, running));
        }
    }
    let s = statistics(b, v, running, a)?;
    let d = b.sub(v, s.mean)?;
    let n = b.mul(d, s.scale)?;
    let y = channel_affine(b, n, x, a)?;
    let y = of_input(b, y, x[0])?;
    let Some(old) = running.filter(|_| a.bool("training") == Ok(true)) else { return Ok(with(y, running)) };
    // The running variance is the unbiased one.
    let less = b.add_scalar(s.count, -1.0)?;
    let all = b.mul(s.variance, s.count)?;
    let unbiased = b.div(all, less)?;
    let momentum = a.float("momentum")?;
    let new = [blend(b, old[0], s.mean, momentum)?, blend(b, old[1], unbiased, momentum)?];
    Ok(with(y, Some(new)))
}

/// The running statistics of a call, if it has any.
fn running(b: &Builder, x: &[ValueId], a: &Attrs) -> Result<Option<[ValueId; 2]>> {
    match (a.tensor(x, "running_mean"), a.tensor(x, "running_var")) {
        (Some(m), Some(v)) => Ok(Some([m, v])),
        (None, None) => Ok(None),
        _ => Err(b.error("one of two running statistics", "give running_mean and running_var, or neither")),
    }
}

// A running statistic moved towards a new one, through which no gradient flows.
fn blend(b: &mut Builder, old: ValueId, new: ValueId, momentum: f64) -> Result<ValueId> {
    let new = b.prim(Prim::Detach, &[new])?;
    let new = b.reshape(new, b.shape(old))?;
    let dtype = b.dtype(old);
    let (old, new) = (b.mul_scalar(old, 1.0 - momentum)?, b.mul_scalar(new, momentum)?);
    let sum = b.add(old, new)?;
    b.cast(sum, dtype)
}

// With n = (x - mean) r and N elements a channel: db = sum(dy), dw = sum(dy n), and in training
// dx = w r (dy - db / N - n dw / N), else dx = w r dy. Both sums come from one pass over dy and x. (S. Ioffe, C. Szegedy, "Batch
// normalization", 2015, section 3.) The running statistics have no gradient.
fn batch_norm_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let mut out = vec![None; v.inputs.len()];
    let Some(dy) = v.grads[0] else { return Ok(out) };
    if b.shape(v.inputs[0]).iter().any(|d| d.is_zero()) {
        for (g, x) in out.iter_mut().zip(v.inputs) {
            *g = Some(b.zeros_like(*x)?);
        }
        return Ok(out);
    }
    let (x, dy) = (wide(b, v.inputs[0])?, wide(b, dy)?);
    let (rank, dims) = (b.rank(x), but_channels(b, x));
    let running = running(b, v.inputs, v.attrs)?;
    let s = statistics(b, x, running, v.attrs)?;
    let d = b.sub(x, s.mean)?;
    let n = b.mul(d, s.scale)?;
    let normal_dy = b.mul(dy, n)?;
    let (db, dw) = (b.sum(dy, &dims, true)?, b.sum(normal_dy, &dims, true)?);
    let factor = match v.attrs.tensor(v.inputs, "weight") {
        Some(w) => {
            let w = per_channel(b, w, rank)?;
            b.mul(w, s.scale)?
        }
        None => s.scale,
    };
    let mut g = dy;
    if v.attrs.bool("training")? {
        let (mean_dy, mean_normal_dy) = (b.div(db, s.count)?, b.div(dw, s.count)?);
        let along = b.mul(n, mean_normal_dy)?;
        g = b.sub(g, mean_dy)?;
        g = b.sub(g, along)?;
    }
    let dx = b.mul(g, factor)?;
    out[0] = Some(b.cast(dx, b.dtype(v.inputs[0]))?);
    for (name, sum) in [("weight", dw), ("bias", db)] {
        if let Some(slot) = v.attrs.operand(name) {
            out[slot] = Some(b.reshape(sum, b.shape(v.inputs[slot]))?);
        }
    }
    Ok(out)
}
