//! Instructions, registers and operands: what the printer and the helper functions are written with.

use aludel_ir::DType;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The class of a register: what PTX's `.reg` declares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Class {
    F32,
    /// i32 and u32.
    B32,
    B64,
    B16,
    Pred,
}

impl Class {
    pub fn of(dtype: DType) -> Class {
        match dtype {
            DType::F32 | DType::F16 | DType::BF16 => Class::F32,
            DType::I32 | DType::U32 => Class::B32,
            DType::Bool => Class::Pred,
        }
    }

    const ALL: [Class; 5] = [Class::F32, Class::B32, Class::B64, Class::B16, Class::Pred];

    fn prefix(self) -> &'static str {
        match self {
            Class::F32 => "%f",
            Class::B32 => "%r",
            Class::B64 => "%d",
            Class::B16 => "%h",
            Class::Pred => "%p",
        }
    }

    fn declared(self) -> &'static str {
        match self {
            Class::F32 => ".f32",
            Class::B32 => ".b32",
            Class::B64 => ".b64",
            Class::B16 => ".b16",
            Class::Pred => ".pred",
        }
    }
}

/// The value of one lane.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Operand {
    Reg(String),
    /// A register plus a constant, not added yet: addresses take the constant for nothing.
    Sum(String, i32),
    F32(f32),
    /// The bits of an i32 or u32.
    Int(u32),
    Bool(bool),
}

#[derive(Default)]
pub(super) struct Emit {
    pub text: String,
    next: [u32; 5],
    labels: u32,
    /// Registers that are written more than once: what is named after them has to be copied.
    mutable: FxHashSet<String>,
    /// Registers that hold another one's value rounded to a narrow type.
    rounded: FxHashMap<String, (DType, Operand)>,
}

impl Emit {
    pub fn fresh(&mut self, class: Class) -> String {
        let n = &mut self.next[class as usize];
        *n += 1;
        format!("{}{}", class.prefix(), *n - 1)
    }

    /// A register that may be written again.
    pub fn variable(&mut self, class: Class) -> String {
        let r = self.fresh(class);
        self.mutable.insert(r.clone());
        r
    }

    pub fn is_variable(&self, register: &str) -> bool {
        self.mutable.contains(register)
    }

    /// Remembers that a register holds a value rounded to a narrow type.
    pub fn note_rounded(&mut self, rounded: &Operand, from: &Operand, dtype: DType) {
        let fixed = !matches!(from, Operand::Reg(r) | Operand::Sum(r, _) if self.is_variable(r));
        if let (Operand::Reg(r), true) = (rounded, fixed) {
            self.rounded.insert(r.clone(), (dtype, from.clone()));
        }
    }

    /// The value that one was rounded from, where that is known.
    pub fn before_rounding(&self, value: Operand, dtype: DType) -> Operand {
        match &value {
            Operand::Reg(r) => self.rounded.get(r).filter(|(d, _)| *d == dtype).map_or(value.clone(), |(_, from)| from.clone()),
            _ => value,
        }
    }

    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    pub fn line(&mut self, instruction: impl AsRef<str>) {
        let _ = writeln!(self.text, "  {};", instruction.as_ref());
    }

    pub fn mark(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// `op d, args`: the result in a fresh register.
    pub fn op(&mut self, class: Class, op: &str, args: &[&Operand]) -> Operand {
        let args: Vec<String> = args.iter().map(|a| self.arg(a)).collect();
        let d = self.fresh(class);
        self.line(format!("{op} {d}, {}", args.join(", ")));
        Operand::Reg(d)
    }

    /// An operand as an instruction takes it: a register or a number. Predicates are always registers.
    pub fn arg(&mut self, o: &Operand) -> String {
        match o {
            Operand::Reg(r) => r.clone(),
            Operand::Sum(r, 0) => r.clone(),
            Operand::Sum(r, c) => {
                let d = self.fresh(Class::B32);
                self.line(format!("add.s32 {d}, {r}, {c}"));
                d
            }
            Operand::F32(v) => format!("0f{:08X}", v.to_bits()),
            Operand::Int(bits) => format!("{}", *bits as i32),
            Operand::Bool(v) => {
                let d = self.fresh(Class::Pred);
                self.line(format!("setp.ne.s32 {d}, {}, 0", *v as u8));
                d
            }
        }
    }

    /// An operand in a register.
    pub fn register(&mut self, class: Class, o: &Operand) -> String {
        match o {
            Operand::Reg(r) => r.clone(),
            Operand::Sum(..) | Operand::Bool(_) => self.arg(o),
            Operand::F32(_) | Operand::Int(_) => {
                let d = self.fresh(class);
                self.assign(class, &d, o);
                d
            }
        }
    }

    pub fn assign(&mut self, class: Class, register: &str, o: &Operand) {
        if let Operand::Sum(r, c) = o {
            // In place: a counter needs no second register.
            self.line(format!("add.s32 {register}, {r}, {c}"));
            return;
        }
        let value = self.arg(o);
        let op = match class {
            Class::F32 => "mov.f32",
            Class::B32 => "mov.b32",
            Class::B64 => "mov.b64",
            Class::B16 => "mov.b16",
            Class::Pred => "mov.pred",
        };
        self.line(format!("{op} {register}, {value}"));
    }

    /// An operand that keeps its value whatever is assigned later.
    pub fn fixed(&mut self, class: Class, o: Operand) -> Operand {
        match &o {
            Operand::Reg(r) | Operand::Sum(r, _) if self.is_variable(r) => {
                let d = self.fresh(class);
                self.assign(class, &d, &o);
                Operand::Reg(d)
            }
            _ => o,
        }
    }

    /// The declarations of all registers.
    pub fn declarations(&self) -> String {
        let mut out = String::new();
        for class in Class::ALL {
            let n = self.next[class as usize];
            if n > 0 {
                let _ = writeln!(out, "  .reg {} {}<{n}>;", class.declared(), class.prefix());
            }
        }
        out
    }
}
