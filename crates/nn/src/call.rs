//! Operators of the table by name, for modules that use what [`Tensor`] has no method for.

use aludel_tensor::{Attrs, Error, Operand, Result, Tensor, dispatch};

/// Runs an operator; gives its results.
#[track_caller]
pub(crate) fn apply(name: &'static str, operands: &[Operand], attrs: Attrs) -> Result<Vec<Tensor>> {
    let def = aludel_ir::ops::find(name).ok_or_else(|| Error::unsupported(name, "this build's operator table does not have it"))?;
    dispatch(def, operands, attrs)
}

/// Runs an operator that has as many results as the array.
#[track_caller]
pub(crate) fn results<const N: usize>(name: &'static str, operands: &[Operand], attrs: Attrs) -> Result<[Tensor; N]> {
    let results = apply(name, operands, attrs)?;
    <[Tensor; N]>::try_from(results).map_err(|r| Error::op(name, "", format!("{} results where {N} were expected", r.len()), "report this"))
}

/// Runs an operator of one result.
#[track_caller]
pub(crate) fn one(name: &'static str, operands: &[Operand], attrs: Attrs) -> Result<Tensor> {
    let [result] = results(name, operands, attrs)?;
    Ok(result)
}

/// A tensor and those that may be left out behind it.
pub(crate) fn operands<'a>(first: &[&'a Tensor], rest: &[&'a Option<Tensor>]) -> Vec<Operand<'a>> {
    first.iter().map(|t| Operand::from(*t)).chain(rest.iter().filter_map(|t| t.as_ref()).map(Operand::from)).collect()
}
