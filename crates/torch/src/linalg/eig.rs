//! Eigenvalues and eigenvectors of any real matrix, in the order and with the signs that LAPACK gives them (dgeev).

use nalgebra::{Complex, DMatrix};

/// Eigenvalues, and as columns of length one their vectors, of which a complex one's largest element is real; `None` where the
/// iteration does not end. What is below `eps` counts as zero: with that of f32 the steps, and so the signs, are those of f32 in LAPACK.
pub(super) fn eig(mut a: DMatrix<f64>, eps: f64) -> Option<(Vec<Complex<f64>>, DMatrix<Complex<f64>>)> {
    let n = a.nrows();
    let (back, low, high) = balance(&mut a);
    let mut z = hessenberg(&mut a, low, high);
    let values = schur(&mut a, &mut z, (low, high), eps)?;
    let mut vectors = triangular_vectors(&a, &values, &z, eps);
    for j in 0..n {
        for i in 0..n {
            vectors[(i, j)] *= back.scale[i];
        }
    }
    for (i, other) in back.swaps {
        vectors.swap_rows(i, other);
    }
    for j in 0..n {
        let mut column = vectors.column_mut(j);
        let norm = column.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        let mut turn = Complex::new(1.0 / norm, 0.0);
        if values[j].im != 0.0 {
            // Of elements of one length LAPACK turns by the first.
            let top = column.iter().fold(column[0], |top, v| if v.norm_sqr() > top.norm_sqr() { *v } else { top });
            turn *= top.conj() / top.norm() * 1f64.copysign(top.re);
        }
        column.iter_mut().for_each(|v| *v *= turn);
    }
    Some((values, vectors))
}

/// What [`balance`] did: the factors of the rows, and which rows were exchanged, the last first.
struct Back {
    scale: Vec<f64>,
    swaps: Vec<(usize, usize)>,
}

/// dgebal: moves eigenvalues that stand alone to the ends, and makes rows and columns of the rest (whose first and last index are
/// returned) of like length.
fn balance(a: &mut DMatrix<f64>) -> (Back, usize, usize) {
    let n = a.nrows();
    let (mut low, mut high) = (0, n - 1);
    let mut swaps = Vec::new();
    let exchange = |a: &mut DMatrix<f64>, i: usize, to: usize, swaps: &mut Vec<(usize, usize)>| {
        if i != to {
            a.swap_columns(i, to);
            a.swap_rows(i, to);
        }
        swaps.push((i, to));
    };
    'rows: loop {
        for i in (0..=high).rev() {
            if (0..=high).all(|j| j == i || a[(i, j)] == 0.0) {
                exchange(a, i, high, &mut swaps);
                if high == 0 {
                    swaps.reverse();
                    return (Back { scale: vec![1.0; n], swaps }, 0, 0);
                }
                high -= 1;
                continue 'rows;
            }
        }
        break;
    }
    let high = high;
    while low < high {
        let alone = |j: &usize| (low..=high).all(|i| i == *j || a[(i, *j)] == 0.0);
        let Some(j) = (low..=high).find(alone) else { break };
        exchange(a, j, low, &mut swaps);
        low += 1;
    }
    swaps.reverse();
    let mut scale = vec![1.0; n];
    for _ in 0..100 {
        let mut done = true;
        for i in low..=high {
            let mut c = (low..=high).map(|k| a[(k, i)] * a[(k, i)]).sum::<f64>().sqrt();
            let mut r = (low..=high).map(|k| a[(i, k)] * a[(i, k)]).sum::<f64>().sqrt();
            if c == 0.0 || r == 0.0 {
                continue;
            }
            let (mut f, sum) = (1.0, c + r);
            while c < r / 2.0 && f < 1e100 {
                (f, c, r) = (f * 2.0, c * 2.0, r / 2.0);
            }
            while c / 2.0 >= r && f > 1e-100 {
                (f, c, r) = (f / 2.0, c / 2.0, r * 2.0);
            }
            if c + r >= 0.95 * sum {
                continue;
            }
            scale[i] *= f;
            done = false;
            a.row_mut(i).iter_mut().for_each(|v| *v /= f);
            a.column_mut(i).iter_mut().for_each(|v| *v *= f);
        }
        if done {
            break;
        }
    }
    (Back { scale, swaps }, low, high)
}

/// The reflection `1 - t v v^T` with a first element of one that turns a vector to its first axis, where it has the value `beta`
/// (dlarfg); the vector becomes `v`.
fn reflection(x: &mut [f64]) -> (f64, f64) {
    let rest = x[1..].iter().map(|v| v * v).sum::<f64>().sqrt();
    let alpha = x[0];
    x[0] = 1.0;
    if rest == 0.0 {
        return (0.0, alpha);
    }
    let beta = -alpha.hypot(rest).copysign(alpha);
    x[1..].iter_mut().for_each(|v| *v /= alpha - beta);
    ((beta - alpha) / beta, beta)
}

/// Rows from `at` reflected from the left in the columns `along`, or columns from the right in the rows `along`.
fn reflect(a: &mut DMatrix<f64>, v: &[f64], t: f64, at: usize, along: std::ops::Range<usize>, left: bool) {
    for j in along {
        let sum: f64 = v.iter().enumerate().map(|(i, v)| v * if left { a[(at + i, j)] } else { a[(j, at + i)] }).sum();
        for (i, v) in v.iter().enumerate() {
            let place = if left { (at + i, j) } else { (j, at + i) };
            a[place] -= t * sum * v;
        }
    }
}

/// Zeros below the first subdiagonal (dgehrd); the turns that make them.
fn hessenberg(a: &mut DMatrix<f64>, low: usize, high: usize) -> DMatrix<f64> {
    let n = a.nrows();
    let mut z = DMatrix::identity(n, n);
    for k in low..high.saturating_sub(1) {
        let mut v: Vec<f64> = (k + 1..=high).map(|i| a[(i, k)]).collect();
        let (t, beta) = reflection(&mut v);
        reflect(a, &v, t, k + 1, 0..high + 1, false);
        reflect(a, &v, t, k + 1, k + 1..n, true);
        a[(k + 1, k)] = beta;
        (k + 2..=high).for_each(|i| a[(i, k)] = 0.0);
        reflect(&mut z, &v, t, k + 1, 0..n, false);
    }
    z
}

/// Schur's form by double shifts (dlahqr).
fn schur(h: &mut DMatrix<f64>, z: &mut DMatrix<f64>, (low, high): (usize, usize), eps: f64) -> Option<Vec<Complex<f64>>> {
    let n = h.nrows();
    let mut values: Vec<Complex<f64>> = (0..n).map(|i| Complex::new(h[(i, i)], 0.0)).collect();
    let small = f64::MIN_POSITIVE * ((high - low + 1) as f64 / eps);
    let mut bottom = high as isize;
    let mut left = 30 * (high - low + 1).max(10);
    let mut tries = 0;
    while bottom >= low as isize {
        let i = bottom as usize;
        let mut l = low;
        for k in (low + 1..=i).rev() {
            if negligible(h, k, (low, high), small, eps) {
                l = k;
                break;
            }
        }
        if l > low {
            h[(l, l - 1)] = 0.0;
        }
        if l + 1 >= i {
            if l == i {
                values[i] = Complex::new(h[(i, i)], 0.0);
            } else {
                let [[a, b], [c, d]] = [[h[(i - 1, i - 1)], h[(i - 1, i)]], [h[(i, i - 1)], h[(i, i)]]];
                let block = standard(a, b, c, d, eps);
                [h[(i - 1, i - 1)], h[(i - 1, i)], h[(i, i - 1)], h[(i, i)]] = block.entries;
                [values[i - 1], values[i]] = block.values;
                let (cs, sn) = block.turn;
                for j in i + 1..n {
                    let (x, y) = (h[(i - 1, j)], h[(i, j)]);
                    (h[(i - 1, j)], h[(i, j)]) = (cs * x + sn * y, cs * y - sn * x);
                }
                turn_columns(h, i, cs, sn, i - 1);
                turn_columns(z, i, cs, sn, n);
            }
            tries = 0;
            bottom = l as isize - 1;
            continue;
        }
        if left == 0 {
            return None;
        }
        left -= 1;
        tries += 1;
        sweep(h, z, (l, i), tries, eps);
    }
    Some(values)
}

/// Turns the columns `i - 1` and `i` in the first rows.
fn turn_columns(m: &mut DMatrix<f64>, i: usize, cs: f64, sn: f64, rows: usize) {
    for j in 0..rows {
        let (x, y) = (m[(j, i - 1)], m[(j, i)]);
        (m[(j, i - 1)], m[(j, i)]) = (cs * x + sn * y, cs * y - sn * x);
    }
}

/// Whether what stands below the diagonal in row `k` counts as zero (Ahues and Tisseur).
fn negligible(h: &DMatrix<f64>, k: usize, (low, high): (usize, usize), small: f64, eps: f64) -> bool {
    let below = h[(k, k - 1)].abs();
    if below <= small {
        return true;
    }
    let mut near = h[(k - 1, k - 1)].abs() + h[(k, k)].abs();
    if near == 0.0 {
        near += if k >= low + 2 { h[(k - 1, k - 2)].abs() } else { 0.0 };
        near += if k < high { h[(k + 1, k)].abs() } else { 0.0 };
    }
    if below > eps * near {
        return false;
    }
    let above = h[(k - 1, k)].abs();
    let (ab, ba) = (below.max(above), below.min(above));
    let apart = (h[(k - 1, k - 1)] - h[(k, k)]).abs();
    let (aa, bb) = (h[(k, k)].abs().max(apart), h[(k, k)].abs().min(apart));
    let s = aa + ab;
    ba * (ab / s) <= small.max(eps * (bb * (aa / s)))
}

/// A step of the double shift on the rows from `l` to `i`; shifts that do not help are made up now and then.
fn sweep(h: &mut DMatrix<f64>, z: &mut DMatrix<f64>, (l, i): (usize, usize), tries: usize, eps: f64) {
    let n = h.nrows();
    let (mut h11, mut h21, mut h12, mut h22) = (h[(i - 1, i - 1)], h[(i, i - 1)], h[(i - 1, i)], h[(i, i)]);
    if tries.is_multiple_of(10) {
        let (s, at) = if tries.is_multiple_of(20) {
            (h[(i, i - 1)].abs() + h[(i - 1, i - 2)].abs(), i)
        } else {
            (h[(l + 1, l)].abs() + h[(l + 2, l + 1)].abs(), l)
        };
        h11 = 0.75 * s + h[(at, at)];
        (h12, h21, h22) = (-0.4375 * s, s, h11);
    }
    let s = h11.abs() + h12.abs() + h21.abs() + h22.abs();
    let (mut first, mut second) = (Complex::new(0.0, 0.0), Complex::new(0.0, 0.0));
    if s != 0.0 {
        (h11, h12, h21, h22) = (h11 / s, h12 / s, h21 / s, h22 / s);
        let middle = (h11 + h22) / 2.0;
        let det = (h11 - middle) * (h22 - middle) - h12 * h21;
        let root = det.abs().sqrt();
        if det >= 0.0 {
            first = Complex::new(middle * s, root * s);
            second = first.conj();
        } else {
            let (up, down) = (middle + root, middle - root);
            first.re = if (up - h22).abs() <= (down - h22).abs() { up * s } else { down * s };
            second.re = first.re;
        }
    }
    let mut v = [0.0; 3];
    let mut m = i - 2;
    loop {
        let s = (h[(m, m)] - second.re).abs() + second.im.abs() + h[(m + 1, m)].abs();
        let below = h[(m + 1, m)] / s;
        v[0] = below * h[(m, m + 1)] + (h[(m, m)] - first.re) * ((h[(m, m)] - second.re) / s) - first.im * (second.im / s);
        v[1] = below * (h[(m, m)] + h[(m + 1, m + 1)] - first.re - second.re);
        v[2] = below * h[(m + 2, m + 1)];
        let s: f64 = v.iter().map(|v| v.abs()).sum();
        v.iter_mut().for_each(|v| *v /= s);
        if m == l {
            break;
        }
        let near = h[(m - 1, m - 1)].abs() + h[(m, m)].abs() + h[(m + 1, m + 1)].abs();
        if h[(m, m - 1)].abs() * (v[1].abs() + v[2].abs()) <= eps * v[0].abs() * near {
            break;
        }
        m -= 1;
    }
    for k in m..i {
        let size = 3.min(i - k + 1);
        if k > m {
            (0..size).for_each(|r| v[r] = h[(k + r, k - 1)]);
        }
        let (t, beta) = reflection(&mut v[..size]);
        if k > m {
            h[(k, k - 1)] = beta;
            h[(k + 1, k - 1)] = 0.0;
            if size == 3 {
                h[(k + 2, k - 1)] = 0.0;
            }
        } else if m > l {
            h[(k, k - 1)] *= 1.0 - t;
        }
        reflect(h, &v[..size], t, k, k..n, true);
        reflect(h, &v[..size], t, k, 0..(k + 4).min(i + 1), false);
        reflect(z, &v[..size], t, k, 0..n, false);
    }
}

/// A block of two rows in standard form, its eigenvalues and the cosine and sine that make it.
struct Block {
    entries: [f64; 4],
    values: [Complex<f64>; 2],
    turn: (f64, f64),
}

/// dlanv2: triangular, or with equal diagonal elements and others of opposite signs.
fn standard(mut a: f64, mut b: f64, mut c: f64, mut d: f64, eps: f64) -> Block {
    let (mut cs, mut sn) = (1.0, 0.0);
    if c == 0.0 {
    } else if b == 0.0 {
        (cs, sn) = (0.0, 1.0);
        (a, b, c, d) = (d, -c, 0.0, a);
    } else if a - d != 0.0 || (b > 0.0) == (c > 0.0) {
        let apart = a - d;
        let p = 0.5 * apart;
        let most = b.abs().max(c.abs());
        let least = b.abs().min(c.abs()) * 1f64.copysign(b) * 1f64.copysign(c);
        let scale = p.abs().max(most);
        let z = (p / scale) * p + (most / scale) * least;
        if z >= 4.0 * eps {
            let z = p + (scale.sqrt() * z.sqrt()).copysign(p);
            (a, d) = (d + z, d - (most / z) * least);
            let long = c.hypot(z);
            (cs, sn) = (z / long, c / long);
            (b, c) = (b - c, 0.0);
        } else {
            let sum = b + c;
            let long = sum.hypot(apart);
            cs = (0.5 * (1.0 + sum.abs() / long)).sqrt();
            sn = -(p / (long * cs)) * 1f64.copysign(sum);
            let (aa, bb, cc, dd) = (a * cs + b * sn, b * cs - a * sn, c * cs + d * sn, d * cs - c * sn);
            (a, b, c, d) = (aa * cs + cc * sn, bb * cs + dd * sn, cc * cs - aa * sn, dd * cs - bb * sn);
            a = 0.5 * (a + d);
            d = a;
            if c != 0.0 && b == 0.0 {
                (b, c) = (-c, 0.0);
                (cs, sn) = (-sn, cs);
            } else if c != 0.0 && (b > 0.0) == (c > 0.0) {
                let (sab, sac) = (b.abs().sqrt(), c.abs().sqrt());
                let p = (sab * sac).copysign(c);
                let tau = 1.0 / (b + c).abs().sqrt();
                (a, d, b, c) = (a + p, a - p, b - c, 0.0);
                (cs, sn) = (cs * sab * tau - sn * sac * tau, cs * sac * tau + sn * sab * tau);
            }
        }
    }
    let wide = if c == 0.0 { 0.0 } else { b.abs().sqrt() * c.abs().sqrt() };
    Block { entries: [a, b, c, d], values: [Complex::new(a, wide), Complex::new(d, -wide)], turn: (cs, sn) }
}

/// Vectors of Schur's form by substitution from below (dtrevc), turned back by `z`.
fn triangular_vectors(t: &DMatrix<f64>, values: &[Complex<f64>], z: &DMatrix<f64>, eps: f64) -> DMatrix<Complex<f64>> {
    let n = t.nrows();
    let zero = Complex::new(0.0, 0.0);
    let mut out = DMatrix::from_element(n, n, zero);
    let least = eps * t.iter().fold(f64::MIN_POSITIVE / eps, |m, v| m.max(v.abs()));
    let mut at = 0;
    while at < n {
        let w = values[at];
        let (mut x, mut row) = (vec![zero; n], at as isize - 1);
        let last = if w.im == 0.0 {
            x[at] = Complex::new(1.0, 0.0);
            at
        } else {
            let (b, c) = (t[(at, at + 1)], t[(at + 1, at)]);
            (x[at], x[at + 1]) = if b.abs() >= c.abs() {
                (Complex::new(1.0, 0.0), Complex::new(0.0, w.im / b))
            } else {
                (Complex::new(-w.im / c, 0.0), Complex::new(0.0, 1.0))
            };
            at + 1
        };
        // A divisor that is zero is as small as the matrix's rounding.
        let apart = |v: Complex<f64>| if v.norm() < least { Complex::new(least, 0.0) } else { v };
        while row >= 0 {
            let i = row as usize;
            let right = |r: usize, x: &[Complex<f64>]| -> Complex<f64> { (i + 1..=last).map(|k| -x[k] * t[(r, k)]).sum() };
            if i > 0 && t[(i, i - 1)] != 0.0 {
                let (p, q) = (right(i - 1, &x), right(i, &x));
                let (a, d) = (Complex::from(t[(i - 1, i - 1)]) - w, Complex::from(t[(i, i)]) - w);
                let (b, c) = (t[(i - 1, i)], t[(i, i - 1)]);
                let det = a * d - b * c;
                let det = if det.norm() < least * least { Complex::new(least * least, 0.0) } else { det };
                (x[i - 1], x[i]) = ((d * p - q * b) / det, (a * q - p * c) / det);
                row -= 2;
            } else {
                x[i] = right(i, &x) / apart(Complex::from(t[(i, i)]) - w);
                row -= 1;
            }
        }
        for r in 0..n {
            let made: Complex<f64> = (0..=last).map(|k| x[k] * z[(r, k)]).sum();
            out[(r, at)] = made;
            if last > at {
                out[(r, last)] = made.conj();
            }
        }
        at = last + 1;
    }
    out
}
