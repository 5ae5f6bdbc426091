//! Sharded checkpoints: a safetensors file of each rank, and an index.
//!
//! Every rank writes the parts that it has ([`write`]); when all have (a barrier is the caller's), the first one writes the index with the
//! files' checksums ([`commit`]): a directory with an index is complete. Any number of ranks loads it: [`merge`] gives whole tensors by
//! PyTorch's names, [`part_of`] a rank's part of one, padded as [`FullyShardedDataParallel`](aludel_nn::distributed) has it.

use crate::directory::{checksum, io, sync_directory, write as write_file};
use crate::{Array, FORMAT, State, decode, encode};
use aludel_ir::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const INDEX: &str = "index.json";

/// What one rank has.
#[derive(Clone, Debug, PartialEq)]
pub struct Shards {
    pub rank: usize,
    pub ranks: usize,
    /// Parts, in one dimension, and tensors that every rank has whole.
    pub tensors: State,
    /// The shapes of those that are parts, as they are whole.
    pub whole: BTreeMap<String, Vec<usize>>,
}

#[derive(Serialize, Deserialize)]
struct Index {
    format: u32,
    ranks: usize,
    /// Sum, size and name of each rank's file, in the order of the ranks.
    files: Vec<String>,
    whole: BTreeMap<String, Vec<usize>>,
}

fn file_name(rank: usize, ranks: usize) -> String {
    format!("shard-{rank:05}-of-{ranks:05}.safetensors")
}

/// Elements of a rank's part of so many, the last ones' padded.
fn part(numel: usize, ranks: usize) -> usize {
    numel.div_ceil(ranks.max(1))
}

fn damaged(path: &Path, problem: String) -> Error {
    Error::invalid(format!("checkpoint {}", path.display()), problem, "use another checkpoint: this one is not whole")
}

/// Writes a rank's file into a directory that is there. Errors: those of the disk; a part that has not the elements it should.
pub fn write(directory: &Path, shards: &Shards) -> Result<()> {
    for (name, shape) in &shards.whole {
        let want = part(shape.iter().product(), shards.ranks);
        let have = shards.tensors.get(name).map(|a| a.words.len());
        if have != Some(want) {
            let problem = format!("{name} has {have:?} elements on rank {}, its part is {want}", shards.rank);
            return Err(Error::invalid("a sharded checkpoint", problem, "give this rank's parts"));
        }
    }
    write_file(&directory.join(file_name(shards.rank, shards.ranks)), &encode(&shards.tensors)?)?;
    sync_directory(directory)
}

/// Completes a checkpoint that all ranks have written to. Errors: a rank's file that is missing; those of the disk.
pub fn commit(directory: &Path, ranks: usize, whole: &BTreeMap<String, Vec<usize>>) -> Result<()> {
    let mut files = Vec::with_capacity(ranks);
    for rank in 0..ranks {
        let name = file_name(rank, ranks);
        let bytes = fs::read(directory.join(&name)).map_err(|e| damaged(directory, format!("the file of rank {rank}: {e}")))?;
        files.push(checksum(&name, &bytes).trim_end().to_string());
    }
    let index = Index { format: FORMAT, ranks, files, whole: whole.clone() };
    let text = serde_json::to_vec_pretty(&index).map_err(|e| Error::invalid(INDEX, e.to_string(), "report this"))?;
    // Another name first: an index that is there is whole.
    let (new, path) = (directory.join(".index.new"), directory.join(INDEX));
    write_file(&new, &text)?;
    fs::rename(&new, &path).map_err(|e| io(&path, "cannot be put in place", &e))?;
    sync_directory(directory)
}

/// The whole tensors of a sharded checkpoint, of any number of ranks.
///
/// Errors when there is no index, a file is missing or not bit by bit what was written, or files disagree.
pub fn merge(directory: &Path) -> Result<State> {
    let path = directory.join(INDEX);
    let text = fs::read(&path).map_err(|e| damaged(directory, format!("{INDEX} cannot be read ({e}): it was not completed")))?;
    let index: Index = serde_json::from_slice(&text).map_err(|e| damaged(directory, format!("{INDEX}: {e}")))?;
    if index.format != FORMAT || index.files.len() != index.ranks || index.ranks == 0 {
        return Err(damaged(directory, format!("format {}, {} files of {} ranks", index.format, index.files.len(), index.ranks)));
    }
    let mut parts: Vec<State> = Vec::with_capacity(index.ranks);
    for (rank, sum) in index.files.iter().enumerate() {
        let name = file_name(rank, index.ranks);
        let bytes = fs::read(directory.join(&name)).map_err(|e| damaged(directory, format!("the file of rank {rank}: {e}")))?;
        if checksum(&name, &bytes).trim_end() != sum {
            return Err(damaged(directory, format!("the file of rank {rank} is not what {INDEX} says")));
        }
        parts.push(decode(&name, &bytes)?);
    }
    let mut out = State::new();
    for (name, first) in &parts[0] {
        let Some(shape) = index.whole.get(name) else {
            out.insert(name.clone(), first.clone());
            continue;
        };
        let numel: usize = shape.iter().product();
        let mut words = Vec::with_capacity(numel);
        for (rank, state) in parts.iter().enumerate() {
            let a = state.get(name).filter(|a| a.dtype == first.dtype && a.words.len() == part(numel, index.ranks));
            let a = a.ok_or_else(|| damaged(directory, format!("{name} of rank {rank} is missing or no part of {shape:?}")))?;
            words.extend_from_slice(&a.words);
        }
        words.truncate(numel);
        out.insert(name.clone(), Array { dtype: first.dtype, shape: shape.clone(), words: words.into() });
    }
    match index.whole.keys().find(|n| !out.contains_key(*n)) {
        Some(name) => Err(damaged(directory, format!("{name} is in no file"))),
        None => Ok(out),
    }
}

/// A rank's part of a whole array, with zeros where it ends early.
pub fn part_of(whole: &Array, rank: usize, ranks: usize) -> Array {
    let (numel, len) = (whole.words.len(), part(whole.words.len(), ranks));
    let (start, end) = ((rank * len).min(numel), ((rank + 1) * len).min(numel));
    let mut words = whole.words[start..end].to_vec();
    words.resize(len, 0);
    Array { dtype: whole.dtype, shape: vec![len], words: words.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::DType;

    fn array(shape: &[usize]) -> Array {
        let n: usize = shape.iter().product();
        Array { dtype: DType::F32, shape: shape.to_vec(), words: (0..n).map(|i| (i as f32).to_bits()).collect() }
    }

    fn of_ranks(directory: &Path, ranks: usize) {
        let (w, b, step) = (array(&[5, 3]), array(&[2]), array(&[]));
        let whole = BTreeMap::from([("w".to_string(), vec![5, 3]), ("b".to_string(), vec![2])]);
        for rank in 0..ranks {
            let tensors = State::from([
                ("w".into(), part_of(&w, rank, ranks)),
                ("b".into(), part_of(&b, rank, ranks)),
                ("step".into(), step.clone()),
            ]);
            write(directory, &Shards { rank, ranks, tensors, whole: whole.clone() }).unwrap();
        }
        commit(directory, ranks, &whole).unwrap();
    }

    #[test]
    fn any_number_of_ranks_gives_the_whole() {
        for ranks in [1, 2, 4, 7] {
            let d = tempfile::tempdir().unwrap();
            of_ranks(d.path(), ranks);
            let state = merge(d.path()).unwrap();
            assert_eq!(
                state,
                State::from([("w".into(), array(&[5, 3])), ("b".into(), array(&[2])), ("step".into(), array(&[]))]),
                "{ranks}"
            );
        }
    }

    #[test]
    fn what_is_not_whole_is_said() {
        let d = tempfile::tempdir().unwrap();
        assert!(merge(d.path()).unwrap_err().to_string().contains("not completed"));
        of_ranks(d.path(), 3);
        let file = d.path().join(file_name(1, 3));
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
        assert!(merge(d.path()).unwrap_err().to_string().contains("rank 1 is not what"));
        fs::remove_file(&file).unwrap();
        assert!(merge(d.path()).unwrap_err().to_string().contains("rank 1"));
        assert!(commit(d.path(), 3, &BTreeMap::new()).unwrap_err().to_string().contains("rank 1"));
        let whole = BTreeMap::from([("w".to_string(), vec![5, 3])]);
        let wrong = Shards { rank: 0, ranks: 2, tensors: State::from([("w".into(), array(&[3]))]), whole };
        assert!(write(d.path(), &wrong).unwrap_err().to_string().contains("its part is 8"));
    }
}
