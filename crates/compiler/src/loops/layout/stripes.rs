//! Stripes: what a row of a window reads becomes one run of neighbours.
//!
//! The first layer of a network for images has one to four channels, too few to fill a row of a matrix unit's tile, and none of its
//! windows begins where the copy engine may. So the image is written once with zeros around it and in the unused channels, such that
//! pixels at which windows begin lie 16 bytes apart. Then a row of a window, pixels and channels, is one run that begins at such a pixel;
//! runs of neighbouring windows overlap. To a product the image looks like one whose width is that of the result, whose channels are the
//! run (zeros in the weights beyond the window's own), and whose windows have one column, and the copy engine brings it as any other.
//!
//! The same run is the side of the weights' gradient, in which nobody reads what lies beyond the window.

use super::{LARGE, copy, work};
use crate::device::{MatmulPrecision, Target};
use crate::nest::{Kind, NestBuilder, classify, rename};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::{DType, ScalarOp};
use rustc_hash::FxHashMap;

/// Channels of an image that leave most of a tile's row empty.
const FEW: i64 = 4;
/// Bytes of a row of a tile: those of a run.
const RUN: i64 = 128;
/// Bytes at a multiple of which the copy engine begins.
const GROUP: i64 = 16;
/// How much of a run a row of a window has to fill, as a divisor. On an H200 ResNet-50's first layer (a third) gains, and VGG-16's in bf16 (a
/// seventh) loses by its weights' gradient what it gains before.
const MOST_EMPTY: i64 = 4;

/// How windows lie on an image: of its two dimensions of space each.
#[derive(Clone, PartialEq, Debug)]
struct Geometry {
    channels: i64,
    /// The image's own size.
    size: [i64; 2],
    kernel: [i64; 2],
    step: [i64; 2],
    padding: [i64; 2],
    /// How many windows there are.
    places: [i64; 2],
    dtype: DType,
}

impl Geometry {
    fn bytes(&self) -> i64 {
        aludel_ir::kernel::element_bytes(self.dtype) as i64
    }

    /// Channels that a pixel gets, so that windows begin at whole groups.
    fn width(&self) -> i64 {
        let mut width = self.channels.max(1) as u64;
        width = width.next_power_of_two();
        while self.step[1] * width as i64 * self.bytes() % GROUP != 0 {
            width *= 2;
        }
        width as i64
    }

    /// Elements of a run.
    fn run(&self) -> i64 {
        RUN / self.bytes()
    }

    /// The shape of the image as it is written: rows, and elements of a row.
    fn stripes(&self) -> [i64; 2] {
        let rows = self.step[0] * (self.places[0] - 1) + self.kernel[0];
        [rows, self.step[1] * self.width() * (self.places[1] - 1) + self.run()]
    }

    /// Whether a row of a window fits into a run and fills enough of it, in memory whose rows lie at whole groups too.
    fn fits(&self) -> bool {
        let filled = self.kernel[1] * self.channels * MOST_EMPTY >= self.run();
        filled && self.kernel[1] * self.width() <= self.run() && self.stripes()[1] * self.bytes() % GROUP == 0
    }
}

/// A product that reads an image through windows.
struct Reader {
    nest: usize,
    load: ValId,
    /// Which image of the batch.
    image: Expr,
    geometry: Geometry,
    /// Axes of the kernel's rows, columns and, where there are several, channels; and of the windows' rows and columns.
    kernel: [AxisId; 2],
    channel: Option<AxisId>,
    places: [AxisId; 2],
}

/// Makes stripes of the images that large products read, where a target's copy engine can bring them. Gives the buffers whose dimensions
/// are others now, in the order in which they lie.
pub(super) fn stripe(program: &mut LoopProgram, target: &Target) -> Vec<BufferId> {
    let mut done = Vec::new();
    if !target.has_warpgroups() {
        return done;
    }
    for image in (0..program.buffers.len() as u32).map(BufferId) {
        let Some(found) = readers(program, image, target) else { continue };
        let (writer, all) = match found.1.iter().find_map(|r| foreign_weights(program, r)) {
            Some((nest, load)) => {
                copy_weights(program, nest, load);
                // Positions are others now.
                let Some(found) = readers(program, image, target) else { continue };
                found
            }
            None => found,
        };
        let changed = |r: &Reader| {
            let other = Other::of(program, r)?;
            Some((striped(program, r, image, &other)?, other))
        };
        let Some(changed) = all.iter().map(changed).collect::<Option<Vec<_>>>() else { continue };
        let geometry = &all[0].geometry;
        write_image(program, writer, image, geometry);
        done.push(image);
        for (reader, (nest, other)) in all.iter().zip(changed) {
            program.nests[reader.nest] = nest;
            done.push(follow(program, geometry, &other));
        }
    }
    done
}

/// The nest that writes an image and the products that read it, if it is copied from somewhere for them alone and all see it alike.
fn readers(program: &LoopProgram, image: BufferId, target: &Target) -> Option<(usize, Vec<Reader>)> {
    let writer = copied_by(program, image)?;
    let nests = || program.nests.iter().enumerate().filter(|(_, n)| n.reads().contains(&image));
    let readers: Vec<Reader> = nests().map(|(n, nest)| Reader::of(program, nest, n, image, target)).collect::<Option<_>>()?;
    let first = readers.first()?;
    let alike = readers.iter().all(|r| r.geometry == first.geometry);
    (alike && first.geometry.channels <= FEW && first.geometry.fits()).then_some((writer, readers))
}

/// Of a convolution whose weights no nest copies for it alone (they are an input of the graph, say), its nest and its load of them.
fn foreign_weights(program: &LoopProgram, r: &Reader) -> Option<(usize, ValId)> {
    let nest = &program.nests[r.nest];
    let uses = |index: &[Expr]| index.iter().any(|e| e.uses_axis(r.kernel[1]));
    let (load, buffer, _) = loads(nest).find(|(v, _, index)| *v != r.load && r.is_forward(nest) && uses(index))?;
    let alone = program.nests.iter().filter(|n| n.reads().contains(&buffer)).count() == 1;
    (!alone || copied_by(program, buffer).is_none()).then_some((r.nest, load))
}

/// Gives a nest a copy of what it loads there.
fn copy_weights(program: &mut LoopProgram, nest: usize, load: ValId) {
    let LoopOp::Load { buffer: from, index, .. } = program.nests[nest].op(load).clone() else { return };
    let own = BufferId(program.buffers.len() as u32);
    let like = program.buffer(from);
    let (dtype, shape) = (like.dtype, like.shape.clone());
    let order: Vec<usize> = (0..shape.len()).collect();
    program.buffers.push(Buffer { name: format!("{}, copied", like.name), dtype, shape, kind: BufferKind::Temp });
    let writer = copy(program, from, own, &order, nest);
    program.nests[nest].ops[load.0 as usize].0 = LoopOp::Load { buffer: own, index, mask: None };
    program.nests.insert(nest, writer);
}

/// The only nest that writes a temporary, if all it does is to copy, converted perhaps, with one axis for each dimension.
fn copied_by(program: &LoopProgram, buffer: BufferId) -> Option<usize> {
    if program.buffer(buffer).kind != BufferKind::Temp {
        return None;
    }
    let mut writers = program.nests.iter().enumerate().filter(|(_, n)| n.writes().contains(&buffer));
    let ((at, nest), None) = (writers.next()?, writers.next()) else { return None };
    let plain = nest.ops.iter().all(|(op, _)| matches!(op, LoopOp::Load { mask: None, .. } | LoopOp::Cast(..)));
    let [store] = nest.stores.as_slice() else { return None };
    let counted = |e: &Expr, extent: &Expr| e.as_axis().is_some_and(|a| program.extent(a) == extent) || (e.is_zero() && extent.is_one());
    let whole = store.index.iter().zip(&program.buffer(buffer).shape).all(|(e, extent)| counted(e, extent));
    (plain && whole && !store.add && nest.inner.is_empty()).then_some(at)
}

impl Reader {
    fn of(program: &LoopProgram, nest: &Nest, at: usize, image: BufferId, target: &Target) -> Option<Reader> {
        let Kind::Contract(c) = classify(nest, program) else { return None };
        let dtype = program.buffer(image).dtype;
        let rounded = dtype == DType::F32 && target.matmul_precision > MatmulPrecision::Highest;
        if work(program, &c) < LARGE || !(matches!(dtype, DType::F16 | DType::BF16) || rounded) {
            return None;
        }
        let loads: Vec<ValId> = loads(nest).filter(|(_, b, _)| *b == image).map(|l| l.0).collect();
        let [load] = loads.as_slice() else { return None };
        let LoopOp::Load { index, .. } = nest.op(*load) else { return None };
        let [one, channel, rows, columns] = index.as_slice() else { return None };
        let shape: Vec<i64> = program.buffer(image).shape[1..].iter().map(|e| e.as_const()).collect::<Option<_>>()?;
        let channel = match channel.as_axis() {
            None if channel.is_zero() && shape[0] == 1 => None,
            axis => Some(axis?),
        };
        let mut g = Geometry {
            channels: shape[0],
            size: [shape[1], shape[2]],
            kernel: [0; 2],
            step: [0; 2],
            padding: [0; 2],
            places: [0; 2],
            dtype,
        };
        let (mut kernel, mut places) = ([AxisId(0); 2], [AxisId(0); 2]);
        for (d, e) in [rows, columns].into_iter().enumerate() {
            let extent = |a: &AxisId| program.extent(*a).as_const();
            let axes = e.axes();
            let [a, b] = axes.as_slice() else { return None };
            // A window is smaller than what it slides over.
            let (tap, place) = if extent(a)? < extent(b)? { (*a, *b) } else { (*b, *a) };
            let (one, step) = (e.coefficient(tap)?.as_const()?, e.coefficient(place)?.as_const()?);
            let rest = e.sub(&Expr::axis(tap)).sub(&Expr::axis(place).scale(step)).as_const()?;
            if one != 1 || step < 1 || rest > 0 || nest.inner.contains(&tap) == nest.inner.contains(&place) {
                return None;
            }
            (kernel[d], places[d]) = (tap, place);
            (g.kernel[d], g.step[d], g.padding[d], g.places[d]) = (extent(&tap)?, step, -rest, extent(&place)?);
        }
        let summed = nest.inner.contains(&kernel[0]);
        let same = [Some(kernel[1]), channel].into_iter().flatten().all(|a| nest.inner.contains(&a) == summed);
        let bounded = is_zero_outside(program, nest, *load);
        (same && bounded).then(|| Reader { nest: at, load: *load, image: one.clone(), geometry: g, kernel, channel, places })
    }

    /// Whether the window is what is summed: the product is the convolution itself. Else it is the weights' gradient.
    fn is_forward(&self, nest: &Nest) -> bool {
        nest.inner.contains(&self.kernel[0])
    }

    /// The axes that a run takes the place of.
    fn joined(&self) -> Vec<AxisId> {
        [Some(self.kernel[1]), self.channel].into_iter().flatten().collect()
    }
}

fn loads(nest: &Nest) -> impl Iterator<Item = (ValId, BufferId, &Vec<Expr>)> {
    nest.ops.iter().enumerate().filter_map(|(i, (op, _))| match op {
        LoopOp::Load { buffer, index, .. } => Some((ValId(i as u32), *buffer, index)),
        _ => None,
    })
}

/// Whether what a nest makes of a load is zero wherever the load would leave the buffer, and the element itself elsewhere.
fn is_zero_outside(program: &LoopProgram, nest: &Nest, load: ValId) -> bool {
    let LoopOp::Load { buffer, index, mask } = nest.op(load) else { return false };
    let shape = &program.buffer(*buffer).shape;
    // Follows the only way from the load to the product, which adds what it asks for.
    let mut conditions: Vec<ValId> = mask.iter().copied().collect();
    let mut at = load;
    loop {
        let users: Vec<usize> = (0..nest.ops.len()).filter(|i| nest.ops[*i].0.operands().contains(&at)).collect();
        let [user] = users.as_slice() else { return false };
        match &nest.ops[*user].0 {
            LoopOp::Cast(d, _) if d.is_float() => {}
            LoopOp::Scalar(ScalarOp::Select, args) if args[1] == at => {
                if !matches!(nest.op(args[2]), LoopOp::Const(l) if l.value() == 0.0) {
                    return false;
                }
                conditions.push(args[0]);
            }
            LoopOp::Scalar(ScalarOp::Mul, _) => break,
            _ => return false,
        }
        at = ValId(*user as u32);
    }
    let mut seen = vec![[false; 2]; index.len()];
    while let Some(v) = conditions.pop() {
        let LoopOp::Scalar(op, args) = nest.op(v) else { return false };
        if *op == ScalarOp::And {
            conditions.extend(args);
            continue;
        }
        let (LoopOp::Index(e), LoopOp::Const(bound)) = (nest.op(args[0]), nest.op(args[1])) else { return false };
        let bound = Expr::Const(bound.value() as i64);
        // The condition says where a dimension's index begins, or ends.
        let says = |d: usize| match op {
            ScalarOp::Ge => e.sub(&bound) == index[d],
            ScalarOp::Lt => e.sub(&bound).add(&shape[d]) == index[d],
            _ => false,
        };
        let Some(d) = (0..index.len()).find(|d| says(*d)) else { return false };
        seen[d][(*op == ScalarOp::Lt) as usize] = true;
    }
    // What no condition keeps inside stays there by itself.
    index.iter().zip(shape).zip(seen).all(|((e, extent), [low, high])| {
        let inside = |e: &Expr| matches!(e.bounds(program), (Some(least), _) if least >= 0);
        (low || inside(e)) && (high || inside(&extent.sub(e).sub(&Expr::ONE)))
    })
}

/// The other place where a product has the axes of a run.
enum Other {
    /// The weights, as they are copied by a nest for this product alone; and the load.
    Weights { buffer: BufferId, writer: usize, load: ValId },
    /// The weights' gradient.
    Gradient { buffer: BufferId },
}

impl Other {
    fn of(program: &LoopProgram, r: &Reader) -> Option<Other> {
        let (nest, joined) = (&program.nests[r.nest], r.joined());
        let uses = |index: &[Expr]| index.iter().any(|e| joined.iter().any(|a| e.uses_axis(*a)));
        // Rows, columns and channels of the window each are a dimension of it.
        let places = |index: &[Expr]| {
            let at = |a: AxisId| index.iter().position(|e| e.as_axis() == Some(a));
            let alone = index.iter().filter(|e| joined.iter().any(|a| e.uses_axis(*a))).count() == joined.len();
            index.len() == 4 && alone && joined.iter().all(|a| at(*a).is_some()) && at(r.kernel[0]) == Some(2) && at(r.kernel[1]) == Some(3)
        };
        let others: Vec<_> = loads(nest).filter(|(v, _, index)| *v != r.load && uses(index)).collect();
        let stores: Vec<_> = nest.stores.iter().filter(|s| uses(&s.index)).collect();
        match (others.as_slice(), stores.as_slice()) {
            ([(load, buffer, index)], []) if r.is_forward(nest) && places(index) => {
                let readers = program.nests.iter().filter(|n| n.reads().contains(buffer)).count();
                let writer = copied_by(program, *buffer)?;
                let plain = matches!(nest.op(*load), LoopOp::Load { mask: None, .. });
                (readers == 1 && plain).then_some(Other::Weights { buffer: *buffer, writer, load: *load })
            }
            ([], [store]) if !r.is_forward(nest) && !store.add && nest.stores.len() == 1 => {
                let gradient = &store.index[store.index.len().checked_sub(4)?..];
                let temporary = program.buffer(store.buffer).kind == BufferKind::Temp;
                let one = program.nests.iter().filter(|n| n.writes().contains(&store.buffer)).count() == 1;
                // The grouping of a convolution, one, stands in front.
                let alone = store.index[..store.index.len() - 4].iter().all(Expr::is_zero);
                (temporary && one && alone && places(gradient)).then_some(Other::Gradient { buffer: store.buffer })
            }
            _ => None,
        }
    }
}

/// The index of a run's element in the dimensions after the first, where `columns` and `channels` count.
fn within(rows: &Expr, columns: &Expr, channels: &Expr, width: i64) -> [Expr; 2] {
    [rows.clone(), columns.scale(width).add(channels)]
}

/// Writes an image as stripes, in the place of what its nest wrote.
fn write_image(program: &mut LoopProgram, writer: usize, image: BufferId, g: &Geometry) {
    let (width, [rows, elements]) = (g.width(), g.stripes());
    let first = program.buffer(image).shape[0].clone();
    let beyond = [0, 1].map(|d| g.padding[d]);
    copy_into(program, writer, image, [rows, elements / width], width, [g.channels, g.size[0], g.size[1]], beyond);
    program.buffers[image.0 as usize].shape = vec![first, Expr::Const(rows), Expr::Const(elements)];
}

/// Lets a copying nest write `[.., rows, columns * width]` from `[.., channels, rows, columns]` of the given size: moved by `before`
/// rows and columns, with zeros around.
fn copy_into(program: &mut LoopProgram, writer: usize, buffer: BufferId, space: [i64; 2], width: i64, size: [i64; 3], before: [i64; 2]) {
    let nest = program.nests[writer].clone();
    let old = &nest.stores[0].index;
    let [rows, columns, channels] = [space[0], space[1], width].map(|e| program.new_axis(Expr::Const(e)));
    let from = [Expr::axis(channels), Expr::axis(rows).sub(&Expr::Const(before[0])), Expr::axis(columns).sub(&Expr::Const(before[1]))];
    let map: FxHashMap<AxisId, Expr> = old[1..].iter().zip(&from).filter_map(|(e, from)| Some((e.as_axis()?, from.clone()))).collect();
    let mut b = NestBuilder::default();
    let mut inside = None;
    for (e, size) in from.iter().zip(size) {
        if let Some(c) = b.in_range(e, &Expr::ZERO, &Expr::Const(size), program) {
            inside = Some(b.and(inside, c));
        }
    }
    let mut values = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let v = match op {
            LoopOp::Load { buffer, index, .. } => {
                let index = index.iter().map(|e| rename(e, &map, None, program)).collect();
                let load = b.push(LoopOp::Load { buffer: *buffer, index, mask: inside }, *dtype);
                match inside {
                    Some(inside) => {
                        let zero = b.constant(0.0, *dtype);
                        b.scalar(ScalarOp::Select, &[inside, load, zero])
                    }
                    None => load,
                }
            }
            _ => b.import(op, *dtype, &map, &values, program),
        };
        values.push(v);
    }
    let [row, run] = within(&Expr::axis(rows), &Expr::axis(columns), &Expr::axis(channels), width);
    let value = values[nest.stores[0].value.0 as usize];
    b.nest.stores.push(Store { buffer, index: vec![old[0].clone(), row, run], value, add: false });
    b.nest.axes = old[0].axes().into_iter().chain([rows, columns, channels]).collect();
    b.nest.origins = nest.origins;
    program.nests[writer] = b.nest;
}

/// A product as it reads stripes; `None` where it asks for more of a run's place than what is read there.
fn striped(program: &mut LoopProgram, r: &Reader, image: BufferId, other: &Other) -> Option<Nest> {
    let (g, joined) = (&r.geometry, r.joined());
    let run = program.new_axis(Expr::Const(g.run()));
    let row = Expr::axis(r.kernel[0]);
    let at = vec![
        r.image.clone(),
        Expr::axis(r.places[0]).scale(g.step[0]).add(&row),
        Expr::axis(r.places[1]).scale(g.step[1] * g.width()).add(&Expr::axis(run)),
    ];
    let (program, nest, none) = (&*program, &program.nests[r.nest], FxHashMap::default());
    let mut b = NestBuilder::default();
    let mut values: Vec<ValId> = Vec::with_capacity(nest.ops.len());
    // The load, and what is made of it on the way to the product.
    let mut ours = vec![false; nest.ops.len()];
    for (i, (op, dtype)) in nest.ops.iter().enumerate() {
        let v = match (op, other) {
            _ if i == r.load.0 as usize => {
                ours[i] = true;
                b.push(LoopOp::Load { buffer: image, index: at.clone(), mask: None }, *dtype)
            }
            (LoopOp::Load { buffer, index, .. }, Other::Weights { load, .. }) if i == load.0 as usize => {
                let index = vec![index[0].clone(), row.clone(), Expr::axis(run)];
                b.push(LoopOp::Load { buffer: *buffer, index, mask: None }, *dtype)
            }
            // What kept the image's edges apart has nothing to keep apart.
            (LoopOp::Scalar(ScalarOp::Select, args), _) if ours[args[1].0 as usize] => {
                ours[i] = true;
                values[args[1].0 as usize]
            }
            (LoopOp::Reduce { op, axes, value }, _) => {
                let value = values[value.0 as usize];
                b.push(LoopOp::Reduce { op: *op, axes: join(axes, &joined, run), value }, *dtype)
            }
            _ => {
                ours[i] = matches!(op, LoopOp::Cast(_, x) if ours[x.0 as usize]);
                b.import(op, *dtype, &none, &values, program)
            }
        };
        values.push(v);
    }
    for s in &nest.stores {
        let mut index: Vec<Expr> = s.index.iter().map(|e| rename(e, &none, Some(&values), program)).collect();
        if let Other::Gradient { .. } = other {
            index.truncate(index.len() - 3);
            index.extend([row.clone(), Expr::axis(run)]);
        }
        b.nest.stores.push(Store { buffer: s.buffer, index, value: values[s.value.0 as usize], add: s.add });
    }
    b.nest.axes = join(&nest.axes, &joined, run);
    b.nest.inner = join(&nest.inner, &joined, run);
    b.nest.origins = nest.origins.clone();
    crate::nest::compact(&mut b.nest);
    let uses = |e: &Expr| joined.iter().any(|a| e.uses_axis(*a));
    let left = b.nest.ops.iter().any(|(op, _)| match op {
        LoopOp::Index(e) => uses(e),
        LoopOp::Load { index, .. } => index.iter().any(uses),
        _ => false,
    });
    let stored = b.nest.stores.iter().any(|s| s.index.iter().any(uses));
    (!left && !stored).then_some(b.nest)
}

/// Lets the other tensor that has the axes of a run lie as the image does.
fn follow(program: &mut LoopProgram, g: &Geometry, other: &Other) -> BufferId {
    let (width, space) = (g.width(), [g.kernel[0], g.run() / g.width()]);
    match other {
        Other::Weights { buffer, writer, .. } => {
            let first = program.buffer(*buffer).shape[0].clone();
            copy_into(program, *writer, *buffer, space, width, [g.channels, g.kernel[0], g.kernel[1]], [0, 0]);
            program.buffers[buffer.0 as usize].shape = vec![first, Expr::Const(g.kernel[0]), Expr::Const(g.run())];
            *buffer
        }
        Other::Gradient { buffer } => {
            let shape = &mut program.buffers[buffer.0 as usize].shape;
            let ahead = shape.len() - 3;
            shape.truncate(ahead);
            shape.extend([Expr::Const(g.kernel[0]), Expr::Const(g.run())]);
            // Whoever reads the gradient finds its columns and channels in the run.
            for (op, _) in program.nests.iter_mut().flat_map(|n| &mut n.ops) {
                if let LoopOp::Load { buffer: b, index, .. } = op
                    && b == buffer
                {
                    let [row, run] = within(&index[ahead + 1], &index[ahead + 2], &index[ahead], width);
                    index.truncate(ahead);
                    index.extend([row, run]);
                }
            }
            *buffer
        }
    }
}

/// Axes with the run in the place of those that it takes the place of, where they are.
fn join(axes: &[AxisId], joined: &[AxisId], run: AxisId) -> Vec<AxisId> {
    let others = axes.iter().filter(|a| !joined.contains(a)).copied();
    others.chain(axes.contains(&joined[0]).then_some(run)).collect()
}
