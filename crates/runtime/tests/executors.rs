//! What every executor promises, on every device of the machine that runs kernels, with programs written by hand.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime"))]

mod common;

use aludel_ir::expr::Expr;
use aludel_ir::kernel::{Access, KExpr, Kernel, KernelBuffer, SharedArray, Stmt, Ty, Var, add, int, lt, mul};
use aludel_ir::program::Role;
use aludel_ir::{DType, Error, ScalarOp};
use aludel_runtime::{Argument, Executor, Stats};
use common::*;
use std::sync::Arc;

const STEP: [(Role, Access); 3] = [(Role::Arena, Access::ReadWrite), (Role::State, Access::ReadWrite), (Role::Inputs, Access::Read)];

/// `w -= lr * x` in place and `y = w * x` as a result, over a symbolic number of elements.
fn step() -> Written {
    let mut a = Assembly::new("step", &STEP);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 2);
    let lr = a.tensor("lr", vec![], 2);
    let other = a.tensor("other", vec![n.clone()], 1);
    let w = a.tensor("w", vec![n.clone()], 1);
    let t = a.tensor("t", vec![n.clone()], 0);
    let y = a.tensor("y", vec![n.clone()], 0);
    a.program.inputs = vec![x, w, lr, other];
    let i = || var(0);
    let scaled = elementwise(
        "scale",
        &[(DType::F32, 2), (DType::F32, 2), (DType::F32, 0)],
        vec![Stmt::Store { buffer: 2, index: i(), value: mul(at(0, i()), at(1, int(0))) }],
    );
    let update = elementwise(
        "update",
        &[(DType::F32, 1), (DType::F32, 0)],
        vec![Stmt::Store { buffer: 0, index: i(), value: op(ScalarOp::Sub, vec![at(0, i()), at(1, i())]) }],
    );
    let product = elementwise(
        "product",
        &[(DType::F32, 1), (DType::F32, 2), (DType::F32, 0)],
        vec![Stmt::Store { buffer: 2, index: i(), value: mul(at(0, i()), at(1, i())) }],
    );
    a.launch(&scaled, n.clone(), groups(&n), &[x, lr, t]);
    a.launch(&update, n.clone(), groups(&n), &[w, t]);
    a.launch(&product, n.clone(), groups(&n), &[w, x, y]);
    a.output("y", y, None);
    a.output("w", w, Some(1));
    a.finish()
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn a_step_updates_state_in_place() {
    for d in devices() {
        let exe = load(&*d, &step());
        let block = d.allocate_block(&[host(&ramp(100)), host(&[7.0; 100])]).unwrap();
        let state = |i: usize| Argument::Device(block[i].clone());
        for round in 1..=3 {
            let out = exe.run(&[100], &[host(&[2.0; 100]), state(0), host(&[0.5]), state(1)]).unwrap();
            assert!(Arc::ptr_eq(&out[1], &block[0]), "the updated state is the state itself");
            let expected: Vec<f32> = ramp(100).iter().map(|w| w - round as f32).collect();
            assert_eq!(read(&*d, &out[1]), expected);
            assert_eq!(read(&*d, &out[0]), expected.iter().map(|w| w * 2.0).collect::<Vec<_>>());
        }
        // Another size, device arguments, and a block in another order: same program, same results.
        let block = d.allocate_block(&[device(&*d, &[7.0; 200]), device(&*d, &ramp(200))]).unwrap();
        let inputs =
            [device(&*d, &[2.0; 200]), Argument::Device(block[1].clone()), device(&*d, &[0.5]), Argument::Device(block[0].clone())];
        let out = exe.run(&[200], &inputs).unwrap();
        assert_eq!(read(&*d, &block[1]), ramp(200).iter().map(|w| w - 1.0).collect::<Vec<_>>());
        assert_eq!(read(&*d, &block[0]), vec![7.0; 200]);
        assert_eq!(read(&*d, &out[0])[3], 4.0);
    }
}

/// Long parts travel by themselves and zeros not at all, into memory that held something else before.
#[test]
fn long_state_arrives_whole() {
    for d in devices() {
        let last = |n: usize| (0..n).map(|i| if i + 1 == n { 3.0 } else { 0.0 }).collect::<Vec<f32>>();
        let parts = [vec![0.0; 70_001], vec![1.0, 2.0], ramp(150_003), vec![], last(65_536), vec![0.0; 5_000_000], vec![9.0]];
        for round in 0..2 {
            // The other way round, zeros come to lie where numbers were.
            let parts: Vec<&Vec<f32>> = if round == 0 { parts.iter().collect() } else { parts.iter().rev().collect() };
            let contents = |k: usize| if k == 1 { device(&*d, parts[k]) } else { host(parts[k]) };
            let block = d.allocate_block(&(0..parts.len()).map(contents).collect::<Vec<_>>()).unwrap();
            for (part, storage) in parts.iter().zip(&block) {
                assert!(read(&*d, storage) == **part, "{} words in round {round}", part.len());
            }
        }
    }
}

/// State that is no block stays as it was: whoever holds the tensor keeps its value.
#[test]
fn state_outside_a_block_is_copied() {
    for d in devices() {
        let exe = load(&*d, &step());
        let w = d.upload(&ramp(10).iter().map(|v| v.to_bits()).collect::<Vec<_>>()).unwrap();
        let out = exe.run(&[10], &[host(&[2.0; 10]), Argument::Device(w.clone()), device(&*d, &[0.5]), host(&[0.0; 10])]).unwrap();
        assert_eq!(read(&*d, &w), ramp(10));
        assert_eq!(read(&*d, &out[1]), ramp(10).iter().map(|w| w - 1.0).collect::<Vec<_>>());
    }
}

/// A state that someone else holds is moved away before the update.
#[test]
fn evacuation_keeps_the_old_value() {
    for d in devices() {
        let exe = load(&*d, &step());
        let block = d.allocate_block(&[host(&ramp(10)), host(&[0.0; 10])]).unwrap();
        let held = block[0].clone();
        let fresh = d.evacuate(&block[0]).unwrap();
        let out =
            exe.run(&[10], &[host(&[2.0; 10]), Argument::Device(fresh.clone()), host(&[0.5]), Argument::Device(block[1].clone())]).unwrap();
        assert!(Arc::ptr_eq(&out[1], &fresh));
        assert_eq!(read(&*d, &held), ramp(10));
        assert_eq!(read(&*d, &fresh)[0], -1.0);
        assert!(d.evacuate(&held).is_err(), "what was evacuated is in no block");
    }
}

fn since(d: &dyn Executor, before: Stats) -> (u64, u64, u64, u64, u64) {
    let s = d.stats();
    (
        s.dispatches - before.dispatches,
        s.submits - before.submits,
        s.buffers_created - before.buffers_created,
        s.bind_groups_created - before.bind_groups_created,
        s.pipelines_created - before.pipelines_created,
    )
}

fn is_cpu(d: &dyn Executor) -> bool {
    matches!(d.info().backend.as_str(), "CPU" | "WebAssembly")
}

/// The promise of a compiled step: it creates nothing and submits once, with host and with device arguments.
#[test]
fn steady_steps_create_nothing_and_submit_once() {
    for d in devices() {
        let exe = load(&*d, &step());
        assert_eq!(d.stats().pipelines_created, 3);
        let block = d.allocate_block(&[host(&ramp(100)), host(&[0.0; 100])]).unwrap();
        let x = device(&*d, &[1.0; 100]);
        let run = |x: Argument| {
            let state = |i: usize| Argument::Device(block[i].clone());
            exe.run(&[100], &[x, state(0), host(&[0.5]), state(1)]).unwrap()
        };
        for _ in 0..2 {
            run(host(&[1.0; 100]));
            run(x.clone());
        }
        for x in [host(&[1.0; 100]), x.clone()] {
            let before = d.stats();
            let out = run(x);
            assert_eq!(since(&*d, before), (3, 1, 0, 0, 0));
            assert_eq!(d.stats().bytes_moved - before.bytes_moved, 100 * 4 * (3 + 2 + 3));
            assert_eq!(d.stats().bytes_in_use - before.bytes_in_use, 512, "one result is alive");
            drop(out);
            assert_eq!(d.stats().bytes_in_use, before.bytes_in_use);
        }
        // Reading back through the staging ring creates nothing either, once it has a buffer.
        read(&*d, &run(x.clone())[0]);
        let before = d.stats();
        read(&*d, &run(x.clone())[0]);
        // On a CPU reading is no submission.
        assert_eq!(since(&*d, before), (3, if is_cpu(&*d) { 1 } else { 2 }, 0, 0, 0));
        // A program loaded again shares its pipelines.
        let before = d.stats();
        load(&*d, &step());
        assert_eq!(since(&*d, before).4, 0);
        pollster::block_on(d.throttle(0)).unwrap();
    }
}

/// `y = x + x2` as an operator of its own.
fn operator() -> Written {
    let mut a =
        Assembly::new("add", &[(Role::Input(0), Access::Read), (Role::Input(1), Access::Read), (Role::Result(0), Access::ReadWrite)]);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 0);
    let x2 = a.tensor("x2", vec![n.clone()], 1);
    let y = a.tensor("y", vec![n.clone()], 2);
    a.program.inputs = vec![x, x2];
    let i = || var(0);
    let body = vec![Stmt::Store { buffer: 2, index: i(), value: add(at(0, i()), at(1, i())) }];
    let kernel = elementwise("add", &[(DType::F32, 0), (DType::F32, 1), (DType::F32, 2)], body);
    a.launch(&kernel, n.clone(), groups(&n), &[x, x2, y]);
    a.output("y", y, None);
    a.finish()
}

/// Operators run one by one are submitted together, reuse memory in order of issue, and see every upload between them.
#[test]
fn operators_are_batched_and_ordered() {
    for d in devices() {
        let exe = load(&*d, &operator());
        let one = device(&*d, &[1.0; 64]);
        let mut x = device(&*d, &[0.0; 64]);
        for round in 0..200 {
            // Uploads take memory that operators still waiting may read: they must not overtake.
            let step = if round % 3 == 0 { device(&*d, &[1.0; 64]) } else { one.clone() };
            let y = exe.run(&[64], &[x, step]).unwrap();
            x = Argument::Device(y[0].clone());
        }
        let Argument::Device(s) = &x else { unreachable!() };
        assert_eq!(read(&*d, s), vec![200.0; 64]);
        // A steady chain: nothing new, one submission for 32 operators.
        let chain = |mut x: Argument| {
            for _ in 0..64 {
                x = Argument::Device(exe.run(&[64], &[x, one.clone()]).unwrap().remove(0));
            }
            x
        };
        let mut x = x;
        for _ in 0..4 {
            x = chain(x);
        }
        d.flush();
        let before = d.stats();
        x = chain(x);
        // A CPU has done each when its call returns.
        assert_eq!(since(&*d, before), (64, if is_cpu(&*d) { 64 } else { 2 }, 0, 0, 0));
        // The same tensor twice, and host arguments.
        let y = exe.run(&[64], &[x.clone(), x.clone()]).unwrap();
        assert_eq!(read(&*d, &y[0]), vec![2.0 * 520.0; 64]);
        let y = exe.run(&[2], &[host(&[1.0, 2.0]), host(&[3.0, 4.0])]).unwrap();
        assert_eq!(read(&*d, &y[0]), [4.0, 6.0]);
        // Both operands in one state block, and one of them a result's neighbour.
        let block = d.allocate_block(&[host(&[1.0; 5]), host(&[2.0; 5])]).unwrap();
        let y = exe.run(&[5], &[Argument::Device(block[0].clone()), Argument::Device(block[1].clone())]).unwrap();
        assert_eq!(read(&*d, &y[0]), [3.0; 5]);
    }
}

/// `x += x2` where the operator may write its input.
fn in_place() -> Written {
    let mut a = Assembly::new("add_", &[(Role::Input(0), Access::ReadWrite), (Role::Input(1), Access::Read)]);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 0);
    let x2 = a.tensor("x2", vec![n.clone()], 1);
    a.program.inputs = vec![x, x2];
    let i = || var(0);
    let body = vec![Stmt::Store { buffer: 0, index: i(), value: add(at(0, i()), at(1, i())) }];
    a.launch(&elementwise("add_", &[(DType::F32, 0), (DType::F32, 1)], body), n.clone(), groups(&n), &[x, x2]);
    a.output("x", x, Some(0));
    a.finish()
}

#[test]
fn operators_update_blocks_in_place_and_copies_otherwise() {
    for d in devices() {
        let exe = load(&*d, &in_place());
        // Both operands in one buffer, one written: WebGPU forbids binding it so; the executor copies.
        let block = d.allocate_block(&[host(&[1.0; 5]), host(&[2.0; 5])]).unwrap();
        let out = exe.run(&[5], &[Argument::Device(block[0].clone()), Argument::Device(block[1].clone())]).unwrap();
        assert!(Arc::ptr_eq(&out[0], &block[0]));
        assert_eq!(read(&*d, &block[0]), [3.0; 5]);
        let out = exe.run(&[5], &[Argument::Device(block[0].clone()), Argument::Device(block[0].clone())]).unwrap();
        assert_eq!(read(&*d, &out[0]), [6.0; 5]);
        let x = device(&*d, &[1.0; 5]);
        let out = exe.run(&[5], &[x.clone(), x.clone()]).unwrap();
        assert_eq!(read(&*d, &out[0]), [2.0; 5]);
        let Argument::Device(x) = x else { unreachable!() };
        assert_eq!(read(&*d, &x), [1.0; 5], "a tensor that is no state keeps its value");
    }
}

/// The new value of an input beside another tensor in one binding: copied into the block, or out to the caller.
#[test]
fn operators_deliver_updates_that_are_not_in_place() {
    let mut a = Assembly::new("sum_and_product", &[(Role::Input(0), Access::Read), (Role::Result(0), Access::ReadWrite)]);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 0);
    let sum = a.tensor("sum", vec![n.clone()], 1);
    let product = a.tensor("product", vec![n.clone()], 1);
    a.program.inputs = vec![x];
    let body = vec![
        Stmt::Store { buffer: 1, index: var(0), value: add(at(0, var(0)), at(0, var(0))) },
        Stmt::Store { buffer: 2, index: var(0), value: mul(at(0, var(0)), at(0, var(0))) },
    ];
    let kernel = elementwise("sum_and_product", &[(DType::F32, 0), (DType::F32, 1), (DType::F32, 1)], body);
    a.launch(&kernel, n.clone(), groups(&n), &[x, sum, product]);
    a.output("product", product, Some(0));
    a.output("sum", sum, None);
    let program = a.finish();
    for d in devices() {
        let exe = load(&*d, &program);
        let block = d.allocate_block(&[host(&[1.0; 3]), host(&[3.0; 5])]).unwrap();
        let out = exe.run(&[5], &[Argument::Device(block[1].clone())]).unwrap();
        assert!(Arc::ptr_eq(&out[0], &block[1]));
        assert_eq!(read(&*d, &block[1]), [9.0; 5]);
        assert_eq!(read(&*d, &block[0]), [1.0; 3]);
        assert_eq!(read(&*d, &out[1]), [6.0; 5]);
        let out = exe.run(&[5], &[host(&[4.0; 5])]).unwrap();
        assert_eq!((read(&*d, &out[0]), read(&*d, &out[1])), (vec![16.0; 5], vec![8.0; 5]));
    }
}

/// Sums with workgroup memory into one atomic total.
#[test]
fn reductions_and_atomics() {
    let v = var;
    let (params, i32_) = (vec!["n".to_string(), "x".to_string(), "y".to_string()], Ty::scalar(DType::I32));
    let f = F32;
    let buffer = |name: &str, binding, offset| KernelBuffer { name: name.into(), dtype: DType::F32, binding, offset: Some(offset) };
    let tree = Stmt::For {
        var: Var(3),
        start: int(0),
        end: int(6),
        step: int(1),
        body: vec![
            Stmt::Let(Var(4), op(ScalarOp::Shr, vec![int(32), v(3)])),
            Stmt::If {
                cond: lt(KExpr::LocalId(0), v(4)),
                then: vec![Stmt::StoreShared {
                    array: 0,
                    index: KExpr::LocalId(0),
                    value: add(
                        KExpr::Shared { array: 0, index: Box::new(KExpr::LocalId(0)) },
                        KExpr::Shared { array: 0, index: Box::new(add(KExpr::LocalId(0), v(4))) },
                    ),
                }],
                otherwise: vec![],
            },
            Stmt::Barrier,
        ],
    };
    let kernel = Kernel {
        name: "sum".into(),
        workgroup_size: [64, 1, 1],
        params,
        buffers: vec![buffer("x", 0, 1), buffer("y", 1, 2)],
        shared: vec![SharedArray { name: "partial".into(), ty: f, len: 64, view: None }],
        maps: vec![],
        vars: vec![i32_, f, i32_, i32_, i32_],
        body: vec![
            Stmt::Mut(Var(1), aludel_ir::kernel::f32c(0.0)),
            Stmt::For {
                var: Var(2),
                start: add(mul(KExpr::WorkgroupId(0), int(64)), KExpr::LocalId(0)),
                end: KExpr::Param(0),
                step: int(256),
                body: vec![Stmt::Assign(Var(1), add(v(1), at(0, v(2))))],
            },
            Stmt::StoreShared { array: 0, index: KExpr::LocalId(0), value: v(1) },
            Stmt::Barrier,
            tree,
            Stmt::If {
                cond: lt(KExpr::LocalId(0), int(1)),
                then: vec![Stmt::AtomicAdd { buffer: 1, index: int(0), value: KExpr::Shared { array: 0, index: Box::new(int(0)) } }],
                otherwise: vec![],
            },
        ],
    };
    let mut a = Assembly::new("sum", &[(Role::Input(0), Access::Read), (Role::Input(1), Access::ReadWrite)]);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 0);
    let y = a.tensor("y", vec![], 1);
    a.program.inputs = vec![x, y];
    a.launch(&kernel, n, Expr::Const(4), &[x, y]);
    a.output("y", y, Some(1));
    let program = a.finish();
    // On a CPU a workgroup is one thread, and its pieces share nothing.
    for d in devices().into_iter().filter(|d| !is_cpu(&**d)) {
        let out = load(&*d, &program).run(&[1000], &[host(&ramp(1000)), host(&[0.5])]).unwrap();
        assert_eq!(read(&*d, &out[0]), [499_500.5]);
    }
}

#[test]
fn mistakes_are_errors() {
    for d in devices() {
        let exe = load(&*d, &operator());
        let message = |e: Result<_, Error>| e.map(|_: Vec<_>| ()).unwrap_err().to_string();
        assert!(message(exe.run(&[5], &[host(&[1.0; 5])])).contains("1 given, 2 expected"));
        let wrong = message(exe.run(&[5], &[host(&[1.0; 5]), host(&[1.0; 6])]));
        assert!(wrong.contains("6 words given, 5 expected"), "{wrong}");
        assert!(message(exe.run(&[], &[])).contains("symbols"));
        let huge = message(exe.run(&[2_000_000_000], &[host(&[]), host(&[])]));
        // Some devices hold so much.
        assert!(huge.contains("the limit is") || huge.contains("2000000000 expected"), "{huge}");
        assert_eq!(read(&*d, &exe.run(&[1], &[host(&[1.0]), host(&[2.0])]).unwrap()[0]), [3.0], "errors leave the device usable");
        // Text that is no kernel.
        let mut broken = operator().program(&d.target().unwrap());
        broken.kernels[0].source = "fn main( {".into();
        broken.kernels[0].binary.truncate(4);
        // Where it compiles beside the caller, who waits hears of it, and who runs it.
        let broken = d.load(Arc::default(), Some(Arc::new(broken)));
        let run = broken
            .as_ref()
            .ok()
            .map(|exe| exe.run(&[1], &[host(&[1.0]), host(&[2.0])]).and_then(|out| pollster::block_on(d.download(&out[0]))));
        assert!(run.is_none_or(|r| r.is_err()), "a broken kernel ran");
        let e = broken.and_then(|_| pollster::block_on(d.ready())).unwrap_err().to_string();
        assert!(e.contains("kernel add"), "{e}");
        assert!(d.load(Arc::default(), None).is_err());
    }
    let mut two = devices().into_iter();
    if let (Some(a), Some(b)) = (two.next(), two.next()) {
        let exe = load(&*a, &operator());
        let e = exe.run(&[1], &[host(&[1.0]), device(&*b, &[1.0])]).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("another device"), "{e}");
    }
}

/// Loses the device by `destroy` and asks it for everything.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn lose(d: &dyn Executor, destroy: impl FnOnce()) {
    {
        let exe = load(d, &operator());
        let x = d.upload(&[0; 4]).unwrap();
        assert_eq!(d.lost(), None);
        destroy();
        assert!(d.lost().is_some());
        let e = exe.run(&[1], &[host(&[1.0]), host(&[2.0])]).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("lost") && e.contains("snapshot"), "{e}");
        assert!(pollster::block_on(d.download(&x)).is_err());
        assert!(pollster::block_on(d.throttle(0)).is_err());
        assert!(d.upload(&[1]).is_err());
    }
}

#[test]
#[cfg(feature = "wgpu")]
fn a_lost_adapter_says_so() {
    adapters().iter().for_each(|d| lose(d, || d.destroy()));
}

#[test]
#[cfg(feature = "cuda")]
fn a_lost_gpu_says_so() {
    gpus(Default::default()).iter().for_each(|d| lose(d, || d.destroy()));
}

#[test]
fn downloads_run_beside_the_work() {
    for d in devices() {
        let exe = load(&*d, &operator());
        let mut waiting = Vec::new();
        for i in 0..20 {
            let y = exe.run(&[3], &[host(&[i as f32; 3]), host(&[1.0; 3])]).unwrap();
            waiting.push(d.download(&y[0]));
        }
        // Awaited late, in another order, some never.
        for (i, w) in waiting.into_iter().enumerate().rev() {
            if i % 3 != 0 {
                let words = pollster::block_on(w).unwrap();
                assert_eq!(words, [(i as f32 + 1.0).to_bits(); 3]);
            }
        }
        assert_eq!(read(&*d, &d.upload(&[]).unwrap()), Vec::<f32>::new());
    }
}

#[test]
fn launches_are_timed() {
    for d in devices() {
        let exe = load(&*d, &step());
        let block = d.allocate_block(&[host(&ramp(100)), host(&[0.0; 100])]).unwrap();
        let inputs = [host(&[2.0; 100]), Argument::Device(block[0].clone()), host(&[0.5]), Argument::Device(block[1].clone())];
        match exe.run_timed(&[100], &inputs) {
            Ok((out, times)) => {
                let times = pollster::block_on(times).unwrap();
                assert_eq!(times.len(), 3);
                assert!(times.iter().all(|t| (0.0..10_000.0).contains(t)), "{times:?}");
                assert_eq!(read(&*d, &out[1])[0], -1.0);
            }
            Err(e) => assert!(!d.info().features.contains(&"timestamp-query".into()), "{e}"),
        }
    }
}
