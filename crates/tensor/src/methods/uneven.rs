//! Collectives of ranks that have different numbers of rows: parts are filled up for the exchange, which is one of equal parts.

use super::cat;
use crate::distributed::{Member, Splits};
use crate::tensor::Tensor;
use aludel_ir::{Error, Result};

impl Tensor {
    /// All ranks' rows, one rank's after another's, where ranks have different numbers of them ([`Member::tell_rows`]). They are filled up to
    /// the most that a rank has for the exchange. PyTorch: `torch.distributed.all_gather` of such tensors.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_gather`]; a tensor of other rows than were told.
    #[track_caller]
    pub fn all_gather_uneven(&self, rows: &[usize], member: &Member) -> Result<Tensor> {
        if rows.len() != member.ranks() || self.shape().first() != rows.get(member.rank) {
            let problem = format!("rank {} of {} has {:?}, of which {rows:?} rows were told", member.rank, member.ranks(), self.shape());
            return Err(Error::invalid("all_gather_uneven", problem, "tell the rows that the tensors have: Member::tell_rows"));
        }
        let most = rows.iter().copied().max().unwrap_or(0);
        if most == 0 || rows.len() == 1 {
            return Ok(self.clone());
        }
        filled(self, most)?.all_gather(0, &member.group)?.without_filling(rows, most)
    }

    /// The rows of all ranks' tensors that are given to this one, one rank's after another's, where each gives another number to each
    /// ([`Member::tell_splits`]). Parts are filled up to the largest for the exchange. PyTorch: `torch.distributed.all_to_all_single` with
    /// split sizes.
    ///
    /// # Errors
    ///
    /// As [`Tensor::all_to_all`]; a tensor of other rows than were told.
    #[track_caller]
    pub fn all_to_all_uneven(&self, splits: &Splits, member: &Member) -> Result<Tensor> {
        let (given, most) = (splits.given(), splits.most());
        if given.len() != member.ranks() || self.shape().first() != Some(&given.iter().sum()) {
            let problem = format!("rank {} of {} has {:?}, of which {given:?} rows are given", member.rank, member.ranks(), self.shape());
            return Err(Error::invalid("all_to_all_uneven", problem, "tell the rows that the tensor has: Member::tell_splits"));
        }
        if most == 0 || given.len() == 1 {
            return Ok(self.clone());
        }
        let mut start = 0;
        let mut part = |rows: &usize| {
            start += rows;
            filled(&self.narrow(0, start - rows, *rows)?, most)
        };
        let parts = given.iter().map(&mut part).collect::<Result<Vec<_>>>()?;
        cat(&parts.iter().collect::<Vec<_>>(), 0)?.all_to_all(0, &member.group)?.without_filling(&splits.got(), most)
    }

    /// Of parts of `most` rows each, as many as each had.
    fn without_filling(&self, rows: &[usize], most: usize) -> Result<Tensor> {
        let there = rows.iter().enumerate().filter(|(_, rows)| **rows > 0);
        let parts = there.map(|(r, rows)| self.narrow(0, r * most, *rows)).collect::<Result<Vec<_>>>()?;
        if parts.is_empty() { self.narrow(0, 0, 0) } else { cat(&parts.iter().collect::<Vec<_>>(), 0) }
    }
}

/// A tensor with zeros behind its rows, up to so many.
fn filled(t: &Tensor, most: usize) -> Result<Tensor> {
    let mut shape = t.shape();
    let Some(rows) = shape.first_mut().filter(|rows| **rows < most) else { return Ok(t.clone()) };
    *rows = most - *rows;
    let zeros = Tensor::full(t.device(), shape, 0.0, t.dtype())?;
    if t.numel() == 0 { Ok(zeros) } else { cat(&[t, &zeros], 0) }
}
