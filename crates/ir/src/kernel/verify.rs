//! The rules of the Kernel IR: types, scopes, positions in range, and barriers in uniform control flow.

use super::warpgroup::{KernelMap, varies_within};
use super::{Access, BOOL, I32, KExpr, Kernel, SharedArray, Stmt, Ty, Var, element_bytes};
use crate::dtype::DType;
use crate::error::{Error, Result};

impl Kernel {
    /// The type of an expression; the error names the part that has none.
    pub fn type_of(&self, e: &KExpr) -> Result<Ty> {
        let fail = |problem: String| Err(Error::verify(format!("kernel {}", self.name), problem));
        match e {
            KExpr::Lit(l) => Ok(Ty::scalar(l.dtype)),
            KExpr::Var(v) => self.var_ty(*v),
            KExpr::Param(i) if (*i as usize) < self.params.len() => Ok(I32),
            KExpr::Param(i) => fail(format!("parameter {i} is not declared")),
            KExpr::ParamAt(i) => self.expect(i, I32, "a parameter's position").map(|()| I32),
            KExpr::WorkgroupId(d) | KExpr::LocalId(d) if *d < 3 => Ok(I32),
            KExpr::WorkgroupId(d) | KExpr::LocalId(d) => fail(format!("there is no dimension {d}")),
            KExpr::Scalar(op, args) => {
                let types = args.iter().map(|a| self.type_of(a)).collect::<Result<Vec<_>>>()?;
                let dtypes: Vec<DType> = types.iter().map(|t| t.dtype).collect();
                match op.result_dtype(&dtypes) {
                    Ok(dtype) => Ok(Ty { dtype, lanes: types.iter().map(|t| t.lanes).max().unwrap_or(1) }),
                    Err(problem) => fail(format!("{} {problem}", op.name())),
                }
            }
            KExpr::Cast(dtype, x) => Ok(Ty { dtype: *dtype, ..self.type_of(x)? }),
            KExpr::Bitcast(dtype, x) => {
                let from = self.type_of(x)?;
                let words = |d: DType| matches!(d, DType::F32 | DType::I32 | DType::U32);
                if from.dtype == *dtype || (words(from.dtype) && words(*dtype)) {
                    Ok(Ty { dtype: *dtype, ..from })
                } else {
                    fail(format!("bitcast from {} to {dtype}: only types of 32 bits keep their bits on a device", from.dtype))
                }
            }
            KExpr::Load { buffer, index, ty } => match self.buffers.get(*buffer as usize) {
                None => fail(format!("buffer {buffer} is not declared")),
                Some(b) if b.dtype != ty.dtype || !matches!(ty.lanes, 1 | 4 | 8 | 16) => {
                    fail(format!("load of {} with {} lanes from buffer {} of {}", ty.dtype, ty.lanes, b.name, b.dtype))
                }
                Some(_) => self.expect(index, I32, "an index").map(|()| *ty),
            },
            KExpr::Shared { array, index } => match self.shared.get(*array as usize) {
                None => fail(format!("workgroup array {array} is not declared")),
                Some(a) => self.expect(index, I32, "an index").map(|()| a.ty),
            },
            KExpr::SharedQuad { array, index } => match self.shared.get(*array as usize) {
                Some(a) if a.ty.lanes == 1 && a.ty.dtype != DType::Bool && a.len.is_multiple_of(4) => {
                    self.expect(index, I32, "an index").map(|()| Ty::vec4(a.ty.dtype))
                }
                _ => fail(format!("workgroup array {array} is not one of scalars in groups of four")),
            },
            KExpr::Lane(x, lane) => match self.type_of(x)? {
                Ty { dtype, lanes: 4 } if *lane < 4 => Ok(Ty::scalar(dtype)),
                ty => fail(format!("lane {lane} of a value with {} lanes", ty.lanes)),
            },
            KExpr::Shuffle(x, mask) => match self.type_of(x)? {
                ty if ty.lanes == 1 && ty.dtype != DType::Bool && (1..32).contains(mask) => Ok(ty),
                ty => fail(format!("shuffle by {mask} of {} with {} lanes", ty.dtype, ty.lanes)),
            },
            KExpr::Vec4(parts) => {
                let types = parts.iter().map(|p| self.type_of(p)).collect::<Result<Vec<_>>>()?;
                match types.first() {
                    Some(t) if matches!(types.len(), 1 | 4) && t.lanes == 1 && types.iter().all(|u| u == t) => Ok(Ty::vec4(t.dtype)),
                    _ => fail("four lanes take one or four scalars of one type".into()),
                }
            }
        }
    }

    /// The type of a register.
    pub fn var_ty(&self, v: Var) -> Result<Ty> {
        let ty = self.vars.get(v.0 as usize).copied();
        ty.ok_or_else(|| Error::verify(format!("kernel {}", self.name), format!("register v{} is not declared", v.0)))
    }

    /// How the kernel uses each of `bindings` storage bindings; `None` where it does not.
    pub fn accesses(&self, bindings: usize) -> Vec<Option<Access>> {
        let mut out = vec![None; bindings];
        let mut note = |buffer: u32, access: Access| {
            let binding = self.buffers.get(buffer as usize).map(|b| b.binding as usize);
            if let Some(slot) = binding.and_then(|b| out.get_mut(b)) {
                *slot = (*slot).max(Some(access));
            }
        };
        self.maps.iter().for_each(|m| note(m.buffer, Access::Read));
        visit(&self.body, &mut |s| {
            if let Stmt::Store { buffer, .. } | Stmt::AtomicAdd { buffer, .. } = s {
                note(*buffer, Access::ReadWrite);
            }
            if let Stmt::AsyncCopy { buffer, .. } = s {
                note(*buffer, Access::Read);
            }
            s.exprs().into_iter().for_each(|e| {
                e.visit(&mut |e| {
                    if let KExpr::Load { buffer, .. } = e {
                        note(*buffer, Access::Read);
                    }
                })
            });
        });
        out
    }

    /// Checks every rule of the format; the error names the kernel and the part.
    pub fn verify(&self) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("kernel {}", self.name), problem));
        if self.workgroup_size.contains(&0) {
            return fail(format!("workgroup size {:?} has a zero", self.workgroup_size));
        }
        if let Some(v) = self.vars.iter().position(|t| !matches!(t.lanes, 1 | 4 | 8 | 16)) {
            return fail(format!("register v{v} has {} lanes", self.vars[v].lanes));
        }
        if let Some(a) = self.shared.iter().find(|a| a.len == 0 || !matches!(a.ty.lanes, 1 | 4 | 8 | 16)) {
            return fail(format!("workgroup array {} of {} elements of {} lanes", a.name, a.len, a.ty.lanes));
        }
        // C knows memory by one type.
        let gpu = self.needs_subgroups();
        for (i, a) in self.shared.iter().enumerate() {
            let bytes = |a: &SharedArray| a.len as u64 * a.ty.lanes as u64 * element_bytes(a.ty.dtype) as u64;
            let fits = |of: u32| {
                let of = self.shared[..i].get(of as usize).filter(|of| of.view.is_none());
                of.is_some_and(|of| bytes(a) <= bytes(of) && (a.ty.dtype == of.ty.dtype || gpu))
            };
            if a.view.is_some_and(|of| !fits(of)) {
                return fail(format!("workgroup array {} shows memory that is not there or of another type", a.name));
            }
        }
        for b in &self.buffers {
            if b.offset.is_some_and(|p| p as usize >= self.params.len()) {
                return fail(format!("the offset of buffer {} is not a declared parameter", b.name));
            }
        }
        let rank = |m: &KernelMap| (if m.windows { 3 } else { 1 }..=5).contains(&m.sizes.len());
        if let Some(m) = self.maps.iter().find(|m| m.buffer as usize >= self.buffers.len() || !rank(m)) {
            return fail(format!("a map of {} dimensions in buffer {}", m.sizes.len(), m.buffer));
        }
        self.block(&self.body, &mut vec![Scope::Out; self.vars.len()])?;
        let barrier = |s: &Stmt| matches!(s, Stmt::Barrier).then_some("a barrier");
        let subgroup = |s: &Stmt| is_of_subgroup(s).then_some("a subgroup operation");
        if !self.needs_warpgroups() {
            return self.barriers(&KExpr::varies, &|s| barrier(s).or_else(|| subgroup(s)));
        }
        self.barriers(&KExpr::varies, &barrier)?;
        // A warpgroup comes as a whole, and its subgroups with it.
        let within = |e: &KExpr, vars: &[bool]| varies_within(e, vars, self.workgroup_size);
        let warpgroup = |s: &Stmt| matches!(s, Stmt::Warpgroup(op) if op.is_collective()).then_some("a warpgroup's operation");
        self.barriers(&within, &|s| warpgroup(s).or_else(|| subgroup(s)))
    }

    fn expect(&self, e: &KExpr, ty: Ty, what: &str) -> Result<()> {
        let got = self.type_of(e)?;
        if got == ty {
            return Ok(());
        }
        let problem = format!("{what} is {} with {} lanes instead of {} with {}", got.dtype, got.lanes, ty.dtype, ty.lanes);
        Err(Error::verify(format!("kernel {}", self.name), problem))
    }

    // A scalar fits where four lanes are wanted: it is spread.
    fn expect_spread(&self, e: &KExpr, ty: Ty, what: &str) -> Result<()> {
        if self.type_of(e)? == Ty::scalar(ty.dtype) { Ok(()) } else { self.expect(e, ty, what) }
    }

    fn block(&self, body: &[Stmt], scope: &mut Vec<Scope>) -> Result<()> {
        let outer = scope.clone();
        for s in body {
            self.statement(s, scope)?;
        }
        *scope = outer;
        Ok(())
    }

    /// Registers are read only where they have a value.
    fn no_loose_register(&self, s: &Stmt, scope: &[Scope]) -> Result<()> {
        for e in s.exprs() {
            let mut loose = None;
            e.visit(&mut |e| {
                if let KExpr::Var(v) = e
                    && matches!(scope.get(v.0 as usize), None | Some(Scope::Out))
                {
                    loose = Some(v.0);
                }
            });
            if let Some(v) = loose {
                let problem = format!("register v{v} is used where it has no value");
                return Err(Error::verify(format!("kernel {}", self.name), problem));
            }
        }
        Ok(())
    }

    /// Long: an arm for each statement.
    fn statement(&self, s: &Stmt, scope: &mut Vec<Scope>) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("kernel {}", self.name), problem));
        self.no_loose_register(s, scope)?;
        match s {
            Stmt::Let(v, e) | Stmt::Mut(v, e) => {
                self.expect_spread(e, self.var_ty(*v)?, "a register's value")?;
                if scope[v.0 as usize] != Scope::Out {
                    return fail(format!("register v{} is declared twice", v.0));
                }
                scope[v.0 as usize] = if matches!(s, Stmt::Let(..)) { Scope::Fixed } else { Scope::Mutable };
            }
            Stmt::Assign(v, e) => {
                self.expect_spread(e, self.var_ty(*v)?, "a register's value")?;
                if scope[v.0 as usize] != Scope::Mutable {
                    return fail(format!("register v{} is assigned and not mutable", v.0));
                }
            }
            Stmt::Store { buffer, index, value } | Stmt::AtomicAdd { buffer, index, value } => {
                let Some(b) = self.buffers.get(*buffer as usize) else { return fail(format!("buffer {buffer} is not declared")) };
                self.expect(index, I32, "an index")?;
                let ty = self.type_of(value)?;
                if ty.dtype != b.dtype {
                    return fail(format!("store of {} to buffer {} of {}", ty.dtype, b.name, b.dtype));
                }
                let addable = matches!(b.dtype, DType::F32 | DType::I32 | DType::U32);
                if matches!(s, Stmt::AtomicAdd { .. }) && (ty.lanes != 1 || !addable) {
                    return fail(format!("atomic addition to buffer {} takes one f32, i32 or u32", b.name));
                }
            }
            Stmt::StoreShared { array, index, value } => {
                let Some(a) = self.shared.get(*array as usize) else { return fail(format!("workgroup array {array} is not declared")) };
                self.expect(index, I32, "an index")?;
                self.expect_spread(value, a.ty, "a workgroup array's element")?;
            }
            Stmt::For { var, start, end, step, body } => {
                for (e, what) in [(start, "a loop's start"), (end, "a loop's end"), (step, "a loop's step")] {
                    self.expect(e, I32, what)?;
                }
                if self.var_ty(*var)? != I32 || scope[var.0 as usize] != Scope::Out {
                    return fail(format!("loop register v{} is not a fresh i32", var.0));
                }
                if matches!(step, KExpr::Lit(l) if l.value() <= 0.0) {
                    return fail(format!("the loop over v{} does not move forward", var.0));
                }
                scope[var.0 as usize] = Scope::Fixed;
                self.block(body, scope)?;
                scope[var.0 as usize] = Scope::Out;
            }
            Stmt::If { cond, then, otherwise } => {
                self.expect(cond, BOOL, "a condition")?;
                self.block(then, scope)?;
                self.block(otherwise, scope)?;
            }
            Stmt::AsyncCopy { array, index, buffer, from, lanes, valid } => {
                let Some(a) = self.shared.get(*array as usize) else { return fail(format!("workgroup array {array} is not declared")) };
                let Some(b) = self.buffers.get(*buffer as usize) else { return fail(format!("buffer {buffer} is not declared")) };
                let bytes = element_bytes(b.dtype) * *lanes as u32;
                if b.dtype != a.ty.dtype || a.ty.lanes != 1 || !matches!(bytes, 4 | 8 | 16) {
                    return fail(format!("copy of {lanes} of {} from buffer {} to array {} of {}", b.dtype, b.name, a.name, a.ty.dtype));
                }
                self.expect(index, I32, "an index")?;
                self.expect(from, I32, "an index")?;
                if let Some(v) = valid {
                    self.expect(v, BOOL, "a condition")?;
                }
            }
            Stmt::Mma { acc, a, b } => {
                let float = Ty::scalar(DType::F32);
                for e in a.iter().chain(b) {
                    self.expect(e, float, "a factor")?;
                }
                for v in acc {
                    if self.var_ty(*v)? != float || scope[v.0 as usize] != Scope::Mutable {
                        return fail(format!("register v{} does not accumulate f32", v.0));
                    }
                }
            }
            Stmt::Warpgroup(op) => {
                op.verify(self)?;
                for v in op.changes() {
                    if self.var_ty(*v)? != Ty::scalar(DType::F32) || scope[v.0 as usize] != Scope::Mutable {
                        return fail(format!("register v{} does not accumulate f32", v.0));
                    }
                }
            }
            Stmt::Matrix(op) => {
                op.verify(self)?;
                for v in op.defines() {
                    if scope[v.0 as usize] != Scope::Out {
                        return fail(format!("register v{} is declared twice", v.0));
                    }
                    scope[v.0 as usize] = Scope::Fixed;
                }
                if let Some(v) = op.changes().iter().find(|v| scope[v.0 as usize] != Scope::Mutable) {
                    return fail(format!("register v{} is assigned and not mutable", v.0));
                }
            }
            Stmt::Barrier | Stmt::AsyncCommit | Stmt::AsyncWait(_) => {}
        }
        Ok(())
    }

    /// Statements to which `together` gives a name must be met by all threads or none: no condition or loop bound around one may differ between
    /// threads, as `differs` tells.
    fn barriers(&self, differs: Differs, together: Together) -> Result<()> {
        // A register varies when something that varies is put into it, or when it is written where only some threads go.
        let mut varies = vec![false; self.vars.len()];
        loop {
            let before = varies.clone();
            self.spread_variance(&self.body, false, &mut varies, (differs, together))?;
            if varies == before {
                return Ok(());
            }
        }
    }

    fn spread_variance(&self, body: &[Stmt], divergent: bool, varies: &mut [bool], rule: (Differs, Together)) -> Result<()> {
        let (differs, together) = rule;
        for s in body {
            if let (true, Some(what)) = (divergent, together(s)) {
                return Err(Error::verify(format!("kernel {}", self.name), format!("{what} stands where only some threads come")));
            }
            match s {
                Stmt::Mma { acc, .. } => acc.iter().for_each(|v| varies[v.0 as usize] = true),
                Stmt::Warpgroup(op) => op.changes().iter().for_each(|v| varies[v.0 as usize] = true),
                Stmt::Matrix(op) => op.defines().iter().chain(op.changes()).for_each(|v| varies[v.0 as usize] = true),
                Stmt::Let(v, e) | Stmt::Mut(v, e) | Stmt::Assign(v, e) => {
                    varies[v.0 as usize] |= differs(e, varies) || (divergent && matches!(s, Stmt::Assign(..)));
                }
                Stmt::For { var, start, end, step, body } => {
                    let split = [start, end, step].iter().any(|e| differs(e, varies));
                    varies[var.0 as usize] |= split;
                    self.spread_variance(body, divergent || split, varies, rule)?;
                }
                Stmt::If { cond, then, otherwise } => {
                    let split = divergent || differs(cond, varies);
                    self.spread_variance(then, split, varies, rule)?;
                    self.spread_variance(otherwise, split, varies, rule)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether threads may see different values of an expression, given which registers differ.
type Differs<'a> = &'a dyn Fn(&KExpr, &[bool]) -> bool;

/// What a statement is, where threads have to come to it together.
type Together<'a> = &'a dyn Fn(&Stmt) -> Option<&'static str>;

/// Whether all threads of a subgroup take part: no part of it may be missing.
fn is_of_subgroup(s: &Stmt) -> bool {
    let mut shuffles = matches!(s, Stmt::Mma { .. }) || matches!(s, Stmt::Matrix(op) if op.is_collective());
    s.exprs().into_iter().for_each(|e| e.visit(&mut |e| shuffles |= matches!(e, KExpr::Shuffle(..))));
    shuffles
}

/// Whether a register may be used here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Out,
    Fixed,
    Mutable,
}

/// Visits every statement, inside loops and conditions too.
pub fn visit(body: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for s in body {
        f(s);
        match s {
            Stmt::For { body, .. } => visit(body, f),
            Stmt::If { then, otherwise, .. } => {
                visit(then, f);
                visit(otherwise, f);
            }
            _ => {}
        }
    }
}

impl Stmt {
    /// The expressions of the statement itself, not of its blocks.
    pub fn exprs(&self) -> Vec<&KExpr> {
        match self {
            Stmt::Let(_, e) | Stmt::Mut(_, e) | Stmt::Assign(_, e) => vec![e],
            Stmt::Store { index, value, .. } | Stmt::StoreShared { index, value, .. } | Stmt::AtomicAdd { index, value, .. } => {
                vec![index, value]
            }
            Stmt::For { start, end, step, .. } => vec![start, end, step],
            Stmt::If { cond, .. } => vec![cond],
            Stmt::AsyncCopy { index, from, valid, .. } => [index, from].into_iter().chain(valid).collect(),
            Stmt::Mma { a, b, .. } => a.iter().chain(b).collect(),
            Stmt::Warpgroup(op) => op.exprs(),
            Stmt::Matrix(op) => op.exprs(),
            Stmt::Barrier | Stmt::AsyncCommit | Stmt::AsyncWait(_) => vec![],
        }
    }
}

impl KExpr {
    /// Visits the expression and all its parts.
    pub fn visit(&self, f: &mut dyn FnMut(&KExpr)) {
        f(self);
        match self {
            KExpr::Scalar(_, parts) | KExpr::Vec4(parts) => parts.iter().for_each(|p| p.visit(f)),
            KExpr::Cast(_, x) | KExpr::Bitcast(_, x) | KExpr::Lane(x, _) | KExpr::ParamAt(x) | KExpr::Shuffle(x, _) => x.visit(f),
            KExpr::Load { index, .. } | KExpr::Shared { index, .. } | KExpr::SharedQuad { index, .. } => index.visit(f),
            KExpr::Lit(_) | KExpr::Var(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) | KExpr::LocalId(_) => {}
        }
    }

    // Whether threads of one workgroup may see different values. Memory counts as varying: other threads may write it.
    fn varies(&self, vars: &[bool]) -> bool {
        let mut found = false;
        self.visit(&mut |e| {
            found |= match e {
                KExpr::LocalId(_) | KExpr::Load { .. } | KExpr::Shared { .. } | KExpr::SharedQuad { .. } | KExpr::Shuffle(..) => true,
                KExpr::Var(v) => vars.get(v.0 as usize).copied().unwrap_or(true),
                _ => false,
            }
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::{int, lt};
    use super::*;

    fn kernel(vars: Vec<Ty>, body: Vec<Stmt>) -> Kernel {
        Kernel { name: "k".into(), workgroup_size: [64, 1, 1], params: vec![], buffers: vec![], shared: vec![], maps: vec![], vars, body }
    }

    fn problem(k: Kernel) -> String {
        k.verify().unwrap_err().to_string()
    }

    #[test]
    fn registers_have_scopes() {
        assert!(problem(kernel(vec![I32], vec![Stmt::Assign(Var(0), int(1))])).contains("not mutable"));
        let inner = Stmt::If { cond: lt(KExpr::LocalId(0), int(1)), then: vec![Stmt::Let(Var(0), int(1))], otherwise: vec![] };
        let outside = Stmt::Let(Var(1), KExpr::Var(Var(0)));
        assert!(problem(kernel(vec![I32, I32], vec![inner, outside])).contains("v0 is used where it has no value"));
    }

    #[test]
    fn barriers_need_uniform_control_flow() {
        let guarded = |cond| vec![Stmt::If { cond, then: vec![Stmt::Barrier], otherwise: vec![] }];
        assert!(problem(kernel(vec![], guarded(lt(KExpr::LocalId(0), int(1))))).contains("barrier"));
        assert_eq!(kernel(vec![], guarded(lt(KExpr::WorkgroupId(0), int(1)))).verify(), Ok(()));
        // Variance that reaches the condition only through a loop-carried register.
        let body = vec![
            Stmt::Mut(Var(0), int(0)),
            Stmt::For {
                var: Var(1),
                start: int(0),
                end: int(4),
                step: int(1),
                body: vec![
                    Stmt::If { cond: lt(KExpr::Var(Var(0)), int(2)), then: vec![Stmt::Barrier], otherwise: vec![] },
                    Stmt::Assign(Var(0), KExpr::LocalId(0)),
                ],
            },
        ];
        assert!(problem(kernel(vec![I32, I32], body)).contains("barrier"));
    }
}
