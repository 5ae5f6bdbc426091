//! The Kernel IR: structured statements over typed registers, what targets print.
//!
//! Integers are i32. Every index is in range: targets check none. A value has one or four lanes, on CPUs eight or sixteen too. Elements of f16 and bf16 take two
//! bytes in storage and in workgroup memory on targets with narrow storage (see [`crate::program`]), a 32-bit word on others; all
//! other types take a word. Indices count elements, offsets of buffers words.

use crate::dtype::{DType, Literal};
use crate::scalar::ScalarOp;

pub mod matrix;
mod verify;
pub mod warpgroup;
pub use matrix::MatrixOp;
pub use verify::visit;
use warpgroup::{KernelMap, WarpgroupOp};

/// The type of a register: `lanes` is 1 or 4, on CPUs 8 or 16 too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty {
    pub dtype: DType,
    pub lanes: u8,
}

impl Ty {
    pub const fn scalar(dtype: DType) -> Self {
        Ty { dtype, lanes: 1 }
    }
    pub const fn vec4(dtype: DType) -> Self {
        Ty { dtype, lanes: 4 }
    }
}

pub const I32: Ty = Ty::scalar(DType::I32);
pub const BOOL: Ty = Ty::scalar(DType::Bool);

/// A register, by its position in [`Kernel::vars`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KExpr {
    Lit(Literal),
    Var(Var),
    /// A launch parameter (an i32: a size or a buffer's offset), by its position in [`Kernel::params`].
    Param(u32),
    /// The launch parameter at a computed position: how several instances of one kernel share a launch.
    ParamAt(Box<KExpr>),
    /// The workgroup's index along x, y or z, as i32.
    WorkgroupId(u8),
    /// The thread's index in its workgroup along x, y or z, as i32.
    LocalId(u8),
    /// Lane-wise where an operand has four lanes; a scalar operand is spread. Every operand is evaluated, those of `select`
    /// and `and` too: a load that may be out of range belongs into a [`Stmt::If`], or its index has to be clamped.
    Scalar(ScalarOp, Vec<KExpr>),
    Cast(DType, Box<KExpr>),
    Bitcast(DType, Box<KExpr>),
    /// Element `index` (in elements, or in groups of four for four lanes) of a storage buffer. Eight and sixteen lanes start at
    /// any element.
    Load {
        buffer: u32,
        index: Box<KExpr>,
        ty: Ty,
    },
    /// Element of a workgroup array.
    Shared {
        array: u32,
        index: Box<KExpr>,
    },
    /// Four neighbours of a workgroup array of scalars; the index counts groups of four. Only on targets with
    /// [`Kernel::needs_subgroups`].
    SharedQuad {
        array: u32,
        index: Box<KExpr>,
    },
    /// One lane of a four-lane value.
    Lane(Box<KExpr>, u8),
    /// Four lanes from scalars (four of them, or one spread).
    Vec4(Vec<KExpr>),
    /// The value of the thread whose place in its subgroup of 32 differs in these bits: every thread of the subgroup takes part.
    /// Only on targets with [`Kernel::needs_subgroups`].
    Shuffle(Box<KExpr>, u8),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// A register that never changes.
    Let(Var, KExpr),
    /// A register that [`Stmt::Assign`] changes.
    Mut(Var, KExpr),
    Assign(Var, KExpr),
    Store {
        buffer: u32,
        index: KExpr,
        value: KExpr,
    },
    StoreShared {
        array: u32,
        index: KExpr,
        value: KExpr,
    },
    /// Atomic float or integer addition to a scalar element.
    AtomicAdd {
        buffer: u32,
        index: KExpr,
        value: KExpr,
    },
    /// `for var in (start..end).step_by(step)`; the step is positive and does not change.
    For {
        var: Var,
        start: KExpr,
        end: KExpr,
        step: KExpr,
        body: Vec<Stmt>,
    },
    If {
        cond: KExpr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// All threads of the workgroup meet; workgroup memory written before is visible after.
    Barrier,
    /// Starts a copy of `lanes` elements, 4, 8 or 16 bytes, from a buffer to a workgroup array of scalars of its type, zeros where
    /// `valid` is false. Both positions count elements and are multiples of `lanes`. They are there after [`Stmt::AsyncWait`] and a
    /// barrier.
    AsyncCopy {
        array: u32,
        index: KExpr,
        buffer: u32,
        from: KExpr,
        lanes: u8,
        valid: Option<KExpr>,
    },
    /// Ends a group of copies.
    AsyncCommit,
    /// Waits until at most so many of the thread's groups of copies are under way.
    AsyncWait(u8),
    /// The subgroup's product on the matrix unit, `acc += a * b`: 16 rows, 8 columns, 8 deep, factors of f32 rounded towards zero to
    /// TF32. Who holds which element is that of PTX's `mma.m16n8k8` for `.tf32`: 4 elements of a, 2 of b and 4 results a thread.
    Mma {
        acc: [Var; 4],
        a: [KExpr; 4],
        b: [KExpr; 2],
    },
    /// What only GPUs with warpgroups have.
    Warpgroup(WarpgroupOp),
    /// The subgroup's matrix unit on 16-bit floats.
    Matrix(MatrixOp),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum Access {
    Read,
    ReadWrite,
}

/// A view of a storage binding: elements of one type from an offset that a launch parameter gives, in 32-bit words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KernelBuffer {
    pub name: String,
    pub dtype: DType,
    /// The storage binding that holds it, by its position in [`crate::program::Program::bindings`].
    pub binding: u32,
    /// The launch parameter with the offset; `None` is offset zero.
    pub offset: Option<u32>,
}

/// Bytes of an element on targets with narrow storage. Kernels for others have no workgroup arrays of f16 and bf16.
pub const fn element_bytes(dtype: DType) -> u32 {
    match dtype {
        DType::F16 | DType::BF16 => 2,
        DType::F32 | DType::I32 | DType::U32 | DType::Bool => 4,
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedArray {
    pub name: String,
    pub ty: Ty,
    pub len: u32,
    /// The array before this one whose memory it shows under its own type; on CPUs, and where kernels need subgroups.
    pub view: Option<u32>,
}

impl SharedArray {
    /// Bytes of memory of its own, rounded up so that what follows starts at a multiple of 16.
    pub fn bytes(&self) -> u32 {
        if self.view.is_some() { 0 } else { (self.len * element_bytes(self.ty.dtype) * self.ty.lanes as u32).next_multiple_of(16) }
    }
}

/// One kernel. Registers, buffers, parameters and arrays are named by position, so that kernels that differ only in where
/// they came from are equal and share one pipeline.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    pub name: String,
    pub workgroup_size: [u32; 3],
    /// Names of the launch parameters, for people.
    pub params: Vec<String>,
    pub buffers: Vec<KernelBuffer>,
    pub shared: Vec<SharedArray>,
    /// Tensors that bulk copies take boxes of.
    pub maps: Vec<KernelMap>,
    /// Types of the registers.
    pub vars: Vec<Ty>,
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// Whether the kernel uses what only GPUs with subgroups of 32, asynchronous copies and matrix units have.
    pub fn needs_subgroups(&self) -> bool {
        let mut found = false;
        visit(&self.body, &mut |s| {
            found |= matches!(
                s,
                Stmt::AsyncCopy { .. } | Stmt::AsyncCommit | Stmt::AsyncWait(_) | Stmt::Mma { .. } | Stmt::Warpgroup(_) | Stmt::Matrix(_)
            );
            s.exprs().into_iter().for_each(|e| e.visit(&mut |e| found |= matches!(e, KExpr::Shuffle(..) | KExpr::SharedQuad { .. })));
        });
        found
    }

    /// Whether the kernel uses what only GPUs with warpgroups have.
    pub fn needs_warpgroups(&self) -> bool {
        let mut found = !self.maps.is_empty();
        visit(&self.body, &mut |s| found |= matches!(s, Stmt::Warpgroup(_)));
        found
    }

    /// Whether its warpgroups share out the registers of the workgroup's threads among themselves.
    pub fn shares_out_registers(&self) -> bool {
        let mut found = false;
        visit(&self.body, &mut |s| found |= matches!(s, Stmt::Warpgroup(warpgroup::WarpgroupOp::Registers { .. })));
        found
    }

    /// Bytes of workgroup memory; each array starts at a multiple of 16.
    pub fn shared_bytes(&self) -> u32 {
        self.shared.iter().map(SharedArray::bytes).sum()
    }

    /// Where each workgroup array starts, in bytes, when they lie one after another.
    pub fn shared_offsets(&self) -> Vec<u32> {
        let mut end = 0;
        let mut out: Vec<u32> = Vec::with_capacity(self.shared.len());
        for a in &self.shared {
            out.push(a.view.and_then(|v| out.get(v as usize).copied()).unwrap_or(end));
            end += a.bytes();
        }
        out
    }

    /// The array whose memory an array is.
    pub fn shared_root(&self, array: u32) -> u32 {
        self.shared.get(array as usize).and_then(|a| a.view).unwrap_or(array)
    }
}

// ---- building expressions ----

pub fn int(v: i64) -> KExpr {
    KExpr::Lit(Literal::new(v as f64, DType::I32))
}

pub fn f32c(v: f64) -> KExpr {
    KExpr::Lit(Literal::new(v, DType::F32))
}

/// A binary operation, folded where both sides are integer constants or one side is neutral.
pub fn bin(op: ScalarOp, a: KExpr, b: KExpr) -> KExpr {
    use ScalarOp::*;
    let lit = |e: &KExpr| match e {
        KExpr::Lit(l) if l.dtype == DType::I32 => Some(l.value()),
        _ => None,
    };
    match (op, lit(&a), lit(&b)) {
        (Add | Sub | Mul | Div | Fmod | Max | Min, Some(x), Some(y)) => {
            KExpr::Lit(Literal::new(op.eval(&[x, y], DType::I32, DType::I32), DType::I32))
        }
        (Add, Some(0.0), _) | (Mul, Some(1.0), _) => b,
        (Add | Sub, _, Some(0.0)) | (Mul | Div, _, Some(1.0)) => a,
        (Mul, Some(0.0), _) | (Mul, _, Some(0.0)) | (Fmod, _, Some(1.0)) => int(0),
        _ => KExpr::Scalar(op, vec![a, b]),
    }
}

pub fn add(a: KExpr, b: KExpr) -> KExpr {
    bin(ScalarOp::Add, a, b)
}
pub fn sub(a: KExpr, b: KExpr) -> KExpr {
    bin(ScalarOp::Sub, a, b)
}
pub fn mul(a: KExpr, b: KExpr) -> KExpr {
    bin(ScalarOp::Mul, a, b)
}
/// Truncating integer division; the operands of index arithmetic are not negative.
pub fn div(a: KExpr, b: KExpr) -> KExpr {
    bin(ScalarOp::Div, a, b)
}
pub fn rem(a: KExpr, b: KExpr) -> KExpr {
    bin(ScalarOp::Fmod, a, b)
}
pub fn lt(a: KExpr, b: KExpr) -> KExpr {
    KExpr::Scalar(ScalarOp::Lt, vec![a, b])
}
pub fn and(a: KExpr, b: KExpr) -> KExpr {
    KExpr::Scalar(ScalarOp::And, vec![a, b])
}
pub fn select(cond: KExpr, a: KExpr, b: KExpr) -> KExpr {
    KExpr::Scalar(ScalarOp::Select, vec![cond, a, b])
}
