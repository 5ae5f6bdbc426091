//! Which values to keep so that the others can be computed again, at the least cost of keeping: a minimum cut.
//!
//! Each value is two nodes of a network with an edge between them whose capacity is what keeping the value costs. A value that
//! cannot be computed again hangs on the source; a value that the backward pass reads hangs on the sink. An edge that is cut
//! is a value that is kept.

use super::flow::{Network, UNBOUNDED};

/// Values in topological order, by index.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// What each value is computed from.
    pub inputs: Vec<Vec<usize>>,
    /// What keeping a value costs; [`UNBOUNDED`] for one that is never kept itself.
    pub weight: Vec<u64>,
    /// Values that cannot be computed again: inputs of the program, and what is too dear.
    pub fixed: Vec<bool>,
    /// Values that the backward pass reads.
    pub needed: Vec<bool>,
}

/// The values to keep. Among cuts of equal cost, the one closest to the backward pass: it computes the least again.
pub fn solve(p: &Problem) -> Vec<bool> {
    let n = p.inputs.len();
    let (source, sink) = (2 * n, 2 * n + 1);
    let (before, after) = (|v: usize| 2 * v, |v: usize| 2 * v + 1);
    // Only what some needed value could be computed from takes part.
    let mut relevant = p.needed.clone();
    for v in (0..n).rev() {
        if relevant[v] && !p.fixed[v] {
            p.inputs[v].iter().for_each(|i| relevant[*i] = true);
        }
    }
    let mut net = Network::new(2 * n + 2);
    for v in (0..n).filter(|v| relevant[*v]) {
        net.edge(before(v), after(v), p.weight[v]);
        if p.fixed[v] {
            net.edge(source, before(v), UNBOUNDED);
        } else {
            p.inputs[v].iter().for_each(|i| net.edge(after(*i), before(v), UNBOUNDED));
        }
        if p.needed[v] {
            net.edge(after(v), sink, UNBOUNDED);
        }
    }
    net.saturate(source, sink);
    let reaches = net.reaches(sink);
    (0..n).map(|v| relevant[v] && reaches[after(v)] && !reaches[before(v)]).collect()
}

/// The values that are computed again: everything between what is kept and what is needed.
pub fn recomputed(p: &Problem, kept: &[bool]) -> Vec<bool> {
    let mut again = vec![false; p.inputs.len()];
    for v in (0..p.inputs.len()).rev() {
        again[v] = (again[v] || p.needed[v]) && !kept[v] && !p.fixed[v];
        if again[v] {
            for i in &p.inputs[v] {
                again[*i] = true;
            }
        }
    }
    again
}
