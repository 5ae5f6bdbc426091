//! Activation checkpointing: a function of whose values nothing is kept for the backward pass but its operands.

use super::apply::{Applied, transformed};
use super::capture::capture;
use crate::autograd::no_grad;
use crate::device::Device;
use crate::eager::EagerGraph;
use crate::tensor::Tensor;
use crate::tree::Tree;
use crate::{Mutex, lock};
use aludel_compiler::Style;
use aludel_compiler::autodiff::expand_grads;
use aludel_ir::{Builder, Function, Graph, InputKind, Result, ValueId, rewrite};
use std::panic::Location;
use std::sync::Arc;

/// Runs a function; its backward pass computes the function's values again instead of keeping them, which saves memory and costs time.
/// PyTorch: `torch.utils.checkpoint.checkpoint` with `use_reentrant=False`.
///
/// Tensors that the function takes from around it, such as parameters, get gradients like its arguments. Random operators draw the same
/// numbers again. In a compiled function the region's values are never kept; eagerly the function runs operator by operator, twice.
///
/// ```
/// use aludel_tensor::{Device, Tensor, func};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let x = Tensor::from_slice(&device, &[0.5f32, 1.0], [2])?.requires_grad();
/// let y = func::checkpoint(|x: &Tensor| x.sin()?.exp(), &x)?;
/// let gradients = y.sum(())?.backward()?;
/// assert!((gradients.get(&x)?.to_vec::<f32>()?[0] - 0.5f32.cos() * 0.5f32.sin().exp()).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The function's own, and a value read on the host within it.
#[track_caller]
pub fn checkpoint<A: Tree + Clone, R: Tree + Clone>(function: impl Fn(&A) -> Result<R>, args: &A) -> Result<R> {
    let at = Location::caller();
    let c = capture("checkpoint", &function, args, None)?;
    let applied = transformed(&c.device, "checkpoint", &c.graph, |g| {
        let mut body = expand_grads(g)?;
        let env = std::mem::take(&mut body.env);
        let function = Function { name: "checkpoint".into(), body, vjp: None, jvp: None, checkpoint: true };
        Ok(vec![Applied::new(&c.device, function, env, Style::Step)?])
    })?;
    c.result(&applied[0].call(&c.device, &c.inputs(args), at)?)
}

/// How the eager tape runs a checkpointed function: operator by operator, forward and again for the backward pass.
pub(crate) struct Checkpoint {
    device: Device,
    body: Graph,
    forward: EagerGraph,
    backward: Mutex<Vec<(Vec<bool>, Vec<bool>, Arc<EagerGraph>)>>,
}

impl Checkpoint {
    pub fn new(device: &Device, body: &Graph) -> Result<Checkpoint> {
        let forward = EagerGraph::new(device, body.clone())?;
        Ok(Checkpoint { device: device.clone(), body: body.clone(), forward, backward: Mutex::default() })
    }

    pub fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        no_grad(|| self.forward.run(inputs.to_vec()))
    }

    /// The gradients of the operands that need one, in order, for those of the results that have one.
    pub fn backward(&self, inputs: &[Tensor], needs: &[bool], present: &[bool], gradients: &[&Tensor]) -> Result<Vec<Tensor>> {
        let known = lock(&self.backward).iter().find(|(n, p, _)| n == needs && p == present).map(|(_, _, g)| g.clone());
        let graph = match known {
            Some(g) => g,
            None => {
                let g = Arc::new(EagerGraph::new(&self.device, self.joint(needs, present)?)?);
                lock(&self.backward).push((needs.to_vec(), present.to_vec(), g.clone()));
                g
            }
        };
        graph.run(inputs.iter().chain(gradients.iter().copied()).cloned().collect())
    }

    // The body, and the gradients of the sum of its results times what is given for them.
    fn joint(&self, needs: &[bool], present: &[bool]) -> Result<Graph> {
        let mut b = Builder::new("checkpoint");
        let arg = |b: &mut Builder, name: String, v: ValueId| b.graph.add_input(name, InputKind::Arg, self.body.ty(v).clone());
        let inputs: Vec<ValueId> = self.body.inputs.iter().map(|i| arg(&mut b, i.name.clone(), i.value)).collect();
        let mut given = Vec::new();
        for (o, _) in self.body.outputs.iter().zip(present).filter(|(_, p)| **p) {
            given.push(arg(&mut b, format!("{}_grad", o.name), o.value));
        }
        let outputs = rewrite::splice(&mut b, &self.body, &inputs, &|_| false)?;
        let mut loss: Option<ValueId> = None;
        for (y, dy) in outputs.iter().zip(present).filter(|(_, p)| **p).map(|(y, _)| *y).zip(given) {
            let term = |b: &mut Builder, name: &str, x: &[ValueId]| {
                let def = crate::methods::find(name)?;
                Ok::<ValueId, aludel_ir::Error>(b.operator(def, x, &aludel_ir::Attrs::new())?[0])
            };
            let t = term(&mut b, "mul", &[y, dy])?;
            let t = term(&mut b, "sum", &[t])?;
            loss = Some(match loss {
                Some(sum) => term(&mut b, "add", &[sum, t])?,
                None => t,
            });
        }
        let wrt: Vec<ValueId> = inputs.iter().zip(needs).filter(|(_, n)| **n).map(|(v, _)| *v).collect();
        let found = match loss {
            Some(loss) => b.grad(loss, &wrt)?,
            None => wrt.iter().map(|v| b.zeros_like(*v)).collect::<Result<Vec<_>>>()?,
        };
        found.iter().enumerate().for_each(|(i, g)| b.graph.add_output(format!("dx{i}"), *g, None));
        Ok(b.graph)
    }
}
