//! Products of tensors. All of them become one contraction for each pair of operands: transposes and broadcast batch
//! dimensions are a matter of which dimensions are paired, never a copy.

use crate::build::Builder;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::order::Order;
use crate::prim::Prim;

pub static OPS: &[OpDef] = &[
    op!("matmul", "Tensor input, Tensor other", "Matrix product with broadcast batch dimensions; vectors as in PyTorch.", |b, x, _| Ok(
        vec![matmul(b, x[0], x[1])?]
    ))
    .low(),
    op!("mm", "Tensor input, Tensor mat2", "Product of two matrices.", |b, x, _| ranked(b, x, &[2, 2])).low(),
    op!("bmm", "Tensor input, Tensor mat2", "Products of two batches of matrices.", |b, x, _| ranked(b, x, &[3, 3])).low(),
    op!("mv", "Tensor input, Tensor vec", "Product of a matrix and a vector.", |b, x, _| ranked(b, x, &[2, 1])).low(),
    op!("dot", "Tensor input, Tensor tensor", "Inner product of two vectors.", |b, x, _| ranked(b, x, &[1, 1])).widest(),
    op!("outer", "Tensor input, Tensor vec2", "Outer product of two vectors.", |b, x, _| {
        check_ranks(b, x, &[1, 1])?;
        let x = b.promote_dtype(x)?;
        if b.dtype(x[0]) == crate::DType::Bool {
            let column = b.unsqueeze(x[0], 1)?;
            return Ok(vec![b.mul(column, x[1])?]);
        }
        Ok(vec![b.contract(x[0], x[1], &[], &[])?])
    }),
    op!(
        "addmm",
        "Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1",
        "beta * input + alpha * (x @ y)",
        |b, x, a| {
            check_ranks(b, &x[1..], &[2, 2])?;
            super::activation::whole_numbers(b, x[1], &[("alpha", a.float("alpha")?), ("beta", a.float("beta")?)])?;
            added(b, x, a)
        }
    )
    .low(),
    op!(
        "baddbmm",
        "Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1",
        "beta * input + alpha * (x @ y), for batches.",
        |b, x, a| {
            check_ranks(b, &x[1..], &[3, 3])?;
            same_batch(b, &x[1..])?;
            added(b, x, a)
        }
    )
    .low(),
    op!("linear", "Tensor input, Tensor weight, Tensor? bias=None", "x @ weight^T + bias. PyTorch: torch.nn.functional.linear.", linear)
        .low(),
    op!("einsum", "Tensor[] operands, str equation", "Einstein summation, with ellipsis and diagonals.", einsum).low(),
];

fn check_ranks(b: &Builder, x: &[ValueId], ranks: &[usize]) -> Result<()> {
    match x.iter().zip(ranks).find(|(v, r)| b.rank(**v) != **r) {
        None => Ok(()),
        Some((v, r)) => Err(b.error(format!("an operand has {} dimensions instead of {r}", b.rank(*v)), "use matmul() for other ranks")),
    }
}

// Batches are as many on both sides: matmul() broadcasts, bmm() does not.
fn same_batch(b: &mut Builder, x: &[ValueId]) -> Result<()> {
    let (p, q) = (b.shape(x[0]), b.shape(x[1]));
    if p.len() < 3 || b.graph.env.equal(&p[0], &q[0], "batches of matrices are as many") {
        return Ok(());
    }
    let text = format!("batches of {} and {} matrices", b.graph.env.show(&p[0]), b.graph.env.show(&q[0]));
    Err(b.error(text, "give as many, or use matmul(), which broadcasts"))
}

fn ranked(b: &mut Builder, x: &[ValueId], ranks: &[usize]) -> Result<Vec<ValueId>> {
    check_ranks(b, x, ranks)?;
    same_batch(b, x)?;
    Ok(vec![matmul(b, x[0], x[1])?])
}

fn added(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    one_type(b, x)?;
    let p = matmul(b, x[1], x[2])?;
    let (alpha, beta) = (a.float("alpha")?, a.float("beta")?);
    let p = b.mul_scalar(p, alpha)?;
    let input = b.mul_scalar(x[0], beta)?;
    let shape = b.shape(p);
    let input = b.broadcast_to(input, &shape)?;
    Ok(vec![if beta == 0.0 { p } else { b.add(p, input)? }])
}

fn linear(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let (input, weight) = (x[0], x[1]);
    let rank = b.rank(input);
    let vector = b.rank(weight) == 1;
    if rank == 0 || !(vector || b.rank(weight) == 2) {
        return Err(
            b.error("needs an input with a last dimension and a weight of one or two dimensions", "give a weight of [out, in] or [in]")
        );
    }
    let last = b.rank(weight) - 1;
    let (k, features) = (b.shape(input)[rank - 1].clone(), b.shape(weight)[last].clone());
    if !b.graph.env.equal(&k, &features, "linear's input has the weight's features") {
        let text = format!("the input's last size {} is not the weight's {}", b.graph.env.show(&k), b.graph.env.show(&features));
        return Err(b.error(text, "change the layer's input size or flatten the input"));
    }
    one_type(b, x)?;
    let y = b.contract(input, weight, &[], &[(rank - 1, last)])?;
    Ok(vec![match x.get(2) {
        Some(bias) => {
            let fits = match (b.shape(*bias).as_slice(), vector) {
                ([], _) => true,
                ([n], false) => n.is_one() || b.graph.env.equal(n, &b.shape(weight)[0].clone(), "linear's bias has the weight's outputs"),
                _ => false,
            };
            if !fits {
                let text = format!("a bias of {} for a weight of {}", show(b, *bias), show(b, weight));
                return Err(b.error(text, "give one number for each output"));
            }
            b.add(y, *bias)?
        }
        None => y,
    }])
}

fn show(b: &Builder, v: ValueId) -> String {
    b.graph.env.show_shape(&b.ty(v).shape)
}

/// Refuses operands of several types: products do not promote, as in PyTorch.
pub(super) fn one_type(b: &Builder, x: &[ValueId]) -> Result<()> {
    match x.iter().find(|v| b.dtype(**v) != b.dtype(x[0])) {
        None => Ok(()),
        Some(v) => {
            let text = format!("combines {} with {}", b.dtype(x[0]), b.dtype(*v));
            Err(b.error(text, "convert one of them with to(), or use autocast"))
        }
    }
}

/// A dimension's name in a contraction: equal labels are the same dimension.
type Label = u32;

/// An operand and the label of each of its dimensions.
struct Labelled {
    value: ValueId,
    labels: Vec<Label>,
}

/// Sums out the labels that are not in `keep`.
fn summed(b: &mut Builder, x: Labelled, keep: &[Label]) -> Result<Labelled> {
    let dims: Vec<usize> = (0..x.labels.len()).filter(|d| !keep.contains(&x.labels[*d])).collect();
    if dims.is_empty() {
        return Ok(x);
    }
    let value = b.sum(x.value, &dims, false)?;
    Ok(Labelled { value, labels: x.labels.into_iter().filter(|l| keep.contains(l)).collect() })
}

/// The product of two operands, summed over the labels that are not in `keep`. One contraction.
fn product(b: &mut Builder, x: Labelled, y: Labelled, keep: &[Label]) -> Result<Labelled> {
    // What only one operand has and nobody wants is summed before, not multiplied.
    let with = |l: &[Label]| [l, keep].concat();
    let x = {
        let keep = with(&y.labels);
        summed(b, x, &keep)?
    };
    let y = {
        let keep = with(&x.labels);
        summed(b, y, &keep)?
    };
    let at = |l: &Label| y.labels.iter().position(|m| m == l);
    let shared: Vec<(Label, (usize, usize))> = x.labels.iter().enumerate().filter_map(|(i, l)| Some((*l, (i, at(l)?)))).collect();
    let (batch, inner): (Vec<_>, Vec<_>) = shared.iter().partition(|(l, _)| keep.contains(l));
    let pairs = |p: &[&(Label, (usize, usize))]| p.iter().map(|p| p.1).collect::<Vec<_>>();
    let mut xy = vec![x.value, y.value];
    if inner.is_empty() && b.dtype(x.value).category() == b.dtype(y.value).category() {
        // Nothing is summed: a product of elements, which promotes.
        xy = b.promote_dtype(&xy)?;
    }
    one_type(b, &xy)?;
    let value = b.contract(xy[0], xy[1], &pairs(&batch), &pairs(&inner))?;
    let free = |labels: &[Label]| labels.iter().copied().filter(|l| shared.iter().all(|s| s.0 != *l)).collect::<Vec<_>>();
    let labels = [batch.iter().map(|p| p.0).collect(), free(&x.labels), free(&y.labels)].concat();
    Ok(Labelled { value, labels })
}

/// Brings the dimensions into the order of `out`.
fn ordered(b: &mut Builder, x: Labelled, out: &[Label]) -> Result<ValueId> {
    let perm: Vec<usize> = out.iter().filter_map(|l| x.labels.iter().position(|m| m == l)).collect();
    b.permute(x.value, &perm)
}

/// The matrix product. A batch dimension of size one or none on one side is a free dimension of the other.
pub fn matmul(b: &mut Builder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let (p, q) = (b.rank(x), b.rank(y));
    if p == 0 || q == 0 {
        return Err(b.error("a scalar has no matrix product", "use mul()"));
    }
    let (k, other) = (b.shape(x)[p - 1].clone(), b.shape(y)[q.saturating_sub(2)].clone());
    if !b.graph.env.equal(&k, &other, "inner sizes of a product agree") {
        let text = format!("the inner sizes differ: {} and {}", b.graph.env.show(&k), b.graph.env.show(&other));
        return Err(b.error(text, "transpose an operand or change a layer's size"));
    }
    const ROW: Label = 0;
    const INNER: Label = 1;
    const COLUMN: Label = 2;
    // Batch dimensions are labelled by their distance from the end.
    let batch = |rank: usize| (0..rank.saturating_sub(2)).map(move |d| (rank - d) as Label).collect::<Vec<_>>();
    let matrix = |rank: usize, labels: [Label; 2], vector: Label| if rank == 1 { vec![vector] } else { labels.to_vec() };
    let (bx, by) = (batch(p), batch(q));
    let mut lx = Labelled { value: x, labels: [bx.clone(), matrix(p, [ROW, INNER], INNER)].concat() };
    let mut ly = Labelled { value: y, labels: [by.clone(), matrix(q, [INNER, COLUMN], INNER)].concat() };
    let (sx, sy) = (b.shape(x), b.shape(y));
    let both: Vec<Label> = bx.iter().copied().filter(|l| by.contains(l)).collect();
    for l in both {
        let (dx, dy) = (&sx[p - l as usize], &sy[q - l as usize]);
        if dx.is_one() {
            lx = squeezed(b, lx, l)?;
        } else if dy.is_one() {
            ly = squeezed(b, ly, l)?;
        }
    }
    let mut out = if bx.len() >= by.len() { bx } else { by };
    out.extend((p > 1).then_some(ROW));
    out.extend((q > 1).then_some(COLUMN));
    let z = product(b, lx, ly, &out)?;
    ordered(b, z, &out)
}

fn squeezed(b: &mut Builder, x: Labelled, label: Label) -> Result<Labelled> {
    let mut shape = b.shape(x.value);
    let mut labels = x.labels;
    if let Some(d) = labels.iter().position(|l| *l == label) {
        shape.remove(d);
        labels.remove(d);
    }
    Ok(Labelled { value: b.reshape(x.value, shape)?, labels })
}

/// The diagonal of two dimensions of equal size: the first keeps it, the second goes.
pub fn diagonal_of(b: &mut Builder, x: ValueId, first: usize, second: usize) -> Result<ValueId> {
    let rank = b.rank(x);
    let rest: Vec<usize> = (0..rank).filter(|d| *d != first && *d != second).collect();
    let perm: Vec<usize> = rest.iter().copied().chain([first, second]).collect();
    let t = b.permute(x, &perm)?;
    let mut shape = b.shape(t);
    let n = shape.split_off(rank - 2)[0].clone();
    let Some(len) = n.as_const() else {
        return Err(b.error("the diagonal of dimensions of symbolic size", "use sizes that do not change"));
    };
    // In a flat square the diagonal is every (n + 1)-th element.
    let mut flat = shape.clone();
    flat.push(n.mul(&n));
    let t = b.reshape(t, flat)?;
    shape.push(n);
    let mut step = vec![1; shape.len()];
    step[rank - 2] = len + 1;
    let d = b.prim(Prim::Slice { start: vec![Dim::ZERO; shape.len()], size: shape, step }, &[t])?;
    let mut back: Vec<usize> = (0..rank - 2).collect();
    back.insert(first - (second < first) as usize, rank - 2);
    b.permute(d, &back)
}

// Labels below this are letters; the dimensions of an ellipsis are counted from its end.
const ELLIPSIS: Label = 0x11_0000;

fn labels_of(b: &Builder, text: &str, dims: usize) -> Result<Vec<Label>> {
    let mut out = Vec::new();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' if chars.next() == Some('.') && chars.next() == Some('.') && dims >= letters => {
                out.extend((0..(dims - letters) as Label).rev().map(|i| ELLIPSIS + i));
            }
            c if c.is_alphabetic() => out.push(c as Label),
            c => return Err(b.error(format!("unexpected {c:?} in {text:?}"), "use letters, commas, -> and ...")),
        }
    }
    Ok(out)
}

fn einsum(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let equation: String = a.str("equation")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((l, r)) => (l, Some(r)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != x.len() {
        return Err(b.error(format!("{equation:?} names {} operands, got {}", terms.len(), x.len()), "name every operand's dimensions"));
    }
    let mut operands = Vec::new();
    let mut dotted = 0;
    for (term, v) in terms.iter().zip(x) {
        let labels = labels_of(b, term, b.rank(*v))?;
        if labels.len() != b.rank(*v) {
            return Err(
                b.error(format!("{term:?} names {} dimensions of a tensor of {}", labels.len(), b.rank(*v)), "name every dimension")
            );
        }
        dotted = dotted.max(labels.iter().filter(|l| **l >= ELLIPSIS).count());
        operands.push(without_repeats(b, Labelled { value: *v, labels })?);
    }
    check_sizes(b, &operands)?;
    let out = match right {
        Some(r) => labels_of(b, r, r.chars().filter(|c| c.is_alphabetic()).count() + if r.contains('.') { dotted } else { 0 })?,
        None => {
            let all: Vec<Label> = terms.iter().flat_map(|t| t.chars().filter(|c| c.is_alphabetic())).map(|c| c as Label).collect();
            let mut once: Vec<Label> = all.iter().copied().filter(|l| all.iter().filter(|m| *m == l).count() == 1).collect();
            once.order();
            (0..dotted as Label).rev().map(|i| ELLIPSIS + i).chain(once).collect()
        }
    };
    let known = |l: &Label| operands.iter().any(|o| o.labels.contains(l));
    if out.iter().enumerate().any(|(i, l)| !known(l) || out[..i].contains(l)) {
        return Err(
            b.error(format!("the result of {equation:?} names a dimension twice or one that no operand has"), "name each dimension once")
        );
    }
    let mut rest = operands.into_iter();
    let mut acc = rest.next().ok_or_else(|| b.error("needs an operand", ""))?;
    let mut rest: Vec<Labelled> = rest.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let keep: Vec<Label> = out.iter().copied().chain(rest.iter().flat_map(|o| o.labels.iter().copied())).collect();
        acc = product(b, acc, next, &keep)?;
    }
    let acc = summed(b, acc, &out)?;
    Ok(vec![ordered(b, acc, &out)?])
}

// A label used twice by one operand means its diagonal.
fn without_repeats(b: &mut Builder, mut x: Labelled) -> Result<Labelled> {
    while let Some((i, j)) =
        (0..x.labels.len()).flat_map(|i| (i + 1..x.labels.len()).map(move |j| (i, j))).find(|(i, j)| x.labels[*i] == x.labels[*j])
    {
        let shape = b.shape(x.value);
        if !b.graph.env.equal(&shape[i], &shape[j], "a repeated dimension has one size") {
            return Err(b.error("a dimension that is named twice has two sizes", "the sizes of a diagonal agree"));
        }
        x.value = diagonal_of(b, x.value, i, j)?;
        x.labels.remove(j);
    }
    Ok(x)
}

fn check_sizes(b: &mut Builder, operands: &[Labelled]) -> Result<()> {
    let mut seen: Vec<(Label, Dim)> = Vec::new();
    for o in operands {
        for (l, d) in o.labels.iter().zip(b.shape(o.value)) {
            match seen.iter().find(|s| s.0 == *l).map(|s| s.1.clone()) {
                None => seen.push((*l, d)),
                Some(have) if b.graph.env.equal(&have, &d, "dimensions of one name agree") => {}
                Some(have) => {
                    let name = char::from_u32(*l).map_or("...".into(), |c| c.to_string());
                    let text = format!("dimension {name} is both {} and {}", b.graph.env.show(&have), b.graph.env.show(&d));
                    return Err(b.error(text, "equal letters have equal sizes"));
                }
            }
        }
    }
    Ok(())
}
