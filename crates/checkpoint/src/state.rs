//! Tensors by name on the host, and their way from and to trees on a device.

use aludel_ir::{DType, Error, Result};
use aludel_nn::Parameters;
use aludel_tensor::{Device, Snapshot, Tensor, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tensor on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// One 32-bit word for each element, row-major, as devices keep them.
    pub words: Arc<[u32]>,
}

pub type State = BTreeMap<String, Array>;

/// The tensors of a tree by path, copied to the host; waits for the device.
pub fn state_of(tree: &(impl Tree + ?Sized)) -> Result<State> {
    let snapshot = pollster::block_on(Snapshot::take(tree))?;
    let mut state = State::new();
    for t in snapshot.tensors {
        let shape = t.ty.shape.iter().filter_map(|d| d.as_const()).map(|d| d.max(0) as usize).collect::<Vec<_>>();
        if shape.len() != t.ty.shape.len() {
            return Err(Error::invalid(&t.path, "has a symbolic shape", "take checkpoints between steps"));
        }
        state.insert(t.path, Array { dtype: t.ty.dtype, shape, words: t.words });
    }
    Ok(state)
}

/// Puts the values into a tree of the same names, types and shapes, on the device where its tensors are.
///
/// Errors, and changes nothing, when they differ; the error lists every missing and unexpected name.
pub fn load(state: &State, tree: &mut (impl Tree + ?Sized), device: &Device) -> Result<()> {
    let tensors = state.iter().map(|(n, a)| Ok((n.clone(), a.tensor(device)?))).collect::<Result<BTreeMap<_, _>>>()?;
    tree.load_state_dict(&tensors)
}

impl Array {
    /// The same values on a device.
    pub fn tensor(&self, device: &Device) -> Result<Tensor> {
        let shape = self.shape.as_slice();
        let floats = || self.words.iter().map(|w| f32::from_bits(*w)).collect::<Vec<f32>>();
        match self.dtype {
            DType::F32 => Tensor::from_vec(device, floats(), shape),
            // Words of these hold f32 that the type can represent, so the cast is exact.
            DType::F16 | DType::BF16 => Tensor::from_vec(device, floats(), shape)?.to(self.dtype),
            DType::I32 => Tensor::from_vec(device, self.words.iter().map(|w| *w as i32).collect(), shape),
            DType::U32 => Tensor::from_slice(device, &self.words, shape),
            DType::Bool => Tensor::from_vec(device, self.words.iter().map(|w| *w != 0).collect(), shape),
        }
    }
}
