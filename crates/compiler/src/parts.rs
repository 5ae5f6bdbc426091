//! The parts of the compiler that may be left out, to see what each is worth: `aludel bench --ablate` measures the model zoo without
//! them, one by one. Whatever is left out, results are the same.

/// A part of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Equal values are computed once.
    Sharing,
    /// Attention in one kernel, that keeps no weights.
    Attention,
    /// The minimum cut: the backward pass computes cheap values again rather than keeping them.
    Recomputation,
    /// Temporaries around convolutions have their channels innermost.
    Layout,
    /// What follows a contraction pointwise joins it.
    Epilogues,
    /// Reductions over rows join what gives them their operands, what reads their results, and each other.
    Rows,
    /// Pointwise work joins what gives it its operands.
    Chains,
    /// Nests that read the same buffer become one.
    Siblings,
    /// Quotients and exponentials of rows are computed by cheaper operations.
    Strength,
    /// Long reductions to few results are divided among workgroups.
    Splitting,
    /// Small nests that do not depend on one another share a launch.
    SharedLaunches,
    /// Buffers whose lifetimes do not meet share memory.
    SharedMemory,
    /// Products through asynchronous copies and matrix units.
    Staging,
    /// Products by warpgroups, of tiles that come by bulk copies.
    Warpgroups,
    /// Rows stay in registers between the phases of their reduction.
    ResidentRows,
    /// Pointwise work and sums over columns take four elements at a time.
    Quads,
    /// Steps that hand on what a workgroup's memory can hold are one kernel.
    Steps,
    /// What is gathered at the position of the largest element is a reduction of its own.
    Extremes,
    /// The copy engine finds the windows of convolutions.
    Windows,
    /// What a row of a window reads of an image of few channels is one run of neighbours.
    Stripes,
    /// Rows of temporaries that products read begin where whole copies do.
    Padding,
    /// Parts of a split product are added where they are read, also by slices.
    Slices,
    /// A value that is stored in two layouts is stored in one.
    Once,
    /// What is only put side by side is stored there by what computes it.
    Concatenation,
    /// Workgroups of products compute one tile after another.
    Persistence,
    /// Factors of TF32 that lie across k are turned over in workgroup memory.
    Turning,
    /// A kernel begins while those that it waits for end.
    Overlap,
}

impl Part {
    pub const ALL: [Part; 27] = [
        Part::Sharing,
        Part::Attention,
        Part::Recomputation,
        Part::Layout,
        Part::Epilogues,
        Part::Rows,
        Part::Chains,
        Part::Siblings,
        Part::Strength,
        Part::Splitting,
        Part::SharedLaunches,
        Part::SharedMemory,
        Part::Staging,
        Part::Warpgroups,
        Part::ResidentRows,
        Part::Quads,
        Part::Steps,
        Part::Extremes,
        Part::Windows,
        Part::Stripes,
        Part::Padding,
        Part::Slices,
        Part::Once,
        Part::Concatenation,
        Part::Persistence,
        Part::Turning,
        Part::Overlap,
    ];

    /// The name on the command line: `shared-launches`.
    pub fn name(self) -> &'static str {
        match self {
            Part::Sharing => "sharing",
            Part::Attention => "attention",
            Part::Recomputation => "recomputation",
            Part::Layout => "layout",
            Part::Epilogues => "epilogues",
            Part::Rows => "rows",
            Part::Chains => "chains",
            Part::Siblings => "siblings",
            Part::Strength => "strength",
            Part::Splitting => "splitting",
            Part::SharedLaunches => "shared-launches",
            Part::SharedMemory => "shared-memory",
            Part::Staging => "staging",
            Part::Warpgroups => "warpgroups",
            Part::ResidentRows => "resident-rows",
            Part::Quads => "quads",
            Part::Steps => "steps",
            Part::Extremes => "extremes",
            Part::Windows => "windows",
            Part::Stripes => "stripes",
            Part::Padding => "padding",
            Part::Slices => "slices",
            Part::Once => "once",
            Part::Concatenation => "concatenation",
            Part::Persistence => "persistence",
            Part::Turning => "turning",
            Part::Overlap => "overlap",
        }
    }

    pub fn from_name(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// The parts that run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parts(u32);

impl Default for Parts {
    fn default() -> Self {
        Parts::ALL
    }
}

impl Parts {
    pub const ALL: Parts = Parts(u32::MAX);

    /// All of these but one.
    pub fn without(self, part: Part) -> Parts {
        Parts(self.0 & !(1 << part as u32))
    }

    #[inline]
    pub fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_left_out_alone() {
        for p in Part::ALL {
            assert_eq!(Part::from_name(p.name()), Some(p));
            let rest = Parts::ALL.without(p);
            assert!(Part::ALL.into_iter().all(|q| rest.has(q) == (p != q)));
        }
    }
}
