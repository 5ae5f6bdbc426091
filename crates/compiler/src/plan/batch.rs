//! Horizontal fusion: small nests that do not depend on one another share a launch.
//!
//! A nest too small to fill the device waits until something needs it (or until the end, where only the caller does) and
//! runs beside the others that wait. Nests that are equal but for their buffers become instances of one text, which finds
//! its buffers in a table of parameters; the rest become branches on the workgroup's index, which every thread of a
//! workgroup takes alike. What an exchange between ranks waits for shares no launch with what it does not wait for.

use crate::device::Target;
use crate::schedule::Scheduled;
use crate::schedule::grid::Grid;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::{self as k, KExpr, Kernel, KernelBuffer, SharedArray, Stmt, Ty, Var};
use aludel_ir::order::InOrder;
use aludel_ir::program::{Param, TensorMap};
use aludel_ir::shape::ShapeEnv;
use aludel_ir::{DType, Literal, ScalarOp};
use std::collections::{BTreeMap, BTreeSet};

/// Statements of one launch's text: beyond, compiling the kernel takes longer than the launch saves.
const MAX_STATEMENTS: usize = 3000;
/// Parameters of one launch, each of which says where a buffer lies: 32 KiB of them are a kernel's on CUDA, 64 KiB a uniform binding of WebGPU's
/// least devices has.
const MAX_PARAMETERS: usize = 4096;

/// Whom a nest may share a launch with.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Join {
    Nobody,
    /// Instances of the same text: no branch is needed.
    Equals,
    Anybody,
}

/// The launches: for each, the nests that it runs. `before[n]` are the nests that must end before nest n starts; `join(n)`
/// says whom it may share a launch with.
pub(super) fn launches(
    scheduled: &[Scheduled],
    before: &[BTreeSet<usize>],
    env: &ShapeEnv,
    target: &Target,
    join: &dyn Fn(usize) -> Join,
    exchange: &dyn Fn(usize) -> bool,
) -> Vec<Vec<usize>> {
    let n = scheduled.len();
    let full = target.full_groups();
    // How many launches follow each nest on its longest path. A nest may also run earlier, beside those that more launches follow, where
    // what it waits for runs earlier still (levels fall along every dependence) and they need not wait for it.
    let mut level = vec![0usize; n];
    for i in (0..n).rev() {
        for b in &before[i] {
            level[*b] = level[*b].max(level[i] + 1);
        }
    }
    // The first exchange that waits for each nest: company would make it wait for later ones' operands.
    let mut until: Vec<Option<usize>> = vec![None; n];
    for i in (0..n).rev() {
        let first = if exchange(i) { Some(i) } else { until[i] };
        for b in &before[i] {
            until[*b] = [until[*b], first].into_iter().flatten().min();
        }
    }
    // Nests of one level are independent. Those with equally many threads may share a launch.
    let mut nodes: Vec<Vec<usize>> = Vec::new();
    // The last nest in each that belongs at its level.
    let mut last: Vec<usize> = Vec::new();
    let mut open: BTreeMap<(Option<usize>, usize, u32, Option<usize>), usize> = BTreeMap::new();
    // Statements and parameters of each.
    let mut size: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for i in 0..n {
        let s = &scheduled[i];
        if env.hint_or_one(s.grid.groups()) > full || join(i) == Join::Nobody || s.kernel.needs_warpgroups() {
            nodes.push(vec![i]);
            last.push(i);
            continue;
        }
        let statements = count(&s.kernel.body);
        let threads = s.kernel.workgroup_size[0];
        // An instance of a text that is there already costs nothing.
        let own = s.sizes.len() + s.buffers.len();
        let fits = |at: &usize, nodes: &[Vec<usize>], size: &BTreeMap<usize, (usize, usize)>| {
            size[at].1 + own <= MAX_PARAMETERS
                && (size[at].0 + statements <= MAX_STATEMENTS || nodes[*at].iter().any(|m| same_text(&scheduled[*m], s)))
        };
        // Nests that join their equals only are told apart by the first of them.
        let equals = (join(i) == Join::Equals)
            .then(|| (0..i).find(|m| level[*m] == level[i] && until[*m] == until[i] && same_text(&scheduled[*m], s)).unwrap_or(i));
        let latest = before[i].iter().map(|b| level[*b] - 1).min().unwrap_or(usize::MAX);
        let earlier = || {
            let (from, to) = ((until[i], level[i] + 1, threads, None), (until[i], latest, threads, None));
            let beside = (from <= to && equals.is_none()).then(|| open.range(from..=to))?;
            let ready = |at: &usize| before[i].last() < Some(&last[*at]);
            beside
                .filter(|((_, _, t, e), at)| *t == threads && e.is_none() && ready(at) && fits(at, &nodes, &size))
                .map(|((_, l, ..), at)| (*l, *at))
                .next()
        };
        let here = open.get(&(until[i], level[i], threads, equals)).filter(|at| fits(at, &nodes, &size)).copied();
        match here.map(|at| (level[i], at)).or_else(earlier) {
            Some((l, at)) => {
                if level[i] == l {
                    last[at] = i;
                }
                level[i] = l;
                let taken = size.entry(at).or_default();
                if !nodes[at].iter().any(|m| same_text(&scheduled[*m], s)) {
                    taken.0 += statements;
                }
                taken.1 += own;
                nodes[at].push(i);
            }
            None => {
                open.insert((until[i], level[i], threads, equals), nodes.len());
                size.insert(nodes.len(), (statements, own));
                nodes.push(vec![i]);
                last.push(i);
            }
        }
    }
    order(nodes, &last, before)
}

/// Orders the launches by their dependences, otherwise by `last`.
fn order(nodes: Vec<Vec<usize>>, last: &[usize], before: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut node_of = vec![0; before.len()];
    for (k, members) in nodes.iter().enumerate() {
        for m in members {
            node_of[*m] = k;
        }
    }
    let waits: Vec<BTreeSet<usize>> =
        nodes.iter().map(|members| members.iter().flat_map(|m| before[*m].iter().map(|b| node_of[*b])).collect()).collect();
    let mut after = vec![Vec::new(); nodes.len()];
    let mut missing: Vec<usize> = waits.iter().map(BTreeSet::len).collect();
    for (k, waits) in waits.iter().enumerate() {
        waits.iter().for_each(|w| after[*w].push(k));
    }
    let key = |k: usize| (last[k], k);
    let mut ready: BTreeSet<_> = (0..nodes.len()).filter(|k| missing[*k] == 0).map(key).in_order();
    let mut out = Vec::with_capacity(nodes.len());
    // Heights fall along every edge, so something is always ready.
    while let Some((_, next)) = ready.pop_first() {
        out.push(nodes[next].clone());
        for k in &after[next] {
            missing[*k] -= 1;
            if missing[*k] == 0 {
                ready.insert(key(*k));
            }
        }
    }
    out
}

fn count(body: &[Stmt]) -> usize {
    let mut n = 0;
    k::visit(body, &mut |_| n += 1);
    n
}

fn same_text(a: &Scheduled, b: &Scheduled) -> bool {
    a.sizes == b.sizes && a.grid == b.grid && a.kernel == b.kernel
}

/// A member of a launch: its kernel with its bindings filled in, and its parameters.
pub(super) struct Member {
    pub kernel: Kernel,
    pub grid: Grid,
    /// How many of `params` are sizes; the rest are the offsets of the kernel's buffers.
    pub sizes: usize,
    pub params: Vec<Param>,
    /// What the kernel's maps are of; one that has any has its launch to itself.
    pub maps: Vec<TensorMap>,
}

/// One kernel for all members.
pub(super) fn merge(members: Vec<Member>, target: &Target) -> Member {
    if members.len() == 1 {
        return members.into_iter().next().unwrap_or_else(|| unreachable!("one member"));
    }
    let mut out = Merged { kernel: empty(&members[0].kernel), params: Vec::new(), names: BTreeMap::new(), target };
    // Members of one text, in order of first appearance.
    let mut classes: Vec<Vec<Member>> = Vec::new();
    for m in members {
        match classes
            .iter_mut()
            .find(|c| c[0].kernel == m.kernel && c[0].grid == m.grid && c[0].params[..c[0].sizes] == m.params[..m.sizes])
        {
            Some(c) => c.push(m),
            None => classes.push(vec![m]),
        }
    }
    let grid = Grid::new(classes.iter().fold(Expr::ZERO, |sum, c| sum.add(&c[0].grid.groups().scale(c.len() as i64))), target);
    let group = out.var(k::I32);
    let mut body = vec![Stmt::Let(group, grid.index())];
    // From the last class backwards: if group < end of class { .. } else { the rest }.
    let mut ends = Vec::new();
    let mut end = Expr::ZERO;
    for c in &classes {
        let start = end.clone();
        end = end.add(&c[0].grid.groups().scale(c.len() as i64));
        ends.push((start, end.clone()));
    }
    let mut blocks: Vec<Vec<Stmt>> = classes.iter().zip(&ends).map(|(c, (start, _))| out.class(c, group, start)).collect();
    if let (Some(last), Some((_, end))) = (blocks.pop(), ends.last()) {
        let all = out.size(end);
        blocks.push(grid.guard(KExpr::Var(group), all, last));
    }
    let ends: Vec<Expr> = ends.into_iter().map(|(_, end)| end).collect();
    body.extend(branches(&mut out, group, blocks, &ends));
    out.kernel.body = body;
    Member { kernel: out.kernel, grid, sizes: 0, params: out.params, maps: Vec::new() }
}

/// So many branches follow one another; of more, halves are told apart first: Tint takes no nesting deeper than 127, of
/// which each branch is two.
const MAX_CHAIN: usize = 16;

/// The block of the class that a workgroup belongs to, by the ends of the classes.
fn branches(out: &mut Merged, group: Var, mut blocks: Vec<Vec<Stmt>>, ends: &[Expr]) -> Vec<Stmt> {
    if blocks.len() > MAX_CHAIN {
        let (first, second) = ends.split_at(blocks.len() / 2);
        let rest = blocks.split_off(first.len());
        let cond = k::lt(KExpr::Var(group), out.size(&first[first.len() - 1]));
        let then = branches(out, group, blocks, first);
        return vec![Stmt::If { cond, then, otherwise: branches(out, group, rest, second) }];
    }
    let mut chain = blocks.pop().unwrap_or_default();
    for (block, end) in blocks.into_iter().zip(ends).rev() {
        chain = vec![Stmt::If { cond: k::lt(KExpr::Var(group), out.size(end)), then: block, otherwise: chain }];
    }
    chain
}

fn empty(like: &Kernel) -> Kernel {
    Kernel {
        name: String::new(),
        workgroup_size: like.workgroup_size,
        params: vec![],
        buffers: vec![],
        shared: vec![],
        maps: vec![],
        vars: vec![],
        body: vec![],
    }
}

struct Merged<'a> {
    kernel: Kernel,
    params: Vec<Param>,
    /// Positions of size parameters that were asked for already.
    names: BTreeMap<String, u32>,
    target: &'a Target,
}

impl Merged<'_> {
    fn var(&mut self, ty: Ty) -> Var {
        self.kernel.vars.push(ty);
        Var(self.kernel.vars.len() as u32 - 1)
    }

    fn param(&mut self, name: &str, p: Param) -> u32 {
        self.kernel.params.push(name.into());
        self.params.push(p);
        self.params.len() as u32 - 1
    }

    fn size(&mut self, e: &Expr) -> KExpr {
        if let Some(c) = e.as_const() {
            return k::int(c);
        }
        let name = e.to_string();
        let at = match self.names.get(&name) {
            Some(at) => *at,
            None => {
                let at = self.param(&name, Param::Size(e.clone()));
                self.names.insert(name, at);
                at
            }
        };
        KExpr::Param(at)
    }

    /// The statements that run all instances of one text.
    fn class(&mut self, class: &[Member], group: Var, start: &Expr) -> Vec<Stmt> {
        let first = &class[0];
        let mut body = Vec::new();
        let bind = |m: &mut Self, body: &mut Vec<Stmt>, e: KExpr| {
            if matches!(e, KExpr::Var(_) | KExpr::Lit(_) | KExpr::Param(_)) {
                return e;
            }
            let v = m.var(k::I32);
            body.push(Stmt::Let(v, e));
            KExpr::Var(v)
        };
        let origin = self.size(start);
        let mut place = bind(self, &mut body, k::sub(KExpr::Var(group), origin));
        // The offsets of an instance's buffers are a row of the table. They are read once, before any loop.
        let columns = first.params.len() - first.sizes;
        let mut offsets: Vec<KExpr> = Vec::with_capacity(columns);
        if class.len() == 1 {
            for p in &first.params[first.sizes..] {
                let at = self.param("offset", p.clone());
                let v = self.var(k::I32);
                body.push(Stmt::Let(v, KExpr::Param(at)));
                offsets.push(KExpr::Var(v));
            }
        } else {
            let table = self.params.len() as i64;
            for m in class {
                for p in &m.params[m.sizes..] {
                    self.param("offset", p.clone());
                }
            }
            let each = self.size(first.grid.groups());
            let instance = bind(self, &mut body, k::div(place.clone(), each.clone()));
            let row = bind(self, &mut body, k::add(k::mul(instance, k::int(columns as i64)), k::int(table)));
            for c in 0..columns {
                let at = KExpr::ParamAt(Box::new(k::add(row.clone(), k::int(c as i64))));
                offsets.push(bind(self, &mut body, at));
            }
            place = bind(self, &mut body, k::rem(place, each));
        }
        let sizes: Vec<KExpr> = first.params[..first.sizes]
            .iter()
            .map(|p| match p {
                Param::Size(e) => self.size(e),
                Param::Offset(_) | Param::Part { .. } => unreachable!("sizes come first"),
            })
            .collect();
        let buffers: Vec<u32> = first.kernel.buffers.iter().map(|b| self.buffer(b)).collect();
        let shared = self.arrays(&first.kernel.shared);
        let base = self.kernel.vars.len() as u32;
        self.kernel.vars.extend(first.kernel.vars.iter().copied());
        let r = Rename { from: &first.kernel, base, place, sizes, offsets, buffers, shared, target: self.target };
        body.extend(first.kernel.body.iter().map(|s| r.stmt(s)));
        body
    }

    /// A view of a whole binding: offsets are added to indices.
    fn buffer(&mut self, b: &KernelBuffer) -> u32 {
        let same = |x: &KernelBuffer| x.binding == b.binding && x.dtype == b.dtype;
        if let Some(at) = self.kernel.buffers.iter().position(same) {
            return at as u32;
        }
        self.kernel.buffers.push(KernelBuffer {
            name: format!("b{}", self.kernel.buffers.len()),
            dtype: b.dtype,
            binding: b.binding,
            offset: None,
        });
        self.kernel.buffers.len() as u32 - 1
    }

    /// Branches run at different workgroups, so they share workgroup memory.
    fn arrays(&mut self, wanted: &[SharedArray]) -> Vec<u32> {
        let mut taken = BTreeSet::new();
        wanted
            .iter()
            .map(|w| {
                let at =
                    (0..self.kernel.shared.len()).find(|i| self.kernel.shared[*i].ty == w.ty && !taken.contains(i)).unwrap_or_else(|| {
                        self.kernel.shared.push(w.clone());
                        self.kernel.shared.len() - 1
                    });
                taken.insert(at);
                self.kernel.shared[at].len = self.kernel.shared[at].len.max(w.len);
                at as u32
            })
            .collect()
    }
}

/// Rewrites a member's statements for the merged kernel.
struct Rename<'a> {
    from: &'a Kernel,
    base: u32,
    /// The workgroup's index within the member.
    place: KExpr,
    sizes: Vec<KExpr>,
    offsets: Vec<KExpr>,
    buffers: Vec<u32>,
    shared: Vec<u32>,
    target: &'a Target,
}

/// An offset in groups of so many bytes. Offsets are unsigned: those above 2^31 look negative here. Halves of words are counted in
/// bindings of less than 8 GiB alone, see [`counts_halves`].
fn in_groups(words: KExpr, bytes: u32) -> KExpr {
    let (op, by) = match bytes {
        2 => (ScalarOp::Shl, 1.0),
        4 => return words,
        _ => (ScalarOp::Shr, (bytes / 4).ilog2() as f64),
    };
    let by = KExpr::Lit(Literal::new(by, DType::U32));
    let shifted = KExpr::Scalar(op, vec![KExpr::Bitcast(DType::U32, Box::new(words)), by]);
    KExpr::Bitcast(DType::I32, Box::new(shifted))
}

/// Whether a nest indexes elements of two bytes: in a kernel that it shares, their index counts from the binding's start, and 32 bits
/// reach 8 GiB.
pub(super) fn counts_halves(scheduled: &Scheduled, target: &Target) -> bool {
    scheduled.kernel.buffers.iter().any(|b| target.element_bytes(b.dtype) == 2)
}

impl Rename<'_> {
    /// How many lanes a stored value has. The kernel is verified when it is printed; what has no type is refused there.
    fn lanes(&self, value: &KExpr) -> u8 {
        self.from.type_of(value).map_or(1, |t| t.lanes)
    }

    fn var(&self, v: Var) -> Var {
        Var(v.0 + self.base)
    }

    fn at(&self, buffer: u32, index: &KExpr, lanes: u8) -> KExpr {
        // Four-lane accesses count in groups of four; buffers start at multiples of 64 words.
        let each = self.target.element_bytes(self.from.buffers[buffer as usize].dtype) * if lanes == 4 { 4 } else { 1 };
        let offset = in_groups(self.offsets[buffer as usize].clone(), each);
        k::add(offset, self.expr(index))
    }

    fn expr(&self, e: &KExpr) -> KExpr {
        let all = |list: &[KExpr]| list.iter().map(|x| self.expr(x)).collect();
        let one = |x: &KExpr| Box::new(self.expr(x));
        match e {
            KExpr::Lit(_) | KExpr::LocalId(_) => e.clone(),
            KExpr::Var(v) => KExpr::Var(self.var(*v)),
            // A member's parameters are its sizes; offsets are reached through its buffers only.
            KExpr::Param(i) => self.sizes[*i as usize].clone(),
            KExpr::ParamAt(x) => KExpr::ParamAt(one(x)),
            KExpr::WorkgroupId(0) => self.place.clone(),
            KExpr::WorkgroupId(_) => k::int(0),
            KExpr::Scalar(op, args) => KExpr::Scalar(*op, all(args)),
            KExpr::Cast(d, x) => KExpr::Cast(*d, one(x)),
            KExpr::Bitcast(d, x) => KExpr::Bitcast(*d, one(x)),
            KExpr::Load { buffer, index, ty } => {
                KExpr::Load { buffer: self.buffers[*buffer as usize], index: Box::new(self.at(*buffer, index, ty.lanes)), ty: *ty }
            }
            KExpr::Shared { array, index } => KExpr::Shared { array: self.shared[*array as usize], index: one(index) },
            KExpr::SharedQuad { array, index } => KExpr::SharedQuad { array: self.shared[*array as usize], index: one(index) },
            KExpr::Lane(x, l) => KExpr::Lane(one(x), *l),
            KExpr::Vec4(parts) => KExpr::Vec4(all(parts)),
            KExpr::Shuffle(x, mask) => KExpr::Shuffle(one(x), *mask),
        }
    }

    fn block(&self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter().map(|s| self.stmt(s)).collect()
    }

    fn stmt(&self, s: &Stmt) -> Stmt {
        match s {
            Stmt::Let(v, e) => Stmt::Let(self.var(*v), self.expr(e)),
            Stmt::Mut(v, e) => Stmt::Mut(self.var(*v), self.expr(e)),
            Stmt::Assign(v, e) => Stmt::Assign(self.var(*v), self.expr(e)),
            Stmt::Store { buffer, index, value } => Stmt::Store {
                buffer: self.buffers[*buffer as usize],
                index: self.at(*buffer, index, self.lanes(value)),
                value: self.expr(value),
            },
            Stmt::AtomicAdd { buffer, index, value } => {
                Stmt::AtomicAdd { buffer: self.buffers[*buffer as usize], index: self.at(*buffer, index, 1), value: self.expr(value) }
            }
            Stmt::StoreShared { array, index, value } => {
                Stmt::StoreShared { array: self.shared[*array as usize], index: self.expr(index), value: self.expr(value) }
            }
            Stmt::For { var, start, end, step, body } => Stmt::For {
                var: self.var(*var),
                start: self.expr(start),
                end: self.expr(end),
                step: self.expr(step),
                body: self.block(body),
            },
            Stmt::If { cond, then, otherwise } => {
                Stmt::If { cond: self.expr(cond), then: self.block(then), otherwise: self.block(otherwise) }
            }
            Stmt::AsyncCopy { array, index, buffer, from, lanes, valid } => Stmt::AsyncCopy {
                array: self.shared[*array as usize],
                index: self.expr(index),
                buffer: self.buffers[*buffer as usize],
                from: self.at(*buffer, from, 1),
                lanes: *lanes,
                valid: valid.as_ref().map(|v| self.expr(v)),
            },
            Stmt::Mma { acc, a, b } => {
                Stmt::Mma { acc: acc.map(|v| self.var(v)), a: a.each_ref().map(|e| self.expr(e)), b: b.each_ref().map(|e| self.expr(e)) }
            }
            Stmt::Warpgroup(op) => Stmt::Warpgroup(op.rename(&|a| self.shared[a as usize], &|v| self.var(v), &|e| self.expr(e))),
            Stmt::Matrix(op) => Stmt::Matrix(op.map(&|v| self.var(v), &|a| self.shared[a as usize], &|e| self.expr(e))),
            Stmt::Barrier | Stmt::AsyncCommit | Stmt::AsyncWait(_) => s.clone(),
        }
    }
}
