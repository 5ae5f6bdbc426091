//! A session's worker process, as the server holds it: started on demand, stopped and continued with its turns, killed with its C
//! compilers when nobody wants it any more. See [`super::worker`] for what runs in it.

use super::memory::{Listed, Roster, Verdict};
use super::operator::VARIABLE;
use super::scratch;
use super::worker::Probe;
use super::worker::wire::{self, HEAD, Order, PIECE, Report};
use crate::mlflow;
use aludel::{Error, Result};
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

/// What every worker gets.
#[derive(Clone)]
pub struct Terms {
    /// Bytes of address space; where a GPU's driver reserves more of that than there is, of what can be written.
    pub memory: u64,
    /// Bytes of a message of a worker.
    pub message: u64,
    /// Without a sandbox, where a person asked for that.
    pub unconfined: bool,
    /// Where workers have their directories for temporary files.
    pub scratch: PathBuf,
    /// All of them.
    pub roster: Arc<Roster>,
}

/// Where CUDA's driver keeps what it compiles; by default below the home directory, which is out of a worker's reach.
#[cfg(feature = "cuda")]
const DRIVER_CACHE: &str = "CUDA_CACHE_PATH";

/// What the server's environment may hold and is none of a worker's business.
const SECRETS: [&str; 4] = ["ALUDEL_TOKEN", VARIABLE, mlflow::TOKEN, mlflow::PASSWORD];

/// Bytes of a message of a script's worker: figures and files, output, and what the compiler made of it.
const SCRIPT_MESSAGE: u64 = 128 << 20;

pub struct Process {
    /// There until this is dropped.
    child: Option<Child>,
    orders: ChildStdin,
    reports: mpsc::Receiver<io::Result<Report>>,
    /// On the roster while its number is its own.
    listed: Option<Listed>,
    /// Why it was ended, where the server decided that.
    verdict: Verdict,
    /// For what its compilers write meanwhile; removed after them.
    scratch: PathBuf,
    stopped: bool,
}

/// This very program, also where its file was replaced meanwhile.
fn program() -> OsString {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().map_or_else(|_| "aludel".into(), Into::into)
}

impl Process {
    /// Starts a worker for a client's session on a device. One of a script compiles while a client's program runs: what it writes goes with it.
    pub fn start(device: &str, client: IpAddr, terms: &Terms, is_script: bool) -> io::Result<Process> {
        let scratch = tempfile::Builder::new().prefix("worker-").tempdir_in(&terms.scratch)?;
        let mut command = Command::new(program());
        command.args(["worker", "--device", device]);
        command.args(["--memory", &terms.memory.to_string()]);
        #[cfg(feature = "cuda")]
        if let (true, None, Some(cache)) = (device.starts_with("cuda"), std::env::var_os(DRIVER_CACHE), aludel_runtime::cache_directory()) {
            command.env(DRIVER_CACHE, cache.join("driver"));
        }
        if terms.unconfined {
            command.arg("--unconfined");
        }
        for secret in SECRETS {
            command.env_remove(secret);
        }
        command.env("TMPDIR", scratch.path());
        if is_script && device == "cpu" {
            command.env("ALUDEL_CACHE", scratch.path().join("cache"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // A group of its own, so that its compilers go with it, and no Ctrl-C of a terminal reaches it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a worker without its pipes");
        let orders = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, reports) = mpsc::channel(1);
        // What a script makes is bounded before it is told.
        let message = if is_script { SCRIPT_MESSAGE } else { terms.message };
        tokio::spawn(read(output, sender, message));
        let verdict = Verdict::default();
        let listed = child.id().map(|id| terms.roster.list(id, client, verdict.clone()));
        Ok(Process { child: Some(child), listed, verdict, orders, reports, scratch: scratch.keep(), stopped: false })
    }

    /// Asks for something. An error means that the worker is gone; [`Process::receive`] says why.
    pub async fn send(&mut self, order: &Order) -> io::Result<()> {
        let large = matches!(order, Order::Begin { .. } | Order::Script { .. });
        let bytes = if large { tokio::task::block_in_place(|| wire::frame(order)) } else { wire::frame(order) }?;
        self.orders.write_all(&bytes).await?;
        self.orders.flush().await
    }

    /// The next answer; nothing is lost where this is not awaited to its end. Errors say how the worker ended.
    pub async fn receive(&mut self) -> std::result::Result<Report, String> {
        match self.reports.recv().await {
            Some(Ok(report)) => Ok(report),
            Some(Err(e)) if e.kind() != io::ErrorKind::UnexpectedEof => Err(format!("its worker sent nonsense: {e}")),
            _ => Err(self.end().await),
        }
    }

    /// Why it has ended; it is ended now where it has not.
    async fn end(&mut self) -> String {
        // What it was doing is decided; its compilers go before its number is free.
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGKILL);
        drop(self.listed.take());
        let Some(child) = &mut self.child else { return "its worker is gone".into() };
        let ended = match tokio::time::timeout(Duration::from_secs(2), child.wait()).await {
            Ok(Ok(status)) => describe(status),
            _ => "its worker no longer answers".into(),
        };
        self.verdict.get().cloned().unwrap_or(ended)
    }

    /// Stops it wherever it is, or lets it go on.
    pub fn hold(&mut self, hold: bool) {
        if self.stopped != hold {
            self.stopped = hold;
            #[cfg(unix)]
            self.signal(if hold { nix::sys::signal::Signal::SIGSTOP } else { nix::sys::signal::Signal::SIGCONT });
        }
    }

    #[cfg(unix)]
    fn signal(&self, signal: nix::sys::signal::Signal) {
        // Its number is its own until it was waited for.
        if let Some(id) = self.child.as_ref().and_then(Child::id).and_then(|id| i32::try_from(id).ok()) {
            // Gone already.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(nix::sys::signal::Signal::SIGKILL);
        drop(self.listed.take());
        let (child, scratch) = (self.child.take(), std::mem::take(&mut self.scratch));
        // Where the server ends, its own directory goes with all that are in it.
        if let (Ok(runtime), Some(mut child)) = (tokio::runtime::Handle::try_current(), child) {
            runtime.spawn(async move {
                let _ = tokio::time::timeout(LEAVING, child.wait()).await;
                scratch::remove(scratch).await;
            });
        }
    }
}

/// A worker that was killed is gone in this time, unless a driver holds it.
const LEAVING: Duration = Duration::from_secs(10);

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        use nix::sys::signal::Signal;
        return match Signal::try_from(signal) {
            Ok(Signal::SIGFPE) => "its worker was ended by an arithmetic fault (SIGFPE)".into(),
            Ok(s @ (Signal::SIGSEGV | Signal::SIGBUS)) => format!("its worker was ended by a memory fault ({s})"),
            Ok(Signal::SIGABRT) => "its worker ended itself (SIGABRT), as it does when memory runs out".into(),
            Ok(Signal::SIGKILL) => "its worker was killed, as the system does when memory runs out".into(),
            Ok(s) => format!("its worker was ended by {s}"),
            Err(_) => format!("its worker was ended by signal {signal}"),
        };
    }
    match status.code() {
        Some(101) => "its worker panicked; please report this".into(),
        _ => format!("its worker ended ({status})"),
    }
}

/// Hands on what a worker says until it has ended.
async fn read(mut output: ChildStdout, to: mpsc::Sender<io::Result<Report>>, most: u64) {
    loop {
        let report = next(&mut output, most).await;
        let ended = report.is_err();
        if to.send(report).await.is_err() || ended {
            return;
        }
    }
}

async fn next(output: &mut ChildStdout, most: u64) -> io::Result<Report> {
    let mut head = [0; HEAD];
    output.read_exact(&mut head).await?;
    let (length, sum) = wire::head(head, most)?;
    let mut body = Vec::new();
    // Grows with what arrives.
    if output.take(length as u64).read_to_end(&mut body).await? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if length > PIECE { tokio::task::block_in_place(|| wire::message(&body, sum)) } else { wire::message(&body, sum) }
}

/// Has a process of its own take a small step on a device; says what is wrong where it cannot.
pub async fn examine(device: &str, patience: Duration) -> std::result::Result<(), String> {
    let mut command = Command::new(program());
    command.args(["--json", "worker", "--probe", "--step", "--device", device]);
    for secret in SECRETS {
        command.env_remove(secret);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn().map_err(|e| e.to_string())?;
    let id = child.id();
    match tokio::time::timeout(patience, child.wait_with_output()).await {
        Ok(Ok(output)) if output.status.success() => Ok(()),
        Ok(Ok(output)) => {
            let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            Err(told["message"].as_str().map_or_else(|| describe(output.status), str::to_string))
        }
        Ok(Err(e)) => Err(e.to_string()),
        Err(_) => {
            // Its compilers, too. It was not waited for, so its number is its own.
            #[cfg(unix)]
            if let Some(id) = id.and_then(|id| i32::try_from(id).ok()) {
                let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGKILL);
            }
            Err(format!("a small step takes longer than {} s: it hangs", patience.as_secs()))
        }
    }
}

/// Asks what a device is, in a process of its own: drivers stay out of the server.
pub fn probe(device: &str) -> Result<Probe> {
    let mut command = std::process::Command::new(program());
    command.args(["--json", "worker", "--probe", "--device", device]).stdin(Stdio::null());
    for secret in SECRETS {
        command.env_remove(secret);
    }
    let output = command.output().map_err(|e| Error::device(format!("no process for {device}: {e}"), "end other programs"))?;
    if output.status.success() {
        return serde_json::from_slice(&output.stdout).map_err(|e| Error::device(format!("{device}: {e}"), "report this"));
    }
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let problem = told["message"].as_str().map_or_else(|| describe(output.status), str::to_string);
    Err(Error::device(format!("{device} cannot be opened: {problem}"), "see `aludel devices`"))
}
