//! The arena: buffers whose lifetimes do not meet share memory.
//!
//! Where all sizes are known, offsets are assigned greedily by size, each buffer at the lowest gap among those it lives
//! with. Source: Y. Pisarchyk and J. Lee, "Efficient memory management for deep neural net inference", 2020, section 4.2.
//! Where sizes are symbolic, buffers of provably sufficient size take turns in a slot, and offsets are summed at run time.
//!
//! An arena that would be larger than a binding may be has several parts, each a binding. What fits into one is packed as if there were
//! no limit.

use aludel_ir::expr::Expr;
use aludel_ir::loops::BufferId;
use aludel_ir::order::Order;
use aludel_ir::program::ALIGN;
use aludel_ir::shape::ShapeEnv;

/// Launches after its last one for which memory is left alone where nothing needs it: what runs beside others on the device would have
/// to wait for those that still read it.
const LINGERS: usize = 16;

/// A buffer and the launches between which it lives, both included.
#[derive(Clone)]
pub(super) struct Item {
    pub buffer: BufferId,
    pub words: Expr,
    pub first: usize,
    pub last: usize,
}

impl Item {
    fn meets(&self, other: &Item) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// A range of a part of the arena.
pub(super) struct Slot {
    pub words: Expr,
    pub part: usize,
    /// Where known.
    pub offset: Option<i64>,
}

/// Slots, and the slot of each item.
///
/// `overlaps`: launches may run side by side. `limit`: words of a part; a larger buffer has one to itself. Where sizes are symbolic, it
/// holds for those that they are hinted to have.
pub(super) fn assign(items: &[Item], env: &ShapeEnv, overlaps: bool, limit: i64) -> (Vec<Slot>, Vec<usize>) {
    match items.iter().map(|i| i.words.as_const()).collect::<Option<Vec<i64>>>() {
        Some(words) => {
            let mut found = offsets(items, &words, limit);
            if overlaps {
                let size = |at: &[(usize, i64)]| {
                    let parts = at.iter().map(|(part, _)| part + 1).max().unwrap_or(0);
                    let end = |p: usize| at.iter().zip(&words).filter(|((part, _), _)| *part == p).map(|((_, at), words)| at + words).max();
                    (0..parts).filter_map(end).sum::<i64>()
                };
                let apart = offsets(&lingering(items, &words), &words, limit);
                // Gaps may cost a little of what was there to spare.
                if size(&apart) <= size(&found) + size(&found) / 100 {
                    found = apart;
                }
            }
            let slot = |((part, offset), item): ((usize, i64), &Item)| Slot { words: item.words.clone(), part, offset: Some(offset) };
            (found.into_iter().zip(items).map(slot).collect(), (0..items.len()).collect())
        }
        None => turns(items, env, limit),
    }
}

fn rounded(words: i64) -> i64 {
    words.max(1).saturating_add(ALIGN - 1) / ALIGN * ALIGN
}

/// The items, each living longer as far as no more is alive at once for it than at the fullest launch.
fn lingering(items: &[Item], words: &[i64]) -> Vec<Item> {
    let end = items.iter().map(|i| i.last + 1).max().unwrap_or(0);
    let mut alive = vec![0i64; end];
    for (i, words) in items.iter().zip(words) {
        alive[i.first..=i.last].iter_mut().for_each(|a| *a += words);
    }
    let most = alive.iter().copied().max().unwrap_or(0);
    let mut out = items.to_vec();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.order_by_key(|i| (items[*i].last, *i));
    for i in order {
        let after = items[i].last + 1;
        let rest = alive[after..end.min(after + LINGERS)].iter_mut();
        for alive in rest.take_while(|alive| **alive + words[i] <= most) {
            *alive += words[i];
            out[i].last += 1;
        }
    }
    out
}

/// The part of each item, and its offset there.
fn offsets(items: &[Item], words: &[i64], limit: i64) -> Vec<(usize, i64)> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.order_by_key(|i| (std::cmp::Reverse(words[*i]), *i));
    let mut placed: Vec<Option<(usize, i64)>> = vec![None; items.len()];
    let mut parts = 0;
    for i in order {
        let mut taken: Vec<(usize, i64, i64)> = (0..items.len())
            .filter(|j| items[*j].meets(&items[i]))
            .filter_map(|j| placed[j].map(|(part, o)| (part, o, o + rounded(words[j]))))
            .collect();
        taken.order();
        let gap = |part: usize| {
            let mut at = 0;
            for (_, from, to) in taken.iter().filter(|(p, ..)| *p == part) {
                if at + rounded(words[i]) <= *from {
                    break;
                }
                at = at.max(*to);
            }
            (at + rounded(words[i]) <= limit).then_some((part, at))
        };
        let place = (0..parts).find_map(gap).unwrap_or((parts, 0));
        parts = parts.max(place.0 + 1);
        placed[i] = Some(place);
    }
    placed.into_iter().map(|o| o.unwrap_or((0, 0))).collect()
}

fn turns(items: &[Item], env: &ShapeEnv, limit: i64) -> (Vec<Slot>, Vec<usize>) {
    let mut slots: Vec<(Expr, Vec<usize>)> = Vec::new();
    let mut of = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let holds = |words: &Expr| matches!(words.sub(&item.words).bounds(env), (Some(lo), _) if lo >= 0);
        let free = |users: &[usize]| users.iter().all(|u| !items[*u].meets(item));
        // The tightest slot that surely holds it: by hint, the smallest.
        let best = (0..slots.len()).filter(|s| holds(&slots[*s].0) && free(&slots[*s].1)).min_by_key(|s| env.hint_or_one(&slots[*s].0));
        let slot = best.unwrap_or_else(|| {
            slots.push((item.words.clone(), Vec::new()));
            slots.len() - 1
        });
        slots[slot].1.push(i);
        of.push(slot);
    }
    let mut used: Vec<i64> = Vec::new();
    let part = |words: &Expr| {
        let size = rounded(env.hint_or_one(words));
        let part = used.iter().position(|u| u.saturating_add(size) <= limit).unwrap_or(used.len());
        used.resize(used.len().max(part + 1), 0);
        used[part] = used[part].saturating_add(size);
        part
    };
    let parts: Vec<usize> = slots.iter().map(|(words, _)| words).map(part).collect();
    (slots.into_iter().zip(parts).map(|((words, _), part)| Slot { words, part, offset: None }).collect(), of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::shape::ShapeEnv;

    /// Items of 100, 200, ... words, each alive for so many launches.
    fn items(n: usize, lives: usize) -> Vec<Item> {
        let item = |i: usize| Item { buffer: BufferId(i as u32), words: Expr::Const(100 * (i as i64 + 1)), first: i, last: i + lives };
        (0..n).map(item).collect()
    }

    #[test]
    fn parts_hold_what_they_may_and_no_two_items_meet() {
        let env = ShapeEnv::default();
        for (n, lives) in [(1, 0), (12, 1), (12, 3), (12, 12)] {
            let items = items(n, lives);
            let whole = assign(&items, &env, false, i64::MAX).0;
            assert!(whole.iter().all(|s| s.part == 0));
            let size = whole.iter().filter_map(|s| Some(s.offset? + rounded(s.words.as_const()?))).max().unwrap_or(0);
            for overlaps in [false, true] {
                for limit in [64, 1024, 1536, size] {
                    let (slots, of) = assign(&items, &env, overlaps, limit);
                    let range = |i: usize| {
                        let s = &slots[of[i]];
                        (s.part, s.offset.unwrap_or(0), s.offset.unwrap_or(0) + rounded(100 * (i as i64 + 1)))
                    };
                    for i in 0..n {
                        let (part, from, to) = range(i);
                        assert!(to <= limit || from == 0, "{limit}: {from}..{to}");
                        let alone = to > limit;
                        for j in (0..n).filter(|j| *j != i && range(*j).0 == part && items[*j].meets(&items[i])) {
                            assert!(!alone && (range(j).1 >= to || range(j).2 <= from), "{i} and {j}");
                        }
                    }
                    // Where one part holds all, there is one.
                    assert!(limit < size || slots.iter().all(|s| s.part == 0));
                }
            }
        }
    }
}
