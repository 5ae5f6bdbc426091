//! One run of a function on traced tensors, and the graph that comes of it.

use crate::autograd::enable_grad;
use crate::device::Device;
use crate::tensor::Tensor;
use crate::trace::{self, Session, Slot, Source};
use crate::tree::{Tree, Visitor};
use aludel_ir::{Error, Graph, Result, TensorType};
use std::sync::Arc;

/// A function of a tree as a graph. Its inputs are the tree's tensors, in order, and then what the function takes from around it; its
/// outputs are the tensors of the result, and then what it left behind in the places that it can reach, such as running statistics.
pub(super) struct Capture<R> {
    pub graph: Graph,
    pub device: Device,
    /// What the function takes from around it.
    pub around: Vec<Tensor>,
    /// The result, its tensors to be replaced.
    template: R,
    /// How many tensors the result has.
    pub results: usize,
    left: Vec<Arc<Slot>>,
}

/// The tensors of a tree, in order.
pub(super) fn tensors(tree: &(impl Tree + ?Sized)) -> Vec<Tensor> {
    struct Collect(Vec<Tensor>);
    impl Visitor for Collect {
        fn tensor(&mut self, tensor: &Tensor) {
            self.0.push(tensor.clone());
        }
    }
    let mut c = Collect(Vec::new());
    tree.visit(&mut c);
    c.0
}

/// The tree with other tensors, in order.
pub(super) fn with_tensors<T: Tree + Clone>(tree: &T, tensors: &[Tensor]) -> T {
    let mut out = tree.clone();
    let mut next = tensors.iter();
    out.visit_mut(&mut |t| {
        if let Some(new) = next.next() {
            *t = new.clone();
        }
    });
    out
}

/// Runs the function on traced tensors. `sample` gives the type that the function sees of the `i`-th tensor, where that is another.
pub(super) fn capture<A: Tree + Clone, R: Tree + Clone>(
    name: &str,
    f: &dyn Fn(&A) -> Result<R>,
    args: &A,
    sample: Option<&dyn Fn(usize) -> TensorType>,
) -> Result<Capture<R>> {
    let given = tensors(args);
    let session = Session::function(name);
    let mut traced = Vec::with_capacity(given.len());
    for (i, t) in given.iter().enumerate() {
        traced.push(match sample {
            None => session.operand(t)?,
            Some(ty) => session.sample(t, ty(i))?,
        });
    }
    let mut result = enable_grad(|| f(&with_tensors(args, &traced)))?;
    let mut trace = session.finish()?;
    let mut outputs = Vec::new();
    let mut outcome = Ok(());
    result.visit_mut(&mut |t| match trace.result(t) {
        Ok(v) => {
            outputs.push((v, t.device().clone()));
            // Without its history, so that what is held from here on is held by somebody else.
            *t = t.detach();
        }
        Err(e) => outcome = Err(e),
    });
    outcome?;
    let mut known = tensors(&result);
    known.extend(traced);
    let left = trace.left_behind(&known);
    let (mut graph, sources) = trace.into_graph();
    outputs.iter().enumerate().for_each(|(i, (v, _))| graph.add_output(format!("y{i}"), *v, None));
    left.iter().enumerate().for_each(|(i, (_, v))| graph.add_output(format!("left{i}"), *v, None));
    let around: Vec<Tensor> = sources
        .into_iter()
        .skip(given.len())
        .filter_map(|s| match s {
            Source::Capture(t) => Some(t),
            Source::Leaf(_) => None,
        })
        .collect();
    let device = given.iter().chain(&around).map(|t| t.device().clone()).chain(outputs.iter().map(|o| o.1.clone())).next();
    let device =
        device.ok_or_else(|| Error::invalid(name, "the function has no tensors", "give it one: it says which device to run on"))?;
    if let Some(other) = given.iter().chain(&around).find(|t| *t.device() != device) {
        let problem = format!("the function has tensors on {device} and {}", other.device());
        return Err(Error::invalid(name, problem, "move them to one device with to_device()"));
    }
    graph.eliminate_dead_code();
    let left = left.into_iter().map(|(slot, _)| slot).collect();
    Ok(Capture { graph: graph.compact(), device, around, template: result, results: outputs.len(), left })
}

impl<R: Tree + Clone> Capture<R> {
    /// The inputs for a call: the tree's tensors and what the function takes from around it.
    pub fn inputs(&self, args: &impl Tree) -> Vec<Tensor> {
        let mut inputs = tensors(args);
        inputs.extend(self.around.iter().cloned());
        inputs
    }

    /// How many outputs there are: the result's and what was left behind.
    pub fn outputs(&self) -> usize {
        self.results + self.left.len()
    }

    /// Whether the function left tensors behind.
    pub fn leaves_behind(&self) -> bool {
        !self.left.is_empty()
    }

    /// The result with tensors that have types and no values.
    pub fn stand_ins(&self) -> R {
        let types = self.graph.outputs[..self.results].iter().map(|o| self.graph.ty(o.value).clone());
        with_tensors(&self.template, &types.map(|ty| Tensor::stand_in(&self.device, ty)).collect::<Vec<_>>())
    }

    /// The result for the values of the graph's outputs. What the function left behind gets its value where it lies.
    pub fn result(&self, outputs: &[Tensor]) -> Result<R> {
        if outputs.len() < self.outputs() {
            return Err(Error::invalid("function", "a result is missing", "report this"));
        }
        for (slot, t) in self.left.iter().zip(&outputs[self.results..]) {
            trace::resolve(slot, t.detach());
        }
        Ok(with_tensors(&self.template, &outputs[..self.results]))
    }
}
