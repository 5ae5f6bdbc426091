//! What a nest is: building it, its kind, how it touches memory. Whatever passes ask about a nest is answered here, from its operations;
//! nothing is stored.

pub(crate) mod access;
pub(crate) mod attention;
mod axes;
mod build;
pub(crate) mod chain;
mod collapse;
mod kind;
pub(crate) mod neighbours;
pub(crate) mod product;
mod scan;

pub(crate) use axes::{compact, split_divided, substitute, substitute_store};
pub(crate) use build::{NestBuilder, rename, split_order};
pub(crate) use collapse::collapse;
pub use kind::{Contraction, Kind, Product, classify};
pub use scan::Scan;
