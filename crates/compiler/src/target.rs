//! What a target can do: the limits that fusion and scheduling keep to, and the language that code generation prints.

/// The language of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    Wgsl,
}

/// One device, as the compiler sees it. Two devices with equal targets run the same programs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    pub language: Language,
    /// Threads of one workgroup.
    pub max_threads: u32,
    /// Bytes of workgroup memory.
    pub max_shared_bytes: u32,
    /// Storage bindings of one kernel.
    pub max_bindings: u32,
    /// Workgroups along one dimension of a dispatch.
    pub max_groups: u32,
    /// Bytes of one storage binding.
    pub max_binding_bytes: u64,
    /// A device that runs kernels on the CPU: there workgroup memory and barriers cost more than they save.
    pub software: bool,
}

impl Target {
    /// The limits that every WebGPU implementation guarantees.
    pub fn webgpu_default() -> Self {
        Target {
            language: Language::Wgsl,
            max_threads: 256,
            max_shared_bytes: 16 << 10,
            max_bindings: 8,
            max_groups: 65_535,
            max_binding_bytes: 128 << 20,
            software: false,
        }
    }
}
