//! How much work fills a GPU: one model, from the number of its units. Where a nest has less, passes divide it and templates take
//! smaller tiles.
//!
//! Shares of the units were measured on an H200 (132 of them) with `cargo run --release -p aludel-runtime --features cuda --example
//! steps` and `aludel bench`; they are written as multiples of the units, so that another GPU has its own.

use super::Target;

impl Target {
    /// Units that run workgroups: two workgroups of products on each keep it busy while one of them waits for memory.
    pub fn busy_groups(&self) -> i64 {
        2 * self.units as i64
    }

    /// Workgroups of a sum that memory alone limits: with eight of them on a unit enough bytes are on their way.
    pub fn reading_groups(&self) -> i64 {
        4 * self.busy_groups()
    }

    /// Workgroups that leave next to no unit without one.
    pub fn filling_groups(&self) -> i64 {
        self.units as i64 * 10 / 11
    }

    /// A nest of more workgroups than this fills the device by itself, however small they are: six on a unit, in whole units of 128.
    pub fn full_groups(&self) -> i64 {
        (6 * self.units as i64 / 128 * 128).max(128)
    }

    /// Threads that reductions of few rows are spread over: a quarter of those that are resident, to a power of two.
    pub fn filling_threads(&self) -> i64 {
        let quarter = (self.units as u64 * RESIDENT_THREADS / 4).max(1);
        1 << quarter.ilog2()
    }
}

/// Threads that a unit holds at once. Source: CUDA programming guide, technical specifications (2048 for 8.0 and 9.0).
const RESIDENT_THREADS: u64 = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_h200_is_filled_by_what_was_measured_there() {
        let t = Target { units: 132, ..Target::webgpu_default() };
        let model = [t.busy_groups(), t.reading_groups(), t.filling_groups(), t.full_groups(), t.filling_threads()];
        assert_eq!(model, [264, 1056, 120, 768, 65_536]);
    }

    #[test]
    fn no_number_of_units_gives_zero_or_less() {
        for units in [1, 2, 7, 16, 108, 1000] {
            let t = Target { units, ..Target::webgpu_default() };
            assert!([t.busy_groups(), t.reading_groups(), t.full_groups(), t.filling_threads()].iter().all(|n| *n > 0), "{units}");
        }
    }
}
