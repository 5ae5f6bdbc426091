//! Decompositions of matrices on the host, in f64: what initialisers need of them.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};

use crate::cell::expect;
use crate::create;
use crate::read::read;

/// Functions of `torch._C` about matrices.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("orthonormal", orthonormal)];

/// `orthonormal(a)` of a matrix with at least as many rows as columns: Q of A = Q R, R with a positive diagonal.
fn orthonormal(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a] = args.exactly::<1>("orthonormal")?;
    let t = expect(&a, "orthonormal")?;
    let (value, kind) = (t.get()?.detach(), t.kind());
    let [rows, columns] = value.shape()[..] else { return Err(Exc::new(ExcKind::RuntimeError, "orthonormal() needs a matrix")) };
    if rows < columns {
        return Err(Exc::new(ExcKind::RuntimeError, "orthonormal() needs at least as many rows as columns"));
    }
    read(vm, vec![value], move |vm, values| {
        let q = gram_schmidt(&values[0], rows, columns);
        create::from_values(vm, &q, vec![rows, columns], kind)
    })
}

/// Gram and Schmidt's process, each column freed twice of those before it: that is enough for f64 (Giraud et al., 2005).
fn gram_schmidt(a: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let mut q: Vec<Vec<f64>> = Vec::with_capacity(columns);
    for c in 0..columns {
        let mut v: Vec<f64> = (0..rows).map(|r| a[r * columns + c]).collect();
        for _ in 0..2 {
            for u in &q {
                let dot: f64 = u.iter().zip(&v).map(|(x, y)| x * y).sum();
                v.iter_mut().zip(u).for_each(|(x, y)| *x -= dot * y);
            }
        }
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            v.iter_mut().for_each(|x| *x /= norm);
        }
        q.push(v);
    }
    let mut out = vec![0.0; rows * columns];
    for (c, column) in q.iter().enumerate() {
        for (r, value) in column.iter().enumerate() {
            out[r * columns + c] = *value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::gram_schmidt;

    #[test]
    fn columns_are_orthonormal() {
        let a = [2.0, 1.0, -1.0, 3.0, 0.5, 4.0];
        let q = gram_schmidt(&a, 3, 2);
        let dot = |i: usize, j: usize| (0..3).map(|r| q[r * 2 + i] * q[r * 2 + j]).sum::<f64>();
        assert!((dot(0, 0) - 1.0).abs() < 1e-12 && (dot(1, 1) - 1.0).abs() < 1e-12 && dot(0, 1).abs() < 1e-12);
        // R's diagonal is positive.
        assert!((0..3).map(|r| q[r * 2] * a[r * 2]).sum::<f64>() > 0.0);
    }
}
