//! Collectives on ranks that are threads: on the interpreter, and on the C target where there is a compiler.

use aludel_compiler::{Options, autodiff, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Attrs, Builder, DType, Error, Result, TensorType};
use aludel_runtime::collective::{LocalGroup, ProcessGroup};
use aludel_runtime::{Argument, CpuExecutor, Executor, InterpExecutor, decode, encode};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

type Open = fn() -> Option<Arc<dyn Executor>>;

fn interpreter() -> Option<Arc<dyn Executor>> {
    Some(Arc::new(InterpExecutor::default()))
}

fn cpu() -> Option<Arc<dyn Executor>> {
    Some(Arc::new(CpuExecutor::new().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()?))
}

fn guarded() -> Option<Arc<dyn Executor>> {
    Some(Arc::new(CpuExecutor::guarded().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()?))
}

/// Runs a graph of one input once on each of several ranks; what each gets.
fn on_ranks(
    open: Open,
    inputs: &[Vec<f64>],
    dtype: DType,
    timeout: Duration,
    graph: impl Fn(usize) -> Graph + Sync,
) -> Vec<Result<Vec<Vec<f64>>>> {
    let groups = LocalGroup::create("world", inputs.len(), timeout).unwrap();
    std::thread::scope(|s| {
        let ranks: Vec<_> = groups
            .into_iter()
            .zip(inputs)
            .map(|(group, input)| {
                let graph = &graph;
                s.spawn(move || {
                    let rank = group.rank();
                    let Some(device) = open() else { return Ok(vec![]) };
                    device.join(group)?;
                    run(&*device, graph(rank), input, dtype)
                })
            })
            .collect();
        ranks.into_iter().map(|r| r.join().unwrap()).collect()
    })
}

fn run(device: &dyn Executor, graph: Graph, input: &[f64], dtype: DType) -> Result<Vec<Vec<f64>>> {
    let program = device.target().map(|t| compile(&graph, &t, &Options::default()).map(Arc::new)).transpose()?;
    let kept = graph.outputs.iter().map(|o| (graph.ty(o.value).dtype, graph.env.hint_or_one(&graph.ty(o.value).numel()) as usize));
    let kept: Vec<(DType, usize)> = kept.collect();
    let exe = device.load(Arc::new(graph), program)?;
    let words = device.device_words(&encode(input, dtype), dtype).into_owned();
    let out = exe.run(&[], &[Argument::Host(words.into())])?;
    out.iter()
        .zip(kept)
        .map(|(s, (d, count))| Ok(decode(&device.host_words(pollster::block_on(device.download(s))?, d, count), d)))
        .collect()
}

/// `y = x + 1`, the collective of y, and what comes of it times two.
fn step(op: &str, attrs: Attrs, shape: &[usize], dtype: DType) -> Graph {
    let mut b = Builder::new("step");
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(dtype, shape.to_vec()));
    let y = b.add_scalar(x, 1.0).unwrap();
    let z = b.op(op, &[y], &attrs).unwrap()[0];
    let z = b.mul_scalar(z, 2.0).unwrap();
    b.graph.add_output("z", z, None);
    b.graph
}

/// What ranks have: different numbers, of which sums in another order differ.
fn operands(ranks: usize, n: usize) -> Vec<Vec<f64>> {
    (0..ranks).map(|r| (0..n).map(|i| f64::from((((r * 7919 + i * 104_729) % 1000) as f32 - 500.0) * 0.37)).collect()).collect()
}

fn world(ranks: usize) -> Attrs {
    Attrs::new().with("ranks", ranks)
}

#[test]
fn every_collective_gives_what_its_definition_says() {
    let ranks = 4;
    let x = operands(ranks, 4 * 6);
    let y: Vec<Vec<f64>> = x.iter().map(|x| x.iter().map(|v| f64::from(*v as f32 + 1.0)).collect()).collect();
    let double = |v: Vec<f64>| v.into_iter().map(|v| v * 2.0).collect::<Vec<f64>>();
    let sum = |i: usize| y.iter().skip(1).fold(y[0][i] as f32, |s, y| s + y[i] as f32) as f64;
    let all: Vec<usize> = (0..24).collect();
    type Expected<'a> = Box<dyn Fn(usize) -> Vec<f64> + 'a>;
    let cases: Vec<(&str, Attrs, Expected)> = vec![
        ("all_reduce", world(ranks), Box::new(|_| all.iter().map(|i| sum(*i)).collect())),
        ("all_reduce", world(ranks).with("op", "mean"), Box::new(|_| all.iter().map(|i| f64::from(sum(*i) as f32 * 0.25)).collect())),
        (
            "all_reduce",
            world(ranks).with("op", "max"),
            Box::new(|_| all.iter().map(|i| y.iter().map(|y| y[*i]).fold(f64::MIN, f64::max)).collect()),
        ),
        (
            "all_reduce",
            world(ranks).with("op", "min"),
            Box::new(|_| all.iter().map(|i| y.iter().map(|y| y[*i]).fold(f64::MAX, f64::min)).collect()),
        ),
        ("all_gather", world(ranks), Box::new(|_| y.concat())),
        // [4, 6] joined along columns.
        (
            "all_gather",
            world(ranks).with("dim", 1i64),
            Box::new(|_| (0..4).flat_map(|row| y.iter().flat_map(move |y| y[row * 6..row * 6 + 6].to_vec())).collect()),
        ),
        ("reduce_scatter", world(ranks), Box::new(|r| (r * 6..r * 6 + 6).map(sum).collect())),
        ("broadcast", world(ranks).with("src", 2i64), Box::new(|_| y[2].clone())),
        ("all_to_all", world(ranks), Box::new(|r| y.iter().flat_map(|y| y[r * 6..r * 6 + 6].to_vec()).collect())),
    ];
    // The interpreter keeps sums in f64 and rounds once; devices round after each rank: by half a unit of 2^-14 for numbers below 1024, three
    // times, doubled.
    for (open, apart) in [(interpreter as Open, 6.0 * 0.5 / 16384.0), (cpu, 0.0), (guarded, 0.0)] {
        for (op, attrs, expected) in &cases {
            for (r, got) in on_ranks(open, &x, DType::F32, SOON, |_| step(op, attrs.clone(), &[4, 6], DType::F32)).into_iter().enumerate() {
                let got = got.unwrap();
                if !got.is_empty() {
                    let want = double(expected(r));
                    let close = got[0].iter().zip(&want).all(|(g, w)| (g - w).abs() <= apart);
                    assert!(got[0].len() == want.len() && close, "{op} {attrs:?} on rank {r}: {:?}, {want:?}", got[0]);
                }
            }
        }
    }
}

#[test]
fn narrow_types_and_integers_are_exchanged() {
    for (dtype, scale) in [(DType::BF16, 1.0), (DType::F16, 1.0), (DType::I32, 1.0), (DType::U32, 1.0)] {
        for open in [interpreter as Open, cpu] {
            let x: Vec<Vec<f64>> = (0..3).map(|r| (0..5).map(|i| f64::from(r + i) * scale).collect()).collect();
            let graph = |_| {
                let mut b = Builder::new("g");
                let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(dtype, [5usize]));
                let z = b.op("all_reduce", &[x], &world(3)).unwrap()[0];
                b.graph.add_output("z", z, None);
                b.graph
            };
            for got in on_ranks(open, &x, dtype, SOON, graph) {
                let got = got.unwrap();
                assert!(got.is_empty() || got[0] == vec![3.0, 6.0, 9.0, 12.0, 15.0], "{dtype}: {got:?}");
            }
        }
    }
}

/// The loss is a sum over the ranks: its derivative by rank r's operand, against differences of the loss itself.
#[test]
fn derivatives_are_those_of_the_sum_of_all_ranks_losses() {
    let (ranks, shape) = (3usize, [3usize, 2]);
    let x = operands(ranks, 6);
    let weights: Vec<f64> = (0..18).map(|i| 0.3 + f64::from(i) * 0.11).collect();
    let cases = [
        ("all_reduce", world(ranks)),
        ("all_reduce", world(ranks).with("op", "max")),
        ("all_reduce", world(ranks).with("op", "min")),
        ("all_gather", world(ranks).with("dim", 1i64)),
        ("reduce_scatter", world(ranks)),
        ("broadcast", world(ranks).with("src", 1i64)),
        ("all_to_all", world(ranks)),
    ];
    for (op, attrs) in cases {
        let graph = |rank: usize, with_grad: bool| {
            let mut b = Builder::new("loss");
            let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, shape.to_vec()));
            let y = b.op(op, &[x], &attrs).unwrap()[0];
            // A square, weighted differently on every rank and element.
            let dims = b.shape(y);
            let count = b.graph.env.hint_or_one(&b.ty(y).numel()) as usize;
            let mut w = None;
            for (i, weight) in weights.iter().take(count).enumerate() {
                let at = b.iota(&[aludel_ir::Dim::from(count)], 0).unwrap();
                let i = b.full(&[aludel_ir::Dim::from(count)], i as f64, DType::I32).unwrap();
                let here = b.binary(aludel_ir::ScalarOp::Eq, at, i).unwrap();
                let here = b.cast(here, DType::F32).unwrap();
                let here = b.mul_scalar(here, weight * (1.0 + rank as f64)).unwrap();
                w = Some(match w {
                    Some(w) => b.add(w, here).unwrap(),
                    None => here,
                });
            }
            let w = b.reshape(w.unwrap(), dims).unwrap();
            let square = b.mul(y, y).unwrap();
            let all = b.mul(square, w).unwrap();
            let rank = b.rank(all);
            let loss = b.sum(all, &(0..rank).collect::<Vec<_>>(), false).unwrap();
            b.graph.add_output("loss", loss, None);
            if with_grad {
                let g = b.grad(loss, &[x]).unwrap()[0];
                b.graph.add_output("g", g, None);
            }
            b.graph
        };
        let total = |x: &[Vec<f64>]| -> f64 {
            on_ranks(interpreter, x, DType::F32, SOON, |r| graph(r, false)).into_iter().map(|l| l.unwrap()[0][0]).sum()
        };
        for open in [interpreter as Open, cpu] {
            let got = on_ranks(open, &x, DType::F32, SOON, |r| graph(r, true));
            if got[0].as_ref().unwrap().is_empty() {
                continue;
            }
            for (r, i) in [(0, 0), (1, 3), (2, 5), (1, 1)] {
                let mut moved = x.clone();
                // The loss is quadratic: central differences are exact but for rounding, of sums of about 1e6 in f32.
                moved[r][i] += 8.0;
                let above = total(&moved);
                moved[r][i] -= 16.0;
                let (want, g) = ((above - total(&moved)) / 16.0, got[r].as_ref().unwrap()[1][i]);
                let kinked = op == "all_reduce" && attrs.get("op").is_some();
                assert!((g - want).abs() <= 2e-2 * (1.0 + want.abs()).max(50.0) || kinked, "{op}: {g} and {want} by rank {r}, element {i}");
            }
        }
    }
}

#[test]
fn gradients_that_no_rule_has_are_refused() {
    let mut b = Builder::new("loss");
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, [4usize]));
    let y = b.op("all_reduce", &[x], &world(2).with("op", "prod")).unwrap()[0];
    let loss = b.sum(y, &[0], false).unwrap();
    let g = b.grad(loss, &[x]).unwrap()[0];
    b.graph.add_output("g", g, None);
    let e = autodiff::expand_grads(&b.graph).unwrap_err().to_string();
    assert!(e.contains("all_reduce.prod") && e.contains("world"), "{e}");
}

fn shapes(rank: usize) -> Graph {
    step("all_reduce", world(3), &[if rank == 1 { 5 } else { 4 }], DType::F32)
}

#[test]
fn ranks_that_disagree_are_named_before_anybody_waits() {
    for open in [interpreter as Open, cpu] {
        if open().is_none() {
            continue;
        }
        let x = vec![vec![0.0; 4], vec![0.0; 5], vec![0.0; 4]];
        for e in on_ranks(open, &x, DType::F32, SOON, shapes) {
            let e = e.unwrap_err();
            assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[1]), "{e}");
            assert!(e.to_string().contains("5 x f32") && e.to_string().contains("4 x f32"), "{e}");
        }
        let x = vec![vec![0.0; 4]; 3];
        let order = |rank: usize| step(if rank == 2 { "broadcast" } else { "all_reduce" }, world(3), &[4], DType::F32);
        for e in on_ranks(open, &x, DType::F32, SOON, order) {
            let e = e.unwrap_err();
            assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[2]) && e.to_string().contains("broadcast"), "{e}");
        }
    }
}

#[test]
fn a_rank_that_ends_or_is_missing_is_named() {
    let run_one = |device: &dyn Executor| run(device, step("all_reduce", world(2), &[4], DType::F32), &[0.0; 4], DType::F32);
    let open = |group: Arc<LocalGroup>| {
        let device = InterpExecutor::default();
        device.join(group).unwrap();
        device
    };
    // Rank 1 ends.
    let mut groups = LocalGroup::create("world", 2, SOON).unwrap();
    drop(groups.pop());
    let e = run_one(&open(groups.remove(0))).unwrap_err();
    assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[1]) && e.to_string().contains("ended"), "{e}");
    // Rank 0 never comes.
    let mut groups = LocalGroup::create("world", 2, Duration::from_millis(200)).unwrap();
    let e = run_one(&open(groups.pop().unwrap())).unwrap_err();
    assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[0]) && e.to_string().contains("missing"), "{e}");
}

#[test]
fn a_group_that_is_not_there_is_said() {
    let device = InterpExecutor::default();
    let e = run(&device, step("all_reduce", world(2), &[4], DType::F32), &[0.0; 4], DType::F32).unwrap_err().to_string();
    assert!(e.contains("has not joined"), "{e}");
    device.join(LocalGroup::create("world", 3, SOON).unwrap().remove(0)).unwrap();
    let e = run(&device, step("all_reduce", world(2), &[4], DType::F32), &[0.0; 4], DType::F32).unwrap_err().to_string();
    assert!(e.contains("captured for 2 ranks, the group has 3"), "{e}");
}

#[test]
fn one_rank_alone_needs_no_group() {
    let graph = step("all_reduce", world(1), &[4], DType::F32);
    let got = run(&InterpExecutor::default(), graph, &[0.0, 1.0, 2.0, 3.0], DType::F32).unwrap();
    assert_eq!(got[0], vec![2.0, 4.0, 6.0, 8.0]);
}

/// Ranks 3 and 1, in this order, and ranks 0 and 2; a group of all in another order; one of a single rank. What `z` is of `x + 1`, twice.
fn in_groups_of_some(open: Open) -> Vec<Result<Vec<Vec<f64>>>> {
    let groups = LocalGroup::create("world", 4, SOON).unwrap();
    std::thread::scope(|s| {
        let rank_of = |group: Arc<LocalGroup>| {
            let rank = group.rank();
            let Some(device) = open() else { return Ok(vec![]) };
            device.join(group)?;
            let odd = device.split("world", "odd", &[3, 1])?;
            let even = device.split("world", "even", &[0, 2])?;
            assert_eq!((odd, even), [(None, Some(0)), (Some(1), None), (None, Some(1)), (Some(0), None)][rank]);
            assert_eq!(device.split("world", "turned", &[3, 2, 1, 0])?, Some(3 - rank));
            assert_eq!(device.split("world", "alone", &[2])?, (rank == 2).then_some(0));
            let within = |op: &str, group: &str, ranks: usize, dim: i64| {
                let attrs = world(ranks).with("group", group);
                let attrs = if op == "all_gather" { attrs.with("dim", dim) } else { attrs };
                Ok::<_, Error>(run(&*device, step(op, attrs, &[2], DType::F32), &[rank as f64, 10.0 * rank as f64], DType::F32)?.remove(0))
            };
            let own = if rank % 2 == 1 { "odd" } else { "even" };
            // Groups meet as often as they like: these pairs more often than those.
            for _ in 0..rank % 2 * 3 {
                within("all_reduce", own, 2, 0)?;
            }
            let mut out =
                vec![within("all_gather", own, 2, 0)?, within("all_reduce", "turned", 4, 0)?, within("all_gather", "turned", 4, 0)?];
            // A group of a group's ranks, by their numbers in that.
            if rank % 2 == 1 {
                assert_eq!(device.split("odd", "third", &[0])?, (rank == 3).then_some(0));
            }
            out.push(within("all_reduce", "world", 4, 0)?);
            if rank == 0 {
                let e = within("all_reduce", "odd", 2, 0).unwrap_err().to_string();
                assert!(e.contains("this rank is not in the group"), "{e}");
            }
            Ok(out)
        };
        let ranks: Vec<_> = groups.into_iter().map(|group| s.spawn(move || rank_of(group))).collect();
        ranks.into_iter().map(|r| r.join().unwrap()).collect()
    })
}

#[test]
fn groups_of_some_ranks_meet_among_themselves() {
    for open in [interpreter as Open, cpu, guarded] {
        for (rank, got) in in_groups_of_some(open).into_iter().enumerate() {
            let got = got.unwrap();
            if got.is_empty() {
                continue;
            }
            let own = |r: f64| [2.0 * (r + 1.0), 2.0 * (10.0 * r + 1.0)];
            let pair = if rank % 2 == 1 { [own(3.0), own(1.0)] } else { [own(0.0), own(2.0)] };
            assert_eq!(got[0], pair.concat(), "rank {rank}");
            assert_eq!(got[1], [20.0, 128.0], "rank {rank}");
            assert_eq!(got[2], [own(3.0), own(2.0), own(1.0), own(0.0)].concat(), "rank {rank}");
            assert_eq!(got[3], [20.0, 128.0], "rank {rank}");
        }
    }
}

#[test]
fn ranks_that_make_other_groups_are_named() {
    let groups = LocalGroup::create("world", 3, SOON).unwrap();
    std::thread::scope(|s| {
        for group in groups {
            s.spawn(move || {
                let (rank, device) = (group.rank(), InterpExecutor::default());
                assert!(device.split("world", "a", &[0]).unwrap_err().to_string().contains("has not joined"));
                device.join(group).unwrap();
                for (ranks, problem) in [(&[][..], "has no ranks"), (&[3], "names rank 3 of 3"), (&[1, 1], "names rank 1 twice")] {
                    let e = device.split("world", "a", ranks).unwrap_err().to_string();
                    assert!(e.contains(problem), "{e}");
                }
                device.split("world", "a", &[0, 1]).unwrap();
                let e = device.split("world", "a", &[0, 1]).unwrap_err().to_string();
                assert!(e.contains("has been created before"), "{e}");
                let e = device.split("world", "b", if rank == 1 { &[1, 0] } else { &[0, 1] }).unwrap_err();
                assert!(matches!(&e, Error::Collective { ranks, .. } if ranks == &[1]), "{e}");
            });
        }
    });
}
