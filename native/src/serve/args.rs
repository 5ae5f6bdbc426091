//! Arguments of `aludel serve`, and what is asked of them before anything starts.

use super::memory::{self, Roster};
use super::process::Terms;
use super::secret;
use aludel::{Error, Result};
use aludel_protocol::remote;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How logs are written to standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

/// Arguments of `aludel serve`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    pub bind: IpAddr,
    /// The port to listen on; 0 for any that is free.
    #[arg(long, default_value_t = 7878)]
    pub port: u16,
    /// The secret that clients must know; a random one otherwise, which the printed address carries. In the environment other users of
    /// this machine cannot read it.
    #[arg(long, env = "ALUDEL_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Let in whoever reaches the server: every user of this machine, and every page that one of its ports serves.
    #[arg(long)]
    pub no_token: bool,
    /// A page's origin that may connect, such as https://aludel.example; may be repeated. The server's own page and pages of this machine
    /// always may.
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// The directory of the built page.
    #[arg(long, default_value = "dist", value_name = "DIR")]
    pub site: PathBuf,
    /// Where sessions are kept when the server ends, to go on when it starts again.
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Seconds between saves of sessions that train, so that little is lost when the server is killed.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", requires = "state_dir", value_parser = clap::value_parser!(u64).range(1..))]
    pub save_every: u64,
    /// Where TensorBoard event files of every session are written.
    #[arg(long, value_name = "DIR")]
    pub logdir: Option<PathBuf>,
    /// Send losses and speed of every session to the MLflow tracking server at this address. MLflow's own variables name the experiment
    /// and who asks, as for `aludel train`.
    #[arg(long, value_name = "URL")]
    pub mlflow: Option<String>,
    /// How logs are written.
    #[arg(long, value_enum, default_value = "text")]
    pub log_format: LogFormat,
    /// Offer the reference interpreter too: slow, for tests.
    #[arg(long)]
    pub interpreter: bool,
    /// Offer these devices only (cpu, cuda:0, ..); may be repeated. All that are found otherwise.
    #[arg(long = "device", value_name = "DEVICE")]
    pub devices: Vec<String>,
    /// Run sessions without a sandbox, where the kernel has one that does not work.
    #[arg(long)]
    pub no_sandbox: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Bounds on what clients may ask for.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// MiB of one message.
    #[arg(long, default_value_t = 512, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub max_message: u64,
    /// Operators of a graph.
    #[arg(long, default_value_t = 4000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_nodes: u64,
    /// MiB of a session's state and data.
    #[arg(long, default_value_t = 2048, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub max_tensors: u64,
    /// MiB of everything that a step computes.
    #[arg(long, default_value_t = 16384, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub max_memory: u64,
    /// MiB of memory of all sessions together; three quarters of the machine's where this is not given.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(64..=1 << 30))]
    pub max_total_memory: Option<u64>,
    /// Seconds of a device's time that one step may take.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub max_step_seconds: u64,
    /// MiB of all messages that are on their way to and from clients.
    #[arg(long, default_value_t = 2048, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub max_messages: u64,
    /// Steps of a session.
    #[arg(long, default_value_t = 100_000_000, value_name = "N")]
    pub max_steps: u64,
    /// Sessions of all clients together.
    #[arg(long, default_value_t = 64, value_name = "N")]
    pub max_sessions: u64,
    /// Sessions of one client address.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub client_sessions: u64,
    /// Connections of all clients together.
    #[arg(long, default_value_t = 4096, value_name = "N")]
    pub max_connections: usize,
    /// Connections of one client address that take part in the protocol.
    #[arg(long, default_value_t = 64, value_name = "N")]
    pub client_connections: usize,
    /// Seconds that compiling a graph may take.
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub max_compile: u64,
    /// Minutes after which a session that nobody listens to ends.
    #[arg(long, default_value_t = 720, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub idle: u64,
}

/// The bounds in the units in which they are compared.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    pub wire: remote::Limits,
    pub memory_bytes: u64,
    pub step: Duration,
    pub messages_bytes: u64,
    pub all_sessions: usize,
    pub connections: usize,
    pub client_connections: usize,
    pub idle: Duration,
}

impl LimitArgs {
    pub fn bounds(&self) -> Bounds {
        Bounds {
            wire: remote::Limits {
                message_bytes: self.max_message << 20,
                graph_nodes: self.max_nodes,
                tensor_bytes: self.max_tensors << 20,
                steps: self.max_steps,
                sessions: self.client_sessions,
                compile_seconds: self.max_compile,
            },
            memory_bytes: self.max_memory << 20,
            step: Duration::from_secs(self.max_step_seconds),
            messages_bytes: self.max_messages << 20,
            all_sessions: usize::try_from(self.max_sessions).unwrap_or(usize::MAX),
            connections: self.max_connections,
            client_connections: self.client_connections,
            idle: Duration::from_secs(self.idle * 60),
        }
    }
}

impl Args {
    pub fn logs_json(&self) -> bool {
        self.log_format == LogFormat::Json
    }

    /// What every session's worker gets: what a step may take, its tensors as they came, as words and on the device, and room for the
    /// compiler; no more than all may have together.
    pub fn terms(&self, scratch: &Path) -> Terms {
        let bounds = self.limits.bounds();
        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        // Reserved, not used: the stack of the compiler's passes, and the arenas that the allocator keeps for threads.
        let reserved = (3 << 30) + threads * (128 << 20);
        let asked = bounds.memory_bytes.saturating_add(bounds.wire.tensor_bytes.saturating_mul(4));
        let machine = memory::of_machine().unwrap_or(u64::MAX);
        let budget = self.limits.max_total_memory.map_or(machine / 4 * 3, |mib| mib << 20);
        let memory = asked.min(budget).saturating_add(reserved);
        let message = bounds.wire.tensor_bytes.saturating_add(bounds.wire.message_bytes).saturating_add(64 << 20);
        Terms { memory, message, unconfined: self.no_sandbox, scratch: scratch.to_path_buf(), roster: Arc::new(Roster::new(budget)) }
    }

    /// Errors when the server would be open to strangers, or an argument makes no sense.
    pub fn check(&self) -> Result<()> {
        match &self.token {
            Some(_) if self.no_token => Err(Error::invalid("--no-token", "and a token contradict each other", "give one of them")),
            Some(token) => secret::check(token),
            None if self.no_token && !self.bind.is_loopback() => Err(Error::invalid(
                format!("--bind {} --no-token", self.bind),
                "anyone who reaches this address could use this machine",
                "leave --no-token out, or set ALUDEL_TOKEN (or --token) to a secret that clients must know",
            )),
            None => Ok(()),
        }
    }
}
