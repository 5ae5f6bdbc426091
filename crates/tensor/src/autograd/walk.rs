//! The walk back over the tape, the latest operators first.

use super::{Grad, Gradients, Leaf, Node, free, modified, no_grad, vjp};
use crate::dispatch::dispatch_at;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, Error, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

/// A walk back that stops where the tape does: at results of functions whose derivatives it does not know ([`HeldLeaf`](super::held::HeldLeaf)).
/// Whoever knows them goes on from what those functions were given. Everything is passed once, when its gradient is complete: leaves and
/// recorded operators are numbered in one order.
///
/// ```
/// use aludel_tensor::{Device, HeldLeaf, Tensor, Walk};
///
/// let x = Tensor::from_vec(&Device::interpreter(), vec![2.0f32], [1])?.requires_grad();
/// // A function that squares, outside of the tape.
/// let (y, leaf) = HeldLeaf::new(&x.detach().square()?);
/// let loss = y.mul(3.0)?;
/// let mut walk = Walk::new(&[], false);
/// walk.begin(&loss, loss.detach().ones_like()?)?;
/// while let Some((id, gradient)) = walk.next()? {
///     assert_eq!(id, leaf.id());
///     walk.begin(&x, gradient.mul(&x.detach())?.mul(2.0)?)?;
/// }
/// let (_, gradients) = walk.finish();
/// assert_eq!(gradients.get(&x)?.to_vec::<f32>()?, [12.0]);
/// # Ok::<(), aludel_tensor::Error>(())
/// ```
pub struct Walk {
    create_graph: bool,
    at: &'static Location<'static>,
    heads: Vec<Tensor>,
    /// Operators whose results have gradients, by their numbers.
    todo: BTreeMap<u64, (Arc<Node>, Vec<Option<Tensor>>)>,
    /// Where it stops, by the numbers of the leaves.
    held: BTreeMap<u64, Tensor>,
    leaves: Gradients,
    wanted: Vec<Tensor>,
    /// For a recorded operator, its results that are wanted: which result, and which of the wanted.
    places: FxHashMap<u64, Vec<(usize, usize)>>,
    found: Vec<Option<Tensor>>,
}

impl Walk {
    /// One that has not begun. `wanted` are results on the tape, or leaves, whose gradients [`Walk::finish`] gives. With `create_graph` the
    /// gradients are on the tape themselves.
    #[track_caller]
    pub fn new(wanted: &[Tensor], create_graph: bool) -> Walk {
        let mut places: FxHashMap<u64, Vec<(usize, usize)>> = FxHashMap::default();
        for (i, t) in wanted.iter().enumerate() {
            if let Some(Grad::Node(node, k)) = &t.inner.grad {
                places.entry(node.seq).or_default().push((*k, i));
            }
        }
        Walk {
            create_graph,
            at: Location::caller(),
            heads: Vec::new(),
            todo: BTreeMap::new(),
            held: BTreeMap::new(),
            leaves: Gradients::default(),
            wanted: wanted.to_vec(),
            places,
            found: vec![None; wanted.len()],
        }
    }

    /// Begins at a tensor, whose gradient is given in its shape; at several one after another.
    ///
    /// # Errors
    ///
    /// When the gradient has another shape, the tensor depends on nothing that requires a gradient, or gradients cannot be added.
    pub fn begin(&mut self, x: &Tensor, gradient: Tensor) -> Result<()> {
        let fail = |problem: &str, remedy: &str| Err(Error::op("backward", x.to_string(), problem, remedy));
        if gradient.dims() != x.dims() {
            return fail("the gradient has another shape", "give one for each element");
        }
        let Some(grad) = &x.inner.grad else {
            return fail("the tensor does not depend on anything that requires a gradient", "call requires_grad() on the parameters");
        };
        self.heads.push(x.clone());
        let gradient = if self.create_graph { gradient } else { gradient.detach() };
        self.scope(|walk| walk.accumulate(grad, gradient))
    }

    /// Walks until the latest of what is left is a held leaf; gives its number and its gradient. `None` at the end.
    ///
    /// # Errors
    ///
    /// When an operator on the way has no derivative, or one of the backward pass's fails.
    #[expect(clippy::should_implement_trait, reason = "what comes depends on `begin` between")]
    pub fn next(&mut self) -> Result<Option<(u64, Tensor)>> {
        self.scope(|walk| {
            loop {
                let (node, held) = (walk.todo.last_key_value().map(|(n, _)| *n), walk.held.last_key_value().map(|(n, _)| *n));
                if held.is_some() && held > node {
                    return Ok(walk.held.pop_last());
                }
                let Some((seq, (node, grads))) = walk.todo.pop_last() else { return Ok(None) };
                modified::check(&node)?;
                for (k, i) in walk.places.get(&seq).into_iter().flatten() {
                    walk.found[*i] = grads.get(*k).cloned().flatten();
                }
                let gradients = vjp::run(&node, &grads, walk.create_graph, walk.at)?;
                for (t, g) in node.kept().inputs.iter().zip(gradients) {
                    if let (Some(to), Some(g)) = (&t.inner.grad, g) {
                        walk.accumulate(to, g)?;
                    }
                }
            }
        })
    }

    /// The gradient of another held leaf, where there is one: of a function of several results, which were made without an operator between.
    pub fn take(&mut self, leaf: u64) -> Option<Tensor> {
        self.held.remove(&leaf)
    }

    /// Where it began.
    pub fn heads(&self) -> &[Tensor] {
        &self.heads
    }

    /// Walks to the end; held leaves are as others.
    pub(super) fn through(mut self) -> Result<(Vec<Option<Tensor>>, Gradients)> {
        let mut held = Vec::new();
        while let Some(one) = self.next()? {
            held.push(one);
        }
        let (found, mut leaves) = self.finish();
        held.into_iter().for_each(|(id, g)| leaves.insert(id, g));
        Ok((found, leaves))
    }

    /// Lets go of the values that the tape keeps for derivatives, wherever it began ([`free`]).
    pub fn free(&self) {
        self.heads.iter().for_each(free);
    }

    /// The gradients of what is wanted, `None` where nothing depends on it, and those of all leaves that it came to.
    pub fn finish(mut self) -> (Vec<Option<Tensor>>, Gradients) {
        for (t, slot) in self.wanted.iter().zip(&mut self.found).filter(|(t, _)| t.is_leaf()) {
            *slot = self.leaves.find(t).cloned();
        }
        (self.found, self.leaves)
    }

    fn scope<R>(&mut self, f: impl FnOnce(&mut Walk) -> R) -> R {
        if self.create_graph { f(self) } else { no_grad(|| f(self)) }
    }

    fn accumulate(&mut self, to: &Grad, g: Tensor) -> Result<()> {
        let slot = match to {
            Grad::Leaf(Leaf { id, held: Some(_) }) => match self.held.get_mut(id) {
                Some(sum) => sum,
                None => {
                    self.held.insert(*id, g);
                    return Ok(());
                }
            },
            Grad::Leaf(Leaf { id, held: None }) => match self.leaves.by_leaf.get(id) {
                Some(i) => &mut self.leaves.list[*i],
                None => {
                    self.leaves.insert(*id, g);
                    return Ok(());
                }
            },
            Grad::Node(n, k) => {
                let (_, grads) = self.todo.entry(n.seq).or_insert_with(|| (n.clone(), vec![None; n.kept().outputs.len()]));
                match &mut grads[*k] {
                    Some(sum) => sum,
                    empty => {
                        *empty = Some(g);
                        return Ok(());
                    }
                }
            }
        };
        let add = crate::methods::find("add")?;
        if let Some(sum) = dispatch_at(None, add, &[(&*slot).into(), (&g).into()], Attrs::new(), self.at)?.pop() {
            *slot = sum;
        }
        Ok(())
    }
}
