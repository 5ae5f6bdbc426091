//! Functions with derivatives of their own, which the tape knows the results of and not the inputs (`lib/torch/autograd/function.py`): what a
//! result's gradient is given to.

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Value};
use aludel_tensor::{FREED, Gradients, HeldLeaf, Tensor};
use rustc_hash::FxHashMap;

use crate::cell::expect;
use crate::kind::Kind;
use crate::state::{state, wrap};

/// Functions of `torch._C`.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("hold", hold), Def::new("held", held), Def::new("latest", latest), Def::new("freed", freed)];

/// A result of a function, a leaf of the tape.
struct Cut {
    leaf: HeldLeaf,
    function: Value,
    /// Which of the results.
    place: i64,
    kind: Kind,
}

/// By the numbers of their leaves, as long as a tape holds those.
#[derive(Default)]
pub(crate) struct Cuts {
    by_leaf: FxHashMap<u64, Cut>,
    /// How many there were after the last clearing of those that are gone.
    swept: usize,
}

impl Cuts {
    fn add(&mut self, cut: Cut) {
        self.by_leaf.insert(cut.leaf.id(), cut);
        if self.by_leaf.len() <= 2 * self.swept.max(32) {
            return;
        }
        // A function holds the earlier ones that its inputs were computed by.
        let mut latest: Vec<u64> = self.by_leaf.keys().copied().collect();
        latest.order_by_key(|id| std::cmp::Reverse(*id));
        for id in latest {
            if self.by_leaf.get(&id).is_some_and(|cut| !cut.leaf.is_held()) {
                self.by_leaf.remove(&id);
            }
        }
        self.swept = self.by_leaf.len();
    }
}

/// Takes the gradients of functions' results out of what a walk found: triples of the function, which result it is, and the gradient.
pub(super) fn reached(vm: &mut Vm, found: &Gradients) -> Result<Vec<Value>, Exc> {
    if state(vm)?.cuts.by_leaf.is_empty() {
        return Ok(Vec::new());
    }
    let mut list: Vec<(u64, &Tensor)> = found.by_leaf().collect();
    list.order_by_key(|(id, _)| *id);
    let mut out = Vec::new();
    for (id, gradient) in list {
        let Some(cut) = state(vm)?.cuts.by_leaf.get(&id) else { continue };
        let (function, place, kind) = (cut.function.clone(), cut.place, cut.kind);
        out.push(Value::tuple(vec![function, Value::Int(place), wrap(vm, gradient.clone(), kind)?]));
    }
    Ok(out)
}

/// `hold(value, function, place)`: the value as a leaf of the tape, which is that result of the function, and the leaf's number.
fn hold(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value, function, place] = args.exactly::<3>("apply")?;
    let (x, kind) = (expect(&value, "apply")?.get()?, expect(&value, "apply")?.kind());
    let place = crate::convert::int(&place).ok_or_else(|| Exc::ty("apply() needs the place of a result"))?;
    let (value, leaf) = HeldLeaf::new(&x.detach());
    let number = Value::Int(leaf.id() as i64);
    state(vm)?.cuts.add(Cut { leaf, function, place, kind });
    let leaf = wrap(vm, value, kind)?;
    Ok(Value::tuple(vec![leaf, number]))
}

/// A number that is larger than those of all leaves until now.
fn latest(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::Int(HeldLeaf::latest() as i64))
}

/// Says that a backward pass went through here before.
fn freed(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Err(Exc::runtime(FREED))
}

/// `held(value, number)`: the leaf of that number, whose value it is, once more.
fn held(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value, number] = args.exactly::<2>("saved_tensors")?;
    let (x, kind) = (expect(&value, "saved_tensors")?.get()?, expect(&value, "saved_tensors")?.kind());
    let id = crate::convert::int(&number).unwrap_or_default() as u64;
    let again = state(vm)?.cuts.by_leaf.get(&id).map_or_else(|| x.clone(), |cut| cut.leaf.again(&x));
    wrap(vm, again, kind)
}
