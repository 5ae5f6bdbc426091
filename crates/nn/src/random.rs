//! Random keys that advance on the device: state like any other, so that eager and compiled draw the same numbers.

use aludel_tensor::{Attrs, DType, Device, Error, Operand, Result, Tensor, Tree, dispatch};

/// Gives a new key for each use.
#[derive(Clone, Tree)]
pub struct Generator {
    /// `u32[2]`
    key: Tensor,
}

impl Generator {
    pub fn new(device: &Device, seed: u64) -> Result<Generator> {
        Ok(Generator { key: Tensor::from_slice(device, &[(seed >> 32) as u32, seed as u32], [2])? })
    }

    /// A key that was not used before: half of four random words; the other half is the generator's next state.
    #[track_caller]
    pub fn next_key(&mut self) -> Result<Tensor> {
        let def = aludel_ir::ops::find("rand_bits")
            .ok_or_else(|| Error::unsupported("random bits", "this build's operator table has no rand_bits"))?;
        let mut words = dispatch(def, &[Operand::from(&self.key)], Attrs::new().with("size", vec![4i64]))?;
        let words = words.pop().ok_or_else(|| Error::op("rand_bits", "", "no result", "report this"))?;
        debug_assert_eq!(words.dtype(), DType::U32);
        self.key = words.narrow(0, 0, 2)?;
        words.narrow(0, 2, 2)
    }
}
