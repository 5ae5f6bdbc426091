//! A captured function by itself: the graph and what each of its inputs is, to be run elsewhere.

use super::capture::{Captured, Delivered, Whole, capture};
use super::guard::Facts;
use super::{Compiled, lock};
use crate::tensor::Tensor;
use crate::trace::{self, Source};
use crate::tree::Tree;
use aludel_ir::{Error, Graph, Result, ShapeEnv};

/// A captured function and all it needs to run elsewhere. Made by [`Compiled::export`].
#[derive(Clone)]
pub struct Exported {
    /// Operators, gradients and updates of state; every size is a number.
    pub graph: Graph,
    /// For each input of the graph, in order, what it is.
    pub inputs: Vec<ExportedInput>,
    /// For each tensor of the function's result, in the order of its tree, the output of the graph that it is; `None` for an
    /// argument, state or constant that comes back unchanged.
    pub results: Vec<Option<usize>>,
}

/// What an input of an exported graph is.
#[derive(Clone, Debug)]
pub enum ExportedInput {
    /// A tensor of the state and its value now. `updated`: an output of the graph replaces it.
    State { path: String, tensor: Tensor, updated: bool },
    /// A tensor of the arguments, by its path and its position in the order of the tree.
    Argument { path: String, position: usize },
    /// A tensor that the function holds.
    Constant(Tensor),
}

impl<S, A, R, F> Compiled<S, A, R, F>
where
    S: Tree,
    A: Tree + Clone,
    R: Tree + Clone,
    F: Fn(&mut S, &A) -> Result<R>,
{
    /// Captures the function for the sizes of these arguments and gives its graph, without compiling or running anything. The state stays
    /// as it is.
    ///
    /// # Errors
    ///
    /// When the function fails, reads a value on the host (it is more than one graph then), or another function is being traced.
    pub fn export(&self, state: &mut S, args: &A) -> Result<Exported> {
        if trace::is_active() {
            return Err(Error::invalid("export", "a compiled function is being traced", "call it outside of compiled functions"));
        }
        let segments = lock(&self.memo).segments.clone();
        let facts = Facts::of(args, state);
        let captured = capture(&self.function, &self.settings.name, &facts, ShapeEnv::default(), true, &segments, state, args)?;
        let Captured::Whole(whole) = captured else {
            return Err(Error::unsupported("exporting a function with graph breaks", "read values outside of the function"));
        };
        let Whole { graph, sources, delivered, .. } = *whole;
        let paths: Vec<&str> = facts.tensors().map(|(path, _)| path).collect();
        let inputs = sources
            .iter()
            .enumerate()
            .map(|(k, source)| match source {
                Source::Capture(t) => ExportedInput::Constant(t.clone()),
                Source::Leaf(i) if *i < facts.args => ExportedInput::Argument { path: paths[*i].to_string(), position: *i },
                Source::Leaf(i) => ExportedInput::State {
                    path: paths[*i].strip_prefix("state.").unwrap_or(paths[*i]).to_string(),
                    tensor: facts.leaves[*i].detach(),
                    updated: graph.outputs.iter().any(|o| o.updates == Some(k)),
                },
            })
            .collect();
        let output = |d: &Delivered| match d {
            Delivered::Output(k) => Some(*k),
            Delivered::Leaf(_) | Delivered::Constant(_) => None,
        };
        Ok(Exported { results: delivered.iter().map(output).collect(), inputs, graph })
    }
}
