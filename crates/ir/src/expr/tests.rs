//! Simplification, bounds and questions of [`Expr`].

use super::*;

struct Two;
impl Ranges for Two {
    fn sym_range(&self, _: Sym) -> (i64, i64) {
        (2, 1 << 20)
    }
    fn extent(&self, a: AxisId) -> Option<Expr> {
        Some(if a.0 == 0 { Expr::sym(Sym(0)) } else { Expr::Const(64) })
    }
}

#[test]
fn row_major_round_trip_simplifies() {
    let (i, j) = (Expr::axis(AxisId(0)), Expr::axis(AxisId(1)));
    let flat = i.scale(64).add(&j);
    assert_eq!(flat.floordiv(&Expr::Const(64), &Two), i);
    assert_eq!(flat.modulo(&Expr::Const(64), &Two), j);
    // Symbolic divisor: (j*B + i) / B = j for i < B.
    let b = Expr::sym(Sym(0));
    let flat = j.mul(&b).add(&i);
    assert_eq!(flat.floordiv(&b, &Two), j);
    assert_eq!(flat.modulo(&b, &Two), i);
}

#[test]
fn parts_of_a_number_make_it_up_again() {
    let x = Expr::axis(AxisId(0));
    let (seven, n) = (Expr::Const(7), Expr::Const(49));
    let (low, middle, high) = (x.modulo(&seven, &Two), x.floordiv(&seven, &Two).modulo(&seven, &Two), x.floordiv(&n, &Two));
    let flat = high.scale(49).add(&middle.scale(7)).add(&low);
    assert_eq!(flat.recombined(&Two), x);
    assert_eq!(middle.scale(7).add(&low).scale(3).recombined(&Two), x.modulo(&n, &Two).scale(3));
    // In another order they do not.
    let other = high.scale(49).add(&low.scale(7)).add(&middle);
    assert_eq!(other.recombined(&Two), other);
    // A common factor stays.
    let b = Expr::sym(Sym(0));
    assert_eq!(flat.mul(&b).recombined(&Two), x.mul(&b));
}

#[test]
fn polynomials_are_canonical() {
    let (b, t) = (Expr::sym(Sym(0)), Expr::sym(Sym(1)));
    assert_eq!(b.mul(&t).add(&Expr::ONE).sub(&Expr::ONE), t.mul(&b));
    assert_eq!(b.mul(&t).exact_div(&t), Some(b.clone()));
    assert_eq!(b.add(&t).exact_div(&t), None);
}
