//! Fourier transforms, by stages of short lengths.
//!
//! A length n = r m is r-point transforms of the elements m apart, a multiplication with roots of unity, and transforms of length m (J.
//! Cooley, J. Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965). Each stage is a nest whose iterations do
//! one r-point transform in registers: r loads and r stores of a complex number. Stage after stage the elements are [K, j]: K counts the
//! frequencies found, j what is still to be transformed. Where a row fits into workgroup memory, the stages become one kernel
//! ([`crate::loops::chain`]); how they order their iterations and where their temporaries leave gaps keeps neighbouring threads on different banks.

use super::Lowering;
use super::pull::Puller;
use crate::nest::NestBuilder;
use aludel_ir::expr::{AxisId, Expr, NoRanges};
use aludel_ir::graph::ValueId;
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, Store, ValId};
use aludel_ir::{DType, Error, Result, ScalarOp};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, TAU};

/// A stage is a transform of at most this length, where the length's primes allow.
const LONGEST_STAGE: i64 = 16;
/// Banks of workgroup memory.
const BANKS: i64 = 32;

/// The lengths of the stages.
fn stages(n: i64) -> Vec<i64> {
    if n.count_ones() == 1 {
        // Of about the same length.
        let bits = n.ilog2();
        let count = bits.div_ceil(LONGEST_STAGE.ilog2());
        return (0..count).map(|i| 1 << (bits / count + (i < bits % count) as u32)).collect();
    }
    let mut out = Vec::new();
    let mut rest = n;
    while rest > 1 {
        // The prim's lengths have such a divisor.
        let r = (2..=LONGEST_STAGE.min(rest)).rev().find(|r| rest % r == 0).unwrap_or(rest);
        out.push(r);
        rest /= r;
    }
    out
}

/// Complex numbers between two stages: [K, j], or [j, K], in two buffers with gaps at the ends of their rows.
#[derive(Clone, Copy)]
struct Between {
    re: BufferId,
    im: BufferId,
    by_frequency: bool,
}

impl Between {
    fn index(&self, lead: &[Expr], frequency: Expr, rest: Expr) -> Vec<Expr> {
        let both = if self.by_frequency { [frequency, rest] } else { [rest, frequency] };
        lead.iter().cloned().chain(both).collect()
    }
}

type Complex = (ValId, ValId);

impl Lowering<'_> {
    pub(super) fn fourier(&mut self, n: usize, inverse: bool) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, out) = (node.inputs[0], node.outputs[0]);
        let shape = self.graph.ty(x).shape.clone();
        let lead = &shape[..shape.len() - 2];
        let Some(length) = shape[shape.len() - 2].as_const() else {
            return Err(Error::verify(format!("node {n}"), "transforms an unknown length"));
        };
        self.settle_for(x, SETTLED)?;
        let last = self.buffer_for(out, None, BufferKind::Temp);
        let within = length.saturating_mul(9) <= self.target.most_shared_bytes() as i64;
        let radices = match stages(length) {
            none if none.is_empty() => vec![1],
            some => some,
        };
        let mut from: Option<Between> = None;
        // Frequencies found, and elements per transform still to do.
        let (mut found, mut rest) = (1, length);
        for (t, r) in radices.iter().enumerate() {
            let m = rest / r;
            let (mut axes, at) = self.axes_for(lead);
            let axis = |lw: &mut Self, extent: i64| -> (Vec<AxisId>, Expr) {
                let (a, mut i) = lw.axes_for(&[Expr::Const(extent)]);
                (a, i.remove(0))
            };
            let ((k_axis, k), (j_axis, j)) = (axis(self, found), axis(self, m));
            // Neighbouring threads are neighbours in memory, or on different banks.
            let order = if within && t > 0 || m == 1 { [j_axis, k_axis] } else { [k_axis, j_axis] };
            axes.extend(order.into_iter().flatten());
            let to = (m > 1).then(|| self.between(lead, found * r, m, t, within));
            let mut p = Puller::new(self);
            let mut z: Vec<Complex> = Vec::new();
            for q in 0..*r {
                let element = j.add(&Expr::Const(m * q));
                z.push(match from {
                    None => {
                        let mut index: Vec<Expr> = at.iter().cloned().chain([element, Expr::ZERO]).collect();
                        let re = p.at(x, &index, None)?;
                        index[at.len() + 1] = Expr::ONE;
                        (re, p.at(x, &index, None)?)
                    }
                    Some(from) => {
                        let index = from.index(&at, k.clone(), element);
                        let mut load = |buffer| p.b.push(LoopOp::Load { buffer, index: index.clone(), mask: None }, DType::F32);
                        (load(from.re), load(from.im))
                    }
                });
            }
            let sign = if inverse { 1.0 } else { -1.0 };
            let mut w = Waves { b: &mut p.b, sign };
            let mut z = w.transform(z);
            if m > 1 {
                let turns = w.powers(&j, *r, rest);
                z = z.into_iter().zip(turns).map(|(z, t)| t.map_or(z, |t| w.times(z, t))).collect();
            }
            for (q, (re, im)) in z.into_iter().enumerate() {
                let frequency = k.add(&Expr::Const(found * q as i64));
                let mut store = |buffer, index, value| p.b.nest.stores.push(Store { buffer, index, value, add: false });
                match to {
                    Some(to) => {
                        let index = to.index(&at, frequency, j.clone());
                        store(to.re, index.clone(), re);
                        store(to.im, index, im);
                    }
                    None => {
                        for (part, value) in [(Expr::ZERO, re), (Expr::ONE, im)] {
                            store(last, at.iter().cloned().chain([frequency.clone(), part]).collect(), value);
                        }
                    }
                }
            }
            p.b.nest.axes = axes;
            let nest = p.done();
            self.finish_node(n, nest);
            (from, found, rest) = (to, found * r, m);
        }
        self.buffers[out.index()] = Some(last);
        Ok(())
    }

    /// Buffers after stage `t`, of so many frequencies found and elements left.
    fn between(&mut self, lead: &[Expr], found: i64, left: i64, t: usize, within: bool) -> Between {
        // After the first stage threads lie along j, and will lie along K: a row of j is so much longer that K steps over the banks.
        let gap = |columns: i64, step: i64| if within { (step - columns).rem_euclid(BANKS) } else { 0 };
        let by_frequency = t == 0 || !within;
        let tail = if by_frequency {
            [found, left + gap(left, (BANKS / found.min(BANKS)).max(1))]
        } else {
            // Threads lie along K before and after, but before along fewer.
            let before = found / LONGEST_STAGE;
            [left, found + if before < BANKS { gap(found, before.max(1)) } else { 0 }]
        };
        let mut buffer = |part: &str| {
            let shape = lead.iter().cloned().chain(tail.iter().map(|n| Expr::Const(*n))).collect();
            let name = format!("{part}_{}", self.program.buffers.len());
            self.program.buffers.push(Buffer { name, dtype: DType::F32, shape, kind: BufferKind::Temp });
            BufferId(self.program.buffers.len() as u32 - 1)
        };
        Between { re: buffer("re"), im: buffer("im"), by_frequency }
    }

    /// Gives a value that takes more than so many operations a buffer.
    fn settle_for(&mut self, x: ValueId, most: usize) -> Result<()> {
        let (_, index) = self.axes_for(&self.graph.ty(x).shape.clone());
        let mut p = Puller::new(self);
        p.at(x, &index, None)?;
        let (b, _) = p.done();
        if b.nest.ops.len() > most {
            let buffer = self.buffer_for(x, None, BufferKind::Temp);
            self.pointwise(x, buffer, &[])?;
            self.buffers[x.index()] = Some(buffer);
        }
        Ok(())
    }
}

/// Operations of an operand that the first stage repeats in its text for each of its elements.
const SETTLED: usize = 16;

/// Arithmetic of complex numbers in a nest, for transforms by e^(sign 2 pi i j k / n).
struct Waves<'a> {
    b: &'a mut NestBuilder,
    sign: f64,
}

impl Waves<'_> {
    fn add(&mut self, x: Complex, y: Complex) -> Complex {
        (self.b.scalar(ScalarOp::Add, &[x.0, y.0]), self.b.scalar(ScalarOp::Add, &[x.1, y.1]))
    }

    fn sub(&mut self, x: Complex, y: Complex) -> Complex {
        (self.b.scalar(ScalarOp::Sub, &[x.0, y.0]), self.b.scalar(ScalarOp::Sub, &[x.1, y.1]))
    }

    fn scaled(&mut self, x: ValId, by: f64) -> ValId {
        let by = self.b.constant(by, DType::F32);
        self.b.scalar(ScalarOp::Mul, &[x, by])
    }

    /// By i, or by -i where the sign is negative.
    fn quarter(&mut self, x: Complex) -> Complex {
        let up = if self.sign > 0.0 { x.1 } else { x.0 };
        let turned = self.b.scalar(ScalarOp::Neg, &[up]);
        if self.sign > 0.0 { (turned, x.0) } else { (x.1, turned) }
    }

    fn times(&mut self, x: Complex, y: Complex) -> Complex {
        let mut product = |a, b| self.b.scalar(ScalarOp::Mul, &[a, b]);
        let (rr, ii, ri, ir) = (product(x.0, y.0), product(x.1, y.1), product(x.0, y.1), product(x.1, y.0));
        (self.b.scalar(ScalarOp::Sub, &[rr, ii]), self.b.scalar(ScalarOp::Add, &[ri, ir]))
    }

    /// By e^(sign 2 pi i k / n).
    fn turned(&mut self, x: Complex, k: usize, n: usize) -> Complex {
        let k = k % n;
        let eighths = 8 * k / n;
        if !(8 * k).is_multiple_of(n) {
            let (sin, cos) = (self.sign * TAU * k as f64 / n as f64).sin_cos();
            let w = (self.b.constant(cos, DType::F32), self.b.constant(sin, DType::F32));
            return self.times(x, w);
        }
        let mut x = x;
        for _ in 0..eighths / 2 {
            x = self.quarter(x);
        }
        if eighths.is_multiple_of(2) {
            return x;
        }
        // (1 + i) / sqrt 2.
        let q = self.quarter(x);
        let (re, im) = self.add(x, q);
        (self.scaled(re, FRAC_1_SQRT_2), self.scaled(im, FRAC_1_SQRT_2))
    }

    /// The transform of a few numbers, each a value of its own.
    fn transform(&mut self, z: Vec<Complex>) -> Vec<Complex> {
        let n = z.len();
        match n {
            0 | 1 => z,
            2 => vec![self.add(z[0], z[1]), self.sub(z[0], z[1])],
            4 => {
                let (a, b) = (self.add(z[0], z[2]), self.sub(z[0], z[2]));
                let (c, d) = (self.add(z[1], z[3]), self.sub(z[1], z[3]));
                let d = self.quarter(d);
                vec![self.add(a, c), self.add(b, d), self.sub(a, c), self.sub(b, d)]
            }
            _ => {
                let r = if n.is_multiple_of(4) { 4 } else { (2..n).find(|p| n.is_multiple_of(*p)).unwrap_or(n) };
                if r == n {
                    return self.prime(z);
                }
                let m = n / r;
                // Over the elements m apart, turned; then over each of their frequencies.
                let mut columns: Vec<Vec<Complex>> = vec![Vec::new(); r];
                for j in 0..m {
                    let part = self.transform((0..r).map(|q| z[j + m * q]).collect());
                    for (k, v) in part.into_iter().enumerate() {
                        let v = self.turned(v, j * k, n);
                        columns[k].push(v);
                    }
                }
                let columns: Vec<Vec<Complex>> = columns.into_iter().map(|c| self.transform(c)).collect();
                (0..n).map(|k| columns[k % r][k / r]).collect()
            }
        }
    }

    /// By definition, with the pairs x[j] and x[n - j] added and subtracted first: their factors are conjugate.
    fn prime(&mut self, z: Vec<Complex>) -> Vec<Complex> {
        let n = z.len();
        let half = n / 2;
        let pairs: Vec<(Complex, Complex)> = (1..=half).map(|j| (self.add(z[j], z[n - j]), self.sub(z[j], z[n - j]))).collect();
        let mut out = vec![z[0]; n];
        for (sum, _) in &pairs {
            out[0] = self.add(out[0], *sum);
        }
        for k in 1..=half {
            let (mut even, mut odd): (Complex, Option<Complex>) = (z[0], None);
            for (j, (sum, difference)) in pairs.iter().enumerate() {
                let (sin, cos) = (TAU * ((j + 1) * k % n) as f64 / n as f64).sin_cos();
                let term = (self.scaled(sum.0, cos), self.scaled(sum.1, cos));
                even = self.add(even, term);
                let term = (self.scaled(difference.0, sin), self.scaled(difference.1, sin));
                odd = Some(match odd {
                    Some(o) => self.add(o, term),
                    None => term,
                });
            }
            let odd = self.quarter(odd.unwrap_or(z[0]));
            (out[k], out[n - k]) = (self.add(even, odd), self.sub(even, odd));
        }
        out
    }

    /// e^(sign 2 pi i j k / n) for k from 0 to below r, of which the first is one. j k < n.
    fn powers(&mut self, j: &Expr, r: i64, n: i64) -> Vec<Option<Complex>> {
        let mut out: Vec<Option<Complex>> = vec![None];
        for k in 1..r {
            // Every power by at most four multiplications: their roundings add up.
            let w = match k {
                1 | 4 => Some(self.unit(&j.scale(k), n)),
                2 => out[1].map(|w| self.times(w, w)),
                3 => out[2].zip(out[1]).map(|(v, w)| self.times(v, w)),
                _ => {
                    let (high, low) = (k & !3, k & 3);
                    let v = if low == 0 { out[(k - 4) as usize].zip(out[4]) } else { out[high as usize].zip(out[low as usize]) };
                    v.map(|(v, w)| self.times(v, w))
                }
            };
            out.push(w);
        }
        out
    }

    fn bit(&mut self, v: ValId, bit: f64) -> ValId {
        let (bit, zero) = (self.b.constant(bit, DType::I32), self.b.constant(0.0, DType::I32));
        let v = self.b.scalar(ScalarOp::And, &[v, bit]);
        self.b.scalar(ScalarOp::Ne, &[v, zero])
    }

    /// e^(sign 2 pi i t / n) for t from 0 to below n, to float32's precision whatever a target's own sine does: the angle is reduced
    /// exactly to an eighth of a turn, where a few terms of the series are enough (their remainder is below 2e-9).
    fn unit(&mut self, t: &Expr, n: i64) -> Complex {
        let quarters = t.scale(4).add(&Expr::Const(n / 2)).floordiv(&Expr::Const(n), &NoRanges);
        let rest = self.b.index(t.scale(4).sub(&quarters.scale(n)));
        let rest = self.b.cast(rest, DType::F32);
        let x = self.scaled(rest, FRAC_PI_2 / n as f64);
        let x2 = self.b.scalar(ScalarOp::Mul, &[x, x]);
        let mut series = |terms: &[f64]| {
            let mut v = self.b.constant(terms[0], DType::F32);
            for t in &terms[1..] {
                v = self.b.scalar(ScalarOp::Mul, &[v, x2]);
                let t = self.b.constant(*t, DType::F32);
                v = self.b.scalar(ScalarOp::Add, &[v, t]);
            }
            v
        };
        let s = series(&[1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]);
        let c = series(&[-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0]);
        let s = self.b.scalar(ScalarOp::Mul, &[s, x]);
        let q = self.b.index(quarters);
        let one = self.b.constant(1.0, DType::I32);
        let next = self.b.scalar(ScalarOp::Add, &[q, one]);
        let (odd, down, left) = (self.bit(q, 1.0), self.bit(q, 2.0), self.bit(next, 2.0));
        let re = self.b.scalar(ScalarOp::Select, &[odd, s, c]);
        let im = self.b.scalar(ScalarOp::Select, &[odd, c, s]);
        let (minus_re, minus_im) = (self.b.scalar(ScalarOp::Neg, &[re]), self.b.scalar(ScalarOp::Neg, &[im]));
        let re = self.b.scalar(ScalarOp::Select, &[left, minus_re, re]);
        let (up, under) = if self.sign > 0.0 { (im, minus_im) } else { (minus_im, im) };
        (re, self.b.scalar(ScalarOp::Select, &[down, under, up]))
    }
}
