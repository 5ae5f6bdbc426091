//! The derivatives of recorded operators, for backward passes over a tape from earlier regions: each is found once.

use aludel_compiler::autodiff;
use aludel_ir::{Graph, Op, Result, ShapeEnv, TensorType};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// So many are remembered; then all are forgotten.
const MAX_KNOWN: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Derivatives {
    known: FxHashMap<u64, Vec<Known>>,
    count: usize,
}

struct Known {
    op: Op,
    operands: Vec<TensorType>,
    /// Which operands want a gradient, and which results have one.
    needs: Vec<bool>,
    present: Vec<bool>,
    graph: Arc<Graph>,
}

impl Derivatives {
    /// As [`autodiff::vjp_graph_in`], without symbols.
    pub fn of(&mut self, op: &Op, operands: &[TensorType], needs: &[bool], present: &[bool]) -> Result<Arc<Graph>> {
        let mut h = FxHasher::default();
        super::program::hash_op(op, &mut h);
        (operands, needs, present).hash(&mut h);
        let hash = h.finish();
        let is = |k: &&Known| k.op == *op && k.operands == operands && k.needs == needs && k.present == present;
        if let Some(known) = self.known.get(&hash).and_then(|list| list.iter().find(is)) {
            return Ok(known.graph.clone());
        }
        let graph = Arc::new(autodiff::vjp_graph_in(&ShapeEnv::default(), op, operands, needs, present)?);
        if self.count >= MAX_KNOWN {
            self.known.clear();
            self.count = 0;
        }
        self.count += 1;
        let known =
            Known { op: op.clone(), operands: operands.to_vec(), needs: needs.to_vec(), present: present.to_vec(), graph: graph.clone() };
        self.known.entry(hash).or_default().push(known);
        Ok(graph)
    }
}
