//! Prints a kernel as a module of WebAssembly, with vectors of 128 bits.
//!
//! ```text
//! print(kernel) = module {
//!     import memory                                     // of the executor: all tensors, rows of parameters, scratch
//!     func main(row, bindings, start, end, scratch) {   // function 0, exported
//!         parameters and addresses of buffers into locals
//!         for group in start..end { the kernel's statements }
//!     }
//!     func ...                                          // the helpers that it calls
//! }
//! ```
//!
//! `row` is the address of the launch's parameters, `bindings` that of a table of the addresses of the program's bindings, `scratch` that
//! of memory of the thread's own, `start..end` are pieces of work. Addresses have 32 bits, as a module's memory has.
//!
//! Templates of CPUs let a choice evaluate only what it chooses, so that what it does not choose may be a load out of range. Here both
//! sides are evaluated, and a load in a choice stays in the memory ([`Printer::read`]): what it reads elsewhere nobody uses.
//!
//! Engines vectorise nothing: loops whose turns do not meet ([`turns`](super::turns)) run four turns at a time ([`four`]), and what does
//! not vary in them is computed before. A value is then in one of three forms: the same for all turns, so much more with every turn (indices),
//! or a vector with an element for each turn. Narrow floats are f32 that hold values of the narrow type, and two bytes in memory; bool is
//! an i32 of 0 or 1, in vectors a mask. A sum of a product is one rounding only where templates name vectors, where the target fuses
//! ([`Target::fused_vectors`]).

mod emit;
mod expr;
mod four;
mod helper;
mod memory;
mod scalar;
mod statement;
mod walk;

use super::sign::Signs;
use crate::device::Target;
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Var, visit};
use aludel_ir::{DType, Error, Result, ScalarOp};
use emit::{Body, at};
use four::Four;
use helper::Helpers;
use std::collections::{BTreeMap, BTreeSet};
use walk::Walk;
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, FunctionSection, ImportSection, MemoryType, Module, TypeSection, ValType,
};

/// The name of the kernel's function among the module's exports.
pub const ENTRY: &str = "main";

/// The module and the name by which it imports its memory.
pub const MEMORY: (&str, &str) = ("aludel", "memory");

/// Bytes of memory that a module of 32-bit addresses may have, in pages of 64 KiB.
pub const MOST_PAGES: u64 = 1 << 16;

/// Parameters of the kernel's function.
const ROW: u32 = 0;
const BINDINGS: u32 = 1;
const START: u32 = 2;
const END: u32 = 3;
const SCRATCH: u32 = 4;
const PARAMETERS: u32 = 5;

/// The module of a kernel. Equal kernels print equal modules.
pub fn print(kernel: &Kernel, target: &Target) -> Result<Vec<u8>> {
    kernel.verify()?;
    if kernel.needs_subgroups() {
        return Err(super::no_subgroups(kernel, "WebAssembly"));
    }
    let threads = kernel.workgroup_size.iter().product::<u32>();
    let mut barrier = false;
    visit(&kernel.body, &mut |s| barrier |= matches!(s, Stmt::Barrier));
    if threads > 1 && (barrier || !kernel.shared.is_empty() || kernel.workgroup_size[0] != threads) {
        let what = format!("kernel {}: workgroups of threads that share memory in WebAssembly", kernel.name);
        return Err(Error::unsupported(what, "schedule it for a target whose workgroups are single threads"));
    }
    let mut printer = Printer::new(kernel, target);
    printer.function(threads)?;
    let Printer { body, helpers, .. } = printer;
    Ok(module(body, helpers, target))
}

/// A module of a kernel and its helpers.
fn module(kernel: Body, helpers: Helpers, target: &Target) -> Vec<u8> {
    let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
    types.ty().function([ValType::I32; PARAMETERS as usize], []);
    functions.function(0);
    code.function(&kernel.finish());
    for (i, h) in helpers.written.into_iter().enumerate() {
        types.ty().function(h.params, [h.result]);
        functions.function(i as u32 + 1);
        code.function(&h.function);
    }
    let maximum = target.shared_memory.then_some(MOST_PAGES);
    let memory = MemoryType { minimum: 0, maximum, memory64: false, shared: target.shared_memory, page_size_log2: None };
    let mut imports = ImportSection::new();
    imports.import(MEMORY.0, MEMORY.1, EntityType::Memory(memory));
    let mut exports = ExportSection::new();
    exports.export(ENTRY, ExportKind::Func, 0);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    module.finish()
}

/// A module that an engine takes if it has vectors of 128 bits, and their fused multiply-add (relaxed SIMD) where that is asked for.
pub fn probe(fused: bool) -> Vec<u8> {
    let mut body = Body::new(PARAMETERS);
    for _ in 0..3 {
        body.words([0; 4]);
    }
    if fused {
        body.put().f32x4_relaxed_madd();
    } else {
        body.put().f32x4_add().f32x4_add();
    }
    body.put().drop();
    module(body, Helpers::default(), &Target::wasm())
}

/// Where the value of a register is.
#[derive(Clone, Copy)]
enum Slot {
    /// A local.
    Local(u32),
    /// In every lane of a vector.
    Spread(u32),
    /// A vector with the value of each of four turns.
    Four(u32),
    /// A local with the first turn's value, and how much more it is with every turn.
    Step(u32, i64),
}

struct Printer<'a> {
    kernel: &'a Kernel,
    /// A sum of a product is one rounding.
    fused: bool,
    body: Body,
    helpers: Helpers,
    signs: Signs<'a>,
    slots: Vec<Option<Slot>>,
    /// Numbers that multiply vectors.
    spread: BTreeSet<Var>,
    params: BTreeMap<u32, u32>,
    /// Addresses of the first elements.
    buffers: Vec<u32>,
    shared: Vec<u32>,
    group: u32,
    thread: Option<u32>,
    /// The last address from which a vector can be read.
    last: u32,
    /// Choices around what is written.
    choices: u32,
    /// The loop of which four turns are written at a time.
    four: Option<Four<'a>>,
    /// The innermost loop, while it is written.
    walk: Option<Walk<'a>>,
}

impl<'a> Printer<'a> {
    fn new(kernel: &'a Kernel, target: &Target) -> Self {
        let mut body = Body::new(PARAMETERS);
        let (group, last) = (body.local(ValType::I32), body.local(ValType::I32));
        Printer {
            kernel,
            fused: target.fused_vectors,
            body,
            helpers: Helpers::new(target.fused_vectors),
            signs: Signs::new(kernel),
            slots: vec![None; kernel.vars.len()],
            spread: spread(kernel),
            params: BTreeMap::new(),
            buffers: Vec::new(),
            shared: kernel.shared_offsets(),
            group,
            thread: None,
            last,
            choices: 0,
            four: None,
            walk: None,
        }
    }

    fn function(&mut self, threads: u32) -> Result<()> {
        self.addresses();
        self.body.get(START);
        self.body.set(self.group);
        let end = self.body.block();
        self.body.get(START);
        self.body.get(END);
        self.body.put().i32_ge_u();
        self.body.leave_if(end);
        let again = self.body.turns();
        if threads > 1 {
            let thread = self.body.local(ValType::I32);
            self.thread = Some(thread);
            self.body.int(0);
            self.body.set(thread);
            let next = self.body.turns();
            self.block(&self.kernel.body)?;
            self.body.get(thread);
            self.body.int(1);
            self.body.put().i32_add().local_tee(thread).i32_const(threads as i32).i32_lt_s();
            self.body.leave_if(next);
            self.body.close();
        } else {
            self.block(&self.kernel.body)?;
        }
        self.body.get(self.group);
        self.body.int(1);
        let group = self.group;
        self.body.put().i32_add().local_tee(group).local_get(END).i32_lt_u();
        self.body.leave_if(again);
        self.body.close();
        self.body.close();
        Ok(())
    }

    /// Loads what does not change into locals: parameters that are read, and where buffers begin. Offsets count words.
    fn addresses(&mut self) {
        let last = self.last;
        self.body.put().memory_size(0).i32_const(16).i32_shl().i32_const(16).i32_sub().local_set(last);
        let mut read = BTreeSet::new();
        visit(&self.kernel.body, &mut |s| {
            s.exprs().into_iter().for_each(|e| {
                e.visit(&mut |e| {
                    if let KExpr::Param(p) = e {
                        read.insert(*p);
                    }
                })
            });
        });
        read.extend(self.kernel.buffers.iter().filter_map(|b| b.offset));
        for p in read {
            let local = self.body.local(ValType::I32);
            self.body.get(ROW);
            self.body.put().i32_load(at(4 * p as u64)).local_set(local);
            self.params.insert(p, local);
        }
        for b in &self.kernel.buffers {
            let local = self.body.local(ValType::I32);
            self.body.get(BINDINGS);
            self.body.put().i32_load(at(4 * b.binding as u64));
            if let Some(offset) = b.offset.and_then(|o| self.params.get(&o)) {
                self.body.get(*offset);
                self.body.int(2);
                self.body.put().i32_shl().i32_add();
            }
            self.body.set(local);
            self.buffers.push(local);
        }
    }

    fn broken(&self, problem: &str) -> Error {
        Error::verify(format!("kernel {}", self.kernel.name), problem)
    }
}

/// The float registers that are operands of operations on vectors.
fn spread(kernel: &Kernel) -> BTreeSet<Var> {
    let mut out = BTreeSet::new();
    visit(&kernel.body, &mut |s| {
        s.exprs().into_iter().for_each(|e| {
            e.visit(&mut |e| {
                let KExpr::Scalar(ScalarOp::Mul, args) = e else { return };
                let types: Vec<_> = args.iter().filter_map(|a| kernel.type_of(a).ok()).collect();
                if types.iter().all(|t| t.lanes == 1) {
                    return;
                }
                for (a, ty) in args.iter().zip(&types) {
                    if let (KExpr::Var(v), 1, DType::F32) = (a, ty.lanes, ty.dtype) {
                        out.insert(*v);
                    }
                }
            })
        });
    });
    out
}
