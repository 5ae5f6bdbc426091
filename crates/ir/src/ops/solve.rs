//! Systems of equations. PyTorch: torch.linalg.

use super::linalg::matmul;
use super::shape::constant;
use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[op!(
    "linalg_solve_triangular",
    "Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False",
    "X with A X = B, or X A = B without left, for triangular matrices A [.., n, n], whose other half (and with unitriangular whose diagonal) \
     is not looked at.",
    solve_triangular,
    solve_triangular_vjp
)
.full()];

/// A without the half that does not count, and with ones on the diagonal where they are meant.
fn triangle(b: &mut Builder, x: ValueId, upper: bool, unit: bool) -> Result<ValueId> {
    let y = b.op(
        if upper { "triu" } else { "tril" },
        &[x],
        &Attrs::new().with(
            "diagonal",
            if !unit {
                0i64
            } else if upper {
                1
            } else {
                -1
            },
        ),
    )?[0];
    if !unit {
        return Ok(y);
    }
    let shape = b.shape(y);
    let square = &shape[shape.len() - 2..];
    let (row, column) = (b.iota(square, 0)?, b.iota(square, 1)?);
    let on = b.binary(ScalarOp::Eq, row, column)?;
    let one = b.constant(1.0, b.dtype(y))?;
    b.select(on, one, y)
}

/// The inverse of lower triangular matrices [K, n, n], where n is a power of two. In log2(n) rounds blocks of twice the size, [A 0; C D],
/// have the inverse [A' 0; -D' C A', D'] (N. Higham, "Stability of parallel triangular system solvers", 1995).
fn inverse(b: &mut Builder, x: ValueId, n: i64) -> Result<ValueId> {
    let count = b.shape(x)[0].clone();
    let diagonal = super::linalg::diagonal_of(b, x, 1, 2)?;
    let diagonal = b.unary(ScalarOp::Recip, diagonal)?;
    let mut blocks = b.reshape(diagonal, vec![count.clone(), Dim::Const(n), Dim::ONE, Dim::ONE])?;
    let mut size = 1;
    while size < n {
        // The blocks below the diagonal, one for each pair: [K, n / 2 size, size, size].
        let (pairs, s) = (n / (2 * size), Dim::Const(size));
        let grid = vec![count.clone(), Dim::Const(pairs), Dim::Const(2 * size), Dim::Const(pairs), Dim::Const(2 * size)];
        let below = b.reshape(x, grid)?;
        let below = b.narrow(below, 2, s.clone(), s.clone())?;
        let below = b.narrow(below, 4, Dim::ZERO, s.clone())?;
        let below = b.permute(below, &[0, 1, 3, 2, 4])?;
        let below = super::linalg::diagonal_of(b, below, 1, 2)?;
        let both = b.reshape(blocks, vec![count.clone(), Dim::Const(pairs), Dim::Const(2), s.clone(), s.clone()])?;
        let part = |b: &mut Builder, i: i64| {
            let v = b.narrow(both, 2, Dim::Const(i), Dim::ONE)?;
            b.reshape(v, vec![count.clone(), Dim::Const(pairs), s.clone(), s.clone()])
        };
        let (first, second) = (part(b, 0)?, part(b, 1)?);
        let low = matmul(b, second, below)?;
        let low = matmul(b, low, first)?;
        let low = b.neg(low)?;
        let top = b.pad(first, 3, Dim::ZERO, s.clone(), 0.0)?;
        let bottom = b.cat(&[low, second], 3)?;
        blocks = b.cat(&[top, bottom], 2)?;
        size *= 2;
    }
    b.reshape(blocks, vec![count, Dim::Const(n), Dim::Const(n)])
}

/// X with A X = B for lower triangular A [K, n, n] and B [K, n, m].
fn solve_lower(b: &mut Builder, a: ValueId, y: ValueId, n: i64) -> Result<ValueId> {
    let whole = (n as u64).next_power_of_two() as i64;
    let more = Dim::Const(whole - n);
    // Filled up with ones on the diagonal.
    let mut wide = b.pad(a, 1, Dim::ZERO, more.clone(), 0.0)?;
    wide = b.pad(wide, 2, Dim::ZERO, more, 0.0)?;
    if whole > n {
        let square = [Dim::Const(whole), Dim::Const(whole)];
        let (row, column) = (b.iota(&square, 0)?, b.iota(&square, 1)?);
        let (on, new) = (b.binary(ScalarOp::Eq, row, column)?, b.scalar(ScalarOp::Ge, row, n as f64)?);
        let on = b.binary(ScalarOp::And, on, new)?;
        let one = b.constant(1.0, b.dtype(wide))?;
        wide = b.select(on, one, wide)?;
    }
    let inverse = inverse(b, wide, whole)?;
    let inverse = b.narrow(inverse, 1, Dim::ZERO, Dim::Const(n))?;
    let inverse = b.narrow(inverse, 2, Dim::ZERO, Dim::Const(n))?;
    let x = matmul(b, inverse, y)?;
    // One step of refinement: as accurate as substitution.
    let back = matmul(b, a, x)?;
    let rest = b.sub(y, back)?;
    let more = matmul(b, inverse, rest)?;
    b.add(x, more)
}

fn solve_triangular(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (upper, left) = (a.bool("upper")?, a.bool("left")?);
    let (m, y) = (x[0], x[1]);
    let (p, q) = (b.rank(m), b.rank(y));
    if p < 2 || q < 2 || b.dtype(m) != b.dtype(y) || !b.dtype(m).is_float() {
        return Err(b.error("needs matrices of floats of one type", "give A [.., n, n] and B [.., n, k]"));
    }
    let (s, t) = (b.shape(m), b.shape(y));
    let rows = if left { t[q - 2].clone() } else { t[q - 1].clone() };
    let fits = b.graph.env.equal(&s[p - 2], &s[p - 1], "A is square") && b.graph.env.equal(&s[p - 1], &rows, "A fits B");
    if !fits {
        let text = format!("A is {}, B {}", b.graph.env.show_shape(&s), b.graph.env.show_shape(&t));
        return Err(b.error(text, "give a square A of as many rows as B, or as many as B has columns without left"));
    }
    let n = constant(b, &s[p - 1])?;
    // Batch dimensions broadcast.
    let (mut batch, rank) = (Vec::new(), p.max(q) - 2);
    for d in 0..rank {
        let at = |shape: &[Dim]| (d + shape.len()).checked_sub(rank + 2).map_or(Dim::ONE, |i| shape[i].clone());
        let (l, r) = (at(&s), at(&t));
        if !l.is_one() && !r.is_one() && !b.graph.env.equal(&l, &r, "batches agree") {
            return Err(b.error("the batches do not broadcast", "give sizes that agree, or 1"));
        }
        batch.push(if l.is_one() { r } else { l });
    }
    let m = triangle(b, m, upper, a.bool("unitriangular")?)?;
    let grown = |tail: &[Dim]| [&batch[..], tail].concat();
    let (m, y) = (b.broadcast_to(m, &grown(&s[p - 2..]))?, b.broadcast_to(y, &grown(&t[q - 2..]))?);
    let out = b.shape(y);
    if n == 0 || out.iter().any(Dim::is_zero) {
        return Ok(vec![b.full(&out, 0.0, b.dtype(y))?]);
    }
    let count = Dim::product(&batch);
    let stacked = |tail: &[Dim]| [std::slice::from_ref(&count), tail].concat();
    let (mut m, mut y) = (b.reshape(m, stacked(&s[p - 2..]))?, b.reshape(y, stacked(&t[q - 2..]))?);
    // X A = B is A^T X^T = B^T; an upper triangle in reverse order is a lower one.
    let mut is_upper = upper;
    if !left {
        (m, y) = (b.transpose(m, 1, 2)?, b.transpose(y, 1, 2)?);
        is_upper = !is_upper;
    }
    if is_upper {
        (m, y) = (b.prim(crate::Prim::Flip(vec![1, 2]), &[m])?, b.prim(crate::Prim::Flip(vec![1]), &[y])?);
    }
    let mut z = solve_lower(b, m, y, n)?;
    if is_upper {
        z = b.prim(crate::Prim::Flip(vec![1]), &[z])?;
    }
    if !left {
        z = b.transpose(z, 1, 2)?;
    }
    Ok(vec![b.reshape(z, out)?])
}

/// With A X = B: dB solves A^T dB = dX, and dA = -dB X^T within the triangle; without left all transposed.
fn solve_triangular_vjp(b: &mut Builder, v: &VjpArgs) -> Result<Vec<Option<ValueId>>> {
    let Some(dx) = v.grads[0] else { return Ok(vec![None; 2]) };
    let (upper, left, unit) = (v.attrs.bool("upper")?, v.attrs.bool("left")?, v.attrs.bool("unitriangular")?);
    let turned = |b: &mut Builder, x: ValueId| {
        let r = b.rank(x);
        b.transpose(x, r - 2, r - 1)
    };
    let m = turned(b, v.inputs[0])?;
    let attrs = Attrs::new().with("upper", !upper).with("left", left).with("unitriangular", unit);
    let dy = b.op("linalg_solve_triangular", &[m, dx], &attrs)?[0];
    let z = turned(b, v.outputs[0])?;
    let da = if left { matmul(b, dy, z)? } else { matmul(b, z, dy)? };
    let da = b.neg(da)?;
    let diagonal = if !unit {
        0i64
    } else if upper {
        1
    } else {
        -1
    };
    let da = b.op(if upper { "triu" } else { "tril" }, &[da], &Attrs::new().with("diagonal", diagonal))?[0];
    Ok(vec![Some(da), Some(dy)])
}
