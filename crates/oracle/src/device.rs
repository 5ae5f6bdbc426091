//! The compiler and a device as a [`crate::Runner`].

use aludel_compiler::{Options, compile};
use aludel_ir::interp::HostTensor;
use aludel_ir::{Graph, Result};
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

/// Compiles a graph for the executor's target, runs it once and reads everything back.
pub fn run(executor: &dyn Executor, graph: &Graph, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    let program = match executor.target() {
        Some(target) => Some(Arc::new(compile(graph, &target, &Options::default())?)),
        None => None,
    };
    let executable = executor.load(Arc::new(graph.clone()), program)?;
    let arguments: Vec<Argument> =
        inputs.iter().map(|t| Argument::Host(executor.device_words(&encode(&t.data, t.dtype), t.dtype).into())).collect();
    let results = executable.run(&[], &arguments)?;
    let mut out = Vec::with_capacity(results.len());
    for (o, storage) in graph.outputs.iter().zip(&results) {
        let ty = graph.ty(o.value);
        let shape: Vec<usize> = ty.shape.iter().filter_map(|d| d.as_const()).map(|d| d as usize).collect();
        let words = pollster::block_on(executor.download(storage))?;
        let words = executor.host_words(words, ty.dtype, shape.iter().product());
        out.push(HostTensor::new(ty.dtype, shape, decode(&words, ty.dtype))?);
    }
    Ok(out)
}
