//! How a kernel's storage bindings are declared: the widest form that all its accesses allow.

use crate::device::Target;
use aludel_ir::kernel::{Access, KExpr, Kernel, Stmt, visit};
use aludel_ir::{DType, Error, Result};

/// How a storage binding is declared in one kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Binding {
    pub access: Access,
    pub form: Form,
    /// The element type in the declaration: that of all buffers of the binding where they agree, else u32. f16 takes two bytes.
    pub word: DType,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Form {
    /// `array<T>`: single words.
    Words,
    /// `array<vec4<T>>`: every store has four lanes, and some access has. A lane cannot be stored alone: implementations may
    /// write the whole vector.
    Quads,
    /// `array<atomic<u32>>`: some access adds atomically.
    Atomic,
}

pub(super) fn bindings(kernel: &Kernel, target: &Target, access: &[Option<Access>]) -> Result<Vec<Option<Binding>>> {
    let count = kernel.buffers.iter().map(|b| b.binding as usize + 1).max().unwrap_or(0);
    let used = kernel.accesses(count);
    let mut words: Vec<Option<DType>> = vec![None; count];
    let (mut wide, mut narrow_store, mut atomic) = (vec![false; count], vec![false; count], vec![false; count]);
    let halves = |dtype: DType| target.separates(dtype);
    let mut mixed = vec![(false, false); count];
    let mut note = |buffer: u32| {
        let b = &kernel.buffers[buffer as usize];
        let word = if halves(b.dtype) { b.dtype } else { word_of(b.dtype) };
        let mixed = &mut mixed[b.binding as usize];
        *mixed = (mixed.0 | halves(b.dtype), mixed.1 | !halves(b.dtype));
        let slot = &mut words[b.binding as usize];
        *slot = Some(slot.map_or(word, |w| if w == word { w } else { DType::U32 }));
        b.binding as usize
    };
    let mut failed = None;
    visit(&kernel.body, &mut |s| {
        for e in s.exprs() {
            e.visit(&mut |e| {
                if let KExpr::Load { buffer, ty, .. } = e {
                    let k = note(*buffer);
                    wide[k] |= ty.lanes == 4;
                }
            });
        }
        match s {
            Stmt::Store { buffer, value, .. } => {
                let k = note(*buffer);
                match kernel.type_of(value) {
                    Ok(ty) if ty.lanes == 4 => wide[k] = true,
                    Ok(_) => narrow_store[k] = true,
                    Err(e) => failed = Some(e),
                }
            }
            Stmt::AtomicAdd { buffer, .. } => {
                let k = note(*buffer);
                atomic[k] = true;
            }
            _ => {}
        }
    });
    if let Some(e) = failed {
        return Err(e);
    }
    (0..count)
        .map(|k| {
            let Some(used) = used[k] else { return Ok(None) };
            if mixed[k] == (true, true) || mixed[k].0 && atomic[k] {
                let what = format!("storage binding {k} has f16, and words or atomics beside it");
                return Err(Error::verify(format!("kernel {}", kernel.name), what));
            }
            let access = access.get(k).copied().flatten().unwrap_or(used);
            if access < used {
                return Err(Error::verify(format!("kernel {}", kernel.name), format!("writes storage binding {k}, which is read-only")));
            }
            let form = match (atomic[k], wide[k] && !narrow_store[k]) {
                (true, _) => Form::Atomic,
                (false, true) => Form::Quads,
                (false, false) => Form::Words,
            };
            let word = if atomic[k] { DType::U32 } else { words[k].unwrap_or(DType::U32) };
            // Atomics have to be writable, so a binding that is added to is already read_write.
            Ok(Some(Binding { access, form, word }))
        })
        .collect()
}

impl Binding {
    /// Elements take two bytes.
    pub fn is_halves(&self) -> bool {
        self.word == DType::F16
    }
}

/// The type under which an element type lies in memory, where elements take words.
pub(super) fn word_of(dtype: DType) -> DType {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => DType::F32,
        DType::I32 => DType::I32,
        DType::U32 | DType::Bool => DType::U32,
    }
}
