//! Native modules of the standard library.
