//! Ranks that are started here: one process each, watched until all have ended.

use super::{Args, ended_badly};
use aludel::{Error, Result};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often ranks are looked after.
const LOOK: Duration = Duration::from_millis(50);
/// How long ranks have to end when they are asked to.
const GRACE: Duration = Duration::from_secs(3);

pub fn run(args: &Args) -> Result<()> {
    let port = args.port()?;
    let (nproc, first) = (args.nproc as usize, args.nproc as usize * args.node_rank as usize);
    let mut ranks = Ranks { children: Vec::with_capacity(nproc), first };
    for local in 0..nproc {
        let mut command = args.own(port)?;
        let number = |n: usize| n.to_string();
        command.args(&args.command).envs([
            ("RANK", number(first + local)),
            ("WORLD_SIZE", number(nproc * args.nnodes as usize)),
            ("LOCAL_RANK", number(local)),
            ("LOCAL_WORLD_SIZE", number(nproc)),
        ]);
        if std::env::var_os("RAYON_NUM_THREADS").is_none() {
            command.env("RAYON_NUM_THREADS", number(args.threads()));
        }
        ranks.start(command)?;
    }
    ranks.wait()
}

/// The processes of this machine; those that run are ended when this is dropped.
struct Ranks {
    children: Vec<Child>,
    /// The number of the first.
    first: usize,
}

impl Ranks {
    fn start(&mut self, mut command: Command) -> Result<()> {
        end_with_parent(&mut command);
        let rank = self.first + self.children.len();
        let child =
            command.spawn().map_err(|e| Error::invalid(format!("rank {rank}"), e.to_string(), "see whether this program may run"))?;
        self.children.push(child);
        Ok(())
    }

    /// Until all have ended well, or one badly.
    fn wait(&mut self) -> Result<()> {
        let mut running: Vec<usize> = (0..self.children.len()).collect();
        while !running.is_empty() {
            let mut still = Vec::with_capacity(running.len());
            for i in running {
                match self.children[i].try_wait() {
                    Ok(None) => still.push(i),
                    Ok(Some(status)) if status.success() => {}
                    Ok(Some(status)) => return Err(ended_badly(Some(self.first + i), &describe(status))),
                    Err(e) => return Err(ended_badly(Some(self.first + i), &format!("cannot be looked after: {e}"))),
                }
            }
            running = still;
            if !running.is_empty() {
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for child in &mut self.children {
            if matches!(child.try_wait(), Ok(None)) {
                ask_to_end(child);
            }
        }
        let end = Instant::now() + GRACE;
        for child in &mut self.children {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                std::thread::sleep(LOOK);
            }
            // One that has ended meanwhile needs neither.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn ask_to_end(child: &mut Child) {
    #[cfg(unix)]
    {
        use nix::sys::signal::{Signal, kill};
        // It has not been waited for, so the number is still its.
        let _ = kill(nix::unistd::Pid::from_raw(child.id() as i32), Signal::SIGTERM);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
}

/// Lets a process end when this one does, however that ends.
pub(super) fn end_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let end = || nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM).map_err(std::io::Error::from);
        // SAFETY: between fork and exec the closure makes one system call, allocates nothing and takes no lock.
        unsafe { command.pre_exec(end) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// How a process ended, in words.
pub(super) fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = nix::sys::signal::Signal::try_from(signal).map_or_else(|_| signal.to_string(), |s| s.as_str().to_string());
        return format!("was ended by {name}");
    }
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "ended badly".into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn one_that_ends_badly_takes_the_others_down() {
        for (script, say) in [("sleep 0.2; exit 7", "exit code 7"), ("sleep 0.2; kill -9 $$", "SIGKILL")] {
            let mut ranks = Ranks { children: Vec::new(), first: 4 };
            // The second does not listen when it is asked.
            for script in ["exec sleep 60", "trap '' TERM; while :; do sleep 0.1; done", script] {
                ranks.start(sh(script)).unwrap();
            }
            let (begin, pids) = (Instant::now(), ranks.children.iter().map(Child::id).collect::<Vec<_>>());
            let e = ranks.wait().unwrap_err().to_string();
            drop(ranks);
            assert!(e.contains("rank 6") && e.contains(say) && e.contains("--resume"), "{e}");
            assert!(begin.elapsed() < Duration::from_secs(10), "after {:?}", begin.elapsed());
            for pid in pids {
                let gone = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), None);
                assert_eq!(gone, Err(nix::errno::Errno::ESRCH), "process {pid} is there");
            }
        }
    }

    #[test]
    fn all_that_end_well_are_waited_for() {
        let mut ranks = Ranks { children: Vec::new(), first: 0 };
        ["sleep 0.3", "true"].into_iter().for_each(|s| ranks.start(sh(s)).unwrap());
        let begin = Instant::now();
        ranks.wait().unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(250));
    }
}
