//! Addresses that a loop walks through: engines move nothing out of loops, so what an address is at a loop's beginning is computed before
//! it, and in it only how far the loop has come is added. Where a table says how far ([`Around`]), what it says is brought to bytes once
//! for all that lies around it.

use super::Printer;
use super::four::mentions;
use super::memory::{Memory, Offset};
use crate::codegen::affine::{at_zero, step};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Var};
use aludel_ir::{Result, ScalarOp};
use std::collections::{BTreeMap, BTreeSet};
use wasm_encoder::ValType;

/// A loop without loops in it.
pub(super) struct Walk<'a> {
    var: Var,
    lets: BTreeMap<Var, &'a KExpr>,
    /// Registers that are assigned in it, and what is made of them.
    changing: BTreeSet<Var>,
    pointers: Vec<Pointer>,
    /// The loop's variable times a number of bytes.
    scaled: BTreeMap<i64, u32>,
    /// Registers of the turn times a number of bytes.
    tabled: BTreeMap<(Var, i64), u32>,
}

struct Pointer {
    memory: Memory,
    /// The index at turn zero, but for a constant.
    start: Option<KExpr>,
    address: u32,
}

/// An index at turn zero, a constant apart, and by how much it grows with every turn.
struct Path {
    start: Option<KExpr>,
    constant: i64,
    step: i64,
}

/// An index that is the same on every turn but for a register of the turn, which is added.
struct Around {
    start: KExpr,
    by: Var,
}

impl Walk<'_> {
    fn around(&self, index: &KExpr) -> Option<Around> {
        let (mut start, mut by) = (None, None);
        let mut stack = vec![index];
        while let Some(e) = stack.pop() {
            match e {
                KExpr::Scalar(ScalarOp::Add, args) => stack.extend(args.iter().rev()),
                KExpr::Var(v) if self.lets.contains_key(v) && by.is_none() => by = Some(*v),
                e if self.is_same(e) => start = Some(start.map_or_else(|| e.clone(), |s| k::add(s, e.clone()))),
                _ => return None,
            }
        }
        Some(Around { start: start?, by: by? })
    }

    /// Whether a value is the same on every turn; what memory holds may not be.
    fn is_same(&self, e: &KExpr) -> bool {
        let mut same = true;
        e.visit(&mut |e| {
            same &= match e {
                KExpr::Var(v) => *v != self.var && !self.lets.contains_key(v) && !self.changing.contains(v),
                KExpr::Lit(_) | KExpr::Param(_) | KExpr::WorkgroupId(_) | KExpr::Scalar(..) => true,
                _ => false,
            }
        });
        same
    }
}

impl<'a> Printer<'a> {
    /// Computes the addresses that a loop begins with. Of one with another loop in it: none.
    pub(super) fn walk(&mut self, var: Var, body: &'a [Stmt]) -> Result<()> {
        let (mut lets, mut changing) = (BTreeMap::new(), BTreeSet::new());
        for s in body {
            match s {
                Stmt::Mut(v, _) | Stmt::Assign(v, _) => drop(changing.insert(*v)),
                Stmt::For { .. } | Stmt::If { .. } => return Ok(()),
                _ => {}
            }
        }
        for s in body {
            if let Stmt::Let(v, e) = s {
                lets.insert(*v, e);
                if mentions(e, &changing) {
                    changing.insert(*v);
                }
            }
        }
        let mut walk = Walk { var, lets, changing, pointers: Vec::new(), scaled: BTreeMap::new(), tabled: BTreeMap::new() };
        let mut places: Vec<(Memory, KExpr)> = Vec::new();
        for s in body {
            match s {
                Stmt::Store { buffer, index, .. } => places.push((Memory::Buffer(*buffer), index.clone())),
                Stmt::StoreShared { array, index, .. } => places.push((Memory::Scratch(*array), index.clone())),
                _ => {}
            }
            for e in s.exprs() {
                e.visit(&mut |e| match e {
                    KExpr::Load { buffer, index, ty } if ty.lanes == 1 => places.push((Memory::Buffer(*buffer), (**index).clone())),
                    KExpr::Shared { array, index } => places.push((Memory::Scratch(*array), (**index).clone())),
                    _ => {}
                });
            }
        }
        for (memory, index) in places {
            let start = if let Some(path) = self.path(&walk, &index) {
                let bytes = self.bytes(memory) * path.step;
                if bytes != 0 && !walk.scaled.contains_key(&bytes) {
                    walk.scaled.insert(bytes, self.body.local(ValType::I32));
                }
                path.start
            } else if let (None, Some(around)) = (&self.four, walk.around(&index)) {
                walk.tabled.entry((around.by, self.bytes(memory))).or_insert_with(|| self.body.local(ValType::I32));
                Some(around.start)
            } else {
                continue;
            };
            if walk.pointers.iter().any(|p| p.memory == memory && p.start == start) {
                continue;
            }
            self.base(memory);
            if let Some(start) = &start {
                self.expr(start)?;
                self.scale(memory);
                self.body.put().i32_add();
            }
            let address = self.body.local(ValType::I32);
            self.body.set(address);
            walk.pointers.push(Pointer { memory, start, address });
        }
        self.walk = Some(walk);
        Ok(())
    }

    /// A register of the turn has its value: brings it to bytes, where addresses lie around it.
    pub(super) fn tabled(&mut self, v: Var) -> Result<()> {
        let wanted: Vec<(i64, u32)> =
            self.walk.iter().flat_map(|w| &w.tabled).filter(|((of, _), _)| *of == v).map(|((_, bytes), local)| (*bytes, *local)).collect();
        for (bytes, local) in wanted {
            self.expr(&KExpr::Var(v))?;
            self.body.int(bytes.trailing_zeros() as i32);
            self.body.put().i32_shl().local_set(local);
        }
        Ok(())
    }

    /// At the beginning of a turn: how far the loop has come.
    pub(super) fn walked(&mut self, i: u32) {
        let scaled: Vec<(i64, u32)> = self.walk.iter().flat_map(|w| &w.scaled).map(|(bytes, local)| (*bytes, *local)).collect();
        for (bytes, local) in scaled {
            self.body.get(i);
            self.body.int(bytes as i32);
            self.body.put().i32_mul().local_set(local);
        }
    }

    /// Puts the address of an element on the stack, if the loop walks through it; what is to be added.
    pub(super) fn walks_to(&mut self, memory: Memory, index: &KExpr) -> Option<Offset> {
        let walk = self.walk.take()?;
        let pointer = |start: &Option<KExpr>| walk.pointers.iter().find(|p| p.memory == memory && p.start == *start).map(|p| p.address);
        let found = match self.path(&walk, index) {
            Some(path) => pointer(&path.start).and_then(|address| {
                let scaled = match self.bytes(memory) * path.step {
                    0 => None,
                    bytes => Some(*walk.scaled.get(&bytes)?),
                };
                Some((address, scaled, path.constant))
            }),
            None if walk.tabled.is_empty() => None,
            None => walk.around(index).and_then(|around| {
                let by = *walk.tabled.get(&(around.by, self.bytes(memory)))?;
                Some((pointer(&Some(around.start))?, Some(by), 0))
            }),
        };
        self.walk = Some(walk);
        let (address, scaled, constant) = found?;
        self.body.get(address);
        if let Some(scaled) = scaled {
            self.body.get(scaled);
            self.body.put().i32_add();
        }
        Some(constant as u64 * self.bytes(memory) as u64 + self.start(memory))
    }

    fn path(&self, walk: &Walk, index: &KExpr) -> Option<Path> {
        if mentions(index, &walk.changing) {
            return None;
        }
        let step = step(index, walk.var, &walk.lets)?;
        let first = at_zero(index, &[walk.var], &walk.lets)?;
        // An address that goes down could pass what is left when a constant is taken apart.
        let (start, constant) = if step < 0 { (Some(first), 0) } else { self.split(first) };
        Some(Path { start, constant, step })
    }
}
