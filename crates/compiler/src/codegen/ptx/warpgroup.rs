//! Operations of warpgroups, of `sm_90a`: `mbarrier`, `cp.async.bulk.tensor` and `wgmma`.

use super::Printer;
use super::emit::{Class, Operand};
use super::memory::Space;
use aludel_ir::kernel::KExpr;
use aludel_ir::kernel::warpgroup::{ATOM_ROWS, Factors, MOST_WARPGROUPS, ROW, Rows, TileAt, WARPGROUP, WarpgroupOp};
use aludel_ir::{Error, Result};

/// The barrier of the first warpgroup's turns.
const FIRST_TURN: u32 = 2;

/// Bytes of an element of an array of barriers or tiles.
const ELEMENT: u32 = 16;

impl Printer<'_> {
    pub(super) fn warpgroup(&mut self, op: &WarpgroupOp) -> Result<()> {
        match op {
            WarpgroupOp::Begin { array, index, arrivals } => {
                let at = self.element_address(*array, index)?;
                self.emit.line(format!("mbarrier.init.shared.b64 {at}, {arrivals}"));
            }
            WarpgroupOp::Arrive { array, index, bytes } => {
                let at = self.element_address(*array, index)?;
                self.emit.line(match bytes {
                    0 => format!("mbarrier.arrive.shared.b64 _, {at}"),
                    n => format!("mbarrier.arrive.expect_tx.shared.b64 _, {at}, {n}"),
                });
            }
            WarpgroupOp::Await { array, index, parity } => {
                let at = self.element_address(*array, index)?;
                let parity = self.scalar_value(parity)?;
                let parity = self.emit.arg(&parity);
                let (again, done) = (self.emit.label(), self.emit.fresh(Class::Pred));
                self.emit.mark(&again);
                self.emit.line(format!("mbarrier.try_wait.parity.shared.b64 {done}, {at}, {parity}"));
                self.emit.line(format!("@!{done} bra {again}"));
            }
            WarpgroupOp::Copy { array, index, map, at, within, barrier, barrier_index } => {
                let to = self.element_address(*array, index)?;
                let bar = self.element_address(*barrier, barrier_index)?;
                let mut place = Vec::with_capacity(at.len());
                for e in at {
                    let v = self.scalar_value(e)?;
                    place.push(self.emit.arg(&v));
                }
                let mut pixel = Vec::with_capacity(within.len());
                for e in within {
                    let v = self.scalar_value(e)?;
                    let (wide, narrow) = (self.emit.arg(&v), self.emit.fresh(Class::B16));
                    self.emit.line(format!("cvt.u16.u32 {narrow}, {wide}"));
                    pixel.push(narrow);
                }
                let (mode, pixel) = match pixel.is_empty() {
                    true => ("", String::new()),
                    false => (".im2col", format!(", {{{}}}", pixel.join(", "))),
                };
                let (dimensions, place) = (at.len(), place.join(", "));
                let tensor = self.maps.get(*map as usize).cloned().unwrap_or_default();
                self.emit.line(format!(
                    "cp.async.bulk.tensor.{dimensions}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes {to}, [{tensor}, {{{place}}}], {bar}{pixel}"
                ));
            }
            WarpgroupOp::Publish => self.emit.line("fence.proxy.async.shared::cta"),
            WarpgroupOp::Fence => self.emit.line("wgmma.fence.sync.aligned"),
            WarpgroupOp::Multiply { acc, clear, factors, a, b } => {
                let a_at = match a {
                    Rows::Tile(t) => self.descriptor(t)?,
                    Rows::Registers(list) => format!("{{{}}}", self.factors(list)?),
                };
                let b_at = self.descriptor(b)?;
                let mut regs = Vec::with_capacity(acc.len());
                for v in acc {
                    let o = self.values.get(&v.0).and_then(|l| l.first()).cloned();
                    let Some(Operand::Reg(r)) = o else {
                        return Err(Error::verify(format!("kernel {}", self.kernel.name), format!("accumulator v{} is no register", v.0)));
                    };
                    regs.push(r);
                }
                let (n, k, name) = (2 * acc.len(), factors.depth(), factors.name());
                // What lies in registers lies one way.
                let across = match (factors, a) {
                    (Factors::Tf32, _) => String::new(),
                    (_, Rows::Tile(t)) => format!(", {}, {}", t.across.is_some() as u8, b.across.is_some() as u8),
                    (_, Rows::Registers(_)) => format!(", {}", b.across.is_some() as u8),
                };
                // Whether the accumulators count; factors keep their signs.
                let keep = !clear as u8;
                self.emit.line(format!(
                    "wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{name}.{name} {{{}}}, {a_at}, {b_at}, {keep}, 1, 1{across}",
                    regs.join(", ")
                ));
            }
            WarpgroupOp::Commit => self.emit.line("wgmma.commit_group.sync.aligned"),
            WarpgroupOp::Wait(n) => self.emit.line(format!("wgmma.wait_group.sync.aligned {n}")),
            // The barriers behind those of the workgroup and of all that multiply.
            WarpgroupOp::TakeTurn(e) => self.barrier("sync", FIRST_TURN, e, 2 * WARPGROUP)?,
            WarpgroupOp::GiveTurn(e) => self.barrier("arrive", FIRST_TURN, e, 2 * WARPGROUP)?,
            WarpgroupOp::Regroup(e) => self.barrier("sync", FIRST_TURN + MOST_WARPGROUPS, e, WARPGROUP)?,
            WarpgroupOp::Registers { count, more } => {
                self.emit.line(format!("setmaxnreg.{}.sync.aligned.u32 {count}", if *more { "inc" } else { "dec" }));
            }
            // Barrier 0 is the whole workgroup's.
            WarpgroupOp::Meet(threads) => self.emit.line(format!("bar.sync 1, {threads}")),
        }
        Ok(())
    }

    fn barrier(&mut self, what: &str, first: u32, warpgroup: &KExpr, threads: u32) -> Result<()> {
        let index = self.scalar_value(warpgroup)?;
        let barrier = self.emit.op(Class::B32, "add.s32", &[&index, &Operand::Int(first)]);
        let barrier = self.emit.arg(&barrier);
        self.emit.line(format!("bar.{what} {barrier}, {threads}"));
        Ok(())
    }

    fn element_address(&mut self, array: u32, index: &KExpr) -> Result<String> {
        let index = self.scalar_value(index)?;
        Ok(self.address(Space::Array(array), &index, ELEMENT))
    }

    /// The units' description of a tile: address, distances and the order of groups, as PTX's "matrix descriptor" has them.
    fn descriptor(&mut self, tile: &TileAt) -> Result<String> {
        let index = self.scalar_value(&tile.index)?;
        let (register, constant) = match index {
            Operand::Int(c) => (None, c as i32),
            Operand::Sum(r, c) => (Some(r), c),
            other => (Some(self.emit.register(Class::B32, &other)), 0),
        };
        let at = match register {
            None => self.base(Space::Array(tile.array)),
            Some(r) => self.element(Space::Array(tile.array), r, ELEMENT),
        };
        let start = self.emit.op(Class::B32, "shr.u32", &[&Operand::Reg(at), &Operand::Int(ELEMENT.trailing_zeros())]);
        // Between neighbours along the side where rows lie across; not read otherwise.
        let low = (constant as u32).wrapping_add(tile.across.unwrap_or(1) << 16);
        let low = self.emit.op(Class::B32, "add.s32", &[&start, &Operand::Int(low)]);
        // From one group of eight rows to the next; groups of 16 bytes in the order of 128-byte swizzling.
        let high = Operand::Int((1 << 30) | (ATOM_ROWS * ROW));
        let (low, high) = (self.emit.arg(&low), self.emit.register(Class::B32, &high));
        let out = self.emit.fresh(Class::B64);
        self.emit.line(format!("mov.b64 {out}, {{{low}, {high}}}"));
        Ok(out)
    }
}
