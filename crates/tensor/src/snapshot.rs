//! Values of a tree on the host: for checkpoints, and to go on after a device was lost.

use crate::autograd::Grad;
use crate::device::Device;
use crate::tensor::Tensor;
use crate::tree::{Tree, named_tensors};
use aludel_ir::{Error, Result, TensorType};
use std::sync::Arc;

/// One tensor of a snapshot.
#[derive(Clone)]
pub struct SnapshotTensor {
    pub path: String,
    pub ty: TensorType,
    pub requires_grad: bool,
    /// One 32-bit word for each element.
    pub words: Arc<[u32]>,
}

/// The tensors of a tree, copied to the host.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub tensors: Vec<SnapshotTensor>,
}

impl Snapshot {
    /// Copies every tensor to the host; waits for the device.
    ///
    /// # Errors
    ///
    /// When a tensor cannot be read, as [`Tensor::to_vec_async`]: none is taken then.
    pub async fn take(tree: &(impl Tree + ?Sized)) -> Result<Snapshot> {
        let mut tensors = Vec::new();
        for (path, t) in named_tensors(tree) {
            let requires_grad = matches!(t.inner.grad, Some(Grad::Leaf(_)));
            tensors.push(SnapshotTensor { path, ty: t.ty().clone(), requires_grad, words: t.words_async().await? });
        }
        Ok(Snapshot { tensors })
    }

    /// Puts the values into a tree of the same structure, on a device (a new one, when the old one was lost).
    ///
    /// # Errors
    ///
    /// When the tree does not have the snapshot's tensors: as many, by the same paths, of the same types and shapes. The tree is not
    /// changed then.
    pub fn restore(&self, tree: &mut (impl Tree + ?Sized), device: &Device) -> Result<()> {
        let present = named_tensors(tree);
        if present.len() != self.tensors.len() {
            return Err(Error::invalid(
                "restore",
                format!("the snapshot has {} tensors, the tree {}", self.tensors.len(), present.len()),
                "restore into a tree made as the one that was taken",
            ));
        }
        for ((path, t), s) in present.iter().zip(&self.tensors) {
            if *path != s.path || *t.ty() != s.ty {
                return Err(Error::invalid(
                    format!("restore: {path}"),
                    format!("the tree has {t} where the snapshot has {} {}", s.path, s.ty),
                    "restore into a tree made as the one that was taken",
                ));
            }
        }
        let mut next = self.tensors.iter();
        tree.visit_mut(&mut |t| {
            if let Some(s) = next.next() {
                let new = Tensor::host(device, s.ty.clone(), s.words.to_vec());
                *t = if s.requires_grad { new.requires_grad() } else { new };
            }
        });
        Ok(())
    }
}
