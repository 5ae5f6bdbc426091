//! The Program: what the compiler gives to a runtime. Plain data, so that a page can show it, a disk can cache it and a lost
//! device can be rebuilt from it.
//!
//! **Memory model.** A program sees storage *bindings*; every buffer is a range of one binding. In a compiled step there are
//! three: the arena (temporaries and results), the state, and the inputs, so one bind group serves all launches. Where one of
//! them would be larger than the target's bindings may be, further bindings of its role follow ([`Program::part`]). A program of
//! one eager operator binds each tensor by itself. An element takes a 32-bit word (bool as 0 or 1). On targets with narrow
//! storage (C, PTX), f16 and bf16 take two bytes; elsewhere (WGSL) the word of the f32 that they are, see
//! [`Placement::element_bytes`]. Where WGSL has f16 it takes two bytes too, and each of a step's bindings has a second one of its role
//! for f16 alone ([`Binding::halves`]). **Units**: sizes and offsets of slots, bindings and launch parameters count 32-bit words, whatever
//! the elements; offsets are multiples of [`ALIGN`] words. Indices into a buffer count its elements. A buffer of an odd number of
//! narrow elements ends with half a word that nobody reads.
//!
//! **Launch parameters.** Each launch has a row of i32 parameters in one uniform buffer, bound at binding 0 with a dynamic
//! offset; a shader sees `array<vec4<i32>, ceil(n/4)>`. Storage binding `k` of the program is shader binding `k + 1`, group 0.

use crate::collective::Collective;
use crate::dtype::DType;
use crate::expr::Expr;
use crate::graph::Origin;
use crate::kernel::Access;
use crate::shape::ShapeEnv;

/// Every buffer starts at a multiple of so many 32-bit words (256 bytes: the largest alignment that WebGPU may ask for).
pub const ALIGN: i64 = 64;

/// What a storage binding holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Temporaries, and results until they are copied out.
    Arena,
    /// All state inputs, each at its own range.
    State,
    /// State inputs that lie in the host's memory, which kernels read and write over the bus.
    Offloaded,
    /// All arguments of a call, each at its own range.
    Inputs,
    /// One input of the graph alone, by position.
    Input(usize),
    /// One result of the graph alone, by its position in the outputs.
    Result(usize),
}

impl Role {
    /// Whether it lives between calls.
    pub fn is_state(self) -> bool {
        matches!(self, Role::State | Role::Offloaded)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    pub role: Role,
    pub access: Access,
    /// All that lies in it has elements of two bytes, and the program has another binding of this role for the rest.
    pub halves: bool,
}

/// Where a buffer lives.
#[derive(Clone, PartialEq, Debug)]
pub struct Placement {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<Expr>,
    /// Bytes of an element in memory: two or four.
    pub element_bytes: u32,
    /// The binding that holds it.
    pub binding: usize,
    /// The first and last launch that touch it; inputs and state live throughout.
    pub live: (usize, usize),
    /// Two temporaries of one slot share memory: the planner saw that they do not live at once.
    pub slot: usize,
}

impl Placement {
    /// The 32-bit words that so many elements take.
    pub fn words(&self, elements: i64) -> i64 {
        words_of(elements, self.element_bytes)
    }
}

/// The 32-bit words that so many elements of so many bytes take.
pub fn words_of(elements: i64, element_bytes: u32) -> i64 {
    if element_bytes == 2 { elements / 2 + elements % 2 } else { elements }
}

/// A slot of a binding: a range of memory that one or several placements use.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    pub binding: usize,
    /// Size in 32-bit words, before rounding up to [`ALIGN`].
    pub words: Expr,
    /// Offset in words where all sizes before it are known; else it is summed up at run time, slot by slot.
    pub offset: Option<i64>,
}

/// The value of a launch parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Param {
    /// An expression over size symbols.
    Size(Expr),
    /// The offset of a placement in its binding, in words.
    Offset(usize),
    /// The offset of a part of a placement that begins so many words after it.
    Part { placement: usize, words: i64 },
}

/// The text of one kernel. Launches share it when they differ only in parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelSource {
    pub name: String,
    /// WGSL, PTX or C; of WebAssembly the kernel's own text.
    pub source: String,
    /// The module, where the language is WebAssembly; else empty.
    pub binary: Vec<u8>,
    pub entry: String,
    pub workgroup_size: [u32; 3],
    pub shared_bytes: u32,
    /// Whether its warpgroups share out registers ([`crate::kernel::Kernel::shares_out_registers`]).
    pub shares_out_registers: bool,
    /// Whether it waits itself for the launches before it: on a device that can, it may be started before all they wrote is in memory.
    pub waits: bool,
    /// For each binding of the program, how the kernel uses it; `None` where it does not.
    pub access: Vec<Option<Access>>,
}

/// A strided matrix in memory, one for each element of a batch: element `(b, row, column)` is element
/// `offset + b * strides[0] + row * strides[1] + column * strides[2]` of a placement.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    pub placement: usize,
    pub offset: Expr,
    pub strides: [Expr; 3],
}

/// The plain matrix product that a launch is, for executors that have a library for it:
/// `out[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]`, then `+ bias[j]` and `+ add[b, i, j]` where there are any. Factors are
/// of one type, summed in f32; what is added has the result's type. Types are those of the placements.
#[derive(Clone, PartialEq, Debug)]
pub struct MatrixProduct {
    pub batch: Expr,
    pub m: Expr,
    pub n: Expr,
    pub k: Expr,
    /// `m` by `k`, `k` by `n` and `m` by `n`.
    pub lhs: Matrix,
    pub rhs: Matrix,
    pub out: Matrix,
    /// A vector along `n`: its stride along columns is one, the others zero.
    pub bias: Option<Matrix>,
    pub add: Option<Matrix>,
}

impl MatrixProduct {
    /// All matrices, for what visits them.
    pub fn matrices_mut(&mut self) -> impl Iterator<Item = &mut Matrix> {
        [&mut self.lhs, &mut self.rhs, &mut self.out].into_iter().chain(&mut self.bias).chain(&mut self.add)
    }
}

/// A strided tensor in memory of which a kernel's bulk copies take boxes: dimensions are listed with the innermost first, whose
/// elements are neighbours. What lies outside reads as zeros.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorMap {
    pub placement: usize,
    /// The first element, counted from the placement's.
    pub offset: Expr,
    pub dtype: DType,
    pub extents: Vec<Expr>,
    /// Elements from one to the next along each dimension but the innermost; a multiple of 16 bytes each.
    pub strides: Vec<Expr>,
    /// Elements of a box along each dimension. One row of the innermost takes 128 bytes. Where there are windows: elements of a pixel,
    /// then pixels of a copy, then ones.
    pub sizes: Vec<u32>,
    /// Set: copies take pixels, one after another, at which windows of an image begin.
    pub windows: Option<Windows>,
}

/// At which pixels of an image windows begin: what a copy of a [`TensorMap`] goes through, row by row and image by image. The map's
/// dimensions are the channels of a pixel, one to three of space, the innermost first, and the images; the vectors have those of
/// space. (The driver's im2col mode: *CUDA Driver API*, `cuTensorMapEncodeIm2col`.)
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Windows {
    /// Where the first window begins: -1 where it reaches one pixel beyond the edge.
    pub first: Vec<i32>,
    /// Where the last one may begin, counted from the last pixel.
    pub last: Vec<i32>,
    /// Pixels from one window to the next.
    pub steps: Vec<u32>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    pub kernel: usize,
    /// Workgroups along x, y and z.
    pub grid: [Expr; 3],
    pub params: Vec<Param>,
    /// What the kernel's maps are of.
    pub maps: Vec<TensorMap>,
    /// Placements read and written, for the inspector, barriers and byte counts.
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
    /// What a person would call it: `linear + bias + relu`.
    pub label: String,
    pub origins: Vec<Origin>,
    /// Bytes read and written, each buffer counted once; and floating-point operations.
    pub bytes: Expr,
    pub flops: Expr,
    /// Present where the launch is one plain matrix product, on targets that may have a library for it.
    pub product: Option<MatrixProduct>,
    /// Present where the launch is a collective: its kernel does nothing.
    pub exchange: Option<Exchange>,
}

/// A collective of placements: what a launch is that is no kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Exchange {
    pub collective: Collective,
    pub from: usize,
    pub to: usize,
}

/// How an output of the graph is delivered.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramOutput {
    pub name: String,
    pub placement: usize,
    pub dtype: DType,
    pub shape: Vec<Expr>,
    /// `Some(i)`: this is the new value of input `i`. When `placement` is that input's own, the update was made in place;
    /// otherwise the runtime copies it after the last launch.
    pub updates: Option<usize>,
}

/// Two neighbouring kernels that stayed apart, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct NotFused {
    pub first: usize,
    pub second: usize,
    pub reason: String,
}

/// A compiled graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    pub name: String,
    /// Symbols are bound at each call from the shapes of the inputs.
    pub env: ShapeEnv,
    pub bindings: Vec<Binding>,
    pub placements: Vec<Placement>,
    pub slots: Vec<Slot>,
    pub kernels: Vec<KernelSource>,
    pub launches: Vec<Launch>,
    /// For each input of the graph, its placement.
    pub inputs: Vec<usize>,
    pub outputs: Vec<ProgramOutput>,
    pub not_fused: Vec<NotFused>,
    /// Text of every stage, for the inspector: captured, joint and decomposed graph, loops before and after fusion.
    pub stages: Vec<(String, String)>,
}

/// The block of each of several ranges of so many words, laid out in order, where a block holds at most `limit` words: state and inputs
/// are divided so, by the planner and by whoever allocates them alike. A range that is larger has a block to itself.
pub fn blocks(words: impl IntoIterator<Item = u64>, limit: u64) -> Vec<usize> {
    let (mut block, mut used) = (0, 0u64);
    let mut place = |words: u64| {
        let words = words.max(1).next_multiple_of(ALIGN as u64);
        if used > 0 && used.saturating_add(words) > limit {
            block += 1;
            used = 0;
        }
        used = used.saturating_add(words);
        block
    };
    words.into_iter().map(&mut place).collect()
}

impl Program {
    /// Which of the bindings of its role (and its element size) a binding is, from 0.
    pub fn part(&self, binding: usize) -> usize {
        let b = &self.bindings[binding];
        self.bindings[..binding].iter().filter(|o| o.role == b.role && o.halves == b.halves).count()
    }

    /// Offsets (in words) of every slot and the size (in words) of every binding for given symbol values; `None` where an
    /// offset does not fit into 32 bits.
    pub fn layout(&self, sizes: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
        let mut used = vec![0i64; self.bindings.len()];
        let mut offsets = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let words = self.eval(&slot.words, sizes)?;
            let offset = slot.offset.unwrap_or(used[slot.binding]);
            offsets.push(offset);
            let end = offset.checked_add(words.max(1))?.checked_add(ALIGN - 1)? / ALIGN * ALIGN;
            used[slot.binding] = used[slot.binding].max(end);
        }
        used.iter().all(|u| *u <= u32::MAX as i64).then_some((offsets, used))
    }

    /// The launch at which most of the arena is in use, and how many words then are; `None` where a size is not known. Binding sizes
    /// beyond it are what packing loses.
    pub fn fullest(&self, sizes: &[i64]) -> Option<(usize, i64)> {
        // What each launch begins with more than the one before it.
        let mut change = vec![0i64; self.launches.len() + 1];
        for p in self.placements.iter().filter(|p| self.bindings[p.binding].role == Role::Arena) {
            let words = self.eval(&self.slots[p.slot].words, sizes)?;
            *change.get_mut(p.live.0)? += words;
            *change.get_mut(p.live.1 + 1)? -= words;
        }
        let in_use = change.iter().scan(0i64, |sum, c| {
            *sum += c;
            Some(*sum)
        });
        in_use.enumerate().max_by_key(|(at, words)| (*words, std::cmp::Reverse(*at)))
    }

    /// An expression over size symbols under given values.
    pub fn eval(&self, e: &Expr, sizes: &[i64]) -> Option<i64> {
        e.eval(&|a| match a {
            crate::expr::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
            _ => None,
        })
    }
}
