//! Concatenations: what is only put side by side is stored there by what computes it.
//!
//! The gradients of query, key and value are the thirds of what the product before them wants, as `cat` gives it and as a sum of
//! padded parts gives it. A nest that copies each range of an axis from a buffer of its own computes nothing: where nobody else reads
//! these buffers, those who write them write into the whole.

use super::Fused;
use super::once::{places, written_by};
use crate::nest::{Kind, classify, rename};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A range of a concatenation: who computes it, by which of its stores, and where in the whole that belongs.
struct Piece {
    writer: usize,
    store: usize,
    index: Vec<Expr>,
}

/// Removes the nests that only copy ranges side by side.
pub(super) fn place(program: &mut LoopProgram, fused: &mut Fused) {
    for n in (0..program.nests.len()).rev() {
        let Some(pieces) = pieces(program, n) else { continue };
        let whole = program.nests[n].stores[0].buffer;
        let writers: BTreeSet<usize> = pieces.iter().map(|p| p.writer).collect();
        for p in pieces {
            let store = &mut program.nests[p.writer].stores[p.store];
            (store.buffer, store.index) = (whole, p.index);
        }
        program.nests.remove(n);
        fused.replace(n, &writers);
    }
}

/// The pieces that the nest at a position puts side by side, where it does nothing else.
fn pieces(program: &LoopProgram, n: usize) -> Option<Vec<Piece>> {
    let nest = &program.nests[n];
    let [store] = nest.stores.as_slice() else { return None };
    let copies = nest.steps.is_empty() && nest.exchange.is_none() && !store.add && classify(nest, program) == Kind::Pointwise;
    if !copies || program.buffer(store.buffer).kind != BufferKind::Temp || written_by(program, store.buffer) != [n] {
        return None;
    }
    places(program, nest, &store.index)?;
    let (axis, edges) = edges(program, nest)?;
    let mut found: Vec<(BufferId, Piece)> = Vec::new();
    for range in edges.windows(2) {
        let Value::Load(v) = at(nest, store.value, axis, range[0]) else { return None };
        let (buffer, piece) = piece(program, n, v, axis, [range[0], range[1]])?;
        if found.iter().any(|(b, _)| *b == buffer) {
            return None;
        }
        found.push((buffer, piece));
    }
    Some(found.into_iter().map(|(_, p)| p).collect())
}

/// The axis that conditions divide into ranges, and where these begin and end.
fn edges(program: &LoopProgram, nest: &Nest) -> Option<(AxisId, Vec<i64>)> {
    let compared = (0..nest.ops.len() as u32).filter_map(|v| comparison(nest, ValId(v)));
    let (mut axis, mut edges) = (None, BTreeSet::new());
    for (_, a, bound) in compared {
        if *axis.get_or_insert(a) != a {
            return None;
        }
        edges.insert(bound);
    }
    let end = program.extent(axis?).as_const()?;
    edges.extend([0, end]);
    let edges: Vec<i64> = edges.into_iter().filter(|e| (0..=end).contains(e)).collect();
    (edges.len() > 2).then_some((axis?, edges))
}

/// What compares an axis with a number.
fn comparison(nest: &Nest, v: ValId) -> Option<(ScalarOp, AxisId, i64)> {
    match nest.op(v) {
        LoopOp::Scalar(op @ (ScalarOp::Ge | ScalarOp::Lt), f) => match (nest.op(f[0]), nest.op(f[1])) {
            (LoopOp::Index(e), LoopOp::Const(c)) => Some((*op, e.as_axis()?, c.value() as i64)),
            _ => None,
        },
        _ => None,
    }
}

/// What an operation is within a range.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Zero,
    Bool(bool),
    /// What a load reads, in its own type or a wider one.
    Load(ValId),
    Other,
}

/// What an operation is in the range that begins at `from`.
fn at(nest: &Nest, v: ValId, axis: AxisId, from: i64) -> Value {
    let of = |v: &ValId| at(nest, *v, axis, from);
    match nest.op(v) {
        LoopOp::Const(l) if l.value() == 0.0 => Value::Zero,
        LoopOp::Load { mask, .. } => match mask.as_ref().map(of) {
            None | Some(Value::Bool(true)) => Value::Load(v),
            _ => Value::Other,
        },
        LoopOp::Cast(to, x) => match of(x) {
            Value::Zero => Value::Zero,
            Value::Load(l) if *to == nest.dtype(l) || (*to == DType::F32 && matches!(nest.dtype(l), DType::BF16 | DType::F16)) => {
                Value::Load(l)
            }
            _ => Value::Other,
        },
        LoopOp::Scalar(ScalarOp::And, f) => match (of(&f[0]), of(&f[1])) {
            (Value::Bool(a), Value::Bool(b)) => Value::Bool(a && b),
            _ => Value::Other,
        },
        LoopOp::Scalar(ScalarOp::Select, f) => match of(&f[0]) {
            Value::Bool(true) => of(&f[1]),
            Value::Bool(false) => of(&f[2]),
            _ => Value::Other,
        },
        LoopOp::Scalar(ScalarOp::Add, f) => match (of(&f[0]), of(&f[1])) {
            (Value::Zero, other) | (other, Value::Zero) => other,
            _ => Value::Other,
        },
        _ => match comparison(nest, v) {
            Some((op, a, bound)) if a == axis => Value::Bool((from < bound) == (op == ScalarOp::Lt)),
            _ => Value::Other,
        },
    }
}

/// Who writes what a load reads in a range, and where that belongs in the whole.
fn piece(program: &LoopProgram, n: usize, load: ValId, axis: AxisId, [from, end]: [i64; 2]) -> Option<(BufferId, Piece)> {
    let nest = &program.nests[n];
    let whole = &nest.stores[0];
    let LoopOp::Load { buffer, index, .. } = nest.op(load) else { return None };
    let here = |op: &LoopOp| matches!(op, LoopOp::Load { buffer: b, .. } if b == buffer);
    let own = program.buffer(*buffer);
    if own.kind != BufferKind::Temp
        || own.dtype != program.buffer(whole.buffer).dtype
        || nest.ops.iter().filter(|(op, _)| here(op)).count() != 1
    {
        return None;
    }
    let others = |m: usize, o: &Nest| {
        m != n && (o.reads().contains(buffer) || o.exchange.as_ref().is_some_and(|e| e.from == *buffer || e.to == *buffer))
    };
    let [writer] = written_by(program, *buffer)[..] else { return None };
    if writer >= n || program.nests.iter().enumerate().any(|(m, o)| others(m, o)) || !program.nests[writer].steps.is_empty() {
        return None;
    }
    let mut stores = program.nests[writer].stores.iter().enumerate().filter(|(_, s)| s.buffer == *buffer);
    let (Some((store, s)), None) = (stores.next(), stores.next()) else { return None };
    // All that the writer stores, and all of the range.
    let rest: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != axis).collect();
    let volume = program.volume(&rest).mul(&Expr::Const(end - from));
    if s.add || program.volume(&program.nests[writer].axes) != volume || own.numel() != volume {
        return None;
    }
    let map = inverted(nest, index, &s.index)?;
    let index = whole.index.iter().map(|e| rename(e, &map, None, program)).collect();
    Some((*buffer, Piece { writer, store, index }))
}

/// The axes of a nest by what its index of a buffer comes to, dimension by dimension.
fn inverted(nest: &Nest, index: &[Expr], values: &[Expr]) -> Option<FxHashMap<AxisId, Expr>> {
    let mut map = FxHashMap::default();
    // Quotients and remainders of an axis: the divisor, and the axis's part.
    let mut parts: FxHashMap<(AxisId, i64), [Option<Expr>; 2]> = FxHashMap::default();
    for (e, value) in index.iter().zip(values) {
        if e.is_zero() && value.is_zero() {
            continue;
        }
        let (_, start) = e.terms().find(|(m, _)| m.is_empty()).unwrap_or((&[], 0));
        let moved = value.sub(&Expr::Const(start));
        match e.sub(&Expr::Const(start)).as_atom()? {
            Atom::Axis(a) => map.insert(*a, moved).is_none().then_some(())?,
            Atom::FloorDiv(x, d) => parts.entry((x.as_axis()?, d.as_const()?)).or_default()[0] = Some(moved),
            Atom::Mod(x, d) => parts.entry((x.as_axis()?, d.as_const()?)).or_default()[1] = Some(moved),
            _ => return None,
        }
    }
    for ((axis, divisor), part) in parts {
        let [Some(quotient), Some(remainder)] = part else { return None };
        map.insert(axis, quotient.scale(divisor).add(&remainder)).is_none().then_some(())?;
    }
    (map.len() == nest.axes.len() && nest.axes.iter().all(|a| map.contains_key(a))).then_some(map)
}
