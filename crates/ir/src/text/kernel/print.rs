//! Printing kernels.

use super::{COMPARE, INFIX, is_free_name, lane_name, ty_name};
use crate::dtype::DType;
use crate::kernel::{KExpr, Kernel, MatrixOp, Stmt, Var, int};
use crate::text::lexer::{name_or_quoted, quote};
use crate::text::shape::{literal, usable_names};

pub(super) struct Printer<'a> {
    k: &'a Kernel,
    params: Vec<Option<&'a str>>,
    buffers: Vec<Option<&'a str>>,
    shared: Vec<Option<&'a str>>,
    declared: Vec<bool>,
    out: String,
}

pub fn print_kernel(k: &Kernel) -> String {
    // One name space for parameters, buffers and arrays.
    let all = k.params.iter().chain(k.buffers.iter().map(|b| &b.name)).chain(k.shared.iter().map(|s| &s.name));
    let mut names = usable_names(all.map(|n| Some(n.as_str())), is_free_name);
    let shared = names.split_off(k.params.len() + k.buffers.len());
    let buffers = names.split_off(k.params.len());
    let mut p = Printer { k, params: names, buffers, shared, declared: vec![false; k.vars.len()], out: String::new() };
    p.mark(&k.body);
    let [x, y, z] = k.workgroup_size;
    let mut head = format!("kernel {} workgroup({x}, {y}, {z}) {{\n", name_or_quoted(&k.name));
    let alias = |usable: Option<&str>, own: &str| if usable.is_some() { String::new() } else { format!(" {}", quote(own)) };
    for (i, own) in k.params.iter().enumerate() {
        head.push_str(&format!("  param {}{}\n", p.param(i as u32), alias(p.params[i], own)));
    }
    for (i, b) in k.buffers.iter().enumerate() {
        let offset = b.offset.map_or(String::new(), |o| format!(" at {}", p.param(o)));
        let name = p.buffer(i as u32);
        head.push_str(&format!("  buffer {name}{}: {} = binding {}{offset}\n", alias(p.buffers[i], &b.name), b.dtype, b.binding));
    }
    for (i, s) in k.shared.iter().enumerate() {
        let view = s.view.map_or(String::new(), |of| format!(" of {}", p.array(of)));
        let name = alias(p.shared[i], &s.name);
        head.push_str(&format!("  shared {}{name}: {}[{}]{view}\n", p.array(i as u32), ty_name(s.ty), s.len));
    }
    for m in &k.maps {
        let sizes: Vec<String> = m.sizes.iter().map(u32::to_string).collect();
        let windows = if m.windows { " windows" } else { "" };
        head.push_str(&format!("  map {}({}){windows}\n", p.buffer(m.buffer), sizes.join(", ")));
    }
    for (i, t) in k.vars.iter().enumerate().filter(|(i, _)| !p.declared[*i]) {
        head.push_str(&format!("  reg r{i}: {}\n", ty_name(*t)));
    }
    head.push('\n');
    p.block(&k.body, 1);
    format!("{head}{}}}\n", p.out)
}

impl Printer<'_> {
    fn mark(&mut self, body: &[Stmt]) {
        for s in body {
            if let Stmt::Let(v, _) | Stmt::Mut(v, _) | Stmt::For { var: v, .. } = s
                && let Some(d) = self.declared.get_mut(v.0 as usize)
            {
                *d = true;
            }
            match s {
                Stmt::For { body, .. } => self.mark(body),
                Stmt::If { then, otherwise, .. } => {
                    self.mark(then);
                    self.mark(otherwise);
                }
                _ => {}
            }
        }
    }

    fn param(&self, i: u32) -> String {
        self.params.get(i as usize).copied().flatten().map_or_else(|| format!("$p{i}"), str::to_string)
    }

    fn buffer(&self, i: u32) -> String {
        self.buffers.get(i as usize).copied().flatten().map_or_else(|| format!("$b{i}"), str::to_string)
    }

    pub(super) fn array(&self, i: u32) -> String {
        self.shared.get(i as usize).copied().flatten().map_or_else(|| format!("$s{i}"), str::to_string)
    }

    fn register(&self, v: Var) -> String {
        let ty = self.k.vars.get(v.0 as usize).map_or("?".into(), |t| ty_name(*t));
        format!("r{}: {ty}", v.0)
    }

    fn block(&mut self, body: &[Stmt], depth: usize) {
        for s in body {
            self.out.push_str(&"  ".repeat(depth));
            self.stmt(s, depth);
            self.out.push('\n');
        }
    }

    fn stmt(&mut self, s: &Stmt, depth: usize) {
        let close = "  ".repeat(depth) + "}";
        match s {
            Stmt::Let(v, e) => self.out.push_str(&format!("let {} = {}", self.register(*v), self.expr(e))),
            Stmt::Mut(v, e) => self.out.push_str(&format!("var {} = {}", self.register(*v), self.expr(e))),
            Stmt::Assign(v, e) => self.out.push_str(&format!("r{} = {}", v.0, self.expr(e))),
            Stmt::Store { buffer, index, value } => {
                self.out.push_str(&format!("{}[{}] = {}", self.buffer(*buffer), self.expr(index), self.expr(value)));
            }
            Stmt::StoreShared { array, index, value } => {
                self.out.push_str(&format!("{}[{}] = {}", self.array(*array), self.expr(index), self.expr(value)));
            }
            Stmt::AtomicAdd { buffer, index, value } => {
                self.out.push_str(&format!("atomic {}[{}] += {}", self.buffer(*buffer), self.expr(index), self.expr(value)));
            }
            Stmt::For { var, start, end, step, body } => {
                let step = if *step == int(1) { String::new() } else { format!(" step {}", self.expr(step)) };
                self.out.push_str(&format!("for {} in {}..{}{step} {{\n", self.register(*var), self.expr(start), self.expr(end)));
                self.block(body, depth + 1);
                self.out.push_str(&close);
            }
            Stmt::If { cond, then, otherwise } => {
                self.out.push_str(&format!("if {} {{\n", self.expr(cond)));
                self.block(then, depth + 1);
                self.out.push_str(&close);
                match otherwise.as_slice() {
                    [] => {}
                    [inner @ Stmt::If { .. }] => {
                        self.out.push_str(" else ");
                        self.stmt(inner, depth);
                    }
                    list => {
                        self.out.push_str(" else {\n");
                        self.block(list, depth + 1);
                        self.out.push_str(&close);
                    }
                }
            }
            Stmt::Barrier => self.out.push_str("barrier"),
            Stmt::AsyncCopy { array, index, buffer, from, lanes, valid } => {
                let wide = if *lanes > 1 { format!(".vec{lanes}") } else { String::new() };
                let (to, from) = (format!("{}[{}]", self.array(*array), self.expr(index)), self.expr(from));
                let valid = valid.as_ref().map_or(String::new(), |v| format!(" if {}", self.expr(v)));
                self.out.push_str(&format!("copy{wide} {to} = {}[{from}]{valid}", self.buffer(*buffer)));
            }
            Stmt::Warpgroup(op) => {
                let text = self.warpgroup(op);
                self.out.push_str(&text);
            }
            Stmt::AsyncCommit => self.out.push_str("commit"),
            Stmt::AsyncWait(n) => self.out.push_str(&format!("wait({n})")),
            Stmt::Mma { acc, a, b } => {
                let list = |es: &[KExpr]| es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
                let acc = acc.map(|v| format!("r{}", v.0)).join(", ");
                let text = format!("mma({acc}) += ({}) * ({})", list(a), list(b));
                self.out.push_str(&text);
            }
            Stmt::Matrix(op) => {
                let list = |es: &[KExpr]| es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
                let new = |vs: &[Var]| vs.iter().map(|v| format!("r{}: u32", v.0)).collect::<Vec<_>>().join(", ");
                let text = match op {
                    MatrixOp::Pack { to, dtype, low, high } => {
                        format!("pack {dtype} {} = ({}, {})", new(&[*to]), self.expr(low), self.expr(high))
                    }
                    MatrixOp::Load { to, array, index, transposed } => {
                        let turned = if *transposed { " transposed" } else { "" };
                        format!("matrix{turned} ({}) = {}[{}]", new(to), self.array(*array), self.expr(index))
                    }
                    MatrixOp::Multiply { dtype, acc, a, b } => {
                        let acc = acc.map(|v| format!("r{}", v.0)).join(", ");
                        format!("mma {dtype} ({acc}) += ({}) * ({})", list(a), list(b))
                    }
                };
                self.out.push_str(&text);
            }
        }
    }

    pub(super) fn expr(&self, e: &KExpr) -> String {
        self.expr_at(e, 0)
    }

    /// `floor`: an infix expression that binds weaker than this is put in parentheses.
    fn expr_at(&self, e: &KExpr, floor: u8) -> String {
        let list = |es: &[KExpr]| es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
        match e {
            KExpr::Lit(l) => {
                let digits = literal(*l);
                let word = digits.ends_with(|c: char| c.is_ascii_alphabetic());
                match l.dtype {
                    DType::F32 | DType::I32 | DType::Bool => digits,
                    d if word => format!("{digits}_{d}"),
                    d => format!("{digits}{d}"),
                }
            }
            KExpr::Var(v) => format!("r{}", v.0),
            KExpr::Param(p) => self.param(*p),
            KExpr::ParamAt(i) => format!("param({})", self.expr_at(i, COMPARE)),
            KExpr::WorkgroupId(k) => format!("workgroup_id.{}", lane_name(*k)),
            KExpr::LocalId(k) => format!("local_id.{}", lane_name(*k)),
            KExpr::Scalar(op, args) => match (INFIX.iter().find(|i| i.0 == *op), args.as_slice()) {
                (Some((_, text, bind)), [a, b]) => {
                    // All of these associate to the left; comparisons not at all.
                    let left = if *bind == COMPARE { bind + 1 } else { *bind };
                    let s = format!("{} {text} {}", self.expr_at(a, left), self.expr_at(b, bind + 1));
                    if *bind < floor { format!("({s})") } else { s }
                }
                _ => format!("{}({})", op.name(), list(args)),
            },
            KExpr::Cast(d, x) => format!("cast[{d}]({})", self.expr(x)),
            KExpr::Bitcast(d, x) => format!("bitcast[{d}]({})", self.expr(x)),
            KExpr::Load { buffer, index, ty } => {
                let name = self.buffer(*buffer);
                let dtype = self.k.buffers.get(*buffer as usize).map(|b| b.dtype);
                match ty.lanes {
                    1 if dtype == Some(ty.dtype) => format!("{name}[{}]", self.expr(index)),
                    4 if dtype == Some(ty.dtype) => format!("{name}.vec4[{}]", self.expr(index)),
                    _ => format!("load[{}]({name}, {})", ty_name(*ty), self.expr(index)),
                }
            }
            KExpr::Shared { array, index } => format!("{}[{}]", self.array(*array), self.expr(index)),
            KExpr::SharedQuad { array, index } => format!("{}.vec4[{}]", self.array(*array), self.expr(index)),
            KExpr::Lane(x, k) => {
                let plain =
                    matches!(**x, KExpr::Var(_) | KExpr::Load { .. } | KExpr::Shared { .. } | KExpr::SharedQuad { .. } | KExpr::Vec4(_));
                let inner = self.expr(x);
                if plain { format!("{inner}.{}", lane_name(*k)) } else { format!("({inner}).{}", lane_name(*k)) }
            }
            KExpr::Vec4(es) => format!("vec4({})", list(es)),
            KExpr::Shuffle(x, mask) => format!("shuffle({}, {mask})", self.expr(x)),
        }
    }
}
