//! Who the ranks are: processes that were started for it, or threads of this one.

use super::Request;
use crate::device::Kind;
use crate::output::Output;
use crate::ranks::Ranks;
use aludel::distributed::{LocalGroup, TIMEOUT};
use aludel::{Error, Result};
use std::sync::Arc;

/// Measures on all ranks; rank 0 speaks.
///
/// # Errors
///
/// A process alone, a device that runs no collectives, and what measuring gives.
pub fn run(request: &Request, output: &Output) -> Result<()> {
    let ranks = Ranks::from_env()?;
    let what = "measuring several ranks";
    if request.choice.kind == Kind::Wgpu {
        return Err(Error::unsupported(format!("{what} on wgpu, which runs no collectives"), "use --device cuda, or --device cpu"));
    }
    match (request.threads, request.choice.kind) {
        (Some(n), _) if ranks.is_started() => {
            Err(Error::invalid(format!("--ranks {n}"), "this process is a rank that was started", "leave it out: ranks are known"))
        }
        (Some(n), kind @ Kind::Cuda(_)) => {
            let remedy = format!("start a process for each GPU: aludel launch --nproc {n} -- bench --device cuda --parallel none,ddp");
            Err(Error::unsupported(format!("--ranks {n} on {kind}: threads that share a GPU"), remedy))
        }
        (Some(n), _) => threads(request, n, output),
        (None, kind) if !ranks.is_started() => {
            let remedy = match kind {
                Kind::Cuda(_) => "start ranks: aludel launch --nproc 2 -- bench --device cuda --parallel none,ddp,fsdp",
                _ => "say how many threads are ranks: --ranks 2; or start processes with `aludel launch`",
            };
            Err(Error::invalid(what, "this process is alone", remedy))
        }
        (None, _) => process(request, &ranks, output),
    }
}

/// This process is one of the ranks.
fn process(request: &Request, ranks: &Ranks, output: &Output) -> Result<()> {
    let output = ranks.output(output);
    let measure = || {
        let choice = ranks.choice(request.choice.clone());
        let device = choice.open()?;
        let member = ranks.join(&device)?;
        request.measure(&device, &member, &output)
    };
    if let Err(e) = measure() {
        if ranks.is_alone() {
            return Err(e);
        }
        output.error(&e);
        // At once: ending in good order would wait for the other ranks, which may be waiting for this one.
        std::process::exit(1);
    }
    ranks.leave()
}

/// Each rank is a thread with a device of its own.
fn threads(request: &Request, count: usize, output: &Output) -> Result<()> {
    let groups = LocalGroup::create("world", count, TIMEOUT)?;
    std::thread::scope(|scope| {
        let start = |(rank, group): (usize, Arc<LocalGroup>)| {
            let output = if rank == 0 { output.clone() } else { output.mute() };
            scope.spawn(move || {
                let device = request.choice.open()?;
                let member = device.join(group)?;
                request.measure(&device, &member, &output)
            })
        };
        let all: Vec<_> = groups.into_iter().enumerate().map(start).collect();
        let ended = || Err(Error::device("a rank ended without a result", "report this"));
        all.into_iter().map(|t| t.join().unwrap_or_else(|_| ended())).fold(Ok(()), Result::and)
    })
}
