//! What matrix units multiply: operands that lie in memory as rows of features.

use crate::nest::attention::Attention;
use aludel_ir::DType;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::element_bytes;
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use rustc_hash::FxHashMap;

/// Bytes that a copy takes at once.
pub(super) const COPY: u32 = 16;

/// An operand in memory: rows of features that lie side by side.
#[derive(Clone, PartialEq)]
pub(super) struct Operand {
    pub buffer: BufferId,
    /// The element's place; the axis of the features is `axis`, and of rows or columns it strides over one.
    pub index: Expr,
    pub axis: AxisId,
    pub features: u32,
    pub dtype: DType,
}

impl Operand {
    /// Elements that a copy takes at once.
    pub fn lanes(&self) -> u32 {
        COPY / element_bytes(self.dtype)
    }
}

/// All operands of a nest, of one type.
pub(super) struct Operands {
    pub dtype: DType,
    /// For each product, its rows' operand and which streamed one it takes.
    pub left: Vec<(Operand, usize)>,
    /// Operands that come tile after tile.
    pub streams: Vec<Operand>,
    /// For each result, its values' place among the streamed operands.
    pub values: Vec<usize>,
}

/// The operands of a nest where all are plain loads of one of these types along their features, whose number is a multiple of 16.
pub(super) fn operands(program: &LoopProgram, nest: &Nest, a: &Attention, types: &[DType]) -> Option<Operands> {
    let operand = |v: ValId, place: AxisId, axis: AxisId| -> Option<Operand> {
        let source = match nest.op(v) {
            LoopOp::Cast(DType::F32, x) => *x,
            _ => v,
        };
        let LoopOp::Load { buffer, index, mask: None } = nest.op(source) else { return None };
        let dtype = program.buffer(*buffer).dtype;
        let features = program.extent(axis).as_const()? as u32;
        let o = Operand { buffer: *buffer, index: index[0].clone(), axis, features, dtype };
        let index = &o.index;
        let mut fits = types.contains(&dtype) && features.is_multiple_of(16) && features <= 256;
        fits &= index.coefficient(place).is_some() && index.coefficient(axis).is_some_and(|c| c.is_one());
        // Copies start at multiples of their size.
        let lanes = o.lanes() as i64;
        fits &= index.terms().all(|(m, c)| (m.len() == 1 && m[0] == Atom::Axis(axis)) || c % lanes == 0);
        index.visit(&mut |a| fits &= !matches!(a, Atom::Value(_)));
        fits.then_some(o)
    };
    let mut streams: Vec<Operand> = Vec::new();
    let mut stream = |o: Operand| {
        // The same elements under another name of the features are the same operand.
        let same = |s: &Operand| {
            let renamed = crate::nest::rename(&o.index, &FxHashMap::from_iter([(o.axis, Expr::axis(s.axis))]), None, program);
            s.buffer == o.buffer && s.features == o.features && s.index == renamed
        };
        streams.iter().position(same).unwrap_or_else(|| {
            streams.push(o.clone());
            streams.len() - 1
        })
    };
    let mut left = Vec::new();
    for p in &a.products {
        let (rows, columns) = (operand(p.left, a.row, p.axis)?, operand(p.right, a.column, p.axis)?);
        left.push((rows, stream(columns)));
    }
    let mut values = Vec::new();
    for o in &a.outputs {
        values.push(stream(operand(o.value, a.column, a.feature)?));
    }
    let dtype = left.first()?.0.dtype;
    let same = left.iter().map(|l| &l.0).chain(&streams).all(|o| o.dtype == dtype);
    same.then_some(Operands { dtype, left, streams, values })
}
