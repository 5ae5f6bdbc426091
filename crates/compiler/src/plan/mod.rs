//! Planning: where every buffer lives and when it may be overwritten; then the finished program.

mod arena;
mod batch;
mod inputs;
mod label;

use crate::codegen;
use crate::device::Target;
use crate::loops::fuse::Fused;
use crate::nest::{self, Kind, classify};
use crate::schedule::{self, Scheduled};
use crate::{Options, Part, Style};
use aludel_ir::collective as loops;
use aludel_ir::expr::Expr;
use aludel_ir::graph::{Graph, Origin};
use aludel_ir::kernel::{Access, Kernel};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest};
use aludel_ir::order::InOrder;
use aludel_ir::program::{
    Binding, Exchange, KernelSource, Launch, MatrixProduct, NotFused, Param, Placement, Program, ProgramOutput, Role, Slot, TensorMap,
};
use aludel_ir::{DType, Error, Result, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Everything that the earlier passes made of one graph.
pub(crate) struct Passes<'a> {
    /// As captured: launches are labelled with its operators.
    pub captured: &'a Graph,
    /// As lowered: its inputs and outputs are the program's.
    pub graph: &'a Graph,
    pub loops: &'a LoopProgram,
    pub fused: &'a Fused,
    pub scheduled: Vec<Scheduled>,
}

/// A nest that moves so many bytes takes longer than a launch: company gains it nothing, and waiting for some keeps what it reads
/// in memory.
const LONG: i64 = 16 << 20;

/// Places the buffers and prints the kernels.
pub(crate) fn plan(passes: Passes, target: &Target, options: &Options) -> Result<Program> {
    // First as if every binding were small.
    for sharing in [Sharing::All, Sharing::Words, Sharing::Nobody] {
        if let Some(program) = attempt(&passes, target, options, sharing)? {
            return Ok(program);
        }
    }
    Err(Error::verify(&passes.graph.name, "cannot be planned"))
}

/// Which nests may share launches.
#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    All,
    /// None with elements of two bytes: see [`batch::counts_halves`].
    Words,
    Nobody,
}

/// `None` where fewer nests have to share launches: elements of two bytes are out of reach, or a launch has more bindings than the target
/// allows.
fn attempt(passes: &Passes, target: &Target, options: &Options, sharing: Sharing) -> Result<Option<Program>> {
    let halves = |n: usize| batch::counts_halves(&passes.scheduled[n], target);
    let mut style = options.style;
    if style == Style::Operator {
        let temps = passes.loops.buffers.iter().filter(|b| b.kind == BufferKind::Temp);
        let arenas: BTreeSet<bool> = temps.map(|b| target.separates(b.dtype)).in_order();
        let bindings = passes.graph.inputs.len() + passes.graph.outputs.len() + arenas.len();
        if bindings > target.max_bindings as usize {
            style = Style::Step;
        }
    }
    // A CPU that plays a GPU runs a branch with all its threads masked: matrix products go faster without there.
    let heavy = |n: usize| matches!(classify(&passes.loops.nests[n], passes.loops), Kind::Contract(_));
    let alone = schedule::library::for_library(passes.loops, target);
    let bytes = |n: usize| {
        let nest = &passes.loops.nests[n];
        let size = |b: &BufferId| passes.graph.env.hint_or_one(&touched(passes.loops, nest, *b, target));
        nest.reads().iter().chain(&nest.writes()).map(size).fold(0i64, i64::saturating_add)
    };
    let join = |n: usize| match () {
        () if !options.fuse || style != Style::Step || !target.parts.has(Part::SharedLaunches) => batch::Join::Nobody,
        // Views of workgroup memory stay with the arrays that they are views of.
        () if passes.loops.nests[n].exchange.is_some() => batch::Join::Nobody,
        () if passes.scheduled[n].kernel.shared.iter().any(|a| a.view.is_some()) => batch::Join::Nobody,
        () if alone[n] || bytes(n) > LONG || sharing == Sharing::Nobody || sharing == Sharing::Words && halves(n) => batch::Join::Nobody,
        // Its registers and workgroup memory would be those of every workgroup of the launch.
        () if target.has_cheap_launches() && matches!(classify(&passes.loops.nests[n], passes.loops), Kind::Attention(_)) => {
            batch::Join::Nobody
        }
        () if target.masks_branches() && heavy(n) => batch::Join::Equals,
        () => batch::Join::Anybody,
    };
    let exchange = |n: usize| passes.loops.nests[n].exchange.is_some();
    let together = batch::launches(&passes.scheduled, &passes.fused.before, &passes.graph.env, target, &join, &exchange);
    // On a CPU every nest is a launch of its own: what may run together does so without sharing a text.
    let batches: Vec<Vec<usize>> =
        if target.has_workgroups() { together.clone() } else { together.iter().flatten().map(|n| vec![*n]).collect() };
    let mut launch_of = vec![0; passes.loops.nests.len()];
    for (l, nests) in batches.iter().enumerate() {
        for n in nests {
            launch_of[*n] = l;
        }
    }
    let mut wave_of = vec![0; passes.loops.nests.len()];
    let mut waves = Vec::with_capacity(together.len());
    for (w, nests) in together.iter().enumerate() {
        for n in nests {
            wave_of[*n] = w;
        }
        let launches = nests.iter().map(|n| launch_of[*n]);
        waves.push((launches.clone().min().unwrap_or(0), launches.max().unwrap_or(0)));
    }
    let placed = vec![None; passes.loops.buffers.len()];
    let products = if target.describes_products() { nest::product::products(passes.loops) } else { Vec::new() };
    let mut p = Planner { passes, style, program: Program::default(), placed, batches, launch_of, wave_of, waves, products, target };
    p.program.name = passes.graph.name.clone();
    p.program.env = passes.graph.env.clone();
    p.bindings();
    p.inputs();
    p.buffers();
    if p.batches.iter().any(|nests| nests.len() > 1 && nests.iter().any(|n| halves(*n))) && p.reaches_far() {
        return Ok(None);
    }
    p.outputs()?;
    p.launches(target)?;
    let bindings = |k: &KernelSource| k.access.iter().flatten().count();
    match p.program.kernels.iter().find(|k| bindings(k) > target.max_bindings as usize) {
        Some(_) if sharing != Sharing::Nobody => Ok(None),
        Some(k) => Err(Error::Limit {
            what: format!("the number of buffers of {} in {}", k.name, p.program.name),
            value: bindings(k).to_string(),
            limit: target.max_bindings.to_string(),
            remedy: "use a smaller batch or model: what fits into fewer buffers needs fewer".into(),
        }),
        None => Ok(Some(p.program)),
    }
}

struct Planner<'a> {
    passes: &'a Passes<'a>,
    style: Style,
    program: Program,
    /// The placement of each buffer of the loops.
    placed: Vec<Option<usize>>,
    /// For each launch, its nests; and the launch of each nest.
    batches: Vec<Vec<usize>>,
    launch_of: Vec<usize>,
    /// The wave of each nest, and the first and last launch of each wave: launches of a wave may run side by side, so memory
    /// is shared between waves only.
    wave_of: Vec<usize>,
    waves: Vec<(usize, usize)>,
    /// The plain matrix product that each nest is, on targets that may have a library for it.
    products: Vec<Option<MatrixProduct>>,
    target: &'a Target,
}

impl Planner<'_> {
    /// The bindings that every program of the style has.
    fn bindings(&mut self) {
        match self.style {
            Style::Step => {
                for role in [Role::Arena, Role::State, Role::Inputs] {
                    self.binding(role, DType::F32);
                }
            }
            Style::Operator => {
                let graph = self.passes.graph;
                for (i, input) in graph.inputs.iter().enumerate() {
                    self.binding(Role::Input(i), graph.ty(input.value).dtype);
                }
                for (o, output) in graph.outputs.iter().enumerate() {
                    self.binding(Role::Result(o), graph.ty(output.value).dtype);
                }
            }
        }
    }

    /// The first binding of a role for elements of a type; a new one where there is none yet.
    fn binding(&mut self, role: Role, dtype: DType) -> usize {
        self.part(role, dtype, 0)
    }

    /// One of the bindings of a role for elements of a type. Parts are asked for in their order.
    fn part(&mut self, role: Role, dtype: DType, part: usize) -> usize {
        let halves = self.target.separates(dtype);
        let mut parts = (0..self.program.bindings.len()).filter(|b| {
            let b = &self.program.bindings[*b];
            b.role == role && b.halves == halves
        });
        if let Some(at) = parts.nth(part) {
            return at;
        }
        let writes = match role {
            Role::Arena | Role::Result(_) => true,
            Role::State | Role::Offloaded => self.passes.fused.in_place.values().any(|v| *v),
            Role::Inputs | Role::Input(_) => false,
        };
        let access = if writes { Access::ReadWrite } else { Access::Read };
        self.program.bindings.push(Binding { role, access, halves });
        self.program.bindings.len() - 1
    }

    /// Whether a binding with elements of two bytes may have 8 GiB or more. A state binding is the caller's block, of any size.
    fn reaches_far(&self) -> bool {
        if self.target.max_binding_bytes < 8 << 30 {
            return false;
        }
        let narrow = |b: usize| self.program.placements.iter().any(|p| p.binding == b && p.element_bytes == 2);
        let sizes = if self.program.env.symbols.is_empty() { self.program.layout(&[]) } else { None };
        let far = |b: usize| self.program.bindings[b].role.is_state() || sizes.as_ref().is_none_or(|(_, words)| words[b] >= (8 << 30) / 4);
        (0..self.program.bindings.len()).any(|b| narrow(b) && far(b))
    }

    /// The 32-bit words that a buffer takes.
    fn words(&self, buffer: BufferId) -> Expr {
        let b = self.passes.loops.buffer(buffer);
        match self.target.element_bytes(b.dtype) {
            2 => b.numel().add(&Expr::ONE).floordiv(&Expr::Const(2), self.passes.loops),
            _ => b.numel(),
        }
    }

    fn slot(&mut self, binding: usize, words: Expr, offset: Option<i64>) -> usize {
        self.program.slots.push(Slot { binding, words, offset });
        self.program.slots.len() - 1
    }

    fn place(&mut self, buffer: BufferId, binding: usize, slot: usize, live: (usize, usize)) -> usize {
        let b = self.passes.loops.buffer(buffer);
        let launch = |wave: usize, first: bool| self.waves.get(wave).map_or(0, |(a, b)| if first { *a } else { *b });
        let live = (launch(live.0, true), launch(live.1, false));
        let element_bytes = self.target.element_bytes(b.dtype);
        let (name, dtype, shape) = (b.name.clone(), b.dtype, b.shape.clone());
        self.program.placements.push(Placement { name, dtype, shape, element_bytes, binding, live, slot });
        let at = self.program.placements.len() - 1;
        self.placed[buffer.0 as usize] = Some(at);
        at
    }

    /// Words of the largest binding.
    fn limit(&self) -> u64 {
        self.target.max_binding_bytes / 4
    }

    fn buffers(&mut self) {
        let loops = self.passes.loops;
        let lifetimes = self.lifetimes();
        let mut arena = Vec::new();
        for n in 0..loops.buffers.len() {
            let buffer = BufferId(n as u32);
            if self.placed[n].is_some() {
                continue;
            }
            match loops.buffer(buffer).kind {
                BufferKind::Update(i) if self.in_place(i) => self.placed[n] = Some(self.program.inputs[i]),
                BufferKind::Result(o) if self.style == Style::Operator => {
                    let binding = self.binding(Role::Result(o), loops.buffer(buffer).dtype);
                    let slot = self.slot(binding, self.words(buffer), None);
                    let live = lifetimes[n].unwrap_or((0, 0));
                    self.place(buffer, binding, slot, live);
                }
                kind => {
                    // No launch touches a result without elements; it has its place all the same.
                    let empty_result = (kind != BufferKind::Temp).then_some((0, 0));
                    if let Some((first, last)) = lifetimes[n].or(empty_result) {
                        // What the caller receives is copied out after the last launch.
                        let end = if kind == BufferKind::Temp { last } else { self.waves.len().saturating_sub(1) };
                        let alone = !self.target.parts.has(Part::SharedMemory);
                        let (first, last) = if alone { (0, self.waves.len()) } else { (first, end) };
                        arena.push(arena::Item { buffer, words: self.words(buffer), first, last });
                    }
                }
            }
        }
        let dtype = |item: &arena::Item| loops.buffer(item.buffer).dtype;
        let (halves, words): (Vec<_>, Vec<_>) = arena.into_iter().partition(|item| self.target.separates(dtype(item)));
        for items in [words, halves] {
            let Some(first) = items.first() else { continue };
            let limit = i64::try_from(self.limit()).unwrap_or(i64::MAX);
            let (slots, of) = arena::assign(&items, &loops.env, self.target.has_concurrent_launches(), limit);
            let parts = slots.iter().map(|s| s.part + 1).max().unwrap_or(0);
            let bindings: Vec<usize> = (0..parts).map(|part| self.part(Role::Arena, dtype(first), part)).collect();
            let base = self.program.slots.len();
            let places: Vec<usize> = slots.iter().map(|s| bindings[s.part]).collect();
            for (s, binding) in slots.into_iter().zip(&places) {
                self.slot(*binding, s.words, s.offset);
            }
            for (item, slot) in items.iter().zip(of) {
                self.place(item.buffer, places[slot], base + slot, (item.first, item.last));
            }
        }
    }

    fn in_place(&self, input: usize) -> bool {
        self.style == Style::Step && self.passes.fused.in_place.get(&input).copied().unwrap_or(false)
    }

    /// For each buffer, the first and last wave that touch it.
    fn lifetimes(&self) -> Vec<Option<(usize, usize)>> {
        let mut out: Vec<Option<(usize, usize)>> = vec![None; self.passes.loops.buffers.len()];
        for (nest, wave) in self.passes.loops.nests.iter().zip(&self.wave_of) {
            for b in nest.reads().into_iter().chain(nest.writes()) {
                let (first, last) = out[b.0 as usize].unwrap_or((*wave, *wave));
                out[b.0 as usize] = Some((first.min(*wave), last.max(*wave)));
            }
        }
        out
    }

    fn outputs(&mut self) -> Result<()> {
        let loops = self.passes.loops;
        for (o, output) in self.passes.graph.outputs.iter().enumerate() {
            let kind = output.updates.map_or(BufferKind::Result(o), BufferKind::Update);
            let placement = match loops.buffers.iter().position(|b| b.kind == kind) {
                Some(b) => self.placed[b],
                // A state that keeps its value.
                None => output.updates.map(|i| self.program.inputs[i]),
            };
            let placement = placement.ok_or_else(|| Error::verify(format!("output {}", output.name), "was never computed"))?;
            let ty = self.passes.graph.ty(output.value);
            self.program.outputs.push(ProgramOutput {
                name: output.name.clone(),
                placement,
                dtype: ty.dtype,
                shape: ty.shape.clone(),
                updates: output.updates,
            });
        }
        Ok(())
    }

    fn launches(&mut self, target: &Target) -> Result<()> {
        // Equal kernels print equal text, and printing is the longer part; different ones may print the same.
        let mut printed: FxHashMap<Kernel, usize> = FxHashMap::default();
        let mut known: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let words = self.known_sizes();
        // Kernels of one nest are known by what they were scheduled as, before anything is copied.
        let mut alone: FxHashMap<(*const Kernel, Vec<u32>), usize> = FxHashMap::default();
        for nests in self.batches.clone() {
            let origins = self.origins(&nests);
            let label = label::label(self.passes.captured, &origins);
            let own = match &nests[..] {
                [nest] => Some((Arc::as_ptr(&self.passes.scheduled[*nest].kernel), self.bindings_of(*nest)?)),
                _ => None,
            };
            if let ([nest], Some(index)) = (&nests[..], own.as_ref().and_then(|key| alone.get(key)).copied()) {
                let grid = self.passes.scheduled[*nest].grid.dispatch();
                let row = self.row(*nest)?;
                self.push_launch(&nests, index, grid, row, label, origins)?;
                continue;
            }
            let members = nests.iter().map(|n| self.member(*n)).collect::<Result<Vec<_>>>()?;
            let merged = batch::merge(members, target);
            let mut access: Vec<Option<Access>> = vec![None; self.program.bindings.len()];
            for nest in &nests {
                for b in self.bindings_of(*nest)? {
                    access[b as usize] = Some(self.program.bindings[b as usize].access);
                }
            }
            let index = match printed.get(&merged.kernel) {
                Some(index) => *index,
                None => {
                    let code = codegen::print(&merged.kernel, target, &access, &words)?;
                    let next = self.program.kernels.len();
                    let index = *known.entry(code.code().to_vec()).or_insert(next);
                    if index == next {
                        self.program.kernels.push(KernelSource {
                            name: label.clone(),
                            source: code.source,
                            binary: code.binary,
                            entry: codegen::entry(target.language).into(),
                            workgroup_size: merged.kernel.workgroup_size,
                            shared_bytes: merged.kernel.shared_bytes(),
                            shares_out_registers: merged.kernel.shares_out_registers(),
                            waits: target.has_dependent_launches(),
                            access: access.clone(),
                        });
                    }
                    printed.insert(merged.kernel, index);
                    index
                }
            };
            // Launches that tell their bindings share kernels that other launches have.
            self.program.kernels[index].access.iter_mut().zip(&access).for_each(|(known, own)| *known = known.or(*own));
            alone.extend(own.map(|key| (key, index)));
            let row = (merged.params, merged.maps);
            self.push_launch(&nests, index, merged.grid.dispatch(), row, label, origins)?;
        }
        for (a, b, reason) in &self.passes.fused.refusals {
            let (first, second) = (self.launch_of[*a], self.launch_of[*b]);
            if first != second {
                self.program.not_fused.push(NotFused { first, second, reason: reason.to_string() });
            }
        }
        Ok(())
    }

    /// How large the arena and the inputs surely are, where no size is symbolic. A state binding is the caller's block, of
    /// which a program may use any part.
    fn known_sizes(&self) -> Vec<Option<i64>> {
        let sizes = if self.program.env.symbols.is_empty() { self.program.layout(&[]) } else { None };
        let Some((_, used)) = sizes else { return Vec::new() };
        let sized = |role: Role| matches!(role, Role::Arena | Role::Inputs);
        self.program.bindings.iter().zip(used).map(|(b, w)| (sized(b.role) && w > 0).then_some(w)).collect()
    }

    fn place_of(&self, b: BufferId) -> Result<usize> {
        self.placed[b.0 as usize].ok_or_else(|| Error::verify(format!("buffer {}", self.passes.loops.buffer(b).name), "has no place"))
    }

    /// The binding of each buffer of a nest's kernel.
    fn bindings_of(&self, nest: usize) -> Result<Vec<u32>> {
        let buffers = &self.passes.scheduled[nest].buffers;
        buffers.iter().map(|b| Ok(self.program.placements[self.place_of(*b)?].binding as u32)).collect()
    }

    /// A nest's launch parameters, and what its maps are of.
    fn row(&self, nest: usize) -> Result<(Vec<Param>, Vec<TensorMap>)> {
        let s = &self.passes.scheduled[nest];
        let mut params: Vec<Param> = s.sizes.iter().cloned().map(Param::Size).collect();
        for (k, b) in s.buffers.iter().enumerate() {
            let at = self.place_of(*b)?;
            params.push(match s.starts.get(k) {
                None | Some(0) => Param::Offset(at),
                Some(start) => Param::Part { placement: at, words: self.program.placements[at].words(*start) },
            });
        }
        if self.target.tells_bindings() {
            params.extend(self.bindings_of(nest)?.into_iter().map(|b| Param::Size(Expr::Const(b.into()))));
        }
        let mut maps = s.maps.clone();
        for m in &mut maps {
            m.placement = self.place_of(BufferId(m.placement as u32))?;
        }
        Ok((params, maps))
    }

    /// A nest's kernel with its bindings, unless its launch tells them, and its parameters.
    fn member(&self, nest: usize) -> Result<batch::Member> {
        let s = &self.passes.scheduled[nest];
        let mut kernel = Kernel::clone(&s.kernel);
        if !self.target.tells_bindings() {
            for (buffer, binding) in kernel.buffers.iter_mut().zip(self.bindings_of(nest)?) {
                buffer.binding = binding;
            }
        }
        let (params, maps) = self.row(nest)?;
        Ok(batch::Member { kernel, grid: s.grid.clone(), sizes: s.sizes.len(), params, maps })
    }

    fn origins(&self, nests: &[usize]) -> Vec<Origin> {
        let mut out: Vec<Origin> = Vec::new();
        for o in nests.iter().flat_map(|n| &self.passes.loops.nests[*n].origins) {
            if !out.contains(o) {
                out.push(o.clone());
            }
        }
        out
    }

    /// The plain matrix product that a launch is, with its buffers' places.
    fn product(&self, nests: &[usize]) -> Result<Option<MatrixProduct>> {
        let [nest] = nests else { return Ok(None) };
        let mut product = self.products.get(*nest).cloned().flatten();
        for m in product.iter_mut().flat_map(MatrixProduct::matrices_mut) {
            m.placement = self.place_of(BufferId(m.placement as u32))?;
        }
        Ok(product)
    }

    /// The collective that a launch is, with its buffers' places.
    fn exchange(&self, nests: &[usize]) -> Result<Option<Exchange>> {
        let [nest] = nests else { return Ok(None) };
        let place =
            |e: &loops::Exchange| Ok(Exchange { collective: e.collective.clone(), from: self.place_of(e.from)?, to: self.place_of(e.to)? });
        self.passes.loops.nests[*nest].exchange.as_ref().map(place).transpose()
    }

    fn push_launch(
        &mut self,
        nests: &[usize],
        kernel: usize,
        grid: [Expr; 3],
        (params, maps): (Vec<Param>, Vec<TensorMap>),
        label: String,
        origins: Vec<Origin>,
    ) -> Result<()> {
        let loops = self.passes.loops;
        let all = |f: fn(&Nest) -> Vec<BufferId>| -> BTreeSet<BufferId> { nests.iter().flat_map(|n| f(&loops.nests[*n])).in_order() };
        let (reads, writes) = (all(Nest::reads), all(Nest::writes));
        let bytes = reads.iter().chain(&writes).fold(Expr::ZERO, |sum, b| {
            let each = nests.iter().map(|n| touched(loops, &loops.nests[*n], *b, self.target));
            let whole = loops.buffer(*b).numel().scale(self.target.element_bytes(loops.buffer(*b).dtype) as i64);
            let all = each.fold(Expr::ZERO, |sum, bytes| sum.add(&bytes));
            sum.add(if less(&all, &whole) { &all } else { &whole })
        });
        let flops = nests.iter().fold(Expr::ZERO, |sum, n| sum.add(&flops(loops, &loops.nests[*n])));
        let launch = Launch {
            kernel,
            grid,
            params,
            maps,
            reads: reads.iter().map(|b| self.place_of(*b)).collect::<Result<_>>()?,
            writes: writes.iter().map(|b| self.place_of(*b)).collect::<Result<_>>()?,
            label,
            origins,
            bytes,
            flops,
            product: self.product(nests)?,
            exchange: self.exchange(nests)?,
        };
        self.program.launches.push(launch);
        Ok(())
    }
}

/// Floating-point operations: one for each scalar operation on floats, at every iteration it runs in.
/// Whether a size is known to be less than another.
fn less(a: &Expr, b: &Expr) -> bool {
    a.as_const().zip(b.as_const()).is_some_and(|(a, b)| a < b)
}

/// Bytes of a buffer that a nest reads or writes, at most: of what is exchanged, a bucket of gradients, no more than it goes to.
fn touched(loops: &LoopProgram, nest: &Nest, buffer: BufferId, target: &Target) -> Expr {
    let b = loops.buffer(buffer);
    let bytes = |elements: &Expr| elements.scale(target.element_bytes(b.dtype) as i64);
    if !nest.reads().contains(&buffer) && !nest.writes().contains(&buffer) {
        return Expr::ZERO;
    }
    let exchanged = || loops.nests.iter().filter_map(|n| n.exchange.as_ref()).any(|e| e.from == buffer || e.to == buffer);
    if nest.exchange.is_some() || !nest.steps.is_empty() || !exchanged() {
        return bytes(&b.numel());
    }
    let loads = nest.ops.iter().filter(|(op, _)| matches!(op, LoopOp::Load { buffer: from, .. } if *from == buffer)).count();
    let places = loads.max(nest.stores.iter().filter(|s| s.buffer == buffer).count());
    let volume = loops.volume(&nest.axes).mul(&loops.volume(&nest.inner)).scale(places as i64);
    let whole = b.numel();
    bytes(if less(&volume, &whole) { &volume } else { &whole })
}

fn flops(loops: &LoopProgram, nest: &Nest) -> Expr {
    if !nest.steps.is_empty() {
        return nest.steps.iter().fold(Expr::ZERO, |sum, s| sum.add(&flops(loops, s)));
    }
    let outer = loops.volume(&nest.axes);
    let all = outer.mul(&loops.volume(&nest.inner));
    let deps = nest.dependences();
    let mut sum = Expr::ZERO;
    if matches!(classify(nest, loops), Kind::Attention(_)) {
        // Operations run over the axes that they vary over, no others.
        for (i, (op, _)) in nest.ops.iter().enumerate().filter(|(_, (_, dtype))| dtype.is_float()) {
            sum = match op {
                LoopOp::Scalar(..) => sum.add(&loops.volume(&deps[i])),
                LoopOp::Reduce { value, .. } => sum.add(&loops.volume(&deps[value.0 as usize])),
                _ => sum,
            };
        }
        return sum;
    }
    for (i, (op, dtype)) in nest.ops.iter().enumerate() {
        let counts = match op {
            // Choosing computes nothing.
            LoopOp::Scalar(op, _) => dtype.is_float() && *op != ScalarOp::Select,
            LoopOp::Reduce { .. } => dtype.is_float() || matches!(classify(nest, loops), Kind::Contract(_)),
            _ => false,
        };
        if counts {
            let wide = matches!(op, LoopOp::Reduce { .. }) || deps[i].iter().any(|a| nest.inner.contains(a));
            sum = sum.add(if wide { &all } else { &outer });
        }
    }
    sum
}
