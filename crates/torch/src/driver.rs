//! Driving a machine: going on after reads.

use crate::capture::recording;
use crate::read::Read;
use aludel_python::modules::apart::Wanted;
use aludel_python::objects::{Exc, Kind as ExcKind, Value, watch};
use aludel_python::{Outcome, Vm};
use std::any::Any;

/// How a run ended.
pub enum Finished {
    Done,
    /// An exception that nothing caught.
    Error(Value),
}

/// Turns of loops and calls that may be run beyond what was given, so that a turn of a training loop that is watched comes to its end:
/// where it is cut off depends on all that ran before. Some milliseconds; longer turns are not worth repeating.
const WATCHED: u64 = 20_000;

/// Runs what was loaded until it is done, fuel is spent, or it waits for a value, which [`resume`] gives. A turn that is being watched is
/// brought to its end, but with a fuel of 1, which asks for the next place to stop.
pub fn advance(vm: &mut Vm, fuel: u64) -> Outcome {
    recording(vm, |vm| {
        let outcome = vm.run(fuel);
        end_turn(vm, outcome, fuel)
    })
}

// Ends what is watched: another machine may have its turn on this thread.
fn end_turn(vm: &mut Vm, mut outcome: Outcome, fuel: u64) -> Outcome {
    /// Between two looks whether it is over.
    const SOME: u64 = 64;
    if !watch::CAN {
        return outcome;
    }
    let mut left = if fuel > 1 { WATCHED } else { 0 };
    while left > 0 && matches!(outcome, Outcome::OutOfFuel) && crate::replay::is_watching(vm) {
        outcome = vm.run(SOME);
        left = left.saturating_sub(SOME);
    }
    let why = if matches!(outcome, Outcome::OutOfFuel) { "a turn takes too long to be watched" } else { "a value is waited for" };
    crate::replay::leave(vm, why);
    outcome
}

/// Gives a run the value that it waits for, and goes on.
pub async fn resume(vm: &mut Vm, token: Box<dyn Any>, fuel: u64) -> Outcome {
    let value = match token.downcast::<Read>() {
        Ok(read) => read.wait(vm).await,
        Err(token) => match token.downcast::<Wanted>() {
            Ok(wanted) => import(vm, *wanted).await,
            Err(_) => Err(Exc::new(ExcKind::SystemError, "the script waits for something unknown")),
        },
    };
    go_on(vm, value, fuel)
}

fn go_on(vm: &mut Vm, value: Result<Value, Exc>, fuel: u64) -> Outcome {
    recording(vm, |vm| {
        let outcome = vm.resume(value, fuel);
        end_turn(vm, outcome, fuel)
    })
}

/// Brings the file of a package that an import waits for.
async fn import(vm: &mut Vm, wanted: Wanted) -> Result<Value, Exc> {
    let brought = match (vm.fetch)(wanted).await {
        Ok(file) => vm.provide(wanted, &file),
        Err(why) => Err(why),
    };
    let Wanted { package, .. } = wanted;
    brought.map(|()| Value::None).map_err(|why| Exc::new(ExcKind::ImportError, format!("the package '{package}' is not here: {why}")))
}

/// Gives a run the line of input that it asked for ([`aludel_python::host::Asked`]), without its newline, and goes on; `None`: there is none.
pub fn answer(vm: &mut Vm, line: Option<&str>, fuel: u64) -> Outcome {
    let value = line.map(Value::str).ok_or_else(|| Exc::new(ExcKind::EOFError, "EOF when reading a line"));
    go_on(vm, value, fuel)
}

/// Lets a run that waits raise an exception instead of what it waits for, and goes on.
pub fn raise(vm: &mut Vm, kind: ExcKind, message: &str, fuel: u64) -> Outcome {
    go_on(vm, Err(Exc::new(kind, message)), fuel)
}

/// Runs what was loaded to its end, waiting for the device where the script reads a value. `chance` is called every now and then, and
/// may ask for an interruption.
pub async fn run(vm: &mut Vm, chance: &mut dyn FnMut(&mut Vm)) -> Finished {
    /// Turns of loops and calls between two chances: some milliseconds.
    const FUEL: u64 = 20_000;
    let mut outcome = advance(vm, FUEL);
    loop {
        chance(vm);
        outcome = match outcome {
            Outcome::Done(_) => return Finished::Done,
            Outcome::Error(error) => return Finished::Error(error),
            Outcome::OutOfFuel => advance(vm, FUEL),
            Outcome::Await(token) => resume(vm, token, FUEL).await,
        };
    }
}
