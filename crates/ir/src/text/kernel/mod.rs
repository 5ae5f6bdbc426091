//! The text of a [`crate::kernel::Kernel`].
//!
//! ```text
//! kernel scale workgroup(64, 1, 1) {
//!   param n
//!   param x_at
//!   buffer x: f32 = binding 0 at x_at
//!
//!   let r0: i32 = workgroup_id.x * 64 + local_id.x
//!   if r0 < n {
//!     x[r0] = x[r0] * 2.0
//!   }
//! }
//! ```
//!
//! Four lanes: `x.vec4[r1]` loads them, `f32x4` is their type, `r2.x` is one of them. Registers that the body never declares
//! are listed before it: `reg r9: f32`. Precedence is Rust's; comparisons do not chain.
//!
//! What only some GPUs have: `copy.vec4 s[r1] = x[r2] if r3` starts an asynchronous copy (positions in elements), `commit` ends a
//! group of them, `wait(1)` leaves at most one under way; `mma(r4, r5, r6, r7) += (..) * (..)`; `shuffle(r8, 16)`.
//! Warpgroups: `map x(32, 128)` declares a map of boxes of a buffer; `warpgroup` begins each operation of
//! [`crate::kernel::warpgroup`]: `warpgroup copy s[0] = 0(r1, r2) at bars[r3]`, `warpgroup multiply tf32(r4, ..) += s[r5] * s[r6]`.

mod parse;
mod print;
mod warpgroup;

pub use parse::parse_kernel;
pub use print::print_kernel;

use super::lexer::is_ident;
use super::shape::is_numbered;
use crate::kernel::Ty;
use crate::scalar::ScalarOp;

/// Binary operations that are written between their operands: spelling and precedence.
const INFIX: [(ScalarOp, &str, u8); 16] = [
    (ScalarOp::Mul, "*", 7),
    (ScalarOp::Div, "/", 7),
    (ScalarOp::Fmod, "%", 7),
    (ScalarOp::Add, "+", 6),
    (ScalarOp::Sub, "-", 6),
    (ScalarOp::Shl, "<<", 5),
    (ScalarOp::Shr, ">>", 5),
    (ScalarOp::And, "&", 4),
    (ScalarOp::Xor, "^", 3),
    (ScalarOp::Or, "|", 2),
    (ScalarOp::Eq, "==", COMPARE),
    (ScalarOp::Ne, "!=", COMPARE),
    (ScalarOp::Lt, "<", COMPARE),
    (ScalarOp::Le, "<=", COMPARE),
    (ScalarOp::Gt, ">", COMPARE),
    (ScalarOp::Ge, ">=", COMPARE),
];
const COMPARE: u8 = 1;

const KEYWORDS: [&str; 29] = [
    "kernel",
    "map",
    "warpgroup",
    "param",
    "buffer",
    "shared",
    "reg",
    "let",
    "var",
    "for",
    "in",
    "step",
    "if",
    "else",
    "barrier",
    "atomic",
    "copy",
    "commit",
    "wait",
    "mma",
    "shuffle",
    "load",
    "cast",
    "bitcast",
    "vec4",
    "workgroup_id",
    "local_id",
    "true",
    "false",
];

fn is_free_name(n: &str) -> bool {
    let constant = n.split('_').next().is_some_and(|p| p == "inf" || p == "nan");
    is_ident(n) && !KEYWORDS.contains(&n) && !constant && !is_numbered(n, "r") && ScalarOp::from_name(n).is_none()
}

fn lane_name(k: u8) -> String {
    ["x", "y", "z", "w"].get(k as usize).map_or_else(|| format!("lane{k}"), |s| s.to_string())
}

fn ty_name(t: Ty) -> String {
    if t.lanes == 1 { t.dtype.to_string() } else { format!("{}x{}", t.dtype, t.lanes) }
}
