//! Prints a kernel as PTX.
//!
//! One module a kernel, its entry [`ENTRY`]. Parameters of the entry: a pointer for each storage binding of the *program*, used or
//! not (`b0`, `b1`, ..), then the launch's i32 parameters as one array of bytes `p` where there are any. PTX 8.1 allows 32,764
//! bytes of parameters. Pointers are aligned to 16 bytes at least.
//!
//! Registers are virtual: `ptxas`, here the driver's own, assigns the real ones. Helper functions and loops of few turns are
//! written out where they are used.
//!
//! Addresses have 64 bits: a binding may have 16 GiB. A buffer's offset is an unsigned number of words; an index into a buffer
//! with an offset of its own is signed, one into a whole binding (where the index holds the offset) is unsigned.
//!
//! Workgroup memory is static up to 48 KiB, one array for each of the kernel's. A kernel that has more takes all of it as dynamic
//! memory, from the start of the one array `dynamic`; the launch then has to ask for `shared_bytes` and to raise the function's
//! limit (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
//!
//! Kernels of warpgroups take, behind these, one tensor map of 128 bytes for each of theirs (`m0`, `m1`, ..), by value and aligned to
//! 64 bytes. Their workgroup memory is aligned to the 1024 bytes that the matrix units' tiles want.
//!
//! Narrow floats are f32 registers that hold values of the narrow type, and 16 bits in memory.

mod emit;
mod helper;
mod matrix;
mod memory;
mod scalar;
mod statement;
mod warpgroup;

use super::sign::Signs;
use crate::device::Target;
use aludel_ir::kernel::warpgroup::WarpgroupOp;
use aludel_ir::kernel::{Access, KExpr, Kernel, Stmt, visit};
use aludel_ir::{Error, Result};
use emit::{Class, Emit, Operand};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The name of a kernel's function.
pub const ENTRY: &str = "kernel";

/// Static workgroup memory ends here; more is dynamic.
pub const STATIC_SHARED_BYTES: u32 = 48 << 10;

/// Workgroup memory of Hopper's multiprocessors for each of two workgroups: 228 KiB in all, of which each takes one for itself.
pub const HALF_SHARED_BYTES: u32 = 113 << 10;

/// Bytes that the parameters of a kernel may take on compute capability 7.0 and later.
const MAX_PARAMETER_BYTES: usize = 32_764;

/// Accumulators of a thread with which two workgroups of two warpgroups share a multiprocessor.
const MOST_ACCUMULATORS: usize = 64;

/// Bytes of a tensor map.
const MAP_BYTES: usize = 128;

/// The PTX of a kernel for a target. `access` has one entry for each storage binding of the program.
///
/// Errors: a kernel that breaks the rules of its IR, more parameters than a launch can pass, an operation on a type that has none.
pub fn print(kernel: &Kernel, target: &Target, access: &[Option<Access>]) -> Result<String> {
    kernel.verify()?;
    let bindings = kernel.buffers.iter().map(|b| b.binding as usize + 1).max().unwrap_or(0).max(access.len());
    if kernel.needs_warpgroups() && !target.has_warpgroups() {
        let what = format!("kernel {}: warpgroups on compute capability {}", kernel.name, target.compute_capability);
        return Err(Error::unsupported(what, "schedule it for a target that has them"));
    }
    let bytes = 8 * bindings + 4 * kernel.params.len() + (MAP_BYTES + 63) * kernel.maps.len();
    if bytes > MAX_PARAMETER_BYTES {
        let what = format!("kernel {} with {bytes} bytes of parameters", kernel.name);
        return Err(Error::unsupported(what, format!("share a launch among fewer nests: {MAX_PARAMETER_BYTES} bytes fit")));
    }
    let written = kernel.accesses(bindings);
    let mut p = Printer {
        kernel,
        emit: Emit::default(),
        values: FxHashMap::default(),
        params: FxHashMap::default(),
        bases: Vec::new(),
        constant: (0..bindings).map(|b| written[b] == Some(Access::Read)).collect(),
        shared: Vec::new(),
        maps: Vec::new(),
        signs: Signs::new(kernel),
        addresses: vec![FxHashMap::default()],
        specials: FxHashMap::default(),
    };
    p.prologue(bindings)?;
    // Nothing is read or written before, so whatever waits for this kernel waits for what it waits for, too. That those behind may begin is
    // said by the end of the workgroups alone: where it was said at the start (`griddepcontrol.launch_dependents`), those that waited cost
    // more than they gained (an LSTM's step on an H200 1.95 ms, 1.80 without overlap, 1.75 so).
    if target.has_dependent_launches() {
        p.emit.line("griddepcontrol.wait");
    }
    p.block(&kernel.body)?;
    p.emit.line("ret");
    Ok(p.module(target, bindings))
}

/// Registers that products of warpgroups add to.
fn accumulators(k: &Kernel) -> usize {
    let mut found = BTreeSet::new();
    visit(&k.body, &mut |s| {
        if let Stmt::Warpgroup(op) = s {
            found.extend(op.changes().iter().copied());
        }
    });
    found.len()
}

struct Printer<'a> {
    kernel: &'a Kernel,
    emit: Emit,
    /// What each register of the kernel is, lane by lane.
    values: FxHashMap<u32, Vec<Operand>>,
    /// Launch parameters in registers.
    params: FxHashMap<u32, String>,
    /// The address of each buffer.
    bases: Vec<String>,
    /// Bindings that the kernel reads and never writes: their words are cached as constants.
    constant: Vec<bool>,
    /// The address of each workgroup array in workgroup memory.
    shared: Vec<Operand>,
    /// The address of each tensor map.
    maps: Vec<String>,
    signs: Signs<'a>,
    /// Addresses computed in the open blocks: of an element (buffer or array, register, size in bytes).
    addresses: Vec<FxHashMap<(memory::Space, String, u32), String>>,
    /// Thread and workgroup indices.
    specials: FxHashMap<String, String>,
}

impl Printer<'_> {
    /// Reads what the kernel needs once: parameters, indices, the addresses of its buffers.
    fn prologue(&mut self, bindings: usize) -> Result<()> {
        let k = self.kernel;
        let (mut params, mut specials) = (BTreeSet::new(), BTreeSet::new());
        visit(&k.body, &mut |s| {
            for e in s.exprs() {
                e.visit(&mut |e| match e {
                    KExpr::Param(p) => drop(params.insert(*p)),
                    KExpr::LocalId(d) => drop(specials.insert(format!("tid.{}", ["x", "y", "z"][*d as usize % 3]))),
                    KExpr::WorkgroupId(d) => drop(specials.insert(format!("ctaid.{}", ["x", "y", "z"][*d as usize % 3]))),
                    _ => {}
                });
            }
        });
        params.extend(k.buffers.iter().filter_map(|b| b.offset));
        for s in specials {
            let r = self.emit.fresh(Class::B32);
            self.emit.line(format!("mov.u32 {r}, %{s}"));
            self.specials.insert(s, r);
        }
        for p in params {
            let r = self.emit.fresh(Class::B32);
            self.emit.line(format!("ld.param.b32 {r}, [p+{}]", 4 * p));
            self.params.insert(p, r);
        }
        let mut global: Vec<Option<String>> = vec![None; bindings];
        for b in &k.buffers {
            let slot = b.binding as usize;
            if global[slot].is_none() {
                let (raw, at) = (self.emit.fresh(Class::B64), self.emit.fresh(Class::B64));
                self.emit.line(format!("ld.param.u64 {raw}, [b{slot}]"));
                self.emit.line(format!("cvta.to.global.u64 {at}, {raw}"));
                global[slot] = Some(at);
            }
            let binding = global[slot].clone().unwrap_or_default();
            let base = match b.offset {
                None => binding,
                Some(p) => {
                    let at = self.emit.fresh(Class::B64);
                    let offset = self.params.get(&p).cloned().unwrap_or_default();
                    self.emit.line(format!("mad.wide.u32 {at}, {offset}, 4, {binding}"));
                    at
                }
            };
            self.bases.push(base);
        }
        let dynamic = k.shared_bytes() > STATIC_SHARED_BYTES;
        for (i, start) in k.shared_offsets().into_iter().enumerate() {
            let r = self.emit.fresh(Class::B32);
            if dynamic {
                self.emit.line(format!("mov.u32 {r}, dynamic"));
                if start > 0 {
                    self.emit.line(format!("add.u32 {r}, {r}, {start}"));
                }
            } else {
                self.emit.line(format!("mov.u32 {r}, s{}", k.shared_root(i as u32)));
            }
            self.shared.push(Operand::Reg(r));
        }
        for i in 0..k.maps.len() {
            let (parameter, at) = (self.emit.fresh(Class::B64), self.emit.fresh(Class::B64));
            self.emit.line(format!("mov.b64 {parameter}, m{i}"));
            self.emit.line(format!("cvta.param.u64 {at}, {parameter}"));
            self.maps.push(at);
        }
        Ok(())
    }

    fn module(self, target: &Target, bindings: usize) -> String {
        let k = self.kernel;
        // What only Hopper has later GPUs do not; they take what every one since has.
        let arch = match target.compute_capability {
            90 => "sm_90a".to_string(),
            c => format!("sm_{}", c.clamp(80, 90)),
        };
        let mut out = format!(".version 8.1\n.target {arch}\n.address_size 64\n\n");
        let dynamic = k.shared_bytes() > STATIC_SHARED_BYTES;
        let alignment = if k.needs_warpgroups() { 1024 } else { 16 };
        if dynamic {
            let _ = write!(out, ".extern .shared .align {alignment} .b8 dynamic[];\n\n");
        }
        let mut params: Vec<String> = (0..bindings).map(|b| format!("  .param .u64 b{b}")).collect();
        if !k.params.is_empty() {
            params.push(format!("  .param .align 4 .b8 p[{}]", 4 * k.params.len()));
        }
        params.extend((0..k.maps.len()).map(|i| format!("  .param .align 64 .b8 m{i}[{MAP_BYTES}]")));
        let [x, y, z] = k.workgroup_size;
        // Large workgroups that copy ahead are alone on a multiprocessor unless two fit its registers.
        // Many accumulators of warpgroups want more registers than two workgroups would leave.
        let small = || k.shared_bytes() <= HALF_SHARED_BYTES && x * y * z <= 288 && accumulators(k) <= MOST_ACCUMULATORS;
        let two = if k.needs_warpgroups() { small() } else { k.needs_subgroups() && x * y * z == 256 };
        let mut moves = false;
        visit(&k.body, &mut |s| moves |= matches!(s, Stmt::Warpgroup(WarpgroupOp::Registers { .. })));
        // Where warpgroups trade registers, it has to be known how many the kernel starts with.
        let resident = if moves {
            ".minnctapersm 1\n"
        } else if two {
            ".minnctapersm 2\n"
        } else {
            ""
        };
        let _ = write!(out, ".visible .entry {ENTRY}(\n{}\n)\n.reqntid {x}, {y}, {z}\n{resident}{{\n", params.join(",\n"));
        out.push_str(&self.emit.declarations());
        if !dynamic {
            for (i, a) in k.shared.iter().enumerate().filter(|(_, a)| a.view.is_none()) {
                let _ = writeln!(out, "  .shared .align {alignment} .b8 s{i}[{}];", a.bytes());
            }
        }
        out.push_str(&self.emit.text);
        out.push_str("}\n");
        out
    }
}
