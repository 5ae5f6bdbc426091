//! Collectives between processes that `mpirun` starts: the test runs itself as their ranks.

use aludel_ir::{Collective, CollectiveOp, DType, Error, Group, ReduceOp};
use aludel_runtime::collective::{Call, Format, LocalGroup, MpiGroup, ProcessGroup, World, destroy_process_group};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tells a process that it is a rank, and what it is to do.
const CASE: &str = "ALUDEL_TEST_MPI_CASE";

/// Runs a case on so many ranks; `None` where there is no MPI to start them.
fn mpirun(ranks: usize, case: &str) -> Option<Output> {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none", "-n", &ranks.to_string()]).arg(own);
    command.args(["a_rank", "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(CASE, case);
    // Containers have no other user; mpirun wants to hear it twice.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    match command.output() {
        Ok(out) => Some(out),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: there is no mpirun");
            None
        }
        Err(e) => panic!("mpirun: {e}"),
    }
}

/// What all ranks print who do what they should.
fn succeeds(ranks: usize, case: &str) {
    let Some(out) = mpirun(ranks, case) else { return };
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    for rank in 0..ranks {
        assert!(text.contains(&format!("rank {rank} has done {case}")), "{case} on {ranks} ranks:\n{text}\n{errors}");
    }
}

#[test]
fn results_are_those_of_threads_bit_by_bit() {
    [1, 2, 3, 4].into_iter().for_each(|ranks| succeeds(ranks, "collectives"));
}

#[test]
fn groups_of_some_ranks_meet_among_themselves() {
    succeeds(4, "some");
}

#[test]
fn ranks_that_disagree_are_named() {
    [2, 4].into_iter().for_each(|ranks| succeeds(ranks, "disagree"));
}

#[test]
fn a_rank_that_ends_is_named() {
    [2, 4].into_iter().for_each(|ranks| succeeds(ranks, "end"));
}

#[test]
fn a_rank_that_is_missing_is_named() {
    let Some(out) = mpirun(2, "missing") else { return };
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("rank 0 has done missing"), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_process_that_dies_takes_the_others_down() {
    let begin = Instant::now();
    let Some(out) = mpirun(4, "die") else { return };
    assert!(!out.status.success() && begin.elapsed() < Duration::from_secs(20), "after {:?}", begin.elapsed());
}

#[test]
fn a_world_that_the_environment_does_not_know_is_refused() {
    succeeds(2, "strangers");
}

// What the ranks do.

fn group(timeout: Duration) -> Arc<MpiGroup> {
    MpiGroup::world("world", &World::from_env().unwrap(), timeout).unwrap()
}

fn call(op: CollectiveOp, ranks: usize, dtype: DType, elements: usize) -> Call {
    Call { dtype, ..within(op, "world", ranks, elements) }
}

fn within(op: CollectiveOp, group: &str, ranks: usize, elements: usize) -> Call {
    let group = Group { name: group.into(), ranks: ranks as u32 };
    Call { collective: Collective { op, group }, dtype: DType::F32, format: Format::Plain, elements, program: "test".into() }
}

/// Numbers whose sums in another order differ.
fn operand(rank: usize, call: &Call) -> Vec<u8> {
    let number = |i: usize| ((rank * 7919 + i * 104_729) % 1000) as f32 * 0.37 - 185.0;
    let numbers = (0..call.elements).map(number);
    match call.dtype {
        DType::BF16 => numbers.flat_map(|v| half::bf16::from_f32(v).to_le_bytes()).collect(),
        DType::I32 => numbers.flat_map(|v| (v as i32).to_le_bytes()).collect(),
        _ => numbers.flat_map(f32::to_le_bytes).collect(),
    }
}

fn collectives(group: &Arc<MpiGroup>) {
    let (rank, ranks) = (group.rank(), group.size());
    let ops = [
        CollectiveOp::AllReduce(ReduceOp::Sum),
        CollectiveOp::AllReduce(ReduceOp::Max),
        CollectiveOp::AllGather { release: false },
        CollectiveOp::ReduceScatter(ReduceOp::Sum),
        CollectiveOp::Broadcast { root: ranks as u32 - 1 },
        CollectiveOp::AllToAll,
    ];
    // Short ones, ones that no number of ranks divides, and ones that are reduced in several pieces.
    for elements in [0, 12, 12 * 4099, 12 * 1_500_001] {
        for dtype in [DType::F32, DType::BF16, DType::I32] {
            for op in ops {
                let odd = elements + usize::from(elements > 0 && !op.divides());
                if odd > 1_000_000 && (dtype != DType::F32 || op != ops[0]) {
                    continue;
                }
                let call = call(op, ranks, dtype, odd);
                let got = group.run(&call, &operand(rank, &call)).unwrap();
                let threads = LocalGroup::create("world", ranks, Duration::from_secs(60)).unwrap();
                let want = std::thread::scope(|s| {
                    let all: Vec<_> = threads
                        .into_iter()
                        .enumerate()
                        .map(|(r, g)| {
                            let call = &call;
                            s.spawn(move || g.run(call, &operand(r, call)))
                        })
                        .collect();
                    all.into_iter().map(|t| t.join().unwrap().unwrap()).nth(rank).unwrap()
                });
                assert!(got == want, "{op:?} of {odd} x {dtype} on rank {rank} of {ranks}");
            }
        }
    }
}

fn error(group: &Arc<MpiGroup>, call: &Call) -> (Vec<usize>, String) {
    match group.run(call, &operand(group.rank(), call)).unwrap_err() {
        e @ Error::Collective { .. } => {
            let text = e.to_string();
            // It stays so.
            assert_eq!(group.run(call, &operand(group.rank(), call)).unwrap_err().to_string(), text);
            let Error::Collective { ranks, .. } = e else { unreachable!() };
            (ranks, text)
        }
        e => panic!("{e}"),
    }
}

#[test]
#[ignore = "a rank: what mpirun starts"]
fn a_rank() {
    let Ok(case) = std::env::var(CASE) else { return };
    let sum = CollectiveOp::AllReduce(ReduceOp::Sum);
    let group = group(Duration::from_millis(if case == "missing" { 300 } else { 60_000 }));
    let (rank, ranks) = (group.rank(), group.size());
    let say = || println!("rank {rank} has done {case}");
    match case.as_str() {
        "collectives" => collectives(&group),
        "some" => {
            let odd = group.split("odd", &[3, 1]).unwrap();
            let even = group.split("even", &[0, 2]).unwrap();
            assert_eq!((odd.is_some(), even.is_some()), (rank % 2 == 1, rank % 2 == 0));
            let (pair, members) = if rank % 2 == 1 { (odd.unwrap(), [3, 1]) } else { (even.unwrap(), [0, 2]) };
            assert_eq!((pair.size(), members[pair.rank()], pair.name()), (2, rank, ["even", "odd"][rank % 2]));
            // Pairs meet more or less often than others, and all meet afterwards.
            for _ in 0..=rank % 2 * 3 {
                for op in [sum, CollectiveOp::AllGather { release: false }, CollectiveOp::AllToAll] {
                    let own = |r: usize| operand(r, &within(op, pair.name(), 2, 40_000));
                    let call = within(op, pair.name(), 2, 40_000);
                    let got = pair.run(&call, &own(rank)).unwrap();
                    let want = match op {
                        CollectiveOp::AllGather { .. } => members.map(own).concat(),
                        CollectiveOp::AllToAll => members.map(|r| own(r)[pair.rank() * 80_000..][..80_000].to_vec()).concat(),
                        _ => {
                            let mut out = vec![0; 160_000];
                            call.reduce(ReduceOp::Sum, &members.map(own).iter().map(|x| &x[..]).collect::<Vec<_>>(), &mut out);
                            out
                        }
                    };
                    assert!(got == want, "{op:?} on rank {rank}");
                }
            }
            let all = group.run(&call(CollectiveOp::AllGather { release: false }, ranks, DType::F32, 1), &[rank as u8; 4]).unwrap();
            assert_eq!(all, (0..4).flat_map(|r| [r; 4]).collect::<Vec<u8>>());
            let e = group.split("apart", &[rank]).err().map(|e| e.to_string());
            assert!(e.as_ref().is_some_and(|e| e.contains("another group than rank 0")), "{e:?}");
        }
        "disagree" => {
            let (named, text) = error(&group, &call(sum, ranks, DType::F32, if rank == 1 { 5 } else { 4 }));
            assert_eq!(named, [1]);
            assert!(text.contains("5 x f32") && text.contains("4 x f32") && text.contains("all_reduce.sum"), "{text}");
        }
        "end" if rank == 1 => {
            let e = destroy_process_group().unwrap_err().to_string();
            assert!(e.contains("all_reduce.sum of 4 x f32"), "{e}");
        }
        "end" => {
            let (named, text) = error(&group, &call(sum, ranks, DType::F32, 4));
            assert!(named == [1] && text.contains("ended"), "{text}");
        }
        "missing" if rank == 1 => std::thread::sleep(Duration::from_secs(5)),
        "missing" => {
            let (named, text) = error(&group, &call(sum, ranks, DType::F32, 4));
            assert!(named == [1] && text.contains("missing for 0.3 s"), "{text}");
            assert!(destroy_process_group().is_err());
            return say();
        }
        "die" if rank == 1 => std::process::abort(),
        "die" => drop(group.run(&call(sum, ranks, DType::F32, 4), &operand(rank, &call(sum, ranks, DType::F32, 4)))),
        "strangers" => {
            let alone = MpiGroup::world("world", &World::alone(), Duration::from_secs(1)).err().map(|e| e.to_string());
            assert!(alone.is_some_and(|e| e.contains("torchrun's know nothing of MPI")));
        }
        other => panic!("no case {other}"),
    }
    destroy_process_group().unwrap_or_else(|e| assert_eq!(case, "end", "{e}"));
    say();
}
