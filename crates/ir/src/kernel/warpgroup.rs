//! What only GPUs with warpgroups have (NVIDIA Hopper): barriers in workgroup memory, bulk copies of boxes of tensors, and matrix
//! units that read both factors from workgroup memory.
//!
//! A *warpgroup* is 128 neighbouring threads, the first of which is a multiple of 128. Its products run beside it: their accumulators
//! belong to the units from [`WarpgroupOp::Fence`] until [`WarpgroupOp::Wait`] gives them back.
//!
//! A *barrier* is an element of an array of four i32 lanes. It counts arrivals, and bytes of bulk copies that were announced; when
//! both are complete its phase ends and the next begins. Phases have the parities 0, 1, 0, ..
//!
//! *Tiles* of factors lie in rows of 128 bytes, in an array of four f32 lanes: an element is a group of 16 bytes, a row eight of them,
//! and group `g` of row `r` lies at place `g ^ (r % 8)`, so that neither reading rows nor columns meets the same memory banks. A tile
//! starts at a multiple of 64 elements. This is what bulk copies write (`CU_TENSOR_MAP_SWIZZLE_128B`).

use super::{I32, KExpr, Kernel, Ty, Var};
use crate::dtype::DType;
use crate::error::{Error, Result};

/// Threads of a warpgroup.
pub const WARPGROUP: u32 = 128;
/// Warpgroups that wait for one another by number, at most: of a multiprocessor's 16 barriers each takes two.
pub const MOST_WARPGROUPS: u32 = 7;
/// Elements of an array that one row of a tile takes.
pub const ROW: u32 = 8;
/// Rows after which the order of the groups repeats: a tile starts at a multiple of so many.
pub const ATOM_ROWS: u32 = 8;

/// How the matrix units read factors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Factors {
    /// f32, of which the 13 lowest bits are left out.
    Tf32,
    F16,
    BF16,
}

impl Factors {
    /// Columns of k that one product takes: 32 bytes.
    pub const fn depth(self) -> u32 {
        match self {
            Factors::Tf32 => 8,
            Factors::F16 | Factors::BF16 => 16,
        }
    }

    /// Elements of a row of a tile.
    pub const fn row(self) -> u32 {
        4 * self.depth()
    }

    /// The type of the elements in memory.
    pub const fn dtype(self) -> DType {
        match self {
            Factors::Tf32 => DType::F32,
            Factors::F16 => DType::F16,
            Factors::BF16 => DType::BF16,
        }
    }

    /// Elements of a group of 16 bytes.
    pub const fn group(self) -> u32 {
        self.depth() / 2
    }

    pub const fn name(self) -> &'static str {
        match self {
            Factors::Tf32 => "tf32",
            Factors::F16 => "f16",
            Factors::BF16 => "bf16",
        }
    }

    /// The format of a name; `None` where there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [Factors::Tf32, Factors::F16, Factors::BF16].into_iter().find(|f| f.name() == name)
    }
}

/// A factor of one product in workgroup memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TileAt {
    pub array: u32,
    /// Its first group of 16 bytes.
    pub index: KExpr,
    /// `None`: a row of the tile lies along k, rows follow one another along the factor's side (rows of the result for the first
    /// factor, columns for the second). `Some`: a row lies along the side and rows follow along k; this many elements of the array
    /// lie between a row and that of the next elements of the side. Only factors of 16 bits.
    pub across: Option<u32>,
}

/// The first factor of a product.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rows {
    Tile(TileAt),
    /// In registers, which keep their values until [`WarpgroupOp::Wait`]. TF32, as f32: of thread `t`'s upper row (see
    /// [`WarpgroupOp::Multiply`]) column `t % 4`, of the lower the same, then both at the column four further. 16 bits, as words of two
    /// neighbours (see [`MatrixOp::Pack`](super::MatrixOp::Pack)): of the upper row columns `2 (t % 4)` and the next, of the lower the
    /// same, then both at the columns eight further. So the accumulators of one product, rounded, are the factor of another.
    Registers([KExpr; 4]),
}

/// A tensor in memory of which bulk copies take boxes; the launch gives its extents and strides
/// ([`crate::program::TensorMap`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KernelMap {
    /// The buffer that it lies in.
    pub buffer: u32,
    /// Elements of a box along each dimension, the innermost first. The innermost are one row of a tile.
    pub sizes: Vec<u32>,
    /// Whether copies take pixels of windows, as many as the second size says ([`crate::program::Windows`]).
    pub windows: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum WarpgroupOp {
    /// Begins the first phase of a barrier, whose phases end after so many arrivals. One thread does it, before the workgroup's own
    /// barrier.
    Begin { array: u32, index: KExpr, arrivals: u32 },
    /// The thread arrives at a barrier, and announces so many bytes of bulk copies.
    Arrive { array: u32, index: KExpr, bytes: u32 },
    /// Waits for the end of the phase of this parity: returns at once where the present phase has the other one.
    Await { array: u32, index: KExpr, parity: KExpr },
    /// Starts a copy of the box of a map that begins at `at`, the innermost dimension first; elements outside the tensor are zeros.
    /// Its bytes count at a barrier when they are there. One thread does it. Of a map of windows `at` says where the first window
    /// begins, and `within` which of its pixels is copied, from 0, for each dimension of space; without windows it is empty.
    Copy { array: u32, index: KExpr, map: u32, at: Vec<KExpr>, within: Vec<KExpr>, barrier: u32, barrier_index: KExpr },
    /// What the thread stored into workgroup memory may be read by bulk copies and matrix units, once others learn of it.
    Publish,
    /// The accumulators are in place: products may follow.
    Fence,
    /// Starts a warpgroup's product `acc += a * b`, or `acc = a * b` where `clear`: 64 rows, twice as many columns as `acc` has registers, [`Factors::depth`] deep.
    /// Thread `t` holds, of row `16 (t / 32) + t % 32 / 4` and the one 8 below, columns `8 j + 2 (t % 4)` and the next, in registers
    /// `4 j ..`: two of the upper row, two of the lower.
    Multiply { acc: Vec<Var>, clear: bool, factors: Factors, a: Rows, b: TileAt },
    /// Ends a group of products.
    Commit,
    /// Waits until at most so many of the warpgroup's groups of products are under way.
    Wait(u8),
    /// So many threads, whole warpgroups, meet: those that come here and no others.
    Meet(u32),
    /// The threads of the warpgroup of this number, below [`MOST_WARPGROUPS`], wait for one another.
    Regroup(KExpr),
    /// Waits for the turn of the warpgroup of this number, below [`MOST_WARPGROUPS`], which gives it back to itself or another one: threads of both, or
    /// twice its own, come to [`WarpgroupOp::TakeTurn`] and [`WarpgroupOp::GiveTurn`] in all.
    TakeTurn(KExpr),
    /// Gives the turn to the warpgroup of this number.
    GiveTurn(KExpr),
    /// From here on each thread of the warpgroup has so many registers, a multiple of 8 up to 240: those that it gives up are for
    /// warpgroups that ask for `more` than the kernel starts with, which wait until there are enough.
    Registers { count: u32, more: bool },
}

impl WarpgroupOp {
    /// The expressions of the operation.
    pub fn exprs(&self) -> Vec<&KExpr> {
        match self {
            WarpgroupOp::Begin { index, .. } | WarpgroupOp::Arrive { index, .. } => vec![index],
            WarpgroupOp::Await { index, parity, .. } => vec![index, parity],
            WarpgroupOp::Copy { index, at, within, barrier_index, .. } => {
                [index, barrier_index].into_iter().chain(at).chain(within).collect()
            }
            WarpgroupOp::Multiply { a: Rows::Tile(a), b, .. } => vec![&a.index, &b.index],
            WarpgroupOp::Multiply { a: Rows::Registers(a), b, .. } => a.iter().chain([&b.index]).collect(),
            WarpgroupOp::Publish | WarpgroupOp::Fence | WarpgroupOp::Commit | WarpgroupOp::Wait(_) | WarpgroupOp::Meet(_) => vec![],
            WarpgroupOp::Registers { .. } => vec![],
            WarpgroupOp::TakeTurn(e) | WarpgroupOp::GiveTurn(e) | WarpgroupOp::Regroup(e) => vec![e],
        }
    }

    /// Whether all threads of a warpgroup take part.
    pub fn is_collective(&self) -> bool {
        use WarpgroupOp::*;
        matches!(self, Fence | Multiply { .. } | Commit | Wait(_) | Meet(_) | Regroup(_) | TakeTurn(_) | GiveTurn(_) | Registers { .. })
    }

    /// The registers that the operation changes.
    pub fn changes(&self) -> &[Var] {
        match self {
            WarpgroupOp::Multiply { acc, .. } => acc,
            _ => &[],
        }
    }

    /// The rules of an operation by itself; registers and conditions are the kernel's to check.
    pub(super) fn verify(&self, k: &Kernel) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("kernel {}", k.name), problem));
        let int = |e: &KExpr, what: &str| match k.type_of(e)? {
            I32 => Ok(()),
            ty => fail(format!("{what} is {} with {} lanes instead of one i32", ty.dtype, ty.lanes)),
        };
        let array = |a: u32, ty: Ty, what: &str| match k.shared.get(a as usize) {
            Some(found) if found.ty == ty => Ok(()),
            _ => fail(format!("workgroup array {a} holds no {what}")),
        };
        let barrier = |a: u32| array(a, Ty::vec4(DType::I32), "barriers");
        let tile = |a: u32| array(a, Ty::vec4(DType::F32), "tiles");
        let (rows, in_register): (&[KExpr], DType) = match self {
            WarpgroupOp::Multiply { a: Rows::Registers(a), factors, .. } => {
                (a, if *factors == Factors::Tf32 { DType::F32 } else { DType::U32 })
            }
            _ => (&[], DType::F32),
        };
        for e in self.exprs() {
            if !rows.contains(e) {
                int(e, "an index, a place or a parity")?;
            } else if k.type_of(e)? != Ty::scalar(in_register) {
                return fail(format!("a factor in a register is no {in_register}"));
            }
        }
        match self {
            WarpgroupOp::Begin { array, arrivals, .. } if *arrivals > 0 => barrier(*array),
            WarpgroupOp::Begin { .. } => fail("a barrier of no arrivals".into()),
            WarpgroupOp::Arrive { array, .. } | WarpgroupOp::Await { array, .. } => barrier(*array),
            WarpgroupOp::Copy { array, map, at, within, barrier: b, .. } => {
                tile(*array)?;
                barrier(*b)?;
                match k.maps.get(*map as usize) {
                    Some(m) if within.len() != if m.windows { m.sizes.len().saturating_sub(2) } else { 0 } => {
                        fail(format!("a place of {} numbers within windows of map {map} of {} dimensions", within.len(), m.sizes.len()))
                    }
                    Some(m) if m.sizes.len() == at.len() => Ok(()),
                    Some(m) => fail(format!("a place of {} numbers in map {map} of {} dimensions", at.len(), m.sizes.len())),
                    None => fail(format!("map {map} is not declared")),
                }
            }
            WarpgroupOp::Multiply { acc, factors, a, b, .. } => {
                if acc.is_empty() || !acc.len().is_multiple_of(4) || acc.len() > 128 {
                    return fail(format!("a product with {} accumulators: multiples of 4 up to 128 are", acc.len()));
                }
                let first = match a {
                    Rows::Tile(t) => Some(t),
                    Rows::Registers(_) => None,
                };
                for t in first.into_iter().chain([b]) {
                    tile(t.array)?;
                    if t.across.is_some() && *factors == Factors::Tf32 {
                        return fail("a factor of 32 bits lies across k".into());
                    }
                }
                Ok(())
            }
            WarpgroupOp::Registers { count, .. } if !(24..=240).contains(count) || !count.is_multiple_of(8) => {
                fail(format!("{count} registers for a thread: multiples of 8 from 24 to 240 are"))
            }
            WarpgroupOp::Meet(n) if *n == 0 || !n.is_multiple_of(WARPGROUP) => fail(format!("{n} threads are no whole warpgroups")),
            _ => Ok(()),
        }
    }

    /// The same with other positions of arrays, maps and registers, and other expressions.
    pub fn rename(&self, array: &dyn Fn(u32) -> u32, var: &dyn Fn(Var) -> Var, expr: &dyn Fn(&KExpr) -> KExpr) -> WarpgroupOp {
        use WarpgroupOp::*;
        let tile = |t: &TileAt| TileAt { array: array(t.array), index: expr(&t.index), across: t.across };
        match self {
            Begin { array: a, index, arrivals } => Begin { array: array(*a), index: expr(index), arrivals: *arrivals },
            Arrive { array: a, index, bytes } => Arrive { array: array(*a), index: expr(index), bytes: *bytes },
            Await { array: a, index, parity } => Await { array: array(*a), index: expr(index), parity: expr(parity) },
            Copy { array: a, index, map, at, within, barrier, barrier_index } => Copy {
                array: array(*a),
                index: expr(index),
                map: *map,
                at: at.iter().map(expr).collect(),
                within: within.iter().map(expr).collect(),
                barrier: array(*barrier),
                barrier_index: expr(barrier_index),
            },
            Multiply { acc, clear, factors, a, b } => {
                let a = match a {
                    Rows::Tile(t) => Rows::Tile(tile(t)),
                    Rows::Registers(r) => Rows::Registers(r.each_ref().map(expr)),
                };
                Multiply { acc: acc.iter().map(|v| var(*v)).collect(), clear: *clear, factors: *factors, a, b: tile(b) }
            }
            TakeTurn(e) => TakeTurn(expr(e)),
            GiveTurn(e) => GiveTurn(expr(e)),
            Regroup(e) => Regroup(expr(e)),
            Publish | Fence | Commit | Wait(_) | Meet(_) | Registers { .. } => self.clone(),
        }
    }
}

/// Whether an expression is the same for all threads of a warpgroup, given which registers are not: the thread's index counts only
/// after a division by a multiple of [`WARPGROUP`].
pub(super) fn varies_within(e: &KExpr, vars: &[bool], workgroup_size: [u32; 3]) -> bool {
    use crate::scalar::ScalarOp;
    match e {
        KExpr::Scalar(ScalarOp::Div, args) => match args.as_slice() {
            [KExpr::LocalId(0), KExpr::Lit(d)] if d.value() >= 1.0 && d.value() % WARPGROUP as f64 == 0.0 => workgroup_size[1..] != [1, 1],
            _ => args.iter().any(|a| varies_within(a, vars, workgroup_size)),
        },
        KExpr::LocalId(_) | KExpr::Load { .. } | KExpr::Shared { .. } | KExpr::SharedQuad { .. } | KExpr::Shuffle(..) => true,
        KExpr::Var(v) => vars.get(v.0 as usize).copied().unwrap_or(true),
        KExpr::Scalar(_, args) | KExpr::Vec4(args) => args.iter().any(|a| varies_within(a, vars, workgroup_size)),
        KExpr::Cast(_, x) | KExpr::Bitcast(_, x) | KExpr::Lane(x, _) | KExpr::ParamAt(x) => varies_within(x, vars, workgroup_size),
        KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) => false,
    }
}
