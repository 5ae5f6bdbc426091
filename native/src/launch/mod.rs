//! `aludel launch`: starts the ranks of a command and says who each is; when one ends badly, it ends the others.
//!
//! Ranks on the CPU are connected by MPI, which wants to start its processes itself: [`mpi`] hands them to `mpirun`. Others are started
//! here ([`ranks`]), on each machine by a command of its own, as with `torchrun`. Either way a rank finds `RANK`, `WORLD_SIZE`,
//! `LOCAL_RANK`, `LOCAL_WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` in its environment.

mod mpi;
mod ranks;

pub use mpi::{RankArgs, become_rank};

use crate::output::Output;
use aludel::{Error, Result};
use clap::ValueEnum;
use std::process::Command;

/// Arguments of `aludel launch`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// How many ranks to start on a machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    nproc: u32,
    /// How many machines take part.
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    nnodes: u32,
    /// Which of the machines this is, from 0. Give the same command on each. Not with MPI, which starts all: see --hosts.
    #[arg(long, value_name = "K", default_value_t = 0)]
    node_rank: u32,
    /// The machines, for MPI, which reaches them by ssh.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The machine of rank 0.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    master_addr: String,
    /// Where rank 0 listens. By default one that is free, or 29500 on several machines.
    #[arg(long, value_name = "PORT")]
    master_port: Option<u16>,
    /// Who connects the ranks. By default NCCL where the command says --device cuda, MPI otherwise.
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    /// The command and its arguments, such as train digits.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Engine {
    /// Processes on CPUs, started by mpirun.
    Mpi,
    /// NVIDIA GPUs, one for each rank; started by this command.
    Nccl,
}

/// PyTorch's.
const PORT: u16 = 29500;

impl Args {
    fn engine(&self) -> Engine {
        let on_cuda = self.command.iter().zip(self.command.iter().skip(1)).any(|(a, b)| a == "--device" && b.starts_with("cuda"))
            || self.command.iter().any(|a| a.starts_with("--device=cuda"));
        self.engine.unwrap_or(if on_cuda { Engine::Nccl } else { Engine::Mpi })
    }

    fn port(&self) -> Result<u16> {
        match self.master_port {
            Some(port) => Ok(port),
            None if self.nnodes > 1 => Ok(PORT),
            None => {
                let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr());
                free.map(|a| a.port()).map_err(|e| Error::invalid("a free port", e.to_string(), "name one with --master-port"))
            }
        }
    }

    /// What is wrong with arguments that exclude each other.
    fn check(&self) -> Result<()> {
        let wrong = |what: String, problem: &str, remedy: &str| Err(Error::invalid(what, problem, remedy));
        match self.engine() {
            Engine::Mpi if self.node_rank > 0 => wrong(
                "--node-rank".into(),
                "mpirun starts the ranks of all machines",
                "run launch once, and name the machines with --hosts",
            ),
            Engine::Mpi if self.nnodes > 1 && self.hosts.len() != self.nnodes as usize => {
                let what = format!("--nnodes {}", self.nnodes);
                wrong(what, &format!("{} machines are named", self.hosts.len()), "name as many with --hosts a,b")
            }
            Engine::Nccl if !self.hosts.is_empty() => wrong(
                "--hosts".into(),
                "launch starts ranks on its own machine alone",
                "run it on each, with --node-rank and --master-addr",
            ),
            Engine::Nccl if self.node_rank >= self.nnodes => {
                wrong(format!("--node-rank {}", self.node_rank), &format!("there are {} machines", self.nnodes), "count from 0")
            }
            Engine::Nccl if self.nnodes > 1 && self.master_addr == "127.0.0.1" => {
                wrong("--master-addr".into(), "other machines do not reach 127.0.0.1", "name the machine of rank 0")
            }
            _ if matches!(self.command.first().map(String::as_str), Some("launch" | "rank")) => {
                wrong("launch".into(), "cannot launch itself", "name a command such as train")
            }
            _ => Ok(()),
        }
    }

    /// This command with other arguments, and what every rank finds in its environment.
    fn own(&self, port: u16) -> Result<Command> {
        let own = std::env::current_exe().map_err(|e| Error::invalid("this program's path", e.to_string(), "start it by its path"))?;
        let mut command = Command::new(own);
        command.env("MASTER_ADDR", &self.master_addr).env("MASTER_PORT", port.to_string());
        Ok(command)
    }

    /// Threads of a rank, so that all of a machine have as many as it has cores.
    fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        (cores / self.nproc as usize).max(1)
    }
}

/// Starts the ranks and waits for them.
///
/// # Errors
///
/// Arguments that exclude each other; a rank that ended badly, with its number and how.
pub fn run(args: &Args, output: &Output) -> Result<()> {
    args.check()?;
    match args.engine() {
        Engine::Mpi => mpi::run(args, output),
        Engine::Nccl => ranks::run(args),
    }
}

/// What is said of a rank that ended badly; of which, where that is known.
fn ended_badly(rank: Option<usize>, how: &str) -> Error {
    let (what, problem) = ("aludel launch", format!("{how}; all others were ended"));
    let remedy = "see what it said above; a run with --checkpoint goes on with --resume, on any number of ranks";
    match rank {
        Some(rank) => Error::Collective { what: what.into(), ranks: vec![rank], problem, remedy: remedy.into() },
        None => Error::invalid(what, problem, remedy),
    }
}
