//! Attention row by row: the scores of one row are all that is ever held.

use super::view::View;
use super::{Precision, Rounding};
use crate::attention::{Attention, HIDDEN};
use crate::dtype::DType;

/// The operands' elements and sizes.
struct Operands {
    batch: usize,
    group: usize,
    rows: usize,
    keys: usize,
    /// Features of the query and of the value.
    features: usize,
    width: usize,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    /// What is added to a score, minus infinity where the key is hidden.
    mask: Option<Vec<f64>>,
    dropout: Option<Vec<f64>>,
}

impl Operands {
    fn new(a: &Attention, x: &[&View], backward: bool) -> Self {
        let n = x[1].shape.len() - 2;
        let mask = a.mask_of(x, backward).map(|m| {
            let hidden = |v: f64| if m.dtype == DType::Bool { v == 0.0 } else { v <= HIDDEN };
            let added = |v: f64| if m.dtype == DType::Bool { 0.0 } else { v };
            m.to_vec().into_iter().map(|v| if hidden(v) { f64::NEG_INFINITY } else { added(v) }).collect()
        });
        Operands {
            batch: x[1].shape[..n].iter().product(),
            group: x[0].shape[n],
            rows: x[0].shape[n + 1],
            keys: x[1].shape[n],
            features: x[0].shape[n + 2],
            width: x[2].shape[n + 1],
            q: x[0].to_vec(),
            k: x[1].to_vec(),
            v: x[2].to_vec(),
            mask,
            dropout: a.dropout_of(x).map(|d| d.to_vec()),
        }
    }

    /// Calls `f` for each row with its batch and its place among all rows.
    fn each_row(&self, mut f: impl FnMut(usize, usize, usize)) {
        for batch in 0..self.batch {
            for within in 0..self.group * self.rows {
                f(batch, within % self.rows.max(1), batch * self.group * self.rows + within);
            }
        }
    }

    /// The scores of a row, minus infinity where a key is hidden.
    fn scores(&self, a: &Attention, batch: usize, i: usize, row: usize, s: &mut Vec<f64>) {
        let q = &self.q[row * self.features..][..self.features];
        s.clear();
        for j in 0..self.keys {
            let mask = self.mask.as_ref().map_or(0.0, |m| m[row * self.keys + j]);
            if mask == f64::NEG_INFINITY || (a.causal && j > i) {
                s.push(f64::NEG_INFINITY);
                continue;
            }
            let k = &self.k[(batch * self.keys + j) * self.features..][..self.features];
            s.push(dot(q, k) * a.scale.value() + mask);
        }
    }

    fn factor(&self, row: usize, j: usize) -> f64 {
        self.dropout.as_ref().map_or(1.0, |d| d[row * self.keys + j])
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// `y += c * x`
fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += c * x);
}

fn view(dtype: DType, shape: &[usize], mut data: Vec<f64>, precision: Precision) -> View {
    Rounding::of(dtype, precision).apply_all(&mut data);
    View::dense(dtype, shape.to_vec(), data)
}

pub fn forward(a: &Attention, x: &[&View], precision: Precision) -> Vec<View> {
    let t = Operands::new(a, x, false);
    let rows = t.batch * t.group * t.rows;
    let (mut out, mut lse, mut s) = (vec![0.0; rows * t.width], vec![0.0; rows], Vec::new());
    t.each_row(|batch, i, row| {
        t.scores(a, batch, i, row, &mut s);
        let m = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if m == f64::NEG_INFINITY && !s.iter().any(|v| v.is_nan()) {
            return;
        }
        // A NaN among the scores is one of the row.
        let sum: f64 = s.iter().map(|v| (v - m).exp()).sum();
        lse[row] = m + sum.ln();
        let y = &mut out[row * t.width..][..t.width];
        for (j, s) in s.iter().enumerate().filter(|(_, s)| **s != f64::NEG_INFINITY) {
            let p = (s - m).exp() / sum * t.factor(row, j);
            axpy(p, &t.v[(batch * t.keys + j) * t.width..][..t.width], y);
        }
    });
    let shape = &x[0].shape[..x[0].shape.len() - 1];
    let wide = [shape, &[t.width]].concat();
    vec![view(x[0].dtype, &wide, out, precision), view(DType::F32, shape, lse, precision)]
}

pub fn backward(a: &Attention, x: &[&View], precision: Precision) -> Vec<View> {
    let t = Operands::new(a, x, true);
    let (dout, lse, delta) = (x[3].to_vec(), x[4].to_vec(), x[5].to_vec());
    let (mut dq, mut dk, mut dv) = (vec![0.0; t.q.len()], vec![0.0; t.k.len()], vec![0.0; t.v.len()]);
    let (scale, mut s) = (a.scale.value(), Vec::new());
    t.each_row(|batch, i, row| {
        t.scores(a, batch, i, row, &mut s);
        let dy = &dout[row * t.width..][..t.width];
        for (j, s) in s.iter().enumerate().filter(|(_, s)| **s != f64::NEG_INFINITY) {
            let (p, f, key) = ((s - lse[row]).exp(), t.factor(row, j), batch * t.keys + j);
            let (k, v) = (&t.k[key * t.features..][..t.features], &t.v[key * t.width..][..t.width]);
            let ds = p * (dot(dy, v) * f - delta[row]) * scale;
            axpy(p * f, dy, &mut dv[key * t.width..][..t.width]);
            axpy(ds, k, &mut dq[row * t.features..][..t.features]);
            axpy(ds, &t.q[row * t.features..][..t.features], &mut dk[key * t.features..][..t.features]);
        }
    });
    let of = |i: usize, data| view(x[i].dtype, &x[i].shape, data, precision);
    vec![of(0, dq), of(1, dk), of(2, dv)]
}
