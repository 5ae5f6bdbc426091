//! `aludel serve`: the page, and this machine's devices for it.
//!
//! A page sends the graph of a captured training step, the state it starts from and its data; the server checks them, compiles the graph
//! and trains, and tells the page how it goes.
//!
//! *Processes.* Whatever a client's graph does, it does in a process of its own ([`worker`]): it is checked, compiled and run there, in a
//! sandbox, with limited memory. The server starts it ([`process`]), speaks to it over pipes and kills it when it exceeds a deadline or is
//! not wanted any more; when it dies of what it runs, its session alone is hurt, and goes on paused from what was saved. The server itself
//! never looks into a graph, holds no device and runs no kernel.
//!
//! *Tasks.* Each session has one ([`training`]), each connection two ([`socket`]), all on tokio; none of them computes. Sessions on a device
//! train in turns ([`turns`]): the one that has had the least time is next, and a step that outlasts its turn is stopped and goes on later.
//!
//! *Sessions* ([`session`]) outlive connections ([`socket`]): whoever has the key, 128 random bits, may take a session up again, and
//! nobody else can name it. What a session has to say goes to the mailbox of the connection that listens, where reports melt into one;
//! so a client that reads slowly, or never, holds up nobody. What large messages take of the memory is bounded for all clients together
//! ([`budget`]).
//!
//! *What a client can reach.* Frames are bounded before they are gathered ([`gate`]), messages before they are parsed, graphs before they
//! are verified, and every index and size before it is used ([`worker::job`]); what compiling costs, and what a step takes of the memory, is bounded before. A client's
//! text reaches a compiler only as a verified graph printed by our own printer, with names made harmless. Pages of strangers are kept out
//! by their origin ([`origin`]), everybody who was not told it by the token ([`secret`]).
//!
//! *Scripts* ([`scripting`]) are sessions of another kind: a code view sends one with its files ([`dialect`]), and the machine of `aludel run`
//! runs it in the worker, with files in memory and nothing else around it. It has turns, limits and a key like the others; it is not saved.
//!
//! *The end.* On SIGINT or SIGTERM nobody is accepted any more, every session is brought to the disk ([`store`]), and the next start takes
//! them up under their keys. They are saved now and then as well, for the case that the server is killed.

mod app;
mod args;
mod budget;
mod dialect;
mod gate;
mod health;
mod limits;
mod listen;
mod memory;
mod metrics;
pub mod operator;
mod origin;
mod places;
mod policy;
mod process;
mod scratch;
mod scripting;
mod secret;
mod server;
mod session;
mod slice;
mod socket;
mod store;
mod training;
mod turns;
pub mod worker;

pub use args::Args;

use crate::device::Kind;
use crate::mlflow::Tracker;
use crate::output::Output;
use aludel::{Error, Result};
use aludel_protocol::remote::ServerDevice;
use metrics::Metrics;
use origin::Origins;
use scratch::Scratch;
use secret::Secret;
use server::{Server, Slot};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use store::Entry;

/// How often sessions are looked through for those that nobody wants any more.
const SWEEP: Duration = Duration::from_secs(15);
/// More GPUs than any machine has.
const MOST_GPUS: usize = 32;

/// Serves until it is interrupted.
pub fn run(args: &Args, output: &Output) -> Result<()> {
    args.check()?;
    // Asked for under any name where a person gave a secret for that, or an address that others reach.
    let origins = Origins::new(&args.allow_origin, args.token.is_some() || !args.bind.is_loopback())?;
    let metrics = Arc::new(Metrics::new().map_err(|e| Error::invalid("metrics", e.to_string(), "report this"))?);
    // Each connection takes a file descriptor.
    let bounds = args.limits.bounds();
    let files = (bounds.connections as u64).saturating_add(listen::SPARE.into()).saturating_add(listen::own_descriptors(&bounds));
    if let Err(e) = rlimit::increase_nofile_limit(files) {
        tracing::warn!(error = %e, "the limit on open files stays as it is");
    }
    let devices = devices(args)?;
    // This server's until it ends.
    let _state = args.state_dir.as_deref().map(store::open).transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::device(format!("no threads for the network: {e}"), "end other programs"))?;
    let secrets = (Secret::of(args)?, operator::secret()?);
    let failed =
        |e: std::io::Error| Error::device(format!("no directory for temporary files: {e}"), "set TMPDIR to one that can be written");
    let scratch = Scratch::new().map_err(failed)?;
    let tracker = args.mlflow.as_deref().map(|url| Tracker::start(url, "aludel serve")).transpose()?;
    let server = Arc::new(Server::new(args, args.terms(scratch.path()), secrets, origins, devices, metrics, tracker));
    let ended = runtime.block_on(serve(args, output, server));
    // Drops what is still there: workers end with their sessions' tasks.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(scratch);
    ended
}

/// The devices that are offered.
fn devices(args: &Args) -> Result<Vec<ServerDevice>> {
    let open = |kind: Kind| {
        let id = match kind {
            Kind::Cuda(n) => format!("cuda:{n}"),
            kind => kind.to_string(),
        };
        process::probe(&id).map(|p| ServerDevice { id, backend: p.backend, name: p.name })
    };
    let mut found = Vec::new();
    if !args.devices.is_empty() {
        for name in &args.devices {
            let kind: Kind = name.parse().map_err(|e| Error::invalid(format!("--device {name}"), "is no device", e))?;
            found.push(open(kind)?);
        }
    } else {
        match open(Kind::Cpu) {
            Ok(device) => found.push(device),
            Err(e) => tracing::warn!(error = %e, "the CPU is not offered"),
        }
        for n in 0..MOST_GPUS {
            match open(Kind::Cuda(n)) {
                Ok(device) => found.push(device),
                Err(e) => {
                    tracing::debug!(error = %e, "no more NVIDIA GPUs");
                    break;
                }
            }
        }
    }
    if args.interpreter && !found.iter().any(|d| d.id == "interp") {
        found.push(open(Kind::Interp)?);
    }
    if found.is_empty() {
        return Err(Error::device("there is no device to offer", "install a C compiler, or use --interpreter"));
    }
    found.iter().for_each(|d| tracing::info!(id = d.id, name = d.name, "a device is offered"));
    Ok(found)
}

async fn serve(args: &Args, output: &Output, server: Arc<Server>) -> Result<()> {
    let address = SocketAddr::new(args.bind, args.port);
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|e| {
        Error::invalid(format!("the address {address}"), e.to_string(), "end the program that listens there, or choose another with --port")
    })?;
    let address = listener.local_addr().unwrap_or(address);
    if !args.site.join("index.html").is_file() {
        tracing::warn!(site = %args.site.display(), "the page is not built; the devices are served all the same");
    }
    let mut signals = Signals::listen()?;
    let _note = operator::Note::leave(&server.operator, address.port());
    let earlier = earlier(&server);
    let listening = tokio::spawn(listen::serve(listener, app::routes(server.clone(), &args.site), server.clone()));
    // An address that means all of them is none to open.
    let ip = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    let url = format!("http://{}/{}", SocketAddr::new(ip, address.port()), server.secret.fragment());
    output.line(format!("The playground is at {url} (Ctrl-C ends it)"));
    output.event("listening", serde_json::json!({ "address": address.to_string(), "url": url, "token": server.secret.is_needed() }));
    let background = [
        tokio::spawn(restore(server.clone(), earlier)),
        tokio::spawn(sweep(server.clone())),
        tokio::spawn(server.roster().watch()),
        tokio::spawn(save_now_and_then(args.save_every, server.clone())),
    ];
    signals.wait().await;
    tracing::info!("ending: sessions are saved");
    background.iter().for_each(tokio::task::JoinHandle::abort);
    server.tracker.iter().for_each(Tracker::prepare_stop);
    server.rest();
    server.stopping.send_replace(true);
    let ended = async {
        let failed = save(&server).await;
        let _ = tokio::time::timeout(Duration::from_secs(10), listening).await;
        if server.tracker.is_some() {
            let server = server.clone();
            // It neither panics nor is ended, and has told in the log what was not taken.
            let _ = tokio::task::spawn_blocking(move || server.tracker.iter().try_for_each(Tracker::stop)).await;
        }
        match failed {
            0 => Ok(()),
            n => Err(Error::device(format!("{n} sessions could not be saved"), "the log says why; earlier saves of them stay")),
        }
    };
    tokio::select! {
        ended = ended => ended,
        () = signals.wait() => Err(Error::invalid("saving sessions", "was interrupted", "")),
    }
}

async fn sweep(server: Arc<Server>) {
    let mut tick = tokio::time::interval(SWEEP);
    loop {
        tick.tick().await;
        server.sweep();
    }
}

/// The sessions of an earlier run, and their places, which are theirs before anybody else asks.
fn earlier(server: &Server) -> Vec<(Entry, Option<Slot>)> {
    let Some(dir) = &server.state_dir else { return Vec::new() };
    let (found, bad) = tokio::task::block_in_place(|| store::list(dir)).unwrap_or_else(|e| {
        tracing::error!(error = %e, "no session is taken up again");
        (Vec::new(), 1)
    });
    server.metrics.restores_failed.inc_by(bad as u64);
    found.into_iter().map(|e| (server.keep_place(e.client()), e)).map(|(slot, e)| (e, slot)).collect()
}

/// Takes them up, a few at a time.
async fn restore(server: Arc<Server>, earlier: Vec<(Entry, Option<Slot>)>) {
    let mut tasks = tokio::task::JoinSet::new();
    for (entry, slot) in earlier {
        if tasks.len() >= RESTORING {
            tasks.join_next().await;
        }
        let server = server.clone();
        tasks.spawn(async move {
            let name = entry.name().to_string();
            match server.restore(entry, slot).await {
                Ok(step) => tracing::info!(%name, step, "a session goes on"),
                Err(problem) => {
                    server.metrics.restores_failed.inc();
                    tracing::error!(%name, problem, "a saved session cannot be taken up again");
                }
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    server.set_ready();
}

/// So many sessions of an earlier run are read and compiled at once.
const RESTORING: usize = 2;

/// Saves what changed, for the case that the server is killed; what could not be saved, sooner.
async fn save_now_and_then(every: u64, server: Arc<Server>) {
    let Some(dir) = server.state_dir.clone() else { return };
    server.ready().await;
    let period = Duration::from_secs(every);
    let mut wait = period;
    loop {
        tokio::time::sleep(wait).await;
        let failed = server.save(&dir, SAVES).await;
        wait = if failed > 0 { period.min(RETRY) } else { period };
    }
}

/// Saves of all sessions are given up after so long, and tried again with the next ones.
const SAVES: Duration = Duration::from_secs(3600);
/// A save that failed is tried again so soon.
const RETRY: Duration = Duration::from_secs(15);

/// Saving all sessions may take so long when the server ends: supervisors kill what takes much longer.
const ENDING: Duration = Duration::from_secs(75);

/// Brings every session to the disk and ends it; gives how many could not be saved.
async fn save(server: &Arc<Server>) -> usize {
    let failed = match &server.state_dir {
        Some(dir) => server.save(dir, ENDING).await,
        None => 0,
    };
    let ended = server.stop();
    if ended > 0 && server.state_dir.is_none() {
        tracing::warn!(sessions = ended, "sessions end with the server; --state-dir keeps them");
    }
    failed
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
