//! Data sets that give samples by index, and what is made of them.

use crate::{Error, Random, Result};
use std::sync::Arc;

/// Which sample is asked for, and in which epoch: all that random augmentations may depend on, so that they are the same for any number
/// of workers and after a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    pub index: usize,
    pub epoch: u64,
    /// The loader's.
    pub seed: u64,
}

impl Draw {
    /// Random numbers of this sample in this epoch.
    pub fn random(&self) -> Random {
        Random::of(&[self.seed, self.epoch, self.index as u64])
    }
}

/// Samples by index. Workers ask from several threads at once.
pub trait Dataset: Send + Sync + 'static {
    type Item: Send + 'static;

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sample; `draw.index` is below [`Dataset::len`] when a loader asks.
    ///
    /// # Errors
    ///
    /// When it cannot be read or made. The loader adds which item that was.
    fn get(&self, draw: Draw) -> Result<Self::Item>;

    /// Each sample as a function makes it, on the worker's thread.
    fn map<T, F>(self, function: F) -> Map<Self, F>
    where
        Self: Sized,
        T: Send + 'static,
        F: Fn(Self::Item, Draw) -> Result<T> + Send + Sync + 'static,
    {
        Map { dataset: self, function }
    }
}

impl<D: Dataset + ?Sized> Dataset for Arc<D> {
    type Item = D::Item;

    fn len(&self) -> usize {
        (**self).len()
    }

    fn get(&self, draw: Draw) -> Result<D::Item> {
        (**self).get(draw)
    }
}

/// Samples in memory.
#[derive(Clone, Debug)]
pub struct Memory<T> {
    items: Arc<Vec<T>>,
}

impl<T> Memory<T> {
    pub fn new(items: Vec<T>) -> Memory<T> {
        Memory { items: Arc::new(items) }
    }
}

impl<T: Clone + Send + Sync + 'static> Dataset for Memory<T> {
    type Item = T;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn get(&self, draw: Draw) -> Result<T> {
        self.items.get(draw.index).cloned().ok_or_else(|| out_of_range(draw.index, self.items.len()))
    }
}

pub(crate) fn out_of_range(index: usize, len: usize) -> Error {
    Error::option("index", format!("is {index} of {len}"), "indices are counted from 0")
}

/// See [`Dataset::map`].
pub struct Map<D, F> {
    dataset: D,
    function: F,
}

impl<D: Dataset, T: Send + 'static, F: Fn(D::Item, Draw) -> Result<T> + Send + Sync + 'static> Dataset for Map<D, F> {
    type Item = T;

    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn get(&self, draw: Draw) -> Result<T> {
        (self.function)(self.dataset.get(draw)?, draw)
    }
}

/// Some samples of a data set, in an order.
#[derive(Clone, Debug)]
pub struct Subset<D> {
    pub dataset: D,
    pub indices: Vec<usize>,
}

impl<D: Dataset> Dataset for Subset<D> {
    type Item = D::Item;

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn get(&self, draw: Draw) -> Result<D::Item> {
        let index = self.indices.get(draw.index).ok_or_else(|| out_of_range(draw.index, self.indices.len()))?;
        self.dataset.get(Draw { index: *index, ..draw })
    }
}

/// Data sets one after the other.
#[derive(Clone, Debug)]
pub struct Concat<D> {
    pub datasets: Vec<D>,
}

impl<D: Dataset> Dataset for Concat<D> {
    type Item = D::Item;

    fn len(&self) -> usize {
        self.datasets.iter().map(Dataset::len).sum()
    }

    fn get(&self, draw: Draw) -> Result<D::Item> {
        let mut index = draw.index;
        for d in &self.datasets {
            if index < d.len() {
                return d.get(Draw { index, ..draw });
            }
            index -= d.len();
        }
        Err(out_of_range(draw.index, self.len()))
    }
}

/// Random parts of a data set, of the given sizes.
///
/// # Errors
///
/// When the sizes are not those of the whole.
pub fn random_split<D: Dataset>(dataset: D, lengths: &[usize], seed: u64) -> Result<Vec<Subset<Arc<D>>>> {
    if lengths.iter().sum::<usize>() != dataset.len() {
        let problem = format!("are {lengths:?} of {} samples", dataset.len());
        return Err(Error::option("lengths", problem, "give sizes that make the whole"));
    }
    let mut order: Vec<usize> = (0..dataset.len()).collect();
    Random::new(seed).shuffle(&mut order);
    let (dataset, mut order) = (Arc::new(dataset), order.into_iter());
    Ok(lengths.iter().map(|n| Subset { dataset: dataset.clone(), indices: order.by_ref().take(*n).collect() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<D: Dataset>(d: &D) -> Vec<D::Item> {
        (0..d.len()).map(|index| d.get(Draw { index, epoch: 0, seed: 0 }).unwrap()).collect()
    }

    #[test]
    fn parts_are_the_whole() {
        let parts = random_split(Memory::new((0..10).collect()), &[7, 3], 5).unwrap();
        let mut whole = all(&Concat { datasets: parts });
        assert_ne!(whole, (0..10).collect::<Vec<_>>());
        whole.sort_unstable();
        assert_eq!(whole, (0..10).collect::<Vec<_>>());
        assert!(random_split(Memory::new(vec![0; 10]), &[7, 4], 5).is_err());
        let past = Concat { datasets: vec![Memory::new(vec![1])] }.get(Draw { index: 1, epoch: 0, seed: 0 });
        assert_eq!(past.unwrap_err().to_string(), "index: is 1 of 1; indices are counted from 0");
    }

    #[test]
    fn augmentations_depend_on_the_draw_alone() {
        let d = Memory::new(vec![0u64; 3]).map(|_, draw| Ok(draw.random().bits()));
        assert_eq!(all(&d), all(&d));
        assert_ne!(all(&d)[0], all(&d)[1]);
        let at = |epoch| d.get(Draw { index: 0, epoch, seed: 0 }).unwrap();
        assert_ne!(at(0), at(1));
    }
}
