//! What every stage of Aludel shares: symbolic integers and shapes, element types, the scalar operations, the operator
//! table, the Graph, Loop and Kernel IR, their verifiers and text formats, and the reference interpreter.
//!
//! This crate does no I/O, knows no GPU API and does not panic on anything that a user can write.

pub mod attention;
pub mod build;
pub mod collective;
pub mod dtype;
pub mod error;
pub mod expr;
pub mod graph;
pub mod interp;
pub mod kernel;
pub mod loops;
pub mod op;
pub mod opmath;
pub mod ops;
pub mod order;
pub mod prim;
pub mod program;
pub mod rewrite;
pub mod scalar;
pub mod schema;
pub mod shape;
pub mod text;
pub mod verify;

pub use attention::Attention;
pub use build::Builder;
pub use collective::{Collective, CollectiveOp, Exchange, Exchanger, Group};
pub use dtype::{DType, Literal};
pub use error::{Error, Result};
pub use expr::{Atom, AxisId, Dim, Expr, Ranges, Sym};
pub use graph::{Function, Graph, Input, InputKind, Node, Op, Origin, Output, Phase, ValueId};
pub use op::{Attr, Attrs, Autocast, OpDef};
pub use prim::{Prim, ReduceOp};
pub use scalar::ScalarOp;
pub use schema::{Param, Schema};
pub use shape::{Guard, Relation, Shape, ShapeEnv, Symbol, TensorType};
