//! Groups of some of the ranks: what every engine asks before it makes one.

use super::{Call, Format, ProcessGroup, hash};
use aludel_ir::{Collective, CollectiveOp, DType, Error, Group, Result};

pub(crate) fn not_joined(what: String) -> Error {
    Error::invalid(what, "the device has not joined the group", "give the device a process group of that name: Device::join")
}

pub(crate) fn not_among(what: String) -> Error {
    Error::invalid(what, "this rank is not in the group", "call it on the group's own ranks")
}

pub(crate) fn taken(name: &str) -> Error {
    Error::invalid(format!("group {name}"), "has been created before", "give each group a name of its own")
}

/// The place of rank `rank` of so many among some, if it is one of them.
///
/// # Errors
///
/// No ranks, numbers that are none, and such as are named twice.
pub(crate) fn place_among(name: &str, ranks: &[usize], rank: usize, size: usize) -> Result<Option<usize>> {
    let wrong = |problem: String| Error::invalid(format!("group {name}"), problem, format!("name ranks from 0 to {}, each once", size - 1));
    if ranks.is_empty() {
        return Err(wrong("has no ranks".into()));
    }
    if let Some(r) = ranks.iter().find(|r| **r >= size) {
        return Err(wrong(format!("names rank {r} of {size}")));
    }
    let mut seen = vec![false; size];
    if let Some(r) = ranks.iter().find(|r| std::mem::replace(&mut seen[**r], true)) {
        return Err(wrong(format!("names rank {r} twice")));
    }
    Ok(ranks.iter().position(|r| *r == rank))
}

/// Lets all ranks of a group compare which group of some of them they are about to make; this one's place in it.
///
/// # Errors
///
/// As [`place_among`]; ranks that make another group, with their numbers, or are missing.
pub(crate) fn some_of(whole: &dyn ProcessGroup, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
    let (size, wanted) = (whole.size(), hash(&plan(name, ranks)));
    // What is wrong is so on all ranks that say the same, and those that do not are told by name.
    let place = place_among(name, ranks, whole.rank(), size);
    let collective =
        Collective { op: CollectiveOp::AllGather { release: false }, group: Group { name: whole.name().into(), ranks: size as u32 } };
    let call = Call { collective, dtype: DType::U32, format: Format::Plain, elements: 2, program: format!("making group {name}") };
    let told = whole.run(&call, &wanted.to_le_bytes())?;
    let all: Vec<&[u8]> = told.chunks_exact(8).collect();
    let different: Vec<usize> = (0..all.len()).filter(|r| all[*r] != all[0]).collect();
    if !different.is_empty() {
        return Err(apart(whole.name(), name, different));
    }
    place
}

/// What ranks compare.
pub(crate) fn plan(name: &str, ranks: &[usize]) -> String {
    format!("{name}: {ranks:?}")
}

/// Ranks that make another group than rank 0.
pub(crate) fn apart(whole: &str, name: &str, ranks: Vec<usize>) -> Error {
    Error::Collective {
        what: format!("making group {name} of ranks of group {whole}"),
        ranks,
        problem: "another group than rank 0 makes".into(),
        remedy: "make the same groups in the same order on all ranks, also those that are not in them".into(),
    }
}
