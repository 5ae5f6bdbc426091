//! Segments of functions with graph breaks: each is compiled once and found again by its graph.

use crate::device::Device;
use crate::dispatch::cache::load;
use crate::tensor::Tensor;
use crate::{Mutex, lock};
use aludel_compiler::Options;
use aludel_ir::{Graph, Result};
use aludel_runtime::{Executable, Storage};
use std::sync::Arc;

/// A host value that is used as a constant makes a new segment each time: the oldest make room.
const MAX_SEGMENTS: usize = 64;

struct Segment {
    device: Device,
    /// With the hints taken out: they differ from call to call and decide nothing that is not a guard.
    graph: Graph,
    executable: Arc<dyn Executable>,
}

/// The compiled segments of one function.
pub(crate) struct Segments {
    options: Options,
    list: Mutex<Vec<Segment>>,
}

impl Segments {
    pub fn new(options: Options) -> Segments {
        Segments { options, list: Mutex::default() }
    }

    pub fn len(&self) -> usize {
        lock(&self.list).len()
    }

    /// Runs a segment; compiles it when it is new.
    pub fn run(&self, device: &Device, graph: Graph, sizes: &[i64], inputs: &[Tensor]) -> Result<Vec<Storage>> {
        let mut key = graph.clone();
        key.env.symbols.iter_mut().for_each(|s| s.hint = 0);
        let known = lock(&self.list).iter().find(|s| s.device == *device && s.graph == key).map(|s| s.executable.clone());
        let executable = match known {
            Some(e) => e,
            None => {
                let e = load(device, graph, &self.options)?;
                let mut list = lock(&self.list);
                if list.len() >= MAX_SEGMENTS {
                    list.remove(0);
                }
                list.push(Segment { device: device.clone(), graph: key, executable: e.clone() });
                e
            }
        };
        let arguments = inputs.iter().map(Tensor::argument).collect::<Result<Vec<_>>>()?;
        executable.run(sizes, &arguments)
    }
}
