//! The compiled step as people see it: what was captured, what became of it, and why.

use serde::{Deserialize, Serialize};

/// All that the inspector shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// What capture recorded, in order. Kernels refer to these by index.
    pub operators: Vec<Operator>,
    /// Text of the compiler's stages, by name: captured and joint graph, loops before and after fusion.
    pub stages: Vec<Stage>,
    /// Launches of one step, in order.
    pub kernels: Vec<Kernel>,
    pub memory: Memory,
    /// What must hold for this program to be used again.
    pub guards: Vec<Guard>,
    pub not_fused: Vec<NotFused>,
    /// Graph breaks: where, and why.
    pub breaks: Vec<String>,
    /// How many programs were compiled for this step, and for which calls.
    pub specialisations: Vec<String>,
}

impl Inspection {
    /// Bytes that it takes, about: what a session's inspection weighs on its way to a client.
    pub fn weight(&self) -> usize {
        const ENTRY: usize = 96;
        let operators = self.operators.iter().map(|o| o.text.len() + o.name.len() + o.location.as_ref().map_or(0, String::len));
        let stages = self.stages.iter().map(|s| s.name.len() + s.text.len());
        let kernels = self.kernels.iter().map(|k| k.label.len() + k.phase.len() + k.source.len() + 4 * k.operators.len());
        let buffers = self.memory.buffers.iter().map(|b| b.name.len() + b.ty.len());
        let reasons = self.not_fused.iter().map(|n| n.reason.len()).chain(self.guards.iter().map(|g| g.condition.len() + g.reason.len()));
        let texts = self.breaks.iter().chain(&self.specialisations).map(String::len);
        let all = operators.chain(stages).chain(kernels).chain(buffers).chain(reasons).chain(texts);
        all.map(|bytes| bytes + ENTRY).sum()
    }
}

/// An operator of the captured step, by PyTorch's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operator {
    /// The index in the captured graph.
    pub node: u32,
    /// The line of IR: `h0 = linear(x, w0, b0) : f32[64, 128]`.
    pub text: String,
    pub name: String,
    /// Where in the model's source it was called: `mlp.rs:12`.
    pub location: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    pub text: String,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// What a person would call it: `linear + bias + relu`.
    pub label: String,
    /// `forward`, `backward`, and the like.
    pub phase: String,
    /// Captured operators it computes a part of, by [`Operator::node`].
    pub operators: Vec<u32>,
    /// Workgroups, and threads in each.
    pub grid: [u32; 3],
    pub workgroup: [u32; 3],
    /// Bytes read and written, and floating-point operations.
    pub bytes: u64,
    pub flops: u64,
    pub source: String,
    /// Launches with the same number share one text and one pipeline.
    pub pipeline: u32,
}

/// The memory plan of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Bytes of the temporaries' arena, of the state that lives between steps, and of the inputs.
    pub arena: u64,
    pub state: u64,
    pub inputs: u64,
    /// Bytes that the arena would take if no two buffers shared memory.
    pub without_reuse: u64,
    pub buffers: Vec<Buffer>,
}

/// A temporary: a range of the arena, for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buffer {
    pub name: String,
    /// `f32[64, 128]`.
    pub ty: String,
    pub offset: u64,
    pub bytes: u64,
    /// The first and last launch that touch it.
    pub first: u32,
    pub last: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// `B == 64`.
    pub condition: String,
    pub reason: String,
}

/// Two kernels that stayed apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotFused {
    pub first: u32,
    pub second: u32,
    pub reason: String,
}
