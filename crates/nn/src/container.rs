//! Modules made of modules.

use crate::module::Module;
use aludel_tensor::{Key, Result, Static, Tensor, Tree, Visitor};
use std::any::type_name;
use std::ops::{Deref, DerefMut};

/// What a [`Layer`] asks of a module: to be called, walked and cloned behind a pointer.
trait AnyModule: Send + Sync {
    fn forward(&self, x: &Tensor) -> Result<Tensor>;
    fn tree(&self) -> &dyn Tree;
    fn tree_mut(&mut self) -> &mut dyn Tree;
    fn boxed_clone(&self) -> Box<dyn AnyModule>;
    /// Two modules of the same tensors and settings may be of different types: a trace is valid for one of them.
    fn type_name(&self) -> &'static str;
}

impl<M: Module + Clone + Send + Sync + 'static> AnyModule for M {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Module::forward(self, x)
    }
    fn tree(&self) -> &dyn Tree {
        self
    }
    fn tree_mut(&mut self) -> &mut dyn Tree {
        self
    }
    fn boxed_clone(&self) -> Box<dyn AnyModule> {
        Box::new(self.clone())
    }
    fn type_name(&self) -> &'static str {
        type_name::<M>()
    }
}

/// Any module: what [`Sequential`] and [`ModuleList`] hold. Made with `From`: `Linear::new(..)?.into()`.
pub struct Layer(Box<dyn AnyModule>);

impl<M: Module + Clone + Send + Sync + 'static> From<M> for Layer {
    fn from(module: M) -> Layer {
        Layer(Box::new(module))
    }
}

impl Clone for Layer {
    fn clone(&self) -> Self {
        Layer(self.0.boxed_clone())
    }
}

// A layer is not a `Module` itself, else a layer of a layer would be a layer in two ways.
impl Layer {
    /// What the layer makes of `x`.
    ///
    /// # Errors
    ///
    /// As the layer's own `forward`.
    #[track_caller]
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0.forward(x)
    }
}

impl Tree for Layer {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Variant(self.0.type_name()));
        self.0.tree().visit(visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.0.tree_mut().visit_mut(visitor);
    }
    fn set_training(&mut self, training: bool) {
        self.0.tree_mut().set_training(training);
    }
}

/// Modules one after the other; parameters are named `0.weight`, `2.weight`. PyTorch: `torch.nn.Sequential`.
///
/// ```
/// # use aludel_nn::{Activation, Init, Linear, Module, Parameters, Sequential};
/// # use aludel_tensor::{Device, Result, Tensor};
/// # fn main() -> Result<()> {
/// # let device = Device::interpreter();
/// let init = &mut Init::new(&device, 0);
/// let model = Sequential::new([Linear::new(init, 4, 8)?.into(), Activation::Relu.into(), Linear::new(init, 8, 2)?.into()]);
/// let names: Vec<String> = model.named_parameters().into_iter().map(|(n, _)| n).collect();
/// assert_eq!(names, ["0.weight", "0.bias", "2.weight", "2.bias"]);
/// assert_eq!(model.forward(&Tensor::ones(&device, [3, 4])?)?.shape(), [3, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Tree)]
pub struct Sequential(pub Vec<Layer>);

impl Sequential {
    pub fn new(layers: impl IntoIterator<Item = Layer>) -> Sequential {
        Sequential(layers.into_iter().collect())
    }

    /// The same with one more module at the end.
    pub fn push(mut self, module: impl Into<Layer>) -> Sequential {
        self.0.push(module.into());
        self
    }
}

impl Module for Sequential {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = x.clone();
        for layer in &self.0 {
            x = layer.forward(&x)?;
        }
        Ok(x)
    }
}

/// Modules by number, of one type or (as [`Layer`]s) of several; how they are called is up to the owner. Parameters are named
/// `0.weight`, `1.weight`. PyTorch: `torch.nn.ModuleList`.
#[derive(Clone)]
pub struct ModuleList<M = Layer>(pub Vec<M>);

impl<M: Tree> Tree for ModuleList<M> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        self.0.visit(visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.0.visit_mut(visitor);
    }
    fn set_training(&mut self, training: bool) {
        self.0.set_training(training);
    }
}

impl<M> Deref for ModuleList<M> {
    type Target = Vec<M>;
    fn deref(&self) -> &Vec<M> {
        &self.0
    }
}

impl<M> DerefMut for ModuleList<M> {
    fn deref_mut(&mut self) -> &mut Vec<M> {
        &mut self.0
    }
}

impl<M> FromIterator<M> for ModuleList<M> {
    fn from_iter<I: IntoIterator<Item = M>>(modules: I) -> Self {
        ModuleList(modules.into_iter().collect())
    }
}

impl<'a, M> IntoIterator for &'a ModuleList<M> {
    type Item = &'a M;
    type IntoIter = std::slice::Iter<'a, M>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Modules by name. PyTorch: `torch.nn.ModuleDict`.
#[derive(Clone)]
pub struct ModuleDict<M = Layer>(pub Vec<(String, M)>);

impl<M> ModuleDict<M> {
    pub fn get(&self, name: &str) -> Option<&M> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, m)| m)
    }
}

impl<M: Tree> Tree for ModuleDict<M> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Len(self.0.len()));
        for (name, module) in &self.0 {
            visitor.value(Static::Str(name));
            visitor.enter(Key::Name(name));
            module.visit(visitor);
            visitor.exit();
        }
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.0.iter_mut().for_each(|(_, m)| m.visit_mut(visitor));
    }
    fn set_training(&mut self, training: bool) {
        self.0.iter_mut().for_each(|(_, m)| m.set_training(training));
    }
}
