//! Whether two nests can be one, and the nest they become.
//!
//! One of the two is the *frame*: it keeps its axes, the other's are renamed to them. The renaming follows from the buffers
//! that both touch: where the producer writes `x[i, j]` and the consumer reads `x[r, c]`, r is i and c is j. The fusion is
//! legal when, renamed, every element that one reads of what the other writes is the very element that the same iteration
//! writes: then the value is used directly and never read back.

use crate::nest::access::is_mixed_radix;
use crate::nest::{Kind, NestBuilder, classify, split_divided, split_order, substitute, substitute_store};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::order::Order;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

/// Why two nests stay two kernels.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    /// Something between them needs the first and is needed by the second.
    Cycle,
    /// They exchange no value, and together what follows one would wait for what the other needs.
    Waits,
    /// Two contractions tile different spaces.
    TwoContractions,
    /// A contraction computes tiles, a row reduction needs whole rows.
    TilesAndRows,
    /// A contraction reads its operands many times: computing them inside would repeat the work for every tile.
    Operand,
    /// The iteration spaces differ.
    Space { first: String, second: String },
    /// The second reads elements that other iterations of the first write.
    OtherElements { buffer: String },
    /// An update in place would overwrite elements that other iterations still read.
    InPlace { buffer: String },
    /// One workgroup would do all the work: too few rows for so many columns.
    TooFewRows { rows: i64, columns: i64 },
    /// Functions of a convolution's results on a CPU.
    Vectors,
    /// What follows a long product would take its registers.
    Epilogue,
    /// Attention keeps tiles of rows and columns in registers: only what follows it element by element joins.
    Attention,
    /// The position of an extreme counts elements in another order than the nest would run over them.
    Positions,
    /// Accumulating stores are kernels of their own.
    Scatter,
    /// A scan passes over its row once, with a value for each element: it can be no other reduction too.
    Scan,
    /// A collective is no kernel.
    Collective,
    /// A library computes the matrix product faster, and computes nothing else with it.
    LibraryProduct,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Cycle => write!(f, "a kernel between them needs the first and is needed by the second"),
            Refusal::Waits => write!(f, "together, what follows one would wait for what the other needs"),
            Refusal::TwoContractions => write!(f, "two matrix products tile different spaces"),
            Refusal::TilesAndRows => write!(f, "a matrix product computes tiles, the reduction needs whole rows"),
            Refusal::Operand => {
                write!(f, "a matrix product reads its operands many times; computing them inside would repeat the work for every tile")
            }
            Refusal::Space { first, second } => write!(f, "they run over different spaces: {first} and {second}"),
            Refusal::OtherElements { buffer } => write!(f, "the second reads elements of {buffer} that other threads of the first write"),
            Refusal::InPlace { buffer } => write!(f, "{buffer} is updated in place and other threads still read its old value"),
            Refusal::Vectors => write!(f, "functions of a convolution's results would be computed one by one, not in vectors"),
            Refusal::Epilogue => {
                write!(f, "a long matrix product needs its registers for its sums; what follows is a short pass of its own")
            }
            Refusal::TooFewRows { rows, columns } => write!(f, "{rows} rows of {columns} columns would leave most of the device idle"),
            Refusal::Attention => write!(f, "attention computes tiles; only what follows it element by element can be done with them"),
            Refusal::Positions => write!(f, "a position is looked for in another order of the elements than the one they are read in"),
            Refusal::Scatter => write!(f, "accumulating stores run by themselves"),
            Refusal::Scan => write!(f, "a scan passes over its rows once; only what follows it element by element can be done with it"),
            Refusal::Collective => write!(f, "a collective is run by what connects the ranks, not by a kernel"),
            Refusal::LibraryProduct => write!(f, "a library computes the matrix product faster than a kernel that does both"),
        }
    }
}

/// Whether a nest reads the old value of a state only at the element that it writes.
pub fn reads_where_it_writes(nest: &Nest, old: BufferId, new: BufferId) -> bool {
    let Some(store) = nest.stores.iter().find(|s| s.buffer == new) else { return true };
    nest.ops.iter().all(|(op, _)| !matches!(op, LoopOp::Load { buffer, index, .. } if *buffer == old && *index != store.index))
}

/// Fuses `a` and `b`, where `a` does not depend on `b`.
pub fn try_fuse(program: &mut LoopProgram, a: &Nest, b: &Nest, in_place: &BTreeMap<usize, (BufferId, BufferId)>) -> Result<Nest, Refusal> {
    if a.exchange.is_some() || b.exchange.is_some() {
        return Err(Refusal::Collective);
    }
    let (ka, kb) = (classify(a, program), classify(b, program));
    match (&ka, &kb) {
        (Kind::Scatter, _) | (_, Kind::Scatter) => return Err(Refusal::Scatter),
        (Kind::Attention(_), Kind::Pointwise) if a.writes().iter().any(|w| b.reads().contains(w)) => {}
        (Kind::Attention(_), _) | (_, Kind::Attention(_)) => return Err(Refusal::Attention),
        (Kind::Scan(_), Kind::Pointwise) | (Kind::Pointwise, Kind::Scan(_)) => {}
        (Kind::Scan(_), _) | (_, Kind::Scan(_)) => return Err(Refusal::Scan),
        (Kind::Contract(_), Kind::Contract(_)) => return Err(Refusal::TwoContractions),
        (Kind::Contract(_), Kind::Rows) | (Kind::Rows, Kind::Contract(_)) => return Err(Refusal::TilesAndRows),
        (Kind::Pointwise, Kind::Contract(c)) if feeds(a, b, c.reduce) => return Err(Refusal::Operand),
        _ => {}
    }
    let shared: Vec<BufferId> = {
        let (ta, tb) = (touched(a), touched(b));
        ta.into_iter().filter(|x| tb.contains(x)).collect()
    };
    let a = split_divided(a.clone(), &shared, program);
    let b = split_divided(b.clone(), &shared, program);
    // The nest with reductions is the frame; between equals the producer is.
    let frame_is_b = matches!(kb, Kind::Rows | Kind::Contract(_) | Kind::Scan(_)) && ka == Kind::Pointwise;
    let (frame, other) = if frame_is_b { (b, a) } else { (a, b) };
    let (frame, map) = match_axes(program, frame, &other, &shared)?;
    check_space(program, &frame, &other, &map)?;
    let other = substitute(&other, &map, program);
    let (first, second) = if frame_is_b { (&other, &frame) } else { (&frame, &other) };
    check_elements(program, first, second)?;
    let mut fused = merge(program, first, second, &frame);
    order_reductions(&mut fused)?;
    if matches!(ka, Kind::Attention(_)) && !matches!(classify(&fused, program), Kind::Attention(_)) {
        return Err(Refusal::Attention);
    }
    if matches!((&ka, &kb), (Kind::Scan(_), _) | (_, Kind::Scan(_))) && !matches!(classify(&fused, program), Kind::Scan(_)) {
        return Err(Refusal::Scan);
    }
    for (old, new) in in_place.values() {
        if fused.stores.iter().any(|s| s.buffer == *new) && !reads_where_it_writes(&fused, *old, *new) {
            return Err(Refusal::InPlace { buffer: program.buffer(*old).name.clone() });
        }
    }
    Ok(fused)
}

fn touched(n: &Nest) -> Vec<BufferId> {
    let mut t = n.reads();
    t.extend(n.writes());
    t.order();
    t.dedup();
    t
}

// Whether the reduction of b reads what a writes.
fn feeds(a: &Nest, b: &Nest, reduce: ValId) -> bool {
    let writes = a.writes();
    let mut stack = vec![reduce];
    let mut seen = vec![false; b.ops.len()];
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut seen[v.0 as usize], true) {
            continue;
        }
        if let LoopOp::Load { buffer, .. } = b.op(v)
            && writes.contains(buffer)
        {
            return true;
        }
        stack.extend(b.op(v).operands());
    }
    false
}

// Where a nest touches a buffer: its store's index, else the index of its first load.
fn index_of(n: &Nest, buffer: BufferId) -> Option<&Vec<Expr>> {
    n.stores.iter().find(|s| s.buffer == buffer).map(|s| &s.index).or_else(|| {
        n.ops.iter().find_map(|(op, _)| match op {
            LoopOp::Load { buffer: b, index, .. } if *b == buffer => Some(index),
            _ => None,
        })
    })
}

/// Maps the other nest's axes to expressions over the frame's, splitting axes of the frame where the other is finer.
fn match_axes(
    program: &mut LoopProgram,
    frame: Nest,
    other: &Nest,
    shared: &[BufferId],
) -> Result<(Nest, FxHashMap<AxisId, Expr>), Refusal> {
    let mut frame = frame;
    let mut map: FxHashMap<AxisId, Expr> = FxHashMap::default();
    let flows = |n: &Nest, b: &BufferId| n.writes().contains(b);
    // Buffers that carry a value between the two first: those must match. Buffers that both only read are hints.
    let mut buffers: Vec<(bool, BufferId)> = shared.iter().map(|b| (!(flows(&frame, b) || flows(other, b)), *b)).collect();
    buffers.order();
    let mut covered: Vec<AxisId> = Vec::new();
    for (hint, buffer) in buffers {
        let Some(theirs) = index_of(other, buffer).cloned() else { continue };
        for d in 0..theirs.len() {
            let Some(ours) = index_of(&frame, buffer).map(|i| i[d].clone()) else { continue };
            let open: Vec<AxisId> = theirs[d].axes().into_iter().filter(|x| !map.contains_key(x)).collect();
            match open.as_slice() {
                [] => {}
                [one] => {
                    // theirs = one + rest, so one = ours - rest.
                    let rest = theirs[d].sub(&Expr::axis(*one));
                    if rest.uses_axis(*one) || !rest.axes().is_empty() {
                        continue;
                    }
                    let target = ours.sub(&rest);
                    let parts = target.axes();
                    let fresh = !parts.iter().any(|p| covered.contains(p));
                    if fresh && !parts.is_empty() && is_mixed_radix(&target, program.extent(*one), program) {
                        covered.extend(parts);
                        map.insert(*one, target);
                    }
                }
                _ => {
                    // Both sides enumerate the dimension by several axes, or the other by more than we do: refine both.
                    let radix = |e: &Expr| is_mixed_radix(e, &program.volume(&e.axes()), program);
                    let taken = ours.axes().iter().any(|a| covered.contains(a)) || open.len() != theirs[d].axes().len();
                    if hint || taken || ours.axes().is_empty() || !radix(&ours) || !radix(&theirs[d]) {
                        continue;
                    }
                    if let Some(r) = refine(program, &ours, &theirs[d]) {
                        frame = substitute(&frame, &r.splits, program);
                        covered.extend(r.targets.values().flat_map(|e| e.axes()));
                        map.extend(r.targets);
                    }
                }
            }
        }
    }
    // What is left pairs up in order, where extents agree: the frame's inner axes with the other's.
    let left: Vec<AxisId> = other.axes.iter().chain(&other.inner).filter(|x| !map.contains_key(x)).copied().collect();
    let mut free: Vec<AxisId> = frame.inner.iter().filter(|x| !covered.contains(x)).copied().collect();
    for x in left {
        let same = free.iter().position(|f| program.extent(*f) == program.extent(x));
        let Some(at) = same else { return Err(space(program, &frame, other)) };
        map.insert(x, Expr::axis(free.remove(at)));
    }
    Ok((frame, map))
}

/// How one enumeration of a dimension becomes another.
struct Refinement {
    /// Axes of ours, by finer ones.
    splits: FxHashMap<AxisId, Expr>,
    /// Axes of theirs, by ours after splitting.
    targets: FxHashMap<AxisId, Expr>,
}

/// Lines up two mixed-radix enumerations from the innermost axis outwards; `None` where their radices do not nest.
fn refine(program: &mut LoopProgram, ours: &Expr, theirs: &Expr) -> Option<Refinement> {
    let mut a = split_order(ours);
    let mut b = split_order(theirs);
    let mut r = Refinement { splits: FxHashMap::default(), targets: FxHashMap::default() };
    while let (Some(x), Some(y)) = (a.pop(), b.pop()) {
        let (ex, ey) = (program.extent(x).clone(), program.extent(y).clone());
        if ex == ey {
            r.targets.insert(y, Expr::axis(x));
        } else if ey.exact_div(&ex).is_some() {
            // Theirs spans several of ours.
            let (mut sum, mut stride) = (Expr::axis(x), ex);
            while stride != ey {
                let next = a.pop()?;
                sum = sum.add(&Expr::axis(next).mul(&stride));
                stride = stride.mul(program.extent(next));
                ey.exact_div(&stride)?;
            }
            r.targets.insert(y, sum);
        } else {
            // Ours spans several of theirs: split ours alike.
            ex.exact_div(&ey)?;
            let first = program.new_axis(ey.clone());
            r.targets.insert(y, Expr::axis(first));
            let (mut sum, mut stride) = (Expr::axis(first), ey);
            while stride != ex {
                let next = b.pop()?;
                let fresh = program.new_axis(program.extent(next).clone());
                r.targets.insert(next, Expr::axis(fresh));
                sum = sum.add(&Expr::axis(fresh).mul(&stride));
                stride = stride.mul(program.extent(next));
                ex.exact_div(&stride)?;
            }
            r.splits.insert(x, sum);
        }
    }
    (a.is_empty() && b.is_empty()).then_some(r)
}

fn space(program: &LoopProgram, frame: &Nest, other: &Nest) -> Refusal {
    let show = |n: &Nest| {
        let list = |axes: &[AxisId]| axes.iter().map(|a| program.env.show(program.extent(*a))).collect::<Vec<_>>().join("×");
        match (n.axes.is_empty(), n.inner.is_empty()) {
            (true, true) => "one element".to_string(),
            (_, true) => list(&n.axes),
            (true, _) => format!("a reduction over {}", list(&n.inner)),
            _ => format!("{} reducing {}", list(&n.axes), list(&n.inner)),
        }
    };
    Refusal::Space { first: show(frame), second: show(other) }
}

/// The other must run over exactly the frame's iterations, or (where it is wide) over all of its rows and columns.
fn check_space(program: &LoopProgram, frame: &Nest, other: &Nest, map: &FxHashMap<AxisId, Expr>) -> Result<(), Refusal> {
    let image = |axes: &[AxisId]| -> Vec<AxisId> {
        let mut out: Vec<AxisId> = axes.iter().flat_map(|x| map.get(x).map_or(vec![], |e| e.axes())).collect();
        out.order();
        out
    };
    let sorted = |axes: &[AxisId]| {
        let mut v = axes.to_vec();
        v.order();
        v
    };
    let all: Vec<AxisId> = frame.axes.iter().chain(&frame.inner).copied().collect();
    let refuse = || Err(space(program, frame, other));
    let wide = match classify(other, program) {
        Kind::Pointwise => {
            let got = image(&other.axes);
            let narrow = got == sorted(&frame.axes);
            let wide = !frame.inner.is_empty() && got == sorted(&all) && classify(frame, program) == Kind::Rows;
            if !narrow && !wide {
                return refuse();
            }
            wide && !narrow
        }
        _ => {
            if image(&other.axes) != sorted(&frame.axes) || image(&other.inner) != sorted(&frame.inner) {
                return refuse();
            }
            false
        }
    };
    // A wide store makes each row the work of one workgroup: few rows would leave the device idle.
    if wide {
        let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
        let (rows, columns) = (hint(&frame.axes), hint(&frame.inner));
        if rows < 32 && columns > 2048 {
            return Err(Refusal::TooFewRows { rows, columns });
        }
    }
    Ok(())
}

/// Every element of the first's results that the second reads is the one that the same iteration writes.
fn check_elements(program: &LoopProgram, first: &Nest, second: &Nest) -> Result<(), Refusal> {
    for (writer, reader) in [(first, second), (second, first)] {
        for s in &writer.stores {
            let wrong = reader
                .ops
                .iter()
                .any(|(op, _)| matches!(op, LoopOp::Load { buffer, index, .. } if *buffer == s.buffer && *index != s.index));
            let twice = reader.stores.iter().any(|t| t.buffer == s.buffer)
                && (writer.reads().contains(&s.buffer) || reader.reads().contains(&s.buffer));
            if wrong || twice {
                return Err(Refusal::OtherElements { buffer: program.buffer(s.buffer).name.clone() });
            }
        }
    }
    Ok(())
}

/// Has every reduction run over the columns as the nest does. The order of a sum's axes says nothing; that of an argument's says which
/// position is which.
fn order_reductions(nest: &mut Nest) -> Result<(), Refusal> {
    let inner = nest.inner.clone();
    for (op, _) in &mut nest.ops {
        let LoopOp::Reduce { op, axes, .. } = op else { continue };
        if *axes == inner || axes.len() != inner.len() || !axes.iter().all(|a| inner.contains(a)) {
            continue;
        }
        if op.is_arg() {
            return Err(Refusal::Positions);
        }
        axes.clone_from(&inner);
    }
    Ok(())
}

/// One nest of both, in order; the second's loads of what the first stores become the stored values.
fn merge(program: &LoopProgram, first: &Nest, second: &Nest, frame: &Nest) -> Nest {
    let none = FxHashMap::default();
    let mut b = NestBuilder::resume(first.clone());
    let stored = |op: &LoopOp| match op {
        LoopOp::Load { buffer, .. } => first.stores.iter().find(|s| s.buffer == *buffer && !s.add).map(|s| s.value),
        _ => None,
    };
    let values = b.import_all(second, &none, stored, program);
    for s in &second.stores {
        let s = substitute_store(s, &none, &values, program);
        b.nest.stores.push(s);
    }
    for o in &second.origins {
        if !b.nest.origins.contains(o) {
            b.nest.origins.push(o.clone());
        }
    }
    b.nest.axes = frame.axes.clone();
    b.nest.inner = frame.inner.clone();
    b.nest
}
