//! Arithmetic of f16 and bf16 in f32: narrow values are loaded, converted, stored, and never computed with.
//!
//! **Where values round**: at the end of each operator, as in PyTorch, whether it is fused or not: there the graph casts (see
//! `ir/src/opmath.rs`). Products, whose factors stay narrow, are summed in f32 and round when they are stored, or after the bias; what
//! is computed of them and still of narrow type rounds where it is cast, which is where the next operator begins.
//! Fusion changes nothing of it: a buffer that it removes leaves the conversion behind.

use crate::nest::NestBuilder;
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::opmath::is_narrow;
use aludel_ir::{DType, Literal};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Rewrites every nest that computes with narrow values; `wide` are the buffers of narrow type that become f32.
pub(super) fn widen(program: &mut LoopProgram, wide: &BTreeSet<BufferId>) {
    for b in wide {
        program.buffers[b.0 as usize].dtype = DType::F32;
    }
    let types: Vec<DType> = program.buffers.iter().map(|b| b.dtype).collect();
    for i in 0..program.nests.len() {
        if program.nests[i].ops.iter().any(|(_, d)| is_narrow(*d)) {
            program.nests[i] = nest(program, &program.nests[i], &types);
        }
    }
}

fn nest(program: &LoopProgram, old: &Nest, types: &[DType]) -> Nest {
    let mut b = NestBuilder::default();
    // What each operation became; the f32 of a narrow one.
    let mut now: Vec<ValId> = Vec::with_capacity(old.ops.len());
    for (op, dtype) in &old.ops {
        let wide = if is_narrow(*dtype) { DType::F32 } else { *dtype };
        let v = match op {
            LoopOp::Const(l) if is_narrow(*dtype) => b.push(LoopOp::Const(Literal::new(l.value(), wide)), wide),
            LoopOp::Bitcast(_, x) if is_narrow(old.dtype(*x)) => {
                // Bits are those of the narrow value.
                let narrow = b.cast(now[x.0 as usize], old.dtype(*x));
                b.push(LoopOp::Bitcast(*dtype, narrow), *dtype)
            }
            LoopOp::Cast(_, x) => {
                let mut v = now[x.0 as usize];
                if let (LoopOp::Scalar(op, _), true) = (old.op(*x), is_narrow(old.dtype(*x)))
                    && !op.is_exact()
                {
                    v = b.cast(v, old.dtype(*x));
                }
                b.cast(v, *dtype)
            }
            LoopOp::Load { buffer, .. } => b.import(op, types[buffer.0 as usize], &FxHashMap::default(), &now, program),
            LoopOp::Const(_) | LoopOp::Index(_) | LoopOp::Bitcast(..) => b.import(op, *dtype, &FxHashMap::default(), &now, program),
            LoopOp::Scalar(..) | LoopOp::Reduce { .. } => b.import(op, wide, &FxHashMap::default(), &now, program),
        };
        let v = b.cast(v, wide);
        now.push(v);
    }
    let mut out = Nest { axes: old.axes.clone(), inner: old.inner.clone(), origins: old.origins.clone(), ..Nest::default() };
    for s in &old.stores {
        let mut s = s.clone();
        let v = now[s.value.0 as usize];
        let dtype = types[s.buffer.0 as usize];
        s.value = match b.nest.op(v) {
            // A narrow value that was widened only to be computed with.
            LoopOp::Cast(DType::F32, x) if b.nest.dtype(*x) == dtype => *x,
            _ => b.cast(v, dtype),
        };
        s.index = s.index.iter().map(|e| crate::nest::rename(e, &FxHashMap::default(), Some(&now), program)).collect();
        out.stores.push(s);
    }
    out.ops = b.nest.ops;
    crate::nest::compact(&mut out);
    out
}
