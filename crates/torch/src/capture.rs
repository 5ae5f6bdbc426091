//! Running a script compiled: its operators are recorded, and run together where a loop turns or a value is read.

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::objects::{Exc, watch};
use aludel_tensor::is_grad_enabled;
use aludel_tensor::record::{self, Recorder};

pub use crate::replay::Repeated;
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

/// Lets a machine stop where the kernels of a region are new, until they are compiled: for devices that compile beside the script.
pub fn wait_for_kernels(vm: &mut Vm) {
    if let Ok(state) = state(vm) {
        state.waits = true;
    }
    recording(vm, |_| record::let_wait(true));
}

/// Lets a machine end regions where the script's loops turn.
pub(crate) fn install(vm: &mut Vm) {
    vm.on_turn = Some(turned);
    if watch::CAN {
        vm.on_entry = Some(crate::replay::entered);
    }
}

/// Runs what is recorded and did not run: at the end of a script, so that it is done when its time is taken.
///
/// # Errors
///
/// What compiling or running gives.
pub fn finish(vm: &mut Vm) -> aludel_tensor::Result<()> {
    recording(vm, |vm| {
        if watch::CAN {
            crate::replay::leave(vm, "the script ends within");
        }
        record::flush()
    })
}

/// What was compiled and run so far.
pub fn counts(vm: &mut Vm) -> Counts {
    recording(vm, |_| record::counts())
}

/// How many turns of loops were done without running Python, and what is known of the loops.
pub fn repeated(vm: &mut Vm) -> (u64, Vec<Repeated>) {
    crate::replay::summary(vm)
}

/// Where in the script values were read in the middle of a region, `file:line`, and how often.
pub fn breaks(vm: &mut Vm) -> Vec<(String, u64)> {
    recording(vm, |_| record::breaks())
}

/// The graphs that were compiled.
pub fn regions(vm: &mut Vm) -> Vec<Region> {
    recording(vm, |_| record::regions())
}

/// Runs something of the machine in its own modes and with its recorder at work, and only then: machines may take turns on a thread.
pub(crate) fn recording<R>(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> R) -> R {
    let Some(mut modes) = state(vm).ok().and_then(|s| s.modes.take()) else { return f(vm) };
    modes.swap();
    let result = recorded(vm, f);
    modes.swap();
    if let Ok(state) = state(vm) {
        state.modes = Some(modes);
    }
    result
}

fn recorded<R>(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> R) -> R {
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
    // A pass with functions whose derivatives are Python goes from one to the next in a loop of the library.
    vm.watch_loop_outside("<torch.autograd");
}

/// An operator is about to run.
pub(crate) fn operator(vm: &mut Vm, name: &str) -> Result<(), Exc> {
    if !record::is_recording() {
        return Ok(());
    }
    record::operator(name);
    watch::works();
    // A loop that trains nothing, as one that fills a tensor, ends regions where it turns once they are long: each is then as the last.
    if record::length() >= LONG && vm.watches_nothing() {
        vm.watch_loop();
    }
    // Loops that only evaluate end regions too, but not those within a module.
    if !is_grad_enabled() {
        vm.watch_loop_around("<torch.nn.modules.module>", "__call__");
    }
    locate(vm)
}

/// Notes where the script is, if it is to be known.
pub(crate) fn locate(vm: &mut Vm) -> Result<(), Exc> {
    if state(vm)?.locates {
        record::set_location(vm.place().map(|(file, line)| format!("{file}:{line}")));
    }
    Ok(())
}

/// So many operators are a long region: more than a forward pass of most models.
const LONG: usize = 400;
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
    /// Submissions to the device so far.
    pub submits: u64,
}

/// The turns of the script's training loops: of those that a backward pass ran in.
pub fn turns(vm: &mut Vm) -> Vec<Turn> {
    state(vm).map(|s| s.turns.clone()).unwrap_or_default()
}

/// Turns in which kernels are compiled: what was recorded in the first runs in the second.
const WARM: usize = 3;

/// What a step of the training loops takes: medians over their turns, without the first ones, in which kernels are compiled.
#[derive(Clone, Copy, Default, Debug)]
pub struct Pace {
    /// Turns so far.
    pub steps: usize,
    pub ms: Option<f64>,
    pub launches: Option<u64>,
    pub submits: Option<u64>,
    /// When the first three steps were made, in seconds by the host's clock.
    pub first: Option<f64>,
}

/// What a step takes, by at most so many of the last turns.
pub fn pace(vm: &mut Vm, recent: usize) -> Pace {
    let Ok(state) = state(vm) else { return Pace::default() };
    let turns = &state.turns;
    let steady = turns.get(WARM.max(turns.len().saturating_sub(recent))..).unwrap_or_default();
    let between = |of: &dyn Fn(&Turn, &Turn) -> f64| median(steady.windows(2).map(|w| of(&w[0], &w[1])).collect());
    Pace {
        steps: turns.len(),
        ms: between(&|a, b| (b.at - a.at) * 1e3),
        launches: between(&|a, b| (b.launches - a.launches) as f64).map(|n| n as u64),
        submits: between(&|a, b| (b.submits - a.submits) as f64).map(|n| n as u64),
        first: turns.get(WARM - 1).or(turns.last()).map(|t| t.at),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.order_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn turned(vm: &mut Vm) -> Result<(), Exc> {
    if record::is_recording() {
        record::close().map_err(raise)?;
        if watch::CAN {
            crate::replay::turned(vm)?;
        }
    }
    let at = vm.host.monotonic();
    let state = state(vm)?;
    if std::mem::take(&mut state.trained) && state.turns.len() < MAX_TURNS {
        let stats = state.device.stats();
        state.turns.push(Turn { at, launches: stats.dispatches, submits: stats.submits });
        if state.turns.len().is_multiple_of(AHEAD) && !(state.waits && record::is_behind()) {
            let device = state.device.clone();
            return Err(Exc::pending(Box::new(Read::throttle(device, AHEAD))));
        }
    }
    if state.waits && record::is_behind() {
        return Err(Exc::pending(Box::new(Read::kernels(state.device.clone()))));
    }
    Ok(())
}
