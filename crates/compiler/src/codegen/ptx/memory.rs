//! Addresses, loads and stores.

use super::Printer;
use super::emit::{Class, Operand};
use super::scalar::packed;
use aludel_ir::kernel::{KExpr, Ty, element_bytes};
use aludel_ir::{DType, Error, Result};

/// What an address lies in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Space {
    Buffer(u32),
    Array(u32),
}

/// The type of one word in memory.
fn word(dtype: DType) -> &'static str {
    if dtype.is_float() { "f32" } else { "b32" }
}

/// Bytes of a value in memory.
fn bytes(ty: Ty) -> u32 {
    element_bytes(ty.dtype) * ty.lanes as u32
}

impl Printer<'_> {
    /// The operand of a memory instruction: element `index` of so many bytes.
    pub(super) fn address(&mut self, space: Space, index: &Operand, bytes: u32) -> String {
        let (register, constant) = match index {
            Operand::Int(c) => (None, *c as i32),
            Operand::Sum(r, c) if self.folds(space) => (Some(r.clone()), *c),
            other => (Some(self.emit.register(Class::B32, other)), 0),
        };
        let offset = constant as i64 * bytes as i64;
        let at = match (register, i32::try_from(offset)) {
            (None, Ok(_)) => self.base(space),
            (Some(r), Ok(_)) => self.element(space, r, bytes),
            (r, Err(_)) => {
                // Too far for an instruction's own offset.
                let sum = r.map_or(Operand::Int(constant as u32), |r| Operand::Sum(r, constant));
                let r = self.emit.register(Class::B32, &sum);
                let at = self.element(space, r, bytes);
                return format!("[{at}]");
            }
        };
        match offset {
            0 => format!("[{at}]"),
            _ => format!("[{at}+{offset}]"),
        }
    }

    /// Whether the constant part of an index may be added to the address: the other part is then taken as signed.
    fn folds(&self, space: Space) -> bool {
        match space {
            Space::Buffer(b) => self.kernel.buffers[b as usize].offset.is_some(),
            Space::Array(_) => true,
        }
    }

    pub(super) fn base(&self, space: Space) -> String {
        match space {
            Space::Buffer(b) => self.bases[b as usize].clone(),
            Space::Array(a) => match &self.shared[a as usize] {
                Operand::Reg(r) => r.clone(),
                _ => String::new(),
            },
        }
    }

    pub(super) fn element(&mut self, space: Space, register: String, bytes: u32) -> String {
        let key = (space, register, bytes);
        if let Some(at) = self.addresses.iter().rev().find_map(|s| s.get(&key)) {
            return at.clone();
        }
        let base = self.base(space);
        let r = &key.1;
        let at = match space {
            Space::Buffer(b) => {
                let at = self.emit.fresh(Class::B64);
                let sign = if self.kernel.buffers[b as usize].offset.is_some() { "s32" } else { "u32" };
                self.emit.line(format!("mad.wide.{sign} {at}, {r}, {bytes}, {base}"));
                at
            }
            Space::Array(_) => {
                let at = self.emit.fresh(Class::B32);
                self.emit.line(format!("mad.lo.s32 {at}, {r}, {bytes}, {base}"));
                at
            }
        };
        if !self.emit.is_variable(r)
            && let Some(s) = self.addresses.last_mut()
        {
            s.insert(key, at.clone());
        }
        at
    }

    pub(super) fn load(&mut self, buffer: u32, index: &KExpr, ty: Ty) -> Result<Vec<Operand>> {
        let index = self.scalar_value(index)?;
        let at = self.address(Space::Buffer(buffer), &index, bytes(ty));
        let binding = self.kernel.buffers[buffer as usize].binding as usize;
        let space = if self.constant.get(binding).copied().unwrap_or(false) { "global.nc" } else { "global" };
        Ok(self.read(space, &at, ty))
    }

    pub(super) fn load_shared(&mut self, array: u32, index: &KExpr, lanes: u8) -> Result<Vec<Operand>> {
        let ty = Ty { lanes, ..self.kernel.shared[array as usize].ty };
        let index = self.scalar_value(index)?;
        let at = self.address(Space::Array(array), &index, bytes(ty));
        Ok(self.read("shared", &at, ty))
    }

    fn read(&mut self, space: &str, at: &str, ty: Ty) -> Vec<Operand> {
        if element_bytes(ty.dtype) == 2 {
            return self.read_narrow(space, at, ty);
        }
        let class = if ty.dtype == DType::Bool { Class::B32 } else { Class::of(ty.dtype) };
        let regs: Vec<String> = (0..ty.lanes).map(|_| self.emit.fresh(class)).collect();
        let (wide, list) = vector(&regs);
        self.emit.line(format!("ld.{space}{wide}.{} {list}, {at}", word(ty.dtype)));
        let mut out = Vec::with_capacity(regs.len());
        for r in regs {
            // Any bits but zero are true.
            out.push(if ty.dtype == DType::Bool {
                self.emit.op(Class::Pred, "setp.ne.b32", &[&Operand::Reg(r), &Operand::Int(0)])
            } else {
                Operand::Reg(r)
            });
        }
        out
    }

    /// Elements of 16 bits, widened: bf16 is the upper half of an f32.
    fn read_narrow(&mut self, space: &str, at: &str, ty: Ty) -> Vec<Operand> {
        if ty.lanes == 1 {
            let half = self.emit.fresh(Class::B16);
            self.emit.line(format!("ld.{space}.b16 {half}, {at}"));
            return vec![self.widen(half, ty.dtype)];
        }
        let pairs: Vec<String> = (0..ty.lanes / 2).map(|_| self.emit.fresh(Class::B32)).collect();
        let (wide, list) = vector(&pairs);
        self.emit.line(format!("ld.{space}{wide}.b32 {list}, {at}"));
        let mut out = Vec::with_capacity(ty.lanes as usize);
        for pair in pairs {
            let pair = Operand::Reg(pair);
            if ty.dtype == DType::BF16 {
                let halves = [("shl.b32", Operand::Int(16)), ("and.b32", Operand::Int(0xffff_0000))];
                for (op, by) in halves {
                    let bits = self.emit.op(Class::B32, op, &[&pair, &by]);
                    out.push(self.emit.op(Class::F32, "mov.b32", &[&bits]));
                }
            } else {
                let (low, high, pair) = (self.emit.fresh(Class::B16), self.emit.fresh(Class::B16), self.emit.arg(&pair));
                self.emit.line(format!("mov.b32 {{{low}, {high}}}, {pair}"));
                out.extend([low, high].map(|h| self.widen(h, ty.dtype)));
            }
        }
        out
    }

    fn widen(&mut self, half: String, dtype: DType) -> Operand {
        match dtype {
            DType::BF16 => {
                let (zero, bits) = (self.emit.fresh(Class::B16), self.emit.fresh(Class::B32));
                self.emit.line(format!("mov.b16 {zero}, 0"));
                self.emit.line(format!("mov.b32 {bits}, {{{zero}, {half}}}"));
                self.emit.op(Class::F32, "mov.b32", &[&Operand::Reg(bits)])
            }
            _ => self.emit.op(Class::F32, "cvt.f32.f16", &[&Operand::Reg(half)]),
        }
    }

    pub(super) fn store(&mut self, buffer: u32, index: &KExpr, value: &KExpr) -> Result<()> {
        let ty = self.kernel.type_of(value)?;
        let value = self.words(value, ty)?;
        let index = self.scalar_value(index)?;
        let at = self.address(Space::Buffer(buffer), &index, bytes(ty));
        self.write("global", &at, &value, ty);
        Ok(())
    }

    pub(super) fn store_shared(&mut self, array: u32, index: &KExpr, value: &KExpr) -> Result<()> {
        let ty = self.kernel.shared[array as usize].ty;
        let value = self.words(value, ty)?;
        let index = self.scalar_value(index)?;
        let at = self.address(Space::Array(array), &index, bytes(ty));
        self.write("shared", &at, &value, ty);
        Ok(())
    }

    fn write(&mut self, space: &str, at: &str, value: &[String], ty: Ty) {
        let (wide, list) = vector(value);
        let word = match (element_bytes(ty.dtype), value.len() == ty.lanes as usize) {
            (2, true) => "b16",
            (2, false) => "b32",
            _ => word(ty.dtype),
        };
        self.emit.line(format!("st.{space}{wide}.{word} {at}, {list}"));
    }

    /// A value as registers that a store takes.
    fn words(&mut self, value: &KExpr, ty: Ty) -> Result<Vec<String>> {
        let class = if ty.dtype == DType::Bool { Class::B32 } else { Class::of(ty.dtype) };
        let lanes = self.expr_lanes(value, ty.lanes)?;
        if element_bytes(ty.dtype) == 2 {
            return Ok(self.narrow_words(lanes, ty.dtype));
        }
        Ok(lanes
            .into_iter()
            .map(|v| {
                let v = if ty.dtype == DType::Bool {
                    self.emit.op(Class::B32, "selp.b32", &[&Operand::Int(1), &Operand::Int(0), &v])
                } else {
                    v
                };
                self.emit.register(class, &v)
            })
            .collect())
    }

    /// Values of a narrow type: one of 16 bits, or pairs in words.
    fn narrow_words(&mut self, lanes: Vec<Operand>, dtype: DType) -> Vec<String> {
        // What a value was rounded from is rounded here: the conversion to f32 and back goes away.
        let lanes: Vec<Operand> = lanes.into_iter().map(|v| self.emit.before_rounding(v, dtype)).collect();
        match &lanes[..] {
            [one] => {
                let half = packed(&mut self.emit, std::slice::from_ref(one), dtype);
                vec![self.emit.arg(&half)]
            }
            many => many
                .chunks(2)
                .map(|pair| {
                    let word = packed(&mut self.emit, pair, dtype);
                    self.emit.arg(&word)
                })
                .collect(),
        }
    }

    pub(super) fn atomic_add(&mut self, buffer: u32, index: &KExpr, value: &KExpr) -> Result<()> {
        let ty = self.kernel.type_of(value)?;
        let kind = match ty.dtype {
            DType::F32 => "f32",
            DType::I32 => "s32",
            DType::U32 => "u32",
            other => return Err(Error::unsupported(format!("atomic addition of {other} in PTX"), "add in f32")),
        };
        let value = self.words(value, Ty::scalar(ty.dtype))?.join(", ");
        let index = self.scalar_value(index)?;
        let at = self.address(Space::Buffer(buffer), &index, 4);
        self.emit.line(format!("red.global.add.{kind} {at}, {value}"));
        Ok(())
    }

    /// `cp.async`: 16 bytes pass the first-level cache by; what is not valid is filled with zeros and not read.
    pub(super) fn async_copy(
        &mut self,
        array: u32,
        index: &KExpr,
        buffer: u32,
        from: &KExpr,
        lanes: u8,
        valid: Option<&KExpr>,
    ) -> Result<()> {
        let index = self.scalar_value(index)?;
        let each = element_bytes(self.kernel.buffers[buffer as usize].dtype);
        let to = self.address(Space::Array(array), &index, each);
        let from = self.scalar_value(from)?;
        let from = self.address(Space::Buffer(buffer), &from, each);
        let bytes = each * lanes as u32;
        let cache = if bytes == 16 { "cg" } else { "ca" };
        let size = match valid {
            None => String::new(),
            Some(v) => {
                let v = self.scalar_value(v)?;
                let n = self.emit.op(Class::B32, "selp.b32", &[&Operand::Int(bytes), &Operand::Int(0), &v]);
                format!(", {}", self.emit.arg(&n))
            }
        };
        self.emit.line(format!("cp.async.{cache}.shared.global {to}, {from}, {bytes}{size}"));
        Ok(())
    }
}

fn vector(regs: &[String]) -> (&'static str, String) {
    match regs {
        [one] => ("", one.clone()),
        [a, b] => (".v2", format!("{{{a}, {b}}}")),
        many => (".v4", format!("{{{}}}", many.join(", "))),
    }
}
