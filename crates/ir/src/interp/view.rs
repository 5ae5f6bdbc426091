//! Strided views of dense buffers, and loops over several of them at once.

use crate::dtype::DType;
use crate::error::{Error, Result};
use std::rc::Rc;

/// A tensor value: shape and strides over a shared buffer.
#[derive(Clone)]
pub struct View {
    pub dtype: DType,
    pub data: Rc<Vec<f64>>,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
}

pub fn dense_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for d in (1..shape.len()).rev() {
        // Only without elements can this be too large.
        strides[d - 1] = strides[d].saturating_mul(shape[d] as isize);
    }
    strides
}

impl View {
    pub fn dense(dtype: DType, shape: Vec<usize>, data: Vec<f64>) -> View {
        View { dtype, data: Rc::new(data), offset: 0, strides: dense_strides(&shape), shape }
    }

    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    fn is_dense(&self) -> bool {
        let want = dense_strides(&self.shape);
        self.shape.iter().zip(&self.strides).zip(want).all(|((n, s), w)| *n <= 1 || *s == w)
    }

    /// The elements in row-major order.
    pub fn to_vec(&self) -> Vec<f64> {
        let n = self.numel();
        if n == 0 {
            // A part of nothing may begin after its end.
            return Vec::new();
        }
        if self.is_dense() {
            return self.data[self.offset..self.offset + n].to_vec();
        }
        let mut out = Vec::with_capacity(n);
        Loops::new(&self.shape, [self]).run(|[o], n, [s]| {
            let mut at = o;
            for _ in 0..n {
                out.push(self.data[at as usize]);
                at += s;
            }
        });
        out
    }

    pub fn reshape(&self, shape: Vec<usize>) -> View {
        if self.is_dense() {
            return View { strides: dense_strides(&shape), shape, ..self.clone() };
        }
        View::dense(self.dtype, shape, self.to_vec())
    }

    pub fn permute(&self, perm: &[usize]) -> View {
        View {
            shape: perm.iter().map(|p| self.shape[*p]).collect(),
            strides: perm.iter().map(|p| self.strides[*p]).collect(),
            ..self.clone()
        }
    }

    pub fn expand(&self, shape: Vec<usize>) -> View {
        let strides = (0..shape.len()).map(|d| if self.shape[d] == shape[d] { self.strides[d] } else { 0 }).collect();
        View { shape, strides, ..self.clone() }
    }

    pub fn slice(&self, start: &[usize], size: &[usize], step: &[i64]) -> Result<View> {
        let mut out = self.clone();
        for d in 0..self.shape.len() {
            let inside = size[d] == 0 || start[d] + (size[d] - 1) * (step[d] as usize) < self.shape[d];
            if !inside {
                let problem = format!("{} elements from {} in steps of {} leave dimension {d}", size[d], start[d], step[d]);
                return Err(Error::op("slice", format!("{:?}", self.shape), problem, "slice inside the tensor"));
            }
            if size[d] > 0 {
                out.offset = out.offset.wrapping_add_signed(start[d] as isize * self.strides[d]);
            }
            out.shape[d] = size[d];
            out.strides[d] = self.strides[d] * step[d] as isize;
        }
        Ok(out)
    }

    pub fn flip(&self, dims: &[usize]) -> View {
        let mut out = self.clone();
        for d in dims {
            if out.shape[*d] > 0 {
                out.offset = out.offset.wrapping_add_signed((out.shape[*d] as isize - 1) * out.strides[*d]);
                out.strides[*d] = -out.strides[*d];
            }
        }
        out
    }

    pub fn unfold(&self, dim: usize, size: usize, step: usize, dilation: usize) -> Result<View> {
        let span = dilation * (size - 1) + 1;
        if self.shape[dim] < span {
            let problem = format!("a window of {span} elements does not fit dimension {dim}");
            return Err(Error::op("unfold", format!("{:?}", self.shape), problem, "use a smaller window"));
        }
        let mut out = self.clone();
        out.shape[dim] = (self.shape[dim] - span) / step + 1;
        out.shape.push(size);
        out.strides.push(self.strides[dim] * dilation as isize);
        out.strides[dim] *= step as isize;
        Ok(out)
    }

    /// The strides with `dim` standing still: for indices that replace that dimension's own.
    pub fn without(&self, dim: usize) -> Vec<isize> {
        let mut s = self.strides.clone();
        s[dim] = 0;
        s
    }
}

/// A loop nest over one shape in which several operands move by their own strides. Adjacent dimensions are merged where
/// every operand allows it, so that dense operands make one long inner loop.
pub struct Loops<const N: usize> {
    extents: Vec<usize>,
    strides: Vec<[isize; N]>,
    start: [isize; N],
}

impl<const N: usize> Loops<N> {
    pub fn new(shape: &[usize], views: [&View; N]) -> Self {
        Self::with_strides(shape, views.map(|v| (v.offset as isize, v.strides.as_slice())))
    }

    pub fn with_strides(shape: &[usize], operands: [(isize, &[isize]); N]) -> Self {
        let (mut extents, mut strides): (Vec<usize>, Vec<[isize; N]>) = (Vec::new(), Vec::new());
        for d in 0..shape.len() {
            if shape[d] == 1 {
                continue;
            }
            let s = operands.map(|(_, s)| s[d]);
            match (extents.last_mut(), strides.last_mut()) {
                (Some(e), Some(last)) if (0..N).all(|k| last[k] == s[k] * shape[d] as isize) => {
                    *e *= shape[d];
                    *last = s;
                }
                _ => {
                    extents.push(shape[d]);
                    strides.push(s);
                }
            }
        }
        if extents.is_empty() {
            extents.push(1);
            strides.push([0; N]);
        }
        Loops { extents, strides, start: operands.map(|(o, _)| o) }
    }

    /// Calls `row(offsets, count, strides)` for each innermost loop, in row-major order.
    pub fn run(&self, mut row: impl FnMut([isize; N], usize, [isize; N])) {
        if self.extents.contains(&0) {
            return;
        }
        let last = self.extents.len() - 1;
        let mut index = vec![0usize; last];
        let mut at = self.start;
        loop {
            row(at, self.extents[last], self.strides[last]);
            let mut d = last;
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                index[d] += 1;
                for k in 0..N {
                    at[k] += self.strides[d][k];
                }
                if index[d] < self.extents[d] {
                    break;
                }
                for k in 0..N {
                    at[k] -= self.strides[d][k] * self.extents[d] as isize;
                }
                index[d] = 0;
            }
        }
    }
}
