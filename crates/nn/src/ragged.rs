//! Batches of sequences of different lengths, without their padding.
//!
//! Rows of all sequences lie one after the other in one tensor `[rows, width]`. What works row by row (linear layers, normalization)
//! then does no work for padding. Attention needs sequences: they are gathered into few buckets of similar lengths, each padded to its
//! longest, and scattered back. All of a layout is tensors, so that a compiled function takes batches of other lengths without being
//! compiled anew.

use aludel_tensor::{Device, Dim, Error, Result, Tensor, Tree, cat};

/// Sequences of similar lengths, as a padded batch.
#[derive(Clone, Tree)]
struct Bucket {
    /// i32 `[sequences, longest]`: which row each place shows; padding shows the sequence's last row.
    rows: Tensor,
    /// bool `[sequences, longest]`: whether a place is not padding.
    keep: Tensor,
}

/// Where the rows of sequences of different lengths are.
#[derive(Clone, Tree)]
pub struct RaggedLayout {
    buckets: Vec<Bucket>,
    /// i32 `[rows]`: the place of each row among those of all buckets, one after the other.
    place: Tensor,
    /// i32 `[rows]`: the sequence of each row, and its position there.
    sequence: Tensor,
    position: Tensor,
    /// bool and i32 `[sequences, longest]`: whether a place of the padded batch is a row, and which.
    valid: Tensor,
    row: Tensor,
}

/// Divides sorted lengths into at most `most` ranges so that padding each to its longest gives the fewest pairs for attention.
fn divide(sorted: &[usize], most: usize) -> Vec<usize> {
    // Costs of the first `j` sequences in so many buckets, and where the last bucket starts.
    let n = sorted.len();
    let cost = |i: usize, j: usize| (j - i) as u128 * (sorted[j - 1] as u128).pow(2);
    let mut best: Vec<Vec<(u128, usize)>> = vec![(0..=n).map(|j| if j == 0 { (0, 0) } else { (cost(0, j), 0) }).collect()];
    for b in 1..most.clamp(1, n) {
        let row = (0..=n).map(|j| {
            let before = best[b - 1][j];
            (1..j).map(|i| (best[b - 1][i].0 + cost(i, j), i)).fold(before, |a, c| if c.0 < a.0 { c } else { a })
        });
        let row = row.collect();
        best.push(row);
    }
    let (mut ends, mut j) = (Vec::new(), n);
    for b in (0..best.len()).rev() {
        // A bucket more that saves nothing has the same start as without it.
        if j == 0 || (b > 0 && best[b][j] == best[b - 1][j]) {
            continue;
        }
        ends.push(j);
        j = best[b][j].1;
    }
    ends.reverse();
    ends
}

impl RaggedLayout {
    /// For sequences of the given lengths, in at most `buckets` buckets (four are a good number).
    ///
    /// # Errors
    ///
    /// When there is no sequence, or an empty one.
    pub fn new(device: &Device, lengths: &[usize], buckets: usize) -> Result<RaggedLayout> {
        if lengths.is_empty() || lengths.contains(&0) {
            return Err(Error::invalid("RaggedLayout", format!("the lengths are {lengths:?}"), "give sequences of at least one row"));
        }
        let starts: Vec<usize> = lengths.iter().scan(0, |sum, l| Some(std::mem::replace(sum, *sum + l))).collect();
        let total: usize = lengths.iter().sum();
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|s| lengths[*s]);
        let sorted: Vec<usize> = order.iter().map(|s| lengths[*s]).collect();
        let ints = |v: Vec<usize>, shape: &[usize]| Tensor::from_vec(device, v.into_iter().map(|x| x as i32).collect(), shape);
        let mut place = vec![0; total];
        let (mut list, mut begin, mut offset) = (Vec::new(), 0, 0);
        for end in divide(&sorted, buckets) {
            let (members, longest) = (&order[begin..end], sorted[end - 1]);
            let (mut rows, mut keep) = (Vec::new(), Vec::new());
            for (k, s) in members.iter().enumerate() {
                for t in 0..longest {
                    rows.push(starts[*s] + t.min(lengths[*s] - 1));
                    keep.push(t < lengths[*s]);
                }
                for t in 0..lengths[*s] {
                    place[starts[*s] + t] = offset + k * longest + t;
                }
            }
            let shape = [members.len(), longest];
            list.push(Bucket { rows: ints(rows, &shape)?, keep: Tensor::from_vec(device, keep, shape)? });
            offset += members.len() * longest;
            begin = end;
        }
        let (mut sequence, mut position) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let (mut valid, mut row) = (Vec::new(), Vec::new());
        for (s, l) in lengths.iter().enumerate() {
            sequence.extend(std::iter::repeat_n(s, *l));
            position.extend(0..*l);
            valid.extend((0..longest).map(|t| t < *l));
            row.extend((0..longest).map(|t| starts[s] + t.min(l - 1)));
        }
        let shape = [lengths.len(), longest];
        Ok(RaggedLayout {
            buckets: list,
            place: ints(place, &[total])?,
            sequence: ints(sequence, &[total])?,
            position: ints(position, &[total])?,
            valid: Tensor::from_vec(device, valid, shape)?,
            row: ints(row, &shape)?,
        })
    }

    /// How many buckets attention runs in.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// The rows `[rows, width]` of a padded batch `[sequences, length, width]`.
    ///
    /// # Errors
    ///
    /// When the batch does not have three dimensions, or not the layout's sequences and lengths.
    #[track_caller]
    pub fn pack(&self, padded: &Tensor) -> Result<Tensor> {
        if padded.rank() != 3 {
            return Err(Error::op(
                "RaggedLayout",
                padded.to_string(),
                "a padded batch has three dimensions",
                "give [sequences, length, width]",
            ));
        }
        let (length, width) = (padded.size(1)?, padded.size(2)?);
        let steps = match &length {
            Dim::Const(l) => self.sequence.mul(*l)?,
            // A size of the trace, as a number on the device.
            symbolic => self.sequence.mul(&Tensor::arange(padded.device(), symbolic)?.amax(0)?.add(1)?)?,
        };
        padded.reshape((-1, &width))?.embedding(&steps.add(&self.position)?)
    }

    /// The padded batch `[sequences, longest, width]` of rows, zeros where there are none.
    ///
    /// # Errors
    ///
    /// When the rows are no matrix.
    #[track_caller]
    pub fn unpack(&self, rows: &Tensor) -> Result<Tensor> {
        rows.embedding(&self.row)?.mul(&self.valid.unsqueeze(-1)?.to(rows.dtype())?)
    }

    /// Runs attention on each bucket: `attend` is given `[sequences, longest, width]` and bool `[sequences, longest]`, true where there
    /// is a row, and gives a tensor of the first two sizes.
    #[track_caller]
    pub(crate) fn by_bucket(&self, rows: &Tensor, attend: &dyn Fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let mut parts = Vec::with_capacity(self.buckets.len());
        for b in &self.buckets {
            let y = attend(&rows.embedding(&b.rows)?, &b.keep)?;
            let width = y.size(-1)?;
            parts.push(y.reshape((-1, &width))?);
        }
        let all = match parts.as_slice() {
            [only] => only.clone(),
            parts => cat(&parts.iter().collect::<Vec<_>>(), 0)?,
        };
        all.embedding(&self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_the_least_padding() {
        assert_eq!(divide(&[5, 5, 5], 4), [3]);
        assert_eq!(divide(&[1, 1, 9, 9], 2), [2, 4]);
        assert_eq!(divide(&[1, 2, 3], 8), [1, 2, 3]);
        assert_eq!(divide(&[7], 4), [1]);
        // Against every division.
        let lengths = [1usize, 2, 2, 5, 6, 9, 9, 12];
        let cost = |ends: &[usize]| {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(ends).map(|(i, j)| (j - i) * lengths[j - 1] * lengths[j - 1]).sum::<usize>()
        };
        for most in 1..=4 {
            let all = (0..1u32 << 7).filter(|m| m.count_ones() < most).map(|m| {
                let ends: Vec<usize> = (1..8).filter(|j| m >> (j - 1) & 1 == 1).chain([8]).collect();
                cost(&ends)
            });
            assert_eq!(cost(&divide(&lengths, most as usize)), all.min().unwrap(), "{most}");
        }
    }
}
