//! Data parallel: every rank has the whole model, and the gradients are averaged.

use super::flat::{flatten, unflatten};
use crate::module::Module;
use aludel_tensor::distributed::Member;
use aludel_tensor::{DType, Gradients, Result, Tensor, Tree, Visitor, no_grad};

/// How gradients are exchanged. Defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataParallelConfig {
    /// Bytes of gradients that are exchanged together. PyTorch: `bucket_cap_mb`.
    pub bucket_bytes: usize,
    /// Bytes of the first bucket: exchanging begins early.
    pub first_bucket_bytes: usize,
}

impl Default for DataParallelConfig {
    fn default() -> Self {
        DataParallelConfig { bucket_bytes: 25 << 20, first_bucket_bytes: 1 << 20 }
    }
}

impl DataParallelConfig {
    /// Positions of tensors that are exchanged together: neighbours of one type, but for tensors that would fill a bucket, which are by
    /// themselves: nothing copies them.
    fn buckets(&self, tensors: &[Tensor]) -> Vec<Vec<usize>> {
        let mut out: Vec<Vec<usize>> = Vec::new();
        // The bucket that is not full yet: where it is, of which type, and its bytes.
        let mut open: Option<(usize, DType, usize)> = None;
        for (i, t) in tensors.iter().enumerate() {
            let bytes = t.numel() * if matches!(t.dtype(), DType::F16 | DType::BF16) { 2 } else { 4 };
            let limit = |at: usize| if at == 0 { self.first_bucket_bytes } else { self.bucket_bytes };
            match &mut open {
                _ if bytes >= self.bucket_bytes => out.push(vec![i]),
                Some((at, dtype, sum)) if *dtype == t.dtype() && *sum < limit(*at) => {
                    out[*at].push(i);
                    *sum += bytes;
                }
                _ => {
                    open = Some((out.len(), t.dtype(), bytes));
                    out.push(vec![i]);
                }
            }
        }
        // Each is whole when its last tensor is there; those that are ready first go first.
        out.sort_by_key(|list| list.last().copied());
        out
    }
}

/// Averages gradients over the ranks of a group, bucket by bucket: what [`DistributedDataParallel::backward`] does behind the backward pass.
///
/// # Errors
///
/// Ranks whose losses depend on other parameters, are missing or have ended.
pub fn average_gradients(gradients: &mut Gradients, member: &Member, config: &DataParallelConfig) -> Result<()> {
    if member.ranks() == 1 || gradients.is_empty() {
        return Ok(());
    }
    let list: Vec<Tensor> = gradients.iter().cloned().collect();
    let mut new = list.clone();
    for bucket in config.buckets(&list) {
        let own: Vec<&Tensor> = bucket.iter().map(|i| &list[*i]).collect();
        let mean = no_grad(|| match own[..] {
            // In its own shape, it is exchanged where it lies.
            [one] => Ok(vec![one.all_reduce("mean", &member.group)?]),
            _ => unflatten(&flatten(&own)?.all_reduce("mean", &member.group)?, &own),
        })?;
        bucket.iter().zip(mean).for_each(|(i, t)| new[*i] = t);
    }
    gradients.replace(new)
}

/// Gives all ranks the tensors of rank 0: a model's, an optimizer's, or all that a run keeps. Ranks that go on from a checkpoint which
/// only rank 0 has read begin so.
///
/// # Errors
///
/// Ranks whose trees have other tensors, are missing or have ended.
pub fn broadcast_tree<T: Tree + ?Sized>(tree: &mut T, member: &Member) -> Result<()> {
    broadcast(tree, member, &DataParallelConfig::default(), |_| true)
}

fn broadcast<T: Tree + ?Sized>(tree: &mut T, member: &Member, config: &DataParallelConfig, which: impl Fn(&Tensor) -> bool) -> Result<()> {
    if member.ranks() == 1 {
        return Ok(());
    }
    let mut tensors = Vec::new();
    tree.visit_mut(&mut |t| tensors.extend(which(t).then(|| t.clone())));
    let mut new: Vec<Option<Tensor>> = vec![None; tensors.len()];
    for bucket in config.buckets(&tensors) {
        let own: Vec<Tensor> = bucket.iter().map(|i| tensors[*i].detach()).collect();
        let own: Vec<&Tensor> = own.iter().collect();
        let all = no_grad(|| unflatten(&flatten(&own)?.broadcast(0, &member.group)?, &own))?;
        bucket.iter().zip(all).for_each(|(i, t)| new[*i] = Some(t.detach()));
    }
    let mut new = new.into_iter().flatten();
    tree.visit_mut(&mut |t| {
        if which(t)
            && let Some(v) = new.next()
        {
            *t = if t.is_requires_grad() { v.requires_grad() } else { v };
        }
    });
    Ok(())
}

/// A module whose gradients are averaged over the ranks. PyTorch: `torch.nn.parallel.DistributedDataParallel`.
///
/// Gradients are joined in buckets in the order in which the backward pass gives them, which is the reverse of their use; each is
/// exchanged by itself, as an operator of the step, so a compiled step has one as soon as its bucket is whole. The sum is taken in the order
/// of the ranks. The tree is the module's own with `module.` before its names, as in PyTorch.
#[derive(Clone)]
pub struct DistributedDataParallel<M> {
    pub module: M,
    member: Member,
    config: DataParallelConfig,
    exchanges: bool,
}

impl<M: Tree> DistributedDataParallel<M> {
    /// Wraps a module; its parameters and buffers become those of rank 0.
    ///
    /// # Errors
    ///
    /// As [`DistributedDataParallel::with`].
    pub fn new(module: M, member: &Member) -> Result<Self> {
        Self::with(module, member, DataParallelConfig::default())
    }

    /// As [`DistributedDataParallel::new`], with buckets of another size.
    ///
    /// # Errors
    ///
    /// Ranks whose modules have other parameters, are missing or have ended.
    pub fn with(module: M, member: &Member, config: DataParallelConfig) -> Result<Self> {
        let mut out = DistributedDataParallel { module, member: member.clone(), config, exchanges: true };
        out.broadcast(|_| true)?;
        Ok(out)
    }

    /// Gives all ranks the buffers (running statistics) of rank 0. PyTorch does so before every forward pass (`broadcast_buffers`); here
    /// a program asks for it, before it evaluates or saves.
    ///
    /// # Errors
    ///
    /// Ranks that are missing or have ended.
    pub fn broadcast_buffers(&mut self) -> Result<()> {
        self.broadcast(|t| !t.is_requires_grad())
    }

    fn broadcast(&mut self, which: impl Fn(&Tensor) -> bool) -> Result<()> {
        broadcast(&mut self.module, &self.member, &self.config, which)
    }

    /// The gradients of a loss, averaged over the ranks; only this rank's within [`DistributedDataParallel::no_sync`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::backward`] and [`DistributedDataParallel::reduce`].
    #[track_caller]
    pub fn backward(&self, loss: &Tensor) -> Result<Gradients> {
        let mut gradients = loss.backward()?;
        if self.exchanges {
            self.reduce(&mut gradients)?;
        }
        Ok(gradients)
    }

    /// Averages gradients over the ranks: those of several steps, say, that were added up.
    ///
    /// # Errors
    ///
    /// Ranks whose losses depend on other parameters, are missing or have ended.
    pub fn reduce(&self, gradients: &mut Gradients) -> Result<()> {
        average_gradients(gradients, &self.member, &self.config)
    }

    /// Runs a function within which [`DistributedDataParallel::backward`] exchanges nothing: steps whose gradients are added up.
    /// PyTorch: `no_sync()`.
    pub fn no_sync<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.exchanges, false);
        let out = run(self);
        self.exchanges = before;
        out
    }

    /// A number of all ranks for a log, such as a loss: its mean. Asked for only where it is logged, by all ranks.
    ///
    /// # Errors
    ///
    /// Ranks that are missing or have ended.
    pub fn mean(&self, value: &Tensor) -> Result<Tensor> {
        no_grad(|| value.detach().all_reduce("mean", &self.member.group))
    }

    pub fn member(&self) -> &Member {
        &self.member
    }
}

impl<M: Module> Module for DistributedDataParallel<M> {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.module.forward(x)
    }
}

impl<M: Tree> Tree for DistributedDataParallel<M> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        // A step is captured for so many ranks, and with or without their exchange.
        visitor.value(aludel_tensor::Static::Int(self.member.ranks() as i64));
        visitor.value(aludel_tensor::Static::Bool(self.exchanges));
        visitor.enter(aludel_tensor::Key::Name("module"));
        self.module.visit(visitor);
        visitor.exit();
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.module.visit_mut(visitor);
    }
    fn set_training(&mut self, training: bool) {
        self.module.set_training(training);
    }
}
