//! Prints a kernel as C, and a program as one translation unit.
//!
//! A kernel is a function `KERNEL(b, p, group, scratch)`: the starts of the program's bindings, the launch's parameters, which
//! piece of work this is, and memory of the thread's own. [`unit`] gives each function a name, and the unit two symbols: the
//! table `aludel_kernels` and its length `aludel_kernel_count`.
//!
//! Integers wrap (`-fwrapv`) and words of memory are read under several types (`-fno-strict-aliasing`). Addresses are computed in
//! 64 bits. Registers of several lanes are vectors as GCC and Clang extend C by them; loops whose turns do not meet are marked
//! for the compiler to vectorise ([`simd`]). Narrow floats are f32 that hold values of the narrow type, and `u16` in memory; bool is an
//! int of 0 or 1.

mod expr;
mod idiom;
mod simd;
mod spell;

use super::fold::fold;
use super::math;
use super::sign::Signs;
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Ty, Var, visit};
use aludel_ir::program::Program;
use aludel_ir::{DType, Error, Result};
use expr::{stored, vector};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Types, and the attribute by which a vector may lie anywhere in memory.
const TYPES: &str = "typedef float f32;
typedef double f64;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;
";

/// The text of a whole program: helpers, kernels, and the table of them in the program's order.
pub fn unit(program: &Program) -> String {
    unit_of(program.kernels.iter().map(|k| k.source.as_str()).enumerate())
}

/// Whether a kernel's text has vectors, as products do: it may be compiled otherwise than those that have none.
pub fn has_vectors(text: &str) -> bool {
    vectors(text).next().is_some()
}

/// The types of vectors that a kernel's text names.
fn vectors(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let all = [4, 8, 16].into_iter().flat_map(|lanes| ["f32", "i32", "u32"].map(|scalar| (lanes, scalar)));
    all.filter(move |(lanes, scalar)| text.contains(&format!("{scalar}x{lanes}")))
}

/// The text of a unit of the kernels that [`print`] gave, with the numbers by which the compiler's messages name them.
pub fn unit_of<'a>(kernels: impl Iterator<Item = (usize, &'a str)> + Clone) -> String {
    let mut out = String::from(TYPES);
    for (lanes, scalar) in kernels.clone().flat_map(|(_, k)| vectors(k)).collect::<BTreeSet<_>>() {
        let bytes = lanes * 4;
        let _ = writeln!(out, "typedef {scalar} {scalar}x{lanes} __attribute__((vector_size({bytes}), aligned(4), may_alias));");
    }
    for h in math::c().with_uses(kernels.clone().flat_map(|(_, k)| math::words(k))) {
        let _ = write!(out, "\n{h}\n");
    }
    let mut names = Vec::new();
    for (i, k) in kernels {
        // Where the compiler finds fault, it names the kernel.
        let _ = write!(out, "\n#define KERNEL k{i}\n#line 1 \"kernel {i}\"\n{k}#undef KERNEL\n");
        names.push(format!("k{i}"));
    }
    // A table of no kernels still has a place.
    let list = if names.is_empty() { "0".into() } else { names.join(", ") };
    let _ = write!(out, "\nvoid (*const aludel_kernels[])(u32 *const *, const i32 *, u32, u8 *) = {{{list}}};\n");
    let _ = writeln!(out, "const u32 aludel_kernel_count = {};", names.len());
    out
}

/// The C of a kernel. Equal kernels print equal text.
pub fn print(kernel: &Kernel) -> Result<String> {
    kernel.verify()?;
    if kernel.needs_subgroups() {
        return Err(super::no_subgroups(kernel, "C"));
    }
    let threads = kernel.workgroup_size.iter().product::<u32>();
    let mut barrier = false;
    visit(&kernel.body, &mut |s| barrier |= matches!(s, Stmt::Barrier));
    if threads > 1 && (barrier || !kernel.shared.is_empty() || kernel.workgroup_size[0] != threads) {
        let what = format!("kernel {}: workgroups of threads that share memory in C", kernel.name);
        return Err(Error::unsupported(what, "schedule it for a target whose workgroups are single threads"));
    }
    let mut printer = Printer { kernel, signs: Signs::new(kernel), bounds: 0, starts: BTreeMap::new(), picks: false };
    let mut body = String::new();
    if threads > 1 {
        let _ = writeln!(body, "  for (i32 thread = 0; thread < {threads}; thread += 1) {{");
        printer.block(&kernel.body, 2, &mut body)?;
        body.push_str("  }\n");
    } else {
        printer.block(&kernel.body, 1, &mut body)?;
    }
    Ok(printer.function(&body))
}

struct Printer<'a> {
    kernel: &'a Kernel,
    signs: Signs<'a>,
    /// Loop bounds that were given a name so far.
    bounds: usize,
    /// Where the variables of loops start whose turns are counted from zero.
    starts: BTreeMap<Var, String>,
    /// Within a loop whose choices are made of bits ([`simd::chooses_much`]).
    picks: bool,
}

/// The name of a register's type.
fn type_name(ty: Ty) -> String {
    let scalar = scalar_name(ty.dtype);
    if ty.lanes > 1 { format!("{scalar}x{}", ty.lanes) } else { scalar.to_string() }
}

fn scalar_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => "f32",
        DType::I32 | DType::Bool => "i32",
        DType::U32 => "u32",
    }
}

/// The type of an element in memory.
fn word_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 | DType::BF16 => "u16",
        DType::Bool => "u32",
        d => scalar_name(d),
    }
}

impl Printer<'_> {
    fn function(&self, body: &str) -> String {
        let mut out = String::from("static void KERNEL(u32 *const *b, const i32 *p, u32 group, u8 *scratch) {\n");
        for (i, b) in self.kernel.buffers.iter().enumerate() {
            let word = word_name(b.dtype);
            // Which binding a buffer is in follows the kernel's own parameters: kernels of other bindings are one text. Offsets count words.
            let binding = self.kernel.params.len() + i;
            let start = match b.offset {
                None => format!("b[p[{binding}]]"),
                Some(o) if word == "u16" => format!("(b[p[{binding}]] + (u32)p[{o}])"),
                Some(o) => format!("b[p[{binding}]] + (u32)p[{o}]"),
            };
            let _ = writeln!(out, "  {word} *const b{i} = ({word} *){start};");
        }
        for (i, (a, at)) in self.kernel.shared.iter().zip(self.kernel.shared_offsets()).enumerate() {
            let word = word_name(a.ty.dtype);
            let _ = writeln!(out, "  {word} *const s{i} = ({word} *)(scratch + {at});");
        }
        out.push_str(body);
        out.push_str("}\n");
        out
    }

    fn block(&mut self, body: &[Stmt], depth: usize, out: &mut String) -> Result<()> {
        for s in body {
            self.statement(s, depth, out)?;
        }
        Ok(())
    }

    fn statement(&mut self, s: &Stmt, depth: usize, out: &mut String) -> Result<()> {
        let pad = "  ".repeat(depth);
        match s {
            Stmt::Let(v, e) | Stmt::Mut(v, e) => {
                let fixed = matches!(s, Stmt::Let(..));
                if fixed {
                    self.signs.fix(*v, e);
                }
                let ty = self.kernel.var_ty(*v)?;
                let (value, constant) = (self.value(e, ty)?, if fixed { "const " } else { "" });
                let _ = writeln!(out, "{pad}{constant}{} v{} = {value};", type_name(ty), v.0);
            }
            Stmt::Assign(v, e) => {
                let ty = self.kernel.var_ty(*v)?;
                let value = self.value(e, ty)?;
                let _ = writeln!(out, "{pad}v{} = {value};", v.0);
            }
            Stmt::Store { buffer, index, value } => {
                let dtype = self.kernel.buffers[*buffer as usize].dtype;
                let value = self.expr(value)?;
                let to = self.element(*buffer, index, Ty { dtype, lanes: value.ty.lanes })?;
                let _ = writeln!(out, "{pad}{to} = {};", stored(value)?.code);
            }
            Stmt::StoreShared { array, index, value } => {
                let ty = self.kernel.shared[*array as usize].ty;
                let value = stored(self.expr(value)?.spread(ty.lanes, vector))?;
                let to = self.slot(*array, index)?;
                let _ = writeln!(out, "{pad}{to} = {};", value.code);
            }
            // Templates add where no other piece does: the order is fixed, and so is the sum.
            Stmt::AtomicAdd { buffer, index, value } => {
                let dtype = self.kernel.buffers[*buffer as usize].dtype;
                let value = self.expr(value)?;
                let to = self.element(*buffer, index, Ty::scalar(dtype))?;
                let _ = writeln!(out, "{pad}{to} += {};", value.code);
            }
            Stmt::For { var, start, end, step, body } => self.turns(*var, [start, end, step], body, depth, out)?,
            Stmt::If { cond, then, otherwise } => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.expr(cond)?.code);
                self.block(then, depth + 1, out)?;
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(otherwise, depth + 1, out)?;
                }
                let _ = writeln!(out, "{pad}}}");
            }
            // One thread meets itself.
            Stmt::Barrier => {}
            Stmt::AsyncCopy { .. } | Stmt::AsyncCommit | Stmt::AsyncWait(_) | Stmt::Mma { .. } | Stmt::Warpgroup(_) | Stmt::Matrix(_) => {
                return Err(super::no_subgroups(self.kernel, "C"));
            }
        }
        Ok(())
    }

    fn turns(&mut self, var: Var, [start, end, step]: [&KExpr; 3], body: &[Stmt], depth: usize, out: &mut String) -> Result<()> {
        let pad = "  ".repeat(depth);
        if *start == aludel_ir::kernel::int(0) && *step == aludel_ir::kernel::int(1) && self.idiom(var, end, body, &pad, out)? {
            return Ok(());
        }
        self.signs.fix(var, start);
        let v = var.0;
        let fragile = simd::is_fragile(body);
        let clauses = if fragile { None } else { simd::clauses(self.kernel, var, body) };
        // Counted from zero: GCC does not see that a variable which starts anywhere never wraps, and would gather what lies in a row.
        let counted = clauses.is_some() && fold(start).is_none() && *step == aludel_ir::kernel::int(1);
        let start = if counted { self.bound(start, &pad, out)? } else { self.expr(start)?.code };
        let end = self.bound(end, &pad, out)?;
        let step = self.bound(step, &pad, out)?;
        let vectorised = clauses.is_some();
        if let Some(clauses) = clauses {
            let _ = writeln!(out, "#pragma omp simd{clauses}");
        }
        if counted {
            let _ = writeln!(out, "{pad}for (i32 n{v} = 0; n{v} < {end} - {start}; n{v} += 1) {{");
            let _ = writeln!(out, "{pad}  const i32 v{v} = {start} + n{v};");
            self.starts.insert(var, start);
        } else {
            let _ = writeln!(out, "{pad}for (i32 v{v} = {start}; v{v} < {end}; v{v} += {step}) {{");
        }
        if fragile {
            // An empty instruction that no compiler looks into: it keeps the turns apart.
            let _ = writeln!(out, "{pad}  __asm__(\"\");");
        }
        let outside = self.picks;
        self.picks |= vectorised && simd::chooses_much(body);
        self.block(body, depth + 1, out)?;
        self.picks = outside;
        let _ = writeln!(out, "{pad}}}");
        Ok(())
    }

    /// The bound of a loop, which C evaluates on every turn and the IR once: by name unless it is fixed.
    fn bound(&mut self, e: &KExpr, pad: &str, out: &mut String) -> Result<String> {
        let value = self.expr(e)?;
        if fold(e).is_some() {
            return Ok(value.arg());
        }
        let name = format!("bound{}", self.bounds);
        self.bounds += 1;
        let _ = writeln!(out, "{pad}const i32 {name} = {};", value.code);
        Ok(name)
    }

    fn value(&mut self, e: &KExpr, ty: Ty) -> Result<String> {
        Ok(self.expr(e)?.spread(ty.lanes, vector).code)
    }
}
