//! Products that a library beside the compiler computes faster than its kernels.

use super::nvidia::product::warpgroup;
use crate::device::Target;
use crate::nest::product::product;
use crate::nest::{Kind, classify, collapse};
use crate::parts::Part;
use aludel_ir::expr::AxisId;
use aludel_ir::loops::{LoopProgram, Nest};

/// Sums of fewer terms than this: reading the result again for what follows costs more than a faster product saves.
const LONG: i64 = 256;
/// Multiplications of a product that fills a device.
const LARGE: i64 = 1 << 28;

/// For each nest of a program, whether it is for a library of the target.
pub(crate) fn for_library(program: &LoopProgram, target: &Target) -> Vec<bool> {
    let mut table = LoopProgram { nests: Vec::new(), ..program.clone() };
    program.nests.iter().map(|n| is_for_library(&mut table, n, target)).collect()
}

/// Whether a nest is a plain product that a library of the target computes faster than a kernel would. The program is as before
/// when this returns.
pub(crate) fn is_for_library(program: &mut LoopProgram, nest: &Nest, target: &Target) -> bool {
    if !target.library_products {
        return false;
    }
    let Kind::Contract(c) = classify(nest, program) else { return false };
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    let (k, outputs) = (hint(&c.k), hint(&nest.axes));
    if k < LONG || k.saturating_mul(outputs) < LARGE {
        return false;
    }
    let by_units = target.has_warpgroups() && target.parts.has(Part::Warpgroups);
    // Describing a product makes axes.
    let axes = program.axes.len();
    let found = product(program, nest).is_some() && !(by_units && feeds_units(program, nest, target));
    program.axes.truncate(axes);
    found
}

/// Whether a kernel for the device's own units is about as fast as a library's: what follows the product then costs it little. A product that nothing follows is measured against the library all the same.
fn feeds_units(table: &mut LoopProgram, nest: &Nest, target: &Target) -> bool {
    let kind = classify(nest, table);
    let flat = collapse(table, nest, &kind);
    match classify(&flat, table) {
        Kind::Contract(c) => warpgroup::choose(table, &flat, &c, target).is_some_and(|p| p.is_fast()),
        _ => false,
    }
}
