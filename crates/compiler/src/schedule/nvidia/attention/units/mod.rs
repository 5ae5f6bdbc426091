//! Attention on NVIDIA's matrix units, operands of 16 bits or, where the precision allows it, of f32 as TF32; sums and softmax in f32.
//!
//! Four subgroups share a block of rows; each has 16 or 32 of them in registers: its part of the results, and of the weights of one
//! tile of columns. Operands come to workgroup memory by asynchronous copies, those of rows once, those of columns a tile ahead.
//! What the first products leave in a thread's registers is, rounded and packed by twos, the left operand of the second ones. (In
//! TF32 the unit wants columns t and t + 4 of a thread that has 2 t and the next: the other operand's rows are taken in that order.)
//! Tiles that lie inside the sizes and below the diagonal run without a comparison. Source of the scheme: T. Dao,
//! "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

mod copy;
mod multiply;

use super::fragments::{Fragments, Held};
use super::operands::{Operand, Operands, operands};
use crate::device::{MatmulPrecision, Target};
use crate::nest::attention::Attention;
use crate::schedule::Scheduled;
use crate::schedule::emit::attention::WORD;
use crate::schedule::emit::attention::{outer, place};
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var, element_bytes};
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{DType, Result};

/// Subgroups of a workgroup.
const SUBGROUPS: u32 = 4;
const THREADS: u32 = 32 * SUBGROUPS;
/// Workgroup memory with which two workgroups share a multiprocessor, and the most there is for one.
const SHARED: [u32; 2] = [112 << 10, 224 << 10];
/// Registers for sums and weights: the rest of 255 is for operands and addresses.
const REGISTERS: u32 = 200;
/// Registers for the rows' operands, where they stay in registers.
const HELD: u32 = 32;

/// How a nest runs on matrix units.
pub(in crate::schedule) struct Plan {
    operands: Operands,
    /// Tiles of 16 rows of a subgroup.
    tiles: u32,
    /// Columns of a tile.
    columns: u32,
}

/// Elements between an operand's rows in workgroup memory: what a subgroup reads at once lies in 32 banks.
fn pitch(o: &Operand) -> u32 {
    o.features + o.lanes()
}

/// Whether and how the matrix units take a nest.
pub(in crate::schedule) fn plan(program: &LoopProgram, nest: &Nest, a: &Attention, target: &Target) -> Option<Plan> {
    if !target.has_matrix_units() {
        return None;
    }
    let types: &[DType] = match target.matmul_precision {
        MatmulPrecision::Highest => &[DType::F16, DType::BF16],
        _ => &[DType::F16, DType::BF16, DType::F32],
    };
    let operands = operands(program, nest, a, types)?;
    let features = program.extent(a.feature).as_const()? as u32;
    let registers = |tiles: u32, columns: u32| {
        let sums = a.outputs.len() as u32 * tiles * features / 2;
        sums + a.products.len() as u32 * tiles * columns / 2
    };
    let shared = |tiles: u32, columns: u32| {
        let rows = operands.left.iter().map(|(o, _)| 16 * SUBGROUPS * tiles * pitch(o)).sum::<u32>();
        let streamed = operands.streams.iter().map(|o| 2 * columns * pitch(o)).sum::<u32>();
        (rows + streamed) * element_bytes(operands.dtype)
    };
    let hint = |x: AxisId| program.env.hint_or_one(program.extent(x));
    let few = hint(a.row) <= 16 * SUBGROUPS as i64;
    let shapes = [(2, 64), (2, 32), (1, 64), (1, 32)];
    let fits = |most: u32, (t, c): (u32, u32)| registers(t, c) <= REGISTERS && shared(t, c) <= most && !(few && t > 1);
    let (tiles, columns) = SHARED.into_iter().find_map(|most| shapes.into_iter().find(|s| fits(most, *s)))?;
    Some(Plan { operands, tiles, columns })
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, a: &Attention, plan: &Plan, target: &Target) -> Result<Scheduled> {
    let f = Fragments { program, nest, a, subgroups: SUBGROUPS, tiles: plan.tiles, columns: plan.columns };
    Units { f, operands: &plan.operands, target }.build()
}

struct Units<'a> {
    f: Fragments<'a>,
    operands: &'a Operands,
    target: &'a Target,
}

/// What one thread has at hand.
struct Thread {
    h: Held,
    /// Workgroup arrays of the rows' operands and of the streamed ones, two tiles each.
    left: Vec<u32>,
    streams: Vec<u32>,
    /// Which of the two tiles is current.
    stage: Var,
    /// The rows' operands in registers, where they fit: for each product, step of the depth and tile.
    held: Vec<Vec<[Var; 4]>>,
}

/// A copy that a thread makes of every tile: where from in the first one, and where to.
struct Copy {
    stream: usize,
    from: KExpr,
    to: KExpr,
    row: KExpr,
    guard: Option<KExpr>,
}

impl Units<'_> {
    fn build(&self) -> Result<Scheduled> {
        let (f, operands) = (&self.f, self.operands);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(f.nest, f.program);
        let narrow = Ty::scalar(operands.dtype);
        let left: Vec<u32> = operands.left.iter().map(|(o, _)| kb.shared("rows", narrow, f.rows() * pitch(o))).collect();
        let streams: Vec<u32> = operands.streams.iter().map(|o| kb.shared("columns", narrow, 2 * f.columns * pitch(o))).collect();
        let (row0, grid) = place(&mut kb, &mut em, f.a, f.rows(), self.target);
        let h = f.thread(&mut kb, row0);
        let stage = kb.mutable(k::int(0), k::I32);
        let mut t = Thread { h, left, streams, stage, held: vec![] };
        self.copy_rows(&mut kb, &mut em, &t)?;
        kb.stmt(Stmt::AsyncCommit);
        f.begin(&mut kb, &mut em, &mut t.h)?;
        let words: u32 = operands.left.iter().map(|(o, _)| f.tiles * o.features / 4).sum();
        if words <= HELD && !self.tf32() {
            kb.stmt(Stmt::AsyncWait(0));
            kb.stmt(Stmt::Barrier);
            for i in 0..operands.left.len() {
                let steps = operands.left[i].0.features / 16;
                let held = (0..steps * f.tiles).map(|n| self.left_fragment(&mut kb, &t, i, n / f.tiles, n % f.tiles)).collect();
                t.held.push(held);
            }
        }
        outer(&mut kb, &mut em, &f.a.outer, &mut |kb, em| self.columns(kb, em, &t))?;
        f.finish(&mut kb, &mut em, &t.h)?;
        Ok(kb.finish(f.program, THREADS, grid))
    }

    fn columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let f = &self.f;
        let (walks, end) = f.walks(kb, &t.h.row0);
        let copies = self.copies(kb, em)?;
        // Nobody reads the last columns of before any more.
        if !f.a.outer.is_empty() {
            kb.stmt(Stmt::Barrier);
        }
        kb.stmt(Stmt::Assign(t.stage, k::int(0)));
        self.fetch(kb, t, &copies, &walks[0].0, k::int(0), &end);
        kb.stmt(Stmt::AsyncCommit);
        for (start, stop, checked) in walks {
            let c0 = kb.var(k::I32);
            kb.open();
            em.enter();
            self.tile(kb, em, t, &copies, (&KExpr::Var(c0), &end), checked)?;
            em.leave();
            let body = kb.close();
            kb.stmt(Stmt::For { var: c0, start, end: stop, step: k::int(f.columns as i64), body });
        }
        Ok(())
    }

    fn tile(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        copies: &[Copy],
        (c0, end): (&KExpr, &KExpr),
        checked: bool,
    ) -> Result<()> {
        let (f, a) = (&self.f, self.f.a);
        kb.stmt(Stmt::AsyncWait(0));
        kb.stmt(Stmt::Barrier);
        let stage = kb.bind_copy(KExpr::Var(t.stage));
        let other = kb.int(k::sub(k::int(1), stage.clone()));
        let next = kb.int(k::add(c0.clone(), k::int(f.columns as i64)));
        self.fetch(kb, t, copies, &next, other.clone(), end);
        kb.stmt(Stmt::AsyncCommit);
        kb.stmt(Stmt::Assign(t.stage, other));
        // What comes from memory is on its way while the products are made.
        let mut tile = f.tile(kb, em, &t.h, c0, checked, &[])?;
        tile.products = (0..a.products.len()).map(|i| self.product(kb, t, i, &stage)).collect();
        if let Some(s) = &a.softmax {
            let (weights, factors) = f.softmax_weights(kb, em, &t.h, &mut tile, s)?;
            f.rescale(kb, &t.h, &factors);
            for (o, weights) in weights.iter().enumerate() {
                self.output(kb, t, o, weights, &stage);
            }
            return Ok(());
        }
        for o in 0..a.outputs.len() {
            let weights = f.output_weights(kb, em, &t.h, &mut tile, o, &mut |_, _, _| {})?;
            self.output(kb, t, o, &weights, &stage);
        }
        Ok(())
    }
}
