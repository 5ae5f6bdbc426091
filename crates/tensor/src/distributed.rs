//! Ranks: how a device comes to have company.
//!
//! [`Device::join`] gives a device its place in a group ([`LocalGroup`] for threads; what starts processes gives others). Modules and
//! functions take the [`Member`] that comes of it; tensors have the collectives as methods.

use crate::device::Device;
use crate::{Tensor, no_grad};
pub use aludel_ir::Group;
use aludel_ir::{Error, Result};
pub use aludel_runtime::collective::{LocalGroup, PaperGroup, ProcessGroup, TIMEOUT, World, destroy_process_group};
use std::sync::Arc;

/// One rank of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub group: Group,
    /// From 0 on.
    pub rank: usize,
}

impl Member {
    /// The only rank of its group: nothing is exchanged.
    pub fn alone() -> Member {
        Member { group: Group { name: "world".into(), ranks: 1 }, rank: 0 }
    }

    pub fn ranks(&self) -> usize {
        self.group.ranks as usize
    }

    /// Whether this rank speaks for all: logs and checkpoints are its.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }
}

/// How many rows each rank of a group gives to each: known to all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Splits {
    /// Of each rank, to each.
    table: Vec<Vec<usize>>,
    rank: usize,
}

impl Splits {
    /// What this rank gives to each.
    pub fn given(&self) -> &[usize] {
        &self.table[self.rank]
    }

    /// What this rank gets from each.
    pub fn got(&self) -> Vec<usize> {
        self.table.iter().map(|given| given[self.rank]).collect()
    }

    /// The most that one rank gives to one.
    pub fn most(&self) -> usize {
        self.table.iter().flatten().copied().max().unwrap_or(0)
    }

    /// The way back: each gives to each what it got.
    pub fn reversed(&self) -> Splits {
        let n = self.table.len();
        Splits { table: (0..n).map(|from| (0..n).map(|to| self.table[to][from]).collect()).collect(), rank: self.rank }
    }
}

impl Member {
    /// Lets all ranks tell one another how many rows each gives to each, for [`Tensor::all_to_all_uneven`]: before a step that is compiled,
    /// whose shapes they are.
    ///
    /// # Errors
    ///
    /// Another number of counts than ranks; ranks that are missing or have ended.
    pub fn tell_splits(&self, device: &Device, given: &[usize]) -> Result<Splits> {
        let n = self.ranks();
        if given.len() != n {
            let problem = format!("{} counts for {n} ranks", given.len());
            return Err(Error::invalid("tell_splits", problem, "give one for each rank"));
        }
        let table = self.tell(device, given)?.chunks(n).map(<[usize]>::to_vec).collect();
        Ok(Splits { table, rank: self.rank })
    }

    /// Lets all ranks tell one another how many rows they have, for [`Tensor::all_gather_uneven`].
    ///
    /// # Errors
    ///
    /// Ranks that are missing or have ended.
    pub fn tell_rows(&self, device: &Device, rows: usize) -> Result<Vec<usize>> {
        self.tell(device, &[rows])
    }

    fn tell(&self, device: &Device, counts: &[usize]) -> Result<Vec<usize>> {
        let too_many = |_| Error::Limit {
            what: "rows that a rank gives".into(),
            value: format!("{counts:?}"),
            limit: i32::MAX.to_string(),
            remedy: "give them in parts".into(),
        };
        let own = counts.iter().map(|c| i32::try_from(*c)).collect::<std::result::Result<Vec<i32>, _>>().map_err(too_many)?;
        let all = no_grad(|| Tensor::from_vec(device, own, [counts.len()])?.all_gather(0, &self.group))?.to_vec::<i32>()?;
        Ok(all.into_iter().map(|c| c.max(0) as usize).collect())
    }
}

impl Device {
    /// Gives the device its place among all processes of a run, by the device's own engine.
    ///
    /// # Errors
    ///
    /// A device that has none; a rank that is missing after the time-out, with its number.
    pub fn join_world(&self, world: &World, timeout: std::time::Duration) -> Result<Member> {
        let (rank, ranks) = self.executor().join_world("world", world, timeout)?;
        Ok(Member { group: Group { name: "world".into(), ranks: ranks as u32 }, rank })
    }

    /// Gives the device a place in a group; gives the place.
    ///
    /// # Errors
    ///
    /// A device that runs no collectives, in a group of more than one rank.
    pub fn join(&self, group: Arc<dyn ProcessGroup>) -> Result<Member> {
        let (name, rank, ranks) = (group.name().to_string(), group.rank(), group.size() as u32);
        if ranks > 1 {
            self.executor().join(group)?;
        }
        Ok(Member { group: Group { name, ranks }, rank })
    }

    /// Makes a group of some ranks of one that the device has a place in, by their numbers there, in the order of the new one's; this rank's
    /// place in it, where it is one of them. All ranks of `of` come to this, also those that are not named, and make groups in the same
    /// order. PyTorch: `torch.distributed.new_group`.
    ///
    /// # Errors
    ///
    /// A name that is taken; numbers that are no ranks, or named twice; ranks that make another group, are missing or have ended; a device
    /// that runs no collectives.
    pub fn split(&self, of: &Member, name: &str, ranks: &[usize]) -> Result<Option<Member>> {
        let group = Group { name: name.into(), ranks: ranks.len() as u32 };
        if of.ranks() == 1 {
            // Nobody else is there: nothing is joined, as in `join`.
            return match ranks {
                [0] => Ok(Some(Member { group, rank: 0 })),
                _ => Err(Error::invalid(format!("group {name}"), format!("{ranks:?} of one rank"), "name rank 0 alone")),
            };
        }
        let rank = self.executor().split(&of.group.name, name, ranks)?;
        Ok(rank.map(|rank| Member { group, rank }))
    }
}
