//! State in the host's memory that a GPU's kernels read and write. Skipped without a GPU.

use aludel_compiler::{Options, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::{Builder, DType, TensorType};
use aludel_runtime::{Argument, CudaExecutor, CudaOptions, Executor, Storage, cuda, decode, encode};
use std::sync::Arc;

/// `m = 0.9 m + g; w = w - 0.1 m`, where `m` is state of a kind.
fn step(n: usize, kind: InputKind) -> Graph {
    let mut b = Builder::new("step");
    let mut input = |name: &str, kind| b.graph.add_input(name, kind, TensorType::new(DType::F32, [n]));
    let (g, w, m) = (input("g", InputKind::Arg), input("w", InputKind::State), input("m", kind));
    let kept = b.mul_scalar(m, 0.9).unwrap();
    let m2 = b.add(kept, g).unwrap();
    let change = b.mul_scalar(m2, -0.1).unwrap();
    let w2 = b.add(w, change).unwrap();
    b.graph.add_output("w", w2, Some(1));
    b.graph.add_output("m", m2, Some(2));
    b.graph
}

fn read(device: &CudaExecutor, storage: &Storage) -> Vec<f64> {
    decode(&pollster::block_on(device.download(storage)).unwrap(), DType::F32)
}

#[test]
fn a_step_updates_state_in_the_hosts_memory_bit_for_bit() {
    if cuda::devices().is_empty() {
        return eprintln!("SKIPPED: no GPU of CUDA is here");
    }
    // Short uploads, and long ones that cross the bus beside kernels; values, and zeros, which are set.
    for (n, zeros) in [(100, false), (3 << 20, false), (3 << 20, true)] {
        let device = CudaExecutor::new(&CudaOptions::default()).unwrap();
        let numbers = |scale: f64| (0..n).map(|i| f64::from((((i * 7919) % 1009) as f64 * scale) as f32)).collect::<Vec<f64>>();
        let host = |values: &[f64]| Argument::Host(encode(values, DType::F32).into());
        let run = |kind: InputKind| {
            let (w, m) = (host(&numbers(0.25)), host(&if zeros { vec![0.0; n] } else { numbers(0.5) }));
            let before = device.stats().bytes_in_use;
            let (state, in_use) = match kind {
                InputKind::Offloaded => {
                    let here = device.allocate_state(&[(DType::F32, w)]).unwrap();
                    let in_use = device.stats().bytes_in_use - before;
                    ([here, device.allocate_offloaded(&[(DType::F32, m)]).unwrap()].concat(), in_use)
                }
                _ => (device.allocate_state(&[(DType::F32, w), (DType::F32, m)]).unwrap(), 0),
            };
            if kind == InputKind::Offloaded {
                assert_eq!(device.stats().bytes_in_use - before, in_use, "the host's memory is none of the device's");
            }
            let graph = step(n, kind);
            let program = Arc::new(compile(&graph, &device.target().unwrap(), &Options::default()).unwrap());
            let exe = device.load(Arc::new(graph), Some(program)).unwrap();
            let state: Vec<Argument> = state.into_iter().map(Argument::Device).collect();
            for i in 0..4 {
                let mut inputs = vec![host(&numbers(0.125 * f64::from(i)))];
                inputs.extend(state.iter().cloned());
                exe.run(&[], &inputs).unwrap();
            }
            let out: Vec<Vec<f64>> =
                state.iter().filter_map(|a| if let Argument::Device(s) = a { Some(read(&device, s)) } else { None }).collect();
            // Whoever holds a value keeps it while the range is updated.
            if let Argument::Device(s) = &state[1] {
                let new = device.evacuate(s).unwrap();
                assert!(read(&device, s) == out[1] && read(&device, &new) == out[1]);
            }
            out
        };
        assert!(run(InputKind::Offloaded) == run(InputKind::State), "{n} elements, zeros: {zeros}");
    }
}
