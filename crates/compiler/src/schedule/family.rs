//! Nests of one program that are equal but for a size or two, as the steps of a packed sequence are, each of as many rows as still go on, or
//! those of a sequence that grows: they are scheduled once, with symbols for the sizes, and run by one kernel. A C compiler takes longer for
//! a text than many steps take to run.

use super::Scheduled;
use super::equal::Canonical;
use aludel_ir::DType;
use aludel_ir::dtype::Literal;
use aludel_ir::expr::{Atom, AxisId, Expr, NoRanges, Sym};
use aludel_ir::loops::{Buffer, BufferId, LoopOp, LoopProgram, Nest, Store};
use aludel_ir::order::Order;
use rustc_hash::FxHashMap;

/// Fewer nests keep their sizes: they are the layers of a network, and a size that is known makes a faster kernel.
const MANY: usize = 8;
/// So do nests that differ in more sizes, which layers do, and reductions that differ in more than one.
const MAX_SIZES: usize = 2;

/// The families of a program.
#[derive(Default)]
pub(super) struct Families {
    /// Of each form that belongs to one: which, and its sizes.
    members: FxHashMap<Canonical, (usize, Vec<i64>)>,
    list: Vec<Family>,
}

struct Family {
    /// What its members are, with [`size`] for each size.
    form: Canonical,
    hints: Vec<i64>,
    /// Its kernel, once it was asked for, with the sizes' symbols and the buffers.
    made: Option<(Scheduled, Vec<Sym>, Vec<BufferId>)>,
}

/// A size in a family's form, before it is a symbol of a program.
fn size(k: usize) -> Sym {
    Sym(u32::MAX - k as u32)
}

impl Families {
    pub fn of<'a>(forms: impl Iterator<Item = &'a Canonical>) -> Families {
        let mut places: FxHashMap<Canonical, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<(&Canonical, Vec<i64>)>> = Vec::new();
        for form in forms {
            let mut numbers = Vec::new();
            let bare = with_numbers(form, &mut |n| {
                numbers.push(n);
                // Each number is another atom: forms of the same atoms have the same structure.
                Expr::value(u32::MAX - numbers.len() as u32)
            });
            let place = *places.entry(bare).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            let group = &mut groups[place];
            if !group.iter().any(|(_, known)| *known == numbers) {
                group.push((form, numbers));
            }
        }
        let mut families = Families::default();
        for group in groups.into_iter().filter(|g| g.len() >= MANY) {
            let numbers: Vec<&[i64]> = group.iter().map(|(_, n)| n.as_slice()).collect();
            let reduces = group[0].0.ops.iter().any(|(op, _)| matches!(op, LoopOp::Reduce { .. }));
            let Some((sizes, pattern)) = unify(&numbers, if reduces { 1 } else { MAX_SIZES }) else { continue };
            let mut places = pattern.iter();
            let form = with_numbers(group[0].0, &mut |n| places.next().cloned().unwrap_or(Expr::Const(n)));
            let number = families.list.len();
            let own = |numbers: &[i64]| sizes.iter().map(|at| numbers[*at]).collect::<Vec<i64>>();
            families.members.extend(group.iter().map(|(member, numbers)| ((*member).clone(), (number, own(numbers)))));
            let hints = sizes.iter().map(|at| numbers.iter().map(|n| n[*at]).max().unwrap_or_default()).collect();
            families.list.push(Family { form, hints, made: None });
        }
        families
    }

    /// The kernel of a form's family with the form's own sizes, and the family's buffers; none where it belongs to none. `write` schedules a
    /// nest.
    pub fn scheduled(
        &mut self,
        table: &mut LoopProgram,
        form: &Canonical,
        write: impl FnOnce(&mut LoopProgram, &Nest) -> aludel_ir::Result<Scheduled>,
    ) -> Option<aludel_ir::Result<(Scheduled, Vec<BufferId>)>> {
        let (number, sizes) = self.members.get(form)?;
        let family = self.list.get_mut(*number)?;
        if family.made.is_none() {
            let mut symbol = |hint: &i64| table.env.symbol("n", *hint, "a size that varies among the nests of a program");
            let symbols: Vec<Sym> = family.hints.iter().map(&mut symbol).collect();
            let (nest, buffers) = nest(table, &family.form, &symbols);
            match write(table, &nest) {
                Ok(scheduled) => family.made = Some((scheduled, symbols, buffers)),
                Err(e) => return Some(Err(e)),
            }
        }
        let (scheduled, symbols, buffers) = family.made.as_ref()?;
        let own = |e: &Expr| with_sizes(e, |s| symbols.iter().position(|x| *x == s).map(|k| Expr::Const(sizes[k])));
        let mut scheduled = scheduled.clone();
        scheduled.sizes.iter_mut().for_each(|e| *e = own(e));
        scheduled.grid = scheduled.grid.with(own);
        Some(Ok((scheduled, buffers.clone())))
    }
}

fn with_sizes(e: &Expr, of: impl Fn(Sym) -> Option<Expr>) -> Expr {
    e.subst(&NoRanges, &mut |a| if let Atom::Sym(s) = a { of(*s) } else { None })
}

/// The sizes that tell members apart, by their places, and every number as an expression of them: a polynomial of the second degree of one at
/// most, as a product of two extents may be, and another size, added or taken away.
fn unify(members: &[&[i64]], most: usize) -> Option<(Vec<usize>, Vec<Expr>)> {
    let first = members.first()?;
    let column = |at: usize| -> Vec<i64> { members.iter().map(|m| m[at]).collect() };
    let columns: Vec<Vec<i64>> = (0..first.len()).map(column).collect();
    // Small ones first: others are multiples of them.
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.order_by_key(|at| columns[*at].iter().sum::<i64>());
    let mut sizes: Vec<usize> = Vec::new();
    let expression = |sizes: &[usize], at: usize| -> Option<Expr> {
        let v = &columns[at];
        if v.iter().all(|n| *n == v[0]) {
            return Some(Expr::Const(v[0]));
        }
        (0..sizes.len()).find_map(|k| {
            let others = (0..sizes.len()).filter(|j| *j != k).flat_map(|j| [(j, 1), (j, -1)]);
            std::iter::once(None).chain(others.map(Some)).find_map(|other| {
                let rest = |i: usize| v[i] - other.map_or(0, |(j, c): (usize, i64)| c * columns[sizes[j]][i]);
                let points: Vec<(i64, i64)> = (0..v.len()).map(|i| (columns[sizes[k]][i], rest(i))).collect();
                let added = other.map_or(Expr::ZERO, |(j, c)| Expr::sym(size(j)).scale(c));
                Some(fit(&points, &Expr::sym(size(k)))?.add(&added))
            })
        })
    };
    for at in order {
        if expression(&sizes, at).is_none() {
            // Sizes of 0 and 1 broadcast and vanish.
            if sizes.len() == most || columns[at].iter().any(|n| *n < 2) {
                return None;
            }
            sizes.push(at);
        }
    }
    let all = (0..first.len()).map(|at| expression(&sizes, at)).collect::<Option<Vec<_>>>()?;
    Some((sizes, all))
}

/// The polynomial that has these values at these places.
fn fit(points: &[(i64, i64)], x: &Expr) -> Option<Expr> {
    let mut known: Vec<(i64, i64)> = points.to_vec();
    known.order();
    known.dedup();
    let slope = |(xa, ya): (i64, i64), (xb, yb): (i64, i64)| exact(ya.checked_sub(yb)?, xa - xb);
    let from = |x0: i64| x.sub(&Expr::Const(x0));
    // Divided differences (Newton's interpolation): y0 + a (x - x0) + c (x - x0) (x - x1).
    let e = match *known.as_slice() {
        [p0, p1] => Expr::Const(p0.1).add(&from(p0.0).scale(slope(p1, p0)?)),
        [p0, p1, p2, ..] => {
            let (a, b) = (slope(p1, p0)?, slope(p2, p1)?);
            let c = exact(b.checked_sub(a)?, p2.0 - p0.0)?;
            Expr::Const(p0.1).add(&from(p0.0).scale(a)).add(&from(p0.0).mul(&from(p1.0)).scale(c))
        }
        _ => return None,
    };
    let at = |n: i64| e.eval(&|_| Some(n));
    known.iter().all(|(x, y)| at(*x) == Some(*y)).then_some(e)
}

fn exact(a: i64, b: i64) -> Option<i64> {
    (a.checked_rem(b)? == 0).then(|| a / b)
}

/// A form with every number as `f` says, which is given them in order.
fn with_numbers(form: &Canonical, f: &mut dyn FnMut(i64) -> Expr) -> Canonical {
    let mut all = |list: &[Expr]| -> Vec<Expr> { list.iter().map(|e| expression(e, f)).collect() };
    let extents = all(&form.extents);
    let buffers = form.buffers.iter().map(|(dtype, shape, kind)| (*dtype, all(shape), *kind)).collect();
    let stores = form.stores.iter().map(|s| Store { index: all(&s.index), ..s.clone() }).collect();
    let mut op = |op: &LoopOp, dtype: DType| match op {
        LoopOp::Load { buffer, index, mask } => LoopOp::Load { buffer: *buffer, index: all(index), mask: *mask },
        LoopOp::Index(e) => LoopOp::Index(all(std::slice::from_ref(e)).remove(0)),
        // What an index is compared with.
        LoopOp::Const(n) if dtype == DType::I32 => match all(&[Expr::Const(n.value() as i64)]).remove(0) {
            Expr::Const(n) => LoopOp::Const(Literal::new(n as f64, dtype)),
            e => LoopOp::Index(e),
        },
        other => other.clone(),
    };
    let ops = form.ops.iter().map(|(o, dtype)| (op(o, *dtype), *dtype)).collect();
    Canonical { extents, ops, stores, buffers, ..*form }
}

fn expression(e: &Expr, f: &mut dyn FnMut(i64) -> Expr) -> Expr {
    if let Expr::Const(c) = e {
        return f(*c);
    }
    let mut sum = Expr::ZERO;
    for (atoms, c) in e.terms() {
        let mut term = f(c);
        for a in atoms {
            // Put together as they are: what simplifies for one size does not for another.
            term = term.mul(&match a {
                Atom::FloorDiv(x, y) => Expr::atom(Atom::FloorDiv(expression(x, f), expression(y, f))),
                Atom::Mod(x, y) => Expr::atom(Atom::Mod(expression(x, f), expression(y, f))),
                Atom::Min(x, y) => Expr::atom(Atom::Min(expression(x, f), expression(y, f))),
                Atom::Max(x, y) => Expr::atom(Atom::Max(expression(x, f), expression(y, f))),
                other => Expr::atom(other.clone()),
            });
        }
        sum = sum.add(&term);
    }
    sum
}

/// A family's form as a nest of the table, with axes and buffers of its own; and those buffers.
fn nest(table: &mut LoopProgram, form: &Canonical, symbols: &[Sym]) -> (Nest, Vec<BufferId>) {
    let symbol = |s: Sym| symbols.iter().enumerate().find(|(k, _)| s == size(*k)).map(|(_, own)| Expr::sym(*own));
    let sized = |e: &Expr| with_sizes(e, symbol);
    let axes: Vec<AxisId> = form.extents.iter().map(|e| table.new_axis(sized(e))).collect();
    let first = table.buffers.len() as u32;
    let buffer = |b: BufferId| BufferId(first + b.0);
    for (i, (dtype, shape, kind)) in form.buffers.iter().enumerate() {
        table.buffers.push(Buffer { name: format!("b{i}"), dtype: *dtype, shape: shape.iter().map(sized).collect(), kind: *kind });
    }
    let own = |e: &Expr| {
        e.subst(&NoRanges, &mut |a| match a {
            Atom::Axis(a) => Some(Expr::axis(axes[a.0 as usize])),
            Atom::Sym(s) => symbol(*s),
            _ => None,
        })
    };
    let all = |list: &[Expr]| list.iter().map(own).collect();
    let op = |op: &LoopOp| match op {
        LoopOp::Load { buffer: b, index, mask } => LoopOp::Load { buffer: buffer(*b), index: all(index), mask: *mask },
        LoopOp::Index(e) => LoopOp::Index(own(e)),
        LoopOp::Reduce { op, axes: over, value } => {
            LoopOp::Reduce { op: *op, axes: over.iter().map(|a| axes[a.0 as usize]).collect(), value: *value }
        }
        other => other.clone(),
    };
    let nest = Nest {
        axes: axes[..form.outer].to_vec(),
        inner: axes[form.outer..form.outer + form.inner].to_vec(),
        ops: form.ops.iter().map(|(o, dtype)| (op(o), *dtype)).collect(),
        stores: form.stores.iter().map(|s| Store { buffer: buffer(s.buffer), index: all(&s.index), ..s.clone() }).collect(),
        ..Nest::default()
    };
    (nest, (0..form.buffers.len() as u32).map(|i| buffer(BufferId(i))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_polynomials_of_the_sizes() {
        let of = |most: usize, f: &dyn Fn(i64) -> Vec<i64>| {
            let members: Vec<Vec<i64>> = [9, 4, 7, 2, 30].map(f).to_vec();
            unify(&members.iter().map(Vec::as_slice).collect::<Vec<_>>(), most)
        };
        let (x, y) = (Expr::sym(size(0)), Expr::sym(size(1)));
        let (sizes, places) = of(1, &|n| vec![64 * n, n + 1, 3, n * n + n, n + 2]).unwrap();
        assert_eq!(sizes, [1]);
        let less = x.sub(&Expr::ONE);
        assert_eq!(places, [less.scale(64), x.clone(), Expr::Const(3), x.mul(&less), x.add(&Expr::ONE)]);
        // Another size, by itself and beside the first.
        let two = |n: i64| vec![n, n * n % 11 + 40, 4 * n, n * n % 11 + 40 - n];
        assert!(of(1, &two).is_none());
        assert_eq!(of(2, &two).map(|(sizes, places)| (sizes, places[3].clone())), Some((vec![0, 3], y.clone())));
        // What is 1 for one of them.
        assert!(of(1, &|n| vec![n - 1]).is_none());
    }
}
