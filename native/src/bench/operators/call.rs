//! A case as something to call: its operator, its arguments and operands of noise, the same here and in every peer.

use super::cases::Case;
use aludel::{DType, Device, Error, Result, Tensor};
use aludel_ir::graph::Input;
use aludel_ir::{Attrs, Graph, Op, OpDef};

/// A case's one call on operands of some sizes.
pub struct Call {
    pub def: &'static OpDef,
    pub attrs: Attrs,
    graph: Graph,
}

impl Case {
    /// The call on these operands, which are written as a graph's inputs.
    pub fn parse(&self, operands: &str) -> Result<Call> {
        // The first size of the last operand, where a call names it.
        let last = operands.rsplit('[').next().and_then(|s| s.split([',', ']']).next()).unwrap_or("");
        let index = operands.split([' ', ':']).find(|w| w.starts_with("%index")).unwrap_or("%index");
        let call = self.call.replace("DIM", last).replace("%index", index);
        let text = format!("graph {}({operands}) {{\n  {call}\n  return %y\n}}\n", self.name);
        let graph: Graph = text.parse()?;
        match graph.nodes.as_slice() {
            [node] => match &node.op {
                Op::Call(def, attrs) => Ok(Call { def, attrs: attrs.clone(), graph }),
                _ => Err(Error::invalid(self.name, "is no operator", "report this")),
            },
            _ => Err(Error::invalid(self.name, "is not one operator", "report this")),
        }
    }
}

/// An operand: its type, and how many values it has where they are integers.
pub struct Operand {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub below: Option<u32>,
    /// Floats without a sign.
    pub positive: bool,
}

impl Call {
    pub fn operands(&self) -> Vec<Operand> {
        let operand = |input: &Input| {
            let ty = self.graph.ty(input.value);
            let shape = ty.shape.iter().filter_map(|d| d.as_const()).map(|d| d as usize).collect();
            // By the end of its name.
            let below = || input.name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(u32::MAX);
            Operand { dtype: ty.dtype, shape, below: (ty.dtype == DType::I32).then(below), positive: input.name == "positive" }
        };
        self.graph.inputs.iter().map(operand).collect()
    }

    /// The operands on a device.
    pub fn tensors(&self, device: &Device) -> Result<Vec<Tensor>> {
        self.operands().iter().enumerate().map(|(i, o)| o.tensor(device, i as u32)).collect()
    }
}

impl Operand {
    fn tensor(&self, device: &Device, seed: u32) -> Result<Tensor> {
        let noise = noise(self.shape.iter().product(), seed);
        match self.dtype {
            DType::I32 => {
                let below = self.below.unwrap_or(u32::MAX);
                Tensor::from_vec(device, noise.iter().map(|w| (w % below) as i32).collect(), &self.shape[..])
            }
            DType::U32 => Tensor::from_vec(device, noise, &self.shape[..]),
            DType::Bool => Tensor::from_vec(device, noise.iter().map(|w| w & 1 == 1).collect::<Vec<bool>>(), &self.shape[..]),
            dtype => {
                let value = |w: u32| if self.positive { f32::from_bits(w).abs() } else { f32::from_bits(w) };
                Tensor::from_vec(device, noise.into_iter().map(value).collect::<Vec<f32>>(), &self.shape[..])?.to(dtype)
            }
        }
    }
}

/// Words of floats from -1 to 1 that look random.
pub fn noise(count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    (0..count)
        .map(|_| {
            // Xorshift32 (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state as i32 as f32 / 2_147_483_648.0).to_bits()
        })
        .collect()
}

impl Operand {
    /// As the peers' scripts read it, in JSON: `[dtype, shape, values]`, where `values` is a count, `"positive"` or null.
    pub fn request(&self) -> String {
        let values = match self.below {
            Some(below) => below.to_string(),
            None if self.positive => "\"positive\"".to_string(),
            None => "null".to_string(),
        };
        format!("[\"{}\",{:?},{values}]", self.dtype.name(), self.shape)
    }
}

impl Case {
    /// What a peer is asked for, in JSON: `[name, size, operands]`.
    pub fn request(&self, size: &str, operands: &str) -> Result<String> {
        let operands: Vec<String> = self.parse(operands)?.operands().iter().map(Operand::request).collect();
        Ok(format!("[\"{}\",\"{size}\",[{}]]", self.name, operands.join(",")))
    }
}

/// What is compared of a result, for reading all of it takes longer than computing it: its first and its last row, or as many elements.
pub fn ends(y: &Tensor) -> Result<Vec<Tensor>> {
    let Some(&first) = y.shape().first() else { return Ok(vec![y.clone()]) };
    let count = if y.shape().len() == 1 { first.min(4096) } else { 1 };
    [0, first - count].into_iter().map(|at| y.narrow(0, at as i64, count as i64)?.to(DType::F32)).collect()
}

/// Three numbers of what values are: the means of the values, of their sizes, and of the values weighted by their place.
pub fn digest(values: &[f32]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (i, v) in values.iter().enumerate() {
        let v = f64::from(*v);
        let terms = [v, v.abs(), v * ((i * 37 % 101) as f64 / 101.0)];
        sums.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
    }
    sums.map(|s| s / values.len() as f64)
}

/// Whether two digests are of the same result. Libraries add in different orders and approximate differently: sums of thousands of f32
/// terms differ by some ten-thousandths of the terms' size.
pub fn agree(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b2)| (a - b2).abs() <= 1e-3 * b[1].abs() + 1e-6)
}
