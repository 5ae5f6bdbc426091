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

/// Runs what was loaded until it is done, fuel is spent, or it waits for a value, which [`resume`] gives.
pub fn advance(vm: &mut Vm, fuel: u64) -> Outcome {
    recording(vm, |vm| {
        let outcome = vm.run(fuel);
        // Another machine may have its turn on this thread.
        if watch::CAN {
            crate::replay::leave(vm, "a value is waited for");
        }
        outcome
    })
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
    recording(vm, |vm| {
        let outcome = vm.resume(value, fuel);
        if watch::CAN {
            crate::replay::leave(vm, "a value is waited for");
        }
        outcome
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
    recording(vm, |vm| vm.resume(value, fuel))
}

/// Lets a run that waits raise an exception instead of what it waits for, and goes on.
pub fn raise(vm: &mut Vm, kind: ExcKind, message: &str, fuel: u64) -> Outcome {
    recording(vm, |vm| vm.resume(Err(Exc::new(kind, message)), fuel))
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
