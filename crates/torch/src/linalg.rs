//! Decompositions of matrices on the host, in f64: `torch.linalg` and `numpy.linalg` are made of them.

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use nalgebra::{DMatrix, DVector};

mod eig;

use crate::cell::expect;
use crate::create;
use crate::kind::Kind;
use crate::read::read;

/// Functions of `torch._C` about matrices.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("matrices", matrices)];

/// Values and the sizes of one result.
type Part = (Vec<f64>, Vec<usize>);

/// `matrices(name, a, b)`: what a decomposition gives of every matrix of a batch; `b` is the right side of `solve`. The first result
/// is whether it could be computed.
fn matrices(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, a, b] = args.bind("matrices", &["name", "a", "b"], 2)?;
    let name = name.as_str().unwrap_or_default().to_string();
    let t = expect(&a, "linalg")?;
    let (value, kind) = (t.get()?.detach(), t.kind());
    if kind.is_complex() {
        // Those that are there are made of real ones, in Python.
        return Err(Exc::new(ExcKind::NotImplementedError, format!("linalg.{name} of complex matrices")));
    }
    let mut shapes = vec![value.shape()];
    let mut tensors = vec![value];
    if let Some(b) = crate::cell::cell(&b) {
        let b = b.get()?.detach();
        shapes.push(b.shape());
        tensors.push(b);
    }
    let eps = if kind == Kind::Float64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    read(vm, tensors, move |vm, values| {
        let b = values.get(1).map(|v| (v.as_slice(), shapes[1].as_slice()));
        match batched(&name, &values[0], &shapes[0], b, eps)? {
            None => Ok(Value::None),
            Some(parts) => {
                let made: Result<Vec<Value>, Exc> = parts.into_iter().map(|(v, shape)| create::from_values(vm, &v, shape, kind)).collect();
                Ok(Value::tuple(made?))
            }
        }
    })
}

/// A decomposition of every matrix of a batch `[.., m, n]`; `None` where one of them has none (it is singular, or not positive).
/// `b` has the same leading sizes; `eps` is the precision that the caller's elements have.
pub(crate) fn batched(name: &str, a: &[f64], shape: &[usize], b: Option<(&[f64], &[usize])>, eps: f64) -> Result<Option<Vec<Part>>, Exc> {
    let [lead @ .., m, n] = shape else { return Err(Exc::new(ExcKind::RuntimeError, format!("linalg.{name} needs matrices"))) };
    let (m, n) = (*m, *n);
    if !matches!(name, "svd" | "qr" | "qr_complete" | "lu") && m != n {
        return Err(Exc::new(
            ExcKind::RuntimeError,
            format!("linalg.{name}: A must be batches of square matrices, but they are {m} by {n} matrices"),
        ));
    }
    let count: usize = lead.iter().product();
    let columns = b.map_or(0, |(_, s)| s.last().copied().unwrap_or(0));
    if b.is_some_and(|(v, _)| v.len() != count * n * columns) {
        return Err(Exc::new(ExcKind::RuntimeError, format!("linalg.{name}: incompatible shapes of A and B")));
    }
    let mut out: Vec<Part> = Vec::new();
    for i in 0..count.max(1) {
        // Of an empty batch only the sizes count.
        let matrix = if count == 0 { DMatrix::identity(m, n) } else { DMatrix::from_row_slice(m, n, &a[i * m * n..(i + 1) * m * n]) };
        let right = b.map(|(v, _)| {
            if count == 0 { DMatrix::zeros(n, columns) } else { DMatrix::from_row_slice(n, columns, &v[i * n * columns..][..n * columns]) }
        });
        let Some(parts) = decompose(name, matrix, right, eps)? else { return Ok(None) };
        if i == 0 {
            out = parts.iter().map(|(_, s)| (Vec::new(), lead.iter().chain(s).copied().collect())).collect();
        }
        if count > 0 {
            out.iter_mut().zip(parts).for_each(|(all, (one, _))| all.0.extend(one));
        }
    }
    Ok(Some(out))
}

fn decompose(name: &str, a: DMatrix<f64>, b: Option<DMatrix<f64>>, eps: f64) -> Result<Option<Vec<Part>>, Exc> {
    if a.iter().any(|v| !v.is_finite()) && matches!(name, "svd" | "eigh" | "eig" | "eigvals") {
        return Ok(None);
    }
    if a.is_empty() {
        // Without elements there is nothing to decompose, and the determinant is one.
        let (m, n) = a.shape();
        let empty = |shape: &[usize]| (Vec::new(), shape.to_vec());
        return Ok(Some(match name {
            "qr" => vec![empty(&[m, 0]), empty(&[0, n])],
            "qr_complete" => vec![matrix(&DMatrix::identity(m, m)), empty(&[m, n])],
            "svd" => vec![empty(&[m, 0]), empty(&[0]), empty(&[0, n])],
            "eigh" => vec![empty(&[0]), empty(&[0, 0])],
            "eigvals" => vec![empty(&[0]), empty(&[0])],
            "eig" => vec![empty(&[0]), empty(&[0]), empty(&[0, 0]), empty(&[0, 0])],
            "lu" => vec![empty(&[m, n]), ((0..m).map(|i| i as f64).collect(), vec![m]), empty(&[0])],
            "solve" => vec![empty(&[0, b.map_or(0, |b| b.ncols())])],
            "slogdet" => vec![(vec![1.0], Vec::new()), (vec![0.0], Vec::new()), (vec![1.0], Vec::new())],
            _ => vec![empty(&[m, n])],
        }));
    }
    Ok(match name {
        "qr" => Some(qr(a, false)),
        "qr_complete" => Some(qr(a, true)),
        "svd" => svd(a),
        "eigh" => Some(eigh(a)),
        // Real and imaginary parts: of the values, and of the vectors as columns.
        "eig" | "eigvals" => eig::eig(a, eps).map(|(values, vectors)| {
            let n = values.len();
            let mut parts = vec![(values.iter().map(|v| v.re).collect(), vec![n]), (values.iter().map(|v| v.im).collect(), vec![n])];
            if name == "eig" {
                parts.extend([matrix(&vectors.map(|v| v.re)), matrix(&vectors.map(|v| v.im))]);
            }
            parts
        }),
        "lu" => Some(lu(a)),
        // Scaling never ends for what is not finite, nor for what its powers make so.
        "exp" if a.iter().any(|v| !v.is_finite() || v.abs() > 1e8) => Some(vec![matrix(&a.map(|_| f64::NAN))]),
        "exp" => Some(vec![matrix(&a.exp())]),
        "inv" => a.try_inverse().map(|x| vec![matrix(&x)]),
        "solve" => b.and_then(|b| a.lu().solve(&b)).map(|x| vec![matrix(&x)]),
        "cholesky" => a.cholesky().map(|c| vec![matrix(&c.l())]),
        "slogdet" => {
            let lu = a.lu();
            let diagonal = lu.u().diagonal();
            let sign = diagonal.iter().fold(lu.p().determinant::<f64>(), |s, v| if *v == 0.0 { 0.0 } else { s * v.signum() });
            let log: f64 = diagonal.iter().map(|v| v.abs().ln()).sum();
            Some(vec![(vec![sign], Vec::new()), (vec![log], Vec::new()), (vec![sign * log.exp()], Vec::new())])
        }
        other => return Err(Exc::new(ExcKind::NotImplementedError, format!("linalg.{other}"))),
    })
}

fn matrix(x: &DMatrix<f64>) -> Part {
    (x.transpose().as_slice().to_vec(), vec![x.nrows(), x.ncols()])
}

/// Q and R with LAPACK's signs: a reflection gives its column the sign that its first element did not have, and a column of one
/// element is not reflected (dgeqrf, dlarfg). Q is square where it is to be complete.
fn qr(mut a: DMatrix<f64>, complete: bool) -> Vec<Part> {
    let (m, n) = a.shape();
    let k = m.min(n);
    let mut reflections = Vec::with_capacity(k);
    for j in 0..k {
        let (first, below) = (a[(j, j)], a.view((j + 1, j), (m - j - 1, 1)).norm());
        // A column that is zero below its first element is not reflected (dlarfg), so that element keeps its sign.
        if below == 0.0 {
            continue;
        }
        let length = -first.hypot(below).copysign(first);
        let mut axis = DVector::from_fn(m - j, |i, _| if i == 0 { 1.0 } else { a[(j + i, j)] / (first - length) });
        axis *= ((length - first) / length).sqrt();
        reflect(&mut a, &axis, j);
        reflections.push(axis);
    }
    let k = if complete { m } else { k };
    let mut q = DMatrix::identity(m, k);
    for axis in reflections.iter().rev() {
        reflect(&mut q, axis, 0);
    }
    vec![matrix(&q), matrix(&a.rows(0, k).upper_triangle())]
}

/// `A -= v v^T A` in A's last rows, from a column on.
fn reflect(a: &mut DMatrix<f64>, axis: &DVector<f64>, from: usize) {
    let (m, n) = a.shape();
    let top = m - axis.len();
    let mut part = a.view_mut((top, from), (axis.len(), n - from));
    let along = part.tr_mul(axis);
    part.ger(-1.0, axis, &along, 1.0);
}

/// L below U in one matrix, the rows in their new order, and what each was exchanged for, counted from one (dgetrf).
fn lu(mut a: DMatrix<f64>) -> Vec<Part> {
    let (m, n) = a.shape();
    let mut order: Vec<usize> = (0..m).collect();
    let mut pivots = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        let at = (k + 1..m).fold(k, |at, i| if a[(i, k)].abs() > a[(at, k)].abs() { i } else { at });
        a.swap_rows(k, at);
        order.swap(k, at);
        pivots.push((at + 1) as f64);
        if a[(k, k)] == 0.0 {
            continue;
        }
        for i in k + 1..m {
            a[(i, k)] /= a[(k, k)];
            for j in k + 1..n {
                a[(i, j)] -= a[(i, k)] * a[(k, j)];
            }
        }
    }
    let count = pivots.len();
    vec![matrix(&a), (order.iter().map(|i| *i as f64).collect(), vec![m]), (pivots, vec![count])]
}

/// U, the singular values, largest first, and V transposed. The signs of pairs of vectors are free.
fn svd(a: DMatrix<f64>) -> Option<Vec<Part>> {
    let svd = a.svd(true, true);
    let (u, v) = (svd.u?, svd.v_t?);
    let k = svd.singular_values.len();
    Some(vec![matrix(&u), (svd.singular_values.as_slice().to_vec(), vec![k]), matrix(&v)])
}

/// Eigenvalues of a symmetric matrix, smallest first, and their vectors, by its lower triangle.
fn eigh(a: DMatrix<f64>) -> Vec<Part> {
    let n = a.nrows();
    let symmetric = DMatrix::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { a[(j, i)] });
    let found = symmetric.symmetric_eigen();
    let mut order: Vec<usize> = (0..n).collect();
    order.order_by(|i, j| found.eigenvalues[*i].total_cmp(&found.eigenvalues[*j]));
    let values = DVector::from_iterator(n, order.iter().map(|i| found.eigenvalues[*i]));
    let vectors = DMatrix::from_fn(n, n, |i, j| found.eigenvectors[(i, order[j])]);
    vec![(values.as_slice().to_vec(), vec![n]), matrix(&vectors)]
}

#[cfg(test)]
mod tests {
    use super::batched;

    fn product(a: &[f64], b: &[f64], n: usize, k: usize, m: usize) -> Vec<f64> {
        (0..n * m).map(|i| (0..k).map(|j| a[i / m * k + j] * b[j * m + i % m]).sum()).collect()
    }

    fn near(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-10)
    }

    #[test]
    fn eigenvectors_turn_into_multiples() {
        // What LAPACK gives: a pair of complex numbers before the real one, the vectors' largest elements real.
        let a = [0.0, 1.0, 0.0, -1.0, 0.0, 0.5, 0.25, 0.0, 2.0];
        let made = batched("eig", &a, &[3, 3], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        let [re, im, x, y] = [0, 1, 2, 3].map(|i| made[i].0.clone());
        assert!(im[0] > 0.0 && im[0] == -im[1] && im[2] == 0.0, "{im:?}");
        let (ax, ay) = (product(&a, &x, 3, 3, 3), product(&a, &y, 3, 3, 3));
        let wx: Vec<f64> = (0..9).map(|i| re[i % 3] * x[i] - im[i % 3] * y[i]).collect();
        let wy: Vec<f64> = (0..9).map(|i| re[i % 3] * y[i] + im[i % 3] * x[i]).collect();
        assert!(near(&ax, &wx) && near(&ay, &wy));
        let alone = batched("eigvals", &[3.0, 1.0, 0.0, 2.0], &[2, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        assert_eq!(alone[0].0, [3.0, 2.0]);
    }

    #[test]
    fn parts_multiply_to_the_matrix() {
        let a = [2.0, 1.0, -1.0, 3.0, 0.5, 4.0];
        let qr = batched("qr", &a, &[3, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        assert!(near(&product(&qr[0].0, &qr[1].0, 3, 2, 2), &a));
        // LAPACK's signs: the first column was reflected away from its first element.
        assert!(qr[1].0[0] < 0.0 && qr[1].0[2] == 0.0);
        let svd = batched("svd", &a, &[1, 3, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        let scaled: Vec<f64> = svd[0].0.iter().enumerate().map(|(i, u)| u * svd[1].0[i % 2]).collect();
        assert!(near(&product(&scaled, &svd[2].0, 3, 2, 2), &a) && svd[1].0[0] > svd[1].0[1] && svd[0].1 == [1, 3, 2]);
        let s = [4.0, 1.0, 1.0, 3.0];
        let l = batched("cholesky", &s, &[2, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        assert!(near(&product(&l[0].0, &[l[0].0[0], l[0].0[2], l[0].0[1], l[0].0[3]], 2, 2, 2), &s));
        let det = batched("slogdet", &s, &[2, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        assert!((det[2].0[0] - 11.0).abs() < 1e-10 && det[0].0[0] == 1.0);
        let lu = batched("lu", &a, &[3, 2], None, f64::EPSILON).ok().flatten().unwrap_or_default();
        assert!(near(&lu[0].0, &[2.0, 1.0, 0.25, 3.75, -0.5, 3.5 / 3.75]) && lu[1].0 == [0.0, 2.0, 1.0] && lu[2].0 == [1.0, 3.0]);
        let x = batched("solve", &s, &[2, 2], Some((&[1.0, 2.0], &[2, 1])), f64::EPSILON).ok().flatten().unwrap_or_default();
        assert!(near(&product(&s, &x[0].0, 2, 2, 1), &[1.0, 2.0]));
        assert!(
            batched("inv", &[1.0, 2.0, 2.0, 4.0], &[2, 2], None, f64::EPSILON).is_ok_and(|found| found.is_none()),
            "a singular matrix has none"
        );
        assert!(batched("inv", &a, &[3, 2], None, f64::EPSILON).is_err(), "only square matrices have inverses");
    }
}
