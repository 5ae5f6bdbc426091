//! Ranks: how a device comes to have company.
//!
//! [`Device::join`] gives a device its place in a group ([`LocalGroup`] for threads; what starts processes gives others). Modules and
//! functions take the [`Member`] that comes of it; tensors have the collectives as methods.

use crate::device::Device;
pub use aludel_ir::Group;
use aludel_ir::Result;
pub use aludel_runtime::collective::{LocalGroup, PaperGroup, ProcessGroup, TIMEOUT, World};
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
}
