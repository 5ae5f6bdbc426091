//! The process of one session: whatever a client's graph does, it does here.
//!
//! The server starts it ([`super::process`]) with `aludel worker` and speaks to it over its standard input and output ([`wire`]). It checks
//! the job ([`job`]), compiles the graph and takes its steps ([`learner`]), or runs a script ([`script`]). Before anything of a client is looked at, it gives up what it
//! does not need ([`sandbox`]): files but for the compiler's and the cache, the network, memory beyond its limit; before the first step
//! files and programs altogether. When the server goes, or wants it gone, it ends with its compilers.

mod cost;
mod gate;
pub mod job;
mod learner;
mod sandbox;
mod script;
pub mod wire;

use crate::device::Choice;
use aludel::{DType, Device, Error, Result, Tensor};
use aludel_protocol::Counts;
use learner::Learner;
use script::Runner;
use std::io::{BufReader, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use wire::{Begun, Memory, Order, Report, Trained};

/// The most losses that are read of one request.
const MOST_LOSSES: u64 = 8;
/// Some passes recurse along chains of operators, which a client may make as long as the limit on operators allows. The memory is only
/// reserved.
const STACK: usize = 1 << 30;
/// Orders are the server's own; a job may be as large as its limits.
const MOST_ORDER: u64 = 1 << 40;

/// Arguments of `aludel worker`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The device to train on, by the name that `--device` has.
    #[arg(long)]
    device: String,
    /// Only say what the device is.
    #[arg(long)]
    probe: bool,
    /// With --probe: take a small step, too.
    #[arg(long)]
    step: bool,
    /// Bytes of memory.
    #[arg(long)]
    memory: Option<u64>,
    /// Go on where the kernel has no sandbox.
    #[arg(long)]
    unconfined: bool,
}

/// What `--probe` prints.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Probe {
    pub backend: String,
    pub name: String,
}

/// Serves one session until the server has enough of it.
pub fn run(args: &Args) -> Result<ExitCode> {
    let kind = args.device.parse().map_err(|e: String| Error::invalid(format!("--device {}", args.device), "is no device", e))?;
    if args.probe {
        let device = Choice::new(kind).open()?;
        if args.step {
            small_step(&device)?;
        }
        let probe = Probe { backend: device.info().backend.clone(), name: device.info().name.clone() };
        let text = serde_json::to_string(&probe).map_err(|e| Error::invalid("a device", e.to_string(), "report this"))?;
        // Nobody may be there to read it any more.
        let _ = writeln!(std::io::stdout(), "{text}");
        return Ok(ExitCode::SUCCESS);
    }
    // Threads inherit what this one has given up: nothing may start before.
    sandbox::limit_memory(kind, args.memory);
    if !args.unconfined {
        sandbox::before_compiling(kind)?;
    }
    let (orders, inbox) = channel();
    let fail = |e: std::io::Error| Error::device(format!("no thread: {e}"), "end other programs");
    std::thread::Builder::new()
        .name("orders".into())
        .spawn(move || {
            let mut input = BufReader::new(std::io::stdin());
            // The server is gone, or speaks nonsense: nobody waits for what is being done.
            while let Ok(order) = wire::receive::<Order>(&mut input, MOST_ORDER) {
                if orders.send(order).is_err() {
                    break;
                }
            }
            end()
        })
        .map_err(fail)?;
    let confined = !args.unconfined;
    let work = move || serve(kind, confined, &inbox);
    let thread = std::thread::Builder::new().name("session".into()).stack_size(STACK).spawn(work).map_err(fail)?;
    match thread.join() {
        Ok(outcome) => outcome.map(|()| ExitCode::SUCCESS),
        // The panic was told on standard error.
        Err(_) => Ok(ExitCode::from(101)),
    }
}

/// Computes something that no cache has. Errors where the device does, or computes something else.
fn small_step(device: &Device) -> Result<()> {
    let factor = f64::from(std::process::id());
    let ones: Vec<u8> = [1.0f32; 16].iter().flat_map(|v| v.to_le_bytes()).collect();
    let sum = (&Tensor::from_le_bytes(device, DType::F32, vec![aludel_ir::Dim::Const(16)], &ones)? * factor)?.sum(())?.item()?;
    // Exact: a process' number has 22 bits at most.
    if sum == 16.0 * factor { Ok(()) } else { Err(Error::device(format!("16 times {factor} was computed as {sum}"), "replace the device")) }
}

/// Ends this process and the compilers that it runs.
fn end() -> ! {
    #[cfg(unix)]
    {
        use nix::unistd::{Pid, getpgrp, getpid};
        if getpgrp() == getpid() {
            let _ = nix::sys::signal::kill(Pid::from_raw(0), nix::sys::signal::Signal::SIGKILL);
        }
    }
    std::process::exit(0)
}

fn serve(kind: crate::device::Kind, confined: bool, inbox: &Receiver<Order>) -> Result<()> {
    let mut output = std::io::stdout().lock();
    let (mut learner, mut runner): (Option<Learner>, Option<Runner>) = (None, None);
    while let Ok(order) = inbox.recv() {
        let report = match (order, &mut learner) {
            (Order::Script { job, bounds }, None) if runner.is_none() => {
                let begun = Runner::device(kind).and_then(|device| {
                    if confined {
                        sandbox::before_scripts(kind).map_err(learner::refuse)?;
                    }
                    let memory = memory(&device);
                    runner = Some(Runner::new(*job, device, &bounds)?);
                    Ok(Begun { state_bytes: 0, memory })
                });
                Report::Begun(begun)
            }
            (Order::Advance { lines, steps, stop }, None) if let Some(r) = &mut runner => {
                Report::Ran(Box::new(r.advance(lines, steps, stop)))
            }
            (Order::Inspect, None) if let Some(r) = &mut runner => Report::Regions(r.regions()),
            (Order::Begin { job, bounds }, None) if runner.is_none() => {
                let latch = gate::Latch::default();
                let begun = Choice::new(kind).open().map_err(learner::refuse).and_then(|device| {
                    let plan = job::check(*job, &bounds)?;
                    Learner::new(plan, &device, &latch, &bounds)
                });
                Report::Begun(begun.and_then(|l| {
                    // What is compiled beside this thread needs its compiler still.
                    pollster::block_on(l.device().executor().ready()).map_err(learner::refuse)?;
                    // From here on a client's program runs.
                    if confined {
                        sandbox::before_training(kind).map_err(learner::refuse)?;
                    }
                    latch.open();
                    let begun = Begun { state_bytes: l.state_bytes(), memory: memory(l.device()) };
                    learner = Some(l);
                    Ok(begun)
                }))
            }
            (Order::Train { from, steps }, Some(l)) => Report::Trained(train(l, from, steps)),
            (Order::State, Some(l)) => Report::State(l.state().map_err(|e| e.to_string())),
            (Order::Inspect, Some(l)) => Report::Inspected(l.inspect().map(Box::new)),
            (Order::Job, Some(l)) => Report::Job(l.job().map(Box::new).map_err(|e| e.to_string())),
            (order, _) => return Err(Error::invalid("an order", format!("out of turn: {order:?}"), "report this")),
        };
        let sent = wire::send(&mut output, &report);
        sent.and_then(|()| output.flush()).map_err(|e| Error::device(format!("the server does not read: {e}"), "start it again"))?;
    }
    Ok(())
}

fn memory(device: &Device) -> Memory {
    let stats = device.stats();
    Memory { in_use: stats.bytes_in_use, peak: stats.peak_bytes }
}

fn train(learner: &mut Learner, from: u64, steps: u64) -> Trained {
    let every = steps.div_ceil(MOST_LOSSES).max(1);
    let before = learner.totals();
    let (start, mut done, mut kept, mut problem) = (Instant::now(), 0, Vec::new(), None);
    while done < steps {
        match learner.step(from + done) {
            Ok(loss) => {
                done += 1;
                if done % every == 0 || done == steps {
                    kept.push((from + done, loss));
                    // Issuing takes longer than foreseen: the rest waits for the next turn.
                    if start.elapsed() > TURN {
                        break;
                    }
                }
            }
            Err(e) => {
                problem = Some(e);
                break;
            }
        }
    }
    let after = learner.totals();
    let losses = kept.iter().map(|(step, loss)| Ok((*step, learner.read(loss)?))).collect::<Result<Vec<_>>>();
    let losses = losses.and_then(|l| learner.finish().map(|()| l)).unwrap_or_else(|e| {
        problem.get_or_insert(e);
        Vec::new()
    });
    let problem = problem.map(|e| match learner.device().lost() {
        Some(reason) => format!("the device is gone: {reason}"),
        None => e.to_string(),
    });
    Trained { steps: done, losses, counts: counts(&before, &after, done), memory: memory(learner.device()), problem }
}

/// A request to train is answered after this time, also where steps are still to take.
const TURN: Duration = Duration::from_millis(120);

fn counts(before: &Counts, after: &Counts, steps: u64) -> Counts {
    let each = |a: u64, b: u64| a.saturating_sub(b) / steps.max(1);
    Counts {
        kernels: each(after.kernels, before.kernels),
        submits: each(after.submits, before.submits),
        bytes_moved: each(after.bytes_moved, before.bytes_moved),
        peak_bytes: after.peak_bytes,
    }
}
