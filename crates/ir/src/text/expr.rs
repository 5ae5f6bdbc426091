//! Symbolic integers: `2*B + i0*64 + floordiv(i1, 4) - 1`.
//!
//! Divisions, remainders, minima and maxima are built as they are written, without simplifying by ranges: what was printed is
//! what is read back. Sums and products are normal forms by construction.

use super::lexer::{Cursor, Token};
use crate::error::Result;
use crate::expr::{Atom, Expr};

/// How deep divisions and parentheses nest. Bounds of nested divisions take time exponential in this.
const MAX_NESTING: usize = 16;
/// How many terms, and factors in a term, a product may have: parentheses multiply out.
const MAX_TERMS: usize = 256;
const MAX_DEGREE: usize = 16;

/// Finds the atom of a name.
pub type Resolve<'r> = dyn Fn(&str) -> Option<Atom> + 'r;

pub fn parse_expr(c: &mut Cursor, resolve: &Resolve) -> Result<Expr> {
    sum(c, resolve, 0)
}

fn sum(c: &mut Cursor, resolve: &Resolve, depth: usize) -> Result<Expr> {
    let negative = c.eat("-");
    let mut out = term(c, resolve, depth, negative)?;
    loop {
        let negative = c.at_punct("-");
        if !negative && !c.at_punct("+") {
            return Ok(out);
        }
        c.next();
        out = out.add(&term(c, resolve, depth, negative)?);
    }
}

fn term(c: &mut Cursor, resolve: &Resolve, depth: usize, negative: bool) -> Result<Expr> {
    let start = c.position();
    // Wide, because the magnitude of the smallest number is one more than that of the largest.
    let mut coefficient: i128 = if negative { -1 } else { 1 };
    let mut product = Expr::ONE;
    loop {
        if let Token::Number { .. } = c.peek() {
            let v = c.unsigned()? as i128;
            coefficient = coefficient.checked_mul(v).ok_or_else(|| c.error_from(start, "the number does not fit 64 bits"))?;
        } else {
            product = product.mul(&factor(c, resolve, depth)?);
            let too_large = product.terms().enumerate().any(|(i, (m, _))| i >= MAX_TERMS || m.len() > MAX_DEGREE);
            if too_large {
                return Err(c.error_from(start, format!("a product of more than {MAX_TERMS} terms or {MAX_DEGREE} factors")));
            }
        }
        if !c.eat("*") {
            let k = i64::try_from(coefficient).map_err(|_| c.error_from(start, "the number does not fit 64 bits"))?;
            return Ok(product.scale(k));
        }
    }
}

fn factor(c: &mut Cursor, resolve: &Resolve, depth: usize) -> Result<Expr> {
    if depth >= MAX_NESTING {
        return Err(c.error(format!("an expression nested deeper than {MAX_NESTING} levels")));
    }
    if c.eat("(") {
        let e = sum(c, resolve, depth + 1)?;
        c.expect(")")?;
        return Ok(e);
    }
    let at = c.position();
    let name = c.ident("a number, a size or an index")?;
    if !c.at_punct("(") {
        return resolve(name).map(Expr::atom).ok_or_else(|| c.error_from(at, format!("unknown size or index `{name}`")));
    }
    if !matches!(name, "floordiv" | "mod" | "min" | "max") {
        return Err(c.error_from(at, format!("unknown function `{name}`: floordiv, mod, min and max are known")));
    }
    c.expect("(")?;
    let x = sum(c, resolve, depth + 1)?;
    c.expect(",")?;
    let y = sum(c, resolve, depth + 1)?;
    c.expect(")")?;
    if matches!(name, "floordiv" | "mod") && y.as_const().is_some_and(|d| d < 1) {
        return Err(c.error_from(at, format!("the divisor {y} is not positive")));
    }
    Ok(match (name, x.as_const(), y.as_const()) {
        ("floordiv", Some(a), Some(b)) => Expr::Const(a.div_euclid(b)),
        ("mod", Some(a), Some(b)) => Expr::Const(a.rem_euclid(b)),
        ("min", Some(a), Some(b)) => Expr::Const(a.min(b)),
        ("max", Some(a), Some(b)) => Expr::Const(a.max(b)),
        ("floordiv", ..) => Expr::atom(Atom::FloorDiv(x, y)),
        ("mod", ..) => Expr::atom(Atom::Mod(x, y)),
        ("min", ..) => Expr::atom(Atom::Min(x, y)),
        _ => Expr::atom(Atom::Max(x, y)),
    })
}
