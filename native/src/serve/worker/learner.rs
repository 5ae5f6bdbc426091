//! A checked job ready to train: the graph compiled whole or made ready operator by operator, its state on the device, its batches.

use super::gate::{Gated, Latch};
use super::job::{Column, Plan, PlanFeed, bytes_of};
use crate::serve::args::Bounds;
use crate::serve::limits::within;
use aludel::runtime::{Argument, Executable, Storage};
use aludel::{Device, EagerGraph, Error, Result, Tensor, words_to_le_bytes};
use aludel_compiler::{Options, Target, compile};
use aludel_ir::program::Program;
use aludel_ir::{InputKind, TensorType};
use aludel_protocol::remote::{Feed, Job, Refusal, TensorData};
use aludel_protocol::{Counts, Inspection, Pane};
use std::sync::Arc;

/// What takes the steps of one session.
pub struct Learner {
    device: Device,
    plan: Plan,
    way: Way,
}

enum Way {
    /// Its inputs; `None` for those that take rows. State lies in one block and is updated in place.
    Whole {
        executable: Arc<dyn Executable>,
        inputs: Vec<Option<Argument>>,
    },
    Eager {
        graph: Box<EagerGraph>,
        inputs: Vec<Option<Tensor>>,
    },
}

/// A loss that the device may still be computing.
pub enum Loss {
    Storage(Storage),
    Tensor(Tensor),
}

/// What does not compile.
pub fn refuse(e: Error) -> Refusal {
    Refusal::Compile { message: e.to_string() }
}

fn lost(what: &str) -> Error {
    Error::invalid(what, "is missing", "report this")
}

impl Learner {
    /// Compiles what a plan needs, and runs nothing of it: that is for after the latch is opened.
    pub fn new(mut plan: Plan, device: &Device, latch: &Latch, bounds: &Bounds) -> Result<Learner, Refusal> {
        let device = match plan.pane {
            Pane::Compiled => Device::new(device.executor().clone()),
            Pane::Eager => Device::new(Arc::new(Gated::new(device.executor().clone(), latch.clone()))),
        };
        // Only fused graphs do without most of what they compute.
        if plan.pane == Pane::Eager || device.target().is_none() {
            within("bytes of everything that a step computes", plan.computed, bounds.memory_bytes)?;
        }
        let way = match plan.pane {
            Pane::Compiled => {
                // The interpreter has no target: what is compiled for it is only to tell what a step takes of the memory.
                let target = device.target().cloned().unwrap_or(Target { max_binding_bytes: 16 << 30, ..Target::webgpu_default() });
                let options = Options { keep_stages: device.target().is_some(), ..Options::default() };
                let program = Arc::new(compile(&plan.graph, &target, &options).map_err(refuse)?);
                check_memory(&program, bounds)?;
                Self::whole(&mut plan, &device, program).map_err(refuse)?
            }
            Pane::Eager => Self::eager(&mut plan, &device).map_err(refuse)?,
        };
        // Kernels that are still being compiled, in threads of the device's, belong to compiling: to its deadline and its rights.
        pollster::block_on(device.executor().ready()).map_err(refuse)?;
        Ok(Learner { device, plan, way })
    }

    fn whole(plan: &mut Plan, device: &Device, program: Arc<Program>) -> Result<Way> {
        let program = device.target().is_some().then_some(program);
        let executor = device.executor();
        let executable = executor.load(plan.graph.clone(), program)?;
        // State inputs lie in one block, those that no output updates among them.
        let mut contents = Vec::new();
        for (input, feed) in plan.graph.inputs.iter().zip(&mut plan.feeds) {
            if let (InputKind::State | InputKind::Offloaded, PlanFeed::State(w) | PlanFeed::Constant(w)) = (input.kind, feed) {
                let dtype = plan.graph.ty(input.value).dtype;
                contents.push((dtype, Argument::Host(executor.device_words(&std::mem::take(w), dtype).into())));
            }
        }
        let mut block = executor.allocate_state(&contents)?.into_iter();
        drop(contents);
        let mut inputs = Vec::with_capacity(plan.feeds.len());
        for (input, feed) in plan.graph.inputs.iter().zip(&mut plan.feeds) {
            inputs.push(match (input.kind, feed) {
                (_, PlanFeed::Rows(_)) => None,
                (InputKind::State | InputKind::Offloaded, _) => Some(Argument::Device(block.next().ok_or_else(|| lost("a state"))?)),
                (InputKind::Arg, PlanFeed::State(w) | PlanFeed::Constant(w)) => {
                    Some(Argument::Device(executor.upload(&executor.device_words(&std::mem::take(w), plan.graph.ty(input.value).dtype))?))
                }
            });
        }
        Ok(Way::Whole { executable, inputs })
    }

    // One step on the first batch, of which nothing is computed or kept, compiles every operator while there is a compiler.
    fn eager(plan: &mut Plan, device: &Device) -> Result<Way> {
        let graph = Box::new(EagerGraph::new(device, (*plan.graph).clone())?);
        let mut inputs = Vec::with_capacity(plan.feeds.len());
        for (input, feed) in plan.graph.inputs.iter().zip(&mut plan.feeds) {
            inputs.push(match feed {
                PlanFeed::Rows(_) => None,
                PlanFeed::State(w) | PlanFeed::Constant(w) => {
                    let ty = plan.graph.ty(input.value);
                    Some(tensor(device, ty, &std::mem::take(w))?)
                }
            });
        }
        let first = batch_tensors(plan, device, &inputs, 0)?;
        graph.run(first)?;
        Ok(Way::Eager { graph, inputs })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Issues step `step`, counted from 0, and waits for nothing.
    pub fn step(&mut self, step: u64) -> Result<Loss> {
        let Learner { device, plan, way } = self;
        match way {
            Way::Whole { executable, inputs } => {
                let mut arguments = Vec::with_capacity(inputs.len());
                for (feed, held) in plan.feeds.iter().zip(&*inputs) {
                    arguments.push(match (feed, held) {
                        (PlanFeed::Rows(c), _) => {
                            Argument::Host(device.executor().device_words(&rows(plan, *c, step), plan.columns[*c].dtype).into())
                        }
                        (_, Some(a)) => a.clone(),
                        (_, None) => return Err(lost("an input")),
                    });
                }
                let outputs = executable.run(&[], &arguments)?;
                drop(arguments);
                for (o, storage) in plan.graph.outputs.iter().zip(&outputs) {
                    // In place it is the input's own storage.
                    if let Some(held) = o.updates.and_then(|i| inputs.get_mut(i)) {
                        *held = Some(Argument::Device(storage.clone()));
                    }
                }
                outputs.into_iter().nth(plan.loss).map(Loss::Storage).ok_or_else(|| lost("the loss"))
            }
            Way::Eager { graph, inputs } => {
                let given = batch_tensors(plan, device, inputs, step)?;
                let outputs = graph.run(given)?;
                for (o, t) in plan.graph.outputs.iter().zip(&outputs) {
                    if let Some(held) = o.updates.and_then(|i| inputs.get_mut(i)) {
                        *held = Some(t.clone());
                    }
                }
                device.flush();
                outputs.into_iter().nth(plan.loss).map(Loss::Tensor).ok_or_else(|| lost("the loss"))
            }
        }
    }

    /// Waits for a loss.
    pub fn read(&self, loss: &Loss) -> Result<f32> {
        match loss {
            Loss::Tensor(t) => Ok(t.item()? as f32),
            Loss::Storage(s) => {
                let dtype = self.plan.graph.ty(self.plan.graph.outputs[self.plan.loss].value).dtype;
                let executor = self.device.executor();
                let words = executor.host_words(pollster::block_on(executor.download(s))?, dtype, 1);
                aludel_runtime::decode(&words, dtype).first().map(|v| *v as f32).ok_or_else(|| lost("the loss"))
            }
        }
    }

    /// Waits until the device has done all that was issued.
    pub fn finish(&self) -> Result<()> {
        pollster::block_on(self.device.throttle(0))
    }

    /// Totals of the device, all its sessions together.
    pub fn totals(&self) -> Counts {
        let s = self.device.stats();
        Counts { kernels: s.dispatches, submits: s.submits, bytes_moved: s.bytes_moved, peak_bytes: s.peak_bytes }
    }

    /// `None` for a session that runs operator by operator, and on the interpreter.
    pub fn inspect(&self) -> Option<Inspection> {
        match &self.way {
            Way::Whole { executable, .. } => executable.program().map(|p| Inspection::of_program(&self.plan.graph, p)),
            Way::Eager { .. } => None,
        }
    }

    /// Bytes of the state on the wire.
    pub fn state_bytes(&self) -> u64 {
        state_positions(&self.plan).map(|i| bytes_of(self.plan.graph.ty(self.plan.graph.inputs[i].value))).sum()
    }

    /// The state feeds in order, by the names that the client gave them; waits for the device.
    pub fn state(&self) -> Result<Vec<(String, TensorData)>> {
        state_positions(&self.plan).map(|i| Ok((self.plan.names[i].clone(), self.input(i)?))).collect()
    }

    fn input(&self, i: usize) -> Result<TensorData> {
        let ty = self.plan.graph.ty(self.plan.graph.inputs[i].value);
        let bytes = match &self.way {
            Way::Eager { inputs, .. } => {
                let t = inputs[i].as_ref().ok_or_else(|| lost("a state"))?;
                pollster::block_on(t.to_le_bytes_async())?
            }
            Way::Whole { inputs, .. } => match inputs[i].as_ref().ok_or_else(|| lost("a state"))? {
                Argument::Host(_) => return Err(lost("a state on the device")),
                Argument::Device(s) => {
                    let count = ty.numel().as_const().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| lost("a size"))?;
                    let executor = self.device.executor();
                    let words = executor.host_words(pollster::block_on(executor.download(s))?, ty.dtype, count);
                    words_to_le_bytes(&words, ty.dtype)
                }
            },
        };
        let shape = ty
            .shape
            .iter()
            .map(|d| d.as_const().and_then(|d| u32::try_from(d).ok()).ok_or_else(|| lost("a size")))
            .collect::<Result<_>>()?;
        Ok(TensorData { dtype: ty.dtype, shape, bytes })
    }

    /// The job as it would have to be sent to go on from here.
    pub fn job(&self) -> Result<Job> {
        let plan = &self.plan;
        let mut feeds = Vec::with_capacity(plan.feeds.len());
        for (i, feed) in plan.feeds.iter().enumerate() {
            feeds.push(match feed {
                PlanFeed::Rows(c) => Feed::Rows { column: *c as u32 },
                PlanFeed::State(_) => Feed::State(self.input(i)?),
                PlanFeed::Constant(_) => Feed::Constant(self.input(i)?),
            });
        }
        let data = |c: &Column| TensorData { dtype: c.dtype, shape: c.shape.clone(), bytes: words_to_le_bytes(&c.words, c.dtype) };
        Ok(Job {
            name: plan.name.clone(),
            device: plan.device as u32,
            pane: plan.pane,
            graph: plan.text.clone(),
            feeds,
            loss: plan.loss as u32,
            columns: plan.columns.iter().map(data).collect(),
            order: plan.order.clone(),
            batch: plan.batch as u32,
        })
    }
}

fn state_positions(plan: &Plan) -> impl Iterator<Item = usize> {
    plan.feeds.iter().enumerate().filter_map(|(i, f)| matches!(f, PlanFeed::State(_)).then_some(i))
}

fn tensor(device: &Device, ty: &TensorType, words: &[u32]) -> Result<Tensor> {
    Tensor::from_le_bytes(device, ty.dtype, ty.shape.clone(), &words_to_le_bytes(words, ty.dtype))
}

/// The words of the rows that a step takes of a column.
fn rows(plan: &Plan, column: usize, step: u64) -> Vec<u32> {
    let c = &plan.columns[column];
    let places = plan.order.len() as u64;
    let start = (step % places) * (plan.batch as u64 % places);
    let mut out = Vec::with_capacity(plan.batch * c.row);
    for k in 0..plan.batch as u64 {
        let at = plan.order[((start + k) % places) as usize] as usize * c.row;
        out.extend_from_slice(&c.words[at..at + c.row]);
    }
    out
}

fn batch_tensors(plan: &Plan, device: &Device, held: &[Option<Tensor>], step: u64) -> Result<Vec<Tensor>> {
    let inputs = plan.graph.inputs.iter().zip(&plan.feeds).zip(held);
    inputs
        .map(|((input, feed), held)| match (feed, held) {
            (PlanFeed::Rows(c), _) => tensor(device, plan.graph.ty(input.value), &rows(plan, *c, step)),
            (_, Some(t)) => Ok(t.clone()),
            (_, None) => Err(lost("an input")),
        })
        .collect()
}

/// A step must fit. How long it takes is not foretold but measured: the server ends one that takes too long.
fn check_memory(program: &Program, bounds: &Bounds) -> Result<(), Refusal> {
    let words = program.layout(&[]).map_or(u64::MAX, |(_, totals)| totals.iter().fold(0, |n, t| n.saturating_add(*t as u64)));
    within("bytes of a step's memory", words.saturating_mul(4), bounds.memory_bytes)
}
