//! Python scripts without Python. Folders follow the data: parse → compile → bytecode → vm → objects → builtins → modules → host.

pub mod library;
pub mod modules;
pub mod text;
