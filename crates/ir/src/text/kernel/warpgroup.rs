//! The operations of warpgroups: `warpgroup` and a word.

use super::parse::Parser;
use super::print::Printer;
use crate::error::Result;
use crate::kernel::KExpr;
use crate::kernel::warpgroup::{Factors, Rows, TileAt, WarpgroupOp};

impl Printer<'_> {
    pub(super) fn warpgroup(&self, op: &WarpgroupOp) -> String {
        let at = |array: &u32, index: &KExpr| format!("{}[{}]", self.array(*array), self.expr(index));
        let tile = |t: &TileAt| {
            let across = t.across.map_or(String::new(), |n| format!(" across {n}"));
            at(&t.array, &t.index) + &across
        };
        let text = match op {
            WarpgroupOp::Begin { array, index, arrivals } => format!("begin {}({arrivals})", at(array, index)),
            WarpgroupOp::Arrive { array, index, bytes } => format!("arrive {}({bytes})", at(array, index)),
            WarpgroupOp::Await { array, index, parity } => format!("await {}({})", at(array, index), self.expr(parity)),
            WarpgroupOp::Copy { array, index, map, at: place, within, barrier, barrier_index } => {
                let list = |l: &[KExpr]| l.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ");
                let within = if within.is_empty() { String::new() } else { format!(" within({})", list(within)) };
                format!("copy {} = {map}({}){within} at {}", at(array, index), list(place), at(barrier, barrier_index))
            }
            WarpgroupOp::Publish => "publish".into(),
            WarpgroupOp::Fence => "fence".into(),
            WarpgroupOp::Multiply { acc, clear, factors, a, b } => {
                let acc: Vec<String> = acc.iter().map(|v| format!("r{}", v.0)).collect();
                let a = match a {
                    Rows::Tile(t) => tile(t),
                    Rows::Registers(r) => format!("({})", r.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")),
                };
                let assign = if *clear { "=" } else { "+=" };
                format!("multiply {}({}) {assign} {a} * {}", factors.name(), acc.join(", "), tile(b))
            }
            WarpgroupOp::Commit => "commit".into(),
            WarpgroupOp::Wait(n) => format!("wait({n})"),
            WarpgroupOp::Meet(n) => format!("meet({n})"),
            WarpgroupOp::Regroup(e) => format!("regroup({})", self.expr(e)),
            WarpgroupOp::TakeTurn(e) => format!("take turn({})", self.expr(e)),
            WarpgroupOp::GiveTurn(e) => format!("give turn({})", self.expr(e)),
            WarpgroupOp::Registers { count, more: true } => format!("more registers({count})"),
            WarpgroupOp::Registers { count, more: false } => format!("fewer registers({count})"),
        };
        format!("warpgroup {text}")
    }
}

impl Parser<'_> {
    /// What follows the word `warpgroup`.
    pub(super) fn warpgroup(&mut self) -> Result<WarpgroupOp> {
        let at = self.c.position();
        let word = self.c.ident("an operation of warpgroups")?;
        Ok(match word {
            "begin" => {
                let (array, index) = self.element()?;
                WarpgroupOp::Begin { array, index, arrivals: self.count()? }
            }
            "arrive" => {
                let (array, index) = self.element()?;
                WarpgroupOp::Arrive { array, index, bytes: self.count()? }
            }
            "await" => {
                let (array, index) = self.element()?;
                self.c.expect("(")?;
                let parity = self.expr()?;
                self.c.expect(")")?;
                WarpgroupOp::Await { array, index, parity }
            }
            "copy" => {
                let (array, index) = self.element()?;
                self.c.expect("=")?;
                let map = self.c.u32()?;
                let place = self.args()?.0;
                let within = if self.c.eat_word("within") { self.args()?.0 } else { vec![] };
                self.c.word("at")?;
                let (barrier, barrier_index) = self.element()?;
                WarpgroupOp::Copy { array, index, map, at: place, within, barrier, barrier_index }
            }
            "publish" => WarpgroupOp::Publish,
            "fence" => WarpgroupOp::Fence,
            "multiply" => {
                let at = self.c.position();
                let name = self.c.ident("a format of factors")?;
                let Some(factors) = Factors::from_name(name) else {
                    return Err(self.c.error_from(at, format!("`{name}` is no format of factors: tf32, f16 and bf16 are")));
                };
                let acc = self.registers()?;
                let clear = self.c.at_punct("=");
                self.c.expect(if clear { "=" } else { "+=" })?;
                let a = if self.c.at_punct("(") {
                    let list = self.args()?.0;
                    Rows::Registers(list.try_into().map_err(|_| self.c.error_from(at, "takes four factors in registers"))?)
                } else {
                    Rows::Tile(self.tile()?)
                };
                self.c.expect("*")?;
                WarpgroupOp::Multiply { acc, clear, factors, a, b: self.tile()? }
            }
            "commit" => WarpgroupOp::Commit,
            "wait" => {
                self.c.expect("(")?;
                let n = self.small()?;
                self.c.expect(")")?;
                WarpgroupOp::Wait(n)
            }
            "meet" => WarpgroupOp::Meet(self.count()?),
            "regroup" => {
                self.c.expect("(")?;
                let e = self.expr()?;
                self.c.expect(")")?;
                WarpgroupOp::Regroup(e)
            }
            "take" | "give" => {
                self.c.word("turn")?;
                self.c.expect("(")?;
                let e = self.expr()?;
                self.c.expect(")")?;
                if word == "take" { WarpgroupOp::TakeTurn(e) } else { WarpgroupOp::GiveTurn(e) }
            }
            "more" | "fewer" => {
                self.c.word("registers")?;
                WarpgroupOp::Registers { count: self.count()?, more: word == "more" }
            }
            _ => return Err(self.c.error_from(at, format!("warpgroups have no operation `{word}`"))),
        })
    }

    fn element(&mut self) -> Result<(u32, KExpr)> {
        Ok((self.array()?, self.index()?))
    }

    fn count(&mut self) -> Result<u32> {
        self.c.expect("(")?;
        let n = self.c.u32()?;
        self.c.expect(")")?;
        Ok(n)
    }

    fn tile(&mut self) -> Result<TileAt> {
        let (array, index) = self.element()?;
        let across = if self.c.eat_word("across") { Some(self.c.u32()?) } else { None };
        Ok(TileAt { array, index, across })
    }
}
