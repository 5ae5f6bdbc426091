//! The general product, as a batch of row-major matrix products on packed operands.

use super::Rounding;
use super::view::View;

/// How many rows of the right operand are combined per pass over a row of the result: fewer passes, the same loads.
const DEPTH: usize = 4;

pub fn contract(a: &View, b: &View, batch: &[(usize, usize)], contract: &[(usize, usize)], rounding: Rounding) -> View {
    let pairs = || batch.iter().chain(contract);
    let free_a: Vec<usize> = (0..a.shape.len()).filter(|d| pairs().all(|p| p.0 != *d)).collect();
    let free_b: Vec<usize> = (0..b.shape.len()).filter(|d| pairs().all(|p| p.1 != *d)).collect();
    let size = |v: &View, dims: &[usize]| dims.iter().map(|d| v.shape[*d]).product::<usize>();
    let left = |p: &[(usize, usize)]| p.iter().map(|p| p.0).collect::<Vec<_>>();
    let right = |p: &[(usize, usize)]| p.iter().map(|p| p.1).collect::<Vec<_>>();
    let (groups, m, n, k) = (size(a, &left(batch)), size(a, &free_a), size(b, &free_b), size(a, &left(contract)));

    let mut shape: Vec<usize> = left(batch).iter().chain(&free_a).map(|d| a.shape[*d]).collect();
    shape.extend(free_b.iter().map(|d| b.shape[*d]));

    // A long row of results vectorises; a short one is better the other way round.
    let swap = n < 8 && m > n;
    let mut out = vec![0.0; groups * m * n];
    if swap {
        let lhs = b.permute(&[right(batch), free_b, right(contract)].concat()).to_vec();
        let rhs = a.permute(&[left(batch), left(contract), free_a].concat()).to_vec();
        let mut t = vec![0.0; n * m];
        for g in 0..groups {
            t.fill(0.0);
            matmul(&lhs[g * n * k..(g + 1) * n * k], &rhs[g * k * m..(g + 1) * k * m], &mut t, k, m);
            for i in 0..m {
                for j in 0..n {
                    out[(g * m + i) * n + j] = t[j * m + i];
                }
            }
        }
    } else {
        let lhs = a.permute(&[left(batch), free_a, left(contract)].concat()).to_vec();
        let rhs = b.permute(&[right(batch), right(contract), free_b].concat()).to_vec();
        for g in 0..groups {
            matmul(&lhs[g * m * k..(g + 1) * m * k], &rhs[g * k * n..(g + 1) * k * n], &mut out[g * m * n..(g + 1) * m * n], k, n);
        }
    }
    rounding.apply_all(&mut out);
    View::dense(a.dtype, shape, out)
}

// out[i, j] += sum over p of a[i, p] * b[p, j]; every operand row-major.
fn matmul(a: &[f64], b: &[f64], out: &mut [f64], k: usize, n: usize) {
    if n == 0 || k == 0 {
        return;
    }
    for (row, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        let mut p = 0;
        while p + DEPTH <= k {
            let (x0, x1, x2, x3) = (row[p], row[p + 1], row[p + 2], row[p + 3]);
            let (b0, rest) = b[p * n..(p + DEPTH) * n].split_at(n);
            let (b1, rest) = rest.split_at(n);
            let (b2, b3) = rest.split_at(n);
            for j in 0..n {
                out[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
            }
            p += DEPTH;
        }
        for p in p..k {
            for (o, y) in out.iter_mut().zip(&b[p * n..(p + 1) * n]) {
                *o += row[p] * y;
            }
        }
    }
}
