//! Inputs for graphs, and whether two results agree.

use super::Rng;
use aludel_ir::interp::HostTensor;
use aludel_ir::{DType, Graph};

/// Inputs of a graph for given sizes: floats from -1 to 1, indices 0 and 1, keys of any bits; the same for the same name.
pub fn inputs(graph: &Graph, sizes: &[i64]) -> Vec<HostTensor> {
    let make = |i: &aludel_ir::Input| {
        let ty = graph.ty(i.value);
        let shape: Vec<usize> = ty
            .shape
            .iter()
            .map(|d| {
                d.eval(&|a| match a {
                    aludel_ir::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
                    _ => None,
                })
                .expect("sizes of inputs are sizes") as usize
            })
            .collect();
        let mut rng = Rng::new(i.name.bytes().fold(17u64, |h, c| h.wrapping_mul(31).wrapping_add(c as u64)));
        let data = (0..shape.iter().product::<usize>())
            .map(|_| match ty.dtype {
                DType::I32 | DType::Bool => rng.below(2) as f64,
                DType::U32 => rng.below(1 << 32) as f64,
                d => d.round((rng.below(4001) as f64 - 2000.0) / 2000.0),
            })
            .collect();
        HostTensor { dtype: ty.dtype, shape, data }
    };
    graph.inputs.iter().map(make).collect()
}

/// The hinted sizes of a graph's symbols.
pub fn hints(graph: &Graph) -> Vec<i64> {
    graph.env.symbols.iter().map(|s| s.hint).collect()
}

/// Whether two results agree to a relative error; what is not finite must be so in both.
pub fn differ(a: &[HostTensor], b: &[HostTensor], tolerance: f64) -> Option<String> {
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        if x.shape != y.shape || x.dtype != y.dtype {
            return Some(format!("output {k} is {}{:?}, should be {}{:?}", y.dtype, y.shape, x.dtype, x.shape));
        }
        let scale = x.data.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
        for (i, (u, v)) in x.data.iter().zip(&y.data).enumerate() {
            let same = u == v || (u.is_nan() && v.is_nan()) || (u - v).abs() <= tolerance * (scale + u.abs()).max(1e-3);
            if !same {
                return Some(format!("output {k}{:?}, element {i}: {v}, should be {u}", x.shape));
            }
        }
    }
    (a.len() != b.len()).then(|| format!("{} outputs, should be {}", b.len(), a.len()))
}
