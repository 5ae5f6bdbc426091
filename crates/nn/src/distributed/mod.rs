//! Training on several ranks: data parallel ([`DistributedDataParallel`]) and fully sharded ([`FullyShardedDataParallel`]).
//!
//! Every rank runs the same step on a part of the batch, which [`DistributedSampler`] gives it. What the ranks exchange are operators of
//! the step like any other, so eager mode, capture, fusion and the planner see them. The losses of N ranks are those of one process with N
//! times the batch. The whole flow of a data-parallel step:
//!
//! ```text
//! let model = DistributedDataParallel::new(model, &member)?;      // all ranks begin with rank 0's values
//! let loss = cross_entropy(&model.forward(&x)?, &y)?;
//! let mut gradients = model.backward(&loss)?;                     // buckets, each averaged over the ranks
//! clip_grad_norm(&mut gradients, 1.0)?;                           // alike on every rank: no exchange
//! optimizer.step(&mut model, &gradients)?;
//! ```

mod data_parallel;
mod flat;
mod fully_sharded;
mod offload;
mod sampler;
mod sync_batch_norm;

pub use aludel_tensor::distributed::{Group, Member};
pub use data_parallel::{DataParallelConfig, DistributedDataParallel, average_gradients, broadcast_tree};
pub use fully_sharded::{FullyShardedConfig, FullyShardedDataParallel};
pub use offload::Offloaded;
pub use sampler::{DistributedSampler, rank_seed};
pub use sync_batch_norm::SyncBatchNorm;
pub(crate) use sync_batch_norm::{normalize_among, unbiased};
