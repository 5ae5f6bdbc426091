//! What follows from a program and the sizes of one call: where its buffers lie, how large its grids are, and the rows of
//! launch parameters. Every executor that runs programs starts from here.

use crate::{Argument, Storage, guard};
use aludel_ir::expr::Expr;
use aludel_ir::program::{Param, Program, Role};
use aludel_ir::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Limits of a device that sizes alone can break.
pub(crate) struct Limits<'a> {
    /// The device, for people.
    pub device: &'a str,
    /// Bytes of one binding.
    pub binding_bytes: u64,
    /// Workgroups along one dimension.
    pub groups: u32,
    /// Rows of launch parameters start at multiples of so many bytes; a multiple of four.
    pub row_align: u64,
    /// Every range has memory to itself, with a band after it: see [`crate::guard`].
    pub guards: bool,
}

pub(crate) struct Measure {
    /// Offset of each placement in its binding, in words.
    pub offsets: Vec<u64>,
    /// 32-bit words of each placement.
    pub words: Vec<u64>,
    /// Elements of each placement.
    #[cfg_attr(not(any(feature = "cpu", feature = "cuda")), allow(dead_code))]
    pub elements: Vec<u64>,
    /// Size of each binding in words.
    pub bindings: Vec<u64>,
    /// Workgroups of each launch; `None` where there is nothing to do.
    pub grids: Vec<Option<[u32; 3]>>,
    /// Where each launch's row starts, in bytes, and the size of the longest.
    pub starts: Vec<u32>,
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    pub row: u64,
    /// The rows, with offsets as in `offsets`.
    pub rows: Vec<u32>,
    pub bytes_moved: u64,
}

impl Measure {
    /// Errors: as many sizes as symbols are wanted; a buffer, binding or grid beyond the limits.
    pub fn new(program: &Program, sizes: &[i64], limits: &Limits) -> Result<Self> {
        if sizes.len() != program.env.symbols.len() {
            return Err(Error::invalid(
                format!("sizes for {}", program.name),
                format!("{} given, the program has {} symbols", sizes.len(), program.env.symbols.len()),
                "give one size for each symbol",
            ));
        }
        let too_large = |what: String, value: String, limit: String| Error::Limit { what, value, limit, remedy: SMALLER.into() };
        let overflow = |what: &str| too_large(format!("{what} of {}", program.name), "over 2^31".into(), "2^31 - 1".into());
        let (mut slots, mut bindings) = program.layout(sizes).ok_or_else(|| overflow("memory"))?;
        if limits.guards {
            (slots, bindings) = guard::layout(program, sizes).ok_or_else(|| overflow("memory between bands"))?;
        }
        let eval = |e: &Expr, what: &str| program.eval(e, sizes).filter(|v| i32::try_from(*v).is_ok()).ok_or_else(|| overflow(what));
        let offsets: Vec<u64> = program.placements.iter().map(|p| slots[p.slot] as u64).collect();
        let (mut words, mut elements) = (Vec::with_capacity(program.placements.len()), Vec::with_capacity(program.placements.len()));
        for p in &program.placements {
            let count = eval(&Expr::product(&p.shape), &p.name)?.max(0);
            words.push(p.words(count) as u64);
            elements.push(count as u64);
        }
        // Between bands there is more.
        let over = (0..bindings.len()).find(|k| bindings[*k] as u64 * 4 > limits.binding_bytes && !limits.guards);
        if let Some(k) = over {
            return Err(over_limit(program, k, bindings[k] as u64, &words, limits));
        }
        let (mut grids, mut starts, mut rows, mut row, mut bytes_moved) = (Vec::new(), Vec::new(), Vec::<u32>::new(), 16u64, 0u64);
        for launch in &program.launches {
            let mut grid = [0u32; 3];
            for (g, e) in grid.iter_mut().zip(&launch.grid) {
                *g = eval(e, "a grid")?.max(0) as u32;
            }
            if let Some(g) = grid.iter().find(|g| **g > limits.groups) {
                return Err(too_large(format!("the grid of {}", launch.label), g.to_string(), limits.groups.to_string()));
            }
            let empty = grid.contains(&0);
            grids.push((!empty).then_some(grid));
            starts.push(rows.len() as u32 * 4);
            for p in &launch.params {
                rows.push(match p {
                    Param::Size(e) => eval(e, "a size")? as i32 as u32,
                    Param::Offset(p) => offsets[*p] as u32,
                    Param::Part { placement, words } => offsets[*placement] as u32 + *words as u32,
                });
            }
            row = row.max((launch.params.len() as u64 * 4).next_multiple_of(16));
            rows.resize((rows.len() * 4).next_multiple_of(limits.row_align as usize) / 4, 0);
            if !empty {
                bytes_moved += program.eval(&launch.bytes, sizes).unwrap_or(0).max(0) as u64;
            }
        }
        // Where all rows are bound with the size of the longest, so is the last one.
        let row = row.next_multiple_of(limits.row_align);
        let last = starts.last().copied().unwrap_or(0) as usize;
        rows.resize(rows.len().max((last + row as usize) / 4), 0);
        let bindings = bindings.into_iter().map(|w| w as u64).collect();
        Ok(Measure { offsets, words, elements, bindings, grids, starts, row, rows, bytes_moved })
    }

    /// Bytes of device memory that a run takes.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    pub fn bytes(&self) -> u64 {
        self.bindings.iter().sum::<u64>() * 4
    }

    /// The same for people: `3.2 GiB (temporaries 2.0 GiB, ...)`.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    pub fn needs(&self, program: &Program) -> String {
        let mut parts: Vec<(&str, u64)> = Vec::new();
        for (b, words) in program.bindings.iter().zip(&self.bindings) {
            let what = role_name(b.role);
            match parts.iter_mut().find(|(name, _)| *name == what) {
                Some((_, bytes)) => *bytes += words * 4,
                None => parts.push((what, words * 4)),
            }
        }
        let parts = parts.iter().filter(|(_, b)| *b > 0).map(|(what, b)| format!("{what} {}", gigabytes(*b)));
        format!("{} ({})", gigabytes(self.bytes()), parts.collect::<Vec<_>>().join(", "))
    }

    /// The operands, checked: as many as there are inputs, each of the right size, and `here` for those on a device.
    pub fn check_inputs(&self, program: &Program, inputs: &[Argument], here: impl Fn(&Storage) -> Result<()>) -> Result<()> {
        if inputs.len() != program.inputs.len() {
            let problem = format!("{} given, {} expected", inputs.len(), program.inputs.len());
            return Err(Error::invalid(format!("inputs of {}", program.name), problem, "give one for each input of the graph"));
        }
        for (input, placement) in inputs.iter().zip(&program.inputs) {
            let (got, want) = (input.words() as u64, self.words[*placement]);
            if got != want {
                let p = &program.placements[*placement];
                let shape = program.env.show_shape(&p.shape);
                let problem = format!("{got} words given, {want} expected for {} of shape {shape}", p.dtype);
                return Err(Error::invalid(format!("input {} of {}", p.name, program.name), problem, "give a tensor of the traced shape"));
            }
            if let Argument::Device(s) = input {
                here(s)?;
            }
        }
        Ok(())
    }

    /// The rows of launch parameters where some placements lie elsewhere: `moved` has, for each placement, its true offset
    /// in words where that differs from `offsets`.
    pub fn rows(&self, program: &Program, moved: &[Option<u64>]) -> Vec<u32> {
        let mut rows = self.rows.clone();
        for (launch, start) in program.launches.iter().zip(&self.starts) {
            for (i, p) in launch.params.iter().enumerate() {
                let (placement, words) = match p {
                    Param::Size(_) => continue,
                    Param::Offset(placement) => (*placement, 0),
                    Param::Part { placement, words } => (*placement, *words as u64),
                };
                if let Some(offset) = moved[placement] {
                    rows[*start as usize / 4 + i] = (offset + words) as u32;
                }
            }
        }
        rows
    }
}

/// What helps where memory does not.
pub(crate) const SMALLER: &str = "use a smaller batch or model; f16 or bf16 (autocast) where the device stores them in two bytes, \
    checkpointed regions, or a memory_budget below 1 keep less for the backward pass";

/// Bytes for people.
pub(crate) fn gigabytes(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{:.2} GiB", b as f64 / (1u64 << 30) as f64),
        b if b >= 1 << 20 => format!("{:.1} MiB", b as f64 / (1u64 << 20) as f64),
        b => format!("{b} bytes"),
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Arena => "temporaries",
        Role::State | Role::Offloaded => "parameters and optimizer state",
        Role::Inputs | Role::Input(_) => "arguments",
        Role::Result(_) => "results",
    }
}

/// A binding is larger than the device allows: because one tensor is, or because sizes are others than those that its tensors were
/// divided for.
fn over_limit(program: &Program, binding: usize, bound: u64, words: &[u64], limits: &Limits) -> Error {
    let limit = format!("{} in one buffer of {}", gigabytes(limits.binding_bytes), limits.device);
    let own = program.placements.iter().zip(words).filter(|(p, _)| p.binding == binding);
    match own.max_by_key(|(_, words)| **words) {
        Some((p, words)) if words * 4 > limits.binding_bytes => Error::Limit {
            what: format!("{} {}{} of {}", p.name, p.dtype, program.env.show_shape(&p.shape), program.name),
            value: gigabytes(words * 4),
            limit,
            remedy: SMALLER.into(),
        },
        _ => Error::Limit {
            what: format!("one part of the {} of {}", role_name(program.bindings[binding].role), program.name),
            value: gigabytes(bound * 4),
            limit,
            remedy: format!("compile for these sizes anew, where tensors are divided otherwise; or {SMALLER}"),
        },
    }
}

/// The measures of one program, by sizes.
#[derive(Default)]
pub(crate) struct Measures(HashMap<Vec<i64>, Arc<Measure>>);

/// Sizes that vary without end must not fill the memory.
const MOST_MEASURES: usize = 64;

impl Measures {
    pub fn get(&mut self, program: &Program, sizes: &[i64], limits: &Limits) -> Result<Arc<Measure>> {
        if let Some(m) = self.0.get(sizes) {
            return Ok(m.clone());
        }
        let m = Arc::new(Measure::new(program, sizes, limits)?);
        if self.0.len() >= MOST_MEASURES {
            self.0.clear();
        }
        self.0.insert(sizes.to_vec(), m.clone());
        Ok(m)
    }
}

/// Refuses programs with collectives, on devices that run none.
#[cfg(not(target_arch = "wasm32"))]
#[cfg_attr(not(any(feature = "wgpu", feature = "wasmtime")), allow(dead_code))]
pub(crate) fn refuse_collectives(program: &Program, device: &str) -> Result<()> {
    match program.launches.iter().find_map(|l| l.exchange.as_ref()) {
        Some(e) => Err(Error::unsupported(
            format!("{} over group {} on {device}", e.collective.op.name(), e.collective.group.name),
            "train on the CPU",
        )),
        None => Ok(()),
    }
}

/// Every position that a program names exists: what runs it later indexes without asking.
pub(crate) fn check_program(program: &Program) -> Result<()> {
    let fail = |what: String| Err(Error::verify(format!("program {}", program.name), what));
    let (bindings, placements) = (program.bindings.len(), program.placements.len());
    if program.slots.iter().any(|s| s.binding >= bindings) {
        return fail("a slot is in no binding".into());
    }
    if let Some(p) = program.placements.iter().find(|p| p.binding >= bindings || p.slot >= program.slots.len()) {
        return fail(format!("placement {} is in no binding or slot", p.name));
    }
    if program.inputs.iter().any(|p| *p >= placements) {
        return fail("an input has no placement".into());
    }
    if let Some(o) = program.outputs.iter().find(|o| o.placement >= placements || o.updates.is_some_and(|i| i >= program.inputs.len())) {
        return fail(format!("output {} has no placement or updates no input", o.name));
    }
    let wrong = |p: &Param| match p {
        Param::Size(_) => false,
        Param::Offset(p) => *p >= placements,
        Param::Part { placement, words } => *placement >= placements || u32::try_from(*words).is_err(),
    };
    if let Some(l) = program.launches.iter().find(|l| l.kernel >= program.kernels.len() || l.params.iter().any(wrong)) {
        return fail(format!("launch {} has no kernel or an offset of no placement", l.label));
    }
    if program.launches.iter().filter_map(|l| l.exchange.as_ref()).any(|e| e.from >= placements || e.to >= placements) {
        return fail("a collective is of no placement".into());
    }
    match program.launches.iter().find(|l| l.maps.iter().any(|m| m.placement >= placements)) {
        Some(l) => fail(format!("launch {} has a map of no placement", l.label)),
        None => Ok(()),
    }
}
