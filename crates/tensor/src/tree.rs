//! Trees of tensors and static values: what a compiled function takes, keeps and returns.
//!
//! A tree has tensors at its leaves, in a fixed order, and static values beside them. [`compile`](crate::compile()) replaces the tensors by
//! traced ones and guards everything else; modules and optimizers find their parameters by the same walk. `#[derive(Tree)]` writes the
//! implementation for structs and enums.

use crate::tensor::Tensor;
use std::collections::BTreeMap;

/// One step of the path to a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key<'a> {
    Name(&'a str),
    Index(usize),
}

/// A value that is not a tensor: part of what a trace is valid for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Static<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'a str),
    /// How many elements a list has.
    Len(usize),
    /// Which variant of an enum holds.
    Variant(&'a str),
}

/// Is shown a tree, leaf by leaf.
pub trait Visitor {
    fn enter(&mut self, _key: Key<'_>) {}
    fn exit(&mut self) {}
    fn tensor(&mut self, tensor: &Tensor);
    fn value(&mut self, _value: Static<'_>) {}
    /// Whether the tensors from here on are to lie in the host's memory between compiled steps, where they are state of such.
    fn offload(&mut self, _on: bool) {}
}

/// Tensors and static values in a fixed order.
pub trait Tree {
    /// Shows every tensor and static value in order.
    fn visit(&self, visitor: &mut dyn Visitor);
    /// Lends every tensor in the order of [`Tree::visit`], to be replaced.
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor));
    /// Tells everything in the tree that behaves differently in training (dropout, batch normalization) which it is.
    fn set_training(&mut self, _training: bool) {}
}

impl Tree for Tensor {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.tensor(self);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        visitor(self);
    }
}

macro_rules! statics {
    ($($t:ty: $v:ident($e:expr)),* $(,)?) => {$(
        impl Tree for $t {
            fn visit(&self, visitor: &mut dyn Visitor) {
                let value: for<'a> fn(&'a $t) -> Static<'a> = $e;
                visitor.value(value(self));
            }
            fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Tensor)) {}
        }
    )*};
}
statics! {
    bool: Bool(|x| Static::Bool(*x)),
    i32: Int(|x| Static::Int(*x as i64)),
    i64: Int(|x| Static::Int(*x)),
    u32: Int(|x| Static::Int(*x as i64)),
    u64: Int(|x| Static::Int(*x as i64)),
    usize: Int(|x| Static::Int(*x as i64)),
    f32: Float(|x| Static::Float(*x as f64)),
    f64: Float(|x| Static::Float(*x)),
    String: Str(|x| Static::Str(x)),
    &'static str: Str(|x| Static::Str(x)),
}

impl<T: Tree> Tree for Option<T> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Variant(if self.is_some() { "Some" } else { "None" }));
        if let Some(t) = self {
            t.visit(visitor);
        }
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        if let Some(t) = self {
            t.visit_mut(visitor);
        }
    }
    fn set_training(&mut self, training: bool) {
        if let Some(t) = self {
            t.set_training(training);
        }
    }
}

impl<T: Tree> Tree for Box<T> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        (**self).visit(visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        (**self).visit_mut(visitor);
    }
    fn set_training(&mut self, training: bool) {
        (**self).set_training(training);
    }
}

fn visit_list<T: Tree>(list: &[T], visitor: &mut dyn Visitor) {
    visitor.value(Static::Len(list.len()));
    for (i, t) in list.iter().enumerate() {
        visitor.enter(Key::Index(i));
        t.visit(visitor);
        visitor.exit();
    }
}

impl<T: Tree> Tree for Vec<T> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visit_list(self, visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.iter_mut().for_each(|t| t.visit_mut(visitor));
    }
    fn set_training(&mut self, training: bool) {
        self.iter_mut().for_each(|t| t.set_training(training));
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visit_list(self, visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.iter_mut().for_each(|t| t.visit_mut(visitor));
    }
    fn set_training(&mut self, training: bool) {
        self.iter_mut().for_each(|t| t.set_training(training));
    }
}

impl<T: Tree> Tree for BTreeMap<String, T> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Len(self.len()));
        for (name, t) in self {
            visitor.value(Static::Str(name));
            visitor.enter(Key::Name(name));
            t.visit(visitor);
            visitor.exit();
        }
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.values_mut().for_each(|t| t.visit_mut(visitor));
    }
    fn set_training(&mut self, training: bool) {
        self.values_mut().for_each(|t| t.set_training(training));
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),*))*) => {$(
        impl<$($t: Tree),*> Tree for ($($t,)*) {
            #[allow(unused_variables)]
            fn visit(&self, visitor: &mut dyn Visitor) {
                $(visitor.enter(Key::Index($i)); self.$i.visit(visitor); visitor.exit();)*
            }
            #[allow(unused_variables)]
            fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
                $(self.$i.visit_mut(visitor);)*
            }
            #[allow(unused_variables)]
            fn set_training(&mut self, training: bool) {
                $(self.$i.set_training(training);)*
            }
        }
    )*};
}
tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// Keeps the path to where a walk is: `blocks.0.ln1.weight`.
#[derive(Default)]
pub(crate) struct Path {
    text: String,
    lengths: Vec<usize>,
}

impl Path {
    pub fn enter(&mut self, key: Key<'_>) {
        use std::fmt::Write;
        self.lengths.push(self.text.len());
        if !self.text.is_empty() {
            self.text.push('.');
        }
        let _ = match key {
            Key::Name(n) => write!(self.text, "{n}"),
            Key::Index(i) => write!(self.text, "{i}"),
        };
    }

    pub fn exit(&mut self) {
        self.text.truncate(self.lengths.pop().unwrap_or(0));
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Every tensor of a tree with its path, in order.
pub fn named_tensors(tree: &(impl Tree + ?Sized)) -> Vec<(String, Tensor)> {
    struct Collect {
        path: Path,
        out: Vec<(String, Tensor)>,
    }
    impl Visitor for Collect {
        fn enter(&mut self, key: Key<'_>) {
            self.path.enter(key);
        }
        fn exit(&mut self) {
            self.path.exit();
        }
        fn tensor(&mut self, tensor: &Tensor) {
            self.out.push((self.path.text().to_string(), tensor.clone()));
        }
    }
    let mut c = Collect { path: Path::default(), out: Vec::new() };
    tree.visit(&mut c);
    c.out
}
