//! What a device can do: its limits and numbers (here), its capabilities (`capability.rs`), and how much work fills it (`fill.rs`).
//!
//! Numbers that a driver or adapter tells are filled in by `aludel-runtime`; each says where it comes from. Code generation alone asks
//! for the language.

mod capability;
mod fill;

use crate::parts::Parts;

/// The language of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// WebGPU.
    Wgsl,
    /// The CPU, through the system's C compiler.
    C,
    /// NVIDIA GPUs, through the driver.
    Ptx,
    /// The CPU, through an engine of WebAssembly: a browser's own, or one that is linked in.
    Wasm,
}

/// How matrix products of f32 are computed, as PyTorch's `set_float32_matmul_precision` names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum MatmulPrecision {
    /// In f32.
    #[default]
    Highest,
    /// Factors may be rounded to TF32 (10 bits of fraction), or split into two bf16.
    High,
    /// Factors may be rounded to bf16 (7 bits of fraction).
    Medium,
}

/// One device, as the compiler sees it. Two devices with equal targets run the same programs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    pub language: Language,
    /// Threads of one workgroup. WebGPU: the adapter's limits; CUDA: 1024 on all since 2.0 (programming guide, technical
    /// specifications per compute capability), as the two below.
    pub max_threads: u32,
    /// Bytes of workgroup memory that a kernel has without asking for more.
    pub max_shared_bytes: u32,
    /// Storage bindings of one kernel. WebGPU: the adapter's limit; the others pass pointers.
    pub max_bindings: u32,
    /// Workgroups along one dimension of a dispatch.
    pub max_groups: u32,
    /// Bytes of one storage binding. WebGPU: the least of the adapter's limits; else what offsets of 32 bits in words reach.
    pub max_binding_bytes: u64,
    /// Units that run workgroups: multiprocessors, by the driver (`CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`). WebGPU does not tell:
    /// there as many as the GPU has that its choices were measured on, an H200.
    pub units: u32,
    /// A CPU that plays a GPU, by what its adapter says of itself. See [`Target::has_fast_workgroups`].
    pub software: bool,
    /// What matrix products of f32 may give up for speed.
    pub matmul_precision: MatmulPrecision,
    /// Threads that take pieces of work at once, where workgroups are such pieces (C): those of the executor's pool.
    pub cores: u32,
    /// Numbers of 32 bits in the widest vector register where kernels name vectors themselves (C, WebAssembly).
    pub vector_lanes: u32,
    /// Vector registers that a kernel may count on: 32 with AVX-512 and on ARM, 16 with AVX2, and behind WebAssembly, which does not tell.
    pub vector_registers: u32,
    /// A product of vectors and the sum that it is added to are one instruction where templates name vectors (relaxed SIMD of WebAssembly).
    pub fused_vectors: bool,
    /// Kernels run in memory that threads share (WebAssembly).
    pub shared_memory: bool,
    /// Bytes of a core's second-level cache, where what a piece of work packs shall stay (C).
    pub cache_bytes: u32,
    /// Compute capability times ten (`90` for Hopper) where the language is PTX; else 0.
    pub compute_capability: u32,
    /// A library beside the compiler computes large plain matrix products faster than its kernels: such a product is left plain,
    /// and what follows it is a kernel of its own.
    pub library_products: bool,
    /// WGSL has bindings of f16 (`enable f16;`): f16 takes two bytes there, in bindings of its own. The other languages need no asking.
    pub f16_storage: bool,
    /// The parts of the compiler that make its programs: [`crate::Options::parts`], set while compiling.
    pub parts: Parts,
}

impl Target {
    /// Whether kernels are in this language. A browser runs WGSL, and WebAssembly where its bundle has the feature `wasm`: what others need is left out.
    #[inline(always)]
    pub fn speaks(&self, language: Language) -> bool {
        let known = match language {
            Language::Wgsl => true,
            Language::Wasm => cfg!(any(not(target_arch = "wasm32"), feature = "wasm")),
            Language::C | Language::Ptx => cfg!(not(target_arch = "wasm32")),
        };
        known && self.language == language
    }

    /// The limits that every WebGPU implementation guarantees.
    pub fn webgpu_default() -> Self {
        Target {
            language: Language::Wgsl,
            max_threads: 256,
            max_shared_bytes: 16 << 10,
            max_bindings: 8,
            max_groups: 65_535,
            max_binding_bytes: 128 << 20,
            units: 132,
            software: false,
            cores: 1,
            vector_lanes: 4,
            vector_registers: 0,
            fused_vectors: false,
            shared_memory: false,
            cache_bytes: 0,
            matmul_precision: MatmulPrecision::Highest,
            compute_capability: 0,
            library_products: false,
            f16_storage: false,
            parts: Parts::ALL,
        }
    }

    /// A CPU: a workgroup is a piece of work for one thread, its memory is that thread's scratch.
    pub fn cpu() -> Self {
        Target {
            language: Language::C,
            max_threads: 1,
            max_shared_bytes: 1 << 20,
            max_bindings: 1 << 10,
            max_groups: i32::MAX as u32,
            max_binding_bytes: 16 << 30,
            units: 132,
            software: false,
            cores: 8,
            vector_lanes: 8,
            vector_registers: 16,
            fused_vectors: false,
            shared_memory: false,
            cache_bytes: 1 << 20,
            matmul_precision: MatmulPrecision::Highest,
            compute_capability: 0,
            library_products: false,
            f16_storage: false,
            parts: Parts::ALL,
        }
    }

    /// A CPU behind WebAssembly: as [`Target::cpu`], with vectors of 128 bits.
    pub fn wasm() -> Self {
        Target {
            language: Language::Wasm,
            max_binding_bytes: 1 << 30,
            cores: 1,
            vector_lanes: 4,
            // Of the sixteen of x86-64 V8 keeps one for itself.
            vector_registers: 15,
            fused_vectors: true,
            cache_bytes: 512 << 10,
            ..Self::cpu()
        }
    }

    /// An NVIDIA GPU of a compute capability times ten.
    pub fn cuda(compute_capability: u32, matmul_precision: MatmulPrecision) -> Self {
        Target {
            language: Language::Ptx,
            max_threads: 1024,
            max_shared_bytes: 48 << 10,
            max_bindings: 1 << 10,
            max_groups: i32::MAX as u32,
            max_binding_bytes: 16 << 30,
            units: 132,
            software: false,
            cores: 1,
            vector_lanes: 4,
            vector_registers: 0,
            fused_vectors: false,
            shared_memory: false,
            cache_bytes: 0,
            matmul_precision,
            compute_capability,
            library_products: false,
            f16_storage: false,
            parts: Parts::ALL,
        }
    }
}
