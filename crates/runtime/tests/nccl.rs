//! Collectives between GPUs: a group of one rank on one GPU, and of two where there are two. Skipped without a GPU, and without NCCL.

use aludel_compiler::{Options, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Builder, Collective, CollectiveOp, DType, Error, Group, Prim, ReduceOp, TensorType};
use aludel_runtime::collective::World;
use aludel_runtime::{Argument, CudaExecutor, CudaOptions, Executor, cuda, decode, encode};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

/// `y = x + 1`, twice a collective of y, and what comes of it times two.
fn step(op: CollectiveOp, ranks: u32, n: usize, dtype: DType) -> Graph {
    step_within(op, "world", ranks, n, dtype)
}

fn step_within(op: CollectiveOp, group: &str, ranks: u32, n: usize, dtype: DType) -> Graph {
    let mut b = Builder::new("step");
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(dtype, [n]));
    let mut y = b.add_scalar(x, 1.0).unwrap();
    for _ in 0..2 {
        let group = Group { name: group.into(), ranks };
        y = b.prim(Prim::Collective(Collective { op, group }), &[y]).unwrap();
    }
    let z = b.mul_scalar(y, 2.0).unwrap();
    b.graph.add_output("z", z, None);
    b.graph
}

/// A device that has joined the world; `None` where there is no GPU of this number, or no NCCL.
fn rank(rank: usize, size: usize, port: u16) -> Option<CudaExecutor> {
    if cuda::devices().len() < size {
        eprintln!("SKIPPED: {size} GPUs of CUDA are not here");
        return None;
    }
    let device = CudaExecutor::new(&CudaOptions { device: rank, primary_context: true, ..CudaOptions::default() }).unwrap();
    let world = World { rank, size, local_rank: rank, master: Some(("127.0.0.1".into(), port)) };
    match device.join_world("world", &world, SOON) {
        Ok(place) => assert_eq!(place, (rank, size)),
        Err(e @ Error::Unsupported { .. }) => {
            eprintln!("SKIPPED: {e}");
            return None;
        }
        Err(e) => panic!("{e}"),
    }
    Some(device)
}

fn port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Runs a graph three times as a CUDA graph and once launch by launch; what the last gave.
fn run(device: &CudaExecutor, graph: Graph, input: &[f64], dtype: DType) -> aludel_ir::Result<Vec<f64>> {
    let count = graph.env.hint_or_one(&graph.ty(graph.outputs[0].value).numel()) as usize;
    let program = Arc::new(compile(&graph, &device.target().unwrap(), &Options::default())?);
    assert_eq!(program.launches.iter().filter(|l| l.exchange.is_some()).count(), 2, "the collectives are launches");
    let exe = device.load(Arc::new(graph), Some(program))?;
    let words: Arc<[u32]> = device.device_words(&encode(input, dtype), dtype).into_owned().into();
    let read = |out: Vec<aludel_runtime::Storage>| {
        let words = pollster::block_on(device.download(&out[0]))?;
        Ok::<_, Error>(decode(&device.host_words(words, dtype, count), dtype))
    };
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(read(exe.run(&[], &[Argument::Host(words.clone())])?)?);
    }
    let (out, times) = exe.run_timed(&[], &[Argument::Host(words)])?;
    all.push(read(out)?);
    pollster::block_on(times)?;
    assert!(all.iter().all(|v| *v == all[0]), "a recorded step gives what its launches give: {all:?}");
    Ok(all.remove(0))
}

const OPS: [CollectiveOp; 7] = [
    CollectiveOp::AllReduce(ReduceOp::Sum),
    CollectiveOp::AllReduce(ReduceOp::Max),
    CollectiveOp::AllReduce(ReduceOp::Prod),
    CollectiveOp::AllGather { release: false },
    CollectiveOp::ReduceScatter(ReduceOp::Sum),
    CollectiveOp::Broadcast { root: 0 },
    CollectiveOp::AllToAll,
];

#[test]
fn a_group_of_one_gpu_gives_what_it_is_given() {
    let Some(device) = rank(0, 1, port()) else { return };
    let x: Vec<f64> = (0..1003).map(|i| f64::from(i % 61) - 30.0).collect();
    for dtype in [DType::F32, DType::BF16, DType::F16, DType::I32] {
        for op in OPS {
            let got = run(&device, step(op, 1, x.len(), dtype), &x, dtype).unwrap();
            let want: Vec<f64> = x.iter().map(|v| (v + 1.0) * 2.0).collect();
            assert_eq!(got, want, "{op:?} of {dtype}");
        }
    }
}

#[test]
fn a_device_that_cannot_be_connected_says_so() {
    if cuda::devices().is_empty() {
        return eprintln!("SKIPPED: no GPU of CUDA is here");
    }
    let device = CudaExecutor::new(&CudaOptions::default()).unwrap();
    let e = run(&device, step(OPS[0], 1, 4, DType::F32), &[0.0; 4], DType::F32).unwrap_err().to_string();
    assert!(e.contains("has not joined"), "{e}");
    let world = World { rank: 0, size: 2, local_rank: 0, master: Some(("127.0.0.1".into(), port())) };
    let e = device.join_world("world", &world, SOON).unwrap_err().to_string();
    assert!(e.contains("primary_context"), "{e}");
}

#[test]
fn two_gpus_give_what_is_awaited_and_disagree() {
    let port = port();
    let on_ranks = |run: &(dyn Fn(usize, &CudaExecutor) + Sync)| {
        std::thread::scope(|s| {
            for r in 0..2 {
                s.spawn(move || rank(r, 2, port).iter().for_each(|device| run(r, device)));
            }
        });
    };
    on_ranks(&|r, device| {
        // Short operands and long ones go other ways through NCCL.
        for (n, dtype) in [(8, DType::F32), (1 << 20, DType::F32), (1 << 20, DType::BF16), (1 << 20, DType::I32)] {
            let given = |rank: i32| (0..n as i32).map(|i| f64::from((i + 3 * rank) % 5)).collect::<Vec<f64>>();
            for op in OPS {
                let got = run(device, step(op, 2, n, dtype), &given(r as i32), dtype).unwrap();
                let collective = Collective { op, group: Group { name: "world".into(), ranks: 2 } };
                let mut all: Vec<Vec<f64>> = (0..2).map(|rank| given(rank).iter().map(|v| v + 1.0).collect()).collect();
                for _ in 0..2 {
                    all = collective.results(dtype, &[&all[0], &all[1]]).unwrap();
                }
                let want: Vec<f64> = all[r].iter().map(|v| dtype.round(v * 2.0)).collect();
                assert!(got == want, "{op:?} of {n} x {dtype} on rank {r}");
            }
        }
        // A group of both in the other order, and one of a single rank.
        assert_eq!(device.split("world", "turned", &[1, 0]).unwrap(), Some(1 - r));
        assert_eq!(device.split("world", "second", &[1]).unwrap(), (r == 1).then_some(0));
        let gather = step_within(CollectiveOp::AllGather { release: false }, "turned", 2, 1, DType::F32);
        assert_eq!(run(device, gather, &[r as f64], DType::F32).unwrap(), [4.0, 2.0, 4.0, 2.0]);
        let e = run(device, step(OPS[0], 2, 4 + 4 * r, DType::F32), &vec![0.0; 4 + 4 * r], DType::F32).unwrap_err();
        assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[1]) && e.to_string().contains("8 x f32"), "{e}");
    });
}
