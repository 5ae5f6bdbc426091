//! Writing a part of a tensor where it lies, in time that depends on the part alone.

use crate::tensor::{Data, Tensor};
use aludel_ir::Result;
use aludel_runtime::{Argument, Run};
use std::sync::Arc;

/// So many runs at most: more are a job for a kernel.
const MAX_RUNS: usize = 1 << 14;

/// A tensor of the host goes to the device if it has so many elements; small ones are read faster where they are.
const MIN_MOVED: usize = 64;

/// A part of a tensor: of each dimension, where it begins, how many elements it has, and how far these are apart.
pub type Region = [(usize, usize, usize)];

impl Tensor {
    /// Writes a region where it lies, from a tensor of as many elements in the same order, where nobody else holds this value and it lies
    /// in the memory of a device that can do that. False, with nothing done, elsewhere: then a new value has to be made.
    ///
    /// # Errors
    ///
    /// Where the device failed.
    pub fn write_region(&mut self, region: &Region, source: &Tensor) -> Result<bool> {
        let shape = self.shape();
        let count: usize = region.iter().map(|r| r.1).product();
        let inside = |((start, length, step), n): (&(usize, usize, usize), &usize)| *length == 0 || start + (length - 1) * step < *n;
        let fits = region.len() == shape.len() && region.iter().zip(&shape).all(inside) && source.numel() == count;
        if !fits || source.dtype() != self.dtype() || self.is_requires_grad() || source.device() != self.device() {
            return Ok(false);
        }
        // Two elements of such a type share a word.
        if self.device().executor().is_narrow(self.dtype()) {
            return Ok(false);
        }
        let device = self.device().clone();
        if matches!(&self.inner.data, Data::Host(_)) && self.numel() >= MIN_MOVED {
            let Argument::Device(storage) = self.resident()? else { return Ok(false) };
            let Some(inner) = Arc::get_mut(&mut self.inner) else { return Ok(false) };
            // The host's copy, which goes, held the same storage.
            inner.data = Data::Device { storage, place: None };
        }
        let Some(inner) = Arc::get_mut(&mut self.inner) else { return Ok(false) };
        let Data::Device { storage, place: None } = &mut inner.data else { return Ok(false) };
        if Arc::get_mut(storage).is_none() || storage.words() != shape.iter().product::<usize>() {
            return Ok(false);
        }
        if matches!(&source.inner.data, Data::Traced(slot) if slot.resolved().is_none()) {
            return Ok(false);
        }
        let (Some(runs), Argument::Device(from)) = (runs(region, &shape), source.resident()?) else { return Ok(false) };
        device.executor().copy_runs(storage, &from, &runs)
    }
}

// The region's runs of neighbours; `None` where there are too many.
fn runs(region: &Region, shape: &[usize]) -> Option<Vec<Run>> {
    let mut words = 1;
    let mut inner = shape.len();
    // Dimensions that are whole join the run of the one around them.
    while inner > 0 {
        let (_, length, step) = region[inner - 1];
        if step != 1 && length != 1 {
            break;
        }
        words *= length;
        inner -= 1;
        if length != shape[inner] {
            break;
        }
    }
    let outer: usize = region[..inner].iter().map(|r| r.1).product();
    if words == 0 || outer == 0 {
        return Some(Vec::new());
    }
    if outer > MAX_RUNS {
        return None;
    }
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    let base: usize = region[inner..].iter().zip(&strides[inner..]).map(|(r, stride)| r.0 * stride).sum();
    let run = |k: usize| {
        let (mut rest, mut to) = (k, base);
        for d in (0..inner).rev() {
            let (start, length, step) = region[d];
            to += (start + rest % length * step) * strides[d];
            rest /= length;
        }
        Run { to, from: k * words, words }
    };
    Some((0..outer).map(run).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The elements of a region, in order, as its runs list them.
    fn listed(region: &Region, shape: &[usize]) -> Vec<usize> {
        runs(region, shape).unwrap().iter().flat_map(|r| r.to..r.to + r.words).collect()
    }

    #[test]
    fn runs_are_the_elements_of_the_region_in_order() {
        let shape = [4, 3, 5];
        for region in [
            [(0, 4, 1), (0, 3, 1), (0, 5, 1)],
            [(1, 2, 2), (0, 3, 1), (0, 5, 1)],
            [(3, 1, 1), (1, 2, 1), (0, 5, 1)],
            [(0, 4, 1), (2, 1, 1), (1, 2, 3)],
            [(2, 1, 1), (0, 1, 1), (4, 1, 1)],
            [(0, 2, 3), (0, 2, 2), (0, 3, 2)],
            [(1, 0, 1), (0, 3, 1), (0, 5, 1)],
        ] {
            let mut want = Vec::new();
            for a in 0..region[0].1 {
                for b in 0..region[1].1 {
                    for c in 0..region[2].1 {
                        let at = |d: usize, i: usize| region[d].0 + i * region[d].2;
                        want.push((at(0, a) * 3 + at(1, b)) * 5 + at(2, c));
                    }
                }
            }
            assert_eq!(listed(&region, &shape), want, "{region:?}");
        }
    }
}
