//! Functions with derivatives of their own (`lib/torch/autograd/function.py`), which the tape knows the results of and not the inputs; and
//! the walk back that stops at them, which the script's side drives.

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Value};
use aludel_tensor::{Error, FREED, HeldLeaf, Tensor, Walk, modified};
use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::{accumulate, begin, deliver, failed, head_of, listed, results_that_keep_gradients};
use crate::cell::{cell, expect};
use crate::convert;
use crate::kind::Kind;
use crate::state::{raise, state, wrap};

/// Functions of `torch._C`.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("hold", hold),
    Def::new("held", held),
    Def::new("freed", freed),
    Def::new("walk_begin", walk_begin),
    Def::new("walk_next", walk_next),
    Def::new("walk_go", walk_go),
    Def::new("walk_end", walk_end),
];

/// A result of a function, a leaf of the tape.
struct Cut {
    leaf: HeldLeaf,
    function: Value,
    kind: Kind,
    /// The numbers of all results' leaves, `None` for those without gradients.
    all: Rc<[Option<u64>]>,
}

/// By the numbers of their leaves, as long as a tape holds those.
#[derive(Default)]
pub(crate) struct Cuts {
    by_leaf: FxHashMap<u64, Cut>,
    /// How many there were after the last clearing of those that are gone.
    swept: usize,
    /// Walks that go on, one within another where a function's derivative is found by one.
    walks: Vec<Open>,
}

struct Open {
    walk: Walk,
    /// Whose gradients are wanted. Of `backward()`, whose leaves get theirs, results that `retain_grad()` was called of.
    inputs: Vec<Value>,
    is_backward: bool,
}

impl Cuts {
    /// Whether a tensor was computed from the result of a function.
    pub fn are_behind(&self, x: &Tensor) -> bool {
        !self.by_leaf.is_empty() && x.reaches(|id| self.by_leaf.contains_key(&id))
    }

    fn clear(&mut self) {
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

/// `hold(function, values)`: values as leaves of the tape that are the results of the function, each with its number. `None` for what has
/// no gradient. Nothing may be computed between them, so that their gradients are complete together.
fn hold(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [function, values] = args.exactly::<2>("apply")?;
    let mut made = Vec::new();
    for value in convert::sequence(&values).unwrap_or_default() {
        made.push(match cell(&value) {
            Some(x) => Some((HeldLeaf::new(&x.get()?.detach()), x.kind())),
            None => None,
        });
    }
    let all: Rc<[Option<u64>]> = made.iter().map(|m| m.as_ref().map(|((_, leaf), _)| leaf.id())).collect();
    state(vm)?.cuts.clear();
    let mut out = Vec::with_capacity(made.len());
    for one in made {
        let Some(((value, leaf), kind)) = one else {
            out.push(Value::None);
            continue;
        };
        let id = leaf.id();
        state(vm)?.cuts.by_leaf.insert(id, Cut { leaf, function: function.clone(), kind, all: all.clone() });
        out.push(Value::tuple(vec![wrap(vm, value, kind)?, Value::Int(id as i64)]));
    }
    Ok(Value::list(out))
}

/// `held(value, number)`: the leaf of that number, whose value it is, once more.
fn held(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value, number] = args.exactly::<2>("saved_tensors")?;
    let (x, kind) = (expect(&value, "saved_tensors")?.get()?, expect(&value, "saved_tensors")?.kind());
    let id = convert::int(&number).unwrap_or_default() as u64;
    let again = state(vm)?.cuts.by_leaf.get(&id).map_or_else(|| x.clone(), |cut| cut.leaf.again(&x));
    wrap(vm, again, kind)
}

/// Says that a backward pass went through here before.
fn freed(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Err(Exc::runtime(FREED))
}

fn open(vm: &mut Vm) -> Result<&mut Open, Exc> {
    state(vm)?.cuts.walks.last_mut().ok_or_else(|| Exc::runtime("no backward pass is going on"))
}

/// `walk_begin(outputs, inputs, grad_outputs, create_graph)`: `inputs` is `None` for `backward()`.
fn walk_begin(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [outputs, inputs, given, create] = args.exactly::<4>("backward")?;
    let is_backward = matches!(inputs, Value::None);
    let inputs = if is_backward { results_that_keep_gradients(vm)? } else { convert::sequence(&inputs).unwrap_or_default() };
    let wanted = inputs.iter().map(|v| expect(v, "grad")?.get()).collect::<Result<Vec<_>, Exc>>()?;
    let create = create.is(&Value::bool(true));
    let mut walk = Walk::new(&wanted, create);
    let given = convert::sequence(&given).unwrap_or_default();
    for (i, output) in convert::sequence(&outputs).unwrap_or_default().iter().enumerate() {
        let (x, gradient) = head_of(output, given.get(i).unwrap_or(&Value::None), create)?;
        if is_backward && gradient.is_none() {
            crate::losses::passed(vm, &x)?;
        }
        begin(&mut walk, (x, gradient))?;
    }
    state(vm)?.cuts.walks.push(Open { walk, inputs, is_backward });
    Ok(Value::None)
}

/// `walk_next()`: the next function that the walk comes to, with a list of the gradients of its results; `None` at the end.
fn walk_next(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let walk = &mut open(vm)?.walk;
    let Some((id, gradient)) = walk.next().map_err(|e| wrong(walk, e))? else { return Ok(Value::None) };
    let cuts = &mut state(vm)?.cuts;
    let (Some(cut), Some(open)) = (cuts.by_leaf.get(&id), cuts.walks.last_mut()) else {
        return Err(Exc::runtime("a function on the way of a backward pass is lost"));
    };
    let (function, all) = (cut.function.clone(), cut.all.clone());
    let mut first = Some(gradient);
    let gradients: Vec<Option<(Tensor, Kind)>> = all
        .iter()
        .map(|leaf| {
            let leaf = (*leaf)?;
            let g = if leaf == id { first.take() } else { open.walk.take(leaf) };
            Some((g?, cuts.by_leaf.get(&leaf).map_or(cut.kind, |c| c.kind)))
        })
        .collect();
    let mut list = Vec::with_capacity(gradients.len());
    for g in gradients {
        list.push(match g {
            Some((g, kind)) => wrap(vm, g, kind)?,
            None => Value::None,
        });
    }
    Ok(Value::tuple(vec![function, Value::list(list)]))
}

/// A backward pass's error, as PyTorch would raise it.
pub(super) fn wrong(walk: &Walk, error: Error) -> Exc {
    match walk.heads().iter().find(|head| modified(head).is_some()).or(walk.heads().first()) {
        Some(head) => failed(head, error),
        None => raise(error),
    }
}

/// `walk_go(tensors, gradients)`: what a function was given, and their gradients.
fn walk_go(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [tensors, gradients] = args.exactly::<2>("backward")?;
    let list = |v: &Value| convert::sequence(v).unwrap_or_default();
    for (x, g) in list(&tensors).iter().zip(&list(&gradients)) {
        let (x, g) = (expect(x, "backward")?.get()?, expect(g, "backward")?.get()?);
        open(vm)?.walk.begin(&x, g).map_err(raise)?;
    }
    Ok(Value::None)
}

/// `walk_end(free)`: of `backward()`, adds to the gradients of leaves and gives them as that does; else the list of the wanted gradients.
fn walk_end(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [free] = args.exactly::<1>("backward")?;
    let Some(Open { walk, inputs, is_backward }) = state(vm)?.cuts.walks.pop() else { return Ok(Value::None) };
    if free.is(&Value::bool(true)) {
        walk.free();
    }
    let (found, leaves) = walk.finish();
    crate::capture::trained(vm);
    if is_backward {
        for (value, gradient) in inputs.iter().zip(found) {
            if let Some(gradient) = gradient {
                accumulate(vm, value, gradient)?;
            }
        }
        return deliver(vm, &leaves);
    }
    listed(vm, found, &inputs)
}
