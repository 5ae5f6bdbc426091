//! What a device can do, by name. Passes and templates ask for what they use, never for a language: a new one has to answer each of
//! these before it compiles, and answers in one place.

use super::{Language, Target};
use crate::parts::Part;
use aludel_ir::DType;
use aludel_ir::kernel::element_bytes;

impl Target {
    /// Whether a workgroup is threads that run together and wait for one another. Else it is a piece of work of one thread (C, WebAssembly).
    #[inline(always)]
    pub fn has_workgroups(&self) -> bool {
        !self.speaks(Language::C) && !self.speaks(Language::Wasm)
    }

    /// Whether a kernel's text takes longer to build than it takes to run many times: a C compiler's does.
    #[inline(always)]
    pub fn builds_slowly(&self) -> bool {
        cfg!(not(target_arch = "wasm32")) && self.speaks(Language::C)
    }

    /// Whether launch parameters tell a kernel the bindings of its buffers, after all others, so that kernels of other bindings are one text.
    #[inline(always)]
    pub fn tells_bindings(&self) -> bool {
        self.builds_slowly()
    }

    /// Whether workgroup memory is faster than the rest, and threads run side by side. A GPU that a CPU plays
    /// ([`Target::software`]) has neither: there workgroup memory and barriers cost more than they save.
    #[inline(always)]
    pub fn has_fast_workgroups(&self) -> bool {
        self.has_workgroups() && !self.software
    }

    /// Whether a branch is run by all threads of a workgroup, masked where they do not take it.
    #[inline(always)]
    pub fn masks_branches(&self) -> bool {
        self.has_workgroups() && self.software
    }

    /// Whether a launch more costs next to nothing: CUDA replays a step as one graph. Source: the driver's documentation of graph
    /// launches; `cargo run --release -p aludel-runtime --features cuda --example steps` measures it.
    #[inline(always)]
    pub fn has_cheap_launches(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether launches that do not wait for one another run side by side; memory that one frees and the next takes makes them wait.
    #[inline(always)]
    pub fn has_concurrent_launches(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether a kernel can wait itself for the launches before it (`griddepcontrol`), and so begin while they end: from Hopper on (PTX ISA
    /// 7.8).
    pub fn has_dependent_launches(&self) -> bool {
        self.speaks(Language::Ptx) && self.compute_capability >= 90 && self.parts.has(Part::Overlap)
    }

    /// Whether kernels read and write state that lies in the host's memory, over the bus: an optimizer's that does not fit beside the rest.
    /// Other targets' memory is the host's, or knows nothing of it: there such state is as any other.
    #[inline(always)]
    pub fn offloads(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether threads copy from memory into workgroup memory without passing registers (`cp.async`). Source: PTX ISA 8.7, from
    /// `sm_80` on.
    #[inline(always)]
    pub fn has_async_copies(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether 32 neighbouring threads exchange registers (`shfl.sync`), where the kernel may rely on their number.
    #[inline(always)]
    pub fn has_shuffles(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether subgroups multiply matrices (`mma.sync` of 16 bits and TF32). Source: PTX ISA 8.7, from `sm_80` on.
    #[inline(always)]
    pub fn has_matrix_units(&self) -> bool {
        self.speaks(Language::Ptx) && self.compute_capability >= 80
    }

    /// Whether the device has warpgroups: matrix units that read workgroup memory, and bulk copies that fill it. Source: PTX ISA 8.7,
    /// `sm_90a`; later GPUs have others.
    #[inline(always)]
    pub fn has_warpgroups(&self) -> bool {
        self.speaks(Language::Ptx) && self.compute_capability == 90
    }

    /// Whether the runtime may compute a plain matrix product by a library in a kernel's stead: programs then describe them.
    /// [`Target::library_products`] says whether there is one.
    #[inline(always)]
    pub fn describes_products(&self) -> bool {
        self.speaks(Language::Ptx)
    }

    /// Whether zeros around an operand are put there while it is copied: what pads it is not written out.
    #[inline(always)]
    pub fn pads_while_copying(&self) -> bool {
        self.has_async_copies()
    }

    /// Whether a bound costs nothing where it is asked once for an element. Where loops have to vectorise (C), or copies come in vectors
    /// (PTX), they run over padded copies.
    #[inline(always)]
    pub fn tests_bounds_freely(&self) -> bool {
        self.speaks(Language::Wgsl)
    }

    /// Bytes of an element in device memory. WGSL declares a binding that several types share as words, and has no stores of
    /// less: there an element takes a word, but for f16 where the device has it.
    pub fn element_bytes(&self, dtype: DType) -> u32 {
        match self.language {
            Language::Wgsl if self.separates(dtype) => 2,
            Language::Wgsl => 4,
            Language::C | Language::Ptx | Language::Wasm => element_bytes(dtype),
        }
    }

    /// Whether elements of a type lie in bindings of their own. WGSL knows the elements of a binding by one type, and no two
    /// bindings of a kernel may name one range of memory, so halves and words share none.
    pub fn separates(&self, dtype: DType) -> bool {
        self.language == Language::Wgsl && self.f16_storage && dtype == DType::F16
    }

    /// Bytes of workgroup memory that a kernel may have if it asks: more than all have without asking on CUDA, which a launch then says.
    /// Source: CUDA programming guide, technical specifications per compute capability (99 KiB and more from 8.0 on).
    pub fn most_shared_bytes(&self) -> u32 {
        match self.language {
            Language::C | Language::Wasm => 0,
            Language::Ptx => self.max_shared_bytes.max(96 << 10),
            Language::Wgsl => self.max_shared_bytes,
        }
    }

    /// Instructions for each element that a contraction may repeat in every tile that loads it. Asynchronous copies into
    /// workgroup memory and matrix units take operands from memory as they are; so do packed products.
    pub fn operand_instructions(&self) -> u32 {
        match self.language {
            // A mask or a scale. A root mean square normalisation's two, and what they load, make a product a sixth slower, a
            // normalisation's four one of few tiles three times as slow (`steps NVIDIA` with Llama's and BERT's graphs).
            Language::Wgsl => 1,
            Language::C | Language::Ptx | Language::Wasm => 0,
        }
    }
}
