//! Where PyTorch would have a tensor's elements: the strides of views. Values here are always dense; strides decide what is a view and
//! what a copy, what `view` refuses, and what `stride()` and `is_contiguous()` say.

use std::cell::RefCell;

use aludel_ir::op::Attr;
use aludel_ir::{Attrs, DType, Dim, ShapeEnv, TensorType};
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Value};
use rustc_hash::FxHashMap;

use crate::cell::{Step, expect, host};
use crate::state::{raise, wrap};

/// Functions of `torch._C` about layouts.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("layout", layout),
    Def::new("order", order),
    Def::new("is_contiguous", is_contiguous),
    Def::new("is_view", is_view),
    Def::new("alias", alias),
    Def::new("base", base),
    Def::new("lie", lie),
];

/// `base(tensor)`: the tensor whose elements a view shows; any other one itself.
fn base(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("base")?;
    Ok(expect(&x, "base")?.base().map_or(x, Value::Instance))
}

/// So many layouts of views are kept; then all are forgotten.
const MAX_SHOWN: usize = 1024;

thread_local! {
    /// What steps of views show, by operator, arguments, result and the layout that they are of.
    static SHOWN: RefCell<FxHashMap<(&'static str, Attrs, usize, Layout), Option<Layout>>> = RefCell::default();
}

/// Sizes, and the distances of elements in the memory of the base.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
    pub offset: i64,
}

impl Layout {
    /// Elements in order.
    pub fn dense(shape: Vec<i64>) -> Layout {
        let mut strides = vec![1; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d] * shape[d].max(1);
        }
        Layout { shape, strides, offset: 0 }
    }

    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.shape.contains(&0)
            || self.shape.iter().zip(&self.strides).rev().all(|(n, stride)| {
                let fits = *n == 1 || *stride == expected;
                expected *= n;
                fits
            })
    }

    /// The dense layout whose dimensions lie in memory in an order, the innermost last; none that is another than that of their own order.
    fn in_order(shape: &[i64], order: &[usize]) -> Option<Layout> {
        let mut strides = vec![1; shape.len()];
        let mut next = 1;
        for d in order.iter().rev() {
            strides[*d] = next;
            next *= shape[*d].max(1);
        }
        let made = Layout { shape: shape.to_vec(), strides, offset: 0 };
        (!made.is_contiguous()).then_some(made)
    }

    /// Where what is computed of operands element by element lies.
    pub fn computed(shape: &[i64], operands: &[Layout]) -> Option<Layout> {
        if operands.iter().all(|o| o.shape == shape && o.is_contiguous()) {
            return None;
        }
        Layout::in_order(shape, &Layout::order(shape, operands))
    }

    /// The dimensions of what is computed of operands element by element, from the outermost: by their strides, the first operand that says
    /// something deciding (ATen's TensorIterator, reorder_dimensions).
    fn order(shape: &[i64], operands: &[Layout]) -> Vec<usize> {
        let n = shape.len();
        let strides: Vec<Vec<i64>> = operands
            .iter()
            .map(|o| {
                let lead = n.saturating_sub(o.shape.len());
                (0..n).map(|d| if d < lead || o.shape[d - lead] != shape[d] { 0 } else { o.strides[d - lead] }).collect()
            })
            .collect();
        // Whether a dimension is inside of another one.
        let compare = |a: usize, b: usize| -> i32 {
            for of in &strides {
                let (x, y) = (of[a], of[b]);
                if x == 0 || y == 0 {
                    continue;
                }
                if x != y {
                    return if x < y { -1 } else { 1 };
                }
                if shape[a] > shape[b] {
                    return 1;
                }
            }
            0
        };
        let mut order: Vec<usize> = (0..n).rev().collect();
        for i in 1..n {
            let mut at = i;
            for before in (0..i).rev() {
                match compare(order[before], order[at]) {
                    1 => {
                        order.swap(before, at);
                        at = before;
                    }
                    -1 => break,
                    _ => {}
                }
            }
        }
        order.reverse();
        order
    }

    /// Whether the channels of images lie innermost (ATen's is_channels_last_strides_2d).
    pub fn is_channels_last(&self) -> bool {
        if self.shape.len() != 4 || self.strides[1] == 0 {
            return false;
        }
        let mut least = 0;
        for d in [1, 3, 2, 0] {
            if self.shape[d] == 0 || self.strides[d] < least || d == 0 && least == self.strides[1] {
                return false;
            }
            least = self.strides[d] * self.shape[d].max(1);
        }
        true
    }

    /// Images with the channels innermost.
    pub fn channels_last(shape: &[i64]) -> Option<Layout> {
        if shape.len() == 4 { Layout::in_order(shape, &[0, 2, 3, 1]) } else { None }
    }

    /// The strides of the same elements in another shape; `None` where they have to be copied (ATen/TensorUtils.cpp, computeStride).
    pub fn viewed(&self, shape: &[i64]) -> Option<Vec<i64>> {
        if self.shape.contains(&0) {
            return Some(Layout::dense(shape.to_vec()).strides);
        }
        let Some(mut base) = self.strides.last().copied() else { return Some(vec![1; shape.len()]) };
        let (mut have, mut seen) = (1, 1);
        let mut strides = vec![0; shape.len()];
        let mut left = shape.len();
        for d in (0..self.shape.len()).rev() {
            have *= self.shape[d];
            if d == 0 || (self.shape[d - 1] != 1 && self.strides[d - 1] != have * base) {
                while left > 0 && (seen < have || shape[left - 1] == 1) {
                    left -= 1;
                    strides[left] = seen * base;
                    seen *= shape[left];
                }
                if seen != have {
                    return None;
                }
                if d > 0 {
                    base = self.strides[d - 1];
                    (have, seen) = (1, 1);
                }
            }
        }
        (left == 0).then_some(strides)
    }

    /// What a step shows of it; `None` of a step whose elements have to be copied. The same steps come in every turn of a loop, so what they
    /// show is kept.
    pub fn after(&self, step: &Step) -> Result<Option<Layout>, Exc> {
        let key = (step.def.name, step.attrs.clone(), step.result, self.clone());
        if let Some(known) = SHOWN.with_borrow(|shown| shown.get(&key).cloned()) {
            return Ok(known);
        }
        let made = self.shown(step)?;
        SHOWN.with_borrow_mut(|shown| {
            if shown.len() >= MAX_SHOWN {
                shown.clear();
            }
            shown.insert(key, made.clone());
        });
        Ok(made)
    }

    fn shown(&self, step: &Step) -> Result<Option<Layout>, Exc> {
        let dims: Vec<Dim> = self.shape.iter().map(|n| Dim::Const(*n)).collect();
        let ty = TensorType::new(DType::F32, dims);
        // One of many slices is known without all of them.
        let alone = matches!(step.def.name, "select" | "unbind");
        let infer = || step.def.infer(&[&ty], &step.attrs, &mut ShapeEnv::default()).map_err(raise);
        let results = if alone { Vec::new() } else { infer()? };
        let sizes = |i: usize| -> Vec<i64> {
            results.get(i).map_or_else(Vec::new, |t| t.shape.iter().map(|d| d.as_const().unwrap_or(1)).collect())
        };
        let mut shape = if alone { self.shape.clone() } else { sizes(step.result) };
        let rank = self.shape.len() as i64;
        let at = |name: &str, default: i64| -> usize {
            let d = int(&step.attrs, name).unwrap_or(default);
            (if d < 0 { d + rank } else { d }).clamp(0, (rank - 1).max(0)) as usize
        };
        let mut strides = self.strides.clone();
        let mut offset = self.offset;
        match step.def.name {
            "detach" => {}
            "reshape" | "flatten" | "unflatten" => match self.viewed(&shape) {
                Some(viewed) => strides = viewed,
                None => return Ok(None),
            },
            "t" | "transpose" | "permute" | "movedim" => {
                strides = step.order(&self.shape)?.iter().map(|d| self.strides[*d]).collect();
            }
            "select" | "unbind" => {
                let d = at("dim", 0);
                shape.remove(d);
                let index = if step.def.name == "unbind" { step.result as i64 } else { int(&step.attrs, "index").unwrap_or(0) };
                offset += strides.remove(d) * if index < 0 { index + self.shape[d] } else { index };
            }
            "slice" | "narrow" => {
                let d = at("dim", 0);
                let start = int(&step.attrs, "start").unwrap_or(0);
                let start = if start < 0 { start + self.shape[d] } else { start }.clamp(0, self.shape[d]);
                offset += start * strides[d];
                strides[d] *= int(&step.attrs, "step").unwrap_or(1);
            }
            "split" | "chunk" | "tensor_split" => {
                let d = at("dim", 0);
                offset += (0..step.result).map(|i| sizes(i)[d]).sum::<i64>() * strides[d];
            }
            "unsqueeze" => {
                let d = int(&step.attrs, "dim").unwrap_or(0);
                let d = (if d < 0 { d + rank + 1 } else { d }) as usize;
                let inner = self.shape.get(d).zip(self.strides.get(d)).map_or(1, |(n, stride)| n * stride);
                strides.insert(d.min(strides.len()), inner);
            }
            "squeeze" => {
                // Which of several sizes of one went makes no difference to where elements are.
                let mut kept = self.shape.iter().zip(&self.strides).filter(|(n, _)| **n != 1).map(|(_, stride)| *stride);
                strides = shape.iter().map(|n| if *n == 1 { 1 } else { kept.next().unwrap_or(1) }).collect();
            }
            "expand" => {
                let lead = shape.len() - self.shape.len();
                strides = (0..shape.len())
                    .map(|d| if d < lead || shape[d] != self.shape[d - lead] { 0 } else { self.strides[d - lead] })
                    .collect();
            }
            "diagonal" => {
                let (a, b) = (at("dim1", 0), at("dim2", 1));
                let by = int(&step.attrs, "offset").unwrap_or(0);
                offset += if by < 0 { -by * strides[a] } else { by * strides[b] };
                let along = strides[a] + strides[b];
                strides.remove(a.max(b));
                strides.remove(a.min(b));
                strides.push(along);
            }
            "unfold" => {
                let d = at("dimension", 0);
                // A scalar counts as one element.
                if strides.is_empty() {
                    strides.push(1);
                    return Ok(Some(Layout { shape, strides, offset }));
                }
                strides.push(strides[d]);
                strides[d] *= int(&step.attrs, "step").unwrap_or(1);
            }
            _ => return Ok(None),
        }
        Ok(Some(Layout { shape, strides, offset }))
    }
}

fn int(attrs: &Attrs, name: &str) -> Option<i64> {
    match attrs.get(name) {
        Some(Attr::Int(v)) => Some(*v),
        _ => None,
    }
}

/// `layout(x)`: its strides, and where its first element is.
fn layout(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("stride")?;
    let layout = expect(&x, "stride")?.layout()?;
    let strides = layout.strides.iter().map(|n| Value::Int(*n)).collect();
    Ok(Value::tuple(vec![Value::tuple(strides), Value::Int(layout.offset)]))
}

/// `order(x)`: the dimensions of one like it, from the outermost in memory.
fn order(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("order")?;
    let layout = expect(&x, "order")?.layout()?;
    let order = Layout::order(&layout.shape, std::slice::from_ref(&layout));
    Ok(Value::list(order.into_iter().map(|d| Value::Int(d as i64)).collect()))
}

/// `lie(x, order)`: the same tensor, whose dimensions PyTorch would have in memory in that order.
fn lie(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, order] = args.exactly::<2>("lie")?;
    let t = expect(&x, "lie")?;
    let shape: Vec<i64> = t.shape()?.iter().map(|n| *n as i64).collect();
    let order: Vec<usize> = crate::convert::sizes(std::slice::from_ref(&order), "order")?.iter().map(|d| *d as usize).collect();
    if order.len() == shape.len()
        && order.iter().all(|d| *d < shape.len())
        && let Some(layout) = Layout::in_order(&shape, &order)
    {
        t.lie(layout);
    }
    Ok(x)
}

fn is_contiguous(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("is_contiguous")?;
    let t = expect(&x, "is_contiguous")?;
    Ok(Value::bool(!t.is_turned() || t.layout()?.is_contiguous()))
}

fn is_view(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("is_view")?;
    Ok(Value::bool(expect(&x, "is_view")?.is_view()))
}

/// `alias(x)`: a tensor of the same value that shares nothing: a copy, since values never change.
fn alias(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("contiguous")?;
    let Value::Instance(from) = &x else { return Err(Exc::ty("contiguous() needs a tensor")) };
    let (value, kind) = (host(from)?.get()?, host(from)?.kind());
    wrap(vm, value, kind)
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn results_lie_as_their_operands() {
        let x = Layout { shape: vec![2, 3, 5], strides: vec![15, 1, 3], offset: 0 };
        let made = |operands: &[Layout]| Layout::computed(&[2, 3, 5], operands).map(|l| l.strides);
        assert_eq!(made(std::slice::from_ref(&x)), Some(vec![15, 1, 3]));
        assert_eq!(made(&[x.clone(), Layout::dense(vec![3, 1])]), Some(vec![15, 1, 3]));
        assert_eq!(made(&[Layout::dense(vec![2, 3, 5]), x]), None);
        assert_eq!(made(&[Layout::dense(vec![3, 5])]), None);
        let image = Layout { shape: vec![2, 3, 4, 4], strides: vec![48, 1, 12, 3], offset: 0 };
        assert!(image.is_channels_last() && !Layout::dense(vec![2, 3, 4, 4]).is_channels_last());
    }

    #[test]
    fn shapes_that_span_gaps_are_copies() {
        let x = Layout { shape: vec![2, 3], strides: vec![1, 2], offset: 0 };
        assert!(!x.is_contiguous() && Layout::dense(vec![3, 2]).is_contiguous());
        assert_eq!(x.viewed(&[6]), None);
        assert_eq!(x.viewed(&[2, 1, 3]), Some(vec![1, 6, 2]));
        // Rows of a slice of columns: the outer dimension splits, the two do not join.
        let rows = Layout { shape: vec![4, 2], strides: vec![5, 1], offset: 1 };
        assert_eq!((rows.viewed(&[2, 2, 2]), rows.viewed(&[8])), (Some(vec![10, 5, 1]), None));
        assert_eq!(Layout::dense(vec![2, 0]).viewed(&[0, 7]), Some(vec![7, 1]));
        assert_eq!(Layout::dense(vec![]).viewed(&[1, 1]), Some(vec![1, 1]));
    }
}
