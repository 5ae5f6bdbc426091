//! Prints a kernel as WGSL.
//!
//! Launch parameters are one uniform `p` at binding 0; storage binding `k` of the program is `bk` at binding `k + 1`. Names
//! follow from positions alone, so that equal kernels print equal text. The text passes both naga and Tint: conditions that
//! compilers fold are folded here first (a constant that overflows is an error in WGSL), comparisons stand in parentheses
//! (`f(a < b, c > d)` would be a template), and constants that WGSL cannot write are built from bits.

mod binding;
pub mod spell;
mod turns;
mod value;

use super::fold::fold;
use super::math;
use super::sign::Signs;
use super::spell::{Spelling, arithmetic};
use super::text::{Binds, Text};
use crate::device::Target;
use aludel_ir::kernel::{Access, KExpr, Kernel, Stmt, Ty, Var, visit};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};
use binding::{Binding, Form, bindings};
use spell::spell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use value::{as_value, as_word, memory_name, type_name, type_zero, vector};

/// The WGSL of a kernel, entry point `main`. `access` has, for each storage binding of the program, how its layout declares
/// it, whatever this kernel needs; `None`, or a position past the end, leaves it to the kernel's own use.
pub fn print(kernel: &Kernel, access: &[Option<Access>]) -> Result<String> {
    print_sized(kernel, &Target::webgpu_default(), access, &[])
}

/// As [`print`], for a target that may have bindings of f16, and where `words` has the size of each storage binding that is at least so large whenever the kernel runs:
/// browsers then check an index against a constant instead of asking for the length at every access.
pub fn print_sized(kernel: &Kernel, target: &Target, access: &[Option<Access>], words: &[Option<i64>]) -> Result<String> {
    kernel.verify()?;
    if kernel.needs_subgroups() {
        return Err(super::no_subgroups(kernel, "WGSL"));
    }
    // Their bytes would not be those that the kernel counts: narrow values are f32 here.
    if let Some(a) = kernel.shared.iter().find(|a| matches!(a.ty.dtype, DType::F16 | DType::BF16)) {
        return Err(Error::unsupported(format!("workgroup array {} of {} in WGSL", a.name, a.ty.dtype), "keep f32 in it"));
    }
    let mut printer = Printer {
        kernel,
        bindings: bindings(kernel, target, access)?,
        helpers: BTreeSet::new(),
        generated: BTreeSet::new(),
        signs: Signs::new(kernel),
        bounds: 0,
        offsets: BTreeSet::new(),
        words,
        unrolled: if target.software { turns::unrolled(kernel)? } else { BTreeMap::new() },
        last: last_before_updates(kernel),
    };
    let mut body = String::new();
    printer.block(&kernel.body, 1, &mut body)?;
    Ok(printer.module(&body))
}

struct Printer<'a> {
    kernel: &'a Kernel,
    bindings: Vec<Option<Binding>>,
    helpers: BTreeSet<&'static str>,
    /// Functions made for this kernel: accesses that the declared form of a binding does not have, helpers on four lanes.
    generated: BTreeSet<Generated>,
    signs: Signs<'a>,
    /// Loop bounds that were given a name so far.
    bounds: usize,
    /// Parameters that are offsets of buffers: read once, at the start.
    offsets: BTreeSet<u32>,
    /// The sizes of bindings, where known.
    words: &'a [Option<i64>],
    /// Loops that are written out so many turns at a time.
    unrolled: BTreeMap<Var, u64>,
    /// The barrier after which memory may be overwritten that threads have read before it.
    last: Option<&'a Stmt>,
}

/// The last barrier that all threads of a workgroup meet at, where something is stored after it into a binding that was read before: what
/// is updated in place is one buffer to read and another one to write.
fn last_before_updates(kernel: &Kernel) -> Option<&Stmt> {
    let at = kernel.body.iter().rposition(|s| matches!(s, Stmt::Barrier))?;
    let binding = |buffer: u32| kernel.buffers.get(buffer as usize).map(|b| b.binding);
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    visit(&kernel.body[..at], &mut |s| {
        for e in s.exprs() {
            e.visit(&mut |e| {
                if let KExpr::Load { buffer, .. } = e {
                    read.insert(binding(*buffer));
                }
            });
        }
    });
    visit(&kernel.body[at..], &mut |s| {
        if let Stmt::Store { buffer, .. } = s {
            written.insert(binding(*buffer));
        }
    });
    (!read.is_disjoint(&written)).then_some(&kernel.body[at])
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Generated {
    /// Four lanes of a helper.
    Lanes(&'static str),
    /// One word of a binding of quads.
    LoadWord(usize),
    LoadQuad(usize),
    StoreQuad(usize),
    /// Float addition by compare-and-exchange on the bits.
    AddFloat(usize),
}

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Printer<'_> {
    fn module(&self, body: &str) -> String {
        let mut out = String::new();
        let k = self.kernel;
        if self.bindings.iter().flatten().any(Binding::is_halves) {
            out.push_str("enable f16;\n\n");
        }
        if !k.params.is_empty() {
            let _ = writeln!(out, "@group(0) @binding(0) var<uniform> p: array<vec4<i32>, {}>;", k.params.len().div_ceil(4));
        }
        for (i, b) in self.bindings.iter().enumerate() {
            let Some(b) = b else { continue };
            let access = if b.access == Access::ReadWrite { "read_write" } else { "read" };
            let word = memory_name(b.word);
            let (element, each) = match b.form {
                Form::Words => (word.to_string(), 1),
                Form::Quads => (format!("vec4<{word}>"), 4),
                Form::Atomic => (format!("atomic<{word}>"), 1),
            };
            let size = self
                .words
                .get(i)
                .copied()
                .flatten()
                .map_or(String::new(), |w| format!(", {}", if b.is_halves() { w * 2 } else { w } / each));
            let _ = writeln!(out, "@group(0) @binding({}) var<storage, {access}> b{i}: array<{element}{size}>;", i + 1);
        }
        for (i, a) in k.shared.iter().enumerate() {
            // A bool has no place in memory that WGSL would promise.
            let ty = if a.ty.dtype == DType::Bool { Ty { dtype: DType::U32, ..a.ty } } else { a.ty };
            let _ = writeln!(out, "var<workgroup> s{i}: array<{}, {}>;", type_name(ty), a.len);
        }
        let mut helpers: BTreeSet<&'static str> = self.helpers.clone();
        helpers.extend(self.generated.iter().filter_map(|g| if let Generated::Lanes(h) = g { Some(*h) } else { None }));
        for text in math::wgsl().with_uses(helpers) {
            let _ = write!(out, "\n{text}\n");
        }
        for g in &self.generated {
            let _ = write!(out, "\n{}\n", self.generate(g));
        }
        let [x, y, z] = k.workgroup_size;
        let (mut group, mut thread) = (false, false);
        visit(&k.body, &mut |s| {
            for e in s.exprs() {
                e.visit(&mut |e| {
                    group |= matches!(e, KExpr::WorkgroupId(_));
                    thread |= matches!(e, KExpr::LocalId(_));
                });
            }
        });
        let mut builtins = Vec::new();
        if group {
            builtins.push("@builtin(workgroup_id) workgroup_id: vec3<u32>");
        }
        if thread {
            builtins.push("@builtin(local_invocation_id) local_id: vec3<u32>");
        }
        let _ = write!(out, "\n@compute @workgroup_size({x}, {y}, {z})\nfn main({}) {{\n", builtins.join(", "));
        if group {
            out.push_str("  let group = vec3<i32>(workgroup_id);\n");
        }
        if thread {
            out.push_str("  let thread = vec3<i32>(local_id);\n");
        }
        for p in &self.offsets {
            let _ = writeln!(out, "  let o{p} = p[{}].{};", p / 4, COMPONENTS[*p as usize % 4]);
        }
        out.push_str(body);
        out.push_str("}\n");
        out
    }

    fn generate(&self, g: &Generated) -> String {
        let word = |k: usize| self.bindings[k].map_or("u32", |b| memory_name(b.word));
        let atomic = |k: usize| self.bindings[k].is_some_and(|b| b.form == Form::Atomic);
        match g {
            Generated::Lanes(helper) => {
                let (params, result) = math::signature(helper).unwrap_or_default();
                let names = ["a", "b", "c", "d", "e"];
                let list = params.iter().zip(names).map(|(p, n)| format!("{n}: vec4<{p}>")).collect::<Vec<_>>().join(", ");
                let lane = |l: &str| {
                    let args = names[..params.len()].iter().map(|n| format!("{n}.{l}")).collect::<Vec<_>>().join(", ");
                    format!("{helper}({args})")
                };
                let lanes = COMPONENTS.map(lane).join(", ");
                format!("fn {helper}x4({list}) -> vec4<{result}> {{\n  return vec4<{result}>({lanes});\n}}")
            }
            Generated::LoadWord(k) => format!("fn load_b{k}(i: i32) -> {} {{\n  return b{k}[i >> 2u][i & 3];\n}}", word(*k)),
            Generated::LoadQuad(k) => {
                let w = word(*k);
                let lane = |l: i32| {
                    let i = if l == 0 { "i".to_string() } else { format!("i + {l}") };
                    if atomic(*k) { format!("atomicLoad(&b{k}[{i}])") } else { format!("b{k}[{i}]") }
                };
                let lanes = [0, 1, 2, 3].map(lane).join(", ");
                format!("fn load4_b{k}(i: i32) -> vec4<{w}> {{\n  return vec4<{w}>({lanes});\n}}")
            }
            Generated::StoreQuad(k) => {
                let lane = |(l, c): (usize, &str)| {
                    let i = if l == 0 { "i".to_string() } else { format!("i + {l}") };
                    if atomic(*k) { format!("  atomicStore(&b{k}[{i}], v.{c});\n") } else { format!("  b{k}[{i}] = v.{c};\n") }
                };
                let lanes: String = COMPONENTS.into_iter().enumerate().map(lane).collect();
                format!("fn store4_b{k}(i: i32, v: vec4<{}>) {{\n{lanes}}}", word(*k))
            }
            Generated::AddFloat(k) => format!(
                "fn add_b{k}(i: i32, v: f32) {{\n  var old = atomicLoad(&b{k}[i]);\n  loop {{\n    \
                 let sum = bitcast<u32>(bitcast<f32>(old) + v);\n    \
                 let seen = atomicCompareExchangeWeak(&b{k}[i], old, sum);\n    \
                 if (seen.exchanged) {{\n      break;\n    }}\n    old = seen.old_value;\n  }}\n}}"
            ),
        }
    }

    // ---- statements ----

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
                let keyword = if matches!(s, Stmt::Let(..)) { "let" } else { "var" };
                if keyword == "let" {
                    self.signs.fix(*v, e);
                }
                let value = self.value(e, self.kernel.var_ty(*v)?)?;
                let _ = writeln!(out, "{pad}{keyword} v{} = {value};", v.0);
            }
            Stmt::Assign(v, e) => {
                let value = self.value(e, self.kernel.var_ty(*v)?)?;
                let _ = writeln!(out, "{pad}v{} = {value};", v.0);
            }
            Stmt::Store { buffer, index, value } => {
                let value = self.expr(value)?;
                let _ = writeln!(out, "{pad}{};", self.store(*buffer, index, value)?);
            }
            Stmt::StoreShared { array, index, value } => {
                let ty = self.kernel.shared[*array as usize].ty;
                let value = self.expr(value)?.spread(ty.lanes, vector);
                let value = if ty.dtype == DType::Bool { as_word(value, DType::U32) } else { value };
                let _ = writeln!(out, "{pad}s{array}[{}] = {};", self.expr(index)?.arg(), value.code);
            }
            Stmt::AtomicAdd { buffer, index, value } => {
                let b = &self.kernel.buffers[*buffer as usize];
                let (k, dtype) = (b.binding as usize, b.dtype);
                let index = self.element_index(*buffer, index, 1)?.arg();
                let value = self.expr(value)?;
                if dtype.is_float() {
                    self.generated.insert(Generated::AddFloat(k));
                    let _ = writeln!(out, "{pad}add_b{k}({index}, {});", value.arg());
                } else {
                    let value = as_word(value, DType::U32);
                    let _ = writeln!(out, "{pad}atomicAdd(&b{k}[{index}], {});", value.arg());
                }
            }
            Stmt::For { var, start, end, step, body } => {
                let v = format!("v{}", var.0);
                self.signs.fix(*var, start);
                let start = self.expr(start)?.code;
                let end = self.bound(end, &pad, out)?;
                let step = self.bound(step, &pad, out)?;
                let Some(at_once) = self.unrolled.get(var).copied() else {
                    let _ = writeln!(out, "{pad}for (var {v} = {start}; {v} < {end}; {v} += {step}) {{");
                    self.block(body, depth + 1, out)?;
                    let _ = writeln!(out, "{pad}}}");
                    return Ok(());
                };
                let first = format!("first{}", var.0);
                let _ = match turns::is_whole(s, at_once) {
                    true => writeln!(out, "{pad}{{\n{pad}  let {first} = {start};"),
                    false => writeln!(out, "{pad}for (var {first} = {start}; {first} < {end}; {first} += {step} * {at_once}) {{"),
                };
                for turn in 0..at_once {
                    let at = if turn == 0 { first.clone() } else { format!("{first} + {step} * {turn}") };
                    let _ = writeln!(out, "{pad}  if ({at} < {end}) {{\n{pad}    let {v} = {at};");
                    self.block(body, depth + 2, out)?;
                    let _ = writeln!(out, "{pad}  }}");
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::If { cond, then, otherwise } => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.expr(cond)?.code);
                self.block(then, depth + 1, out)?;
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(otherwise, depth + 1, out)?;
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Barrier => {
                let _ = writeln!(out, "{pad}workgroupBarrier();");
                // That one orders workgroup memory alone (<https://www.w3.org/TR/WGSL/#sync-builtin-functions>).
                if self.last.is_some_and(|last| std::ptr::eq(last, s)) {
                    let _ = writeln!(out, "{pad}storageBarrier();");
                }
            }
            Stmt::AsyncCopy { .. } | Stmt::AsyncCommit | Stmt::AsyncWait(_) | Stmt::Mma { .. } | Stmt::Warpgroup(_) | Stmt::Matrix(_) => {
                return Err(super::no_subgroups(self.kernel, "WGSL"));
            }
        }
        Ok(())
    }

    /// The bound of a loop, which WGSL evaluates on every turn and the IR once: by name unless it is fixed.
    fn bound(&mut self, e: &KExpr, pad: &str, out: &mut String) -> Result<String> {
        if self.is_fixed(e) || fold(e).is_some() {
            return Ok(self.expr(e)?.arg());
        }
        let name = format!("bound{}", self.bounds);
        self.bounds += 1;
        let _ = writeln!(out, "{pad}let {name} = {};", self.expr(e)?.code);
        Ok(name)
    }

    fn value(&mut self, e: &KExpr, ty: Ty) -> Result<String> {
        Ok(self.expr(e)?.spread(ty.lanes, vector).code)
    }

    fn store(&mut self, buffer: u32, index: &KExpr, value: Text) -> Result<String> {
        let k = self.kernel.buffers[buffer as usize].binding as usize;
        let b = self.binding(k)?;
        let lanes = value.ty.lanes;
        let value = as_word(value, b.word).arg();
        Ok(match (b.form, lanes) {
            (Form::Quads, _) => format!("b{k}[{}] = {value}", self.quad_index(buffer, index)?.arg()),
            (_, 4) => {
                self.generated.insert(Generated::StoreQuad(k));
                format!("store4_b{k}({}, {value})", self.element_index(buffer, index, 4)?.arg())
            }
            (Form::Words, _) => format!("b{k}[{}] = {value}", self.element_index(buffer, index, 1)?.arg()),
            (Form::Atomic, _) => format!("atomicStore(&b{k}[{}], {value})", self.element_index(buffer, index, 1)?.arg()),
        })
    }

    // ---- memory ----

    fn binding(&self, k: usize) -> Result<Binding> {
        let missing = || Error::verify(format!("kernel {}", self.kernel.name), format!("storage binding {k} is not used"));
        self.bindings.get(k).copied().flatten().ok_or_else(missing)
    }

    /// Where an access starts, in elements of memory: the buffer's offset, which counts words, and the index times its lanes.
    fn element_index(&mut self, buffer: u32, index: &KExpr, lanes: u8) -> Result<Text> {
        let mut at = self.expr(index)?;
        if lanes == 4 {
            at = Text::new(format!("{} * 4", at.at(Binds::Product)), at.ty, Binds::Product);
        }
        Ok(match self.kernel.buffers[buffer as usize].offset {
            Some(p) => {
                self.offsets.insert(p);
                let offset = if self.is_halves(buffer) { format!("(o{p} << 1u)") } else { format!("o{p}") };
                plus(offset, &at)
            }
            None => at,
        })
    }

    fn is_halves(&self, buffer: u32) -> bool {
        let k = self.kernel.buffers[buffer as usize].binding as usize;
        self.bindings.get(k).copied().flatten().is_some_and(|b| b.is_halves())
    }

    /// Where a four-lane access lies, in groups of four elements. Buffers start at multiples of 64 words.
    fn quad_index(&mut self, buffer: u32, index: &KExpr) -> Result<Text> {
        let at = self.expr(index)?;
        Ok(match self.kernel.buffers[buffer as usize].offset {
            Some(p) => {
                self.offsets.insert(p);
                plus(format!("(o{p} >> {}u)", if self.is_halves(buffer) { 1 } else { 2 }), &at)
            }
            None => at,
        })
    }

    fn load(&mut self, buffer: u32, index: &KExpr, ty: Ty) -> Result<Text> {
        let k = self.kernel.buffers[buffer as usize].binding as usize;
        let b = self.binding(k)?;
        let code = match (b.form, ty.lanes) {
            (Form::Quads, 4) => format!("b{k}[{}]", self.quad_index(buffer, index)?.arg()),
            (Form::Quads, _) => {
                self.generated.insert(Generated::LoadWord(k));
                format!("load_b{k}({})", self.element_index(buffer, index, 1)?.arg())
            }
            (_, 4) => {
                self.generated.insert(Generated::LoadQuad(k));
                format!("load4_b{k}({})", self.element_index(buffer, index, 4)?.arg())
            }
            (Form::Words, _) => format!("b{k}[{}]", self.element_index(buffer, index, 1)?.arg()),
            (Form::Atomic, _) => format!("atomicLoad(&b{k}[{}])", self.element_index(buffer, index, 1)?.arg()),
        };
        Ok(as_value(Text::atom(code, Ty { dtype: b.word, ..ty }), ty.dtype))
    }

    // ---- expressions ----

    fn expr(&mut self, e: &KExpr) -> Result<Text> {
        if let Some((literal, lanes)) = fold(e) {
            return Ok(self.literal(literal).spread(lanes, vector));
        }
        let ty = self.kernel.type_of(e)?;
        Ok(match e {
            KExpr::Lit(l) => self.literal(*l),
            KExpr::Var(v) => Text::atom(format!("v{}", v.0), ty),
            KExpr::Param(i) => Text::atom(format!("p[{}].{}", i / 4, COMPONENTS[*i as usize % 4]), ty),
            KExpr::ParamAt(i) => {
                let i = self.expr(i)?;
                Text::atom(format!("p[{} >> 2u][{} & 3]", i.at(Binds::Atom), i.at(Binds::Atom)), ty)
            }
            KExpr::WorkgroupId(d) => Text::atom(format!("group.{}", COMPONENTS[*d as usize % 4]), ty),
            KExpr::LocalId(d) => Text::atom(format!("thread.{}", COMPONENTS[*d as usize % 4]), ty),
            KExpr::Scalar(op, args) => self.scalar(*op, args, ty)?,
            KExpr::Cast(dtype, x) => {
                let x = self.expr(x)?;
                self.cast(x, *dtype)
            }
            KExpr::Bitcast(dtype, x) => {
                let x = self.expr(x)?;
                if x.ty.dtype == *dtype { x } else { Text::atom(format!("bitcast<{}>({})", type_name(ty), x.arg()), ty) }
            }
            KExpr::Load { buffer, index, ty } => self.load(*buffer, index, *ty)?,
            KExpr::Shared { array, index } => {
                let code = format!("s{array}[{}]", self.expr(index)?.arg());
                if ty.dtype == DType::Bool {
                    as_value(Text::atom(code, Ty { dtype: DType::U32, ..ty }), DType::Bool)
                } else {
                    Text::atom(code, ty)
                }
            }
            KExpr::Lane(x, lane) => Text::atom(format!("{}.{}", self.expr(x)?.at(Binds::Atom), COMPONENTS[*lane as usize % 4]), ty),
            KExpr::Vec4(parts) => {
                let parts = parts.iter().map(|p| Ok(self.expr(p)?.arg())).collect::<Result<Vec<_>>>()?;
                Text::atom(format!("{}({})", type_name(ty), parts.join(", ")), ty)
            }
            KExpr::Shuffle(..) | KExpr::SharedQuad { .. } => return Err(super::no_subgroups(self.kernel, "WGSL")),
        })
    }

    fn scalar(&mut self, op: ScalarOp, args: &[KExpr], ty: Ty) -> Result<Text> {
        let positive_divisor = args.get(1).is_some_and(|d| self.signs.is_positive(d));
        let times_zero = args.iter().position(|a| op == ScalarOp::Mul && is_float_zero(a));
        let mut args = args.iter().map(|a| self.expr(a)).collect::<Result<Vec<Text>>>()?;
        let operand = args[if op == ScalarOp::Select { 1 } else { 0 }].ty.dtype;
        let spelling = spell(op, operand).ok_or_else(|| {
            Error::unsupported(format!("{} of {operand} in WGSL", op.name()), "cast the operands to a type that the operation takes")
        })?;
        let lanes = args.iter().map(|a| a.ty.lanes).max().unwrap_or(1);
        let helper = |printer: &mut Self, name: &'static str, args: Vec<Text>| {
            let list = args.into_iter().map(|a| a.spread(lanes, vector).arg()).collect::<Vec<_>>().join(", ");
            let wide = if lanes == 4 { "x4" } else { "" };
            if lanes == 4 {
                printer.generated.insert(Generated::Lanes(name));
            } else {
                printer.helpers.insert(name);
            }
            Text::atom(format!("{name}{wide}({list})"), ty)
        };
        if let Some(zero) = times_zero {
            args.remove(zero);
            return Ok(helper(self, "times_zero_f32", args));
        }
        let out = match spelling {
            Spelling::Prefix(operator) => Text::new(format!("{operator}{}", args[0].at(Binds::Atom)), ty, Binds::Unary),
            // Arithmetic with one scalar and one vector operand is WGSL's own.
            Spelling::Arithmetic(operator) => arithmetic(operator, &args, ty),
            Spelling::Divide(operator, _) if positive_divisor => arithmetic(operator, &args, ty),
            Spelling::Divide(_, name) => helper(self, name, args),
            Spelling::Infix(operator) => {
                let [a, b] = spread_all(args, lanes);
                Text::new(format!("{} {operator} {}", a.at(Binds::Unary), b.at(Binds::Unary)), ty, Binds::Never)
            }
            Spelling::Shift(operator) => {
                let [a, b] = spread_all(args, lanes);
                let count = match b.code.trim_end_matches('u').parse::<u32>() {
                    Ok(n) => format!("{}u", n & 31),
                    Err(_) => {
                        let unsigned = type_name(Ty { dtype: DType::U32, lanes });
                        format!("({unsigned}({}) & {unsigned}(31u))", b.arg())
                    }
                };
                Text::new(format!("{} {operator} {count}", a.at(Binds::Unary)), ty, Binds::Never)
            }
            Spelling::Reciprocal => Text::new(format!("1.0f / {}", args[0].at(Binds::Unary)), ty, Binds::Product),
            Spelling::Select => {
                let width = args[1].ty.lanes.max(args[2].ty.lanes).max(lanes);
                let [condition, yes, no] = args.try_into().unwrap_or_else(|_| unreachable!("the verifier counts operands"));
                let (yes, no) = (yes.spread(width, vector), no.spread(width, vector));
                Text::atom(format!("select({}, {}, {})", no.arg(), yes.arg(), condition.arg()), ty)
            }
            Spelling::Builtin(name) => {
                let list = args.into_iter().map(|a| a.spread(lanes, vector).arg()).collect::<Vec<_>>().join(", ");
                Text::atom(format!("{name}({list})"), ty)
            }
            Spelling::Helper(name) => helper(self, name, args),
        };
        Ok(if op.is_exact() { out } else { self.round(out) })
    }

    /// Rounds a value that was computed as f32 to its narrow type.
    fn round(&mut self, x: Text) -> Text {
        let name = match x.ty.dtype {
            DType::F16 => "round_f16_f32",
            DType::BF16 => "round_bf16_f32",
            _ => return x,
        };
        self.call(name, x)
    }

    fn call(&mut self, name: &'static str, x: Text) -> Text {
        if x.ty.lanes == 4 {
            self.generated.insert(Generated::Lanes(name));
            return Text::atom(format!("{name}x4({})", x.arg()), x.ty);
        }
        self.helpers.insert(name);
        Text::atom(format!("{name}({})", x.arg()), x.ty)
    }

    fn cast(&mut self, x: Text, dtype: DType) -> Text {
        let ty = Ty { dtype, ..x.ty };
        match (x.ty.dtype, dtype) {
            (a, b) if a == b => x,
            (a, DType::F32) if a.is_float() => Text { ty, ..x },
            (a, DType::Bool) if a != DType::Bool => {
                let zero = type_zero(x.ty);
                if a.is_float() {
                    // NaN is true: see `ne_f32`.
                    return Text::new(format!("!({} == {zero})", x.at(Binds::Unary)), ty, Binds::Unary);
                }
                Text::new(format!("{} != {zero}", x.at(Binds::Unary)), ty, Binds::Never)
            }
            (a, DType::U32) if a.is_float() => {
                let call = self.call("to_u32_f32", x);
                Text { ty, ..call }
            }
            (a, b) => {
                let converted =
                    if a.is_float() && b.is_float() { Text { ty, ..x } } else { Text::atom(format!("{}({})", type_name(ty), x.code), ty) };
                self.round(converted)
            }
        }
    }

    fn literal(&mut self, l: Literal) -> Text {
        let ty = Ty::scalar(l.dtype);
        let v = l.value();
        match l.dtype {
            DType::Bool => Text::atom(if v != 0.0 { "true" } else { "false" }, ty),
            DType::U32 => Text::atom(format!("{}u", v as u32), ty),
            DType::I32 if v as i32 == i32::MIN => Text::atom("bitcast<i32>(0x80000000u)", ty),
            DType::I32 => Text::new(format!("{}", v as i32), ty, if v < 0.0 { Binds::Unary } else { Binds::Atom }),
            _ => {
                let v = v as f32;
                let special = if v.is_nan() {
                    "nan_f32"
                } else if v > 0.0 {
                    "inf_f32"
                } else {
                    "neg_inf_f32"
                };
                if !v.is_finite() {
                    self.helpers.insert(special);
                    return Text::atom(format!("{special}()"), ty);
                }
                // Rust writes the shortest digits that read back as the same f32. Front ends differ on the extremes.
                let plain = v == 0.0 && v.is_sign_positive() || (1e-30..1e30).contains(&v.abs());
                if !plain {
                    return Text::atom(format!("bitcast<f32>(0x{:08x}u)", v.to_bits()), ty);
                }
                Text::new(format!("{v:?}f"), ty, if v < 0.0 { Binds::Unary } else { Binds::Atom })
            }
        }
    }

    /// Whether an expression has the same value on every turn of a loop and is cheap.
    fn is_fixed(&self, e: &KExpr) -> bool {
        match e {
            KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) | KExpr::LocalId(_) => true,
            KExpr::Var(v) => !self.is_assigned(*v),
            _ => false,
        }
    }

    fn is_assigned(&self, v: Var) -> bool {
        let mut found = false;
        visit(&self.kernel.body, &mut |s| found |= matches!(s, Stmt::Assign(w, _) if *w == v));
        found
    }
}

fn plus(offset: String, index: &Text) -> Text {
    match index.code.as_str() {
        "0" => Text::new(offset, index.ty, Binds::Atom),
        _ => Text::new(format!("{offset} + {}", index.at(Binds::Product)), index.ty, Binds::Sum),
    }
}

fn is_float_zero(e: &KExpr) -> bool {
    matches!(e, KExpr::Lit(l) if l.dtype.is_float() && l.value() == 0.0 && l.value().is_sign_positive())
}

fn spread_all<const N: usize>(args: Vec<Text>, lanes: u8) -> [Text; N] {
    let spread: Vec<Text> = args.into_iter().map(|a| a.spread(lanes, vector)).collect();
    spread.try_into().unwrap_or_else(|_| unreachable!("the verifier counts operands"))
}

#[cfg(test)]
mod tests;
