//! The text of a [`LoopProgram`].
//!
//! ```text
//! loops step
//! where B in 2..=65536 = hint 64 from arg0.dim0
//! {
//!   buffer %x: f32[B, 64] = input 0
//!   buffer %w: f32[10, 64] = input 1
//!   buffer %h: f32[B, 10] = temp
//!
//!   nest i0: B, i1: 10 inner i2: 64 {  # [0]
//!     v0 = load %x[i0, i2] : f32
//!     v1 = load %w[i1, i2] : f32
//!     v2 = mul v0, v1 : f32
//!     v3 = reduce.sum[i2] v2 : f32
//!     store %h[i0, i1] = v3
//!   }
//! }
//! ```
//!
//! A chain of steps is `nest i0: B steps {` with a `step i0: B, i1: 64 { .. }` for each.
//!
//! A collective is `nest all_reduce[world: 4, sum] %y <- %x {` and has nothing inside.
//!
//! Axes that no nest runs over are declared before the nests: `axes i7: 64, i8: B`.

use super::collective::{parse_collective, print_collective};
use super::expr::{Resolve, parse_expr};
use super::lexer::{Cursor, Token, is_dotted, name_or_quoted, quote};
use super::shape::{
    SymbolTable, Symbols, align, literal, numbered, origin, parse_dtype, parse_header, parse_literal, parse_origins, parse_type,
    usable_names,
};
use crate::collective::{Exchange, IN_BROWSER};
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Atom, AxisId, Expr};
use crate::loops::{Buffer, BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store, ValId};
use crate::prim::ReduceOp;
use crate::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

// ---- printing ----

pub fn print_loops(p: &LoopProgram) -> String {
    let symbols = Symbols::new(&p.env);
    let usable = usable_names(p.buffers.iter().map(|b| Some(b.name.as_str())), is_dotted);
    let buffer = |b: BufferId| match usable.get(b.0 as usize).copied().flatten() {
        Some(n) => format!("%{n}"),
        None => format!("%{}", b.0),
    };
    let head = name_or_quoted(&p.name);
    let header = symbols.header(&p.env);
    let mut out = if header.is_empty() { format!("loops {head} {{\n") } else { format!("loops {head}\n{header}{{\n") };
    for (i, b) in p.buffers.iter().enumerate() {
        let alias = if usable[i].is_some() { String::new() } else { format!(" {}", quote(&b.name)) };
        let kind = match b.kind {
            BufferKind::Input(k) => format!("input {k}"),
            BufferKind::Update(k) => format!("update {k}"),
            BufferKind::Result(k) => format!("result {k}"),
            BufferKind::Temp => "temp".into(),
        };
        out.push_str(&format!("  buffer {}{alias}: {}{} = {kind}\n", buffer(BufferId(i as u32)), b.dtype, symbols.list(&b.shape)));
    }
    let unused = (0..p.axes.len() as u32).map(AxisId).filter(|a| {
        let over = |n: &Nest| n.axes.contains(a) || n.inner.contains(a);
        !p.nests.iter().any(|n| over(n) || n.steps.iter().any(over))
    });
    let unused: Vec<String> = unused.map(|a| format!("i{}: {}", a.0, symbols.expr(p.extent(a)))).collect();
    if !unused.is_empty() {
        out.push_str(&format!("  axes {}\n", unused.join(", ")));
    }
    for n in &p.nests {
        out.push('\n');
        print_nest(p, n, "  nest ", &symbols, &buffer, &mut out);
    }
    out.push_str("}\n");
    out
}

fn print_nest(p: &LoopProgram, n: &Nest, word: &str, symbols: &Symbols, buffer: &dyn Fn(BufferId) -> String, out: &mut String) {
    let axes = |list: &[AxisId]| {
        let extent = |a: &AxisId| p.axes.get(a.0 as usize).map_or("?".into(), |e| symbols.expr(e));
        list.iter().map(|a| format!("i{}: {}", a.0, extent(a))).collect::<Vec<_>>().join(", ")
    };
    let mut head = String::from(word);
    if let (Some(e), false) = (&n.exchange, IN_BROWSER) {
        head.push_str(&format!("{} {} <- {} ", print_collective(&e.collective), buffer(e.to), buffer(e.from)));
    }
    if !n.axes.is_empty() {
        head.push_str(&format!("{} ", axes(&n.axes)));
    }
    if !n.inner.is_empty() {
        head.push_str(&format!("inner {} ", axes(&n.inner)));
    }
    head.push_str(if n.steps.is_empty() { "{" } else { "steps {" });
    // An empty list and a list of one empty origin are told apart by the brackets.
    let origins = n.origins.iter().map(|o| if o.nodes.is_empty() { format!("[] {}", origin(o)).trim_end().to_string() } else { origin(o) });
    let note = origins.collect::<Vec<_>>().join("; ");
    let vals = |vs: &[ValId]| vs.iter().map(|v| format!("v{}", v.0)).collect::<Vec<_>>().join(", ");
    let mut lines = vec![(head, note)];
    for (i, (op, dtype)) in n.ops.iter().enumerate() {
        let text = match op {
            LoopOp::Const(l) => format!("const {}", literal(*l)),
            LoopOp::Index(e) => format!("index {}", symbols.expr(e)),
            LoopOp::Load { buffer: b, index, mask } => {
                let mask = mask.map_or(String::new(), |m| format!(" if v{}", m.0));
                format!("load {}{}{mask}", buffer(*b), symbols.list(index))
            }
            LoopOp::Scalar(s, args) => format!("{} {}", s.name(), vals(args)),
            LoopOp::Cast(_, v) => format!("cast v{}", v.0),
            LoopOp::Bitcast(_, v) => format!("bitcast v{}", v.0),
            LoopOp::Reduce { op, axes, value } => {
                let axes = axes.iter().map(|a| format!("i{}", a.0)).collect::<Vec<_>>().join(", ");
                format!("reduce.{}[{axes}] v{}", op.name(), value.0)
            }
        };
        lines.push((format!("    v{i} = {text} : {dtype}"), String::new()));
    }
    for s in &n.stores {
        let assign = if s.add { "+=" } else { "=" };
        lines.push((format!("    store {}{} {assign} v{}", buffer(s.buffer), symbols.list(&s.index), s.value.0), String::new()));
    }
    if !n.steps.is_empty() {
        out.push_str(&align(std::mem::take(&mut lines)));
        n.steps.iter().for_each(|s| print_nest(p, s, "  step ", symbols, buffer, out));
    }
    lines.push(("  }".into(), String::new()));
    out.push_str(&align(lines));
}

// ---- parsing ----

struct Parser<'a> {
    c: Cursor<'a>,
    p: LoopProgram,
    symbols: SymbolTable,
    buffers: FxHashMap<&'a str, BufferId>,
    axes: BTreeMap<u32, Expr>,
    /// Whether the present nest is a step.
    steps: bool,
}

/// Reads one program. The result is well formed, not verified: see [`LoopProgram::verify`].
pub fn parse_loops(text: &str) -> Result<LoopProgram> {
    let mut c = Cursor::new(text, true)?;
    c.word("loops")?;
    let mut p = LoopProgram { name: c.name("the program's name")?, ..LoopProgram::default() };
    let symbols = parse_header(&mut c, &mut p.env)?;
    let mut parser = Parser { c, p, symbols, buffers: FxHashMap::default(), axes: BTreeMap::new(), steps: false };
    parser.c.expect("{")?;
    while !parser.c.eat("}") {
        if parser.c.eat_word("buffer") {
            parser.buffer()?;
        } else if parser.c.eat_word("axes") {
            parser.axes()?;
        } else if parser.c.eat_word("nest") {
            let nest = parser.nest()?;
            parser.p.nests.push(nest);
        } else {
            return parser.c.expected("`buffer`, `axes`, `nest` or `}`");
        }
    }
    if *parser.c.peek() != Token::End {
        return parser.c.expected("the end of the text");
    }
    for (i, (id, extent)) in parser.axes.into_iter().enumerate() {
        if id as usize != i {
            return Err(parser.c.error(format!("axes are numbered without gaps: i{i} is missing, i{id} is there")));
        }
        parser.p.axes.push(extent);
    }
    Ok(parser.p)
}

impl<'a> Parser<'a> {
    fn buffer(&mut self) -> Result<()> {
        let at = self.c.position();
        let Token::Value(shown) = *self.c.peek() else { return self.c.expected("a buffer such as `%x`") };
        self.c.next();
        let index = self.p.buffers.len() as u32;
        let number = shown.starts_with(|c: char| c.is_ascii_digit());
        if number && shown.parse() != Ok(index) || !number && !is_dotted(shown) {
            return Err(self.c.error_from(at, format!("a buffer is %{index} or has a name")));
        }
        if self.buffers.insert(shown, BufferId(index)).is_some() {
            return Err(self.c.error_from(at, format!("%{shown} is declared twice")));
        }
        let name = self.c.eat_string().unwrap_or_else(|| shown.to_string());
        self.c.expect(":")?;
        let ty = parse_type(&mut self.c, &|n| self.symbols.get(n))?;
        self.c.expect("=")?;
        let at = self.c.position();
        let kind = match self.c.ident("`input`, `update`, `result` or `temp`")? {
            "input" => BufferKind::Input(self.c.u32()? as usize),
            "update" => BufferKind::Update(self.c.u32()? as usize),
            "result" => BufferKind::Result(self.c.u32()? as usize),
            "temp" => BufferKind::Temp,
            k => return Err(self.c.error_from(at, format!("`{k}` is not `input`, `update`, `result` or `temp`"))),
        };
        self.p.buffers.push(Buffer { name, dtype: ty.dtype, shape: ty.shape, kind });
        Ok(())
    }

    fn axis(&mut self) -> Result<AxisId> {
        let at = self.c.position();
        let name = self.c.ident("an axis such as `i0`")?;
        let Some(id) = numbered(name, 'i') else {
            return Err(self.c.error_from(at, format!("`{name}` is not an axis such as `i0`")));
        };
        self.c.expect(":")?;
        let extent = parse_expr(&mut self.c, &|n| self.symbols.get(n))?;
        if let Some(old) = self.axes.get(&id)
            && *old != extent
        {
            return Err(self.c.error_from(at, format!("i{id} has another extent where it was declared before")));
        }
        self.axes.insert(id, extent);
        Ok(AxisId(id))
    }

    fn axes(&mut self) -> Result<Vec<AxisId>> {
        let mut out = vec![self.axis()?];
        while self.c.eat(",") {
            out.push(self.axis()?);
        }
        Ok(out)
    }

    fn nest(&mut self) -> Result<Nest> {
        let mut n = Nest { exchange: self.exchange()?, ..Nest::default() };
        if n.exchange.is_none() && !self.c.at_punct("{") && !self.c.at_word("inner") && !self.c.at_word("steps") {
            n.axes = self.axes()?;
        }
        if self.c.eat_word("inner") {
            n.inner = self.axes()?;
        }
        let steps = self.c.eat_word("steps");
        self.c.expect("{")?;
        n.origins = parse_origins(&mut self.c)?;
        while steps && self.c.eat_word("step") {
            // Steps have none themselves.
            if self.steps {
                return self.c.expected("an operation: steps have no steps");
            }
            self.steps = true;
            let step = self.nest();
            self.steps = false;
            n.steps.push(step?);
        }
        while !self.c.eat("}") {
            if self.c.eat_word("store") {
                let (buffer, index) = self.element(&n)?;
                let add = self.c.eat("+=");
                if !add {
                    self.c.expect("=")?;
                }
                let value = self.val(&n)?;
                n.stores.push(Store { buffer, index, value, add });
            } else {
                let at = self.c.position();
                let name = self.c.ident("an operation such as `v0 = ..`, `store` or `}`")?;
                let next = n.ops.len();
                if numbered(name, 'v') != Some(next as u32) || !n.stores.is_empty() {
                    return Err(self.c.error_from(at, format!("expected v{next} or `store`; stores come last, found `{name}`")));
                }
                self.c.expect("=")?;
                let op = self.op(&n)?;
                n.ops.push(op);
            }
        }
        Ok(n)
    }

    fn exchange(&mut self) -> Result<Option<Exchange>> {
        if IN_BROWSER {
            return Ok(None);
        }
        let Token::Ident(name) = *self.c.peek() else { return Ok(None) };
        if numbered(name, 'i').is_some() || matches!(name, "inner" | "steps") {
            return Ok(None);
        }
        let at = self.c.position();
        self.c.next();
        let Some(collective) = parse_collective(&mut self.c, name) else {
            return Err(self.c.error_from(at, format!("`{name}` is neither an axis such as `i0` nor a collective")));
        };
        let (collective, to) = (collective?, self.buffer_name()?);
        self.c.expect("<-")?;
        Ok(Some(Exchange { collective, from: self.buffer_name()?, to }))
    }

    fn buffer_name(&mut self) -> Result<BufferId> {
        let at = self.c.position();
        let Token::Value(name) = *self.c.peek() else { return self.c.expected("a buffer such as `%x`") };
        self.c.next();
        self.buffers.get(name).copied().ok_or_else(|| self.c.error_from(at, format!("the buffer %{name} is not declared")))
    }

    /// Reads with names of sizes, of declared axes and of the nest's values so far.
    fn with_names<T>(&mut self, n: &Nest, f: impl FnOnce(&mut Cursor<'a>, &Resolve) -> Result<T>) -> Result<T> {
        let (symbols, axes) = (&self.symbols, &self.axes);
        f(&mut self.c, &|name| {
            let axis = || numbered(name, 'i').filter(|i| axes.contains_key(i)).map(|i| Atom::Axis(AxisId(i)));
            let value = || numbered(name, 'v').filter(|v| (*v as usize) < n.ops.len()).map(Atom::Value);
            symbols.get(name).or_else(axis).or_else(value)
        })
    }

    fn element(&mut self, n: &Nest) -> Result<(BufferId, Vec<Expr>)> {
        let buffer = self.buffer_name()?;
        let index = self.with_names(n, |c, names| c.list("[", "]", |c| parse_expr(c, names)))?;
        Ok((buffer, index))
    }

    fn val(&mut self, n: &Nest) -> Result<ValId> {
        let at = self.c.position();
        let name = self.c.ident("a value such as `v0`")?;
        let v = numbered(name, 'v').filter(|v| (*v as usize) < n.ops.len());
        v.map(ValId).ok_or_else(|| self.c.error_from(at, format!("`{name}` is not a value defined before this")))
    }

    fn declared_axis(&mut self) -> Result<AxisId> {
        let at = self.c.position();
        let name = self.c.ident("an axis such as `i0`")?;
        let axis = numbered(name, 'i').filter(|i| self.axes.contains_key(i));
        axis.map(AxisId).ok_or_else(|| self.c.error_from(at, format!("the axis `{name}` is not declared")))
    }

    fn op(&mut self, n: &Nest) -> Result<(LoopOp, DType)> {
        let at = self.c.position();
        let name = self.c.ident("an operation")?;
        let op = match name {
            "const" => {
                // The type comes after the digits but decides how they round.
                let digits = self.c.position();
                self.c.eat("-");
                self.c.next();
                self.c.expect(":")?;
                let dtype = parse_dtype(&mut self.c)?;
                let end = self.c.position();
                self.c.seek(digits);
                let l = parse_literal(&mut self.c, dtype)?;
                self.c.seek(end);
                return Ok((LoopOp::Const(l), dtype));
            }
            "index" => LoopOp::Index(self.with_names(n, |c, names| parse_expr(c, names))?),
            "load" => {
                let (buffer, index) = self.element(n)?;
                let mask = if self.c.eat_word("if") { Some(self.val(n)?) } else { None };
                LoopOp::Load { buffer, index, mask }
            }
            "cast" | "bitcast" => {
                let v = self.val(n)?;
                self.c.expect(":")?;
                let dtype = parse_dtype(&mut self.c)?;
                return Ok((if name == "cast" { LoopOp::Cast(dtype, v) } else { LoopOp::Bitcast(dtype, v) }, dtype));
            }
            _ => {
                if let Some(op) = name.strip_prefix("reduce.").and_then(ReduceOp::from_name) {
                    let axes = {
                        let mut axes = Vec::new();
                        self.c.expect("[")?;
                        while !self.c.at_punct("]") {
                            axes.push(self.declared_axis()?);
                            if !self.c.eat(",") {
                                break;
                            }
                        }
                        self.c.expect("]")?;
                        axes
                    };
                    LoopOp::Reduce { op, axes, value: self.val(n)? }
                } else if let Some(op) = ScalarOp::from_name(name) {
                    let mut args = vec![self.val(n)?];
                    while self.c.eat(",") {
                        args.push(self.val(n)?);
                    }
                    LoopOp::Scalar(op, args)
                } else {
                    return Err(self.c.error_from(at, format!("there is no operation `{name}`")));
                }
            }
        };
        self.c.expect(":")?;
        Ok((op, parse_dtype(&mut self.c)?))
    }
}
