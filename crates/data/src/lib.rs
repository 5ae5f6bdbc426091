//! Data from where it lies to batches of tensors, as `torch.utils.data` has it.
//!
//! The flow, from a data set to a training step:
//!
//! ```
//! use aludel_data::{DataLoader, Memory, ToDevice};
//! use aludel_tensor::Device;
//!
//! # fn main() -> aludel_data::Result<()> {
//! let rows = Memory::new((0..100).map(|i| (i as f32, i % 2)).collect());   // a `Dataset`: samples by index
//! let loader = DataLoader::new(rows)                                        // who takes which samples, when
//!     .batch_size(32)
//!     .shuffle(true)
//!     .seed(7)
//!     .num_workers(if cfg!(target_arch = "wasm32") { 0 } else { 2 })        // threads; the order is the same for any number
//!     .build()?;
//! let device = Device::interpreter();
//! for batch in loader.iter()? {                                             // an epoch
//!     let (x, y) = batch?.to_device(&device)?;                              // f32 `[32]`, i32 `[32]`; the last ones `[4]`
//!     // let loss = step.call(&mut train, &(x, y))?;
//!     # let _ = (x, y);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - [`Dataset`] gives samples by index, [`IterableDataset`] one after the other; [`Sampler`]s say in which order indices come: a function
//!   of seed and epoch alone, so a position in the data is two numbers, which [`Batches::state`] saves.
//! - [`Pipe`]s are iterators that fail and whose position can be saved ([`pipe`]); streams of samples are made of them.
//! - [`table`]s are read from Parquet, Arrow, CSV and JSON, prepared by expressions and handed over column by column.
//! - [`source`]s read files, local or remote ones, into samples.
//! - [`Array`] is a tensor on the host. Worker threads make them, [`Collate`] stacks them, [`ToDevice`] brings them to a device.
//! - [`Error`] says which item, file, row and column something is wrong with.

#![warn(clippy::too_many_lines)]

mod array;
mod collate;
mod dataset;
mod error;
pub mod loader;
pub mod pipe;
mod random;
mod sampler;
pub mod source;
#[cfg(feature = "arrow")]
pub mod table;
mod threads;

pub use array::{Array, Values};
pub use collate::{Collate, ToDevice};
pub use dataset::{Concat, Dataset, Draw, Map, Memory, Subset, random_split};
pub use error::{Error, Result};
pub use loader::{Batches, DataLoader, LoaderState, WorkerInfo};
pub use pipe::{IterableDataset, Pipe};
pub use random::Random;
pub use sampler::{
    BatchSampler, Batched, DistributedSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
pub use source::{Examples, Labelled, open_labelled};
