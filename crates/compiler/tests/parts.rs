//! What leaving a part of the compiler out does to a program. That results stay the same is checked where kernels run.

mod steps;

use aludel_compiler::{MatmulPrecision, Options, Part, Parts, Target, compile};
use aludel_ir::program::{Program, Role};
use steps::{Optimizer, gpt};

fn program(target: &Target, parts: Parts) -> Program {
    let graph = gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW);
    compile(&graph, target, &Options { parts, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"))
}

/// Words of the arena; all sizes are known.
fn arena(p: &Program) -> i64 {
    let binding = p.bindings.iter().position(|b| b.role == Role::Arena).unwrap();
    let slots = p.slots.iter().filter(|s| s.binding == binding);
    slots.map(|s| s.offset.unwrap() + s.words.as_const().unwrap()).max().unwrap_or(0)
}

#[test]
fn every_part_changes_a_program() {
    let cuda = Target::cuda(90, MatmulPrecision::High);
    let web = Target::webgpu_default();
    let (usual, usual_web) = (program(&cuda, Parts::ALL), program(&web, Parts::ALL));
    let unchanged: Vec<_> = Part::ALL
        .into_iter()
        .filter(|part| {
            let rest = Parts::ALL.without(*part);
            program(&cuda, rest) == usual && program(&web, rest) == usual_web
        })
        .map(Part::name)
        .collect();
    // There are no convolutions and no pooling in this step, none of its products comes to the staged template on this target, its
    // pointwise work is too little for four elements at a time, and it neither sorts nor transforms.
    assert_eq!(unchanged, ["layout", "staging", "quads", "steps", "extremes", "windows", "stripes", "persistence"]);
}

#[test]
fn parts_save_what_they_say() {
    let web = Target::webgpu_default();
    let usual = program(&web, Parts::ALL);
    let without = |part| program(&web, Parts::ALL.without(part));
    let (shared, apart) = (arena(&usual), arena(&without(Part::SharedMemory)));
    assert!(apart > shared + shared / 4, "{apart} words apart, {shared} shared");
    for part in [Part::SharedLaunches, Part::Epilogues, Part::Rows] {
        let (more, fewer) = (without(part).launches.len(), usual.launches.len());
        assert!(more > fewer, "{part:?}: {more} launches without, {fewer} with");
    }
}

/// Launches of one operator with the steps of a workgroup in one kernel, and without.
#[test]
fn steps_of_a_row_are_one_kernel() {
    let cases = [
        ("%x: f32[64, 1024, 2]", "%y = fft(%x)", [1, 3]),
        // The roots of unity that put the halves together are computed beside.
        ("%x: f32[64, 1024]", "%y = rfft(%x)", [2, 5]),
        ("%x: f32[64, 1000]", "%y, %i = sort(%x)", [1, 9]),
        // Each chunk of 1024 keeps eight; then those of a row.
        ("%x: f32[64, 4096]", "%y, %i = topk(%x, k=8)", [2, 12]),
    ];
    for (input, body, launches) in cases {
        let graph = format!("graph g({input}) {{\n  {body}\n  return %y\n}}\n").parse().unwrap();
        let count = |parts| {
            let options = Options { parts, style: aludel_compiler::Style::Operator, ..Options::default() };
            compile(&graph, &Target::webgpu_default(), &options).unwrap_or_else(|e| panic!("{e}")).launches.len()
        };
        assert_eq!([count(Parts::ALL), count(Parts::ALL.without(Part::Steps))], launches, "{body}");
    }
}
