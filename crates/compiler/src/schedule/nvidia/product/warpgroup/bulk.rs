//! How bulk copies bring a factor: as boxes of a strided tensor, or as the pixels at which the windows of a convolution begin.
//!
//! Both are read off the index and the conditions of a factor's load. A tile has neighbours along one direction, k or the factor's
//! side, and rows along the other; a direction has axes of the nest, of which the last counts fastest.
//!
//! *Boxes*: the axes of a direction are one dimension of the tensor where they count its memory through; otherwise each is one by
//! itself, and tiles divide the last.
//!
//! *Windows*: neighbours are channels, rows are pixels, as the copy engine takes them (`im2col`): image by image, row by row, with
//! zeros beyond the edges. The direction of the channels has the places within the kernel too, so that a tile lies at one of them.

use super::Warpgroups;
use crate::parts::Part;
use crate::schedule::nvidia::bulk::GROUP;
use crate::schedule::nvidia::product::fetch::{self, Condition};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel as k;
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, ValId};
use aludel_ir::program::{TensorMap, Windows};
use aludel_ir::{DType, ScalarOp};

/// Dimensions of a tensor that a map may have.
const RANK: usize = 5;

/// A factor that bulk copies bring.
#[derive(Clone)]
pub(super) struct Bulk {
    pub map: TensorMap,
    /// Whether rows of its tiles lie across k.
    pub across: bool,
    /// Where a copy begins, in axes of the nest: those of k stand for the tile's place along k, those of the side for its place there.
    pub at: Vec<Expr>,
    /// Which pixel of its windows it takes; empty for boxes.
    pub within: Vec<Expr>,
}

/// A dimension of a tensor, and where along it a copy begins.
struct Dim {
    at: Expr,
    extent: Expr,
    stride: Expr,
    size: u32,
}

/// A load that copies may bring: what it reads, and of which elements.
struct Load<'a> {
    buffer: BufferId,
    index: &'a Expr,
    conditions: Vec<Condition>,
}

/// A sum of axes that conditions keep between a beginning and an end.
struct Bounds {
    index: Expr,
    low: Option<i64>,
    high: Option<i64>,
}

impl Bounds {
    /// Adds what a condition says.
    fn note(all: &mut Vec<Bounds>, c: &Condition) -> Option<()> {
        let at = all.iter().position(|b| b.index == c.index).unwrap_or_else(|| {
            all.push(Bounds { index: c.index.clone(), low: None, high: None });
            all.len() - 1
        });
        let end = match c.op {
            ScalarOp::Ge => &mut all[at].low,
            ScalarOp::Lt => &mut all[at].high,
            _ => return None,
        };
        end.replace(c.bound.as_const()?).is_none().then_some(())
    }

    /// The dimension that the sum counts in the memory of an index.
    fn dim(&self, index: &Expr) -> Option<Dim> {
        let mut stride = None;
        for a in self.index.axes() {
            let (here, there) = (self.index.coefficient(a)?.as_const()?, index.coefficient(a)?.as_const()?);
            let each = (here != 0 && there % here == 0).then(|| there / here)?;
            if *stride.get_or_insert(each) != each {
                return None;
            }
        }
        let (low, high) = (self.low?, self.high?);
        let at = self.index.sub(&Expr::Const(low));
        Some(Dim { at, extent: Expr::Const(high - low), stride: Expr::Const(stride?), size: 1 })
    }
}

/// A dimension of space: the pixel of a place of a window is `step * place + sum of distance * tap + first`, of an image that begins
/// at 0.
struct Space {
    place: AxisId,
    step: i64,
    /// Axes of the kernel, and pixels from one to the next, which may be backwards.
    taps: Vec<(AxisId, i64)>,
    first: i64,
    /// Where the image begins and ends by the conditions, before `first` counts from its beginning.
    low: Option<i64>,
    high: Option<i64>,
    extent: i64,
    /// Elements from a pixel to the next.
    stride: i64,
}

impl Space {
    fn new(place: AxisId, stride: i64) -> Space {
        Space { place, step: 1, taps: vec![], first: 0, low: None, high: None, extent: 0, stride }
    }

    fn is_bounded(&self) -> bool {
        self.low.is_some() || self.high.is_some()
    }

    /// How far the taps reach backwards, which is negative, and forwards.
    fn reach(&self, program: &LoopProgram) -> Option<[i64; 2]> {
        let mut reach = [0, 0];
        for (tap, distance) in &self.taps {
            let far = distance * (program.extent(*tap).as_const()? - 1);
            reach[(far > 0) as usize] += far;
        }
        Some(reach)
    }

    /// Counts pixels from where the image begins; where no condition says so, nothing that is read lies outside.
    fn settle(&mut self, program: &LoopProgram) -> Option<()> {
        let [backwards, forwards] = self.reach(program)?;
        let last = self.first + self.step * (program.extent(self.place).as_const()? - 1) + forwards;
        let low = self.low.unwrap_or(self.first + backwards);
        self.extent = self.high.unwrap_or(last + 1) - low;
        self.first -= low;
        Some(())
    }
}

impl Warpgroups<'_> {
    /// How bulk copies bring a factor, where they can: the units' first or their second. So many rows of it are a tile.
    pub(super) fn bulk(&self, operand: ValId, side: &[AxisId], rows: u32, first: bool) -> Option<Bulk> {
        let t = &self.t;
        let dtype = self.plan.factors.dtype();
        let plain = fetch::plain(t.nest, operand, dtype)?;
        let LoopOp::Load { buffer, index, .. } = t.nest.op(plain.load) else { return None };
        let [index] = index.as_slice() else { return None };
        let load = Load { buffer: *buffer, index, conditions: plain.conditions };
        let one = |axes: &[AxisId]| Some(index.coefficient(*axes.last()?)?.is_one());
        let across = !one(&t.c.k)?;
        // The units transpose 16 bits only; what they take from registers may lie either way.
        if across && (dtype == DType::F32 && !first || !one(side)?) {
            return None;
        }
        self.boxes(&load, side, rows, across).or_else(|| self.windows(&load, side, rows, across))
    }

    fn boxes(&self, load: &Load, side: &[AxisId], rows: u32, across: bool) -> Option<Bulk> {
        let t = &self.t;
        let row = self.plan.factors.row();
        let (inner, outer, height) = if across { (side, t.c.k.as_slice(), row) } else { (t.c.k.as_slice(), side, rows) };
        // What has a beginning and an end is a dimension; what lies beyond them is zero there.
        let mut bounded: Vec<Bounds> = Vec::new();
        for c in &load.conditions {
            Bounds::note(&mut bounded, c)?;
        }
        let used = |a: &AxisId| bounded.iter().any(|b| b.index.uses_axis(*a));
        let free = |axes: &[AxisId]| axes.iter().filter(|a| !used(a)).copied().collect::<Vec<_>>();
        // A tile lies at one place along each of them.
        let whole = |axes: &[AxisId], size: u32| {
            let Some((last, others)) = axes.split_last() else { return false };
            !used(last) && (!others.iter().any(used) || t.divides(&[*last], size))
        };
        if !whole(inner, row) || !whole(outer, height) {
            return None;
        }
        let mut dims = dimensions(load.index, &free(inner), row, t.program)?;
        dims.extend(dimensions(load.index, &free(outer), height, t.program)?);
        for a in t.c.batch.iter().filter(|a| !used(a)) {
            let stride = load.index.coefficient(*a)?;
            if !stride.is_zero() {
                dims.push(Dim { at: Expr::axis(*a), extent: t.program.extent(*a).clone(), stride, size: 1 });
            }
        }
        let mut offset = load.index.clone();
        for a in t.c.k.iter().chain(side).chain(&t.c.batch).filter(|a| !used(a)) {
            offset = offset.sub(&load.index.coefficient(*a)?.mul(&Expr::axis(*a)));
        }
        for b in &bounded {
            let dim = b.dim(load.index)?;
            offset = offset.sub(&dim.stride.mul(&dim.at));
            dims.push(dim);
        }
        for d in &mut dims[1..] {
            // Memory that is counted backwards, forwards.
            if d.size == 1 && d.stride.terms().all(|(_, c)| c < 0) {
                let last = d.extent.sub(&Expr::ONE);
                offset = offset.add(&d.stride.mul(&last));
                (d.at, d.stride) = (last.sub(&d.at), d.stride.scale(-1));
            }
        }
        let (map, at) = self.map(load, offset, dims)?;
        Some(Bulk { map, across, at, within: vec![] })
    }

    /// The map of these dimensions, the first of which has neighbours; `None` where memory does not lie so that it can be one.
    fn map(&self, load: &Load, offset: Expr, dims: Vec<Dim>) -> Option<(TensorMap, Vec<Expr>)> {
        let bytes = k::element_bytes(self.plan.factors.dtype()) as i64;
        // Whole groups, forwards.
        let whole = |e: &Expr| e.terms().all(|(_, c)| c > 0 && c * bytes % GROUP == 0);
        let strides: Vec<Expr> = dims[1..].iter().map(|d| d.stride.clone()).collect();
        let fits = dims[0].stride.is_one() && dims.len() <= RANK && strides.iter().all(|s| whole(s) && !s.is_zero());
        if !fits || !offset.axes().is_empty() || !whole(&offset) {
            return None;
        }
        let map = TensorMap {
            placement: load.buffer.0 as usize,
            offset,
            dtype: self.plan.factors.dtype(),
            extents: dims.iter().map(|d| d.extent.clone()).collect(),
            strides,
            sizes: dims.iter().map(|d| d.size).collect(),
            windows: None,
        };
        Some((map, dims.into_iter().map(|d| d.at).collect()))
    }

    fn windows(&self, load: &Load, side: &[AxisId], rows: u32, across: bool) -> Option<Bulk> {
        let (t, row) = (&self.t, self.plan.factors.row());
        if !t.target.parts.has(Part::Windows) {
            return None;
        }
        let (channels, pixels, height) = if across { (side, t.c.k.as_slice(), row) } else { (t.c.k.as_slice(), side, rows) };
        let ((channel, taps), (image, places)) = (channels.split_last()?, pixels.split_first()?);
        if !t.divides(&[*channel], row) || places.is_empty() || places.len() > 3 {
            return None;
        }
        let constant = |a: AxisId| load.index.coefficient(a)?.as_const();
        let between = constant(*image)?;
        let mut space = Vec::new();
        for place in places.iter().rev() {
            space.push(Space::new(*place, constant(*place).filter(|s| *s > 0)?));
        }
        for c in &load.conditions {
            bound(space.iter_mut().find(|s| c.index.uses_axis(s.place))?, c, taps)?;
        }
        for tap in taps {
            if !space.iter().any(|s| s.taps.iter().any(|(a, _)| a == tap)) {
                assign(&mut space, *tap, constant(*tap)?)?;
            }
        }
        space.iter_mut().try_for_each(|s| s.settle(t.program))?;
        self.finish_windows(load, (*image, between), *channel, &space, (height, across))
    }

    fn finish_windows(
        &self,
        load: &Load,
        (image, between): (AxisId, i64),
        channel: AxisId,
        space: &[Space],
        (height, across): (u32, bool),
    ) -> Option<Bulk> {
        let t = &self.t;
        let extent = |a: AxisId| t.program.extent(a).clone();
        // The limits of the copy engine: corners of 16, 8 or 4 bits, places within windows of 16, 8 or 5.
        let (corner, most) = [(1 << 15, 1 << 16), (1 << 7, 1 << 8), (1 << 3, 1 << 5)][space.len() - 1];
        let mut windows = Windows { first: vec![], last: vec![], steps: vec![] };
        let mut dims = vec![Dim { at: Expr::axis(channel), extent: extent(channel), stride: Expr::ONE, size: self.plan.factors.row() }];
        let mut offset = load.index.sub(&Expr::axis(channel)).sub(&Expr::axis(image).scale(between));
        let mut within = Vec::new();
        for s in space {
            let [backwards, forwards] = s.reach(t.program)?;
            let first = s.first + backwards;
            let last = first + s.step * (extent(s.place).as_const()? - 1) - (s.extent - 1);
            let fits = |v: i64| (-corner..corner).contains(&v);
            if !fits(first) || !fits(last) || forwards - backwards >= most || !(1..=8).contains(&s.step) || s.extent < 1 {
                return None;
            }
            windows.first.push(first as i32);
            windows.last.push(last as i32);
            windows.steps.push(s.step as u32);
            let mut at = Expr::Const(-backwards);
            let mut pixel = Expr::axis(s.place).scale(s.step).add(&Expr::Const(s.first));
            for (tap, distance) in &s.taps {
                at = at.add(&Expr::axis(*tap).scale(*distance));
                pixel = pixel.add(&Expr::axis(*tap).scale(*distance));
            }
            within.push(at);
            offset = offset.sub(&pixel.scale(s.stride));
            let at = Expr::axis(s.place).scale(s.step).add(&Expr::Const(first));
            dims.push(Dim { at, extent: Expr::Const(s.extent), stride: Expr::Const(s.stride), size: 1 });
        }
        dims[1].size = height;
        let mut grouped = false;
        let mut images = Dim { at: Expr::axis(image), extent: extent(image), stride: Expr::Const(between), size: 1 };
        for a in &t.c.batch {
            let stride = load.index.coefficient(*a)?.as_const()?;
            offset = offset.sub(&Expr::axis(*a).scale(stride));
            if stride % between == 0 {
                // Parts of a sum over the images.
                images.at = images.at.add(&Expr::axis(*a).scale(stride / between));
                images.extent = images.extent.add(&extent(*a).sub(&Expr::ONE).scale(stride / between));
            } else {
                // Groups of channels.
                grouped = true;
                dims[0].at = dims[0].at.add(&Expr::axis(*a).scale(stride));
                dims[0].extent = dims[0].extent.add(&extent(*a).sub(&Expr::ONE).scale(stride));
            }
        }
        // The last tile of a part may read pixels of the next one's images. The other factor is zero there, and what is not finite is so in
        // the same sums of the next part.
        dims.push(images);
        // Groups lie side by side within a pixel. (The runs of stripes overlap from pixel to pixel.)
        if grouped && dims[0].extent.as_const()? > dims[1].stride.as_const()? {
            return None;
        }
        let (map, at) = self.map(load, offset, dims)?;
        Some(Bulk { map: TensorMap { windows: Some(windows), ..map }, across, at, within })
    }
}

/// What one condition says of a dimension of space: how its pixels are counted, and where the image begins or ends.
fn bound(s: &mut Space, c: &Condition, taps: &[AxisId]) -> Option<()> {
    let coefficient = |a: AxisId| c.index.coefficient(a)?.as_const();
    let step = coefficient(s.place).filter(|s| *s > 0)?;
    let mut rest = c.index.sub(&Expr::axis(s.place).scale(step));
    let mut found = Vec::new();
    for tap in taps.iter().filter(|t| c.index.uses_axis(**t)) {
        let distance = coefficient(*tap)?;
        rest = rest.sub(&Expr::axis(*tap).scale(distance));
        found.push((*tap, distance));
    }
    let (first, bound) = (rest.as_const()?, c.bound.as_const()?);
    if !s.is_bounded() {
        // As many elements a pixel as the places' stride says.
        if s.stride % step != 0 {
            return None;
        }
        s.stride /= step;
        (s.step, s.first, s.taps) = (step, first, found);
    } else if (s.step, s.first, &s.taps) != (step, first, &found) {
        return None;
    }
    let end = match c.op {
        ScalarOp::Ge => &mut s.low,
        ScalarOp::Lt => &mut s.high,
        _ => return None,
    };
    end.replace(bound).is_none().then_some(())
}

/// Gives an axis of the kernel, which moves so many elements far, to a dimension of space along which nothing is outside of the image:
/// that in which both count few pixels.
fn assign(space: &mut [Space], tap: AxisId, far: i64) -> Option<()> {
    let common = |s: &Space| gcd(s.stride, far.abs());
    let free = space.iter_mut().filter(|s| !s.is_bounded() && s.taps.is_empty());
    let s = free.min_by_key(|s| s.stride.max(far.abs()) / common(s))?;
    if far == 0 {
        return None;
    }
    let pixel = common(s);
    (s.step, s.stride) = (s.stride / pixel, pixel);
    s.taps.push((tap, far / pixel));
    Some(())
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The dimensions that the axes of a direction are, the one of the tile first; `None` where an index does not count them evenly.
fn dimensions(index: &Expr, axes: &[AxisId], size: u32, program: &LoopProgram) -> Option<Vec<Dim>> {
    let (last, _) = axes.split_last()?;
    let strides: Vec<Expr> = axes.iter().map(|a| index.coefficient(*a)).collect::<Option<_>>()?;
    let stride = strides.last()?.clone();
    let extent = |a: AxisId| program.extent(a).clone();
    // The axes as one, if the memory behind each is that of the next as often as that counts.
    let counted = axes.windows(2).zip(strides.windows(2)).all(|(a, s)| s[0] == s[1].mul(&extent(a[1])));
    if counted {
        let at = axes.iter().fold(Expr::ZERO, |sum, a| sum.mul(&extent(*a)).add(&Expr::axis(*a)));
        return Some(vec![Dim { at, extent: program.volume(axes), stride, size }]);
    }
    let divides = extent(*last).as_const().is_some_and(|e| e % size as i64 == 0);
    let all = axes.iter().zip(strides).rev().enumerate();
    let dim = |(i, (a, stride)): (usize, (&AxisId, Expr))| Dim {
        at: Expr::axis(*a),
        extent: extent(*a),
        stride,
        size: if i == 0 { size } else { 1 },
    };
    divides.then(|| all.map(dim).collect())
}
