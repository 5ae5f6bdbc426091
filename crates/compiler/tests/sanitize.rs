//! Generated C under `-fsanitize=address,undefined`: training steps and random graphs, every binding an allocation of exactly
//! its size, run by a program of C that the test writes around the unit.

mod common;
mod steps;

use aludel_compiler::codegen::c;
use aludel_compiler::{Options, Style, Target, compile};
use aludel_ir::expr::Expr;
use aludel_ir::graph::Graph;
use aludel_ir::program::{Param, Program};
use aludel_ir::text::{parse_graph, print_graph};
use aludel_ir::{DType, Error};
use common::Rng;
use common::{generate, values};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use steps::{Optimizer, cnn, convolution, gpt, mlp};

/// The compiler; says so where there is none.
fn cc() -> Option<String> {
    let name = std::env::var("CC").unwrap_or("cc".into());
    let found = Command::new(&name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("SKIPPED: there is no `{name}`; install GCC or Clang to run generated C under sanitizers");
    }
    found.then_some(name)
}

/// A program of C that allocates the bindings, fills the inputs, and runs every piece of every launch in order.
/// With `hostile` integers there is every number that a program could be wrong about.
fn harness(p: &Program, sizes: &[i64], hostile: bool) -> Option<String> {
    let eval = |e: &Expr| p.eval(e, sizes);
    let (slots, bindings) = p.layout(sizes)?;
    let mut out = c::unit(p);
    out.push_str("\nextern void *malloc(unsigned long);\nextern void free(void *);\n\nint main(void) {\n");
    let _ = writeln!(out, "  u32 *b[{}];", bindings.len() + 1);
    for (i, words) in bindings.iter().enumerate() {
        // What nobody wrote yet is NaN, or an index out of every range.
        let _ = writeln!(out, "  b[{i}] = malloc({});", 4 * words);
        let _ = writeln!(out, "  for (i64 i = 0; i < {words}; i++) b[{i}][i] = 0xffffffffu;");
    }
    for placement in &p.inputs {
        let b = &p.placements[*placement];
        let (offset, count) = (slots[b.slot], eval(&Expr::product(&b.shape))?);
        let value = match b.dtype {
            DType::F32 => "((f32 *)x)[i] = (f32)(i * 37 % 101) / 128.0f - 0.25f",
            // Numbers around one.
            DType::F16 => "((u16 *)x)[i] = (u16)(0x3a00 + i * 37 % 1001)",
            DType::BF16 => "((u16 *)x)[i] = (u16)(0x3f00 + i * 37 % 101)",
            DType::Bool => "x[i] = i % 3 == 0",
            // Some beyond any range: indices are clamped where they are loaded.
            DType::I32 | DType::U32 if hostile => "x[i] = (u32[]){0, 1, 2, -1u, 1u << 31, ~0u >> 1, 7, 65536, -5u}[i % 9]",
            DType::I32 | DType::U32 => "x[i] = i % 7 == 6 ? 1u << 30 : (u32)(i % 5)",
        };
        let _ = writeln!(out, "  {{ u32 *x = b[{}] + {offset}; for (i64 i = 0; i < {count}; i++) {value}; }}", b.binding);
    }
    for l in &p.launches {
        let pieces: i64 = l.grid.iter().map(eval).product::<Option<i64>>()?;
        let row: Option<Vec<i64>> = l
            .params
            .iter()
            .map(|x| match x {
                Param::Size(e) => eval(e),
                Param::Offset(at) => Some(slots[p.placements[*at].slot]),
                Param::Part { placement, words } => Some(slots[p.placements[*placement].slot] + words),
            })
            .collect();
        let row = row?.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let bytes = p.kernels[l.kernel].shared_bytes.max(1);
        let _ = writeln!(out, "  {{\n    const i32 row[] = {{{row}{}0}};", if row.is_empty() { "" } else { ", " });
        let _ = writeln!(out, "    u8 *scratch = malloc({bytes});");
        let _ = writeln!(out, "    for (i64 i = 0; i < {bytes}; i++) scratch[i] = 0xff;");
        let _ = writeln!(out, "    for (u32 g = 0; g < {pieces}; g++) aludel_kernels[{}](b, row, g, scratch);", l.kernel);
        let _ = writeln!(out, "    free(scratch);\n  }}");
    }
    for i in 0..bindings.len() {
        let _ = writeln!(out, "  free(b[{i}]);");
    }
    out.push_str("  return 0;\n}\n");
    Some(out)
}

/// The complaint of the compiler or the sanitizers, if they have one.
fn complaint(cc: &str, name: &str, text: &str) -> Option<String> {
    let file: PathBuf = std::env::temp_dir().join(format!("aludel-sanitize-{}-{name}", std::process::id()));
    let source = file.with_extension("c");
    std::fs::write(&source, text).expect("a temporary file");
    let built = Command::new(cc)
        .args(["-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fwrapv"])
        .args(["-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-Wno-psabi", "-o"])
        .arg(&file)
        .arg(&source)
        .arg("-lm")
        .output()
        .expect("the compiler runs");
    let say = |o: &std::process::Output| (!o.status.success()).then(|| String::from_utf8_lossy(&o.stderr).chars().take(4000).collect());
    let out = say(&built).or_else(|| say(&Command::new(&file).output().expect("the program runs")));
    [source, file].iter().for_each(|f| drop(std::fs::remove_file(f)));
    out
}

fn check(cc: &str, name: &str, g: &Graph, sizes: &[i64], target: &Target, options: &Options) -> Result<(), Error> {
    let program = compile(g, target, options)?;
    let text = harness(&program, sizes, false).unwrap_or_else(|| panic!("{name}: no layout"));
    if let Some(problem) = complaint(cc, name, &text) {
        panic!("{name} for {} lanes:\n{problem}\n{g}", target.vector_lanes);
    }
    Ok(())
}

fn targets() -> [Target; 2] {
    [(16, 32), (8, 16)].map(|(vector_lanes, vector_registers)| Target { vector_lanes, vector_registers, ..Target::cpu() })
}

#[test]
fn training_steps_are_clean() {
    let Some(cc) = cc() else { return };
    for (i, target) in targets().iter().enumerate() {
        let all = [
            ("mlp", mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), vec![]),
            ("odd_mlp", mlp(&[7, 33, 5, 3], 13, false, Optimizer::Sgd), vec![]),
            ("symbolic_mlp", mlp(&[24, 40, 10], 64, true, Optimizer::AdamW), vec![37]),
            ("convolution", convolution(2, 1, 2), vec![]),
            ("cnn", cnn(3, Optimizer::AdamW), vec![]),
            ("deep_mlp", mlp(&[20, 48, 10], 700, false, Optimizer::Sgd), vec![]),
            ("gpt", gpt(13, 16, 32, 2, 4, 4, Optimizer::AdamW), vec![]),
        ];
        // The second target differs in the products' tiles, which the small models have too.
        for (name, g, sizes) in all.iter().take(if i == 0 { all.len() } else { 5 }) {
            check(&cc, &format!("{name}{i}"), g, sizes, target, &Options { fuse: i == 0, ..Options::default() }).unwrap();
        }
    }
}

#[test]
fn random_graphs_are_clean() {
    let Some(cc) = cc() else { return };
    let mut checked = 0;
    for seed in 0..16 {
        let mut rng = Rng::new(1000 + seed);
        let (symbolic, gradients) = (seed % 4 == 3, seed % 2 == 0);
        let style = generate::Style {
            symbolic,
            gradients,
            jumps: false,
            sizes: [generate::Sizes::Small, generate::Sizes::Large, generate::Sizes::Wild][seed as usize % 3],
            length: 2 + (seed % 7) as usize,
        };
        let g = generate::graph(&mut rng, style);
        let sizes = values::hints(&g);
        let target = &targets()[seed as usize / 2 % 2];
        // Each tensor in memory of its own, where one that is left is noticed.
        let options = Options { style: Style::Operator, ..Options::default() };
        if check(&cc, &format!("random{seed}"), &g, &sizes, target, &options).is_ok() {
            checked += 1;
        }
    }
    assert!(checked > 8, "only {checked} graphs ran");
}

/// A graph that a stranger might send: one of the fuzzer's or a random one, changed until it is another that verifies.
fn stranger(rng: &mut Rng, corpus: &[String]) -> Option<Graph> {
    let style = generate::Style {
        symbolic: false,
        gradients: rng.below(2) == 0,
        jumps: false,
        sizes: *rng.pick(&[generate::Sizes::Small, generate::Sizes::Small, generate::Sizes::Wild]),
        length: 2 + rng.below(7),
    };
    let text = if rng.below(3) == 0 { rng.pick(corpus).clone() } else { print_graph(&generate::graph(rng, style)) };
    // Without the types of results, which are inferred, what is changed in one place changes all that follows. Few changes leave a graph,
    // so there are many tries; the last that was one is it.
    let lines = text.lines().map(|l| if l.trim_start().starts_with('%') { l.split(" : ").next().unwrap_or(l) } else { l });
    let (mut found, mut text) = (None, lines.collect::<Vec<_>>().join("\n"));
    for _ in 0..60 {
        let changed = common::mutate(&text, rng);
        let graph = parse_graph(&changed).ok().filter(|g| g.env.symbols.is_empty() && g.verify().is_ok());
        let elements = |g: &Graph| g.types.iter().map(|t| t.numel().as_const().map_or(f64::INFINITY, |n| n as f64)).sum::<f64>();
        if let Some(graph) = graph.filter(|g| elements(g) < 1e6 && g.total_nodes() < 64) {
            (found, text) = (Some(graph), changed);
        }
    }
    found
}

/// The graphs that strangers might send, on the numbers that programs are wrong about. `ALUDEL_ENDURANCE` scales how many.
#[test]
#[ignore = "needs minutes: cargo test -p aludel-compiler --test sanitize thousand -- --ignored --nocapture"]
fn a_thousand_hostile_graphs_are_clean() {
    let Some(cc) = cc() else { return };
    let scale = std::env::var("ALUDEL_ENDURANCE").ok().and_then(|s| s.parse::<f64>().ok()).unwrap_or(1.0);
    let (want, done) = ((1000.0 * scale).ceil() as usize, AtomicUsize::new(0));
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/graph");
    let files = std::fs::read_dir(dir).expect("the fuzzer's graphs").flatten();
    let mut corpus: Vec<String> = files.filter_map(|f| std::fs::read_to_string(f.path()).ok()).collect();
    corpus.retain(|t| parse_graph(t).is_ok());
    corpus.sort();
    assert!(!corpus.is_empty());
    let work = |thread: usize| {
        let (mut rng, mut refused) = (Rng::new(7 + thread as u64), 0);
        while done.load(Ordering::Relaxed) < want {
            let Some(graph) = stranger(&mut rng, &corpus) else { continue };
            let style = *rng.pick(&[Style::Operator, Style::Step]);
            let target = &targets()[rng.below(2)];
            let Ok(program) = compile(&graph, target, &Options { style, ..Options::default() }) else {
                refused += 1;
                continue;
            };
            let Some(text) = harness(&program, &[], true) else { continue };
            let k = done.fetch_add(1, Ordering::Relaxed);
            if let Some(problem) = complaint(&cc, &format!("stranger{k}"), &text) {
                panic!("{problem}\n{}", print_graph(&graph));
            }
        }
        refused
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let refused: usize = std::thread::scope(|s| {
        let all: Vec<_> = (0..threads).map(|k| s.spawn(move || work(k))).collect();
        all.into_iter().map(|t| t.join().expect("no report")).sum()
    });
    println!("{} graphs under -fsanitize=address,undefined without a report; {refused} were refused", done.load(Ordering::Relaxed));
}
