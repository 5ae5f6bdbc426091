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
    // pointwise work and its sums are too little for four elements at a time, and it neither sorts nor transforms. Its rows are multiples
    // of 16 bytes, nothing reads a product by slices, and query, key and value come of products of their own.
    let several = ["layout", "staging", "quads", "steps", "extremes", "windows", "stripes"];
    assert_eq!(unchanged, [&several[..], &["padding", "slices", "once", "concatenation", "persistence"]].concat());
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

/// A step's program on an H200 with a part and without.
fn with_and_without(text: &str, part: Part) -> [Program; 2] {
    let graph = text.parse().unwrap_or_else(|e| panic!("{e}"));
    [Parts::ALL, Parts::ALL.without(part)].map(|parts| {
        let options = Options { parts, ..Options::default() };
        compile(&graph, &Target::cuda(90, MatmulPrecision::Highest), &options).unwrap_or_else(|e| panic!("{e}"))
    })
}

/// A softmax divides by its sum once for each row; e to a power known to 16 bits is one instruction of what may be seven.
#[test]
fn rows_are_made_of_cheap_operations() {
    let text = |dtype: &str| format!("graph g(%x: {dtype}[64, 4096]) {{\n  %f = to(%x, dtype=f32)\n  %y = softmax(%f)\n  return %y\n}}\n");
    let counts = |dtype: &str, what: &str| {
        let program = |p: Program| p.kernels.iter().map(|k| k.source.matches(what).count()).sum::<usize>();
        with_and_without(&text(dtype), Part::Strength).map(program)
    };
    for dtype in ["f32", "bf16"] {
        let [with, without] = counts(dtype, "div.rn.f32");
        assert!(with == 0 && without > 0, "{dtype}: {with} divisions, {without} without");
    }
    let [with, without] = counts("bf16", "ex2.approx.f32");
    assert!(with == 0 && without > 0, "{with} exponentials with their correction, {without} without");
    assert_eq!(counts("f32", "ex2.approx.ftz.f32"), [0, 0], "what is known to 24 bits keeps it");
}

/// Each step of a layer but the first, whose state is zero: the parts of a product, and the cell, which adds them; by itself their sum is a
/// launch more.
#[test]
fn gates_are_added_where_they_are_read() {
    let lstm = "graph g(%p: bf16[5, 20, 2600], %wh: bf16[2600, 650]) {
  %y, %h, %c, %cs, %gates = lstm(%p, %wh, reverse=false)
  return %y, %gates
}
";
    let [with, without] = with_and_without(lstm, Part::Slices).map(|p| p.launches.len());
    assert_eq!(without - with, 4, "{without} launches without, {with} with");
}

/// Rows of 130 bytes and of 1300 are no place for copies of 16; those of the temporaries that a product reads are made longer.
#[test]
fn rows_that_products_read_are_aligned() {
    let text = "graph g(%x: f32[4096, 65], %w: f32[384, 65]) {
  %a = to(%x, dtype=bf16)
  %b = to(%w, dtype=bf16)
  %y = linear(%a, %b)
  return %y
}
";
    let maps = with_and_without(text, Part::Padding).map(|p| p.launches.iter().map(|l| l.maps.len()).sum::<usize>());
    assert_eq!(maps, [2, 0]);
}

/// The gradients of query, key and value are thirds of what the backward pass of the product before them reads.
#[test]
fn what_is_put_side_by_side_is_stored_there() {
    let text = "graph g(%x: bf16[4, 256, 128], %w: bf16[384, 128]) {
  %p = linear(%x, %w)
  %q0, %k0, %v0 = split(%p, dim=-1, split_size_or_sections=128)
  %q1 = reshape(%q0, shape=[4, 256, 2, 64])
  %k1 = reshape(%k0, shape=[4, 256, 2, 64])
  %v1 = reshape(%v0, shape=[4, 256, 2, 64])
  %q = transpose(%q1, dim0=1, dim1=2)
  %k = transpose(%k1, dim0=1, dim1=2)
  %v = transpose(%v1, dim0=1, dim1=2)
  %a = scaled_dot_product_attention(%q, %k, %v, is_causal=true)
  %f = to(%a, dtype=f32)
  %l = sum(%f)
  %dx, %dw = grad(%l, wrt=[%x, %w])
  return %dx, %dw
}
";
    let [with, without] = with_and_without(text, Part::Concatenation).map(|p| p.launches.len());
    assert_eq!(without - with, 1, "{without} launches without, {with} with");
}

/// Attention's result is wanted by the product that follows, heads side by side, and as it is by what weighs it.
#[test]
fn what_two_layouts_have_is_stored_once() {
    let text =
        "graph g(%q: bf16[4, 2, 256, 64], %k: bf16[4, 2, 256, 64], %v: bf16[4, 2, 256, 64], %dy: bf16[4, 2, 256, 64], %w: bf16[128, 128]) {
  %a = scaled_dot_product_attention(%q, %k, %v, is_causal=true)
  %t = transpose(%a, dim0=1, dim1=2)
  %r = reshape(%t, shape=[4, 256, 128])
  %y = linear(%r, %w)
  %m = mul(%a, %dy)
  %s = sum(%m, dim=-1)
  return %y, %s
}
";
    let moved = |p: &Program| p.launches.iter().map(|l| l.bytes.as_const().unwrap_or(0)).sum::<i64>();
    let [with, without] = with_and_without(text, Part::Once);
    assert_eq!(with.launches.len(), without.launches.len());
    // A tensor of 16 bits.
    assert_eq!(moved(&without) - moved(&with), 2 * 4 * 2 * 256 * 64);
}
