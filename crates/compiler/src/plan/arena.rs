//! The arena: buffers whose lifetimes do not meet share memory.
//!
//! Where all sizes are known, offsets are assigned greedily by size, each buffer at the lowest gap among those it lives
//! with. Source: Y. Pisarchyk and J. Lee, "Efficient memory management for deep neural net inference", 2020, section 4.2.
//! Where sizes are symbolic, buffers of provably sufficient size take turns in a slot, and offsets are summed at run time.

use aludel_ir::expr::Expr;
use aludel_ir::loops::BufferId;
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

/// Slots (size and, where known, offset) and the slot of each item.
///
/// `overlaps`: launches may run side by side.
pub(super) fn assign(items: &[Item], env: &ShapeEnv, overlaps: bool) -> (Vec<(Expr, Option<i64>)>, Vec<usize>) {
    match items.iter().map(|i| i.words.as_const()).collect::<Option<Vec<i64>>>() {
        Some(words) => {
            let mut found = offsets(items, &words);
            if overlaps {
                let size = |at: &[i64]| at.iter().zip(&words).map(|(at, words)| at + words).max().unwrap_or(0);
                let apart = offsets(&lingering(items, &words), &words);
                // Gaps may cost a little of what was there to spare.
                if size(&apart) <= size(&found) + size(&found) / 100 {
                    found = apart;
                }
            }
            let slots = found.into_iter().zip(items).map(|(o, i)| (i.words.clone(), Some(o))).collect();
            (slots, (0..items.len()).collect())
        }
        None => turns(items, env),
    }
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
    order.sort_by_key(|i| (items[*i].last, *i));
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

fn offsets(items: &[Item], words: &[i64]) -> Vec<i64> {
    let round = |w: i64| (w.max(1) + ALIGN - 1) / ALIGN * ALIGN;
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(words[*i]), *i));
    let mut placed: Vec<Option<i64>> = vec![None; items.len()];
    for i in order {
        let mut taken: Vec<(i64, i64)> =
            (0..items.len()).filter(|j| items[*j].meets(&items[i])).filter_map(|j| placed[j].map(|o| (o, o + round(words[j])))).collect();
        taken.sort();
        let mut at = 0;
        for (from, to) in taken {
            if at + round(words[i]) <= from {
                break;
            }
            at = at.max(to);
        }
        placed[i] = Some(at);
    }
    placed.into_iter().map(|o| o.unwrap_or(0)).collect()
}

fn turns(items: &[Item], env: &ShapeEnv) -> (Vec<(Expr, Option<i64>)>, Vec<usize>) {
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
    (slots.into_iter().map(|(w, _)| (w, None)).collect(), of)
}
