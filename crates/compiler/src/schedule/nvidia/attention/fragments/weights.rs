//! What is made of products: scores, the softmax's maximum and sum, and weights, element by element of a thread's registers.

use super::{Column, Fragments, Held};
use crate::nest::attention::{Causal, Softmax};
use crate::nest::neighbours::{Digits, digits};
use crate::schedule::emit::attention::settled;
use crate::schedule::emit::attention::{F32, Known, WORD};
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, MatrixOp, Stmt, Var};
use aludel_ir::loops::{LoopOp, ValId};
use aludel_ir::{DType, Literal, Result, ScalarOp};

/// A tile of columns while its weights are computed.
pub(in crate::schedule::nvidia::attention) struct Tile {
    pub columns: Vec<Column>,
    /// Whether columns may be hidden or absent.
    pub checked: bool,
    /// For each product, once it is there: tile of rows, eight columns, and element.
    pub products: Vec<Vec<[Var; 4]>>,
    /// What is known of an element: by row of the thread and column.
    elements: Vec<Vec<Known>>,
    /// What is the same for elements of a thread that lie eight rows or columns apart in a block of 16 x 16: by tile of rows, and by block
    /// of columns and pair's half.
    blocks: Vec<Vec<Known>>,
}

/// The digit of a row or column in a block of 16 that tells a thread's elements apart: it has two of each, eight apart.
const EIGHT: u32 = 8;

impl Fragments<'_> {
    /// What follows from a column alone: values that are wanted and vary with nothing else.
    pub fn of_columns(&self, em: &Emitter) -> Vec<ValId> {
        let a = self.a;
        let others: Vec<AxisId> = [a.row, a.feature].into_iter().chain(a.products.iter().map(|p| p.axis)).collect();
        let mut found = Vec::new();
        for v in self.a.weights() {
            settled(em, v, &others, &mut found);
        }
        found
    }

    /// The columns of a thread in the tile at `c0`, and what follows from each but for what is `given` later.
    pub fn tile(&self, kb: &mut KernelBuilder, em: &mut Emitter, h: &Held, c0: &KExpr, checked: bool, given: &[ValId]) -> Result<Tile> {
        let a = self.a;
        let size = kb.size(self.program.extent(a.column));
        let ragged = checked && !self.divides(a.column, self.columns);
        let own: Vec<ValId> = self.of_columns(em).into_iter().filter(|v| !given.contains(v)).collect();
        let digits = self.digits(a.column);
        let mut columns: Vec<Column> = Vec::new();
        for j in 0..2 * self.eights() {
            let at = kb.int(k::add(k::add(c0.clone(), h.pair.clone()), k::int((8 * (j / 2) + j % 2) as i64)));
            let inside = ragged.then(|| kb.bind(k::lt(at.clone(), size.clone()), k::BOOL));
            let at = if ragged { kb.int(k::bin(ScalarOp::Min, at, k::sub(size.clone(), k::int(1)))) } else { at };
            em.enter();
            em.axes.insert(a.column, at.clone());
            for v in &own {
                // An absent column's number is another one's, and what is computed for it is not used.
                self.define_digit(em, *v, &digits, j / 2);
                em.value(kb, *v)?;
            }
            columns.push(Column { at, inside, known: em.leave_with() });
        }
        let elements = vec![vec![Known::default(); columns.len()]; h.rows.len()];
        let blocks = vec![vec![Known::default(); columns.len().div_ceil(4) * 2]; self.tiles as usize];
        Ok(Tile { columns, checked, products: vec![], elements, blocks })
    }

    /// Which digits of an axis within a block of 16 each value hangs on. Blocks of rows and tiles of columns start at multiples of 16.
    pub fn digits(&self, axis: AxisId) -> Vec<Digits> {
        digits(self.nest, axis, 16)
    }

    /// Declares a value that is an axis's digit of eights, or made of no more: `eight` counts eights.
    pub fn define_digit(&self, em: &mut Emitter, v: ValId, digits: &[Digits], eight: usize) {
        let number = digits[v.0 as usize].masked(8 * (eight % 2) as u32, EIGHT);
        if let (Some(number), LoopOp::Scalar(..)) = (number, self.nest.op(v)) {
            em.define(v, KExpr::Lit(Literal::new(number as f64, self.nest.dtype(v))));
        }
    }

    /// Leaves the scope of an element, and keeps what is known of it, and for others of its block what is the same for them.
    fn leave(&self, em: &mut Emitter, t: &mut Tile, row: usize, j: usize, same: &[bool]) {
        let known = em.leave_with();
        let common = known.iter().filter(|(v, _)| same[v.0 as usize]).map(|(v, e)| (*v, e.clone()));
        t.blocks[row / 2][j / 4 * 2 + j % 2].extend(common);
        t.elements[row][j] = known;
    }

    /// Whether elements of a block share something that varies with their rows and columns.
    fn shares(&self, same: &[bool]) -> bool {
        let deps = self.nest.dependences();
        let both = |v: usize| [self.a.row, self.a.column].iter().all(|x| deps[v].contains(x));
        (0..same.len()).any(|v| same[v] && both(v))
    }

    /// The values that are the same for elements of a block that lie eight rows or columns apart.
    fn same_in_blocks(&self) -> Vec<bool> {
        let hangs = |axis: AxisId| self.digits(axis).into_iter().map(|d| d.on() & EIGHT != 0).collect::<Vec<bool>>();
        hangs(self.a.row).into_iter().zip(hangs(self.a.column)).map(|(row, column)| !row && !column).collect()
    }

    /// Enters a scope in which everything known of an element holds: `row` of the thread's, `j` of the tile's columns.
    fn enter(&self, em: &mut Emitter, h: &Held, t: &Tile, row: usize, j: usize) {
        let a = self.a;
        em.enter();
        em.axes.insert(a.row, h.rows[row].0.clone());
        em.axes.insert(a.column, t.columns[j].at.clone());
        em.resume(&h.rows[row].1);
        em.resume(&t.columns[j].known);
        em.resume(&t.blocks[row / 2][j / 4 * 2 + j % 2]);
        em.resume(&t.elements[row][j]);
        if let (Some(v), false) = (self.diagonal(), t.checked) {
            em.define(v, KExpr::Lit(Literal::new(1.0, DType::Bool)));
        }
        for (p, values) in a.products.iter().zip(&t.products) {
            em.define(p.reduce, KExpr::Var(values[row / 2 * self.eights() + j / 2][2 * (row % 2) + j % 2]));
        }
    }

    fn guarded(&self, t: &Tile, j: usize, v: KExpr, other: f64) -> KExpr {
        match &t.columns[j].inside {
            Some(c) => k::select(c.clone(), v, k::f32c(other)),
            None => v,
        }
    }

    fn nothing(&self, h: &Held) -> Vec<[KExpr; 4]> {
        vec![[(); 4].map(|_| k::f32c(0.0)); h.rows.len() / 2 * self.eights()]
    }

    /// Where an element lies in a thread's registers.
    fn place(&self, row: usize, j: usize) -> (usize, usize) {
        (row / 2 * self.eights() + j / 2, 2 * (row % 2) + j % 2)
    }

    /// The weights of one result, without a softmax: for each tile of rows and eight columns, the thread's four elements. `give` adds
    /// what was left to give of a column, before it is wanted.
    pub fn output_weights(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        h: &Held,
        t: &mut Tile,
        o: usize,
        give: &mut dyn FnMut(&mut KernelBuilder, &mut Tile, usize),
    ) -> Result<Vec<[KExpr; 4]>> {
        let (mut out, same) = (self.nothing(h), self.same_in_blocks());
        for j in 0..t.columns.len() {
            give(kb, t, j);
            for row in 0..h.rows.len() {
                self.enter(em, h, t, row, j);
                let w = em.value(kb, self.a.outputs[o].weight)?;
                let w = kb.bind(self.guarded(t, j, w, 0.0), F32);
                self.leave(em, t, row, j, &same);
                let (n, e) = self.place(row, j);
                out[n][e] = w;
            }
        }
        Ok(out)
    }

    /// The weights of every result under a softmax; and for each row, what the sums before are to be multiplied by.
    #[allow(clippy::type_complexity)]
    pub fn softmax_weights(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        h: &Held,
        t: &mut Tile,
        s: &Softmax,
    ) -> Result<(Vec<Vec<[KExpr; 4]>>, Vec<KExpr>)> {
        let mut out = vec![self.nothing(h); self.a.outputs.len()];
        let (mut scores, mut maxima, mut factors) = (Vec::new(), Vec::new(), Vec::new());
        let same = self.same_in_blocks();
        for row in 0..h.rows.len() {
            let [max, sum] = h.softmax[row];
            let old = kb.var(F32);
            kb.stmt(Stmt::Let(old, KExpr::Var(max)));
            let mut most = KExpr::Var(old);
            let mut own = Vec::new();
            for j in 0..t.columns.len() {
                self.enter(em, h, t, row, j);
                let v = em.value(kb, s.score)?;
                let v = kb.bind(self.guarded(t, j, v, HIDDEN), F32);
                self.leave(em, t, row, j, &same);
                own.push(v.clone());
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, v]), F32);
            }
            // The four threads of a row.
            for mask in [1, 2] {
                let other = KExpr::Shuffle(Box::new(most.clone()), mask);
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, other]), F32);
            }
            kb.stmt(Stmt::Assign(max, most.clone()));
            let drop = KExpr::Scalar(ScalarOp::Sub, vec![KExpr::Var(old), most.clone()]);
            let factor = kb.bind(KExpr::Scalar(ScalarOp::Exp2, vec![drop]), F32);
            kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Var(sum), factor.clone()])));
            factors.push(factor);
            maxima.push(most);
            scores.push(own);
        }
        // The two rows of a tile side by side, where they share something: else it would be held from one row to the other.
        let step = if self.shares(&same) { 2 } else { 1 };
        for first in (0..h.rows.len()).step_by(step) {
            for j in 0..t.columns.len() {
                for row in first..first + step {
                    self.enter(em, h, t, row, j);
                    em.define(s.score, scores[row][j].clone());
                    em.define(s.max, maxima[row].clone());
                    let w = em.value(kb, s.weight)?;
                    let w = kb.bind(self.guarded(t, j, w, 0.0), F32);
                    em.define(s.weight, w.clone());
                    let sum = h.softmax[row][1];
                    kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(sum), w])));
                    for (o, list) in self.a.outputs.iter().zip(&mut out) {
                        let (n, e) = self.place(row, j);
                        list[n][e] = em.value(kb, o.weight)?;
                    }
                    self.leave(em, t, row, j, &same);
                }
            }
        }
        Ok((out, factors))
    }

    /// Multiplies the sums of each row by its factor.
    pub fn rescale(&self, kb: &mut KernelBuilder, h: &Held, factors: &[KExpr]) {
        for (row, factor) in factors.iter().enumerate() {
            for sums in &h.sums {
                let per = sums.len() / self.tiles as usize;
                for acc in &sums[row / 2 * per..(row / 2 + 1) * per] {
                    for v in &acc[2 * (row % 2)..2 * (row % 2) + 2] {
                        kb.stmt(Stmt::Assign(*v, KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Var(*v), factor.clone()])));
                    }
                }
            }
        }
    }

    /// What products left of 16 rows and 16 columns, rounded and packed by twos: the first factor of further ones. Of the eights of
    /// `weights`, those of the `step`-th 16 columns.
    pub fn packed(&self, kb: &mut KernelBuilder, dtype: DType, weights: &[[KExpr; 4]], step: usize) -> [Var; 4] {
        [0, 1, 2, 3].map(|n| {
            let four = &weights[2 * step + n / 2];
            let half = 2 * (n % 2);
            let to = kb.var(WORD);
            let (low, high) = (four[half].clone(), four[half + 1].clone());
            kb.stmt(Stmt::Matrix(MatrixOp::Pack { to, dtype, low, high }));
            to
        })
    }

    /// The comparison that hides columns beyond the diagonal.
    fn diagonal(&self) -> Option<ValId> {
        let a = self.a;
        let (first, second) = match a.causal {
            Causal::No => return None,
            Causal::After => (a.row, a.column),
            Causal::Before => (a.column, a.row),
        };
        let is = |v: ValId, x: AxisId| matches!(self.nest.op(v), LoopOp::Index(e) if *e == Expr::axis(x));
        let found = |(op, _): &(LoopOp, DType)| matches!(op, LoopOp::Scalar(ScalarOp::Ge, f) if is(f[0], first) && is(f[1], second));
        self.nest.ops.iter().position(found).map(|i| ValId(i as u32))
    }
}
