//! Running all cases of a suite, and how many went which way.

use crate::{Case, Runner, Suite};
use aludel_ir::{Error, ops};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cases went which way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    /// Names of the operators that the table does not have, once for each case.
    pub unsupported: Vec<String>,
    /// Cases that failed and may ([`crate::Known`]).
    pub known: usize,
    /// Names of cases that may fail and passed.
    pub stale: Vec<String>,
}

impl Counts {
    /// The line that a run ends with.
    pub fn summary(&self) -> String {
        let known = if self.known > 0 { format!(", {} known to differ", self.known) } else { String::new() };
        format!("{} passed, {} failed, {} unsupported{known}", self.passed, self.failed, self.unsupported.len())
    }

    /// Adds what another run counted.
    pub fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.unsupported.extend(other.unsupported);
        self.known += other.known;
        self.stale.extend(other.stale);
    }
}

/// How a case went.
enum Outcome {
    Passed,
    Failed(Error),
    Unsupported,
}

impl Suite {
    /// Runs every case, forward and gradients, as many side by side as the machine has cores; prints a line for each that fails and may not,
    /// in the cases' order, and the summary.
    pub fn run(&self, runner: Runner, print: &mut dyn FnMut(&str)) -> Counts {
        let mut counts = Counts::default();
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(self.cases.len());
        let next = AtomicUsize::new(0);
        let (sender, outcomes) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((i, case)) = self.cases.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                        // The receiver lives as long as the scope.
                        let _ = sender.send((i, self.outcome(case, runner)));
                    }
                });
            }
            drop(sender);
            // Those that finished before an earlier one.
            let mut waiting = BTreeMap::new();
            let mut told = 0;
            for (i, outcome) in outcomes {
                waiting.insert(i, outcome);
                while let Some(outcome) = waiting.remove(&told) {
                    self.count(&self.cases[told], outcome, &mut counts, print);
                    told += 1;
                }
            }
        });
        print(&counts.summary());
        counts
    }

    fn outcome(&self, case: &Case, runner: Runner) -> Outcome {
        if ops::find(&case.op).is_none() {
            return Outcome::Unsupported;
        }
        // A panic is a failure of this case, not of those behind it.
        let run = || if case.error.is_some() { self.refuse_case(case, runner) } else { self.run_case(case, runner) };
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(Ok(())) => Outcome::Passed,
            Ok(Err(e)) => Outcome::Failed(e),
            Err(_) => Outcome::Failed(Error::invalid(&case.name, "panicked", "report this")),
        }
    }

    fn count(&self, case: &Case, outcome: Outcome, counts: &mut Counts, print: &mut dyn FnMut(&str)) {
        match outcome {
            Outcome::Passed => {
                counts.passed += 1;
                if self.known.has(&case.name) {
                    counts.stale.push(case.name.clone());
                }
            }
            Outcome::Failed(_) if self.known.has(&case.name) => counts.known += 1,
            Outcome::Failed(e) => {
                counts.failed += 1;
                print(&format!("FAILED {}: {e}", case.name));
            }
            Outcome::Unsupported => {
                print(&format!("UNSUPPORTED {}: no operator {}", case.name, case.op));
                counts.unsupported.push(case.op.clone());
            }
        }
    }
}
