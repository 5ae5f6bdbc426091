//! A captured graph run as eager mode runs it: operator by operator, each a kernel of its own, gradients by the tape.
//!
//! This is how a machine that was sent a graph, and has no closure to run, gives the eager half of a comparison: the same operators in the
//! same order with the same operands through the same dispatcher as the closure's own, and values dropped after their last use.

use crate::autograd::{self, enable_grad, no_grad};
use crate::device::Device;
use crate::dispatch::{Operand, dispatch_on, literal};
use crate::func::Applied;
use crate::tensor::Tensor;
use crate::{Mutex, lock};
use aludel_compiler::Style;
use aludel_ir::{Attrs, Builder, Error, Function, Graph, InputKind, Literal, Node, Op, OpDef, Prim, Result, ShapeEnv, TensorType};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A graph to be run operator by operator on a device.
pub struct EagerGraph {
    device: Device,
    graph: Graph,
    /// For each node, whether some loss is computed from it, so that it belongs on the tape.
    taped: Vec<bool>,
    /// For each value, whether a gradient for it is asked for.
    wanted: Vec<bool>,
    /// For each node, the values that nobody reads after it.
    dead: Vec<Vec<usize>>,
    /// Compiled prims and functions by the node that they are: the dispatcher knows operators only.
    functions: Mutex<FxHashMap<usize, Arc<Applied>>>,
}

/// A value while the graph runs. Numbers stay numbers, as in the expressions that were captured: `x * 2.0` is one kernel.
#[derive(Clone)]
enum Value {
    Tensor(Tensor),
    Number(Literal),
}

impl EagerGraph {
    /// Prepares a graph without size symbols.
    ///
    /// # Errors
    ///
    /// When the graph breaks a rule of the IR, or has size symbols: operators run with sizes.
    pub fn new(device: &Device, graph: Graph) -> Result<EagerGraph> {
        graph.verify()?;
        if !graph.env.symbols.is_empty() {
            return Err(Error::unsupported(
                format!("{} has size symbols, and operators run with sizes", graph.name),
                "export it for the sizes of one call",
            ));
        }
        let (mut wanted, mut upstream) = (vec![false; graph.types.len()], vec![false; graph.types.len()]);
        let (mut taped, mut dead) = (vec![false; graph.nodes.len()], vec![Vec::new(); graph.nodes.len()]);
        let mut read = vec![false; graph.types.len()];
        graph.outputs.iter().for_each(|o| read[o.value.index()] = true);
        for (n, node) in graph.nodes.iter().enumerate().rev() {
            taped[n] = node.outputs.iter().any(|v| upstream[v.index()]);
            match (&node.op, node.inputs.split_first()) {
                (Op::Grad, Some((loss, wrt))) => {
                    upstream[loss.index()] = true;
                    wrt.iter().for_each(|v| wanted[v.index()] = true);
                }
                (Op::Prim(Prim::Detach), _) => {}
                _ if taped[n] => node.inputs.iter().for_each(|v| upstream[v.index()] = true),
                _ => {}
            }
            for v in node.inputs.iter().chain(&node.outputs) {
                if !std::mem::replace(&mut read[v.index()], true) {
                    dead[n].push(v.index());
                }
            }
        }
        Ok(EagerGraph { device: device.clone(), graph, taped, wanted, dead, functions: Mutex::default() })
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Runs the graph once. `inputs` are the graph's, in order, on the graph's device; gives its outputs in order. An output that updates
    /// an input is the new value: the caller puts it in the old one's place.
    ///
    /// # Errors
    ///
    /// When there are not as many inputs as the graph's, or one has another type, shape or device; and what its operators
    /// [say](crate#when-an-operator-fails).
    pub fn run(&self, inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.run_with(inputs, &mut |_| Ok(()))
    }

    /// As [`EagerGraph::run`]; `before` is called before each node, by its position, and ends the run with its error.
    ///
    /// # Errors
    ///
    /// As [`EagerGraph::run`], and `before`'s own.
    pub fn run_with(&self, inputs: Vec<Tensor>, before: &mut dyn FnMut(usize) -> Result<()>) -> Result<Vec<Tensor>> {
        let graph = &self.graph;
        if inputs.len() != graph.inputs.len() {
            let problem = format!("{} given, {} expected", inputs.len(), graph.inputs.len());
            return Err(Error::invalid(format!("inputs of {}", graph.name), problem, "give one for each input of the graph"));
        }
        let mut values: Vec<Option<Value>> = vec![None; graph.types.len()];
        for (input, t) in graph.inputs.iter().zip(inputs) {
            let want = graph.ty(input.value);
            if t.ty() != want || *t.device() != self.device {
                return Err(Error::invalid(
                    format!("input {} of {}", input.name, graph.name),
                    format!("{t} on {} given, {want} on {} expected", t.device(), self.device),
                    "give a tensor of the captured type and shape",
                ));
            }
            self.define(&mut values, input.value.index(), Value::Tensor(t.detach()))?;
        }
        for (n, node) in graph.nodes.iter().enumerate() {
            before(n)?;
            let run = || self.node(n, node, &values);
            let results = if self.taped[n] { enable_grad(run) } else { no_grad(run) }?;
            if results.len() != node.outputs.len() {
                let problem = format!("{} results where {} are named", results.len(), node.outputs.len());
                return Err(Error::verify(format!("node {n}"), problem));
            }
            for (v, r) in node.outputs.iter().zip(results) {
                self.define(&mut values, v.index(), r)?;
            }
            self.dead[n].iter().for_each(|v| values[*v] = None);
        }
        graph.outputs.iter().map(|o| Ok(self.tensor(values[o.value.index()].as_ref())?.detach())).collect()
    }

    // A value whose gradient is asked for is a leaf of the tape, unless it is on the tape already.
    fn define(&self, values: &mut [Option<Value>], at: usize, value: Value) -> Result<()> {
        values[at] = Some(if self.wanted[at] {
            let t = self.tensor(Some(&value))?;
            Value::Tensor(if t.is_requires_grad() { t } else { t.requires_grad() })
        } else {
            value
        });
        Ok(())
    }

    fn tensor(&self, value: Option<&Value>) -> Result<Tensor> {
        match value {
            Some(Value::Tensor(t)) => Ok(t.clone()),
            Some(Value::Number(l)) => Tensor::full(&self.device, (), l.value(), l.dtype),
            None => Err(Error::invalid(self.graph.name.clone(), "a value is used after it was let go", "report this")),
        }
    }

    fn node(&self, n: usize, node: &Node, values: &[Option<Value>]) -> Result<Vec<Value>> {
        let operands: Vec<Option<&Value>> = node.inputs.iter().map(|v| values[v.index()].as_ref()).collect();
        let results = match &node.op {
            Op::Call(def, attrs) => self.call(def, attrs, &operands)?,
            Op::Grad => self.gradients(&operands, self.taped[n])?,
            Op::Function(f) => self.function(n, f, &operands)?,
            Op::Prim(p) => return self.prim(n, node, p, &operands),
        };
        Ok(results.into_iter().map(Value::Tensor).collect())
    }

    fn call(&self, def: &'static OpDef, attrs: &Attrs, operands: &[Option<&Value>]) -> Result<Vec<Tensor>> {
        let tensors = operands
            .iter()
            .map(|o| match o {
                Some(Value::Number(_)) => Ok(None),
                o => self.tensor(*o).map(Some),
            })
            .collect::<Result<Vec<Option<Tensor>>>>()?;
        // What stands for a number takes its type from the tensors beside it, as it did when it was captured.
        let number = |l: &Literal| if l.dtype.is_int() { Operand::Int(l.value() as i64) } else { Operand::Float(l.value()) };
        let plain: Vec<Operand> = tensors.iter().flatten().map(Operand::from).collect();
        let stays = |l: &Literal| !plain.is_empty() && literal(&plain, &number(l)) == *l;
        let made = operands
            .iter()
            .map(|o| match o {
                Some(Value::Number(l)) if !stays(l) => self.tensor(*o).map(Some),
                _ => Ok(None),
            })
            .collect::<Result<Vec<Option<Tensor>>>>()?;
        let mut list = Vec::with_capacity(operands.len());
        for ((o, given), made) in operands.iter().zip(&tensors).zip(&made) {
            list.push(match (given.as_ref().or(made.as_ref()), o) {
                (Some(t), _) => Operand::Tensor(t),
                (None, Some(Value::Number(l))) => number(l),
                (None, _) => return Err(Error::invalid(def.name, "an operand has no value", "report this")),
            });
        }
        dispatch_on(&self.device, def, &list, attrs.clone())
    }

    fn gradients(&self, operands: &[Option<&Value>], create_graph: bool) -> Result<Vec<Tensor>> {
        let all = operands.iter().map(|o| self.tensor(*o)).collect::<Result<Vec<_>>>()?;
        let Some((loss, wrt)) = all.split_first() else {
            return Err(Error::verify("grad", "takes a loss and the values to differentiate by"));
        };
        let found = autograd::gradients(loss, wrt, create_graph)?;
        found.into_iter().zip(wrt).map(|(g, w)| g.map_or_else(|| w.detach().zeros_like(), Ok)).collect()
    }

    // The prims of a captured graph are constants, what spreads them, and cuts; others run as operators of their own.
    fn prim(&self, n: usize, node: &Node, prim: &Prim, operands: &[Option<&Value>]) -> Result<Vec<Value>> {
        let one = |name: &str, attrs: Attrs| -> Result<Vec<Value>> {
            let results = self.call(crate::methods::find(name)?, &attrs, operands)?;
            Ok(results.into_iter().map(Value::Tensor).collect())
        };
        match (prim, operands.first().copied().flatten()) {
            (Prim::Const(l), _) => return Ok(vec![Value::Number(*l)]),
            (Prim::Expand(shape) | Prim::Reshape(shape), Some(Value::Number(l))) => {
                return Ok(vec![Value::Tensor(Tensor::full(&self.device, shape.clone(), l.value(), l.dtype)?)]);
            }
            (Prim::Detach, Some(Value::Tensor(t))) => return Ok(vec![Value::Tensor(t.detach())]),
            (Prim::Detach, Some(number)) => return Ok(vec![number.clone()]),
            (Prim::Reshape(shape), _) => return one("reshape", Attrs::new().with("shape", shape.clone())),
            (Prim::Expand(shape), _) => return one("expand", Attrs::new().with("shape", shape.clone())),
            (Prim::Cast(dtype), _) => return one("to", Attrs::new().with("dtype", *dtype)),
            (Prim::Permute(dims), _) => {
                return one("permute", Attrs::new().with("dims", dims.iter().map(|d| *d as i64).collect::<Vec<i64>>()));
            }
            _ => {}
        }
        let tensors = operands.iter().map(|o| self.tensor(*o)).collect::<Result<Vec<_>>>()?;
        let known = lock(&self.functions).get(&n).cloned();
        let applied = match known {
            Some(f) => f,
            None => {
                let mut b = Builder::new(prim.name());
                let inputs: Vec<_> =
                    tensors.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), InputKind::Arg, t.ty().clone())).collect();
                let types: Vec<TensorType> = node.outputs.iter().map(|v| self.graph.ty(*v).clone()).collect();
                for (i, v) in b.push(Op::Prim(prim.clone()), &inputs, types).into_iter().enumerate() {
                    b.graph.add_output(format!("y{i}"), v, None);
                }
                let f = Function { name: prim.name().into(), body: b.graph, vjp: None, jvp: None, checkpoint: false };
                self.keep(n, Applied::new(&self.device, f, ShapeEnv::default(), Style::Operator)?)
            }
        };
        let results = applied.run(&self.device, &tensors)?;
        Ok(results.into_iter().map(Value::Tensor).collect())
    }

    // A function runs as one program, unless it is checkpointed, which is about what it keeps.
    fn function(&self, n: usize, f: &Arc<Function>, operands: &[Option<&Value>]) -> Result<Vec<Tensor>> {
        let tensors = operands.iter().map(|o| self.tensor(*o)).collect::<Result<Vec<_>>>()?;
        let known = lock(&self.functions).get(&n).cloned();
        let applied = match known {
            Some(f) => f,
            None => self.keep(n, Applied::new(&self.device, (**f).clone(), ShapeEnv::default(), Style::Step)?),
        };
        applied.run(&self.device, &tensors)
    }

    fn keep(&self, n: usize, f: Applied) -> Arc<Applied> {
        let f = Arc::new(f);
        lock(&self.functions).insert(n, f.clone());
        f
    }
}
