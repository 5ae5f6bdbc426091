//! Symbolic integer expressions: the sizes of tensors and the indices into buffers.
//!
//! An [`Expr`] is a polynomial with integer coefficients over atoms (size symbols, loop axes, values computed in a
//! loop body, and the non-linear `floordiv`, `mod`, `min`, `max`). The normal form makes equality of polynomials
//! structural equality, which is what shape rules, common subexpressions and fusion all rely on.

use crate::order::Order;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A size symbol of a [`crate::shape::ShapeEnv`], such as the batch `B`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Sym(pub u32);

/// A loop axis; its extent is kept by the nest (or the table of axes) that declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AxisId(pub u32);

/// What a polynomial is over.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    Sym(Sym),
    Axis(AxisId),
    /// An integer computed by operation `0` of the loop body that holds the expression (an index loaded from memory).
    Value(u32),
    /// Floor of the quotient; the divisor is positive.
    FloorDiv(Expr, Expr),
    /// Remainder with the sign of the divisor, which is positive.
    Mod(Expr, Expr),
    Min(Expr, Expr),
    Max(Expr, Expr),
}

/// A product of atoms, sorted, with repetition for powers. Empty is the constant one.
type Mono = Vec<Atom>;

/// A symbolic integer. A tensor's dimension is an `Expr` over [`Sym`]s alone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expr {
    Const(i64),
    /// At least one non-constant term; sorted by monomial; no zero coefficient.
    Poly(Arc<Vec<(Mono, i64)>>),
}

/// The name under which shapes use [`Expr`].
pub type Dim = Expr;

/// What is known of atoms: inclusive bounds, used to simplify divisions and to prove guards.
pub trait Ranges {
    /// Inclusive bounds of a size symbol.
    fn sym_range(&self, sym: Sym) -> (i64, i64);
    /// The extent of an axis: it runs from 0 to the extent less one.
    fn extent(&self, axis: AxisId) -> Option<Expr>;
}

/// Knows nothing but that sizes are at least zero.
pub struct NoRanges;

impl Ranges for NoRanges {
    fn sym_range(&self, _: Sym) -> (i64, i64) {
        (0, i64::MAX)
    }
    fn extent(&self, _: AxisId) -> Option<Expr> {
        None
    }
}

impl From<i64> for Expr {
    fn from(v: i64) -> Self {
        Expr::Const(v)
    }
}

impl From<usize> for Expr {
    fn from(v: usize) -> Self {
        Expr::Const(v as i64)
    }
}

impl Expr {
    pub const ZERO: Expr = Expr::Const(0);
    pub const ONE: Expr = Expr::Const(1);

    pub fn sym(s: Sym) -> Self {
        Self::atom(Atom::Sym(s))
    }

    pub fn axis(a: AxisId) -> Self {
        Self::atom(Atom::Axis(a))
    }

    pub fn value(v: u32) -> Self {
        Self::atom(Atom::Value(v))
    }

    pub fn atom(a: Atom) -> Self {
        Expr::Poly(Arc::new(vec![(vec![a], 1)]))
    }

    fn from_map(map: BTreeMap<Mono, i64>) -> Self {
        let terms: Vec<_> = map.into_iter().filter(|(_, c)| *c != 0).collect();
        match terms.as_slice() {
            [] => Expr::Const(0),
            [(m, c)] if m.is_empty() => Expr::Const(*c),
            _ => Expr::Poly(Arc::new(terms)),
        }
    }

    fn map(&self) -> BTreeMap<Mono, i64> {
        self.terms().map(|(m, c)| (m.to_vec(), c)).collect()
    }

    /// The terms: monomial and coefficient; zero has none.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        let (constant, poly) = match self {
            Expr::Const(0) => (None, &[][..]),
            Expr::Const(c) => (Some((&[][..], *c)), &[][..]),
            Expr::Poly(p) => (None, p.as_slice()),
        };
        constant.into_iter().chain(poly.iter().map(|(m, c)| (m.as_slice(), *c)))
    }

    pub fn as_const(&self) -> Option<i64> {
        match self {
            Expr::Const(c) => Some(*c),
            Expr::Poly(_) => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Expr::Const(0))
    }

    pub fn is_one(&self) -> bool {
        matches!(self, Expr::Const(1))
    }

    /// The atom, where the expression is exactly one.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self {
            Expr::Poly(p) => match p.as_slice() {
                [(m, 1)] if m.len() == 1 => m.first(),
                _ => None,
            },
            Expr::Const(_) => None,
        }
    }

    pub fn as_axis(&self) -> Option<AxisId> {
        match self.as_atom() {
            Some(Atom::Axis(a)) => Some(*a),
            _ => None,
        }
    }

    pub fn as_sym(&self) -> Option<Sym> {
        match self.as_atom() {
            Some(Atom::Sym(s)) => Some(*s),
            _ => None,
        }
    }

    pub fn add(&self, other: &Expr) -> Expr {
        match (self, other) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.saturating_add(*b)),
            (Expr::Const(0), e) | (e, Expr::Const(0)) => e.clone(),
            _ => {
                let mut map = self.map();
                for (m, c) in other.terms() {
                    let slot = map.entry(m.to_vec()).or_insert(0);
                    *slot = slot.saturating_add(c);
                }
                Self::from_map(map)
            }
        }
    }

    pub fn neg(&self) -> Expr {
        self.scale(-1)
    }

    pub fn scale(&self, k: i64) -> Expr {
        match self {
            Expr::Const(c) => Expr::Const(c.saturating_mul(k)),
            _ if k == 0 => Expr::ZERO,
            _ if k == 1 => self.clone(),
            Expr::Poly(p) => Expr::Poly(Arc::new(p.iter().map(|(m, c)| (m.clone(), c.saturating_mul(k))).collect())),
        }
    }

    pub fn sub(&self, other: &Expr) -> Expr {
        self.add(&other.neg())
    }

    pub fn mul(&self, other: &Expr) -> Expr {
        match (self, other) {
            (Expr::Const(a), e) | (e, Expr::Const(a)) => e.scale(*a),
            _ => {
                let mut map: BTreeMap<Mono, i64> = BTreeMap::new();
                for (ma, ca) in self.terms() {
                    for (mb, cb) in other.terms() {
                        let mut m = [ma, mb].concat();
                        m.order();
                        let slot = map.entry(m).or_insert(0);
                        *slot = slot.saturating_add(ca.saturating_mul(cb));
                    }
                }
                Self::from_map(map)
            }
        }
    }

    pub fn product<'a>(dims: impl IntoIterator<Item = &'a Expr>) -> Expr {
        dims.into_iter().fold(Expr::ONE, |acc, d| acc.mul(d))
    }

    /// The quotient when `divisor` divides every term exactly (a constant or a single monomial), else `None`.
    pub fn exact_div(&self, divisor: &Expr) -> Option<Expr> {
        if let (Expr::Const(a), Expr::Const(b)) = (self, divisor) {
            return (*b != 0 && a % b == 0).then(|| Expr::Const(a / b));
        }
        if self == divisor {
            return Some(Expr::ONE);
        }
        let mut terms = divisor.terms();
        let (dm, dc) = terms.next()?;
        if terms.next().is_some() {
            return None;
        }
        let mut map = BTreeMap::new();
        for (m, c) in self.terms() {
            if c % dc != 0 {
                return None;
            }
            let mut rest = m.to_vec();
            for a in dm {
                rest.remove(rest.iter().position(|x| x == a)?);
            }
            map.insert(rest, c / dc);
        }
        Some(Self::from_map(map))
    }

    /// Floor division by a positive divisor, simplified with what `ranges` knows.
    pub fn floordiv(&self, divisor: &Expr, ranges: &dyn Ranges) -> Expr {
        if divisor.is_one() {
            return self.clone();
        }
        if let (Expr::Const(a), Expr::Const(b)) = (self, divisor)
            && *b > 0
        {
            return Expr::Const(a.div_euclid(*b));
        }
        let (quotient, rest) = self.split(divisor);
        if rest.is_zero() {
            return quotient;
        }
        if rest.within(divisor, ranges) {
            return quotient;
        }
        // floor((q*d + floor(x/c) ...)) stays; floor(floor(x/a)/b) is floor(x/(a*b)).
        if let (true, Some(Atom::FloorDiv(inner, a))) = (quotient.is_zero(), rest.as_atom()) {
            return inner.floordiv(&a.mul(divisor), ranges);
        }
        quotient.add(&Expr::atom(Atom::FloorDiv(rest, divisor.clone())))
    }

    /// Remainder by a positive divisor, simplified with what `ranges` knows.
    pub fn modulo(&self, divisor: &Expr, ranges: &dyn Ranges) -> Expr {
        if divisor.is_one() {
            return Expr::ZERO;
        }
        if let (Expr::Const(a), Expr::Const(b)) = (self, divisor)
            && *b > 0
        {
            return Expr::Const(a.rem_euclid(*b));
        }
        let (_, rest) = self.split(divisor);
        if rest.is_zero() || rest.within(divisor, ranges) {
            return rest;
        }
        // (x mod (d*k)) mod d is x mod d.
        if let Some(Atom::Mod(inner, d)) = rest.as_atom()
            && d.exact_div(divisor).is_some()
        {
            return inner.modulo(divisor, ranges);
        }
        Expr::atom(Atom::Mod(rest, divisor.clone()))
    }

    /// With quotients and remainders of one number put together again where they make it up: `d * floordiv(x, d) + mod(x, d)` is
    /// `x`, and `d * mod(floordiv(x, d), e) + mod(x, d)` is `mod(x, d * e)`. The offset of an element that was found by taking a number
    /// apart is such a sum.
    pub fn recombined(&self, ranges: &dyn Ranges) -> Expr {
        let mut e = self.clone();
        while let Some(simpler) = e.recombined_once(ranges) {
            e = simpler;
        }
        e
    }

    fn recombined_once(&self, ranges: &dyn Ranges) -> Option<Expr> {
        let terms: Vec<(&[Atom], i64)> = self.terms().collect();
        for (low, c) in &terms {
            for (i, atom) in low.iter().enumerate() {
                let Atom::Mod(x, d) = atom else { continue };
                let Some(d_value) = d.as_const() else { continue };
                let whole = |high: &Atom| match high {
                    Atom::FloorDiv(y, by) if y == x && by == d => Some(x.clone()),
                    Atom::Mod(y, e) => match y.as_atom() {
                        Some(Atom::FloorDiv(y, by)) if y == x && by == d => Some(x.modulo(&d.mul(e), ranges)),
                        _ => None,
                    },
                    _ => None,
                };
                let others = |m: &[Atom], at: usize| -> Vec<Atom> { [&m[..at], &m[at + 1..]].concat() };
                for (high, b) in &terms {
                    let Some((j, whole)) = high.iter().enumerate().find_map(|(j, a)| Some((j, whole(a)?))) else { continue };
                    if c.checked_mul(d_value) != Some(*b) || others(low, i) != others(high, j) {
                        continue;
                    }
                    let term = |m: &[Atom], c: i64| Self::from_map(BTreeMap::from([(m.to_vec(), c)]));
                    let rest = self.sub(&term(low, *c)).sub(&term(high, *b));
                    return Some(rest.add(&term(&others(low, i), *c).mul(&whole)));
                }
            }
        }
        None
    }

    pub fn minimum(&self, other: &Expr, ranges: &dyn Ranges) -> Expr {
        match self.sub(other).bounds(ranges) {
            (_, Some(hi)) if hi <= 0 => self.clone(),
            (Some(lo), _) if lo >= 0 => other.clone(),
            _ => Expr::atom(Atom::Min(self.clone().min_of(other), self.clone().max_of(other))),
        }
    }

    pub fn maximum(&self, other: &Expr, ranges: &dyn Ranges) -> Expr {
        match self.sub(other).bounds(ranges) {
            (_, Some(hi)) if hi <= 0 => other.clone(),
            (Some(lo), _) if lo >= 0 => self.clone(),
            _ => Expr::atom(Atom::Max(self.clone().min_of(other), self.clone().max_of(other))),
        }
    }

    // The structurally smaller and larger of two: puts commutative operands in one order.
    fn min_of(self, other: &Expr) -> Expr {
        std::cmp::min(self, other.clone())
    }

    fn max_of(self, other: &Expr) -> Expr {
        std::cmp::max(self, other.clone())
    }

    /// `self = quotient * divisor + rest`, term by term; constants are split with a non-negative rest.
    fn split(&self, divisor: &Expr) -> (Expr, Expr) {
        let (mut quotient, mut rest) = (Expr::ZERO, Expr::ZERO);
        for (m, c) in self.terms() {
            let term = Self::from_map(BTreeMap::from([(m.to_vec(), c)]));
            match (divisor, term.exact_div(divisor)) {
                (_, Some(q)) => quotient = quotient.add(&q),
                (Expr::Const(d), None) if m.is_empty() && *d > 0 => {
                    quotient = quotient.add(&Expr::Const(c.div_euclid(*d)));
                    rest = rest.add(&Expr::Const(c.rem_euclid(*d)));
                }
                (Expr::Const(d), None) if *d > 0 && c.abs() >= *d => {
                    // c*m = (c/d)*d*m + (c%d)*m with a non-negative remainder coefficient.
                    let one = Self::from_map(BTreeMap::from([(m.to_vec(), 1)]));
                    quotient = quotient.add(&one.scale(c.div_euclid(*d)));
                    rest = rest.add(&one.scale(c.rem_euclid(*d)));
                }
                _ => rest = rest.add(&term),
            }
        }
        (quotient, rest)
    }

    /// Whether `0 <= self < bound` is provable.
    pub fn within(&self, bound: &Expr, ranges: &dyn Ranges) -> bool {
        let (Some(lo), _) = self.bounds(ranges) else { return false };
        lo >= 0 && {
            let slack = bound.sub(&Expr::ONE).sub(&self.upper(ranges));
            matches!(slack.bounds(ranges), (Some(s), _) if s >= 0)
        }
    }

    /// An upper bound as an expression over size symbols: each axis with a positive coefficient is put at its last
    /// value, with a negative one at zero. Terms that are not linear in axes keep their numeric bounds.
    pub fn upper(&self, ranges: &dyn Ranges) -> Expr {
        self.extreme(ranges, true)
    }

    fn extreme(&self, ranges: &dyn Ranges, upper: bool) -> Expr {
        let mut out = Expr::ZERO;
        for (m, c) in self.terms() {
            let high = (c > 0) == upper;
            let mut factor = Expr::Const(c);
            for a in m {
                factor = factor.mul(&match a {
                    Atom::Axis(x) => match (high, ranges.extent(*x)) {
                        (true, Some(e)) => e.sub(&Expr::ONE),
                        (false, Some(_)) => Expr::ZERO,
                        (_, None) => Expr::atom(a.clone()),
                    },
                    Atom::Mod(_, d) => {
                        if high {
                            d.sub(&Expr::ONE)
                        } else {
                            Expr::ZERO
                        }
                    }
                    Atom::FloorDiv(x, Expr::Const(d)) => {
                        let inner = x.extreme(ranges, high);
                        inner.floordiv(&Expr::Const(*d), ranges)
                    }
                    _ => Expr::atom(a.clone()),
                });
            }
            out = out.add(&factor);
        }
        out
    }

    /// Inclusive numeric bounds; `None` where unbounded.
    pub fn bounds(&self, ranges: &dyn Ranges) -> (Option<i64>, Option<i64>) {
        let (mut lo, mut hi) = (Some(0i64), Some(0i64));
        for (m, c) in self.terms() {
            let (mut l, mut h) = (Some(1i64), Some(1i64));
            for a in m {
                let (al, ah) = atom_bounds(a, ranges);
                // Products of non-negative intervals multiply; anything else is only bounded when all four are.
                (l, h) = match (l, h, al, ah) {
                    (Some(l), h, Some(al), ah) if l >= 0 && al >= 0 => (l.checked_mul(al), h.zip(ah).and_then(|(x, y)| x.checked_mul(y))),
                    (Some(l), Some(h), Some(al), Some(ah)) => {
                        let p = [l.checked_mul(al), l.checked_mul(ah), h.checked_mul(al), h.checked_mul(ah)];
                        if p.iter().all(Option::is_some) {
                            (p.iter().copied().flatten().min(), p.iter().copied().flatten().max())
                        } else {
                            (None, None)
                        }
                    }
                    _ => (None, None),
                };
            }
            let scaled = |v: Option<i64>| v.and_then(|v| v.checked_mul(c));
            let (tl, th) = if c >= 0 { (scaled(l), scaled(h)) } else { (scaled(h), scaled(l)) };
            lo = lo.zip(tl).and_then(|(a, b)| a.checked_add(b));
            hi = hi.zip(th).and_then(|(a, b)| a.checked_add(b));
        }
        (lo, hi)
    }

    /// Replaces atoms bottom-up; divisions are simplified again with `ranges`.
    pub fn subst(&self, ranges: &dyn Ranges, f: &mut dyn FnMut(&Atom) -> Option<Expr>) -> Expr {
        let Expr::Poly(p) = self else { return self.clone() };
        let mut out = Expr::ZERO;
        for (m, c) in p.iter() {
            let mut term = Expr::Const(*c);
            for a in m {
                let replaced = match f(a) {
                    Some(e) => e,
                    None => match a {
                        Atom::FloorDiv(x, y) => x.subst(ranges, f).floordiv(&y.subst(ranges, f), ranges),
                        Atom::Mod(x, y) => x.subst(ranges, f).modulo(&y.subst(ranges, f), ranges),
                        Atom::Min(x, y) => x.subst(ranges, f).minimum(&y.subst(ranges, f), ranges),
                        Atom::Max(x, y) => x.subst(ranges, f).maximum(&y.subst(ranges, f), ranges),
                        _ => Expr::atom(a.clone()),
                    },
                };
                term = term.mul(&replaced);
            }
            out = out.add(&term);
        }
        out
    }

    /// Visits every atom, inside divisions too.
    pub fn visit(&self, f: &mut dyn FnMut(&Atom)) {
        if let Expr::Poly(p) = self {
            for (m, _) in p.iter() {
                for a in m {
                    f(a);
                    if let Atom::FloorDiv(x, y) | Atom::Mod(x, y) | Atom::Min(x, y) | Atom::Max(x, y) = a {
                        x.visit(f);
                        y.visit(f);
                    }
                }
            }
        }
    }

    /// Whether the axis occurs anywhere.
    pub fn uses_axis(&self, axis: AxisId) -> bool {
        let mut found = false;
        self.visit(&mut |a| found |= *a == Atom::Axis(axis));
        found
    }

    pub fn axes(&self) -> Vec<AxisId> {
        let mut out = Vec::new();
        self.visit(&mut |a| {
            if let Atom::Axis(x) = a
                && !out.contains(x)
            {
                out.push(*x);
            }
        });
        out
    }

    pub fn syms(&self) -> Vec<Sym> {
        let mut out = Vec::new();
        self.visit(&mut |a| {
            if let Atom::Sym(x) = a
                && !out.contains(x)
            {
                out.push(*x);
            }
        });
        out
    }

    /// The coefficient of an axis where the expression is linear in it and the rest does not use it.
    pub fn coefficient(&self, axis: AxisId) -> Option<Expr> {
        let mut out = Expr::ZERO;
        for (m, c) in self.terms() {
            let count = m.iter().filter(|a| **a == Atom::Axis(axis)).count();
            let nested = m.iter().any(|a| {
                matches!(a, Atom::FloorDiv(..) | Atom::Mod(..) | Atom::Min(..) | Atom::Max(..)) && Expr::atom(a.clone()).uses_axis(axis)
            });
            match (count, nested) {
                (_, true) => return None,
                (0, _) => {}
                (1, _) => {
                    let rest: Mono = m.iter().filter(|a| **a != Atom::Axis(axis)).cloned().collect();
                    out = out.add(&Self::from_map(BTreeMap::from([(rest, c)])));
                }
                _ => return None,
            }
        }
        Some(out)
    }

    /// The value under an assignment of atoms; `None` where an atom is unknown, a divisor is not positive or the
    /// arithmetic overflows.
    pub fn eval(&self, f: &dyn Fn(&Atom) -> Option<i64>) -> Option<i64> {
        let mut sum = 0i64;
        for (m, c) in self.terms() {
            let mut product = c;
            for a in m {
                let v = match a {
                    Atom::FloorDiv(x, y) => {
                        let d = y.eval(f)?;
                        (d > 0).then(|| x.eval(f).map(|n| n.div_euclid(d)))??
                    }
                    Atom::Mod(x, y) => {
                        let d = y.eval(f)?;
                        (d > 0).then(|| x.eval(f).map(|n| n.rem_euclid(d)))??
                    }
                    Atom::Min(x, y) => x.eval(f)?.min(y.eval(f)?),
                    Atom::Max(x, y) => x.eval(f)?.max(y.eval(f)?),
                    a => f(a)?,
                };
                product = product.checked_mul(v)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }
}

fn atom_bounds(a: &Atom, ranges: &dyn Ranges) -> (Option<i64>, Option<i64>) {
    let positive_div = |v: Option<i64>, d: Option<i64>| v.zip(d).filter(|(_, d)| *d > 0).map(|(v, d)| v.div_euclid(d));
    match a {
        Atom::Sym(s) => {
            let (lo, hi) = ranges.sym_range(*s);
            (Some(lo), (hi != i64::MAX).then_some(hi))
        }
        Atom::Axis(x) => match ranges.extent(*x) {
            Some(e) => (Some(0), e.bounds(ranges).1.map(|h| (h - 1).max(0))),
            None => (Some(0), None),
        },
        Atom::Value(_) => (None, None),
        Atom::FloorDiv(x, y) => {
            let (lo, hi) = x.bounds(ranges);
            let (dlo, dhi) = y.bounds(ranges);
            (
                match lo {
                    Some(l) if l >= 0 => positive_div(lo, dhi).or(Some(0)),
                    _ => positive_div(lo, dlo),
                },
                positive_div(hi, dlo),
            )
        }
        Atom::Mod(x, y) => {
            let hi = y.bounds(ranges).1.map(|h| h - 1);
            let xhi = match x.bounds(ranges) {
                (Some(l), Some(h)) if l >= 0 => Some(h),
                _ => None,
            };
            (Some(0), [hi, xhi].into_iter().flatten().min())
        }
        Atom::Min(x, y) => {
            let ((a, b), (c, d)) = (x.bounds(ranges), y.bounds(ranges));
            (a.zip(c).map(|(a, c)| a.min(c)), [b, d].into_iter().flatten().min())
        }
        Atom::Max(x, y) => {
            let ((a, b), (c, d)) = (x.bounds(ranges), y.bounds(ranges));
            ([a, c].into_iter().flatten().max(), b.zip(d).map(|(b, d)| b.max(d)))
        }
    }
}

/// How atoms are named in text; `None` uses `s3`, `i4`, `v5`.
pub type AtomName<'a> = dyn Fn(&Atom) -> Option<String> + 'a;

/// Writes an expression in the text format: `2*B + i*64 + floordiv(j, 4)`.
pub fn write_expr(e: &Expr, name: &AtomName, out: &mut String) {
    let mut first = true;
    // Constants read best last.
    let mut terms: Vec<_> = e.terms().collect();
    terms.order_by_key(|(m, _)| m.is_empty());
    if terms.is_empty() {
        out.push('0');
    }
    for (m, c) in terms {
        let magnitude = c.unsigned_abs();
        match (first, c < 0) {
            (true, true) => out.push('-'),
            (true, false) => {}
            (false, true) => out.push_str(" - "),
            (false, false) => out.push_str(" + "),
        }
        first = false;
        let mut factors = Vec::new();
        if magnitude != 1 || m.is_empty() {
            factors.push(magnitude.to_string());
        }
        for a in m {
            let call = |f: &str, x: &Expr, y: &Expr| {
                let mut s = format!("{f}(");
                write_expr(x, name, &mut s);
                s.push_str(", ");
                write_expr(y, name, &mut s);
                s + ")"
            };
            factors.push(match a {
                Atom::FloorDiv(x, y) => call("floordiv", x, y),
                Atom::Mod(x, y) => call("mod", x, y),
                Atom::Min(x, y) => call("min", x, y),
                Atom::Max(x, y) => call("max", x, y),
                a => name(a).unwrap_or_else(|| match a {
                    Atom::Sym(s) => format!("s{}", s.0),
                    Atom::Axis(x) => format!("i{}", x.0),
                    Atom::Value(v) => format!("v{v}"),
                    _ => unreachable!("compound atoms are written above"),
                }),
            });
        }
        out.push_str(&factors.join("*"));
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut s = String::new();
        write_expr(self, &|_| None, &mut s);
        f.write_str(&s)
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
