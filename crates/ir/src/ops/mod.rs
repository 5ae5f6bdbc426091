//! The operator table: every operator by PyTorch's name, one row each, grouped as PyTorch's documentation groups them.
//!
//! Adding an operator is adding a row. Eager dispatch, capture, autodiff, the interpreter, every target and the docs page's
//! list follow from it.

use crate::op::OpDef;

mod pointwise;

/// The groups of the table, in the order of the docs page.
pub static GROUPS: &[(&str, &[OpDef])] = &[("Pointwise", pointwise::OPS)];

/// Every operator.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    GROUPS.iter().flat_map(|(_, ops)| ops.iter())
}

/// The operator of a name.
pub fn find(name: &str) -> Option<&'static OpDef> {
    use std::collections::HashMap;
    use std::sync::OnceLock;
    static INDEX: OnceLock<HashMap<&'static str, &'static OpDef>> = OnceLock::new();
    INDEX.get_or_init(|| all().map(|d| (d.name, d)).collect()).get(name).copied()
}
