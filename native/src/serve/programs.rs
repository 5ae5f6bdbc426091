//! Programs compiled before: clients that race the same preset, and pages that are loaded anew, send equal graphs.

use super::job::Plan;
use super::session::lock;
use aludel::{Device, Result};
use aludel_compiler::{Options, Target, compile};
use aludel_ir::Graph;
use aludel_ir::program::Program;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// So many are kept.
const MOST: usize = 32;

/// The latest programs, by what they were compiled from.
#[derive(Default)]
pub struct Programs {
    known: Mutex<VecDeque<Known>>,
}

struct Known {
    graph: Arc<Graph>,
    target: Target,
    program: Arc<Program>,
}

impl Programs {
    /// The program of a plan's graph for a device, and whether it was known. The interpreter has no target: what is compiled for it is only
    /// to tell what a step costs.
    pub fn get(&self, plan: &Plan, device: &Device) -> Result<(Arc<Program>, bool)> {
        let target = device.target().cloned().unwrap_or(Target { max_binding_bytes: 16 << 30, ..Target::webgpu_default() });
        let is = |k: &Known| k.target == target && k.graph == plan.graph;
        let mut known = lock(&self.known);
        if let Some(i) = known.iter().position(is)
            && let Some(k) = known.remove(i)
        {
            let program = k.program.clone();
            known.push_back(k);
            return Ok((program, true));
        }
        drop(known);
        let program = Arc::new(compile(&plan.graph, &target, &Options { keep_stages: device.target().is_some(), ..Options::default() })?);
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.pop_front();
        }
        known.push_back(Known { graph: plan.graph.clone(), target, program: program.clone() });
        Ok((program, false))
    }
}
