// As the modules of the language.
include!("../python/build.rs");
