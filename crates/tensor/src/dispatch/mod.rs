//! The one way from a method to a kernel: look the operator up with its static arguments and operand types, compile it when it is new,
//! run it, and write it on the tape when a gradient may be asked for. In a trace the operator is recorded instead.

pub(crate) mod cache;
mod general;

use crate::autocast;
use crate::autograd::{self, Grad};
use crate::device::Device;
use crate::tensor::Tensor;
use crate::trace;
use aludel_ir::{Attrs, DType, Error, Literal, OpDef, Result, TensorType, ops};
use cache::{Delivery, OperandType, Operator};
use std::panic::Location;

/// An operand: a tensor, or a number that takes the tensors' element type (as a Python number does in PyTorch).
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    Tensor(&'a Tensor),
    Int(i64),
    Float(f64),
}

impl Operand<'_> {
    /// The value of a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Operand::Tensor(_) => None,
            Operand::Int(v) => Some(*v as f64),
            Operand::Float(v) => Some(*v),
        }
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(t: &'a Tensor) -> Self {
        Operand::Tensor(t)
    }
}

macro_rules! number {
    ($($t:ty: $v:ident($as:ty)),*) => {$(
        impl From<$t> for Operand<'_> {
            fn from(x: $t) -> Self { Operand::$v(x as $as) }
        }
    )*};
}
number!(f64: Float(f64), f32: Float(f64), i32: Int(i64), i64: Int(i64), usize: Int(i64));

/// Runs (or, in a trace, records) an operator of the table.
///
/// # Errors
///
/// As [every operator](crate#when-an-operator-fails), and when no operand is a tensor: then there is no device to run on, see
/// [`dispatch_on`].
#[track_caller]
pub fn dispatch(def: &'static OpDef, operands: &[Operand], attrs: Attrs) -> Result<Vec<Tensor>> {
    dispatch_at(None, def, operands, attrs, Location::caller())
}

/// As [`dispatch`], for operators without operands, on a device.
///
/// # Errors
///
/// As [every operator](crate#when-an-operator-fails), also when an operand lies on another device than the one given.
#[track_caller]
pub fn dispatch_on(device: &Device, def: &'static OpDef, operands: &[Operand], attrs: Attrs) -> Result<Vec<Tensor>> {
    dispatch_at(Some(device), def, operands, attrs, Location::caller())
}

pub(crate) fn dispatch_at(
    device: Option<&Device>,
    def: &'static OpDef,
    operands: &[Operand],
    attrs: Attrs,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    match def.eager.and_then(ops::find) {
        Some(row) if !trace::is_active() => {
            let mut results = dispatch_row(device, row, operands, attrs, at)?;
            results.truncate(1);
            Ok(results)
        }
        _ => dispatch_row(device, def, operands, attrs, at),
    }
}

fn dispatch_row(
    device: Option<&Device>,
    def: &'static OpDef,
    operands: &[Operand],
    attrs: Attrs,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    let cast = autocast::operands(def, operands, at)?;
    let replaced: Vec<Operand>;
    let operands = match &cast {
        None => operands,
        Some(cast) => {
            replaced = operands.iter().zip(cast).map(|(o, c)| c.as_ref().map_or(*o, Operand::from)).collect();
            &replaced
        }
    };
    let device = common_device(device, def, operands)?;
    let record = autograd::is_grad_enabled() && operands.iter().any(|o| matches!(o, Operand::Tensor(t) if t.is_requires_grad()));
    let (outputs, operator) = if trace::is_active() {
        (trace::record(&device, def, operands, &attrs, record, at)?, None)
    } else {
        let operator = device.operators().get(&device, def, operands, &attrs)?;
        let tensor = |i: usize| match operands.get(i) {
            Some(Operand::Tensor(t)) => Some(*t),
            _ => None,
        };
        (operator.run(&device, &tensor)?, Some(operator))
    };
    if !record || outputs.iter().all(|t| !t.dtype().is_float()) {
        return Ok(outputs);
    }
    autograd::record(&device, def, attrs, operands, outputs, operator)
}

fn common_device(given: Option<&Device>, def: &OpDef, operands: &[Operand]) -> Result<Device> {
    let mut found = given;
    for o in operands {
        let Operand::Tensor(t) = o else { continue };
        match found {
            None => found = Some(t.device()),
            Some(d) if d == t.device() => {}
            Some(d) => {
                return Err(Error::op(
                    def.name,
                    show(operands),
                    format!("operands are on {d} and {}", t.device()),
                    "move one with to_device()",
                ));
            }
        }
    }
    found
        .cloned()
        .ok_or_else(|| Error::op(def.name, show(operands), "no operand is a tensor", "give a tensor, or a device through dispatch_on"))
}

fn show(operands: &[Operand]) -> String {
    let one = |o: &Operand| match o {
        Operand::Tensor(t) => t.to_string(),
        Operand::Int(v) => v.to_string(),
        Operand::Float(v) => format!("{v:?}"),
    };
    operands.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A number as a constant in the element type that it takes beside tensors: theirs, but f32 for a fraction beside integers and i32 for a
/// whole number beside bool.
pub(crate) fn literal(operands: &[Operand], number: &Operand) -> Literal {
    let tensors = operands.iter().filter_map(|o| match o {
        Operand::Tensor(t) => Some(t.dtype()),
        _ => None,
    });
    let dtype = match (tensors.reduce(DType::promote), number) {
        (Some(d), _) if d.is_float() => d,
        (Some(d), Operand::Int(_)) if d.is_int() => d,
        (_, Operand::Int(_)) => DType::I32,
        _ => DType::F32,
    };
    Literal::new(number.number().unwrap_or(0.0), dtype)
}

/// An operand's type in a signature; numbers are constants of the compiled operator.
pub(crate) fn operand_type<'a>(operands: &[Operand<'a>], o: &Operand<'a>) -> OperandType<&'a TensorType> {
    match o {
        Operand::Tensor(t) => OperandType::Tensor(t.ty()),
        number => OperandType::Scalar(literal(operands, number)),
    }
}

impl Operator {
    /// Runs a compiled operator on tensors by position.
    pub(crate) fn run<'t>(&self, device: &Device, operand: &dyn Fn(usize) -> Option<&'t Tensor>) -> Result<Vec<Tensor>> {
        let missing = || Error::invalid("dispatch", "a compiled operator lacks an operand", "report this");
        let results = match &self.executable {
            None => Vec::new(),
            Some(e) => {
                let number = |i: &usize| self.numbers.iter().find(|(at, _)| at == i).map(|(_, t)| t);
                let input = |i: &usize| number(i).or_else(|| operand(*i)).ok_or_else(missing)?.resident();
                let inputs = self.inputs.iter().map(input).collect::<Result<Vec<_>>>()?;
                e.run(&self.sizes, &inputs)?
            }
        };
        self.outputs
            .iter()
            .map(|(ty, delivery)| match delivery {
                Delivery::Alias(i) => Ok(operand(*i).ok_or_else(missing)?.alias(ty.clone())),
                Delivery::Result(k) => Ok(Tensor::on_device(device, ty.clone(), results.get(*k).ok_or_else(missing)?.clone())),
            })
            .collect()
    }
}

/// Marks the results of a recorded operator as having a place on the tape.
pub(crate) fn on_tape(t: &Tensor, node: &std::sync::Arc<autograd::Node>, index: usize) -> Tensor {
    if t.dtype().is_float() { t.with_grad(Some(Grad::Node(node.clone(), index))) } else { t.clone() }
}
