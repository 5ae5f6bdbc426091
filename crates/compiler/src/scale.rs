//! What a planned step takes on many ranks, on paper: [`predict`] plays its launches and its exchanges on one rank.
//!
//! Kernels run one at a time, each as long as its arithmetic or its traffic takes, whichever is more; exchanges run beside them, one at a
//! time, from when their operand is written. A kernel that reads what is not there yet, or writes what is still read, lets later ones go
//! first. All ranks are alike, so what one does is what all do. Costs of exchanges are those of Thakur, Rabenseifner and Gropp,
//! "Optimization of collective communication operations in MPICH" (2005): rings for long operands, trees for short ones.

use aludel_ir::program::{Program, Role};
use aludel_ir::{Collective, CollectiveOp, Error, Result};

/// What connects the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    pub ranks: u32,
    /// Bytes that a rank sends in a second, while it receives as many.
    pub bandwidth: f64,
    /// Seconds until a message begins to arrive.
    pub latency: f64,
}

/// What one rank's device does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Floating-point operations in a second.
    pub flops: f64,
    /// Bytes of its memory read or written in a second.
    pub bytes: f64,
    /// Seconds that a launch takes at least.
    pub launch: f64,
    /// Whether exchanges run beside kernels.
    pub overlaps: bool,
}

/// A step of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Seconds of a step.
    pub step: f64,
    /// Of it, in kernels.
    pub compute: f64,
    /// In exchanges, hidden or not.
    pub exchange: f64,
    /// In which no kernel runs.
    pub exposed: f64,
    /// Bytes of parameters, optimizer state and whatever else lives between steps.
    pub state: i64,
    /// Bytes of temporaries and results: activations, gradients, gathered parameters.
    pub arena: i64,
}

impl Network {
    /// Seconds of a collective whose operand has so many bytes on each rank.
    pub fn seconds(&self, collective: &Collective, operand: f64) -> f64 {
        let n = f64::from(self.ranks.max(1));
        if self.ranks < 2 {
            return 0.0;
        }
        let (hops, rounds) = (n - 1.0, n.log2().ceil());
        let send = |bytes: f64| bytes / self.bandwidth;
        match collective.op {
            CollectiveOp::AllReduce(_) => {
                let ring = 2.0 * hops * self.latency + send(2.0 * operand * hops / n);
                let tree = 2.0 * rounds * (self.latency + send(operand));
                // Halving and doubling: as few messages as a tree, as few bytes as a ring, where the ranks are a power of two.
                let halving = 2.0 * rounds * self.latency + send(2.0 * operand * hops / n);
                if self.ranks.is_power_of_two() { ring.min(tree).min(halving) } else { ring.min(tree) }
            }
            CollectiveOp::AllGather { .. } => rounds * self.latency + send(operand * hops),
            CollectiveOp::ReduceScatter(_) => rounds * self.latency + send(operand * hops / n),
            CollectiveOp::Broadcast { .. } => rounds * self.latency + send(operand),
            CollectiveOp::AllToAll => hops * self.latency + send(operand * hops / n),
        }
    }
}

/// What a rank exchanges in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub collectives: u64,
    /// Bytes of this rank's operands.
    pub operands: u64,
    /// Bytes that it sends, where no rank sends more than the others and none more than it has to: for n ranks, of an operand, twice
    /// (n - 1) / n where all get a sum, (n - 1) / n where each gets a part, n - 1 times where all get all, and once where all get one's.
    pub sent: u64,
}

/// What the first rank's planned step exchanges, to the byte; `None` of one of symbolic sizes.
pub fn traffic(program: &Program) -> Option<Traffic> {
    let mut all = Traffic::default();
    for e in program.launches.iter().filter_map(|l| l.exchange.as_ref()) {
        let from = &program.placements[e.from];
        let elements = u64::try_from(program.eval(&aludel_ir::Expr::product(&from.shape), &[])?).ok()?;
        let (bytes, n) = (elements * u64::from(from.element_bytes), u64::from(e.collective.group.ranks.max(1)));
        all.collectives += 1;
        all.operands += bytes;
        all.sent += match e.collective.op {
            CollectiveOp::AllReduce(_) => (2 * bytes * (n - 1)).div_ceil(n),
            CollectiveOp::ReduceScatter(_) | CollectiveOp::AllToAll => (bytes * (n - 1)).div_ceil(n),
            CollectiveOp::AllGather { .. } => bytes * (n - 1),
            CollectiveOp::Broadcast { .. } => bytes,
        };
    }
    Some(all)
}

/// Bytes of what lives between steps in a rank's device: parameters or shards, the optimizer's state, buffers; `None` of symbolic sizes.
pub fn state_bytes(program: &Program) -> Option<u64> {
    bytes_of(program, Role::State)
}

/// Bytes of what lives between steps in the host's memory instead; `None` of symbolic sizes.
pub fn offloaded_bytes(program: &Program) -> Option<u64> {
    bytes_of(program, Role::Offloaded)
}

fn bytes_of(program: &Program, role: Role) -> Option<u64> {
    let (_, bindings) = program.layout(&[])?;
    let of_state = program.bindings.iter().zip(&bindings).filter(|(b, _)| b.role == role);
    u64::try_from(of_state.map(|(_, words)| words * 4).sum::<i64>()).ok()
}

/// One launch, while it waits or runs.
struct Task {
    seconds: f64,
    exchange: bool,
    /// Slots read and written.
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl Task {
    /// Whether it has to wait for an earlier one.
    fn follows(&self, earlier: &Task) -> bool {
        let meet = |a: &[usize], b: &[usize]| a.iter().any(|x| b.contains(x));
        meet(&self.reads, &earlier.writes) || meet(&self.writes, &earlier.writes) || meet(&self.writes, &earlier.reads)
    }
}

/// The time and memory of a step on a rank of a network. Collectives of any group are taken for those of all ranks: one that was planned
/// for two stands for as many as the network has where its shapes do not depend on them (data parallel).
///
/// # Errors
///
/// A program with symbolic sizes; rates that are not positive.
pub fn predict(program: &Program, network: &Network, rates: &Rates) -> Result<Prediction> {
    let rate = [network.bandwidth, rates.flops, rates.bytes];
    if rate.iter().any(|r| !r.is_finite() || *r <= 0.0) || network.latency.is_nan() || network.latency < 0.0 || network.ranks == 0 {
        return Err(Error::invalid(
            "a network",
            "bandwidths and rates are above zero, latencies not below",
            "give bytes, operations and seconds",
        ));
    }
    let symbolic = || Error::unsupported("predicting a step of symbolic sizes", "capture it for known sizes");
    let eval = |e: &aludel_ir::Expr| program.eval(e, &[]).map(|v| v as f64).ok_or_else(symbolic);
    let mut tasks = Vec::with_capacity(program.launches.len());
    for l in &program.launches {
        let slots = |list: &[usize]| list.iter().map(|p| program.placements[*p].slot).collect::<Vec<usize>>();
        let seconds = match &l.exchange {
            Some(e) => {
                let from = &program.placements[e.from];
                let bytes = eval(&aludel_ir::Expr::product(&from.shape))? * f64::from(from.element_bytes);
                network.seconds(&e.collective, bytes)
            }
            None => (eval(&l.flops)? / rates.flops).max(eval(&l.bytes)? / rates.bytes).max(rates.launch),
        };
        tasks.push(Task { seconds, exchange: l.exchange.is_some(), reads: slots(&l.reads), writes: slots(&l.writes) });
    }
    let (step, compute, exchange, exposed) = play(&tasks, rates.overlaps);
    let (_, bindings) = program.layout(&[]).ok_or_else(symbolic)?;
    let of = |role: Role| program.bindings.iter().zip(&bindings).filter(|(b, _)| b.role == role).map(|(_, words)| words * 4).sum();
    Ok(Prediction { step, compute, exchange, exposed, state: of(Role::State), arena: of(Role::Arena) })
}

/// Seconds in all, in kernels, in exchanges, and in which no kernel runs.
fn play(tasks: &[Task], overlaps: bool) -> (f64, f64, f64, f64) {
    // For each task, those that it waits for; the nearest suffice, as these wait for the others.
    let before: Vec<Vec<usize>> = (0..tasks.len()).map(|i| (0..i).filter(|k| tasks[i].follows(&tasks[*k])).collect()).collect();
    let mut end: Vec<Option<f64>> = vec![None; tasks.len()];
    let (mut kernels, mut wire, mut compute, mut exchange) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let mut waiting: Vec<usize> = (0..tasks.len()).collect();
    while !waiting.is_empty() {
        // What can begin first, of equals the first of the program.
        let begins = |i: usize| -> Option<f64> {
            let ready = before[i].iter().try_fold(0.0f64, |t, k| end[*k].map(|e| t.max(e)))?;
            Some(ready.max(if tasks[i].exchange { wire } else { kernels }))
        };
        let best =
            waiting.iter().enumerate().filter_map(|(at, i)| Some((begins(*i)?, at))).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((begin, at)) = best else { break };
        let i = waiting.remove(at);
        let done = begin + tasks[i].seconds;
        end[i] = Some(done);
        if tasks[i].exchange {
            (wire, exchange) = (done, exchange + tasks[i].seconds);
        } else {
            (kernels, compute) = (done, compute + tasks[i].seconds);
        }
        if !overlaps {
            (kernels, wire) = (done, done);
        }
    }
    let step = kernels.max(wire);
    (step, compute, exchange, step - compute)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::{Group, ReduceOp};

    fn kernel(seconds: f64, reads: &[usize], writes: &[usize]) -> Task {
        Task { seconds, exchange: false, reads: reads.to_vec(), writes: writes.to_vec() }
    }

    #[test]
    fn what_needs_no_exchange_runs_beside_it() {
        // A gradient, its exchange, the update that waits for it, and another gradient.
        let tasks =
            [kernel(1.0, &[0], &[1]), Task { exchange: true, ..kernel(2.0, &[1], &[2]) }, kernel(0.5, &[2], &[3]), kernel(3.0, &[0], &[4])];
        assert_eq!(play(&tasks, true), (4.5, 4.5, 2.0, 0.0));
        assert_eq!(play(&tasks, false), (6.5, 4.5, 2.0, 2.0));
        // One that overwrites what is being sent waits.
        let tasks = [kernel(1.0, &[0], &[1]), Task { exchange: true, ..kernel(2.0, &[1], &[2]) }, kernel(1.0, &[0], &[1])];
        assert_eq!(play(&tasks, true), (4.0, 2.0, 2.0, 2.0));
    }

    #[test]
    fn long_operands_take_their_bytes_and_short_ones_their_messages() {
        let of = |op| Collective { op, group: Group { name: "world".into(), ranks: 2 } };
        let n = |ranks| Network { ranks, bandwidth: 1e9, latency: 1e-6 };
        let sum = of(CollectiveOp::AllReduce(ReduceOp::Sum));
        // Twice (n - 1) / n of the bytes.
        assert!((n(2).seconds(&sum, 1e9) - 1.0).abs() < 1e-4);
        assert!((n(4).seconds(&sum, 1e9) - 1.5).abs() < 1e-4);
        // Messages grow with the logarithm.
        assert!((n(1024).seconds(&sum, 8.0) - 20e-6).abs() < 1e-6);
        assert!((n(8).seconds(&of(CollectiveOp::AllGather { release: false }), 1e9) - 7.0).abs() < 1e-4);
        assert!((n(8).seconds(&of(CollectiveOp::ReduceScatter(ReduceOp::Sum)), 8e9) - 7.0).abs() < 1e-4);
        assert_eq!(n(1).seconds(&sum, 1e9), 0.0);
    }
}
