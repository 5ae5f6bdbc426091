//! Ranks that `mpirun` starts, since MPI connects only what was started for it.
//!
//! `mpirun` starts `aludel rank ..` as often as there are ranks; each of these says in its environment who it is, as `torchrun` has it, and
//! becomes the command ([`become_rank`]). When a rank dies, `mpirun` ends the others and says so; what it says is passed on, and read for the
//! rank's number.

use super::ranks::{describe, end_with_parent};
use super::{Args, ended_badly};
use crate::output::Output;
use aludel::{Error, Result};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, Stdio};

/// What mpirun has started.
#[derive(clap::Args, Debug)]
pub struct RankArgs {
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub fn run(args: &Args, output: &Output) -> Result<()> {
    if !cfg!(feature = "mpi") {
        let remedy = "build with --features mpi (Debian: libopenmpi-dev, openmpi-bin and libclang-dev), or launch on --device cuda";
        return Err(Error::unsupported("ranks on the CPU in this build", remedy));
    }
    let own = args.own(args.port()?)?;
    let mut command = mpirun(args, &own);
    let missing = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound => Error::invalid("mpirun", "is not there", "install Open MPI (Debian: openmpi-bin)"),
        _ => Error::invalid("mpirun", e.to_string(), "see whether it may run"),
    };
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(missing)?;
    output.event("launch", serde_json::json!({ "ranks": args.nproc * args.nnodes, "engine": "mpi", "mpirun": child.id() }));
    let mut first = None;
    if let Some(errors) = child.stderr.take() {
        for line in BufReader::new(errors).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line);
            let _ = writeln!(std::io::stderr(), "{line}");
            first = first.or_else(|| rank_of(&line));
        }
    }
    let status = child.wait().map_err(missing)?;
    match (status.success(), first) {
        (true, _) => Ok(()),
        (false, Some((rank, how))) => Err(ended_badly(Some(rank), &how)),
        (false, None) => Err(ended_badly(None, &format!("mpirun {}", describe(status)))),
    }
}

fn mpirun(args: &Args, own: &Command) -> Command {
    let mut command = Command::new("mpirun");
    let ranks = args.nproc * args.nnodes;
    // A machine may have fewer cores than ranks; where it has more, a rank has several threads, which no core is to hold.
    command.args(["-n", &ranks.to_string(), "--oversubscribe", "--bind-to", "none"]);
    if !args.hosts.is_empty() {
        let slots: Vec<String> = args.hosts.iter().map(|h| format!("{h}:{}", args.nproc)).collect();
        command.args(["--host", &slots.join(",")]);
    }
    for (key, value) in own.get_envs().filter_map(|(k, v)| Some((k, v?))) {
        command.env(key, value).arg("-x").arg(key);
    }
    if std::env::var_os("RAYON_NUM_THREADS").is_none() {
        command.env("RAYON_NUM_THREADS", args.threads().to_string()).args(["-x", "RAYON_NUM_THREADS"]);
    }
    #[cfg(unix)]
    if nix::unistd::geteuid().is_root() {
        // In a container there may be no other user; who is root here has chosen to be.
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    }
    command.arg(own.get_program()).arg("rank").arg("--").args(&args.command);
    end_with_parent(&mut command);
    command
}

/// The rank that a line of mpirun's speaks of, and how it ended.
fn rank_of(line: &str) -> Option<(usize, String)> {
    let number = |text: &str| -> Option<usize> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    // "mpirun noticed that process rank 1 with PID 4711 on node n exited on signal 9 (Killed)."
    if let Some((_, rest)) = line.split_once("process rank ") {
        let how = rest.split_once(" exited on ").map_or("ended", |(_, how)| how.trim_end_matches('.'));
        return Some((number(rest)?, format!("was ended by {how}")));
    }
    // "  Process name: [[4711,1],1]", where one ended with an exit code.
    let (_, name) = line.split_once("Process name: [[")?;
    let (_, rank) = name.split_once("],")?;
    Some((number(rank)?, "ended with an error".into()))
}

/// Becomes the command that is launched, as the rank that Open MPI has made of this process.
///
/// # Errors
///
/// A process that mpirun did not start.
pub fn become_rank(args: &RankArgs) -> Result<()> {
    let of = |name: &str| {
        std::env::var(name).map_err(|_| Error::invalid("aludel rank", format!("{name} is not set"), "start ranks with `aludel launch`"))
    };
    let own = std::env::current_exe().map_err(|e| Error::invalid("this program's path", e.to_string(), "start it by its path"))?;
    let mut command = Command::new(own);
    command.args(&args.command);
    for (name, theirs) in [
        ("RANK", "OMPI_COMM_WORLD_RANK"),
        ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"),
        ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"),
        ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ] {
        command.env(name, of(theirs)?);
    }
    #[cfg(unix)]
    let failed = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let failed = match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(e) => e,
    };
    Err(Error::invalid("aludel rank", failed.to_string(), "see whether this program may run"))
}

#[cfg(test)]
mod tests {
    use super::rank_of;

    #[test]
    fn what_mpirun_says_is_understood() {
        let line = "mpirun noticed that process rank 3 with PID 0 on node n exited on signal 9 (Killed).";
        assert_eq!(rank_of(line), Some((3, "was ended by signal 9 (Killed)".into())));
        assert_eq!(rank_of("  Process name: [[52349,1],12]"), Some((12, "ended with an error".into())));
        assert_eq!(rank_of("error: process rank"), None);
        assert_eq!(rank_of("  Exit code:    1"), None);
    }
}
