//! `backward()`, `torch.autograd.grad` and the attributes that take part in them.

pub(crate) mod cuts;

use aludel_ir::order::Order;
use aludel_ir::{Attrs, DType, Error};
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Instance, Kind as ExcKind, Value};
use aludel_tensor::{Gradients, MODIFIED, Tensor, Walk, free, is_grad_enabled, modified, no_grad, set_grad_enabled};
use std::rc::{Rc, Weak};

use crate::cell::{cell, expect, host, one};
use crate::convert;
use crate::kind::Kind;
use crate::state::{raise, state, wrap};

/// Functions of `torch._C` about differentiation.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("backward", backward),
    Def::new("gradients", gradients),
    Def::new("is_grad_enabled", grad_enabled),
    Def::new("set_grad_enabled", set_enabled),
    Def::new("get_grad", get_grad),
    Def::new("set_grad", set_grad),
    Def::new("requires_grad", requires_grad),
    Def::new("set_requires_grad", set_requires_grad),
    Def::new("is_leaf", is_leaf),
    Def::new("made_by", made_by),
    Def::new("made_from", made_from),
    Def::new("detach_", detach_in_place),
    Def::new("adopt", adopt),
    Def::new("free", free_all),
    Def::new("retain_grad", retain_grad),
    Def::new("retains_grad", retains_grad),
    Def::new("retained", retained),
    Def::new("version", |vm, args| crate::replay::log::refused(vm, args, "_version", version)),
    Def::new("reaches_others", reaches_others),
    Def::new("leaves", |vm, args| crate::replay::log::refused(vm, args, "leaves", leaves)),
    Def::new("enter_autocast", enter_autocast),
    Def::new("leave_autocast", leave_autocast),
];

/// Makes a tensor object a leaf whose gradient is wanted.
pub(crate) fn make_leaf(value: &Value) -> Result<(), Exc> {
    let t = expect(value, "requires_grad_")?;
    if !t.kind().is_float() {
        return Err(Exc::new(ExcKind::RuntimeError, "only Tensors of floating point dtype can require gradients"));
    }
    let x = t.get()?;
    if !x.is_requires_grad() {
        t.rebind(x.requires_grad());
    }
    Ok(())
}

/// Leaves are found again by their numbers when their gradients come.
pub(crate) fn note_leaf(vm: &mut Vm, value: &Value) -> Result<(), Exc> {
    let Value::Instance(instance) = value else { return Ok(()) };
    let Some(id) = host(instance)?.get()?.leaf_id() else { return Ok(()) };
    let state = state(vm)?;
    state.leaves.insert(id, Rc::downgrade(instance));
    if state.leaves.len() > 2 * state.swept {
        state.leaves.retain(|_, leaf| leaf.strong_count() > 0);
        state.swept = state.leaves.len().max(64);
    }
    Ok(())
}

/// What a walk begins with is on the tape also where the script asks for gradients under `no_grad`.
fn recorded<T>(make: impl FnOnce() -> Result<T, Exc>) -> Result<T, Exc> {
    let before = set_grad_enabled(true);
    let made = make();
    set_grad_enabled(before);
    made
}

/// What a walk begins with: a loss, or a result and its given gradient.
fn head_of(output: &Value, gradient: &Value, create: bool) -> Result<(Tensor, Option<Tensor>), Exc> {
    let t = expect(output, "backward")?;
    let x = t.get()?;
    if !x.is_requires_grad() {
        return Err(Exc::new(ExcKind::RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"));
    }
    match gradient {
        Value::None | Value::Unbound if x.numel() == 1 => Ok((x, None)),
        Value::None | Value::Unbound => Err(Exc::new(ExcKind::RuntimeError, "grad can be implicitly created only for scalar outputs")),
        gradient => {
            let g = expect(gradient, "backward")?.get()?;
            if g.shape() != x.shape() {
                let text = format!(
                    "Mismatch in shape: grad_output[0] has a shape of {:?} and output[0] has a shape of {:?}.",
                    g.shape(),
                    x.shape()
                );
                return Err(Exc::new(ExcKind::RuntimeError, text));
            }
            // What the given gradient was computed from takes no part, unless derivatives of derivatives follow.
            let g = if g.is_requires_grad() && !create { g.detach() } else { g };
            Ok((x, Some(g)))
        }
    }
}

/// The scalar whose gradient is asked for: a loss, or the product of a result with its given gradient.
fn loss_of(output: &Value, gradient: &Value, create: bool) -> Result<Tensor, Exc> {
    match head_of(output, gradient, create)? {
        (loss, None) => Ok(loss),
        (x, Some(g)) => recorded(|| one("sum", &[&one("mul", &[&x, &g], Attrs::new())?], Attrs::new())),
    }
}

/// Whether hooks of `lib/torch/autograd` want to see its gradient first.
fn is_hooked(x: &Instance) -> bool {
    x.attrs().is_some_and(|attrs| attrs.get("_hooks").is_some())
}

/// `backward(tensor, gradient, retain_graph)`: adds to the gradients of all leaves. Gives the leaves that got one, those with hooks
/// beside the gradient that is still to be added; `None`, having done nothing, where functions with derivatives of their own are on the way.
fn backward(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, gradient, retain] = args.bind("backward", &["tensor", "gradient", "retain_graph"], 1)?;
    let (loss, given) = head_of(&x, &gradient, false)?;
    crate::capture::locate(vm)?;
    if state(vm)?.cuts.are_behind(&loss) {
        return Ok(Value::None);
    }
    let found = match &given {
        None => {
            crate::losses::passed(vm, &loss)?;
            loss.backward()
        }
        Some(gradient) => loss.backward_from(gradient),
    };
    let found = found.map_err(|e| failed(&loss, e))?;
    backward_to_results(vm, || loss_of(&x, &gradient, false))?;
    if !retain.is(&Value::bool(true)) {
        free(&loss);
    }
    crate::capture::trained(vm);
    deliver(vm, &found)
}

/// Adds gradients to those of the script's leaves; gives what [`backward`] does.
fn deliver(vm: &mut Vm, found: &Gradients) -> Result<Value, Exc> {
    let mut reached = Vec::new();
    // In an order that is the same for the same loss, so that what is recorded is.
    let mut by_leaf: Vec<(u64, &Tensor)> = found.by_leaf().collect();
    by_leaf.order_by_key(|(id, _)| *id);
    for (id, gradient) in by_leaf {
        let leaf = state(vm)?.leaves.get(&id).and_then(Weak::upgrade);
        let Some(leaf) = leaf else { continue };
        let hooked = is_hooked(&leaf);
        let leaf = Value::Instance(leaf);
        reached.push(if hooked {
            let gradient = wrap(vm, gradient.clone(), expect(&leaf, "backward")?.kind())?;
            Value::tuple(vec![leaf, gradient])
        } else {
            accumulate(vm, &leaf, gradient.clone())?;
            leaf
        });
    }
    Ok(Value::list(reached))
}

/// A backward pass's error as PyTorch would raise it.
fn failed(loss: &Tensor, error: Error) -> Exc {
    let is_modified = matches!(&error, Error::Operator { problem, .. } if problem == MODIFIED);
    let Some(m) = is_modified.then(|| modified(loss)).flatten() else { return raise(error) };
    let kind = match m.dtype {
        DType::F16 => "HalfTensor",
        DType::BF16 => "BFloat16Tensor",
        _ => "FloatTensor",
    };
    let mut shape = m.shape;
    let node = |name: &str| match name {
        "select_scatter" | "slice_scatter" | "index_copy" | "index_put" => "torch::autograd::CopySlices".to_string(),
        name => crate::print::backward_name(name, shape.len(), &Attrs::new())
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .replace("Backward", ""),
    };
    let mut origin = m.by.map(node);
    if m.reader == ("linear", Some(1)) {
        // PyTorch keeps a transposed view of the weight.
        shape.reverse();
        origin = Some("AsStrided".into());
    }
    let which = origin.map_or(String::new(), |name| format!(", which is output 0 of {name},"));
    let text = format!(
        "{MODIFIED}: [torch.{kind} {shape:?}]{which} is at version {}; expected version {} instead. Hint: enable anomaly detection to find \
         the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
        m.version, m.expected
    );
    Exc::new(ExcKind::RuntimeError, text)
}

/// The gradients of results that `retain_grad()` asked for, by a walk of their own: few scripts ask.
fn backward_to_results(vm: &mut Vm, loss: impl FnOnce() -> Result<Tensor, Exc>) -> Result<(), Exc> {
    let kept = results_that_keep_gradients(vm)?;
    if kept.is_empty() {
        return Ok(());
    }
    let results = kept.iter().map(|v| expect(v, "backward")?.get()).collect::<Result<Vec<_>, Exc>>()?;
    let found = aludel_tensor::gradients(&loss()?, &results, false).map_err(raise)?;
    for ((value, result), gradient) in kept.iter().zip(&results).zip(found) {
        if let (Some(gradient), false) = (gradient, result.is_leaf()) {
            accumulate(vm, value, gradient)?;
        }
    }
    Ok(())
}

/// Those of `retain_grad()` that no hook looks after.
fn results_that_keep_gradients(vm: &mut Vm) -> Result<Vec<Value>, Exc> {
    let state = state(vm)?;
    state.retained.retain(|result| result.strong_count() > 0);
    Ok(state.retained.iter().filter_map(Weak::upgrade).filter(|x| !is_hooked(x)).map(Value::Instance).collect())
}

/// Whether `retain_grad()` asked for a result's gradient.
fn is_retained(vm: &mut Vm, x: &Value) -> Result<bool, Exc> {
    let Value::Instance(instance) = x else { return Ok(false) };
    Ok(state(vm)?.retained.iter().any(|w| std::ptr::eq(w.as_ptr(), Rc::as_ptr(instance))))
}

/// A leaf keeps its gradient anyway.
fn retain_grad(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("retain_grad")?;
    let value = expect(&x, "retain_grad")?.get()?;
    if !value.is_requires_grad() {
        return Err(Exc::new(ExcKind::RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"));
    }
    if let Value::Instance(instance) = &x
        && !value.is_leaf()
        && !is_retained(vm, &x)?
    {
        state(vm)?.retained.push(Rc::downgrade(instance));
    }
    Ok(Value::None)
}

/// All results that are alive whose gradients `retain_grad()` asked for.
fn retained(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::list(state(vm)?.retained.iter().filter_map(Weak::upgrade).map(Value::Instance).collect()))
}

fn retains_grad(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("retains_grad")?;
    expect(&x, "retains_grad")?;
    Ok(Value::bool(is_retained(vm, &x)?))
}

fn accumulate(vm: &mut Vm, leaf: &Value, gradient: Tensor) -> Result<(), Exc> {
    let t = expect(leaf, "backward")?;
    let old = t.grad.borrow().clone();
    match cell(&old) {
        Some(sum) => {
            let added = no_grad(|| one("add", &[&sum.get()?, &gradient], Attrs::new()))?;
            sum.write(added)?;
        }
        None => {
            let made = wrap(vm, gradient, t.kind())?;
            *t.grad.borrow_mut() = made;
        }
    }
    Ok(())
}

/// `gradients(outputs, inputs, grad_outputs, create_graph, retain_graph)`: a list of tensors, `None` where nothing depends. `None` alone where
/// functions with derivatives of their own are on the way.
fn gradients(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [outputs, inputs, given, create, retain] =
        args.bind("grad", &["outputs", "inputs", "grad_outputs", "create_graph", "retain_graph"], 5)?;
    let list = |v: &Value| convert::sequence(v).ok_or_else(|| Exc::ty("grad() needs tuples of Tensors"));
    let (outputs, inputs, given) = (list(&outputs)?, list(&inputs)?, list(&given)?);
    let create = create.is(&Value::bool(true));
    if outputs.is_empty() {
        return Err(Exc::value("grad requires non-empty outputs."));
    }
    let mut heads = Vec::with_capacity(outputs.len());
    for (i, output) in outputs.iter().enumerate() {
        heads.push(head_of(output, given.get(i).unwrap_or(&Value::None), create)?);
    }
    let wrt = inputs.iter().map(|v| expect(v, "grad")?.get()).collect::<Result<Vec<_>, Exc>>()?;
    if wrt.iter().any(|t| !t.is_requires_grad()) {
        return Err(Exc::new(ExcKind::RuntimeError, "One of the differentiated Tensors does not require grad"));
    }
    if heads.iter().any(|(x, _)| state(vm).is_ok_and(|s| s.cuts.are_behind(x))) {
        return Ok(Value::None);
    }
    let mut walk = Walk::new(&wrt, create);
    heads.into_iter().try_for_each(|head| begin(&mut walk, head))?;
    while walk.next().map_err(|e| cuts::wrong(&walk, e))?.is_some() {}
    if !create && !retain.is(&Value::bool(true)) {
        walk.free();
    }
    let (found, _) = walk.finish();
    crate::capture::trained(vm);
    listed(vm, found, &inputs)
}

/// Begins a walk at a head; a loss's own gradient is one.
fn begin(walk: &mut Walk, (x, gradient): (Tensor, Option<Tensor>)) -> Result<(), Exc> {
    let gradient = gradient.map_or_else(|| x.detach().ones_like(), Ok).map_err(raise)?;
    walk.begin(&x, gradient).map_err(raise)
}

/// Gradients of inputs as the script sees them.
fn listed(vm: &mut Vm, found: Vec<Option<Tensor>>, inputs: &[Value]) -> Result<Value, Exc> {
    let mut out = Vec::with_capacity(found.len());
    for (gradient, input) in found.into_iter().zip(inputs) {
        out.push(match gradient {
            Some(g) => wrap(vm, g, expect(input, "grad")?.kind())?,
            None => Value::None,
        });
    }
    Ok(Value::list(out))
}

fn grad_enabled(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::bool(is_grad_enabled()))
}

fn set_enabled(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [on] = args.exactly::<1>("set_grad_enabled")?;
    Ok(Value::bool(set_grad_enabled(on.is(&Value::bool(true)))))
}

fn get_grad(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("grad")?;
    let grad = expect(&x, "grad")?.grad.borrow().clone();
    Ok(grad)
}

fn set_grad(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, grad] = args.exactly::<2>("grad")?;
    let t = expect(&x, "grad")?;
    if let Some(g) = cell(&grad)
        && g.get()?.shape() != t.get()?.shape()
    {
        let text = format!(
            "attempting to assign a gradient of size '{:?}' to a tensor of size '{:?}'. Please ensure that the gradient and the tensor are \
             the same size",
            g.get()?.shape(),
            t.get()?.shape()
        );
        return Err(Exc::new(ExcKind::RuntimeError, text));
    }
    let old = t.grad.replace(grad);
    drop(old);
    Ok(Value::None)
}

fn requires_grad(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("requires_grad")?;
    Ok(Value::bool(expect(&x, "requires_grad")?.get()?.is_requires_grad()))
}

fn set_requires_grad(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, on] = args.exactly::<2>("requires_grad_")?;
    let t = expect(&x, "requires_grad_")?;
    if on.is(&Value::bool(true)) {
        make_leaf(&x)?;
        note_leaf(vm, &x)?;
    } else {
        let value = t.get()?;
        if value.is_requires_grad() && !value.is_leaf() {
            return Err(Exc::new(
                ExcKind::RuntimeError,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that \
                 doesn't require differentiation use var_no_grad = var.detach().",
            ));
        }
        t.rebind(value.detach());
    }
    Ok(x)
}

fn is_leaf(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("is_leaf")?;
    let value = expect(&x, "is_leaf")?.get()?;
    Ok(Value::bool(value.is_leaf() || !value.is_requires_grad()))
}

/// The operator that a tensor on the tape is a result of, else `None`.
fn made_by(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("grad_fn")?;
    let value = expect(&x, "grad_fn")?.get()?;
    Ok(value.recorded_by().map_or(Value::None, |(name, attrs)| Value::str(crate::print::backward_name(name, value.rank(), attrs))))
}

/// The operands with gradients of what a tensor is a result of.
fn made_from(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("next_functions")?;
    let mut edges = Vec::new();
    for t in expect(&x, "next_functions")?.get()?.recorded_from().into_iter().filter(Tensor::is_requires_grad) {
        // A leaf is the script's own object.
        let leaf = match t.leaf_id() {
            Some(id) => state(vm)?.leaves.get(&id).and_then(Weak::upgrade),
            None => None,
        };
        edges.push(match leaf {
            Some(leaf) => Value::Instance(leaf),
            None => wrap(vm, t.clone(), Kind::of(t.dtype()))?,
        });
    }
    Ok(Value::tuple(edges))
}

fn detach_in_place(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("detach_")?;
    let t = expect(&x, "detach_")?;
    let value = t.get()?;
    t.rebind(value.detach());
    Ok(x)
}

/// `free(tensors)`: nothing goes back through what they were computed from again.
fn free_all(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [tensors] = args.exactly::<1>("free")?;
    for x in convert::sequence(&tensors).unwrap_or_default() {
        free(&expect(&x, "free")?.get()?);
    }
    Ok(Value::None)
}

/// `adopt(x, y)`: x stands where y, of the same value, stands in the differentiation.
fn adopt(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, y] = args.exactly::<2>("adopt")?;
    expect(&x, "adopt")?.rebind(expect(&y, "adopt")?.get()?);
    Ok(x)
}

fn version(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("_version")?;
    let t = expect(&x, "_version")?;
    let version = match t.base() {
        Some(base) => crate::cell::host(&base)?.version.get(),
        None => t.version.get(),
    };
    Ok(Value::Int(version as i64))
}

/// All leaves whose gradients are wanted.
fn leaves(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let state = state(vm)?;
    let mut numbers: Vec<u64> = state.leaves.keys().copied().collect();
    numbers.order();
    Ok(Value::list(numbers.iter().filter_map(|id| state.leaves[id].upgrade()).map(Value::Instance).collect()))
}

/// `reaches_others(tensor, leaves)`: whether a tensor depends on a leaf that is none of these.
fn reaches_others(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, leaves] = args.exactly::<2>("reaches_others")?;
    let known = convert::sequence(&leaves).unwrap_or_default();
    let known = known.iter().map(|v| Ok(expect(v, "reaches_others")?.get()?.leaf_id())).collect::<Result<Vec<_>, Exc>>()?;
    Ok(Value::bool(expect(&x, "reaches_others")?.get()?.reaches(|leaf| !known.contains(&Some(leaf)))))
}

/// Begins a region of mixed precision in a type; f32 switches a surrounding one off.
fn enter_autocast(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [dtype] = args.exactly::<1>("autocast")?;
    let kind = convert::kind_of(&dtype).ok_or_else(|| Exc::ty("autocast() needs a torch.dtype"))?;
    aludel_tensor::enter_autocast(kind.dtype());
    Ok(Value::None)
}

fn leave_autocast(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    aludel_tensor::leave_autocast();
    Ok(Value::None)
}
