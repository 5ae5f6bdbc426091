//! The warpgroups that multiply.

use super::{ROWS, Ring, Warpgroups};
use crate::schedule::emit::attention::{F32, WORD};
use crate::schedule::emit::attention::{outer, reached};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use crate::schedule::nvidia::attention::fragments::{Held, Tile};
use crate::schedule::nvidia::bulk::{equal, turn};
use aludel_ir::kernel::warpgroup::{ROW, Rows, TileAt, WARPGROUP, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::ValId;
use aludel_ir::{DType, Literal, Result, ScalarOp};

/// The stage at hand, and its first group.
struct At {
    stage: KExpr,
    start: KExpr,
}

/// A thread of a warpgroup that multiplies.
struct Consumer<'a> {
    r: &'a Ring,
    h: &'a Held,
    /// Where its warpgroup's rows start in those of the workgroup, in groups.
    rows: KExpr,
    /// The stage before, or none.
    before: Var,
}

/// Waits until at most so many of the warpgroup's groups of products are under way.
fn wait(kb: &mut KernelBuilder, groups: usize) {
    kb.stmt(Stmt::Warpgroup(WarpgroupOp::Wait(groups as u8)));
}

/// Weights of the tile before, packed, while their products with its values are not started: under a softmax alone.
type Packed = Vec<Vec<[Var; 4]>>;

impl Warpgroups<'_> {
    pub(super) fn consume(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        r: &Ring,
        row0: &KExpr,
        walks: &[(KExpr, KExpr, bool)],
    ) -> Result<()> {
        let f = &self.f;
        let mut h = f.thread(kb, row0.clone());
        f.begin(kb, em, &mut h)?;
        let rows = kb.int(k::mul(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)), k::int((ROWS * ROW) as i64)));
        // The stage before, once there is one.
        let before = kb.mutable(k::int(-1), k::I32);
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.ready, index: k::int(0), parity: k::int(0) }));
        let c = Consumer { r, h: &h, rows, before };
        // The first warpgroup begins.
        if self.takes_turns() {
            let then = vec![Stmt::Warpgroup(WarpgroupOp::GiveTurn(k::int(0)))];
            kb.stmt(Stmt::If { cond: equal(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)), 0), then, otherwise: vec![] });
        }
        if f.a.softmax.is_none() {
            outer(kb, em, &f.a.outer, &mut |kb, em| {
                walks.iter().try_for_each(|w| self.walk(kb, em, &c, w, &mut |kb, em, at, c0| self.tile(kb, em, &c, at, (c0, w.2))))
            })?;
            wait(kb, 0);
            return f.finish(kb, em, &h);
        }
        // The first tile has no other one before.
        let packed: Packed =
            f.a.outputs
                .iter()
                .map(|_| self.words().map(|()| [(); 4].map(|()| kb.mutable(KExpr::Lit(Literal::new(0.0, DType::U32)), WORD))).collect())
                .collect();
        let first = &walks[0].0;
        em.enter();
        let at = self.enter(kb, &c);
        self.softmax_tile(kb, em, &c, &at, (first, true), &packed, true)?;
        self.leave(kb, &c, &at);
        em.leave();
        let next = kb.int(k::add(first.clone(), k::int(self.plan.columns as i64)));
        for (start, stop, checked) in walks {
            let start = kb.int(k::bin(ScalarOp::Max, start.clone(), next.clone()));
            let tile = &mut |kb: &mut KernelBuilder, em: &mut Emitter, at: &At, c0: &KExpr| {
                self.softmax_tile(kb, em, &c, at, (c0, *checked), &packed, false)
            };
            self.walk(kb, em, &c, &(start, stop.clone(), *checked), tile)?;
        }
        self.values(kb, &c, &packed);
        wait(kb, 0);
        f.finish(kb, em, &h)
    }

    /// Tiles of columns, one after the other.
    fn walk(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        c: &Consumer,
        (start, stop, _): &(KExpr, KExpr, bool),
        tile: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter, &At, &KExpr) -> Result<()>,
    ) -> Result<()> {
        let c0 = kb.var(k::I32);
        kb.open();
        em.enter();
        let at = self.enter(kb, c);
        tile(kb, em, &at, &KExpr::Var(c0))?;
        self.leave(kb, c, &at);
        em.leave();
        let body = kb.close();
        let step = k::int(self.plan.columns as i64);
        kb.stmt(Stmt::For { var: c0, start: start.clone(), end: stop.clone(), step, body });
        Ok(())
    }

    /// Waits for the next stage.
    fn enter(&self, kb: &mut KernelBuilder, c: &Consumer) -> At {
        let stage = kb.bind_copy(KExpr::Var(c.r.stage));
        let start = self.stage_start(kb, &stage);
        let parity = KExpr::Var(c.r.parity);
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: c.r.full, index: stage.clone(), parity }));
        At { stage, start }
    }

    fn leave(&self, kb: &mut KernelBuilder, c: &Consumer, at: &At) {
        kb.stmt(Stmt::Assign(c.before, at.stage.clone()));
        turn(kb, self.plan.stages, (c.r.stage, c.r.parity), &at.stage);
    }

    /// One tile of columns without a softmax. Its products with the values are under way when the next one begins.
    fn tile(&self, kb: &mut KernelBuilder, em: &mut Emitter, c: &Consumer, at: &At, (c0, checked): (&KExpr, bool)) -> Result<()> {
        let (f, a) = (&self.f, self.f.a);
        let mut tile = f.tile(kb, em, c.h, c0, checked, &self.plan.given)?;
        let together = self.together();
        self.take_turn(kb);
        for i in 0..a.products.len() {
            let acc = self.product(kb, c, at, i);
            tile.products.push(acc);
            if i == 0 && !together {
                // The products of the tile before are done: its stage is free, and their registers.
                wait(kb, 1);
                self.release(kb, c);
            }
        }
        self.give_turn(kb);
        if together {
            wait(kb, a.products.len() - 1);
            self.release(kb, c);
        }
        // First the results that wait for fewer products.
        let mut outputs: Vec<(usize, usize, Vec<ValId>)> = Vec::new();
        for (o, output) in a.outputs.iter().enumerate() {
            let needed = reached(f.nest, output.weight);
            let last = a.products.iter().rposition(|p| needed.contains(&p.reduce)).unwrap_or(a.products.len() - 1);
            outputs.push((last, o, needed));
        }
        outputs.sort_by_key(|(last, ..)| *last);
        let mut later = Vec::new();
        for (i, (last, o, needed)) in outputs.into_iter().enumerate() {
            // Groups that were started later may be under way.
            wait(kb, a.products.len() - 1 - last + if together { 0 } else { i });
            let weights = f.output_weights(kb, em, c.h, &mut tile, o, &mut |kb, t, j| self.take(kb, c, at, t, j, &needed))?;
            let words: Vec<[Var; 4]> =
                self.words().enumerate().map(|(s, ())| f.packed(kb, self.plan.operands.dtype, &weights, s)).collect();
            match together {
                true => later.push((o, words)),
                false => self.output(kb, c, &at.start, o, &words),
            }
        }
        if together {
            self.take_turn(kb);
            later.iter().for_each(|(o, words)| self.output(kb, c, &at.start, *o, words));
            self.give_turn(kb);
        }
        Ok(())
    }

    /// One tile of columns under a softmax. The products of the tile before with its values are made while the weights are computed.
    #[allow(clippy::too_many_arguments)]
    fn softmax_tile(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        c: &Consumer,
        at: &At,
        (c0, checked): (&KExpr, bool),
        packed: &Packed,
        first: bool,
    ) -> Result<()> {
        let (f, a) = (&self.f, self.f.a);
        let Some(s) = &a.softmax else { return Ok(()) };
        let mut tile = f.tile(kb, em, c.h, c0, checked, &self.plan.given)?;
        if !first {
            self.take_turn(kb);
        }
        for i in 0..a.products.len() {
            let acc = self.product(kb, c, at, i);
            tile.products.push(acc);
        }
        if !first {
            self.values(kb, c, packed);
            self.give_turn(kb);
        }
        wait(kb, if first { 0 } else { a.outputs.len() });
        let needed: Vec<ValId> =
            [s.score, s.weight].into_iter().chain(a.outputs.iter().map(|o| o.weight)).flat_map(|v| reached(f.nest, v)).collect();
        for j in 0..tile.columns.len() {
            self.take(kb, c, at, &mut tile, j, &needed);
        }
        let (weights, factors) = f.softmax_weights(kb, em, c.h, &mut tile, s)?;
        if !first {
            wait(kb, 0);
            self.release(kb, c);
            f.rescale(kb, c.h, &factors);
        }
        for (words, weights) in packed.iter().zip(&weights) {
            for (step, words) in words.iter().enumerate() {
                let now = f.packed(kb, self.plan.operands.dtype, weights, step);
                words.iter().zip(now).for_each(|(w, v)| kb.stmt(Stmt::Assign(*w, KExpr::Var(v))));
            }
        }
        Ok(())
    }

    /// Whether a thread has the registers to start all products with rows at once, and then all with values.
    fn together(&self) -> bool {
        let (a, columns) = (self.f.a, self.plan.columns);
        let (products, outputs) = (a.products.len() as u32, a.outputs.len() as u32);
        let sums = outputs * self.f.features() / 2;
        a.softmax.is_none() && sums + products * columns / 2 + outputs * columns / 4 <= 192
    }

    /// Whether warpgroups use the units in turns: else both would wait for them, and then both compute weights. Not where a tile's
    /// products come one by one, as weights are done: they overlap by themselves.
    fn takes_turns(&self) -> bool {
        self.f.a.outputs.len() == 1 || self.together()
    }

    /// Waits until the units are this warpgroup's to give work to: it computes weights while others have them.
    fn take_turn(&self, kb: &mut KernelBuilder) {
        if self.takes_turns() {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::TakeTurn(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)))));
        }
    }

    /// Leaves them to the next one.
    fn give_turn(&self, kb: &mut KernelBuilder) {
        if self.takes_turns() {
            let next = k::add(k::div(KExpr::LocalId(0), k::int(WARPGROUP as i64)), k::int(1));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::GiveTurn(k::rem(next, k::int(self.plan.consumers as i64)))));
        }
    }

    /// Starts the products of packed weights with the values of the stage before.
    fn values(&self, kb: &mut KernelBuilder, c: &Consumer, packed: &Packed) {
        let start = self.stage_start(kb, &KExpr::Var(c.before));
        for (o, words) in packed.iter().enumerate() {
            self.output(kb, c, &start, o, words);
        }
    }

    /// One for each step of the products with the values.
    fn words(&self) -> impl Iterator<Item = ()> {
        (0..self.plan.columns / self.plan.factors.depth()).map(|_| ())
    }

    /// Gives the stage before back: each thread says for itself that it has read what it reads of it.
    fn release(&self, kb: &mut KernelBuilder, c: &Consumer) {
        let some = KExpr::Scalar(ScalarOp::Ge, vec![KExpr::Var(c.before), k::int(0)]);
        let arrive = Stmt::Warpgroup(WarpgroupOp::Arrive { array: c.r.empty, index: KExpr::Var(c.before), bytes: 0 });
        kb.stmt(Stmt::If { cond: some, then: vec![arrive], otherwise: vec![] });
    }

    /// Reads what is `needed` of the `j`-th column and its neighbours from the stage.
    fn take(&self, kb: &mut KernelBuilder, c: &Consumer, at: &At, t: &mut Tile, j: usize, needed: &[ValId]) {
        let given = &self.plan.given;
        for (g, v) in given.iter().enumerate().filter(|(_, v)| needed.contains(v)) {
            if t.columns[j].known.contains_key(v) {
                continue;
            }
            let quads = self.plan.columns as i64 / 4;
            let first = k::add(k::mul(at.stage.clone(), k::int(given.len() as i64 * quads)), k::rem(c.h.lane.clone(), k::int(4)));
            let index = Box::new(k::add(first, k::int(g as i64 * quads + 4 * (j / 4) as i64)));
            let quad = kb.bind(KExpr::SharedQuad { array: c.r.given, index }, Ty::vec4(DType::F32));
            for (l, column) in t.columns[j / 4 * 4..][..4].iter_mut().enumerate() {
                column.known.insert(*v, KExpr::Lane(Box::new(quad.clone()), l as u8));
            }
        }
    }

    /// Starts a product of the tile.
    fn product(&self, kb: &mut KernelBuilder, c: &Consumer, at: &At, i: usize) -> Vec<[Var; 4]> {
        let (plan, factors) = (self.plan, self.plan.factors);
        let (o, stream) = &plan.operands.left[i];
        let acc: Vec<[Var; 4]> = (0..plan.columns / 8).map(|_| [(); 4].map(|_| kb.mutable(zero(DType::F32), F32))).collect();
        let steps = factors.row() / factors.depth();
        let own = kb.int(k::add(c.rows.clone(), k::int(self.rows_start(i) as i64)));
        let columns = kb.int(k::add(at.start.clone(), k::int(self.stream_start(*stream) as i64)));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Fence));
        for step in 0..o.features / factors.depth() {
            // Blocks of features follow one another; within one, a step takes 32 bytes of each row.
            let (block, within) = (step / steps, 2 * (step % steps));
            let tile = |first: &KExpr, rows: u32| {
                let index = k::add(first.clone(), k::int((block * rows * ROW + within) as i64));
                TileAt { array: c.r.tiles, index, across: None }
            };
            let (a, b) = (Rows::Tile(tile(&own, self.f.rows())), tile(&columns, plan.columns));
            let acc = acc.iter().flatten().copied().collect();
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Multiply { acc, clear: step == 0, factors, a, b }));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Commit));
        acc
    }

    /// Starts adding the packed weights' products with the values of the stage that starts there to a result.
    fn output(&self, kb: &mut KernelBuilder, c: &Consumer, start: &KExpr, o: usize, words: &[[Var; 4]]) {
        let (plan, factors) = (self.plan, self.plan.factors);
        let first = kb.int(k::add(start.clone(), k::int(self.stream_start(plan.operands.values[o]) as i64)));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Fence));
        for (step, words) in words.iter().enumerate() {
            // Rows of the tile lie along the features.
            let index = k::add(first.clone(), k::int((step as u32 * factors.depth() * ROW) as i64));
            let b = TileAt { array: c.r.tiles, index, across: Some(plan.columns * ROW) };
            let acc = c.h.sums[o].iter().flatten().copied().collect();
            let a = Rows::Registers(words.map(KExpr::Var));
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Multiply { acc, clear: false, factors, a, b }));
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Commit));
    }
}
