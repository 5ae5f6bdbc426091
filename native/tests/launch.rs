//! Ranks that are processes, as `aludel launch` starts them. Those on the CPU are skipped where this build or this machine has no MPI.

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ALUDEL: &str = env!("CARGO_BIN_EXE_aludel");

/// A small model whose step every rank takes a part of.
const TRAIN: [&str; 9] =
    ["train", "digits", "layers=16", "batch=16", "lr=0.02", "--device=interp", "--mode=compiled", "--log-every=1", "--json"];

fn has_mpi() -> bool {
    let here = cfg!(feature = "mpi") && Command::new("mpirun").arg("--version").output().is_ok_and(|o| o.status.success());
    if !here {
        eprintln!("SKIPPED: this build or this machine has no MPI (--features mpi, Debian's libopenmpi-dev and openmpi-bin)");
    }
    here
}

fn launch(ranks: usize, args: &[&str]) -> Command {
    let mut command = Command::new(ALUDEL);
    command.args(["launch", "--nproc", &ranks.to_string(), "--"]).args(TRAIN).args(args).env("RUST_LOG", "off");
    command
}

/// The events of a run that succeeds.
fn events(command: &mut Command) -> Vec<Value> {
    let out = command.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{command:?}: {text}\n{}", String::from_utf8_lossy(&out.stderr));
    text.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{l}: {e}"))).collect()
}

/// The losses by step.
fn losses(events: &[Value]) -> Vec<(u64, f64)> {
    let steps = events.iter().filter(|e| e["event"] == "step");
    steps.map(|e| (e["step"].as_u64().unwrap(), e["loss"].as_f64().unwrap())).collect()
}

fn assert_close(a: &[(u64, f64)], b: &[(u64, f64)], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for ((k, x), (l, y)) in a.iter().zip(b) {
        assert!(k == l && (x - y).abs() <= 1e-5 * x.abs().max(1.0), "{what}, step {k}: {x} and {y}");
    }
}

#[test]
fn losses_of_ranks_are_those_of_one_process() {
    if !has_mpi() {
        return;
    }
    let alone = losses(&events(Command::new(ALUDEL).args(TRAIN).args(["--steps", "50"])));
    assert!(alone.len() == 50 && alone[49].1 < 0.5 * alone[0].1, "nothing is learned: {alone:?}");
    for ranks in [2, 4] {
        let all = events(&mut launch(ranks, &["--steps", "50"]));
        // Rank 0 alone speaks.
        let starts: Vec<_> = all.iter().filter(|e| e["event"] == "start").collect();
        assert!(starts.len() == 1 && starts[0]["ranks"] == ranks, "{starts:?}");
        assert_close(&alone, &losses(&all), &format!("{ranks} ranks"));
    }
}

/// A rank of a run, found by what its environment says.
#[cfg(target_os = "linux")]
fn find_rank(run: &Path, rank: usize) -> Option<i32> {
    let wanted = [format!("RANK={rank}"), "WORLD_SIZE=2".into()];
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let (vars, args) = (std::fs::read(entry.path().join("environ")).ok()?, std::fs::read(entry.path().join("cmdline")).ok()?);
        let has = |list: &[u8], text: &str| list.split(|b| *b == 0).any(|v| v == text.as_bytes());
        (wanted.iter().all(|w| has(&vars, w)) && has(&args, run.to_str()?) && !has(&args, "launch")).then_some(pid)
    })
}

#[cfg(target_os = "linux")]
fn reached(directory: &Path) -> u64 {
    aludel_checkpoint::Directory::new(directory).latest().ok().flatten().map_or(0, |c| c.meta.step)
}

/// Waits until the run has come so far.
#[cfg(target_os = "linux")]
fn wait_for(child: &mut Child, directory: &Path, step: u64) {
    let begin = Instant::now();
    while reached(directory) < step {
        assert!(begin.elapsed() < Duration::from_secs(120), "step {step} is not reached");
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A rank is killed at any moment: all end within seconds, the rank is named, and the run goes on with the losses that it would have had.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_rank_takes_all_down_and_the_run_goes_on() {
    if !has_mpi() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    // How often, for who wants to know it better.
    let rounds: u64 = std::env::var("KILLS").ok().and_then(|v| v.parse().ok()).unwrap_or(3);
    let mut seen = Vec::new();
    for round in 0..rounds {
        let (before, who) = (reached(dir.path()), (round % 2) as usize);
        let mut args = vec!["--steps", "100000", "--checkpoint", path, "--checkpoint-every", "1"];
        if before > 0 {
            args.push("--resume");
        }
        let mut child = launch(2, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&mut child, dir.path(), before + 3);
        std::thread::sleep(Duration::from_millis(round * 37 % 50));
        let pid = find_rank(dir.path(), who).expect("the rank runs");
        let begin = Instant::now();
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        let out = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(begin.elapsed() < Duration::from_secs(10), "round {round}: all ended after {:?}", begin.elapsed());
        assert_eq!(out.status.code(), Some(1), "{errors}");
        assert!(errors.contains(&format!("aludel launch: rank {who}: was ended by signal 9")) && errors.contains("--resume"), "{errors}");
        assert!(find_rank(dir.path(), 1 - who).is_none(), "the other rank runs on");
        // A line may have been cut by the end.
        let lines: Vec<Value> = String::from_utf8_lossy(&out.stdout).lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        seen.extend(losses(&lines));
    }
    let end = (reached(dir.path()) + 5).to_string();
    let copy = tempfile::tempdir().unwrap();
    assert!(Command::new("cp").arg("-r").args([&format!("{path}/."), copy.path().to_str().unwrap()]).status().unwrap().success());
    let last = losses(&events(&mut launch(2, &["--steps", &end, "--checkpoint", path, "--resume"])));
    let whole = losses(&events(&mut launch(2, &["--steps", &end])));
    // What was seen before and after each kill is the uninterrupted run's, bit by bit.
    for (step, loss) in seen.iter().chain(&last) {
        let (k, want) = whole[*step as usize - 1];
        assert!(k == *step && want.to_bits() == loss.to_bits(), "step {step}: {loss}, uninterrupted {want}");
    }
    // On another number of ranks, and on none but one process.
    let more = losses(&events(&mut launch(4, &["--steps", &end, "--checkpoint", copy.path().to_str().unwrap(), "--resume"])));
    assert_close(&whole[whole.len() - more.len()..], &more, "resumed on 4 ranks");
    assert!(more.len() >= 5);
}

#[test]
fn what_cannot_be_launched_is_said() {
    let fails = |args: &[&str], say: &str| {
        let o = Command::new(ALUDEL).args(args).env("RUST_LOG", "off").output().unwrap();
        let errors = String::from_utf8_lossy(&o.stderr);
        assert!(!o.status.success() && errors.contains(say) && !errors.contains("panicked"), "{args:?}: {errors}");
    };
    fails(&["launch", "--nproc", "2", "--nnodes", "2", "--", "train", "digits"], "--hosts");
    fails(&["launch", "--nproc", "1", "--", "launch"], "cannot launch itself");
    fails(&["launch", "--nproc", "1", "--nnodes", "2", "--", "train", "digits", "--device", "cuda"], "--master-addr");
    fails(&["rank", "--", "devices"], "aludel launch");
    // Ranks are told who they are; where nothing connects them, that is said by the first.
    fails(&["launch", "--nproc", "2", "--engine", "nccl", "--", "train", "digits", "batch=3"], "batch=4");
    if !cfg!(feature = "mpi") {
        fails(&["launch", "--nproc", "2", "--", "train", "digits"], "--features mpi");
        fails(&["launch", "--nproc", "2", "--engine", "nccl", "--", "train", "digits", "--device", "interp"], "feature `mpi`");
    }
}

/// What torchrun, SLURM and Kubernetes say is understood by `train` itself.
#[test]
fn the_environment_is_checked() {
    let o = Command::new(ALUDEL).args(TRAIN).envs([("RANK", "3"), ("WORLD_SIZE", "2")]).output().unwrap();
    assert!(String::from_utf8_lossy(&o.stderr).contains("RANK"), "{o:?}");
    if has_mpi() {
        // As torchrun would start it: MPI knows nothing of the other.
        let o = Command::new(ALUDEL).args(TRAIN).envs([("RANK", "0"), ("WORLD_SIZE", "2")]).output().unwrap();
        assert!(String::from_utf8_lossy(&o.stderr).contains("torchrun's know nothing of MPI"), "{o:?}");
    }
}
