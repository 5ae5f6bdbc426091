//! The body of one function while it is written.

use aludel_ir::DType;
use aludel_ir::kernel::Ty;
use wasm_encoder::{BlockType, Function, Ieee32, InstructionSink, MemArg, ValType};

/// Lanes of a vector: 128 bits of numbers of 32.
pub(super) const LANES: u8 = 4;

/// What a value of a type is: bool is an i32 of 0 or 1, in vectors a mask; narrow floats are f32.
pub(super) fn value_type(ty: Ty) -> ValType {
    match ty.dtype {
        _ if ty.lanes > 1 => ValType::V128,
        d if d.is_float() => ValType::F32,
        _ => ValType::I32,
    }
}

/// Instructions so far, with the locals that they use. Blocks are opened and closed here, so that a branch can name its target by the
/// depth at which it was opened.
pub(super) struct Body {
    code: Vec<u8>,
    params: u32,
    locals: Vec<ValType>,
    free: Vec<u32>,
    depth: u32,
}

/// A place to go back to.
pub(super) struct Mark {
    code: usize,
    depth: u32,
}

impl Body {
    pub fn new(params: u32) -> Self {
        Body { code: Vec::new(), params, locals: Vec::new(), free: Vec::new(), depth: 0 }
    }

    pub fn finish(self) -> Function {
        let mut f = Function::new_with_locals_types(self.locals);
        f.raw(self.code).instructions().end();
        f
    }

    pub fn put(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.code)
    }

    /// A local that nobody else uses.
    pub fn local(&mut self, ty: ValType) -> u32 {
        self.locals.push(ty);
        self.params + self.locals.len() as u32 - 1
    }

    /// A local until it is released.
    pub fn temporary(&mut self, ty: ValType) -> u32 {
        match self.free.iter().position(|l| self.locals[(l - self.params) as usize] == ty) {
            Some(at) => self.free.swap_remove(at),
            None => self.local(ty),
        }
    }

    pub fn release(&mut self, locals: &[u32]) {
        self.free.extend(locals);
    }

    pub fn get(&mut self, local: u32) {
        self.put().local_get(local);
    }

    pub fn set(&mut self, local: u32) {
        self.put().local_set(local);
    }

    pub fn tee(&mut self, local: u32) {
        self.put().local_tee(local);
    }

    pub fn int(&mut self, v: i32) {
        self.put().i32_const(v);
    }

    pub fn float(&mut self, v: f32) {
        self.put().f32_const(Ieee32::new(v.to_bits()));
    }

    /// A vector of four words.
    pub fn words(&mut self, words: [u32; 4]) {
        let bits = words.iter().rev().fold(0u128, |all, w| all << 32 | *w as u128);
        self.put().v128_const(bits as i128);
    }

    pub fn block(&mut self) -> u32 {
        self.put().block(BlockType::Empty);
        self.opened()
    }

    pub fn turns(&mut self) -> u32 {
        self.put().loop_(BlockType::Empty);
        self.opened()
    }

    /// What follows runs where the number on the stack is not zero.
    pub fn branch(&mut self) -> u32 {
        self.put().if_(BlockType::Empty);
        self.opened()
    }

    fn opened(&mut self) -> u32 {
        self.depth += 1;
        self.depth
    }

    pub fn otherwise(&mut self) {
        self.put().else_();
    }

    pub fn close(&mut self) {
        self.depth -= 1;
        self.put().end();
    }

    /// To the end of a block, or the start of a loop, by what opening it gave.
    pub fn leave(&mut self, opened: u32) {
        let label = self.depth - opened;
        self.put().br(label);
    }

    /// The same where the number on the stack is not zero.
    pub fn leave_if(&mut self, opened: u32) {
        let label = self.depth - opened;
        self.put().br_if(label);
    }

    pub fn mark(&self) -> Mark {
        Mark { code: self.code.len(), depth: self.depth }
    }

    pub fn undo(&mut self, mark: Mark) {
        self.code.truncate(mark.code);
        self.depth = mark.depth;
    }

    /// The number on the stack in every lane.
    pub fn splat(&mut self, dtype: DType) {
        match dtype {
            d if d.is_float() => self.put().f32x4_splat(),
            // A mask.
            DType::Bool => self.put().i32_const(-1).i32_mul().i32x4_splat(),
            _ => self.put().i32x4_splat(),
        };
    }

    /// A lane of the vector on the stack.
    pub fn extract(&mut self, dtype: DType, lane: u8) {
        match dtype {
            d if d.is_float() => self.put().f32x4_extract_lane(lane),
            DType::Bool => self.put().i32x4_extract_lane(lane).i32_const(1).i32_and(),
            _ => self.put().i32x4_extract_lane(lane),
        };
    }

    /// Puts the number on the stack into a lane of the vector below it.
    pub fn replace(&mut self, dtype: DType, lane: u8) {
        match dtype {
            d if d.is_float() => self.put().f32x4_replace_lane(lane),
            DType::Bool => self.put().i32_const(-1).i32_mul().i32x4_replace_lane(lane),
            _ => self.put().i32x4_replace_lane(lane),
        };
    }

    /// What `one` makes of each lane of operands on the stack, which are vectors of `operands`; the result is one of `result`.
    pub fn lane_by_lane<E>(&mut self, operands: &[DType], result: DType, mut one: impl FnMut(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let held: Vec<u32> = operands.iter().map(|_| self.temporary(ValType::V128)).collect();
        held.iter().rev().for_each(|l| self.set(*l));
        self.words([0; 4]);
        for lane in 0..LANES {
            for (local, dtype) in held.iter().zip(operands) {
                self.get(*local);
                self.extract(*dtype, lane);
            }
            one(self)?;
            self.replace(result, lane);
        }
        self.release(&held);
        Ok(())
    }
}

/// Memory at a constant distance from the address on the stack. Nothing is promised of its alignment.
pub(super) fn at(offset: u64) -> MemArg {
    MemArg { offset, align: 0, memory_index: 0 }
}
