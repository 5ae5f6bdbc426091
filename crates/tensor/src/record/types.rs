//! The result types of operators by those of their operands: an operator of the table finds them by decomposing, which takes longer than
//! all the rest of recording it.

use aludel_ir::{Attrs, Builder, OpDef, Result, TensorType, ValueId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// So many are remembered; then all are forgotten.
const MAX_KNOWN: usize = 1 << 14;

#[derive(Default)]
pub(super) struct Types {
    known: FxHashMap<u64, Vec<Known>>,
    count: usize,
}

struct Known {
    def: &'static OpDef,
    attrs: Attrs,
    operands: Vec<TensorType>,
    results: Vec<TensorType>,
}

impl Types {
    /// Adds an operator's node, as [`Builder::operator`] does.
    ///
    /// # Errors
    ///
    /// What the operator says of its operands.
    pub fn operator(&mut self, b: &mut Builder, def: &'static OpDef, operands: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        let hash = {
            let mut h = FxHasher::default();
            std::ptr::from_ref(def).hash(&mut h);
            attrs.hash(&mut h);
            operands.iter().for_each(|v| b.ty(*v).hash(&mut h));
            h.finish()
        };
        let is = |k: &&Known| {
            std::ptr::eq(k.def, def)
                && k.operands.len() == operands.len()
                && k.operands.iter().zip(operands).all(|(ty, v)| ty == b.ty(*v))
                && k.attrs == *attrs
        };
        if let Some(known) = self.known.get(&hash).and_then(|list| list.iter().find(is)) {
            return Ok(b.push(aludel_ir::Op::Call(def, attrs.clone()), operands, known.results.clone()));
        }
        let results = b.operator(def, operands, attrs)?;
        if self.count >= MAX_KNOWN {
            self.known.clear();
            self.count = 0;
        }
        self.count += 1;
        let types = |values: &[ValueId]| values.iter().map(|v| b.ty(*v).clone()).collect();
        let known = Known { def, attrs: attrs.clone(), operands: types(operands), results: types(&results) };
        self.known.entry(hash).or_default().push(known);
        Ok(results)
    }
}
