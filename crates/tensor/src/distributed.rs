//! Ranks: how a device comes to have company.
//!
//! [`Device::join`] gives a device its place in a group ([`LocalGroup`] for threads; what starts processes gives others). Modules and
//! functions take the [`Member`] that comes of it; tensors have the collectives as methods.

use crate::device::Device;
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
