//! Building kernels, statement by statement: parameters, buffers and index arithmetic.

use aludel_ir::expr::{Atom, AxisId, Expr, Ranges};
use aludel_ir::kernel::warpgroup::KernelMap;
use aludel_ir::kernel::{self as k, KExpr, Kernel, KernelBuffer, SharedArray, Stmt, Ty, Var};
use aludel_ir::loops::{BufferId, LoopProgram};
use aludel_ir::order::Order;
use aludel_ir::program::TensorMap;
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::schedule::Scheduled;
use crate::schedule::grid::Grid;

/// Builds one kernel statement by statement.
pub(in crate::schedule) struct KernelBuilder {
    pub vars: Vec<Ty>,
    pub shared: Vec<SharedArray>,
    /// Open blocks; the last is the innermost.
    blocks: Vec<Vec<Stmt>>,
    sizes: Vec<Expr>,
    buffers: Vec<BufferId>,
    maps: Vec<TensorMap>,
}

/// The grid that a kernel under construction was given: it cannot be finished without one.
pub(in crate::schedule) struct Placed {
    grid: Grid,
    index: KExpr,
}

impl KernelBuilder {
    pub fn new() -> Self {
        KernelBuilder {
            vars: Vec::new(),
            shared: Vec::new(),
            blocks: vec![Vec::new()],
            sizes: Vec::new(),
            buffers: Vec::new(),
            maps: Vec::new(),
        }
    }

    pub fn stmt(&mut self, s: Stmt) {
        if let Some(b) = self.blocks.last_mut() {
            b.push(s);
        }
    }

    /// Statements that run where a condition holds, or always.
    pub fn stmts_where(&mut self, cond: Option<KExpr>, then: Vec<Stmt>) {
        match cond {
            Some(cond) => self.stmt(Stmt::If { cond, then, otherwise: vec![] }),
            None => then.into_iter().for_each(|s| self.stmt(s)),
        }
    }

    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Ends the innermost block and gives its statements.
    pub fn close(&mut self) -> Vec<Stmt> {
        self.blocks.pop().unwrap_or_default()
    }

    pub fn var(&mut self, ty: Ty) -> Var {
        self.vars.push(ty);
        Var(self.vars.len() as u32 - 1)
    }

    /// Names a value, unless it is a name or a constant already.
    pub fn bind(&mut self, e: KExpr, ty: Ty) -> KExpr {
        if matches!(e, KExpr::Var(_) | KExpr::Lit(_) | KExpr::Param(_)) {
            return e;
        }
        let v = self.var(ty);
        self.stmt(Stmt::Let(v, e));
        KExpr::Var(v)
    }

    /// Keeps a value as it is now, whatever is assigned to the register that held it.
    pub fn bind_copy(&mut self, e: KExpr) -> KExpr {
        let v = self.var(k::I32);
        self.stmt(Stmt::Let(v, e));
        KExpr::Var(v)
    }

    pub fn int(&mut self, e: KExpr) -> KExpr {
        self.bind(e, k::I32)
    }

    pub fn mutable(&mut self, e: KExpr, ty: Ty) -> Var {
        let v = self.var(ty);
        self.stmt(Stmt::Mut(v, e));
        v
    }

    pub fn shared(&mut self, name: &str, ty: Ty, len: u32) -> u32 {
        self.shared.push(SharedArray { name: name.into(), ty, len, view: None });
        self.shared.len() as u32 - 1
    }

    /// A size as a kernel value: a constant, or a launch parameter.
    pub fn size(&mut self, e: &Expr) -> KExpr {
        if let Some(c) = e.as_const() {
            return k::int(c);
        }
        self.parameter(e)
    }

    /// A size as a launch parameter, whether it is known or not: kernels that differ in it alone are one text.
    pub fn parameter(&mut self, e: &Expr) -> KExpr {
        let at = self.sizes.iter().position(|s| s == e).unwrap_or_else(|| {
            self.sizes.push(e.clone());
            self.sizes.len() - 1
        });
        KExpr::Param(at as u32)
    }

    pub fn buffer(&mut self, b: BufferId) -> u32 {
        let at = self.buffers.iter().position(|x| *x == b).unwrap_or_else(|| {
            self.buffers.push(b);
            self.buffers.len() - 1
        });
        at as u32
    }

    /// Declares a map, whose placement is the position of a buffer of the program.
    pub fn map(&mut self, map: TensorMap) -> u32 {
        self.buffer(BufferId(map.placement as u32));
        self.maps.push(map);
        self.maps.len() as u32 - 1
    }

    /// The index of this workgroup in its grid. What follows runs in the workgroups that have work only.
    pub fn group(&mut self, grid: Grid) -> (KExpr, Placed) {
        let index = match grid.folds() {
            true => self.int(grid.index()),
            false => grid.index(),
        };
        // The guarded part; `finish` closes it.
        self.open();
        (index.clone(), Placed { grid, index })
    }

    /// Finds the place of a linear index in axes, the last fastest.
    pub fn unflatten(&mut self, linear: KExpr, axes: &[AxisId], program: &LoopProgram, env: &mut FxHashMap<AxisId, KExpr>) {
        let mut rest = linear;
        for (i, a) in axes.iter().enumerate().rev() {
            if i == 0 {
                env.insert(*a, rest.clone());
                break;
            }
            let n = self.size(program.extent(*a));
            let r = self.int(k::rem(rest.clone(), n.clone()));
            env.insert(*a, r);
            rest = self.int(k::div(rest, n));
        }
    }

    /// An index expression as a kernel value. Size factors of a term become one parameter.
    pub fn expr(
        &mut self,
        e: &Expr,
        env: &FxHashMap<AxisId, KExpr>,
        values: &dyn Fn(u32) -> Option<KExpr>,
        ranges: &dyn Ranges,
    ) -> Result<KExpr> {
        // Terms grouped by their non-size factors, so that B*64*i is one parameter times i.
        let mut groups: Vec<(Vec<Atom>, Expr)> = Vec::new();
        for (m, c) in e.terms() {
            let (sizes, rest): (Vec<Atom>, Vec<Atom>) = m.iter().cloned().partition(|a| only_sizes(&Expr::atom(a.clone())));
            let coefficient = sizes.into_iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a)));
            match groups.iter_mut().find(|(r, _)| *r == rest) {
                Some((_, sum)) => *sum = sum.add(&coefficient),
                None => groups.push((rest, coefficient)),
            }
        }
        let mut sum: Option<KExpr> = None;
        // The constant part last.
        groups.order_by_key(|(r, _)| r.is_empty());
        for (atoms, coefficient) in groups {
            let mut product: Option<KExpr> = None;
            for a in atoms {
                let v = match &a {
                    Atom::Axis(x) => {
                        env.get(x).cloned().ok_or_else(|| Error::verify(format!("axis i{}", x.0), "is used where it does not run"))?
                    }
                    Atom::Value(v) => values(*v).ok_or_else(|| Error::verify(format!("value v{v}"), "is used before it is computed"))?,
                    Atom::FloorDiv(x, d) | Atom::Mod(x, d) => {
                        let floor = matches!(a, Atom::FloorDiv(..));
                        let positive = matches!(x.bounds(ranges), (Some(lo), _) if lo >= 0);
                        let (x, d) = (self.expr(x, env, values, ranges)?, self.expr(d, env, values, ranges)?);
                        match (positive, floor) {
                            (true, true) => k::div(x, d),
                            (true, false) => k::rem(x, d),
                            (false, true) => k::bin(ScalarOp::FloorDiv, x, d),
                            (false, false) => {
                                let q = k::bin(ScalarOp::FloorDiv, x.clone(), d.clone());
                                k::sub(x, k::mul(q, d))
                            }
                        }
                    }
                    Atom::Min(x, y) | Atom::Max(x, y) => {
                        let op = if matches!(a, Atom::Min(..)) { ScalarOp::Min } else { ScalarOp::Max };
                        k::bin(op, self.expr(x, env, values, ranges)?, self.expr(y, env, values, ranges)?)
                    }
                    Atom::Sym(_) => self.size(&Expr::atom(a.clone())),
                };
                product = Some(match product {
                    None => v,
                    Some(p) => k::mul(p, v),
                });
            }
            let negative = coefficient.as_const().is_some_and(|c| c < 0);
            let magnitude = if negative { coefficient.neg() } else { coefficient };
            let factor = self.size(&magnitude);
            let term = match product {
                None => factor,
                Some(p) => k::mul(p, factor),
            };
            sum = Some(match (sum, negative) {
                (None, false) => term,
                (None, true) => k::sub(k::int(0), term),
                (Some(s), false) => k::add(s, term),
                (Some(s), true) => k::sub(s, term),
            });
        }
        Ok(sum.unwrap_or_else(|| k::int(0)))
    }

    pub fn finish(mut self, program: &LoopProgram, threads: u32, placed: Placed) -> Scheduled {
        let Placed { grid, index } = placed;
        let part = self.close();
        let groups = if grid.folds() { self.size(grid.groups()) } else { index.clone() };
        for s in grid.guard(index, groups, part) {
            self.stmt(s);
        }
        let mut params: Vec<String> = self.sizes.iter().map(|e| program.env.show(e)).collect();
        let first = params.len() as u32;
        let mut buffers = Vec::new();
        for (i, b) in self.buffers.iter().enumerate() {
            let info = program.buffer(*b);
            params.push(format!("offset of b{i}"));
            buffers.push(KernelBuffer { name: format!("b{i}"), dtype: info.dtype, binding: 0, offset: Some(first + i as u32) });
        }
        let body = self.close();
        let position = |m: &TensorMap| self.buffers.iter().position(|b| b.0 as usize == m.placement).unwrap_or_default() as u32;
        let maps =
            self.maps.iter().map(|m| KernelMap { buffer: position(m), sizes: m.sizes.clone(), windows: m.windows.is_some() }).collect();
        let kernel = Kernel {
            name: String::new(),
            workgroup_size: [threads, 1, 1],
            params,
            buffers,
            shared: self.shared,
            maps,
            vars: self.vars,
            body,
        };
        Scheduled { kernel: Arc::new(kernel), buffers: self.buffers, starts: Vec::new(), sizes: self.sizes, maps: self.maps, grid }
    }
}

fn only_sizes(e: &Expr) -> bool {
    let mut ok = true;
    e.visit(&mut |a| ok &= !matches!(a, Atom::Axis(_) | Atom::Value(_)));
    ok
}

/// `ceil(n / d)` groups.
pub(in crate::schedule) fn groups_of(n: &Expr, d: i64, ranges: &dyn Ranges) -> Expr {
    n.add(&Expr::Const(d - 1)).floordiv(&Expr::Const(d), ranges)
}

/// Zero of a type.
pub(in crate::schedule) fn zero(dtype: DType) -> KExpr {
    KExpr::Lit(Literal::new(0.0, dtype))
}
