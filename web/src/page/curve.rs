//! Loss curves that stay small however long training runs.

/// The most points of a curve; more than a plot has pixels would not be seen.
const MOST: usize = 1200;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub step: f64,
    /// Seconds that the pane had trained.
    pub seconds: f64,
    pub loss: f64,
}

/// Losses by step and by time; each point is the mean of `stride` steps.
#[derive(Clone, Debug)]
pub struct Curve {
    pub points: Vec<Point>,
    stride: usize,
    partial: Vec<Point>,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { points: Vec::new(), stride: 1, partial: Vec::new() }
    }
}

impl Curve {
    /// A loss that is not finite leaves no point: there is nowhere to draw it.
    pub fn push(&mut self, point: Point) {
        if !point.loss.is_finite() {
            return;
        }
        // Training may go on from an earlier step, after a device or a server was lost: what comes now replaces what was.
        self.partial.retain(|p| p.step < point.step);
        if self.partial.is_empty() {
            let kept = self.points.partition_point(|p| p.step < point.step);
            self.points.truncate(kept);
        }
        self.partial.push(point);
        if self.partial.len() < self.stride {
            return;
        }
        self.points.push(mean(&self.partial));
        self.partial.clear();
        if self.points.len() >= MOST {
            self.points = self.points.chunks(2).map(mean).collect();
            self.stride *= 2;
        }
    }
}

fn mean(points: &[Point]) -> Point {
    let n = points.len().max(1) as f64;
    let sum = |f: fn(&Point) -> f64| points.iter().map(f).sum::<f64>() / n;
    Point { step: sum(|p| p.step), seconds: sum(|p| p.seconds), loss: sum(|p| p.loss) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_small_and_keeps_the_whole_run() {
        let mut c = Curve::default();
        for i in 0..100_000 {
            c.push(Point { step: i as f64, seconds: i as f64 * 0.001, loss: 1.0 / (i + 1) as f64 });
        }
        assert!(c.points.len() < MOST && c.points.len() >= MOST / 2);
        assert!(c.points[0].step < 200.0 && c.points.last().unwrap().step > 99_700.0);
        assert!(c.points.windows(2).all(|w| w[0].step < w[1].step && w[0].loss > w[1].loss));
    }
}
