//! Operators that change their first operand.

use aludel_ir::{Attrs, OpDef};
use aludel_python::Vm;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use aludel_tensor::Tensor;

use crate::binder;
use crate::cell::{TensorCell, expect, one};
use crate::kind::{Kind, narrow};

/// Runs an operator and puts its result into its first operand.
pub(crate) fn call(vm: &mut Vm, def: &'static OpDef, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, &format!("{}_", def.name), args));
    }
    let target = args.values.first().cloned().unwrap_or_default();
    let into = expect(&target, def.name)?;
    check_leaf(into)?;
    let since = aludel_tensor::tape_position();
    let (value, kind) = binder::call_value(vm, def, args)?;
    assign(into, value, kind, since)?;
    Ok(target)
}

const LEAF: &str = "a leaf Variable that requires grad is being used in an in-place operation.";
const VIEW_OF_LEAF: &str = "a view of a leaf Variable that requires grad is being used in an in-place operation.";

/// Refuses to change a part of a leaf whose gradient is wanted.
pub(crate) fn check_part(of: &TensorCell) -> Result<(), Exc> {
    check_leaf(of).map_err(|_| Exc::new(ExcKind::RuntimeError, VIEW_OF_LEAF))
}

/// Refuses to change a leaf whose gradient is wanted.
pub(crate) fn check_leaf(into: &TensorCell) -> Result<(), Exc> {
    if aludel_tensor::is_grad_enabled() && into.get()?.is_leaf() {
        return Err(Exc::new(ExcKind::RuntimeError, LEAF));
    }
    if let Some(base) = into.base()
        && !into.is_detached_view()
    {
        check_part(crate::cell::host(&base)?)?;
        if aludel_tensor::is_grad_enabled() && into.get()?.is_requires_grad() {
            check_alone(into)?;
        }
    }
    Ok(())
}

/// Refuses to change one of several views that an operator made at once: PyTorch has no derivative of that.
fn check_alone(into: &TensorCell) -> Result<(), Exc> {
    let Some((_, steps)) = into.way() else { return Ok(()) };
    let Some(last) = steps.last().filter(|_| steps.iter().any(|s| matches!(s.def.name, "split" | "chunk" | "unbind"))) else {
        return Ok(());
    };
    let name = match last.def.name {
        "chunk" => "split",
        name => name,
    };
    let name = name[..1].to_ascii_uppercase() + &name[1..];
    let text = format!(
        "Output {} of {name} is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such \
         functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
        last.result
    );
    Err(Exc::new(ExcKind::RuntimeError, text))
}

/// Puts a value into a tensor: broadcast to its shape, in its type. It was computed since a place on the tape.
pub(crate) fn assign(into: &TensorCell, value: Tensor, kind: Kind, since: u64) -> Result<(), Exc> {
    let old = into.get()?;
    if kind.category() > into.kind().category() {
        let text = format!("result type {} can't be cast to the desired output type {}", kind.scalar_type(), into.kind().scalar_type());
        return Err(Exc::new(ExcKind::RuntimeError, text));
    }
    // What an operator computed has the device's 32 bits until here.
    copy_since(into, &old, narrow(value, into.kind())?, since)
}

/// As [`assign`], for `copy_`, which casts anything.
pub(crate) fn copy(into: &TensorCell, old: &Tensor, value: Tensor) -> Result<(), Exc> {
    copy_since(into, old, value, aludel_tensor::tape_position())
}

/// A value without the leading dimensions of one that a place of so many dimensions does not have.
pub(crate) fn without_leading_ones(value: Tensor, rank: usize) -> Result<Tensor, Exc> {
    let have = value.shape();
    let extra = have.len().saturating_sub(rank);
    if extra == 0 || have[..extra].iter().any(|n| *n != 1) {
        return Ok(value);
    }
    let shape: Vec<i64> = have[extra..].iter().map(|n| *n as i64).collect();
    one("reshape", &[&value], Attrs::new().with("shape", shape))
}

fn copy_since(into: &TensorCell, old: &Tensor, value: Tensor, since: u64) -> Result<(), Exc> {
    let mut value = value;
    if value.dtype() != old.dtype() {
        value = one("to", &[&value], Attrs::new().with("dtype", old.dtype()))?;
    }
    let (have, want) = (value.shape(), old.shape());
    if have != want {
        value = without_leading_ones(value, want.len())?;
        let shape: Vec<i64> = want.iter().map(|n| *n as i64).collect();
        value = match one("expand", &[&value], Attrs::new().with("shape", shape)) {
            Ok(value) => value,
            Err(_) => {
                let text = format!("output with shape {want:?} doesn't match the broadcast shape {have:?}");
                return Err(Exc::new(ExcKind::RuntimeError, text));
            }
        };
    }
    into.write_since(value, since)
}
