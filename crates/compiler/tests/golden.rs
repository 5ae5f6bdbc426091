//! Golden tests: every pass by example. `tests/golden/<pass>/<case>.txt` at the top of the repository holds the input, a line
//! `----`, and the output. `UPDATE_GOLDEN=1 cargo test -p aludel-compiler --test golden` writes the outputs anew: read the diff.
//!
//! An input may begin with options, `// options: memory_budget=0.5 fuse=false`. An error is an output too.

use aludel_compiler::{Compilation, MatmulPrecision, Options, Pass, Target, compile};
use aludel_ir::kernel::Kernel;
use aludel_ir::loops::LoopProgram;
use aludel_ir::program::{Param, Program};
use aludel_ir::{Graph, Group, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Runs a pass over the cases of its directory.
fn golden(pass: &str, run: fn(&str) -> Result<String>) {
    let directory = root().join(pass);
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.expect("a directory entry").path()).filter(|p| p.extension().is_some_and(|x| x == "txt")).collect();
    files.sort();
    assert!(!files.is_empty(), "no cases in {}", directory.display());
    let bless = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut failures = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable case").replace("\r\n", "\n");
        let (input, want) = text.split_once("\n----\n").unwrap_or((text.trim_end(), ""));
        let got = match run(&format!("{input}\n")) {
            Ok(out) => out.trim_end().to_string(),
            Err(e) => format!("error: {e}"),
        };
        if bless {
            std::fs::write(&file, format!("{input}\n----\n{got}\n")).expect("a writable case");
        } else if got != want.trim_end() {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_string();
            failures.push(format!("{pass}/{name}: {}", first_difference(want.trim_end(), &got)));
        }
    }
    assert!(failures.is_empty(), "\n{}\nUPDATE_GOLDEN=1 accepts the new outputs", failures.join("\n"));
}

fn first_difference(want: &str, got: &str) -> String {
    let (mut w, mut g) = (want.lines(), got.lines());
    for line in 1.. {
        match (w.next(), g.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => return format!("line {line} of the output\n  - {}\n  + {}", a.unwrap_or("(end)"), b.unwrap_or("(end)")),
        }
    }
    "they differ in line ends".into()
}

fn options(input: &str) -> Options {
    let mut o = Options::default();
    for line in input.lines() {
        let Some(list) = line.strip_prefix("// options:") else { continue };
        for entry in list.split_whitespace() {
            let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
            match name {
                "memory_budget" => o.memory_budget = value.parse().expect("a number"),
                "fuse" => o.fuse = value.parse().expect("true or false"),
                "style" if value == "operator" => o.style = aludel_compiler::Style::Operator,
                _ => panic!("no option `{entry}`"),
            }
        }
    }
    o
}

/// The input as a verified graph.
fn graph(input: &str) -> Result<Graph> {
    let g: Graph = input.parse()?;
    g.verify()?;
    Ok(g)
}

fn verified(g: &Graph) -> Result<String> {
    g.verify()?;
    Ok(g.to_string())
}

/// What the passes up to `last` make of the input, a graph or nests of loops, for WebGPU.
fn passes<T>(input: &str, last: Pass, show: impl Fn(&mut Compilation) -> Result<T>) -> Result<T> {
    let (options, target) = (options(input), Target::webgpu_default());
    let (graph, loops) = match keyword(input) {
        Some("loops") => (Graph::default(), Some(input.parse::<LoopProgram>()?)),
        _ => (input.parse::<Graph>()?, None),
    };
    let mut c = match loops {
        Some(loops) => {
            loops.verify()?;
            Compilation::of_loops(loops, &graph, &target, &options)
        }
        None => Compilation::new(&graph, &target, &options),
    };
    c.until(last)?;
    show(&mut c)
}

/// What an input is: its first word.
fn keyword(input: &str) -> Option<&str> {
    input.lines().find(|l| !l.starts_with("//")).and_then(|l| l.split_whitespace().next())
}

#[test]
fn text() {
    golden("text", |input| match keyword(input) {
        Some("loops") => Ok(input.parse::<LoopProgram>()?.to_string()),
        Some("kernel") => Ok(input.parse::<Kernel>()?.to_string()),
        _ => Ok(input.parse::<Graph>()?.to_string()),
    });
}

#[test]
fn verify() {
    golden("verify", |input| {
        match keyword(input) {
            Some("loops") => input.parse::<LoopProgram>()?.verify()?,
            Some("kernel") => input.parse::<Kernel>()?.verify()?,
            _ => input.parse::<Graph>()?.verify()?,
        }
        Ok("valid".into())
    });
}

#[test]
fn autodiff() {
    golden("autodiff", |input| passes(input, Pass::Autodiff, |c| verified(&c.joint)));
}

#[test]
fn decomposition() {
    golden("decompose", |input| passes(input, Pass::Decompose, |c| verified(&c.prims)));
}

#[test]
fn partitioning() {
    golden("partition", |input| {
        passes(input, Pass::Partition, |c| {
            let (mut out, report) = (verified(&c.prims)?, &c.partition);
            for k in &report.kept {
                out.push_str(&format!("keeps %{} ({} bytes)\n", k.name, k.bytes));
            }
            let again = report.recomputed.iter().map(|r| r.operation.as_str()).collect::<Vec<_>>().join(", ");
            out.push_str(&format!("keeps {} of {} bytes; computes again: {again}\n", report.kept_bytes, report.default_kept_bytes));
            Ok(out)
        })
    });
}

#[test]
fn lowering() {
    golden("lower", |input| {
        passes(input, Pass::Lower, |c| {
            c.loops.verify()?;
            Ok(c.loops.to_string())
        })
    });
}

#[test]
fn fusion() {
    golden("fuse", |input| {
        passes(input, Pass::Fuse, |c| {
            c.loops.verify()?;
            let mut out = c.loops.to_string();
            for (a, b, why) in &c.fused.refusals {
                out.push_str(&format!("not fused: {a} and {b}: {why}\n"));
            }
            Ok(out)
        })
    });
}

#[test]
fn kernels() {
    golden("kernels", |input| {
        passes(input, Pass::Schedule, |c| {
            let mut out = String::new();
            for s in &c.scheduled {
                s.kernel.verify()?;
                out.push_str(&format!("{}\n", s.kernel));
            }
            Ok(out)
        })
    });
}

fn program(input: &str) -> Result<Program> {
    compile(&graph(input)?, &Target::webgpu_default(), &options(input))
}

#[test]
fn plan() {
    golden("plan", |input| {
        let p = program(input)?;
        let mut out = String::new();
        for (i, b) in p.bindings.iter().enumerate() {
            out.push_str(&format!("binding {i}: {:?} {:?}\n", b.role, b.access));
        }
        for (i, s) in p.slots.iter().enumerate() {
            let offset = s.offset.map_or("at run time".to_string(), |o| o.to_string());
            out.push_str(&format!("slot {i}: binding {}, {} words, offset {offset}\n", s.binding, p.env.show(&s.words)));
        }
        for (i, b) in p.placements.iter().enumerate() {
            let ty = format!("{}{}", b.dtype, p.env.show_shape(&b.shape));
            out.push_str(&format!("placement {i}: {} {ty} in slot {}, live {}..={}\n", b.name, b.slot, b.live.0, b.live.1));
        }
        for (i, l) in p.launches.iter().enumerate() {
            let grid = l.grid.iter().map(|e| p.env.show(e)).collect::<Vec<_>>().join(" x ");
            let param = |x: &Param| match x {
                Param::Size(e) => p.env.show(e),
                Param::Offset(b) => format!("offset of {b}"),
                Param::Part { placement, words } => format!("offset of {placement} + {words}"),
            };
            let params = l.params.iter().map(param).collect::<Vec<_>>().join(", ");
            out.push_str(&format!("launch {i}: kernel {} `{}`, grid {grid}, ({params})\n", l.kernel, l.label));
            if let Some(e) = &l.exchange {
                let Group { name, ranks } = &e.collective.group;
                out.push_str(&format!("  no kernel: {} over {name} of {ranks}, {} to {}\n", e.collective.op.name(), e.from, e.to));
            }
            out.push_str(&format!("  reads {:?}, writes {:?}, bytes {}\n", l.reads, l.writes, p.env.show(&l.bytes)));
        }
        for o in &p.outputs {
            out.push_str(&format!("output {} = placement {}, updates {:?}\n", o.name, o.placement, o.updates));
        }
        Ok(out)
    });
}

#[test]
fn wgsl() {
    golden("wgsl", |input| {
        let p = program(input)?;
        let mut out = String::new();
        for (i, k) in p.kernels.iter().enumerate() {
            check_naga(&k.name, &k.source);
            check_tint(&k.name, &k.source);
            let launches: Vec<_> = p.launches.iter().filter(|l| l.kernel == i).map(|l| l.label.as_str()).collect();
            out.push_str(&format!("// kernel {i}: {}\n{}\n", launches.join("; "), k.source.trim_end()));
        }
        Ok(out)
    });
}

#[test]
fn c() {
    golden("c", |input| {
        let p = compile(&graph(input)?, &Target::cpu(), &options(input))?;
        let mut out = String::new();
        for (i, k) in p.kernels.iter().enumerate() {
            let launches: Vec<_> = p.launches.iter().filter(|l| l.kernel == i).map(|l| l.label.as_str()).collect();
            out.push_str(&format!("// kernel {i}: {}\n{}\n", launches.join("; "), k.source.trim_end()));
        }
        Ok(out)
    });
}

/// PTX for compute capability 9.0, products of f32 on matrix units where an option says so; `tests/ptx.rs` assembles it.
#[test]
fn ptx() {
    golden("ptx", |input| {
        let precision = if input.contains("// precision: high") { MatmulPrecision::High } else { MatmulPrecision::Highest };
        let p = compile(&graph(input)?, &Target::cuda(90, precision), &options(input))?;
        let mut out = String::new();
        for (i, k) in p.kernels.iter().enumerate() {
            let launches: Vec<_> = p.launches.iter().filter(|l| l.kernel == i).map(|l| l.label.as_str()).collect();
            out.push_str(&format!("// kernel {i}: {}\n{}\n", launches.join("; "), k.source.trim_end()));
        }
        Ok(out)
    });
}

/// The compiler of Firefox and wgpu takes the shader.
fn check_naga(name: &str, source: &str) {
    let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{name}: {}\n{source}", e.emit_to_string(source)));
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    validator.validate(&module).unwrap_or_else(|e| panic!("{name}: {}\n{source}", e.emit_to_string(source)));
}

/// So does Chromium's, where it is installed.
fn check_tint(name: &str, source: &str) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let file = std::env::temp_dir().join(format!("aludel-golden-{}-{name}.wgsl", std::process::id()));
    std::fs::write(&file, source).expect("a temporary file");
    let out = Command::new("tint").args(["--format", "wgsl"]).arg(&file).output();
    drop(std::fs::remove_file(&file));
    match out {
        Err(_) => ONCE.call_once(|| eprintln!("SKIPPED: tint is not on the PATH, shaders are checked by naga alone")),
        Ok(out) => assert!(out.status.success(), "{name}: {}\n{source}", String::from_utf8_lossy(&out.stderr)),
    }
}
