//! Every PTX kernel of the golden cases and of the training steps passes `ptxas`, for compute capability 8.0 and 9.0a.
//!
//! `ptxas` is `$PTXAS`, that on the PATH, or the one that `cargo xtask ptxas` puts under the target directory; without any, the
//! test says that it was skipped.

mod steps;

use aludel_compiler::autodiff::expand_grads;
use aludel_compiler::{MatmulPrecision, Options, Part, Parts, Target, compile};
use aludel_ir::graph::InputKind;
use aludel_ir::{Attrs, Builder, DType, Graph, TensorType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use steps::{Optimizer, gpt, mlp};

fn ptxas() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let mut places: Vec<PathBuf> = std::env::var_os("PTXAS").map(PathBuf::from).into_iter().collect();
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).map(|p| p.join("ptxas")));
    places.push(target.join("ptxas/nvidia/cu13/bin/ptxas"));
    places.push(root.join("target/ptxas/nvidia/cu13/bin/ptxas"));
    places.into_iter().find(|p| p.is_file())
}

/// The golden cases and small steps; `large` ones too, whose products have templates of their own.
fn graphs(large: bool) -> Vec<(String, Graph)> {
    let mut out = Vec::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    for pass in ["wgsl", "ptx", "plan", "kernels", "decompose", "autodiff"] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(golden.join(pass)).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a readable case").replace("\r\n", "\n");
            let input = text.split_once("\n----\n").map_or(text.as_str(), |t| t.0);
            if let Ok(g) = format!("{input}\n").parse::<Graph>() {
                out.push((format!("{pass}/{}", file.file_stem().unwrap_or_default().to_string_lossy()), g));
            }
        }
    }
    out.push(("mlp".into(), mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW)));
    out.push(("mlp, symbolic".into(), mlp(&[64, 128, 128, 10], 64, true, Optimizer::Sgd)));
    out.push(("gpt".into(), gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW)));
    if large {
        out.push(("mlp, large".into(), mlp(&[784, 1024, 1024, 10], 1024, false, Optimizer::AdamW)));
        out.extend(products());
        out.extend(attentions());
        out.push(("resnet50, two stages".into(), steps::convolutional::resnet50(32, 224, 2, DType::BF16)));
        out.push(("gpt, large".into(), gpt(65, 256, 384, 1, 6, 64, Optimizer::AdamW)));
    }
    out
}

/// Products in every layout and of sizes that take each shape of tiles.
fn products() -> Vec<(String, Graph)> {
    let mut out = Vec::new();
    for (dtype, n) in [(DType::F32, 512i64), (DType::F32, 4096), (DType::BF16, 1024), (DType::F16, 2048)] {
        for layout in 0..4 {
            let mut b = Builder::new("product");
            let mut factor = |name: &str| b.graph.add_input(name, InputKind::Arg, TensorType::new(dtype, [n, n]));
            let (x, y) = (factor("x"), factor("y"));
            let z = b.contract(x, y, &[], &[(layout / 2, layout % 2)]).expect("a product");
            b.graph.add_output("z", z, None);
            out.push((format!("product of {dtype} {n}, layout {layout}"), b.graph));
        }
    }
    out
}

/// Attention forward and backward in shapes that take each template of warpgroups, and what may come with columns.
fn attentions() -> Vec<(String, Graph)> {
    let mut out = Vec::new();
    for (features, length, heads, causal, mask) in
        [(64, 384, 2, true, false), (128, 512, 1, false, false), (128, 300, 2, true, true), (80, 200, 2, false, true)]
    {
        let mut b = Builder::new("attention");
        let arg =
            |b: &mut Builder, name: &str, dtype, shape: [i64; 4]| b.graph.add_input(name, InputKind::Arg, TensorType::new(dtype, shape));
        let q = arg(&mut b, "q", DType::BF16, [2, heads, length, features]);
        let x = ["k", "v"].map(|n| arg(&mut b, n, DType::BF16, [2, 1, length, features]));
        let mut operands = vec![q, x[0], x[1]];
        if mask {
            operands.push(arg(&mut b, "mask", DType::F32, [2, 1, length, length]));
        }
        let attrs = Attrs::new().with("is_causal", causal).with("enable_gqa", heads > 1);
        let row = aludel_ir::ops::find("scaled_dot_product_attention").expect("an operator");
        let y = b.operator(row, &operands, &attrs).expect("attention")[0];
        let y = b.cast(y, DType::F32).expect("a cast");
        let y = b.mul(y, y).expect("a product");
        let loss = b.sum(y, &[0, 1, 2, 3], false).expect("a sum");
        for g in b.grad(loss, &[q, x[0], x[1]]).expect("gradients") {
            b.graph.add_output("g", g, None);
        }
        let name = format!("attention, {length} x {features}, {heads} heads, causal {causal}, mask {mask}");
        out.push((name, expand_grads(&b.graph).expect("a backward pass")));
    }
    out
}

/// All kernels as one module: their entries numbered.
fn module(sources: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    for (i, source) in sources.keys().enumerate() {
        let (head, body) = source.split_once(".visible .entry kernel(").expect("an entry");
        if i == 0 {
            out.push_str(head.split("\n\n").next().unwrap_or_default());
            out.push_str("\n\n.extern .shared .align 1024 .b8 dynamic[];\n\n");
        }
        out.push_str(&format!(".visible .entry kernel{i}({body}\n"));
    }
    out
}

/// Bytes of registers that a thread may keep in memory: a few, outside of the inner loop, cost nothing that could be measured.
const MAX_SPILLED: u32 = 256;

fn assembles(capability: u32, arch: &str) {
    let Some(ptxas) = ptxas() else {
        eprintln!("SKIPPED: there is no ptxas; `cargo xtask ptxas` brings one");
        return;
    };
    // Kernels by their text: equal ones of several programs are assembled once.
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for (name, g) in graphs(capability >= 90) {
        for precision in [MatmulPrecision::Highest, MatmulPrecision::High] {
            // Cases of errors have no program.
            let Ok(p) = compile(&g, &Target::cuda(capability, precision), &Options::default()) else { continue };
            for k in p.kernels {
                sources.entry(k.source).or_insert_with(|| format!("{name}: {}", k.name));
            }
        }
    }
    assert!(sources.len() > 60, "{} kernels", sources.len());
    let directory = std::env::temp_dir().join(format!("aludel-ptx-{}-{arch}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let file = directory.join("kernels.ptx");
    std::fs::write(&file, module(&sources)).expect("a writable file");
    let out = Command::new(&ptxas)
        .args(["-v", "--split-compile=2", &format!("-arch={arch}"), "-o", "/dev/null"])
        .arg(&file)
        .output()
        .expect("ptxas runs");
    let said = String::from_utf8_lossy(&out.stderr);
    if std::env::var_os("KEEP_PTX").is_none() {
        drop(std::fs::remove_dir_all(&directory));
    }
    let names: Vec<&String> = sources.values().collect();
    assert!(out.status.success(), "{}\n{said}", said.lines().filter(|l| l.contains("error")).take(20).collect::<Vec<_>>().join("\n"));
    // Registers that do not fit go to memory: never in a kernel whose inner loop counts.
    let mut current = String::new();
    for line in said.lines() {
        if let Some(rest) = line.split("Compiling entry function 'kernel").nth(1) {
            let i: usize = rest.split('\'').next().and_then(|n| n.parse().ok()).expect("a kernel's number");
            current = names[i].clone();
        }
        let spilled = line.split(" bytes spill stores").next().and_then(|l| l.rsplit(' ').next()?.parse::<u32>().ok());
        assert!(spilled.is_none_or(|bytes| bytes <= MAX_SPILLED), "{current} spills: {line}");
    }
}

#[test]
fn ampere() {
    assembles(80, "sm_80");
}

#[test]
fn hopper() {
    assembles(90, "sm_90a");
}

/// Hopper's products are those of warpgroups, with bulk copies where layouts allow; others have none of either.
#[test]
fn warpgroups_multiply_on_hopper_alone() {
    for (name, g) in products() {
        for capability in [80, 90, 100] {
            let p = compile(&g, &Target::cuda(capability, MatmulPrecision::High), &Options::default()).expect("a program");
            let source = &p.kernels[0].source;
            assert_eq!(source.contains("wgmma.mma_async"), capability == 90, "{name} on {capability}");
            assert_eq!(p.launches[0].maps.len(), if capability == 90 { 2 } else { 0 }, "{name} on {capability}");
        }
    }
}

/// A kernel with matrix units and asynchronous copies is PTX, and a typed error in the other languages.
/// From Hopper on a kernel waits itself for the launches before it, once, and touches no memory before.
#[test]
fn kernels_wait_for_what_comes_before() {
    let graph = mlp(&[64, 32, 10], 8, false, Optimizer::Sgd);
    let compiled = |capability: u32, options: &Options| compile(&graph, &Target::cuda(capability, MatmulPrecision::High), options).unwrap();
    let p = compiled(90, &Options::default());
    for k in &p.kernels {
        let (before, after) = k.source.split_once("griddepcontrol.wait;").expect("a kernel that waits");
        assert!(
            k.waits && !after.contains("griddepcontrol") && !before.contains("d.global") && !before.contains("st.global"),
            "{}",
            k.source
        );
    }
    for p in [compiled(80, &Options::default()), compiled(90, &Options { parts: Parts::ALL.without(Part::Overlap), ..Options::default() })]
    {
        assert!(p.kernels.iter().all(|k| !k.waits && !k.source.contains("griddepcontrol")));
    }
}

#[test]
fn other_languages_refuse_matrix_units() {
    let text = include_str!("../../../tests/golden/text/kernel_units.txt");
    let kernel: aludel_ir::kernel::Kernel = text.split_once("\n----\n").expect("a case").0.parse().expect("a kernel");
    let print = |target: &Target| aludel_compiler::codegen::print(&kernel, target, &[None, None], &[]).map(|p| p.source);
    let ptx = print(&Target::cuda(80, MatmulPrecision::High)).expect("PTX");
    for instruction in ["cp.async.cg", "cp.async.ca", "mma.sync.aligned.m16n8k8", "shfl.sync.bfly", "ld.shared.v4"] {
        assert!(ptx.contains(instruction), "{instruction} is missing:\n{ptx}");
    }
    for target in [Target::webgpu_default(), Target::cpu()] {
        let refusal = print(&target).expect_err("a refusal").to_string();
        assert!(refusal.contains("subgroup operations"), "{refusal}");
    }
}

/// A kernel of warpgroups is PTX for Hopper, and a typed error elsewhere.
#[test]
fn others_refuse_warpgroups() {
    let text = include_str!("../../../tests/golden/text/kernel_warpgroups.txt");
    let kernel: aludel_ir::kernel::Kernel = text.split_once("\n----\n").expect("a case").0.parse().expect("a kernel");
    let print = |target: &Target| aludel_compiler::codegen::print(&kernel, target, &[None, None], &[]).map(|p| p.source);
    let ptx = print(&Target::cuda(90, MatmulPrecision::High)).expect("PTX");
    let all = [
        ".target sm_90a",
        ".param .align 64 .b8 m0[128]",
        "mbarrier.init.shared.b64",
        "mbarrier.arrive.expect_tx",
        "mbarrier.try_wait.parity",
        "cp.async.bulk.tensor.2d",
        "fence.proxy.async",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
        "wgmma.commit_group",
        "wgmma.wait_group",
        "bar.sync 1, 256",
    ];
    for instruction in all {
        assert!(ptx.contains(instruction), "{instruction} is missing:\n{ptx}");
    }
    for target in
        [Target::webgpu_default(), Target::cpu(), Target::cuda(80, MatmulPrecision::High), Target::cuda(100, MatmulPrecision::High)]
    {
        let refusal = print(&target).expect_err("a refusal").to_string();
        assert!(refusal.contains("schedule it for a target that has them"), "{refusal}");
    }
}

fn hopper_program(text: &str) -> aludel_ir::program::Program {
    let graph: Graph = text.parse().expect("a graph");
    let graph = expand_grads(&graph).expect("gradients");
    compile(&graph, &Target::cuda(90, MatmulPrecision::High), &Options::default()).expect("a program")
}

/// Of a short sum of many tiles, as many workgroups as multiprocessors compute all, and their warpgroups take turns; not where something
/// is read for each result, nor where there are fewer tiles than multiprocessors.
#[test]
fn short_sums_take_turns() {
    let linear = |rows: i64, residual: &str| {
        let text = format!(
            "graph g(%x: bf16[{rows}, 384], %w: bf16[1536, 384], %r: bf16[{rows}, 1536]) {{
  %y = linear(%x, %w)
  {residual}
}}
"
        );
        let p = hopper_program(&text);
        let launch = p.launches.iter().find(|l| l.label.contains("linear")).expect("a product");
        (launch.grid[0].as_const(), p.kernels[launch.kernel].source.contains("bar.arrive"))
    };
    assert_eq!(linear(16384, "return %y"), (Some(132), true));
    let (groups, turns) = linear(16384, "%z = add(%y, %r)\n  return %z");
    assert!(groups > Some(132) && !turns, "{groups:?}");
    assert!(!linear(1024, "return %y").1);
}

/// The windows of a first layer are brought by the copy engine where their rows fill enough of a run, forward and for the weights'
/// gradient, and the image is written once for both.
#[test]
fn first_layers_read_runs() {
    let conv = |kernel: i64, step: i64, padding: i64| {
        let p = hopper_program(&format!(
            "graph g(%x: bf16[128, 3, 64, 64], %w: bf16[64, 3, {kernel}, {kernel}], %v: bf16[64, 64, 1, 1]) {{
  %y = conv2d(%x, %w, stride={step}, padding={padding})
  %z = conv2d(%y, %v)
  %r = relu(%z)
  %l = sum(%r)
  %dw = grad(%l, wrt=[%w])
  return %y, %dw
}}
"
        ));
        let windows = |l: &aludel_ir::program::Launch| l.maps.iter().filter(|m| m.windows.is_some()).count();
        p.launches.iter().map(windows).sum::<usize>()
    };
    assert_eq!((conv(7, 2, 3), conv(3, 1, 1)), (2, 0));
}
