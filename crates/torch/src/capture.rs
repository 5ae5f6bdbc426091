//! Running a script compiled: its operators are recorded, and run together where a loop turns or a value is read.

use aludel_python::Vm;
use aludel_python::objects::Exc;
use aludel_tensor::is_grad_enabled;
use aludel_tensor::record::{self, Recorder};

pub use aludel_compiler::Options;
pub use aludel_tensor::record::{Counts, Region};

use crate::read::Read;
use crate::state::{raise, state};

/// Lets a machine's operators be recorded instead of run one by one. With `locates` they know the lines of the script that they stand at.
pub fn compile(vm: &mut Vm, options: Options, locates: bool) {
    if let Ok(state) = state(vm) {
        state.recorder = Some(Recorder::new(&state.device, options));
        state.is_compiled = true;
        state.locates = locates;
    }
}

/// Lets a machine end regions where the script's loops turn.
pub(crate) fn install(vm: &mut Vm) {
    vm.on_turn = Some(turned);
}

/// Runs what is recorded and did not run: at the end of a script, so that it is done when its time is taken.
///
/// # Errors
///
/// What compiling or running gives.
pub fn finish(vm: &mut Vm) -> aludel_tensor::Result<()> {
    recording(vm, |_| record::flush())
}

/// What was compiled and run so far.
pub fn counts(vm: &mut Vm) -> Counts {
    recording(vm, |_| record::counts())
}

/// The graphs that were compiled.
pub fn regions(vm: &mut Vm) -> Vec<Region> {
    recording(vm, |_| record::regions())
}

/// Runs something of the machine with its recorder at work: only then are operators recorded, so that machines may take turns.
pub(crate) fn recording<R>(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> R) -> R {
    let Some(mut recorder) = state(vm).ok().and_then(|s| s.recorder.take()) else { return f(vm) };
    let entered = recorder.enter();
    let result = f(vm);
    drop(entered);
    if let Ok(state) = state(vm) {
        state.recorder = Some(recorder);
    }
    result
}

/// A backward pass ran: the loop around it is a training loop, whose turns end regions.
pub(crate) fn trained(vm: &mut Vm) {
    if let Ok(state) = state(vm) {
        state.trained = true;
    }
    vm.watch_loop();
}

/// An operator is about to run.
pub(crate) fn operator(vm: &mut Vm, name: &str) -> Result<(), Exc> {
    if !record::is_recording() {
        return Ok(());
    }
    record::operator(name);
    // Loops that only evaluate end regions too, but not those within a module.
    if !is_grad_enabled() {
        vm.watch_loop_around("<torch.nn.modules.module>", "__call__");
    }
    if state(vm)?.locates {
        record::set_location(vm.place().map(|(file, line)| format!("{file}:{line}")));
    }
    Ok(())
}

/// How many turns of training loops are timed.
const MAX_TURNS: usize = 1 << 20;
/// Turns between two looks at how far the device is behind, and how many runs it may be.
const AHEAD: usize = 8;

/// A turn of a training loop.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Seconds by the host's clock.
    pub at: f64,
    /// Kernels launched so far.
    pub launches: u64,
}

/// The turns of the script's training loops: of those that a backward pass ran in.
pub fn turns(vm: &mut Vm) -> Vec<Turn> {
    state(vm).map(|s| s.turns.clone()).unwrap_or_default()
}

fn turned(vm: &mut Vm) -> Result<(), Exc> {
    record::close().map_err(raise)?;
    let at = vm.host.monotonic();
    let state = state(vm)?;
    if std::mem::take(&mut state.trained) && state.turns.len() < MAX_TURNS {
        let launches = state.device.stats().dispatches;
        state.turns.push(Turn { at, launches });
        if state.turns.len().is_multiple_of(AHEAD) {
            let device = state.device.clone();
            return Err(Exc::pending(Box::new(Read::throttle(device, AHEAD))));
        }
    }
    Ok(())
}
