//! Windows of images as columns, and back: what convolutions by matrix products are made of.

use super::shape::constant;
use super::windows::{Windows, each, windows};
use crate::build::Builder;
use crate::error::Result;
use crate::expr::{Dim, Expr};
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};

pub static OPS: &[OpDef] = &[
    op!(
        "im2col",
        "Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1",
        "The windows of images [N, C, H, W] as columns [N, C * kernel, windows]. PyTorch: torch.nn.functional.unfold.",
        im2col
    ),
    op!(
        "col2im",
        "Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1",
        "Images [N, C, *output_size] whose elements are the sums of those that stand for them in the columns of im2col [N, C * kernel, \
         windows]. PyTorch: torch.nn.functional.fold.",
        col2im
    ),
];

struct Shape2 {
    kernel: Vec<i64>,
    dilation: Vec<i64>,
    padding: Vec<i64>,
    stride: Vec<i64>,
}

impl Shape2 {
    fn new(b: &Builder, a: &Attrs) -> Result<Shape2> {
        let two = |name, least| each(b, a, name, 2, least);
        Ok(Shape2 { kernel: two("kernel_size", 1)?, dilation: two("dilation", 1)?, padding: two("padding", 0)?, stride: two("stride", 1)? })
    }

    /// How many windows lie along a dimension of a size; none where it is too small.
    fn count(&self, d: usize, size: i64) -> i64 {
        let free = size.saturating_add(2 * self.padding[d]) - self.dilation[d].saturating_mul(self.kernel[d] - 1) - 1;
        if free < 0 { 0 } else { free / self.stride[d] + 1 }
    }
}

/// An image or a batch of them as a batch, and whether a dimension was added.
fn batched(b: &mut Builder, x: ValueId, rank: usize) -> Result<(ValueId, bool)> {
    match b.rank(x) {
        r if r == rank => Ok((x, false)),
        r if r + 1 == rank => Ok((b.unsqueeze(x, 0)?, true)),
        r => Err(b.error(format!("the input has {r} dimensions"), format!("give {rank}, or {} without the batch", rank - 1))),
    }
}

fn im2col(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let s = Shape2::new(b, a)?;
    let (v, added) = batched(b, x[0], 4)?;
    let pad: Vec<Dim> = s.padding.iter().map(|p| Dim::Const(*p)).collect();
    let w = Windows { kernel: s.kernel.clone(), stride: s.stride.clone(), dilation: s.dilation.clone(), lo: pad.clone(), hi: pad };
    let y = windows(b, v, &w, 0.0)?;
    let y = b.permute(y, &[0, 1, 4, 5, 2, 3])?;
    let shape = b.shape(y);
    let mut out = vec![shape[0].clone(), Expr::product(&shape[1..4]), Expr::product(&shape[4..])];
    if added {
        out.remove(0);
    }
    Ok(vec![b.reshape(y, out)?])
}

fn col2im(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let s = Shape2::new(b, a)?;
    let size = each(b, a, "output_size", 2, 1)?;
    let (v, added) = batched(b, x[0], 3)?;
    let shape = b.shape(v);
    let counts = [s.count(0, size[0]), s.count(1, size[1])];
    let kernel = s.kernel[0].saturating_mul(s.kernel[1]);
    let channels = shape[1].exact_div(&Dim::Const(kernel));
    let windows = constant(b, &shape[2])?;
    let Some(channels) = channels.filter(|_| counts[0].saturating_mul(counts[1]) == windows && windows > 0) else {
        let text = format!(
            "{} does not hold {} windows of {kernel} elements",
            b.graph.env.show_shape(&shape),
            counts[0].saturating_mul(counts[1])
        );
        return Err(b.error(text, "give [N, C * kernel, windows], as im2col with the same arguments makes it"));
    };
    if shape[0].is_zero() || channels.is_zero() {
        let out = [shape[0].clone(), channels, Dim::Const(size[0]), Dim::Const(size[1])];
        return Ok(vec![b.full(&out[added as usize..], 0.0, b.dtype(v))?]);
    }
    let [k0, k1, c0, c1] = [s.kernel[0], s.kernel[1], counts[0], counts[1]].map(Dim::Const);
    let y = b.reshape(v, vec![shape[0].clone(), channels.clone(), k0, k1, c0, c1])?;
    // [N, C, kernel, windows, ..] to [N, C, H, ..], then the same for W.
    let y = b.permute(y, &[0, 1, 2, 4, 3, 5])?;
    let y = placed(b, y, 2, &s, 0, size[0])?;
    let y = placed(b, y, 3, &s, 1, size[1])?;
    let out = b.shape(y)[added as usize..].to_vec();
    Ok(vec![b.reshape(y, out)?])
}

/// Dimensions `at` (places in the kernel) and `at + 1` (windows) as one of `size`, each element added where it lies.
fn placed(b: &mut Builder, x: ValueId, at: usize, s: &Shape2, d: usize, size: i64) -> Result<ValueId> {
    let (stride, dilation, padding) = (s.stride[d], s.dilation[d], s.padding[d]);
    let windows = b.shape(x)[at + 1].clone();
    let count = constant(b, &windows)?;
    let total = size + 2 * padding;
    let mut sum = None;
    for k in 0..s.kernel[d] {
        let part = b.narrow(x, at, Dim::Const(k), Dim::ONE)?;
        let mut shape = b.shape(part);
        shape.remove(at);
        shape.insert(at + 1, Dim::ONE);
        let part = b.reshape(part, shape)?;
        let part = b.pad(part, at + 1, Dim::ZERO, Dim::Const(stride - 1), 0.0)?;
        let mut shape = b.shape(part);
        shape.remove(at + 1);
        shape[at] = Dim::Const(count * stride);
        let part = b.reshape(part, shape)?;
        let span = (count - 1) * stride + 1;
        let part = b.narrow(part, at, Dim::ZERO, Dim::Const(span))?;
        let part = b.pad(part, at, Dim::Const(k * dilation), Dim::Const(total - span - k * dilation), 0.0)?;
        sum = Some(match sum {
            Some(s) => b.add(s, part)?,
            None => part,
        });
    }
    let sum = sum.ok_or_else(|| b.error("a kernel of nothing", "use a size of at least 1"))?;
    b.narrow(sum, at, Dim::Const(padding), Dim::Const(size))
}

/// Frames `[B, T, n]`, each `hop` behind the one before, added up where they overlap: `[B, n + hop (T - 1)]`.
pub(super) fn overlap_add(b: &mut Builder, x: ValueId, hop: i64) -> Result<ValueId> {
    let shape = b.shape(x);
    let (t, n) = (constant(b, &shape[1])?, constant(b, &shape[2])?);
    // Pieces of hop elements: piece k of a frame lies with piece 0 of the frame k later.
    let pieces = (n + hop - 1) / hop;
    let x = b.pad(x, 2, Dim::ZERO, Dim::Const(pieces * hop - n), 0.0)?;
    let x = b.reshape(x, vec![shape[0].clone(), Dim::Const(t), Dim::Const(pieces), Dim::Const(hop)])?;
    let mut sum = None;
    for k in 0..pieces {
        let part = b.narrow(x, 2, Dim::Const(k), Dim::ONE)?;
        let part = b.reshape(part, vec![shape[0].clone(), Dim::Const(t), Dim::Const(hop)])?;
        let part = b.pad(part, 1, Dim::Const(k), Dim::Const(pieces - 1 - k), 0.0)?;
        sum = Some(match sum {
            Some(s) => b.add(s, part)?,
            None => part,
        });
    }
    let sum = sum.ok_or_else(|| b.error("frames of nothing", "use a length of at least 1"))?;
    let flat = b.reshape(sum, vec![shape[0].clone(), Dim::Const((t + pieces - 1) * hop)])?;
    b.narrow(flat, 1, Dim::ZERO, Dim::Const(n + hop * (t - 1)))
}
