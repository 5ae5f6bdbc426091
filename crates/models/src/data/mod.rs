//! Data that the presets train on. It knows nothing of tensors or pages: rows of numbers, the same for the same seed.

pub mod addition;
pub mod digits;
pub mod points;
mod random;

pub use random::Random;

/// Rows of features with a class for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labelled {
    /// `rows × features`, row by row.
    pub x: Vec<f32>,
    /// The class of each row.
    pub y: Vec<i32>,
    pub features: usize,
}

impl Labelled {
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    pub fn row(&self, i: usize) -> &[f32] {
        &self.x[i * self.features..(i + 1) * self.features]
    }

    /// The rows at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Labelled {
        let x = indices.iter().flat_map(|i| self.row(*i)).copied().collect();
        Labelled { x, y: indices.iter().map(|i| self.y[*i]).collect(), features: self.features }
    }
}

/// Which rows each step trains on: a fresh order each epoch, whole batches only, so that every step has the same shape.
///
/// Two samplers of one seed agree step by step; eager and compiled train on the same batches this way.
#[derive(Clone, Debug)]
pub struct Sampler {
    rows: usize,
    batch: usize,
    seed: u64,
    /// The epoch at hand and its order.
    order: Option<(u64, Vec<usize>)>,
}

impl Sampler {
    /// A batch larger than the data is cut down to the data.
    pub fn new(rows: usize, batch: usize, seed: u64) -> Self {
        Sampler { rows, batch: batch.clamp(1, rows.max(1)), seed, order: None }
    }

    /// The rows of step `step`, counted from 0.
    pub fn indices(&mut self, step: u64) -> &[usize] {
        if self.rows == 0 {
            return &[];
        }
        let per_epoch = (self.rows / self.batch) as u64;
        let (epoch, place) = (step / per_epoch, (step % per_epoch) as usize);
        if self.order.as_ref().is_none_or(|(e, _)| *e != epoch) {
            let mut order: Vec<usize> = (0..self.rows).collect();
            Random::new(self.seed).split(epoch + 1).shuffle(&mut order);
            self.order = Some((epoch, order));
        }
        let order = self.order.as_ref().map_or(&[][..], |(_, o)| o);
        &order[place * self.batch..(place + 1) * self.batch]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_visits_each_row_once() {
        let mut s = Sampler::new(12, 4, 5);
        let mut seen: Vec<usize> = (0..3).flat_map(|k| s.indices(k).to_vec()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn any_order_of_asking_gives_the_same_batches() {
        let (mut a, mut b) = (Sampler::new(50, 8, 1), Sampler::new(50, 8, 1));
        let forward: Vec<_> = (0..20).map(|k| a.indices(k).to_vec()).collect();
        for k in (0..20).rev() {
            assert_eq!(b.indices(k), forward[k as usize]);
        }
        assert_ne!(Sampler::new(50, 8, 2).indices(0), forward[0]);
    }
}
