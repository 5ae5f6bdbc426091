//! Two classes of points in the plane, within about [-1, 1] on both axes.

use super::{Labelled, Random};
use std::f64::consts::{PI, TAU};

/// How many points there are to train on, and how many are held out.
pub const TRAIN: usize = 512;
pub const TEST: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Dataset {
    /// Two arms that wind around each other.
    Spirals,
    /// A disc in a ring.
    Circles,
    /// Opposite quadrants belong together.
    Xor,
    /// Two half moons that reach into each other.
    Moons,
}

impl Dataset {
    pub const ALL: [Dataset; 4] = [Dataset::Spirals, Dataset::Circles, Dataset::Xor, Dataset::Moons];

    /// Points to train on, and held-out points of the same distribution.
    pub fn generate(self, seed: u64) -> (Labelled, Labelled) {
        let rng = Random::new(seed);
        (self.draw(&mut rng.split(1), TRAIN), self.draw(&mut rng.split(2), TEST))
    }

    fn draw(self, rng: &mut Random, rows: usize) -> Labelled {
        let mut data = Labelled { features: 2, ..Labelled::default() };
        for i in 0..rows {
            let class = (i % 2) as i32;
            let (x, y) = self.point(rng, class);
            data.x.extend([x as f32, y as f32]);
            data.y.push(class);
        }
        data
    }

    fn point(self, rng: &mut Random, class: i32) -> (f64, f64) {
        let u = rng.uniform();
        let noisy = |rng: &mut Random, x: f64, y: f64, sd: f64| (x + sd * rng.normal(), y + sd * rng.normal());
        match self {
            Dataset::Spirals => {
                // Radius grows with the square root of u: points are as dense outside as inside.
                let r = 0.08 + 0.87 * u.sqrt();
                let angle = 1.75 * TAU * r + class as f64 * PI;
                noisy(rng, r * angle.cos(), r * angle.sin(), 0.02)
            }
            Dataset::Circles => {
                let r = if class == 0 { 0.45 * u.sqrt() } else { 0.68 + 0.24 * u };
                let angle = rng.uniform() * TAU;
                noisy(rng, r * angle.cos(), r * angle.sin(), 0.03)
            }
            Dataset::Xor => {
                let (a, b) = (0.06 + 0.88 * u, 0.06 + 0.88 * rng.uniform());
                let sign = if rng.bits() & 1 == 0 { 1.0 } else { -1.0 };
                let other = if class == 0 { sign } else { -sign };
                noisy(rng, a * sign, b * other, 0.02)
            }
            Dataset::Moons => {
                let angle = PI * u;
                let (x, y) = if class == 0 { (angle.cos(), angle.sin()) } else { (1.0 - angle.cos(), 0.5 - angle.sin()) };
                noisy(rng, (x - 0.5) * 0.6, (y - 0.25) * 0.8, 0.06)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_bounded_and_seeded() {
        for d in Dataset::ALL {
            let (train, test) = d.generate(3);
            assert_eq!((train.rows(), test.rows()), (TRAIN, TEST));
            assert_eq!(train.y.iter().filter(|y| **y == 0).count(), TRAIN / 2);
            assert!(train.x.iter().all(|v| v.abs() < 1.3), "{d:?}");
            assert_eq!(d.generate(3).0, train);
            assert_ne!(d.generate(4).0, train);
        }
    }

    #[test]
    fn xor_classes_are_opposite_quadrants() {
        let (train, _) = Dataset::Xor.generate(0);
        let agree = (0..TRAIN).filter(|i| (train.row(*i)[0] * train.row(*i)[1] > 0.0) == (train.y[*i] == 0)).count();
        assert!(agree > TRAIN * 95 / 100);
    }
}
