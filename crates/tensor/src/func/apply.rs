//! Running functions: inlined or recorded in a trace, compiled and put on the tape otherwise.

use super::checkpoint::Checkpoint;
use crate::autograd::{self, is_grad_enabled};
use crate::device::Device;
use crate::dispatch::cache::Operator;
use crate::tensor::Tensor;
use crate::{Mutex, lock, trace};
use aludel_compiler::Style;
use aludel_compiler::autodiff::decompose;
use aludel_ir::{Function, Graph, Op, Result, ShapeEnv};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// A function that runs on tensors.
pub(crate) struct Applied {
    function: Arc<Function>,
    /// The symbols and guards that its graphs assume.
    env: ShapeEnv,
    style: Style,
    compiled: OnceLock<Arc<Operator>>,
    checkpoint: Option<Arc<Checkpoint>>,
}

impl Applied {
    pub fn new(device: &Device, function: Function, env: ShapeEnv, style: Style) -> Result<Applied> {
        let checkpoint = function.checkpoint && !trace::is_active();
        let checkpoint = if checkpoint { Some(Arc::new(Checkpoint::new(device, &function.body)?)) } else { None };
        Ok(Applied { function: Arc::new(function), env, style, compiled: OnceLock::new(), checkpoint })
    }

    /// A graph as a function without a derivative of its own.
    pub fn plain(device: &Device, mut graph: Graph) -> Result<Applied> {
        let env = std::mem::take(&mut graph.env);
        let function = Function { name: graph.name.clone(), body: graph, vjp: None, jvp: None, checkpoint: false };
        Self::new(device, function, env, Style::Step)
    }

    /// Whether the function says something about its derivative, so that a graph has it as a node.
    fn is_node(&self) -> bool {
        self.function.vjp.is_some() || self.function.jvp.is_some() || self.function.checkpoint
    }

    /// The results for operands; gradients flow through.
    pub fn call(&self, device: &Device, inputs: &[Tensor], at: &'static Location<'static>) -> Result<Vec<Tensor>> {
        if !trace::is_active() {
            return self.run(device, inputs);
        }
        let recording = is_grad_enabled() && inputs.iter().any(Tensor::is_requires_grad);
        let given: Vec<&Tensor> = inputs.iter().collect();
        let outputs = if self.is_node() {
            trace::call_function(device, &self.function, &self.env, &given, recording, at)?
        } else {
            trace::inline(device, &self.function.body, &self.env, &given, recording, at)?
        };
        if !recording {
            return Ok(outputs);
        }
        autograd::record_op(Op::Function(self.function.clone()), inputs.to_vec(), outputs, None, None)
    }

    /// As [`Applied::call`], outside of traces.
    pub fn run(&self, device: &Device, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let recording = is_grad_enabled() && inputs.iter().any(Tensor::is_requires_grad);
        let (outputs, operator) = match &self.checkpoint {
            Some(c) => (c.forward(inputs)?, None),
            None => {
                let operator = self.operator(device)?;
                (operator.run(device, &|i| inputs.get(i))?, Some(operator))
            }
        };
        if !recording {
            return Ok(outputs);
        }
        // A checkpoint's second derivatives are compiled.
        let operator = match operator {
            Some(o) => Some(o),
            None => Some(self.operator(device)?),
        };
        autograd::record_op(Op::Function(self.function.clone()), inputs.to_vec(), outputs, operator, self.checkpoint.clone())
    }

    fn operator(&self, device: &Device) -> Result<Arc<Operator>> {
        if let Some(o) = self.compiled.get() {
            return Ok(o.clone());
        }
        let body = &self.function.body;
        let positions: Vec<usize> = (0..body.inputs.len()).collect();
        let operator = Arc::new(Operator::new(device, body.clone(), &decompose(body)?, &positions, self.style)?);
        Ok(self.compiled.get_or_init(|| operator).clone())
    }
}

/// So many transformed functions of a device are kept.
const MAX_FUNCTIONS: usize = 256;

struct Entry {
    what: String,
    graph: Graph,
    applied: Arc<[Applied]>,
    /// When it was last used.
    used: u64,
}

/// The transformed functions of a device, found by what was asked and the graph that the function is.
#[derive(Default)]
pub(crate) struct FunctionCache {
    entries: Mutex<(u64, FxHashMap<u64, Vec<Entry>>)>,
}

impl FunctionCache {
    fn find(&self, hash: u64, what: &str, graph: &Graph) -> Option<Arc<[Applied]>> {
        let (clock, entries) = &mut *lock(&self.entries);
        *clock += 1;
        let found = entries.get_mut(&hash)?.iter_mut().find(|e| e.what == what && e.graph == *graph)?;
        found.used = *clock;
        Some(found.applied.clone())
    }

    fn keep(&self, hash: u64, what: &str, graph: &Graph, applied: &Arc<[Applied]>) {
        let (clock, entries) = &mut *lock(&self.entries);
        if entries.values().map(Vec::len).sum::<usize>() >= MAX_FUNCTIONS
            && let Some(oldest) = entries.values().flatten().map(|e| e.used).min()
        {
            entries.values_mut().for_each(|list| list.retain(|e| e.used != oldest));
            entries.retain(|_, list| !list.is_empty());
        }
        *clock += 1;
        let entry = Entry { what: what.to_string(), graph: graph.clone(), applied: applied.clone(), used: *clock };
        entries.entry(hash).or_default().push(entry);
    }
}

/// What `build` makes of a graph; found again for an equal graph, outside of traces.
pub(super) fn transformed(
    device: &Device,
    what: &str,
    graph: &Graph,
    build: impl FnOnce(&Graph) -> Result<Vec<Applied>>,
) -> Result<Arc<[Applied]>> {
    if trace::is_active() {
        return Ok(build(graph)?.into());
    }
    let mut h = DefaultHasher::new();
    what.hash(&mut h);
    graph.types.hash(&mut h);
    for node in &graph.nodes {
        node.op.name().hash(&mut h);
        node.inputs.hash(&mut h);
    }
    let hash = h.finish();
    if let Some(known) = device.functions().find(hash, what, graph) {
        return Ok(known);
    }
    let made: Arc<[Applied]> = build(graph)?.into();
    device.functions().keep(hash, what, graph, &made);
    Ok(made)
}
