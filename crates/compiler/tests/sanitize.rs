//! Generated C under `-fsanitize=address,undefined`: training steps and random graphs, every binding an allocation of exactly
//! its size, run by a program of C that the test writes around the unit.

mod common;
mod steps;

use aludel_compiler::codegen::c;
use aludel_compiler::{Options, Style, Target, compile};
use aludel_ir::expr::Expr;
use aludel_ir::graph::Graph;
use aludel_ir::program::{Param, Program};
use aludel_ir::{DType, Error};
use common::Rng;
use common::{generate, values};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
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
fn harness(p: &Program, sizes: &[i64]) -> Option<String> {
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
    let text = harness(&program, sizes).unwrap_or_else(|| panic!("{name}: no layout"));
    if let Some(problem) = complaint(cc, name, &text) {
        panic!("{name} for {} lanes:\n{problem}\n{g}", target.vector_lanes);
    }
    Ok(())
}

fn targets() -> [Target; 2] {
    [16, 8].map(|vector_lanes| Target { vector_lanes, ..Target::cpu() })
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
