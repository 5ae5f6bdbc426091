//! Sums as text: `a+b=c`, padded with newlines. The newline also ends an answer.

use super::Random;

/// Characters in the order of their ids.
pub const VOCABULARY: &str = "0123456789+=\n";
pub const VOCABULARY_SIZE: usize = 13;
pub const NEWLINE: i32 = 12;

/// The target of a position that is not to be learned: cross-entropy's `ignore_index` by default.
pub const IGNORE: i32 = -100;

pub fn encode(text: &str) -> Vec<i32> {
    text.chars().filter_map(|c| VOCABULARY.chars().position(|v| v == c)).map(|i| i as i32).collect()
}

pub fn decode(id: i32) -> char {
    usize::try_from(id).ok().and_then(|i| VOCABULARY.chars().nth(i)).unwrap_or('?')
}

/// The context that sums of two numbers of up to `digits` digits need.
pub fn context_for(digits: usize) -> usize {
    // a + b = c and the newline that ends it; the last character is only ever a target.
    3 * digits + 3
}

/// A sum to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    pub a: u64,
    pub b: u64,
}

impl Problem {
    pub fn question(&self) -> String {
        format!("{}+{}=", self.a, self.b)
    }

    pub fn answer(&self) -> String {
        (self.a + self.b).to_string()
    }

    /// A tenth of all problems is never trained on. Which: a hash says, so no list is kept.
    pub fn held_out(&self) -> bool {
        Random::new(self.a.wrapping_mul(1_000_003) ^ self.b).bits().is_multiple_of(10)
    }
}

/// Ids for a decoder: inputs, and targets shifted by one, both `rows × context`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequences {
    pub x: Vec<i32>,
    pub y: Vec<i32>,
    pub context: usize,
}

/// A source of problems with numbers of up to `digits` digits.
#[derive(Clone, Debug)]
pub struct Addition {
    pub digits: usize,
    pub context: usize,
    pub seed: u64,
}

impl Addition {
    fn draw(&self, rng: &mut Random, held_out: bool) -> Problem {
        let n = 10u64.pow(self.digits.min(9) as u32);
        // A tenth is held out, so either kind comes soon; the bound only makes that plain.
        for _ in 0..10_000 {
            let p = Problem { a: rng.below(n), b: rng.below(n) };
            if p.held_out() == held_out {
                return p;
            }
        }
        Problem { a: 0, b: 0 }
    }

    /// The sequences of step `step`. Only the answer and the newline after it are targets: the question cannot be foreseen, and the
    /// padding teaches nothing.
    pub fn batch(&self, rows: usize, step: u64) -> Sequences {
        let mut rng = Random::new(self.seed).split(step + 1);
        let mut out = Sequences { context: self.context, ..Sequences::default() };
        for _ in 0..rows {
            self.push(&mut out, &self.draw(&mut rng, false));
        }
        out
    }

    fn push(&self, out: &mut Sequences, p: &Problem) {
        let question = encode(&p.question()).len();
        let mut ids = encode(&format!("{}{}\n", p.question(), p.answer()));
        let end = ids.len();
        ids.resize(self.context + 1, NEWLINE);
        out.x.extend(&ids[..self.context]);
        out.y.extend((1..=self.context).map(|i| if i >= question && i < end { ids[i] } else { IGNORE }));
    }

    /// Problems that are never trained on.
    pub fn held_out(&self, count: usize) -> Vec<Problem> {
        let mut rng = Random::new(self.seed).split(0);
        (0..count).map(|_| self.draw(&mut rng, true)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shifted_and_masked() {
        let source = Addition { digits: 2, context: 10, seed: 1 };
        let mut s = Sequences { context: 10, ..Sequences::default() };
        source.push(&mut s, &Problem { a: 12, b: 9 });
        let text: String = s.x.iter().map(|i| decode(*i)).collect();
        assert_eq!(text, "12+9=21\n\n\n");
        assert_eq!(s.y, [-100, -100, -100, -100, 2, 1, 12, -100, -100, -100]);
    }

    #[test]
    fn the_longest_problem_fits() {
        for digits in 1..=3 {
            let n = 10u64.pow(digits as u32) - 1;
            let p = Problem { a: n, b: n };
            assert!(encode(&format!("{}{}\n", p.question(), p.answer())).len() <= context_for(digits) + 1);
        }
    }

    #[test]
    fn training_never_sees_what_is_held_out() {
        let source = Addition { digits: 2, context: 10, seed: 1 };
        assert!(source.held_out(50).iter().all(Problem::held_out));
        let batch = source.batch(200, 3);
        for row in batch.x.chunks(10) {
            let text: String = row.iter().map(|i| decode(*i)).collect();
            let (a, rest) = text.split_once('+').unwrap();
            let b = rest.split('=').next().unwrap();
            assert!(!Problem { a: a.parse().unwrap(), b: b.parse().unwrap() }.held_out());
        }
        assert_eq!(source.batch(200, 3), batch);
        assert_ne!(source.batch(200, 4), batch);
    }
}
