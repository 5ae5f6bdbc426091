//! Random graphs: every form that a pass gives one computes the same.

use aludel_compiler::autodiff::{decompose, expand_grads};
use aludel_compiler::partition::partition;
use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};

mod common;
use common::Rng;
use common::generate::{Sizes, Style, graph};
use common::shrink::shrink;
use common::values::{differ, hints, inputs};

fn run(g: &Graph, sizes: &[i64]) -> Result<Vec<HostTensor>, String> {
    let interpreter = Interpreter::new(g).map_err(|e| e.to_string())?;
    interpreter.run(sizes, &inputs(g, sizes), Precision::F64).map_err(|e| e.to_string())
}

/// Checks a property of many random graphs; a failure is shrunk and shown as text.
fn check(name: &str, cases: u64, style: impl Fn(u64) -> Style, fails: &dyn Fn(&Graph) -> Option<String>) {
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    for seed in 0..cases {
        let g = graph(&mut Rng::new(seed), style(seed));
        g.verify().unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}\n{g}"));
        if fails(&g).is_some() {
            let (small, reason) = shrink(&g, fails);
            panic!("{name}, seed {seed}: {reason}\n{small}");
        }
    }
}

fn styles(seed: u64) -> Style {
    Style {
        symbolic: seed % 2 == 1,
        gradients: seed % 4 < 2,
        jumps: true,
        sizes: if seed % 8 == 7 { Sizes::Large } else { Sizes::Small },
        length: 3 + (seed % 10) as usize,
    }
}

fn joint(seed: u64) -> Style {
    Style { gradients: true, ..styles(seed) }
}

/// Sizes to run a graph with: the hints, and others that its guards allow.
fn sizes(g: &Graph) -> Vec<Vec<i64>> {
    let hints = hints(g);
    let mut out = vec![hints.clone()];
    for step in [1, 3] {
        let other: Vec<i64> = hints.iter().map(|h| h + step).collect();
        if !hints.is_empty() && g.env.broken_guard(&other).is_none() {
            out.push(other);
        }
    }
    out
}

/// The reason why `other` does not compute what `g` does.
fn unlike(g: &Graph, other: &Graph) -> Option<String> {
    if let Err(e) = other.verify() {
        return Some(format!("{e}\n{other}"));
    }
    for sizes in sizes(other) {
        match (run(g, &sizes), run(other, &sizes)) {
            (Ok(a), Ok(b)) => {
                if let Some(d) = differ(&a, &b, 1e-9) {
                    return Some(format!("sizes {sizes:?}: {d}\n{other}"));
                }
            }
            (Ok(_), Err(e)) => return Some(format!("sizes {sizes:?}: {e}\n{other}")),
            (Err(e), _) => return Some(format!("sizes {sizes:?}: {e}")),
        }
    }
    None
}

#[test]
fn texts_round_trip() {
    check("text", 150, styles, &|g| {
        let text = g.to_string();
        let parsed: Graph = match text.parse() {
            Ok(p) => p,
            Err(e) => return Some(format!("{e}")),
        };
        (parsed != *g || parsed.to_string() != text).then(|| format!("printed again:\n{parsed}"))
    });
}

#[test]
fn decomposition_computes_the_same() {
    check("decompose", 150, |seed| Style { gradients: false, ..styles(seed) }, &|g| match decompose(g) {
        Ok(prims) => unlike(g, &prims),
        Err(e) => Some(e.to_string()),
    });
}

fn joint_prims(g: &Graph) -> Result<(Graph, Graph), String> {
    let joint = expand_grads(g).map_err(|e| e.to_string())?;
    joint.verify().map_err(|e| format!("{e}\n{joint}"))?;
    let prims = decompose(&joint).map_err(|e| e.to_string())?;
    Ok((joint, prims))
}

#[test]
fn gradients_decompose_to_the_same() {
    check("autodiff", 100, joint, &|g| match joint_prims(g) {
        Ok((joint, prims)) => unlike(&joint, &prims),
        Err(e) => Some(e),
    });
}

#[test]
fn any_memory_budget_computes_the_same() {
    check("partition", 60, joint, &|g| {
        let prims = match joint_prims(g) {
            Ok((_, prims)) => prims,
            Err(e) => return Some(e),
        };
        let mut before = u64::MAX;
        for budget in [1.0, 0.7, 0.3, 0.0] {
            let (new, report) = match partition(&prims, budget) {
                Ok(p) => p,
                Err(e) => return Some(e.to_string()),
            };
            if let Some(reason) = unlike(&prims, &new) {
                return Some(format!("budget {budget}: {reason}"));
            }
            if report.kept_bytes > before {
                return Some(format!("budget {budget} keeps {} bytes, a larger one {before}", report.kept_bytes));
            }
            before = report.kept_bytes;
            if partition(&prims, budget).map(|p| p.0.to_string()) != Ok(new.to_string()) {
                return Some("two runs differ".into());
            }
        }
        None
    });
}

/// Every graph compiles, fused or not, to shaders that naga takes, the same each time.
#[test]
fn compiled_shaders_are_valid() {
    use aludel_compiler::{Options, Style as Binding, Target, compile};
    let target = Target::webgpu_default();
    check("compile", 40, |seed| Style { jumps: true, ..styles(seed) }, &|g| {
        for (fuse, style) in [(true, Binding::Step), (false, Binding::Step), (true, Binding::Operator)] {
            let options = Options { fuse, style, ..Options::default() };
            let program = match compile(g, &target, &options) {
                Ok(p) => p,
                Err(e) => return Some(format!("{options:?}: {e}")),
            };
            for k in &program.kernels {
                if let Err(e) = naga_accepts(&k.source) {
                    return Some(format!("{options:?}: {e}\n{}", k.source));
                }
            }
            if compile(g, &target, &options).as_ref() != Ok(&program) {
                return Some(format!("{options:?}: two runs differ"));
            }
        }
        None
    });
}

/// Whatever the sizes, nothing divides by one of them that is zero, and nothing is refused but what 32-bit indices cannot count.
#[test]
fn every_size_compiles_for_every_target() {
    use aludel_compiler::{MatmulPrecision, Options, Target, compile};
    let webgpu = Target::webgpu_default();
    let targets = [
        webgpu.clone(),
        Target { max_groups: 7, ..webgpu.clone() },
        Target { software: true, ..webgpu },
        Target::cpu(),
        Target::cuda(80, MatmulPrecision::Highest),
        Target::cuda(90, MatmulPrecision::High),
    ];
    let styles = |seed: u64| Style { sizes: Sizes::Wild, symbolic: false, gradients: seed.is_multiple_of(3), ..styles(seed) };
    check("sizes", 200, styles, &|g| {
        targets.iter().find_map(|t| {
            let options = [Options::default(), Options { style: aludel_compiler::Style::Operator, ..Options::default() }];
            options.iter().find_map(|o| {
                compile(g, t, o)
                    .err()
                    .filter(|e| !e.to_string().contains("the limit is 2147483647"))
                    .map(|e| format!("{:?}: {e}", t.language))
            })
        })
    });
}

fn naga_accepts(source: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|e| e.emit_to_string(source))?;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    validator.validate(&module).map(drop).map_err(|e| e.emit_to_string(source))
}

/// Texts of the golden tests with mistakes in them: an error or a program, never a panic.
#[test]
fn wrong_graphs_are_errors() {
    use aludel_compiler::{Options, Target, compile};
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut texts = Vec::new();
    for pass in ["text", "autodiff", "decompose", "lower", "fuse", "wgsl"] {
        let mut files: Vec<_> =
            std::fs::read_dir(directory.join(pass)).expect("golden tests").map(|e| e.expect("an entry").path()).collect();
        files.sort();
        for f in files {
            let text = std::fs::read_to_string(f).expect("a readable case");
            let input = text.split("\n----\n").next().unwrap_or_default().to_string();
            if input.contains("graph ") && input.parse::<Graph>().is_ok() {
                texts.push(input);
            }
        }
    }
    let mut rng = Rng::new(1);
    let (mut parsed, mut compiled) = (0, 0);
    for _ in 0..cases * 50 {
        let text = common::mutate(&texts[rng.below(texts.len())], &mut rng);
        let done = std::panic::catch_unwind(|| {
            let Ok(g) = text.parse::<Graph>() else { return (0, 0) };
            if g.verify().is_err() {
                return (1, 0);
            }
            let ok = compile(&g, &Target::webgpu_default(), &Options::default()).is_ok();
            let small = g.types.iter().all(|t| g.env.hint_or_one(&t.numel()) < 10_000);
            if small && let Ok(joint) = expand_grads(&g) {
                drop(run(&joint, &hints(&g)));
            }
            (1, ok as usize)
        });
        let (p, c) = done.unwrap_or_else(|_| panic!("panicked on\n{text}"));
        parsed += p;
        compiled += c;
    }
    assert!(parsed > 100 && compiled > 50, "only {parsed} parsed and {compiled} compiled");
}

/// A graph that breaks its rules is refused before any pass trusts it.
#[test]
fn invalid_graphs_do_not_compile() {
    use aludel_compiler::{Options, Target, compile};
    let text = "graph g(%x: f32[2, 3]) {\n  %y = permute[1, 0] %x : f32[2, 3]\n  return %y\n}";
    let mut g: Graph = text.parse().unwrap();
    let error = |g: &Graph| compile(g, &Target::webgpu_default(), &Options::default()).unwrap_err().to_string();
    assert_eq!(error(&g), "invalid IR at node 0, %y = permute: %y is declared f32[2, 3], is f32[3, 2]");
    g.nodes[0].inputs[0] = aludel_ir::ValueId(99);
    assert_eq!(error(&g), "invalid IR at node 0, %y = permute: uses %99 before it is defined");
    g.outputs[0].value = aludel_ir::ValueId(99);
    g.nodes.clear();
    assert_eq!(error(&g), "invalid IR at output 0 `y`: %99 is not defined");
}

/// No two buffers that live at once share memory, every buffer is written before it is read, and ranges are aligned.
#[test]
fn memory_plans_are_sound() {
    use aludel_compiler::{Options, Target, compile};
    check("plan", 60, |seed| Style { symbolic: seed % 3 == 1, ..joint(seed) }, &|g| {
        [(true, 1.0), (false, 1.0), (true, 0.2)].into_iter().find_map(|(fuse, memory_budget)| {
            let options = Options { fuse, memory_budget, ..Options::default() };
            match compile(g, &Target::webgpu_default(), &options) {
                Ok(p) => sizes(g).into_iter().find_map(|s| unsound(&p, &s)).map(|r| format!("{options:?}: {r}")),
                Err(e) => Some(e.to_string()),
            }
        })
    });
}

fn unsound(p: &aludel_ir::program::Program, sizes: &[i64]) -> Option<String> {
    use aludel_ir::program::{ALIGN, Role};
    let Some((offsets, totals)) = p.layout(sizes) else { return Some("no layout".into()) };
    let range = |i: usize| {
        let b = &p.placements[i];
        let words = p.eval(&aludel_ir::Expr::product(&b.shape), sizes).unwrap_or(0);
        (offsets[b.slot], offsets[b.slot] + words)
    };
    for (i, a) in p.placements.iter().enumerate() {
        let (start, end) = range(i);
        if start % ALIGN != 0 || end > totals[a.binding] || p.slots[a.slot].binding != a.binding {
            return Some(format!("placement {i} `{}` at {start}..{end} of {}", a.name, totals[a.binding]));
        }
        for (j, b) in p.placements.iter().enumerate().skip(i + 1) {
            let (from, to) = range(j);
            let together = a.live.0 <= b.live.1 && b.live.0 <= a.live.1;
            if a.binding == b.binding && together && from < end && start < to {
                return Some(format!("placements {i} `{}` and {j} `{}` overlap, live {:?} and {:?}", a.name, b.name, a.live, b.live));
            }
        }
    }
    // What has no elements needs no writing.
    let empty = |b: &aludel_ir::program::Placement| p.eval(&aludel_ir::Expr::product(&b.shape), sizes) == Some(0);
    let mut written: Vec<bool> = p.placements.iter().map(|b| p.bindings[b.binding].role != Role::Arena || empty(b)).collect();
    for (l, launch) in p.launches.iter().enumerate() {
        for i in launch.reads.iter().chain(&launch.writes) {
            let (first, last) = p.placements[*i].live;
            if !(first..=last).contains(&l) {
                return Some(format!("launch {l} touches placement {i}, which lives {first}..={last}"));
            }
        }
        launch.writes.iter().for_each(|i| written[*i] = true);
        if let Some(i) = launch.reads.iter().find(|i| !written[**i]) {
            return Some(format!("launch {l} reads placement {i} `{}`, which nothing wrote", p.placements[*i].name));
        }
    }
    let missing = p.outputs.iter().find(|o| !written[o.placement])?;
    Some(format!("the output {} is never written", missing.name))
}
