//! Functions with derivatives of their own.

use super::apply::{Applied, transformed};
use super::capture::{Capture, capture, tensors};
use super::check_types;
use crate::tensor::Tensor;
use crate::trace;
use crate::tree::Tree;
use aludel_compiler::Style;
use aludel_compiler::autodiff::expand_grads;
use aludel_ir::rewrite::splice;
use aludel_ir::{Builder, Error, Graph, InputKind, Result, ShapeEnv, TensorType, ValueId};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;

/// A function that brings its own derivative. PyTorch: `torch.autograd.Function`.
///
/// The derivative is used by every transformation and by `backward()`, eagerly and in compiled functions. It may itself be differentiated.
/// Tensors that the function takes from around it get no gradient: give them as part of the input.
///
/// ```
/// use aludel_tensor::{Device, Result, Tensor, func::{self, Function}};
///
/// /// Rounds, and lets gradients pass as if it did not.
/// struct Round;
///
/// impl Function for Round {
///     type Input = Tensor;
///     type Output = Tensor;
///     type Saved = ();
///     fn forward(&self, x: &Tensor) -> Result<(Tensor, ())> {
///         Ok((x.round()?, ()))
///     }
///     fn backward(&self, _: &(), grad_output: &Tensor) -> Result<Tensor> {
///         Ok(grad_output.clone())
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let device = Device::interpreter();
/// let x = Tensor::from_slice(&device, &[0.4f32, 1.7], [2])?;
/// let loss = |x: &Tensor| Round.apply(x)?.square()?.sum(());
/// assert_eq!(func::grad(loss)(&x)?.to_vec::<f32>()?, [0.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub trait Function {
    type Input: Tree + Clone;
    type Output: Tree + Clone;
    /// What the backward pass needs of the forward pass. PyTorch: `ctx.save_for_backward`.
    type Saved: Tree + Clone;

    /// The output, and what `backward` needs.
    ///
    /// # Errors
    ///
    /// Whatever ends the computation; it ends [`Function::apply`].
    fn forward(&self, input: &Self::Input) -> Result<(Self::Output, Self::Saved)>;

    /// The gradient of each float tensor of the input, for those of the output. Linear in `grad_output`.
    ///
    /// # Errors
    ///
    /// Whatever ends the computation; it ends [`Function::apply`], which captures it too.
    fn backward(&self, saved: &Self::Saved, grad_output: &Self::Output) -> Result<Self::Input>;

    /// The tangent of the output for a tangent of the input (forward mode). Without it the transpose of `backward` is taken, which is
    /// the same.
    fn jvp(&self, _input: &Self::Input, _tangent: &Self::Input) -> Option<Result<Self::Output>> {
        None
    }

    /// Calls the function.
    ///
    /// # Errors
    ///
    /// What [`Function::forward`] and [`Function::backward`] give, a value read on the host within them, and a gradient of another type or
    /// shape than the input.
    #[track_caller]
    fn apply(&self, input: &Self::Input) -> Result<Self::Output> {
        call(self, input, Location::caller())
    }
}

/// A function with its derivative, of two closures: `forward` gives the output and what `backward` needs of it, `backward` takes that and
/// the gradient of the output to the gradient of the input. See [`Function`].
#[track_caller]
pub fn custom_vjp<A: Tree + Clone, R: Tree + Clone, S: Tree + Clone>(
    forward: impl Fn(&A) -> Result<(R, S)>,
    backward: impl Fn(&S, &R) -> Result<A>,
) -> impl Fn(&A) -> Result<R> {
    let at = Location::caller();
    let function = Closures { forward, backward, types: PhantomData };
    move |input| call(&function, input, at)
}

struct Closures<F, B, A, R, S> {
    forward: F,
    backward: B,
    types: PhantomData<fn(&A) -> (R, S)>,
}

impl<F, B, A, R, S> Function for Closures<F, B, A, R, S>
where
    A: Tree + Clone,
    R: Tree + Clone,
    S: Tree + Clone,
    F: Fn(&A) -> Result<(R, S)>,
    B: Fn(&S, &R) -> Result<A>,
{
    type Input = A;
    type Output = R;
    type Saved = S;
    fn forward(&self, input: &A) -> Result<(R, S)> {
        (self.forward)(input)
    }
    fn backward(&self, saved: &S, grad_output: &R) -> Result<A> {
        (self.backward)(saved, grad_output)
    }
}

fn call<F: Function + ?Sized>(function: &F, input: &F::Input, at: &'static Location<'static>) -> Result<F::Output> {
    let forward = capture("function", &|x: &F::Input| function.forward(x), input, None)?;
    let (output, saved) = forward.stand_ins();
    let count = tensors(&output).len();
    let given = (saved, output);
    let backward = capture("function's backward", &|(s, g): &(F::Saved, F::Output)| function.backward(s, g), &given, None)?;
    let (_, output) = given;
    check_floats("function: the gradients of the input", &tensors(&backward.stand_ins()), &tensors(input))?;
    let absent = Cell::new(false);
    let tangent = |(x, t): &(F::Input, F::Input)| {
        function.jvp(x, t).unwrap_or_else(|| {
            absent.set(true);
            Err(Error::unsupported("forward mode by itself", "the transpose of backward is used"))
        })
    };
    let jvp = match capture("function's jvp", &tangent, &(input.clone(), input.clone()), None) {
        _ if absent.get() => None,
        outcome => Some(outcome?),
    };
    if let Some(c) = &jvp {
        check_floats("function: the tangents of the output", &tensors(&c.stand_ins()), &tensors(&output))?;
    }
    if backward.leaves_behind() || jvp.as_ref().is_some_and(Capture::leaves_behind) {
        return Err(Error::invalid("function", "its derivative leaves tensors behind", "return what it computes"));
    }

    // The operands: the input, and what the three take from around them, which gets no gradient.
    let mut inputs = tensors(input);
    let own = inputs.len();
    let around = [&forward.around[..], &backward.around, jvp.as_ref().map_or(&[], |c| &c.around)];
    inputs.extend(around.iter().flat_map(|list| list.iter().map(Tensor::detach)));
    let mut start = own;
    let places = around.map(|list| {
        start += list.len();
        start - list.len()..start
    });
    let parts = Parts {
        types: inputs.iter().map(|t| t.ty().clone()).collect(),
        own,
        places,
        count,
        saved: forward.results - count,
        forward: &forward.graph,
        backward: &backward.graph,
        jvp: jvp.as_ref().map(|c| &c.graph),
    };
    // The three graphs decide what the function is.
    let what = if trace::is_active() {
        String::new()
    } else {
        format!("function {count} {own} {} {}", parts.backward, parts.jvp.map(Graph::to_string).unwrap_or_default())
    };
    let device = &forward.device;
    let applied = transformed(device, &what, &forward.graph, |_| {
        let (function, env) = parts.function()?;
        Ok(vec![Applied::new(device, function, env, Style::Step)?])
    })?;
    let outputs = applied[0].call(device, &inputs, at)?;
    // What was saved is not among the function's results: it is computed within the derivative.
    let mut all = outputs[..count].to_vec();
    all.extend(tensors(&forward.stand_ins().1));
    all.extend(outputs[count..].iter().cloned());
    Ok(forward.result(&all)?.0)
}

fn check_floats(what: &str, given: &[Tensor], like: &[Tensor]) -> Result<()> {
    let floats = |list: &[Tensor]| list.iter().filter(|t| t.dtype().is_float()).cloned().collect::<Vec<_>>();
    check_types(what, &floats(given), &floats(like))
}

/// The captured graphs of a function and how their inputs lie among its operands.
struct Parts<'a> {
    types: Vec<TensorType>,
    /// How many operands the input has.
    own: usize,
    /// Where what each graph takes from around it lies: forward, backward, jvp.
    places: [Range<usize>; 3],
    /// How many tensors the output has, and what is saved.
    count: usize,
    saved: usize,
    forward: &'a Graph,
    backward: &'a Graph,
    jvp: Option<&'a Graph>,
}

impl Parts<'_> {
    fn function(&self) -> Result<(aludel_ir::Function, ShapeEnv)> {
        let (forward, backward) = (expand_grads(self.forward)?, expand_grads(self.backward)?);
        let jvp = self.jvp.map(expand_grads).transpose()?;
        let mut env = forward.env.clone();
        for g in [Some(&backward), jvp.as_ref()].into_iter().flatten().flat_map(|g| &g.env.guards) {
            if !env.guards.contains(g) {
                env.guards.push(g.clone());
            }
        }
        let body = self.build(&mut env, "", |b, x| {
            let mut y = splice(b, &forward, &self.operands(x, 0, &[]), &|_| false)?;
            y.drain(self.count..self.count + self.saved);
            Ok(y)
        })?;
        let results: Vec<TensorType> = body.outputs.iter().map(|o| body.ty(o.value).clone()).collect();
        let vjp = self.build(&mut env, "vjp", |b, x| self.vjp(b, x, &forward, &backward, &results))?;
        let jvp = match jvp {
            Some(jvp) => Some(self.build(&mut env, "jvp", |b, x| self.jvp(b, x, &jvp, &results))?),
            None => None,
        };
        Ok((aludel_ir::Function { name: "function".into(), body, vjp: Some(vjp), jvp, checkpoint: false }, env))
    }

    // A graph of the operands, and more inputs that `make` adds; guards that are found go to `env`.
    fn build(&self, env: &mut ShapeEnv, name: &str, make: impl FnOnce(&mut Builder, &[ValueId]) -> Result<Vec<ValueId>>) -> Result<Graph> {
        let mut b = Builder::new(name);
        b.graph.env = env.clone();
        let x: Vec<ValueId> =
            self.types.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), InputKind::Arg, t.clone())).collect();
        for (i, v) in make(&mut b, &x)?.into_iter().enumerate() {
            b.graph.add_output(format!("out{i}"), v, None);
        }
        let mut graph = b.graph;
        graph.eliminate_dead_code();
        let mut graph = graph.compact();
        *env = std::mem::take(&mut graph.env);
        Ok(graph)
    }

    // The inputs of one of the graphs: the function's input or what stands in its place, and what the graph takes from around it.
    fn operands(&self, x: &[ValueId], graph: usize, instead: &[ValueId]) -> Vec<ValueId> {
        let first = if instead.is_empty() { &x[..self.own] } else { instead };
        [first, &x[self.places[graph].clone()]].concat()
    }

    fn vjp(&self, b: &mut Builder, x: &[ValueId], forward: &Graph, backward: &Graph, results: &[TensorType]) -> Result<Vec<ValueId>> {
        let arg = |b: &mut Builder, name: String, t: &TensorType| b.graph.add_input(name, InputKind::Arg, t.clone());
        let y: Vec<ValueId> = results.iter().enumerate().map(|(i, t)| arg(b, format!("y{i}"), t)).collect();
        let dy: Vec<Option<ValueId>> =
            results.iter().enumerate().map(|(i, t)| t.dtype.is_float().then(|| arg(b, format!("dy{i}"), t))).collect();
        // What was saved follows from the operands, so that its derivative is known too; a result is there already.
        let all = splice(b, forward, &self.operands(x, 0, &[]), &|_| false)?;
        let (outputs, rest) = all.split_at(self.count);
        let mut given: Vec<ValueId> =
            rest[..self.saved].iter().map(|v| outputs.iter().position(|o| o == v && !x.contains(v)).map_or(*v, |k| y[k])).collect();
        given.extend((0..self.count).map(|k| dy[k].unwrap_or(y[k])));
        let found = splice(b, backward, &[&given[..], &x[self.places[1].clone()]].concat(), &|_| false)?;
        let floats: Vec<usize> = (0..x.len()).filter(|i| self.types[*i].dtype.is_float()).collect();
        floats.into_iter().map(|i| if i < self.own { Ok(found[i]) } else { b.zeros_like(x[i]) }).collect()
    }

    fn jvp(&self, b: &mut Builder, x: &[ValueId], jvp: &Graph, results: &[TensorType]) -> Result<Vec<ValueId>> {
        let mut both = x[..self.own].to_vec();
        for (i, t) in self.types.iter().enumerate() {
            let dx = t.dtype.is_float().then(|| b.graph.add_input(format!("dx{i}"), InputKind::Arg, t.clone()));
            if i < self.own {
                both.push(dx.unwrap_or(x[i]));
            }
        }
        let found = splice(b, jvp, &self.operands(x, 2, &both), &|_| false)?;
        let floats: Vec<usize> = (0..results.len()).filter(|k| results[*k].dtype.is_float()).collect();
        floats.into_iter().map(|k| if k < self.count { Ok(found[k]) } else { b.full(&results[k].shape, 0.0, results[k].dtype) }).collect()
    }
}
