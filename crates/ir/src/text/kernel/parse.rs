//! Parsing kernels: recursive descent, precedence climbing for expressions.

use super::{COMPARE, INFIX, is_free_name, lane_name};
use crate::dtype::{DType, Literal};
use crate::error::Result;
use crate::kernel::warpgroup::KernelMap;
use crate::kernel::{KExpr, Kernel, KernelBuffer, MatrixOp, SharedArray, Stmt, Ty, Var, int};
use crate::scalar::ScalarOp;
use crate::text::lexer::{Cursor, Token};
use crate::text::shape::{checked_literal, number, numbered, parse_dtype};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How deep an expression's tree may be: dropping and printing recurse over it.
const MAX_TREE: usize = 256;

#[derive(Clone, Copy)]
enum Thing {
    Param(u32),
    Buffer(u32),
    Shared(u32),
}

pub(super) struct Parser<'a> {
    pub(super) c: Cursor<'a>,
    k: Kernel,
    names: FxHashMap<&'a str, Thing>,
    vars: BTreeMap<u32, Ty>,
}

/// Reads one kernel. The result is well formed, not verified: see [`Kernel::verify`].
pub fn parse_kernel(text: &str) -> Result<Kernel> {
    let mut c = Cursor::new(text, false)?;
    c.word("kernel")?;
    let name = c.name("the kernel's name")?;
    c.word("workgroup")?;
    let size = c.list("(", ")", Cursor::u32)?;
    let Ok(workgroup_size) = <[u32; 3]>::try_from(size) else { return Err(c.error("a workgroup has three sizes")) };
    let k = Kernel { name, workgroup_size, params: vec![], buffers: vec![], shared: vec![], maps: vec![], vars: vec![], body: vec![] };
    let mut p = Parser { c, k, names: FxHashMap::default(), vars: BTreeMap::new() };
    p.c.expect("{")?;
    p.declarations()?;
    p.k.body = p.block()?;
    if *p.c.peek() != Token::End {
        return p.c.expected("the end of the text");
    }
    for (i, (id, ty)) in p.vars.into_iter().enumerate() {
        if id as usize != i {
            return Err(p.c.error(format!("registers are numbered without gaps: r{i} is missing, r{id} is there")));
        }
        p.k.vars.push(ty);
    }
    Ok(p.k)
}

impl<'a> Parser<'a> {
    fn declare(&mut self, thing: Thing) -> Result<String> {
        let at = self.c.position();
        let shown = self.c.ident("a name")?;
        let numbered_name = match thing {
            Thing::Param(i) => format!("$p{i}"),
            Thing::Buffer(i) => format!("$b{i}"),
            Thing::Shared(i) => format!("$s{i}"),
        };
        if shown != numbered_name && !is_free_name(shown) {
            return Err(self.c.error_from(at, format!("`{shown}` cannot name this; without a name it is `{numbered_name}`")));
        }
        if self.names.insert(shown, thing).is_some() {
            return Err(self.c.error_from(at, format!("`{shown}` is declared twice")));
        }
        Ok(self.c.eat_string().unwrap_or_else(|| shown.to_string()))
    }

    fn declarations(&mut self) -> Result<()> {
        loop {
            if self.c.eat_word("param") {
                let name = self.declare(Thing::Param(self.k.params.len() as u32))?;
                self.k.params.push(name);
            } else if self.c.eat_word("buffer") {
                let name = self.declare(Thing::Buffer(self.k.buffers.len() as u32))?;
                self.c.expect(":")?;
                let dtype = parse_dtype(&mut self.c)?;
                self.c.expect("=")?;
                self.c.word("binding")?;
                let binding = self.c.u32()?;
                let mut offset = None;
                if self.c.eat_word("at") {
                    let at = self.c.position();
                    let param = self.c.ident("a parameter")?;
                    let Some(Thing::Param(i)) = self.names.get(param) else {
                        return Err(self.c.error_from(at, format!("`{param}` is not a parameter")));
                    };
                    offset = Some(*i);
                }
                self.k.buffers.push(KernelBuffer { name, dtype, binding, offset });
            } else if self.c.eat_word("shared") {
                let name = self.declare(Thing::Shared(self.k.shared.len() as u32))?;
                self.c.expect(":")?;
                let ty = self.ty()?;
                self.c.expect("[")?;
                let len = self.c.u32()?;
                self.c.expect("]")?;
                let mut view = None;
                if self.c.eat_word("of") {
                    let at = self.c.position();
                    let other = self.c.ident("a workgroup array")?;
                    let Some(Thing::Shared(i)) = self.names.get(other) else {
                        return Err(self.c.error_from(at, format!("`{other}` is not a workgroup array")));
                    };
                    view = Some(*i);
                }
                self.k.shared.push(SharedArray { name, ty, len, view });
            } else if self.c.eat_word("map") {
                let buffer = self.buffer()?;
                let sizes = self.c.list("(", ")", Cursor::u32)?;
                let windows = self.c.eat_word("windows");
                self.k.maps.push(KernelMap { buffer, sizes, windows });
            } else if self.c.eat_word("reg") {
                self.register()?;
            } else {
                return Ok(());
            }
        }
    }

    fn ty(&mut self) -> Result<Ty> {
        let at = self.c.position();
        let name = self.c.ident("a type")?;
        let (dtype, lanes) = name.split_once('x').unwrap_or((name, "1"));
        match (dtype.parse(), lanes.parse()) {
            (Ok(dtype), Ok(lanes)) => Ok(Ty { dtype, lanes }),
            _ => Err(self.c.error_from(at, format!("unknown type `{name}`: `f32` and `f32x4` are types"))),
        }
    }

    /// `r3: f32` where a register is declared.
    fn register(&mut self) -> Result<Var> {
        let at = self.c.position();
        let name = self.c.ident("a register such as `r0`")?;
        let Some(v) = numbered(name, 'r') else {
            return Err(self.c.error_from(at, format!("`{name}` is not a register such as `r0`")));
        };
        self.c.expect(":")?;
        let ty = self.ty()?;
        match self.vars.insert(v, ty) {
            Some(old) if old != ty => Err(self.c.error_from(at, format!("r{v} has another type where it was declared before"))),
            _ => Ok(Var(v)),
        }
    }

    /// Statements up to and with the closing brace.
    fn block(&mut self) -> Result<Vec<Stmt>> {
        let mut out = Vec::new();
        while !self.c.eat("}") {
            out.push(self.stmt()?);
        }
        Ok(out)
    }

    fn braced(&mut self) -> Result<Vec<Stmt>> {
        self.c.expect("{")?;
        self.depth(|p| p.block())
    }

    // The cursor's nesting guard around a parser that needs all of `self`.
    fn depth<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.c.enter()?;
        let out = f(self);
        self.c.leave();
        out
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let at = self.c.position();
        let word = self.c.ident("a statement or `}`")?;
        Ok(match word {
            "let" | "var" => {
                let v = self.register()?;
                self.c.expect("=")?;
                let e = self.expr()?;
                if word == "let" { Stmt::Let(v, e) } else { Stmt::Mut(v, e) }
            }
            "for" => {
                let var = self.register()?;
                self.c.word("in")?;
                let start = self.expr()?;
                self.c.expect("..")?;
                let end = self.expr()?;
                let step = if self.c.eat_word("step") { self.expr()? } else { int(1) };
                Stmt::For { var, start, end, step, body: self.braced()? }
            }
            "if" => {
                let cond = self.expr()?;
                let then = self.braced()?;
                let otherwise = match (self.c.eat_word("else"), self.c.at_word("if")) {
                    (false, _) => vec![],
                    (true, true) => vec![self.depth(|p| p.stmt())?],
                    (true, false) => self.braced()?,
                };
                Stmt::If { cond, then, otherwise }
            }
            "barrier" => Stmt::Barrier,
            "copy" => self.copy()?,
            "commit" => Stmt::AsyncCommit,
            "wait" => {
                self.c.expect("(")?;
                let n = self.small()?;
                self.c.expect(")")?;
                Stmt::AsyncWait(n)
            }
            "mma" => self.mma()?,
            "warpgroup" => Stmt::Warpgroup(self.warpgroup()?),
            "pack" => self.pack()?,
            "matrix" => self.matrix()?,
            "atomic" => {
                let buffer = self.buffer()?;
                let index = self.index()?;
                self.c.expect("+=")?;
                Stmt::AtomicAdd { buffer, index, value: self.expr()? }
            }
            name => {
                if let Some(v) = numbered(name, 'r') {
                    self.declared(at, v)?;
                    self.c.expect("=")?;
                    return Ok(Stmt::Assign(Var(v), self.expr()?));
                }
                match self.names.get(name).copied() {
                    Some(Thing::Buffer(buffer)) => {
                        let index = self.index()?;
                        self.c.expect("=")?;
                        Stmt::Store { buffer, index, value: self.expr()? }
                    }
                    Some(Thing::Shared(array)) => {
                        let index = self.index()?;
                        self.c.expect("=")?;
                        Stmt::StoreShared { array, index, value: self.expr()? }
                    }
                    _ => return Err(self.c.error_from(at, format!("`{name}` is neither a statement, a register, a buffer nor an array"))),
                }
            }
        })
    }

    pub(super) fn buffer(&mut self) -> Result<u32> {
        let at = self.c.position();
        let name = self.c.ident("a buffer")?;
        match self.names.get(name) {
            Some(Thing::Buffer(buffer)) => Ok(*buffer),
            _ => Err(self.c.error_from(at, format!("`{name}` is not a buffer"))),
        }
    }

    pub(super) fn array(&mut self) -> Result<u32> {
        let at = self.c.position();
        let name = self.c.ident("a workgroup array")?;
        match self.names.get(name) {
            Some(Thing::Shared(array)) => Ok(*array),
            _ => Err(self.c.error_from(at, format!("`{name}` is not a workgroup array"))),
        }
    }

    /// Registers that are declared already, in parentheses.
    pub(super) fn registers(&mut self) -> Result<Vec<Var>> {
        let at = self.c.position();
        let list = self.c.list("(", ")", |c| {
            let at = c.position();
            let name = c.ident("a register such as `r0`")?;
            numbered(name, 'r').map(Var).ok_or_else(|| c.error_from(at, format!("`{name}` is not a register such as `r0`")))
        })?;
        list.iter().try_for_each(|v| self.declared(at, v.0))?;
        Ok(list)
    }

    fn declared(&self, at: usize, v: u32) -> Result<()> {
        if self.vars.contains_key(&v) {
            return Ok(());
        }
        Err(self.c.error_from(at, format!("r{v} is not declared before this")))
    }

    pub(super) fn index(&mut self) -> Result<KExpr> {
        self.c.expect("[")?;
        let e = self.expr()?;
        self.c.expect("]")?;
        Ok(e)
    }

    pub(super) fn expr(&mut self) -> Result<KExpr> {
        Ok(self.infix(COMPARE)?.0)
    }

    /// An expression and the depth of its tree.
    fn tree(&self, depth: usize, e: KExpr) -> Result<(KExpr, usize)> {
        if depth >= MAX_TREE {
            return Err(self.c.error(format!("an expression deeper than {MAX_TREE} operations: name a part with `let`")));
        }
        Ok((e, depth + 1))
    }

    /// Precedence climbing: operands bound at least as tightly as `floor`.
    fn infix(&mut self, floor: u8) -> Result<(KExpr, usize)> {
        let (mut left, mut depth) = self.depth(|p| p.operand())?;
        let mut compared = false;
        loop {
            let Token::Punct(text) = *self.c.peek() else { return Ok((left, depth)) };
            let Some((op, _, bind)) = INFIX.iter().find(|i| i.1 == text && i.2 >= floor) else { return Ok((left, depth)) };
            if *bind == COMPARE && std::mem::replace(&mut compared, true) {
                return Err(self.c.error("comparisons do not chain: use parentheses"));
            }
            self.c.next();
            let (right, d) = self.infix(bind + 1)?;
            (left, depth) = self.tree(depth.max(d), KExpr::Scalar(*op, vec![left, right]))?;
        }
    }

    fn operand(&mut self) -> Result<(KExpr, usize)> {
        let (mut e, mut depth) = self.primary()?;
        while self.c.eat(".") {
            let at = self.c.position();
            let lane = self.c.ident("a lane")?;
            let Some(k) = (0..4).find(|k| lane_name(*k) == lane) else {
                return Err(self.c.error_from(at, format!("`{lane}` is not one of the lanes x, y, z, w")));
            };
            (e, depth) = self.tree(depth, KExpr::Lane(Box::new(e), k))?;
        }
        Ok((e, depth))
    }

    /// A number below 256.
    pub(super) fn small(&mut self) -> Result<u8> {
        let at = self.c.position();
        u8::try_from(self.c.u32()?).map_err(|_| self.c.error_from(at, "is above 255"))
    }

    fn copy(&mut self) -> Result<Stmt> {
        let lanes = if self.c.eat(".") {
            let at = self.c.position();
            match self.c.ident("`vec2`, `vec4` or `vec8`")? {
                "vec2" => 2,
                "vec4" => 4,
                "vec8" => 8,
                other => return Err(self.c.error_from(at, format!("`{other}` is none of `vec2`, `vec4` and `vec8`"))),
            }
        } else {
            1
        };
        let array = self.array()?;
        let index = self.index()?;
        self.c.expect("=")?;
        let buffer = self.buffer()?;
        let from = self.index()?;
        let valid = if self.c.eat_word("if") { Some(self.expr()?) } else { None };
        Ok(Stmt::AsyncCopy { array, index, buffer, from, lanes, valid })
    }

    fn pack(&mut self) -> Result<Stmt> {
        let dtype = parse_dtype(&mut self.c)?;
        let to = self.register()?;
        self.c.expect("=")?;
        let at = self.c.position();
        let [low, high]: [KExpr; 2] = self.args()?.0.try_into().map_err(|_| self.c.error_from(at, "two elements make a word"))?;
        Ok(Stmt::Matrix(MatrixOp::Pack { to, dtype, low, high }))
    }

    fn matrix(&mut self) -> Result<Stmt> {
        let transposed = self.c.eat_word("transposed");
        let at = self.c.position();
        self.c.expect("(")?;
        let mut to = vec![self.register()?];
        while self.c.eat(",") {
            to.push(self.register()?);
        }
        self.c.expect(")")?;
        let to: [Var; 4] = to.try_into().map_err(|_| self.c.error_from(at, "four matrices are loaded at once"))?;
        self.c.expect("=")?;
        let at = self.c.position();
        let name = self.c.ident("a workgroup array")?;
        let Some(Thing::Shared(array)) = self.names.get(name).copied() else {
            return Err(self.c.error_from(at, format!("`{name}` is not a workgroup array")));
        };
        Ok(Stmt::Matrix(MatrixOp::Load { to, array, index: self.index()?, transposed }))
    }

    fn mma(&mut self) -> Result<Stmt> {
        let at = self.c.position();
        let narrow = ["f16", "bf16"].into_iter().any(|d| self.c.at_word(d));
        let dtype = if narrow { Some(parse_dtype(&mut self.c)?) } else { None };
        let acc = self.registers()?;
        self.c.expect("+=")?;
        let a = self.args()?.0;
        self.c.expect("*")?;
        let b = self.args()?.0;
        match (acc.try_into(), a.try_into(), b.try_into()) {
            (Ok(acc), Ok(a), Ok(b)) => Ok(match dtype {
                Some(dtype) => Stmt::Matrix(MatrixOp::Multiply { dtype, acc, a, b }),
                None => Stmt::Mma { acc, a, b },
            }),
            _ => Err(self.c.error_from(at, "mma takes four accumulators, four factors on the left and two on the right")),
        }
    }

    pub(super) fn args(&mut self) -> Result<(Vec<KExpr>, usize)> {
        let (mut args, mut depth) = (Vec::new(), 0);
        self.c.expect("(")?;
        while !self.c.at_punct(")") {
            let (e, d) = self.infix(COMPARE)?;
            depth = depth.max(d);
            args.push(e);
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect(")")?;
        Ok((args, depth))
    }

    fn one_arg(&mut self, at: usize) -> Result<(Box<KExpr>, usize)> {
        let (args, depth) = self.args()?;
        match <[KExpr; 1]>::try_from(args) {
            Ok([e]) => Ok((Box::new(e), depth)),
            Err(args) => Err(self.c.error_from(at, format!("takes one operand, got {}", args.len()))),
        }
    }

    fn primary(&mut self) -> Result<(KExpr, usize)> {
        let at = self.c.position();
        if self.c.eat("(") {
            let out = self.infix(COMPARE)?;
            self.c.expect(")")?;
            return Ok(out);
        }
        let name = match self.literal(at)? {
            Ok(literal) => return self.tree(0, KExpr::Lit(literal)),
            Err(name) => name,
        };
        if let Some(known) = self.keyword(at, name)? {
            return Ok(known);
        }
        if self.c.at_punct("(") {
            let Some(op) = ScalarOp::from_name(name) else {
                return Err(self.c.error_from(at, format!("there is no operation `{name}`")));
            };
            let (args, depth) = self.args()?;
            if args.len() != op.def().arity {
                return Err(self.c.error_from(at, format!("{name} takes {} operands, got {}", op.def().arity, args.len())));
            }
            return self.tree(depth, KExpr::Scalar(op, args));
        }
        if let Some(v) = numbered(name, 'r') {
            self.declared(at, v)?;
            return self.tree(0, KExpr::Var(Var(v)));
        }
        match self.names.get(name).copied() {
            Some(Thing::Param(p)) => self.tree(0, KExpr::Param(p)),
            Some(Thing::Buffer(buffer)) => {
                let vector = self.c.eat(".");
                if vector {
                    self.c.word("vec4")?;
                }
                let dtype = self.k.buffers[buffer as usize].dtype;
                let ty = if vector { Ty::vec4(dtype) } else { Ty::scalar(dtype) };
                self.c.expect("[")?;
                let (index, depth) = self.infix(COMPARE)?;
                self.c.expect("]")?;
                self.tree(depth, KExpr::Load { buffer, index: Box::new(index), ty })
            }
            Some(Thing::Shared(array)) => {
                let vector = self.c.eat(".");
                if vector {
                    self.c.word("vec4")?;
                }
                self.c.expect("[")?;
                let (index, depth) = self.infix(COMPARE)?;
                self.c.expect("]")?;
                let index = Box::new(index);
                self.tree(depth, if vector { KExpr::SharedQuad { array, index } } else { KExpr::Shared { array, index } })
            }
            None => Err(self.c.error_from(at, format!("`{name}` is not declared"))),
        }
    }

    /// A number, or the name that stands there instead.
    fn literal(&mut self, at: usize) -> Result<std::result::Result<Literal, &'a str>> {
        let negative = self.c.eat("-");
        if let Token::Number { digits, suffix } = *self.c.peek() {
            self.c.next();
            let whole = digits.bytes().all(|c| c.is_ascii_digit());
            let dtype = match suffix {
                "" if whole => DType::I32,
                "" => DType::F32,
                s => s.parse().map_err(|()| self.c.error_from(at, format!("unknown element type `{s}` after a number")))?,
            };
            if dtype == DType::Bool {
                return Err(self.c.error_from(at, "a bool is `true` or `false`"));
            }
            let value = number(digits, dtype);
            let l = checked_literal(&self.c, at, if negative { -value } else { value }, dtype)?;
            return Ok(Ok(l));
        }
        let name = self.c.ident("an expression")?;
        let (word, dtype) = match name.split_once('_') {
            Some((w @ ("inf" | "nan"), d)) => (w, d.parse::<DType>().ok()),
            _ => (name, Some(DType::F32)),
        };
        if let ("inf" | "nan", Some(dtype)) = (word, dtype) {
            let value = if word == "nan" { f64::NAN } else { f64::INFINITY };
            let l = checked_literal(&self.c, at, if negative { -value } else { value }, dtype)?;
            return Ok(Ok(l));
        }
        if negative {
            return Err(self.c.error_from(at, "a minus sign stands before a number: write neg(..)"));
        }
        Ok(Err(name))
    }

    /// An expression that a word begins.
    fn keyword(&mut self, at: usize, name: &str) -> Result<Option<(KExpr, usize)>> {
        match name {
            "true" | "false" => self.tree(0, KExpr::Lit(Literal::new((name == "true") as u8 as f64, DType::Bool))).map(Some),
            "workgroup_id" | "local_id" => {
                self.c.expect(".")?;
                let at = self.c.position();
                let lane = self.c.ident("x, y or z")?;
                let Some(k) = (0..3).find(|k| lane_name(*k) == lane) else {
                    return Err(self.c.error_from(at, format!("`{lane}` is not x, y or z")));
                };
                self.tree(0, if name == "local_id" { KExpr::LocalId(k) } else { KExpr::WorkgroupId(k) }).map(Some)
            }
            "cast" | "bitcast" => {
                self.c.expect("[")?;
                let dtype = parse_dtype(&mut self.c)?;
                self.c.expect("]")?;
                let (x, depth) = self.one_arg(at)?;
                self.tree(depth, if name == "cast" { KExpr::Cast(dtype, x) } else { KExpr::Bitcast(dtype, x) }).map(Some)
            }
            "param" => {
                let (x, depth) = self.one_arg(at)?;
                self.tree(depth, KExpr::ParamAt(x)).map(Some)
            }
            "shuffle" => {
                self.c.expect("(")?;
                let (x, depth) = self.infix(COMPARE)?;
                self.c.expect(",")?;
                let mask = self.small()?;
                self.c.expect(")")?;
                self.tree(depth, KExpr::Shuffle(Box::new(x), mask)).map(Some)
            }
            "vec4" => {
                let (args, depth) = self.args()?;
                self.tree(depth, KExpr::Vec4(args)).map(Some)
            }
            "load" => {
                self.c.expect("[")?;
                let ty = self.ty()?;
                self.c.expect("]")?;
                self.c.expect("(")?;
                let buffer = self.buffer()?;
                self.c.expect(",")?;
                let (index, depth) = self.infix(COMPARE)?;
                self.c.expect(")")?;
                self.tree(depth, KExpr::Load { buffer, index: Box::new(index), ty }).map(Some)
            }
            _ => Ok(None),
        }
    }
}
