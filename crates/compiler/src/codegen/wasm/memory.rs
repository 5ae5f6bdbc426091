//! Loads and stores: addresses in bytes, elements of two bytes widened and narrowed.

use super::emit::at;
use super::{Printer, SCRATCH};
use aludel_ir::kernel::{self as k, KExpr, Ty, element_bytes};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};

/// Where an element lies: its address, but for a constant, is on the stack.
pub(super) type Offset = u64;

/// Memory that a kernel names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    Buffer(u32),
    Scratch(u32),
}

impl Printer<'_> {
    /// The address of an element, or of as many as the type of a workgroup array has lanes.
    pub(super) fn element(&mut self, memory: Memory, index: &KExpr) -> Result<Offset> {
        if let Some(offset) = self.walks_to(memory, index) {
            return Ok(offset);
        }
        self.base(memory);
        let (rest, constant) = self.split(index.clone());
        if let Some(rest) = rest {
            self.expr(&rest)?;
            self.scale(memory);
            self.body.put().i32_add();
        }
        Ok(self.start(memory) + constant as u64 * self.bytes(memory) as u64)
    }

    /// The address of as many elements of a buffer as a type has lanes, which count in fours.
    pub(super) fn elements(&mut self, buffer: u32, index: &KExpr, ty: Ty) -> Result<Offset> {
        match ty.lanes {
            1 => self.element(Memory::Buffer(buffer), index),
            4 => self.element(Memory::Buffer(buffer), &k::mul(index.clone(), k::int(4))),
            lanes => Err(vectors(lanes)),
        }
    }

    /// Puts the address of the first element on the stack, but for what [`Printer::start`] says.
    pub(super) fn base(&mut self, memory: Memory) {
        let local = match memory {
            Memory::Buffer(b) => self.buffers[b as usize],
            Memory::Scratch(_) => SCRATCH,
        };
        self.body.get(local);
    }

    /// Bytes from the scratch memory's beginning to that of a workgroup array.
    pub(super) fn start(&self, memory: Memory) -> Offset {
        match memory {
            Memory::Buffer(_) => 0,
            Memory::Scratch(a) => self.shared[a as usize] as u64,
        }
    }

    /// Bytes of what an index counts.
    pub(super) fn bytes(&self, memory: Memory) -> i64 {
        match memory {
            Memory::Buffer(b) => element_bytes(self.kernel.buffers[b as usize].dtype) as i64,
            Memory::Scratch(a) => {
                let ty = self.kernel.shared[a as usize].ty;
                element_bytes(ty.dtype) as i64 * ty.lanes as i64
            }
        }
    }

    /// An index on the stack in bytes.
    pub(super) fn scale(&mut self, memory: Memory) {
        let bytes = self.bytes(memory);
        self.body.int(bytes.trailing_zeros() as i32);
        self.body.put().i32_shl();
    }

    /// An index as what varies of it and a constant, which stays one where what is left is surely not negative: an engine adds the two in
    /// more than 32 bits.
    pub(super) fn split(&self, index: KExpr) -> (Option<KExpr>, i64) {
        let small = |l: &Literal| (0.0..1e6).contains(&l.value()).then_some(l.value() as i64);
        match &index {
            KExpr::Lit(l) if small(l).is_some() => (None, small(l).unwrap_or(0)),
            KExpr::Scalar(ScalarOp::Add, args) => {
                let (x, y) = (&args[0], &args[1]);
                if !self.signs.is_natural(x) || !self.signs.is_natural(y) {
                    return (Some(index), 0);
                }
                let ((a, c), (b, d)) = (self.split(x.clone()), self.split(y.clone()));
                match (a, b) {
                    _ if c + d == 0 => (Some(index), 0),
                    (Some(a), Some(b)) => (Some(k::add(a, b)), c + d),
                    (a, b) => (a.or(b), c + d),
                }
            }
            _ => (Some(index), 0),
        }
    }

    pub(super) fn load(&mut self, buffer: u32, index: &KExpr, ty: Ty) -> Result<()> {
        let offset = self.elements(buffer, index, ty)?;
        self.read(ty, offset)
    }

    pub(super) fn load_shared(&mut self, array: u32, index: &KExpr) -> Result<()> {
        let offset = self.element(Memory::Scratch(array), index)?;
        self.read(self.kernel.shared[array as usize].ty, offset)
    }

    /// In a choice, makes the address on the stack one that the memory has. Where some of a vector's elements are chosen, its address is
    /// such a one already: no tensor begins or ends within 16 bytes of the memory's ends.
    pub(super) fn keep_inside(&mut self, offset: Offset) -> Offset {
        if self.choices == 0 {
            return offset;
        }
        let (address, last) = (self.body.temporary(wasm_encoder::ValType::I32), self.last);
        self.body.int(offset as i32);
        self.body.put().i32_add().local_tee(address).local_get(last).local_get(address).local_get(last).i32_lt_u().select();
        self.body.release(&[address]);
        0
    }

    /// What lies at the address on the stack.
    fn read(&mut self, ty: Ty, offset: Offset) -> Result<()> {
        let offset = self.keep_inside(offset);
        let to = at(offset);
        match (ty.dtype, ty.lanes) {
            (DType::F32, 1) => drop(self.body.put().f32_load(to)),
            (DType::I32 | DType::U32, 1) => drop(self.body.put().i32_load(to)),
            (DType::Bool, 1) => drop(self.body.put().i32_load(to).i32_const(0).i32_ne()),
            (DType::F16 | DType::BF16, 1) => {
                self.body.put().i32_load16_u(to);
                self.widen(ty.dtype, false)?;
            }
            (_, 4) => self.read_four(ty.dtype, offset)?,
            (_, lanes) => return Err(vectors(lanes)),
        }
        Ok(())
    }

    /// Four neighbours at the address on the stack.
    pub(super) fn read_four(&mut self, dtype: DType, offset: Offset) -> Result<()> {
        if element_bytes(dtype) == 2 {
            self.body.put().v128_load16x4_u(at(offset));
        } else {
            self.body.put().v128_load(at(offset));
        }
        self.widen_words(dtype)
    }

    /// Four elements from what memory holds of them, on the stack as words.
    pub(super) fn widen_words(&mut self, dtype: DType) -> Result<()> {
        match dtype {
            DType::F16 | DType::BF16 => return self.widen(dtype, true),
            DType::Bool => {
                self.body.words([0; 4]);
                self.body.put().i32x4_ne();
            }
            _ => {}
        }
        Ok(())
    }

    /// The word at the address on the stack in every lane; false where it is no plain word.
    pub(super) fn read_spread(&mut self, dtype: DType, offset: Offset) -> bool {
        let plain = matches!(dtype, DType::F32 | DType::I32 | DType::U32);
        if plain {
            self.body.put().v128_load32_splat(at(offset));
        }
        plain
    }

    /// Narrow floats from their bits.
    fn widen(&mut self, dtype: DType, wide: bool) -> Result<()> {
        match (dtype, wide) {
            (DType::F16, _) => return self.call("widen_f16_u32", wide),
            (_, true) => drop(self.body.put().i32_const(16).i32x4_shl()),
            (_, false) => drop(self.body.put().i32_const(16).i32_shl().f32_reinterpret_i32()),
        }
        Ok(())
    }

    /// A value on the stack as memory holds it: narrow floats become their bits.
    pub(super) fn narrow(&mut self, dtype: DType, wide: bool) -> Result<()> {
        match (dtype, wide) {
            (DType::F16, _) => return self.call("narrow_f16_f32", wide),
            (DType::BF16, true) => drop(self.body.put().i32_const(16).i32x4_shr_u()),
            (DType::BF16, false) => drop(self.body.put().i32_reinterpret_f32().i32_const(16).i32_shr_u()),
            (DType::Bool, true) => {
                self.body.words([1; 4]);
                self.body.put().v128_and();
            }
            _ => {}
        }
        Ok(())
    }

    /// Stores a value, as memory holds it, at the address below it on the stack.
    pub(super) fn write(&mut self, ty: Ty, offset: Offset) -> Result<()> {
        let to = at(offset);
        match (ty.dtype, ty.lanes) {
            (DType::F32, 1) => drop(self.body.put().f32_store(to)),
            (DType::F16 | DType::BF16, 1) => drop(self.body.put().i32_store16(to)),
            (_, 1) => drop(self.body.put().i32_store(to)),
            (_, 4) => self.write_four(ty.dtype, offset),
            (_, lanes) => return Err(vectors(lanes)),
        }
        Ok(())
    }

    /// The same for four neighbours.
    pub(super) fn write_four(&mut self, dtype: DType, offset: Offset) {
        if element_bytes(dtype) == 2 {
            // The lower halves of the four words side by side.
            self.body.words([0; 4]);
            self.body.put().i16x8_narrow_i32x4_u().v128_store64_lane(at(offset), 0);
        } else {
            self.body.put().v128_store(at(offset));
        }
    }
}

fn vectors(lanes: u8) -> Error {
    Error::unsupported(format!("vectors of {lanes} lanes in WebAssembly"), "compile for a target of four lanes")
}
