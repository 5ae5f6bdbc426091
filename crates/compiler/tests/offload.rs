//! State that lies in the host's memory: where a step has it, on each target.

use aludel_compiler::scale::{offloaded_bytes, state_bytes};
use aludel_compiler::{MatmulPrecision, Options, Target, compile};
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::program::Role;
use aludel_ir::{Builder, DType, TensorType};

const N: usize = 1000;

/// A step of momentum: `m = 0.9 m + g; w = w - 0.1 m`, and a buffer that nothing updates.
fn step() -> Graph {
    let mut b = Builder::new("step");
    let ty = || TensorType::new(DType::F32, [N, N]);
    let g = b.graph.add_input("g", InputKind::Arg, ty());
    let w = b.graph.add_input("w", InputKind::State, ty());
    let m = b.graph.add_input("m", InputKind::Offloaded, ty());
    let c = b.graph.add_input("c", InputKind::State, TensorType::new(DType::F32, [N]));
    let kept = b.mul_scalar(m, 0.9).unwrap();
    let m2 = b.add(kept, g).unwrap();
    let step = b.mul_scalar(m2, -0.1).unwrap();
    let w2 = b.add(w, step).unwrap();
    let w2 = b.add(w2, c).unwrap();
    b.graph.add_output("w", w2, Some(1));
    b.graph.add_output("m", m2, Some(2));
    b.graph
}

#[test]
fn offloaded_state_has_a_binding_of_its_own_where_kernels_reach_it() {
    let graph = step();
    let of = |t: &Target| compile(&graph, t, &Options::default()).unwrap();
    let (whole, buffer) = ((N * N * 4) as u64, (N * 4) as u64);
    let cuda = of(&Target::cuda(90, MatmulPrecision::Highest));
    let role = |p: &aludel_ir::program::Program, i: usize| p.bindings[p.placements[p.inputs[i]].binding].role;
    assert_eq!([0, 1, 2, 3].map(|i| role(&cuda, i)), [Role::Inputs, Role::State, Role::Offloaded, Role::State]);
    let (here, away) = (state_bytes(&cuda).unwrap(), offloaded_bytes(&cuda).unwrap());
    assert!((whole + buffer..whole + buffer + 512).contains(&here) && (whole..whole + 256).contains(&away), "{here}, {away}");
    // One kernel updates both, in place.
    assert_eq!(cuda.launches.len(), 1);
    assert!(cuda.outputs.iter().all(|o| o.updates.map(|i| cuda.inputs[i]) == Some(o.placement)));
    let cpu = of(&Target::cpu());
    assert_eq!([1, 2, 3].map(|i| role(&cpu, i)), [Role::State; 3]);
    assert_eq!(offloaded_bytes(&cpu), Some(0));
}

#[test]
fn its_text_says_so() {
    let text = step().to_string();
    assert!(text.contains("offloaded %m: f32[1000, 1000]"), "{text}");
    assert_eq!(aludel_ir::text::parse_graph(&text).unwrap().to_string(), text);
}
