//! Sorting and ordered collections in little code. The standard library's sorts are some kilobytes for each type and way to compare,
//! and a page would carry sixty of them, an eighteenth of what it loads; one in a page looks its elements up by their places.

use std::cmp::Ordering;

/// Stable sorts of slices.
pub trait Order<T> {
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }

    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }
}

impl<T> Order<T> for [T] {
    #[cfg(not(target_arch = "wasm32"))]
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        self.sort_by(compare);
    }

    #[cfg(target_arch = "wasm32")]
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let places = places(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        put(self, places);
    }
}

/// Puts each element where it belongs.
#[cfg(any(test, target_arch = "wasm32"))]
fn put<T>(elements: &mut [T], mut places: Vec<usize>) {
    for i in 0..places.len() {
        while places[i] != i {
            let to = places[i];
            elements.swap(i, to);
            places.swap(i, to);
        }
    }
}

/// Where each of `n` elements belongs: by merging runs of twice the length, turn after turn.
#[cfg(any(test, target_arch = "wasm32"))]
#[inline(never)]
fn places(n: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let (mut from, mut to): (Vec<usize>, Vec<usize>) = ((0..n).collect(), Vec::with_capacity(n));
    let mut run = 1;
    while run < n {
        to.clear();
        for start in (0..n).step_by(2 * run) {
            let (middle, end) = ((start + run).min(n), (start + 2 * run).min(n));
            let (mut a, mut b) = (start, middle);
            while a < middle || b < end {
                let first = b == end || (a < middle && compare(from[b], from[a]) != Ordering::Less);
                let next = if first { &mut a } else { &mut b };
                to.push(from[*next]);
                *next += 1;
            }
        }
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    // So far it is which element each place gets.
    to.resize(n, 0);
    for (place, element) in from.into_iter().enumerate() {
        to[element] = place;
    }
    to
}

/// Collecting into sets and maps element by element: their own way sorts first.
pub trait InOrder: Iterator + Sized {
    fn in_order<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> InOrder for I {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_compare_equal_keep_their_order() {
        let mut seed = 1_u64;
        for n in [0, 1, 2, 3, 7, 8, 100, 1001] {
            let pairs: Vec<(u64, usize)> = (0..n)
                .map(|i| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (seed >> 61, i)
                })
                .collect();
            let mut wanted = pairs.clone();
            wanted.sort_by_key(|p| p.0);
            let mut found = pairs.clone();
            let to = places(n, &mut |a, b| pairs[a].0.cmp(&pairs[b].0));
            put(&mut found, to);
            assert_eq!(found, wanted);
        }
    }
}
