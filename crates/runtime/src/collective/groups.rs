//! The groups that a device has joined.

use super::some::{not_among, not_joined, taken};
use super::{Call, Format, ProcessGroup, World, connect};
use aludel_ir::interp::HostTensor;
use aludel_ir::{Collective, CollectiveOp, Error, Exchanger, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The groups that a device has joined, by their names; of those that consist of other ranks the names alone. Clones share them.
#[derive(Clone, Default)]
pub struct Groups(Arc<RwLock<BTreeMap<String, Option<Arc<dyn ProcessGroup>>>>>);

impl Groups {
    /// Adds a group, or replaces the one of its name.
    pub fn join(&self, group: Arc<dyn ProcessGroup>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(group.name().into(), Some(group));
    }

    /// Joins all processes of a run, by [`connect`]; gives the rank and how many there are. A process alone joins nobody.
    ///
    /// # Errors
    ///
    /// As [`connect`].
    pub fn join_world(&self, name: &str, world: &World, timeout: Duration) -> Result<(usize, usize)> {
        if world.size > 1 {
            self.join(connect(name, world, timeout)?);
        }
        Ok((world.rank, world.size))
    }

    /// Makes a group of some ranks of one that was joined, and joins it; the rank in it, where this is one. All ranks of `of` come to this.
    ///
    /// # Errors
    ///
    /// A name that is taken, a group `of` that was not joined, and as [`ProcessGroup::split`].
    pub fn split(&self, of: &str, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
        let whole = {
            let joined = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if joined.contains_key(name) {
                return Err(taken(name));
            }
            joined.get(of).cloned().flatten()
        };
        let made = whole.ok_or_else(|| not_joined(format!("group {name}, of ranks of group {of}")))?.split(name, ranks)?;
        let rank = made.as_ref().map(|group| group.rank());
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), made);
        Ok(rank)
    }

    /// The group of a collective.
    ///
    /// # Errors
    ///
    /// A group that was not joined, or is of another size.
    pub fn find(&self, collective: &Collective) -> Result<Arc<dyn ProcessGroup>> {
        let (name, ranks) = (&collective.group.name, collective.group.ranks as usize);
        let what = || format!("{} over group {name}", collective.op.name());
        let found = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let group = found.ok_or_else(|| not_joined(what()))?.ok_or_else(|| not_among(what()))?;
        if group.size() != ranks {
            let problem = format!("captured for {ranks} ranks, the group has {}", group.size());
            return Err(Error::invalid(what(), problem, "capture the step again for this group"));
        }
        Ok(group)
    }

    /// Runs a collective of this rank's operand: the whole flow.
    ///
    /// # Errors
    ///
    /// As [`Groups::find`] and [`ProcessGroup::run`].
    pub fn run(&self, call: &Call, operand: &[u8]) -> Result<Vec<u8>> {
        let group = self.find(&call.collective)?;
        let (have, want) = (operand.len(), call.elements * call.element_bytes());
        if have != want {
            let problem = format!("{have} bytes for {} elements of {}", call.elements, call.dtype);
            return Err(Error::invalid(call.collective.op.name(), problem, "report this"));
        }
        group.run(call, operand)
    }
}

impl Exchanger for Groups {
    fn exchange(&self, collective: &Collective, operand: &HostTensor) -> Result<HostTensor> {
        let elements = operand.data.len();
        let call = Call { collective: collective.clone(), dtype: operand.dtype, format: Format::Wide, elements, program: String::new() };
        let bytes: Vec<u8> = operand.data.iter().flat_map(|v| v.to_le_bytes()).collect();
        let result = self.run(&call, &bytes)?;
        let data: Vec<f64> = result.chunks_exact(8).map(|b| call.read(b)).collect();
        let mut shape = operand.shape.clone();
        let n = collective.group.ranks as usize;
        match (collective.op, shape.first_mut()) {
            (CollectiveOp::AllGather { .. }, Some(d)) => *d *= n,
            (CollectiveOp::ReduceScatter(_), Some(d)) => *d /= n,
            _ => {}
        }
        HostTensor::new(operand.dtype, shape, data)
    }
}
