//! Batching: a graph of one sample made a graph of many at once, with the samples along a new leading axis.
//!
//! Values that do not depend on a batched input stay as they are, so what the samples share is computed once. Operators are decomposed
//! and their prims batched ([`batch_rules`](super::batch_rules)); one with a derivative of its own becomes a function that keeps the
//! derivative, batched like the rest.

use super::{batch_rules, expand_grads, has_derivative};
use aludel_ir::graph::InputKind;
use aludel_ir::op::VjpArgs;
use aludel_ir::opmath;
use aludel_ir::rewrite::emit;
use aludel_ir::{Attrs, Builder, DType, Dim, Error, Function, Graph, Op, OpDef, Origin, Prim, Result, ScalarOp, TensorType, ValueId};
use std::sync::Arc;

/// What random operators do whose key the samples share. PyTorch: the option `randomness` of `torch.func.vmap`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Randomness {
    /// Refuse.
    #[default]
    Error,
    /// The same numbers for each sample.
    Same,
    /// Other numbers for each sample: a key for each is drawn under the shared one.
    Different,
}

/// A value, and whether it has the batch as its first dimension.
pub type Batched = (ValueId, bool);

/// The graph for a batch of `size`: each input with a dimension given takes the samples along that dimension, and each output has them
/// along its dimension of `out_dims`. Inputs without one are shared. PyTorch: `torch.func.vmap`.
///
/// Errors: a dimension out of range; a random operator under [`Randomness::Error`].
pub fn vmap(graph: &Graph, in_dims: &[Option<usize>], out_dims: &[usize], size: &Dim, randomness: Randomness) -> Result<Graph> {
    if in_dims.len() != graph.inputs.len() || out_dims.len() != graph.outputs.len() {
        let text = format!(
            "{} inputs and {} results, {} and {} dimensions",
            graph.inputs.len(),
            graph.outputs.len(),
            in_dims.len(),
            out_dims.len()
        );
        return Err(Error::invalid("vmap", text, "give one dimension for each"));
    }
    let graph = expand_grads(graph)?;
    let mut b = Builder::new(graph.name.clone());
    b.graph.env = graph.env.clone();
    let mut inputs = Vec::with_capacity(in_dims.len());
    for (input, dim) in graph.inputs.iter().zip(in_dims) {
        let mut ty = graph.ty(input.value).clone();
        if let Some(d) = dim {
            check_dim("vmap", "in_dims", *d, ty.rank())?;
            ty.shape.insert(*d, size.clone());
        }
        let v = b.graph.add_input(input.name.clone(), input.kind, ty);
        inputs.push(match dim {
            Some(d) => (to_front(&mut b, v, *d)?, true),
            None => (v, false),
        });
    }
    let mut batcher = Batcher { size: size.clone(), randomness };
    let outputs = batcher.graph(&mut b, &graph, &inputs, true)?;
    for ((o, y), dim) in graph.outputs.iter().zip(outputs).zip(out_dims) {
        let v = batcher.spread(&mut b, y)?;
        check_dim("vmap", "out_dims", *dim, b.rank(v) - 1)?;
        let mut perm: Vec<usize> = (1..b.rank(v)).collect();
        perm.insert(*dim, 0);
        let v = b.permute(v, &perm)?;
        b.graph.add_output(o.name.clone(), v, None);
    }
    let mut out = b.graph;
    out.eliminate_dead_code();
    Ok(out.compact())
}

fn check_dim(what: &str, name: &str, dim: usize, rank: usize) -> Result<()> {
    if dim <= rank {
        return Ok(());
    }
    Err(Error::invalid(what, format!("{name} has {dim} for a sample of rank {rank}"), format!("use a dimension from 0 to {rank}")))
}

fn to_front(b: &mut Builder, v: ValueId, dim: usize) -> Result<ValueId> {
    let perm: Vec<usize> = std::iter::once(dim).chain((0..b.rank(v)).filter(|d| *d != dim)).collect();
    b.permute(v, &perm)
}

/// A batch under way.
pub struct Batcher {
    pub size: Dim,
    randomness: Randomness,
}

impl Batcher {
    /// A value with the batch as its first dimension, whether or not it had it.
    pub fn spread(&self, b: &mut Builder, (v, batched): Batched) -> Result<ValueId> {
        if batched {
            return Ok(v);
        }
        let mut shape = b.shape(v);
        shape.insert(0, self.size.clone());
        b.broadcast_to(v, &shape)
    }

    // Adds the batched nodes of a graph. `own`: the graph is the one that is transformed, and nodes come from its nodes.
    fn graph(&mut self, b: &mut Builder, graph: &Graph, args: &[Batched], own: bool) -> Result<Vec<Batched>> {
        let mut map: Vec<Option<Batched>> = vec![None; graph.types.len()];
        graph.inputs.iter().zip(args).for_each(|(i, x)| map[i.value.index()] = Some(*x));
        let of = |map: &[Option<Batched>], v: ValueId| {
            map[v.index()].ok_or_else(|| Error::verify(format!("%{}", graph.value_name(v)), "used before it is defined"))
        };
        for (n, node) in graph.nodes.iter().enumerate() {
            if own {
                b.origin = Origin { nodes: vec![n as u32], ..node.origin.clone() };
                b.location.clone_from(&node.location);
            }
            let x = node.inputs.iter().map(|v| of(&map, *v)).collect::<Result<Vec<_>>>()?;
            let types: Vec<TensorType> = node.outputs.iter().map(|v| graph.ty(*v).clone()).collect();
            let sample: Vec<TensorType> = node.inputs.iter().map(|v| graph.ty(*v).clone()).collect();
            let results = self.node(b, &node.op, x, &sample, types)?;
            node.outputs.iter().zip(results).for_each(|(v, r)| map[v.index()] = Some(r));
        }
        graph.outputs.iter().map(|o| of(&map, o.value)).collect()
    }

    // `sample` and `types` are the types for one sample.
    fn node(
        &mut self,
        b: &mut Builder,
        op: &Op,
        mut x: Vec<Batched>,
        sample: &[TensorType],
        types: Vec<TensorType>,
    ) -> Result<Vec<Batched>> {
        if let Op::Call(def, attrs) = op
            && let Some(key) = key_operand(def, attrs, sample)
            && !x[key].1
        {
            match self.randomness {
                Randomness::Same => {}
                Randomness::Different => x[key] = (self.keys(b, x[key].0)?, true),
                Randomness::Error => {
                    let remedy = "batch the key, or use vmap's option randomness: the same or different numbers for each sample";
                    let operand = b.graph.env.show_type(&sample[key]);
                    return Err(Error::op(def.name, operand, "a random operator under vmap whose key the samples share", remedy));
                }
            }
        }
        if let (Op::Prim(Prim::Scalar(ScalarOp::Threefry | ScalarOp::ThreefryWord)), Some([false, false])) =
            (op, x.first_chunk().map(|[a, c]| [a.1, c.1]))
        {
            // What is left of a random operator that was differentiated: it draws what the operator itself does.
            match self.randomness {
                Randomness::Same => {}
                Randomness::Different => {
                    let (k0, k1) = self.keys_of_words(b, x[0].0, x[1].0)?;
                    (x[0], x[1]) = ((k0, true), (k1, true));
                }
                Randomness::Error => {
                    let remedy = "batch the key, or use vmap's option randomness: the same or different numbers for each sample";
                    return Err(Error::op("vmap", "", "a random operator whose key the samples share", remedy));
                }
            }
        }
        if x.iter().all(|x| !x.1) {
            let args: Vec<ValueId> = x.iter().map(|x| x.0).collect();
            return Ok(emit(b, op, &args, types, &|_| false)?.into_iter().map(|v| (v, false)).collect());
        }
        match op {
            Op::Prim(prim) => batch_rules::prim(b, self, prim, &x),
            Op::Call(..) if !has_derivative(op) => {
                let body = single(b, op, sample, types)?;
                self.graph(b, &body, &x, false)
            }
            Op::Call(..) => {
                let body = single(b, op, sample, types)?;
                let vjp = derivative(b, op, sample)?;
                let f = Function { name: op.name().to_string(), body, vjp: Some(vjp), jvp: None, checkpoint: false };
                self.function(b, &f, &x)
            }
            Op::Function(f) => self.function(b, f, &x),
            Op::Grad => Err(Error::verify("grad", "gradients are expanded before batching")),
        }
    }

    // A key for each sample, drawn under one key.
    fn keys(&self, b: &mut Builder, key: ValueId) -> Result<ValueId> {
        let attrs = Attrs::new().with("size", vec![self.size.clone(), Dim::Const(2)]);
        Ok(b.op("rand_bits", &[key], &attrs)?[0])
    }

    // The same keys from the words of one, spread over what is drawn: sample s has the numbers of the counters 2 s and 2 s + 1.
    fn keys_of_words(&self, b: &mut Builder, k0: ValueId, k1: ValueId) -> Result<(ValueId, ValueId)> {
        let (k0, k1) = (self.spread(b, (k0, false))?, self.spread(b, (k1, false))?);
        let sample = b.prim(Prim::Iota { shape: b.shape(k0), dim: 0, dtype: DType::U32 }, &[])?;
        let first = b.add(sample, sample)?;
        let second = b.add_scalar(first, 1.0)?;
        let high = b.zeros_like(k0)?;
        let mut word = |low| b.prim(Prim::Scalar(ScalarOp::Threefry), &[k0, k1, high, low]);
        Ok((word(first)?, word(second)?))
    }

    fn function(&mut self, b: &mut Builder, f: &Function, x: &[Batched]) -> Result<Vec<Batched>> {
        let flags: Vec<bool> = x.iter().map(|x| x.1).collect();
        let body = self.nested(b, &f.body, &flags, &vec![true; f.body.outputs.len()])?;
        let is_float = |g: &Graph, v: ValueId| g.ty(v).dtype.is_float();
        let floats: Vec<bool> =
            flags.iter().zip(&f.body.inputs).filter(|(_, i)| is_float(&f.body, i.value)).map(|(flag, _)| *flag).collect();
        let count = f.body.outputs.len();
        let float_results = f.body.outputs.iter().filter(|o| is_float(&f.body, o.value)).count();
        // What is shared by the samples gets the sum of their gradients.
        let vjp = match &f.vjp {
            Some(vjp) => Some(self.nested(b, vjp, &[&flags[..], &vec![true; count + float_results]].concat(), &floats)?),
            None => None,
        };
        let jvp = match &f.jvp {
            Some(jvp) => Some(self.nested(b, jvp, &[&flags[..], &floats].concat(), &vec![true; float_results])?),
            None => None,
        };
        let types = body.outputs.iter().map(|o| body.ty(o.value).clone()).collect();
        let batched = Function { name: f.name.clone(), body, vjp, jvp, checkpoint: f.checkpoint };
        let args: Vec<ValueId> = x.iter().map(|x| x.0).collect();
        let results = b.push(Op::Function(Arc::new(batched)), &args, types);
        Ok(results.into_iter().map(|v| (v, true)).collect())
    }

    // A function's graph for the batch; results that are not to be `batched` are summed over it.
    fn nested(&mut self, outer: &mut Builder, graph: &Graph, flags: &[bool], batched: &[bool]) -> Result<Graph> {
        nest(outer, &graph.name, |b| {
            let mut args = Vec::with_capacity(flags.len());
            for (input, flag) in graph.inputs.iter().zip(flags) {
                let mut ty = graph.ty(input.value).clone();
                if *flag {
                    ty.shape.insert(0, self.size.clone());
                }
                args.push((b.graph.add_input(input.name.clone(), InputKind::Arg, ty), *flag));
            }
            let outputs = self.graph(b, graph, &args, false)?;
            for ((o, y), batched) in graph.outputs.iter().zip(outputs).zip(batched) {
                let mut v = self.spread(b, y)?;
                if !batched {
                    v = b.sum(v, &[0], false)?;
                }
                b.graph.add_output(o.name.clone(), v, None);
            }
            Ok(())
        })
    }
}

/// The operand that is a random operator's key, unless its arguments make it draw nothing. The row's signature names it. A key has words
/// for elements: attention has keys of another kind.
fn key_operand(def: &OpDef, attrs: &Attrs, sample: &[TensorType]) -> Option<usize> {
    let call = def.bind(sample.len(), attrs).ok()?;
    if call.bool("training") == Ok(false) || call.float("p") == Ok(0.0) {
        return None;
    }
    let keys = ["key", "dropout_key"].into_iter().filter_map(|name| call.operand(name));
    let last = def.schema().param("dropout_key").and_then(|_| sample.len().checked_sub(1));
    keys.chain(last).find(|k| sample.get(*k).is_some_and(|t| t.dtype == DType::U32))
}

// A graph over the sizes of another, without symbols and guards of its own; guards found on the way go to the other.
fn nest(outer: &mut Builder, name: &str, build: impl FnOnce(&mut Builder) -> Result<()>) -> Result<Graph> {
    let mut b = Builder::new(name);
    b.graph.env = std::mem::take(&mut outer.graph.env);
    let outcome = build(&mut b);
    outer.graph.env = std::mem::take(&mut b.graph.env);
    outcome?;
    let mut graph = b.graph;
    graph.eliminate_dead_code();
    Ok(graph.compact())
}

// One operator as a graph of prims.
fn single(outer: &mut Builder, op: &Op, args: &[TensorType], types: Vec<TensorType>) -> Result<Graph> {
    nest(outer, op.name(), |b| {
        let x: Vec<ValueId> = args.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), InputKind::Arg, t.clone())).collect();
        let y = emit(b, op, &x, types, &|_| true)?;
        y.iter().enumerate().for_each(|(i, v)| b.graph.add_output(format!("y{i}"), *v, None));
        Ok(())
    })
}

// An operator's own derivative as a function's `vjp`.
fn derivative(outer: &mut Builder, op: &Op, args: &[TensorType]) -> Result<Graph> {
    let Op::Call(def, attrs) = op else { return Err(Error::verify(op.name(), "has no derivative of its own")) };
    nest(outer, &format!("{}_vjp", def.name), |b| {
        let arg = |b: &mut Builder, name: String, ty: &TensorType| b.graph.add_input(name, InputKind::Arg, ty.clone());
        let inputs: Vec<ValueId> = args.iter().enumerate().map(|(i, t)| arg(b, format!("x{i}"), t)).collect();
        let types = aludel_ir::verify::infer(op, args, &mut b.graph.env)?;
        let outputs: Vec<ValueId> = types.iter().enumerate().map(|(i, t)| arg(b, format!("y{i}"), t)).collect();
        let grads: Vec<Option<ValueId>> =
            types.iter().enumerate().map(|(i, t)| t.dtype.is_float().then(|| arg(b, format!("dy{i}"), t))).collect();
        let found = opmath::differentiate(b, def, &VjpArgs { inputs: &inputs, outputs: &outputs, grads: &grads, attrs });
        let found = found.ok_or_else(|| Error::verify(def.name, "has no derivative of its own"))??;
        for (i, (g, x)) in found.into_iter().zip(&inputs).enumerate() {
            if b.dtype(*x).is_float() {
                let g = match g {
                    Some(g) => super::reverse::conform(b, g, *x)?,
                    None => b.zeros_like(*x)?,
                };
                b.graph.add_output(format!("dx{i}"), g, None);
            }
        }
        Ok(())
    })
}
