//! From what the compiler reports to what the inspector shows.

use crate::{Buffer, Guard, Inspection, Kernel, Memory, NotFused, Operator, Stage};
use aludel_ir::program::{Launch, Program, Role};
use aludel_ir::text::print_graph;
use aludel_ir::{Graph, Phase};
use aludel_tensor::Explanation;

impl Inspection {
    /// The specialisation that ran most, laid open; `None` while there is no program.
    pub fn of(e: &Explanation) -> Option<Inspection> {
        let spec = e.specializations.iter().filter(|s| s.program.is_some()).max_by_key(|s| s.calls)?;
        Some(Inspection {
            guards: spec.guards.iter().map(|g| guard(g)).collect(),
            breaks: e.breaks.iter().map(|b| format!("{}: {}", b.location, b.reason)).collect(),
            specialisations: e.misses.clone(),
            ..Inspection::of_program(&spec.graph, spec.program.as_ref()?)
        })
    }

    /// A captured graph and the program that it was compiled to, for the sizes of the call that was captured.
    pub fn of_program(graph: &Graph, program: &Program) -> Inspection {
        let sizes: Vec<i64> = program.env.symbols.iter().map(|s| s.hint).collect();
        Inspection {
            operators: operators(graph),
            stages: program.stages.iter().map(|(name, text)| Stage { name: name.clone(), text: text.clone() }).collect(),
            kernels: program.launches.iter().map(|l| kernel(program, l, &sizes)).collect(),
            memory: memory(program, &sizes),
            not_fused: not_fused(program),
            ..Inspection::default()
        }
    }
}

/// One line of the graph's text for each operator.
fn operators(graph: &Graph) -> Vec<Operator> {
    let text = print_graph(graph);
    // The head, which may take several lines, ends with a brace; each line with a definition after it is a node.
    let body = text.lines().skip_while(|l| !l.ends_with('{')).skip(1);
    let lines: Vec<&str> = body.filter(|l| l.contains(" = ")).collect();
    graph
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| {
            let line = lines.get(n).map_or(node.op.name(), |l| l.trim());
            // The note at the end repeats the location, which has a column of its own.
            let line = line.split(" #").next().unwrap_or(line).split(" @").next().unwrap_or(line).trim_end();
            Operator { node: n as u32, text: line.to_string(), name: node.op.name().to_string(), location: node.location.clone() }
        })
        .collect()
}

fn kernel(program: &Program, launch: &Launch, sizes: &[i64]) -> Kernel {
    let eval = |e| program.eval(e, sizes).unwrap_or(0).max(0) as u64;
    let mut operators: Vec<u32> = launch.origins.iter().flat_map(|o| o.nodes.iter().copied()).collect();
    operators.sort_unstable();
    operators.dedup();
    let mut phases: Vec<&str> = launch
        .origins
        .iter()
        .map(|o| match o.phase {
            Phase::Forward => "forward",
            Phase::Backward => "backward",
            Phase::Recompute => "recompute",
        })
        .collect();
    phases.sort_unstable();
    phases.dedup();
    // A kernel that writes state in place updates parameters.
    let updates = launch.writes.iter().any(|p| program.bindings.get(program.placements[*p].binding).is_some_and(|b| b.role.is_state()));
    if updates {
        phases = vec!["update"];
    }
    let source = program.kernels.get(launch.kernel);
    Kernel {
        label: launch.label.clone(),
        phase: phases.join(" + "),
        operators,
        grid: std::array::from_fn(|i| eval(&launch.grid[i]) as u32),
        workgroup: source.map_or([1; 3], |k| k.workgroup_size),
        bytes: eval(&launch.bytes),
        flops: eval(&launch.flops),
        source: source.map_or(String::new(), |k| k.source.clone()),
        pipeline: launch.kernel as u32,
    }
}

fn memory(program: &Program, sizes: &[i64]) -> Memory {
    const WORD: u64 = 4;
    let Some((offsets, totals)) = program.layout(sizes) else { return Memory::default() };
    let total =
        |role: Role| -> u64 { program.bindings.iter().zip(&totals).filter(|(b, _)| b.role == role).map(|(_, t)| *t as u64 * WORD).sum() };
    let mut buffers = Vec::new();
    for p in program.placements.iter().filter(|p| program.bindings[p.binding].role == Role::Arena) {
        let elements = p.shape.iter().map(|d| program.eval(d, sizes).unwrap_or(0)).product::<i64>().max(0);
        buffers.push(Buffer {
            name: p.name.clone(),
            ty: format!("{}{}", p.dtype, program.env.show_shape(&p.shape)),
            offset: offsets.get(p.slot).copied().unwrap_or(0) as u64 * WORD,
            bytes: p.words(elements) as u64 * WORD,
            first: p.live.0 as u32,
            last: p.live.1.min(program.launches.len().saturating_sub(1)) as u32,
        });
    }
    Memory {
        arena: total(Role::Arena),
        state: total(Role::State) + total(Role::Offloaded),
        inputs: total(Role::Inputs),
        without_reuse: buffers.iter().map(|b| b.bytes).sum(),
        buffers,
    }
}

/// Pairs of launches that stayed apart, each reason once.
fn not_fused(program: &Program) -> Vec<NotFused> {
    let pairs = program.not_fused.iter().map(|n| {
        let (first, second) = (n.first.min(n.second) as u32, n.first.max(n.second) as u32);
        (first, second, n.reason.as_str())
    });
    let distinct: std::collections::BTreeSet<_> = pairs.filter(|(first, second, _)| first != second).collect();
    distinct.into_iter().map(|(first, second, reason)| NotFused { first, second, reason: reason.to_string() }).collect()
}

/// What `Specialization::guards` has as `path: type[shape] on device`, `path = value`, or `relation (reason)`.
fn guard(text: &str) -> Guard {
    let (condition, reason) = if let Some((condition, device)) = text.split_once(" on ") {
        (condition, format!("type, shape and device ({})", device.split(" (").next().unwrap_or(device)))
    } else if let (Some((condition, reason)), false) = (text.rsplit_once(" ("), text.contains(" = ")) {
        (condition, reason.trim_end_matches(')').to_string())
    } else {
        (text, "structure and constants of the model".to_string())
    };
    Guard { condition: condition.to_string(), reason }
}
