//! Mixed precision: operators in a region run in the type that their row in the table says.
//!
//! Source of the rules: PyTorch's `torch.autocast` on CUDA. Matrix products and convolutions take their float operands in the low type,
//! sums, exponentials, norms and losses in f32, some in the widest type among them, all others as they are. Parameters stay f32, and so do
//! their gradients: the cast is on the tape.

use crate::dispatch::{Operand, dispatch_at};
use crate::tensor::Tensor;
use crate::{Attrs, DType, Error, Result, autograd, trace};
use aludel_ir::{Autocast, Graph, Op, OpDef};
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

struct Region {
    /// `None` switches mixed precision off within a region.
    dtype: Option<DType>,
    /// Parameters that were cast, with what they were cast to: each is cast once.
    cast: Vec<(Tensor, DType, Tensor)>,
}

thread_local! {
    static REGIONS: RefCell<Vec<Region>> = const { RefCell::new(Vec::new()) };
}

/// Runs a closure with mixed precision: `DType::BF16` or `DType::F16` is the low type, `DType::F32` switches a surrounding region off.
///
/// Call `backward()` after it, not within: derivatives take the types of their operators anyway. With f16, scale the loss (see
/// `aludel_nn::GradScaler`). Other types are an error of the first operator. PyTorch: `torch.autocast`.
///
/// ```
/// use aludel_tensor::{DType, Device, Tensor, autocast};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let (x, w) = (Tensor::ones(&device, [2, 3])?, Tensor::ones(&device, [3, 4])?.requires_grad());
/// let y = autocast(DType::BF16, || x.matmul(&w))?;
/// assert_eq!(y.dtype(), DType::BF16);
/// let g = y.sum(())?.backward()?;
/// assert_eq!(g.get(&w)?.dtype(), DType::F32);
/// # Ok(())
/// # }
/// ```
pub fn autocast<R>(dtype: DType, f: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            leave_autocast();
        }
    }
    enter_autocast(dtype);
    let _leave = Leave;
    f()
}

/// Begins a region as [`autocast`] does, which [`leave_autocast`] ends: for callers that run what is within later.
pub fn enter_autocast(dtype: DType) {
    let region = Region { dtype: (dtype != DType::F32).then_some(dtype), cast: Vec::new() };
    REGIONS.with_borrow_mut(|r| r.push(region));
}

/// Ends the innermost region of this thread, where there is one.
pub fn leave_autocast() {
    REGIONS.with_borrow_mut(|r| drop(r.pop()));
}

/// Regions that are entered, kept while something else runs on the thread.
#[derive(Default)]
pub struct AutocastRegions(Vec<Region>);

impl AutocastRegions {
    /// Exchanges them with those that this thread is in.
    pub fn swap(&mut self) {
        REGIONS.with_borrow_mut(|r| std::mem::swap(r, &mut self.0));
    }
}

/// The low type of the region that this thread is in.
pub fn autocast_dtype() -> Option<DType> {
    REGIONS.with_borrow(|r| r.last().and_then(|r| r.dtype))
}

/// What mixed precision a captured graph has.
#[derive(Clone, PartialEq, Debug)]
pub struct MixedGraph {
    /// The narrowest types, by name.
    pub types: Vec<DType>,
    /// Operators with such an operand, casts aside.
    pub operators: usize,
    /// Conversions from and to these types.
    pub casts: usize,
    /// The state that the loss is multiplied with, by its path, where the loss is scaled.
    pub scales: Vec<String>,
}

impl MixedGraph {
    /// `None` for a graph without f16 and bf16.
    pub fn of(graph: &Graph) -> Option<MixedGraph> {
        let narrow = |v: &aludel_ir::ValueId| matches!(graph.ty(*v).dtype, DType::F16 | DType::BF16);
        let mut out = MixedGraph { types: Vec::new(), operators: 0, casts: 0, scales: Vec::new() };
        for node in &graph.nodes {
            let touched: Vec<DType> = node.inputs.iter().chain(&node.outputs).filter(|v| narrow(v)).map(|v| graph.ty(*v).dtype).collect();
            for d in &touched {
                if !out.types.contains(d) {
                    out.types.push(*d);
                }
            }
            match &node.op {
                Op::Call(def, _) if def.name == "to" => out.casts += !touched.is_empty() as usize,
                Op::Call(def, _) if def.name == "amp_update_scale" => {
                    let path = graph.outputs.iter().find(|o| node.outputs.first() == Some(&o.value)).map(|o| o.name.clone());
                    out.scales.extend(path);
                }
                Op::Call(..) => out.operators += node.inputs.iter().any(narrow) as usize,
                _ => {}
            }
        }
        (!out.types.is_empty() || !out.scales.is_empty()).then_some(out)
    }
}

impl fmt::Display for MixedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<&str> = self.types.iter().map(|d| d.name()).collect();
        write!(f, "mixed precision: {} operators in {}, {} casts", self.operators, types.join(" and "), self.casts)?;
        match self.scales.is_empty() {
            true => Ok(()),
            false => write!(f, "; loss scaled by {}, steps with gradients that are not finite skipped", self.scales.join(", ")),
        }
    }
}

/// The type that an operator's float operands take; `None` where they stay.
fn target(def: &OpDef, operands: &[Operand], low: DType) -> Result<Option<DType>> {
    let types = || {
        operands.iter().filter_map(|o| match o {
            Operand::Tensor(t) if t.dtype().is_float() => Some(t.dtype()),
            _ => None,
        })
    };
    Ok(match def.autocast {
        Autocast::AsIs => None,
        Autocast::Low => Some(low),
        Autocast::Full => Some(DType::F32),
        Autocast::Widest => types().reduce(DType::promote),
        Autocast::Refused => {
            let shown = types().map(|d| d.name()).collect::<Vec<_>>().join(", ");
            let remedy = "use binary_cross_entropy_with_logits, or run it in autocast(DType::F32, ..)";
            return Err(Error::op(def.name, shown, "is unsafe under autocast: its derivative leaves the range of the low type", remedy));
        }
    })
}

/// The operands as the present region wants them; `None` where they are that already.
pub(crate) fn operands(def: &'static OpDef, given: &[Operand], at: &'static Location<'static>) -> Result<Option<Vec<Option<Tensor>>>> {
    let Some(low) = autocast_dtype() else { return Ok(None) };
    if !matches!(low, DType::F16 | DType::BF16) {
        return Err(Error::invalid("autocast", format!("{low} is no low precision"), "use DType::BF16 or DType::F16"));
    }
    let Some(dtype) = target(def, given, low)? else { return Ok(None) };
    let other = |t: &Tensor| t.dtype().is_float() && t.dtype() != dtype;
    if !given.iter().any(|o| matches!(o, Operand::Tensor(t) if other(t))) {
        return Ok(None);
    }
    let cast = |o: &Operand| match o {
        Operand::Tensor(t) if other(t) => cast(t, dtype, at).map(Some),
        _ => Ok(None),
    };
    given.iter().map(cast).collect::<Result<Vec<_>>>().map(Some)
}

fn cast(t: &Tensor, dtype: DType, at: &'static Location<'static>) -> Result<Tensor> {
    // In a trace equal casts are one node already.
    let keeps = !trace::is_active() && t.is_leaf() && autograd::is_grad_enabled() && t.dtype() == DType::F32;
    let same = |x: &Tensor| Arc::ptr_eq(&x.inner, &t.inner);
    if keeps {
        let known = REGIONS.with_borrow(|r| {
            let region = r.last()?;
            region.cast.iter().find(|(x, d, _)| *d == dtype && same(x)).map(|(_, _, y)| y.clone())
        });
        if let Some(y) = known {
            return Ok(y);
        }
    }
    let to = crate::methods::find("to")?;
    let mut results = dispatch_at(None, to, &[t.into()], Attrs::new().with("dtype", dtype), at)?;
    let y = results.pop().ok_or_else(|| Error::op("to", t.to_string(), "no result", "report this"))?;
    if keeps {
        REGIONS.with_borrow_mut(|r| {
            if let Some(region) = r.last_mut() {
                region.cast.push((t.clone(), dtype, y.clone()));
            }
        });
    }
    Ok(y)
}
