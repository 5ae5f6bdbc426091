//! A specialisation: a captured function compiled for its guards, and a call of it without running the closure.

use super::capture::{Delivered, SMALL, Whole};
use super::guard::Facts;
use crate::device::Device;
use crate::dispatch::cache::load;
use crate::tensor::{Block, Data, Place, Tensor};
use crate::trace::Source;
use crate::tree::Tree;
use crate::{Mutex, lock};
use aludel_compiler::Options;
use aludel_ir::order::Order;
use aludel_ir::{DType, Error, Graph, InputKind, Result, ShapeEnv, TensorType};
use aludel_runtime::{Argument, Executable, Pending, Storage};
use std::sync::Arc;

/// One captured and compiled form of a function.
pub(crate) struct Replay<R> {
    pub facts: Facts,
    /// The guards on sizes: capture's, and what compiling added.
    pub env: ShapeEnv,
    pub graph: Arc<Graph>,
    pub sources: Vec<Source>,
    pub executable: Option<Arc<dyn Executable>>,
    pub calls: u64,
    device: Device,
    template: R,
    delivered: Vec<Delivered>,
    /// For each leaf of the state, the input of the graph that it is and, where it lives in the block, its range.
    state: Vec<Option<(usize, Option<usize>)>>,
    /// How many ranges the block has.
    ranges: usize,
    /// For each output: the leaf of the state that it updates.
    updates: Vec<Option<usize>>,
    leaf_after: Vec<bool>,
    /// Some leaf begins or ceases to require a gradient.
    roles_change: bool,
}

/// Puts what a tree holds into the host's memory, where the device's kernels read it there; elsewhere, and while a step is captured, nothing:
/// a compiled step has places of its own for it ([`crate::Visitor::offload`]).
///
/// # Errors
///
/// Memory of the host that is not there; a failed device.
pub fn offload(tree: &mut dyn Tree) -> Result<()> {
    let mut contents = Vec::new();
    let mut outcome = Ok(());
    let mut device: Option<Device> = None;
    let is_away = |t: &Tensor| !t.is_traced() && t.numel() > SMALL && t.device().target().is_some_and(|target| target.offloads());
    tree.visit_mut(&mut |t| {
        if outcome.is_ok() && is_away(t) {
            device.get_or_insert_with(|| t.device().clone());
            outcome = t.argument().map(|a| contents.push((t.dtype(), a)));
        }
    });
    outcome?;
    let Some(device) = device else { return Ok(()) };
    let mut ranges = device.executor().allocate_offloaded(&contents)?.into_iter();
    tree.visit_mut(&mut |t| {
        if is_away(t)
            && let Some(storage) = ranges.next()
        {
            *t = t.with_data(Data::Device { storage, place: None });
        }
    });
    Ok(())
}

/// Ranges for state of a program, in the order of its inputs: blocks on the device, and in the host's memory of what is offloaded.
fn allocate(device: &Device, contents: Vec<(DType, Argument)>, offloaded: &[bool]) -> Result<Vec<Storage>> {
    let executor = device.executor();
    // Elsewhere the planner has it among the rest.
    if !offloaded.contains(&true) || !device.target().is_some_and(|t| t.offloads()) {
        return executor.allocate_state(&contents);
    }
    let mut parts: [Vec<_>; 2] = Default::default();
    contents.into_iter().zip(offloaded).for_each(|(c, away)| parts[usize::from(*away)].push(c));
    let (mut here, mut away) = (executor.allocate_state(&parts[0])?.into_iter(), executor.allocate_offloaded(&parts[1])?.into_iter());
    let next = |is_away: &bool| if *is_away { away.next() } else { here.next() };
    Ok(offloaded.iter().filter_map(next).collect())
}

/// Runs an executable on its inputs.
type Execute<'a> = dyn FnMut(&dyn Executable, &[Argument]) -> Result<Vec<Storage>> + 'a;

fn report(problem: &str) -> Error {
    Error::invalid("compile", problem, "report this")
}

/// Makes the values of leaves that are recipes still, beside whoever compiles meanwhile: a large model has a hundred million.
#[cfg(not(target_arch = "wasm32"))]
fn make_values(leaves: &[Tensor]) {
    let recipe = |t: &Tensor| match &t.inner.data {
        Data::Host(h) if h.is_recipe() => Some(h.clone()),
        _ => None,
    };
    let recipes: Vec<_> = leaves.iter().filter_map(recipe).collect();
    if !recipes.is_empty() {
        // Whoever needs one before waits for it, or makes it, also where there is no thread for this.
        let _ = std::thread::Builder::new().spawn(move || recipes.iter().for_each(|h| drop(h.words().clone())));
    }
}

impl<R: Tree + Clone> Replay<R> {
    pub fn new(mut facts: Facts, whole: Whole<R>, options: &Options) -> Result<Self> {
        let Whole { graph, sources, template, delivered, leaf_after, notes: _ } = whole;
        let device = facts.leaves.first().map(|t| t.device().clone()).ok_or_else(|| report("no tensors"))?;
        if let Some(other) = facts.leaves.iter().find(|t| *t.device() != device) {
            return Err(Error::invalid(
                "compile",
                format!("arguments and state are on {device} and {}", other.device()),
                "move them to one device with to_device()",
            ));
        }
        let n = facts.leaves.len() - facts.args;
        let mut state = vec![None; n];
        let mut ranges = 0;
        for (k, (input, source)) in graph.inputs.iter().zip(&sources).enumerate() {
            if let Source::Leaf(i) = source
                && *i >= facts.args
            {
                let range = input.kind.is_state().then(|| {
                    ranges += 1;
                    ranges - 1
                });
                state[*i - facts.args] = Some((k, range));
            }
        }
        let leaf_of = |input: usize| match sources.get(input) {
            Some(Source::Leaf(i)) => Some(*i - facts.args),
            _ => None,
        };
        let updates = graph.outputs.iter().map(|o| o.updates.and_then(leaf_of)).collect();
        let was_leaf = facts.leaves[facts.args..].iter().map(Tensor::is_requires_grad);
        let roles_change = was_leaf.zip(&leaf_after).any(|(was, is)| was != *is);
        #[cfg(not(target_arch = "wasm32"))]
        make_values(&facts.leaves);
        let executable = if graph.outputs.is_empty() { None } else { Some(load(&device, graph.clone(), options)?) };
        let env = executable.as_ref().and_then(|e| e.program()).map_or_else(|| graph.env.clone(), |p| p.env.clone());
        // Else the facts would keep the state's tensors, and every update would have to move them out of the way.
        facts.leaves.clear();
        Ok(Replay {
            facts,
            env,
            graph: Arc::new(graph),
            sources,
            executable,
            calls: 0,
            device,
            template,
            delivered,
            state,
            ranges,
            updates,
            leaf_after,
            roles_change,
        })
    }

    /// Runs with tensors that satisfy the guards.
    pub fn run(&self, sizes: &[i64], arguments: &[Tensor], state: &mut dyn Tree) -> Result<R> {
        self.run_by(sizes, arguments, state, &mut |e, inputs| e.run(sizes, inputs))
    }

    /// As [`Replay::run`], and times each launch by itself.
    pub fn run_timed(&self, sizes: &[i64], arguments: &[Tensor], state: &mut dyn Tree) -> Result<(R, Pending<Vec<f64>>)> {
        let mut times: Pending<Vec<f64>> = Box::pin(std::future::ready(Ok(Vec::new())));
        let result = self.run_by(sizes, arguments, state, &mut |e, inputs| {
            let (outputs, pending) = e.run_timed(sizes, inputs)?;
            times = pending;
            Ok(outputs)
        })?;
        Ok((result, times))
    }

    fn run_by(&self, sizes: &[i64], arguments: &[Tensor], state: &mut dyn Tree, execute: &mut Execute<'_>) -> Result<R> {
        let mut inputs: Vec<Option<Argument>> = self
            .sources
            .iter()
            .map(|s| match s {
                Source::Leaf(i) => arguments.get(*i).map(Tensor::argument).transpose(),
                Source::Capture(t) => t.resident().map(Some),
            })
            .collect::<Result<_>>()?;
        if !self.gather(state, &mut inputs)? {
            self.move_in(state, &inputs)?;
            if !self.gather(state, &mut inputs)? {
                return Err(report("the state did not come to lie in its block"));
            }
        }
        let inputs = inputs.into_iter().map(|i| i.ok_or_else(|| report("an input has no value"))).collect::<Result<Vec<_>>>()?;
        let outputs = match &self.executable {
            Some(e) => execute(e.as_ref(), &inputs)?,
            None => Vec::new(),
        };
        drop(inputs);
        // Before new state is put in its place: an unchanged leaf may be a result.
        let result = self.result(sizes, arguments, state, &outputs)?;
        self.settle(state, &outputs);
        Ok(result)
    }

    // Puts the state's tensors among the inputs. False when a range is not where it should be: the first call, or a tensor that the
    // user replaced. A range that somebody else holds too is moved out of the way first, so that they keep the old value.
    fn gather(&self, state: &mut dyn Tree, inputs: &mut [Option<Argument>]) -> Result<bool> {
        let (mut i, mut in_place, mut outcome) = (0, true, Ok(()));
        let mut block: Option<Arc<Block>> = None;
        state.visit_mut(&mut |t| {
            let (leaf, entry) = (i, self.state.get(i).copied().flatten());
            i += 1;
            let Some((input, range)) = entry else { return };
            if outcome.is_err() {
                return;
            }
            if let Some(range) = range {
                match &t.inner.data {
                    Data::Device { storage, place: Some(p) }
                        if p.index == range && block.as_ref().is_none_or(|b| Arc::ptr_eq(b, &p.block)) && p.holds(storage, self.ranges) =>
                    {
                        block = Some(p.block.clone());
                        let updated = self.updates.contains(&Some(leaf));
                        if updated && (Arc::strong_count(&t.inner) > 1 || Arc::strong_count(storage) > 1) {
                            let place = p.clone();
                            match self.device.executor().evacuate(storage) {
                                Ok(new) => {
                                    place.set(&new);
                                    *t = t.with_data(Data::Device { storage: new, place: Some(place) });
                                }
                                Err(e) => outcome = Err(e),
                            }
                        }
                    }
                    _ => in_place = false,
                }
            }
            match t.argument() {
                Ok(a) => inputs[input] = Some(a),
                Err(e) => outcome = Err(e),
            }
        });
        outcome.map(|()| in_place)
    }

    // Allocates a block with the state's present contents and points the state at it.
    fn move_in(&self, state: &mut dyn Tree, inputs: &[Option<Argument>]) -> Result<()> {
        let mut contents = Vec::with_capacity(self.ranges);
        let mut offloaded = Vec::with_capacity(self.ranges);
        for (input, _) in self.state.iter().flatten().filter(|(_, range)| range.is_some()) {
            let dtype = self.graph.ty(self.graph.inputs[*input].value).dtype;
            contents.push((dtype, inputs[*input].clone().ok_or_else(|| report("a state has no value"))?));
            offloaded.push(self.graph.inputs[*input].kind == InputKind::Offloaded);
        }
        let ranges = allocate(&self.device, contents, &offloaded)?;
        if ranges.len() != self.ranges {
            return Err(report("a block has another number of ranges"));
        }
        let block = Arc::new(Block { ranges: Mutex::new(ranges.iter().map(Arc::downgrade).collect()) });
        let mut ranges = ranges.into_iter();
        let mut i = 0;
        state.visit_mut(&mut |t| {
            if let Some(Some((_, Some(index)))) = self.state.get(i)
                && let Some(storage) = ranges.next()
            {
                *t = t.with_data(Data::Device { storage, place: Some(Place { block: block.clone(), index: *index }) });
            }
            i += 1;
        });
        Ok(())
    }

    fn result(&self, sizes: &[i64], arguments: &[Tensor], state: &dyn Tree, outputs: &[Storage]) -> Result<R> {
        let leaves: Vec<Tensor> = if self.delivered.iter().any(|d| matches!(d, Delivered::Leaf(i) if *i >= arguments.len())) {
            crate::named_tensors(state).into_iter().map(|(_, t)| t).collect()
        } else {
            Vec::new()
        };
        let mut result = self.template.clone();
        let mut next = self.delivered.iter();
        let mut outcome = Ok(());
        result.visit_mut(&mut |slot| {
            let made = match next.next() {
                Some(Delivered::Constant(t)) => Ok(t.clone()),
                Some(Delivered::Leaf(i)) => {
                    arguments.get(*i).or_else(|| leaves.get(i - arguments.len())).cloned().ok_or_else(|| report("a result is missing"))
                }
                Some(Delivered::Output(k)) => self.output(*k, sizes, outputs),
                None => Err(report("a result is missing")),
            };
            match made {
                Ok(t) => *slot = t,
                Err(e) => outcome = Err(e),
            }
        });
        outcome.map(|()| result)
    }

    fn output(&self, k: usize, sizes: &[i64], outputs: &[Storage]) -> Result<Tensor> {
        let storage = outputs.get(k).cloned().ok_or_else(|| report("an output is missing"))?;
        let ty = self.graph.ty(self.graph.outputs[k].value);
        let value = |a: &aludel_ir::Atom| match a {
            aludel_ir::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
            _ => None,
        };
        let shape = ty.shape.iter().map(|d| d.eval(&value).map(aludel_ir::Dim::Const)).collect::<Option<Vec<_>>>();
        let shape = shape.ok_or_else(|| report("a result has no size"))?;
        Ok(Tensor::on_device(&self.device, TensorType { dtype: ty.dtype, shape }, storage))
    }

    // Updates are made in place; what an executor gives elsewhere is taken from there.
    fn settle(&self, state: &mut dyn Tree, outputs: &[Storage]) {
        let mut moved: Vec<(usize, &Storage)> = self.updates.iter().zip(outputs).filter_map(|(u, s)| Some(((*u)?, s))).collect();
        let lies = |t: &Tensor, s: &Storage| matches!(&t.inner.data, Data::Device { storage, .. } if Arc::ptr_eq(storage, s));
        moved.order_by_key(|(leaf, _)| *leaf);
        let (mut i, mut next) = (0, moved.iter().peekable());
        state.visit_mut(&mut |t| {
            if let Some((leaf, storage)) = next.peek()
                && *leaf == i
            {
                if !lies(t, storage) {
                    *t = t.with_data(Data::Device { storage: (*storage).clone(), place: None });
                }
                next.next();
            }
            if self.roles_change {
                match (self.leaf_after.get(i), t.is_requires_grad()) {
                    (Some(true), false) => *t = t.requires_grad(),
                    (Some(false), true) => *t = t.detach(),
                    _ => {}
                }
            }
            i += 1;
        });
    }
}

impl Place {
    pub(crate) fn holds(&self, storage: &Storage, ranges: usize) -> bool {
        let known = lock(&self.block.ranges);
        known.len() == ranges && known.get(self.index).is_some_and(|r| std::ptr::addr_eq(r.as_ptr(), Arc::as_ptr(storage)))
    }

    pub(crate) fn set(&self, storage: &Storage) {
        if let Some(r) = lock(&self.block.ranges).get_mut(self.index) {
            *r = Arc::downgrade(storage);
        }
    }
}
