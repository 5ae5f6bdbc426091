//! `aludel serve`: the page, and this machine's devices for it.
//!
//! A page sends the graph of a captured training step, the state it starts from and its data; the server checks them ([`job`]), compiles
//! the graph ([`learner`]) and trains, and tells the page how it goes.
//!
//! *Threads.* Network I/O runs on tokio and never computes. Each device has one thread ([`worker`]) on which its sessions train in turns of
//! equal time; requests are answered between turns. Graphs are checked and compiled on threads of their own ([`server`]), a few at a time
//! and each with a deadline, so that neither training nor the network waits for a compiler.
//!
//! *Sessions* ([`session`]) outlive connections ([`socket`]): whoever has the key, 128 random bits, may take a session up again, and
//! nobody else can name it. What a session has to say goes to the mailbox of the connection that listens, where reports melt into one;
//! so a client that reads slowly, or never, holds up nobody.
//!
//! *What a client can reach.* Frames are bounded before they are gathered ([`gate`]), messages before they are parsed, graphs before they
//! are verified, and every index and size before it is used ([`job`]); what a step costs is bounded before it runs ([`learner`]). A client's
//! text reaches a compiler only as a verified graph printed by our own printer, with names made harmless. Pages of strangers are kept out
//! by their origin ([`origin`]), other machines by the token.
//!
//! *The end.* On SIGINT or SIGTERM nobody is accepted any more, every session is brought to the disk ([`store`]), and the next start takes
//! them up under their keys. They are saved now and then as well, for the case that the server is killed.

mod app;
mod args;
mod gate;
mod job;
mod learner;
mod limits;
mod listen;
mod metrics;
mod origin;
mod programs;
mod server;
mod session;
mod socket;
mod store;
mod training;
mod worker;

pub use args::Args;

use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::{Device, Error, Result};
use metrics::Metrics;
use origin::Origins;
use server::Server;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use worker::{DeviceWorker, Snapshot};

/// How often sessions are looked through for those that nobody wants any more.
const SWEEP: Duration = Duration::from_secs(15);
/// More GPUs than any machine has.
const MOST_GPUS: usize = 32;

/// Serves until it is interrupted.
pub fn run(args: &Args, output: &Output) -> Result<()> {
    args.check()?;
    let origins = Origins::new(&args.allow_origin, args.token.is_some())?;
    let metrics = Arc::new(Metrics::new().map_err(|e| Error::invalid("metrics", e.to_string(), "report this"))?);
    // Each connection takes a file descriptor.
    if let Err(e) = rlimit::increase_nofile_limit(args.limits.max_connections as u64 + 512) {
        tracing::warn!(error = %e, "the limit on open files stays as it is");
    }
    let mut workers = Vec::new();
    let mut threads = Vec::new();
    for (id, device) in devices(args)? {
        tracing::info!(%id, device = %device, "a device is offered");
        let started = DeviceWorker::start(id, device, metrics.clone(), args.logdir.clone());
        let (worker, thread) = started.map_err(|e| Error::device(format!("no thread for a device: {e}"), "end other programs"))?;
        workers.push(worker);
        threads.push(thread);
    }
    if let Some(dir) = &args.state_dir {
        store::open(dir)?;
    }
    let server = Arc::new(Server::new(args, origins, workers, metrics));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::device(format!("no threads for the network: {e}"), "end other programs"))?;
    let ended = runtime.block_on(serve(args, output, server));
    // Compilers that took too long are not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    for thread in threads {
        let _ = thread.join();
    }
    ended
}

/// The devices that are offered, by their ids.
fn devices(args: &Args) -> Result<Vec<(String, Device)>> {
    let id = |kind: Kind| match kind {
        Kind::Cuda(n) => format!("cuda:{n}"),
        kind => kind.to_string(),
    };
    let mut found = Vec::new();
    if !args.devices.is_empty() {
        for name in &args.devices {
            let kind: Kind = name.parse().map_err(|e| Error::invalid(format!("--device {name}"), "is no device", e))?;
            found.push((id(kind), Choice::new(kind).open()?));
        }
    } else {
        match Choice::new(Kind::Cpu).open() {
            Ok(device) => found.push((id(Kind::Cpu), device)),
            Err(e) => tracing::warn!(error = %e, "the CPU is not offered"),
        }
        for n in 0..MOST_GPUS {
            match Choice::new(Kind::Cuda(n)).open() {
                Ok(device) => found.push((id(Kind::Cuda(n)), device)),
                Err(e) => {
                    tracing::debug!(error = %e, "no more NVIDIA GPUs");
                    break;
                }
            }
        }
    }
    if args.interpreter && !found.iter().any(|(id, _)| id == "interp") {
        found.push((id(Kind::Interp), Device::interpreter()));
    }
    if found.is_empty() {
        return Err(Error::device("there is no device to offer", "install a C compiler, or use --interpreter"));
    }
    Ok(found)
}

async fn serve(args: &Args, output: &Output, server: Arc<Server>) -> Result<()> {
    let address = std::net::SocketAddr::new(args.bind, args.port);
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|e| {
        Error::invalid(format!("the address {address}"), e.to_string(), "end the program that listens there, or choose another with --port")
    })?;
    let address = listener.local_addr().unwrap_or(address);
    if !args.site.join("index.html").is_file() {
        tracing::warn!(site = %args.site.display(), "the page is not built; the devices are served all the same");
    }
    let mut signals = Signals::listen()?;
    let listening = tokio::spawn(listen::serve(listener, app::routes(server.clone(), &args.site), server.clone()));
    output.line(format!("The playground is at http://{address} (Ctrl-C ends it)"));
    output.event("listening", serde_json::json!({ "address": address.to_string(), "token": server.needs_token() }));
    let background = [
        tokio::spawn(restore(args.clone(), server.clone())),
        tokio::spawn(sweep(server.clone())),
        tokio::spawn(save_now_and_then(args.clone(), server.clone())),
    ];
    signals.wait().await;
    tracing::info!("ending: sessions are saved");
    background.iter().for_each(tokio::task::JoinHandle::abort);
    server.stopping.send_replace(true);
    let saved = tokio::select! {
        saved = save(args, &server) => saved,
        () = signals.wait() => Err(Error::invalid("saving sessions", "was interrupted", "")),
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), listening).await;
    saved
}

async fn sweep(server: Arc<Server>) {
    let mut tick = tokio::time::interval(SWEEP);
    loop {
        tick.tick().await;
        server.sweep();
    }
}

/// Takes up the sessions of an earlier run.
async fn restore(args: Args, server: Arc<Server>) {
    if let Some(dir) = &args.state_dir {
        let devices: Vec<String> = server.workers.iter().map(|w| w.id().to_string()).collect();
        let found = store::load(dir, &devices).unwrap_or_else(|e| {
            tracing::error!(error = %e, "no session is taken up again");
            Vec::new()
        });
        for saved in found {
            let name = saved.session.name.clone();
            match server.restore(saved.session, saved.job, saved.step, saved.running, saved.elapsed_ms).await {
                Ok(()) => tracing::info!(%name, step = saved.step, "a session goes on"),
                Err(refusal) => tracing::error!(%name, ?refusal, "a saved session cannot be taken up again"),
            }
        }
    }
    server.set_ready();
}

/// Saves what changed, for the case that the server is killed.
async fn save_now_and_then(args: Args, server: Arc<Server>) {
    let Some(dir) = &args.state_dir else { return };
    server.ready().await;
    let period = Duration::from_secs(args.save_every);
    loop {
        tokio::time::sleep(period).await;
        let changed = server.changed().await;
        // Disks are slow.
        let _ = tokio::task::block_in_place(|| save_all(dir, &server, &changed));
    }
}

/// Brings every session to the disk.
async fn save(args: &Args, server: &Server) -> Result<()> {
    let all = server.stop().await;
    match &args.state_dir {
        Some(dir) => tokio::task::block_in_place(|| save_all(dir, server, &all)),
        None => {
            if !all.is_empty() {
                tracing::warn!(sessions = all.len(), "sessions end with the server; --state-dir keeps them");
            }
            Ok(())
        }
    }
}

fn save_all(dir: &Path, server: &Server, all: &[Snapshot]) -> Result<()> {
    let mut outcome = Ok(());
    for s in all {
        match store::save(dir, server.workers[s.session.device].id(), s) {
            // It ended meanwhile.
            Ok(()) if s.session.is_cancelled() => store::forget(dir, &s.session.key),
            Ok(()) => tracing::info!(name = %s.session.name, step = s.step, "a session is saved"),
            Err(e) => {
                tracing::error!(name = %s.session.name, error = %e, "a session cannot be saved");
                outcome = Err(e);
            }
        }
    }
    outcome
}

/// SIGINT and SIGTERM; Ctrl-C where there are no such signals.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let fail = |e: std::io::Error| Error::device(format!("no signals: {e}"), "report this");
            Ok(Signals {
                interrupt: signal(SignalKind::interrupt()).map_err(fail)?,
                terminate: signal(SignalKind::terminate()).map_err(fail)?,
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    async fn wait(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
