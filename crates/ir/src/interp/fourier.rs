//! Discrete Fourier transforms, by their definition but for the even factors of the length.

use super::{Rounding, View};

/// Transforms pairs `[.., n, 2]` along the dimension before the last.
pub fn transform(x: &View, inverse: bool, rounding: Rounding) -> View {
    let n = x.shape[x.shape.len() - 2];
    let turn = if inverse { std::f64::consts::TAU } else { -std::f64::consts::TAU };
    let roots: Vec<(f64, f64)> = (0..n).map(|k| (turn * k as f64 / n as f64).sin_cos()).map(|(sin, cos)| (cos, sin)).collect();
    let mut data = x.to_vec();
    for row in data.chunks_exact_mut(2 * n) {
        let z: Vec<(f64, f64)> = row.chunks_exact(2).map(|p| (p[0], p[1])).collect();
        for (to, (re, im)) in row.chunks_exact_mut(2).zip(strided(&z, 0, 1, &roots)) {
            (to[0], to[1]) = (re, im);
        }
    }
    rounding.apply_all(&mut data);
    View::dense(x.dtype, x.shape.clone(), data)
}

/// The transform of the elements `step` apart from `first`; `roots` are of the whole length.
fn strided(z: &[(f64, f64)], first: usize, step: usize, roots: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n = z.len() / step;
    let times = |(a, b): (f64, f64), (c, d): (f64, f64)| (a * c - b * d, a * d + b * c);
    if n > 0 && n.is_multiple_of(2) {
        let (even, odd) = (strided(z, first, 2 * step, roots), strided(z, first + step, 2 * step, roots));
        let turned: Vec<_> = odd.iter().enumerate().map(|(k, v)| times(*v, roots[k * step])).collect();
        let sum = |s: f64| even.iter().zip(&turned).map(move |(a, b)| (a.0 + s * b.0, a.1 + s * b.1)).collect::<Vec<_>>();
        return [sum(1.0), sum(-1.0)].concat();
    }
    let term = |k: usize, j: usize| times(z[first + j * step], roots[(j * k % n.max(1)) * step]);
    (0..n).map(|k| (0..n).map(|j| term(k, j)).fold((0.0, 0.0), |s, t| (s.0 + t.0, s.1 + t.1))).collect()
}
