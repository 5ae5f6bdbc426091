//! Several pipes as one.

use super::{Pipe, State, child, other, part, save};
use crate::{Error, Random, Result};
use serde_json::json;

/// See [`Pipe::zip`].
pub struct Zip<A, B> {
    pub(super) a: A,
    pub(super) b: B,
}

impl<A: Pipe, B: Pipe> Pipe for Zip<A, B> {
    type Item = (A::Item, B::Item);

    /// An error of one takes the other's item with it: pairs stay pairs.
    fn next(&mut self) -> Option<Result<(A::Item, B::Item)>> {
        let (a, b) = (self.a.next()?, self.b.next()?);
        Some(a.and_then(|a| Ok((a, b?))))
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "a": self.a.state()?, "b": self.b.state()? }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.a.restore(child(state, "a")?)?;
        self.b.restore(child(state, "b")?)
    }
}

/// One pipe after the other.
pub fn concat<P: Pipe>(pipes: Vec<P>) -> Concat<P> {
    Concat { pipes, at: 0 }
}

/// See [`concat`].
pub struct Concat<P> {
    pipes: Vec<P>,
    at: usize,
}

impl<P: Pipe> Pipe for Concat<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        loop {
            match self.pipes.get_mut(self.at)?.next() {
                None => self.at += 1,
                item => return item,
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "pipes": states(&self.pipes)?, "at": self.at }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.at = part(state, "at")?;
        restore_all(&mut self.pipes, state)
    }
}

fn states<P: Pipe>(pipes: &[P]) -> Result<Vec<State>> {
    pipes.iter().map(Pipe::state).collect()
}

fn restore_all<P: Pipe>(pipes: &mut [P], state: &State) -> Result<()> {
    let states: Vec<State> = part(state, "pipes")?;
    if states.len() != pipes.len() {
        return Err(other(&format!("is of {} pipes, not of {}", states.len(), pipes.len())));
    }
    pipes.iter_mut().zip(&states).try_for_each(|(pipe, state)| pipe.restore(state))
}

/// Items of several pipes, each drawn in proportion to its weight from those that have items left.
///
/// # Errors
///
/// When there are not as many weights as pipes, or a weight is not above zero.
pub fn mix<P: Pipe>(pipes: Vec<P>, weights: &[f64], seed: u64) -> Result<Mix<P>> {
    if pipes.len() != weights.len() {
        return Err(Error::option("weights", format!("there are {} for {} pipes", weights.len(), pipes.len()), "give one for each pipe"));
    }
    if let Some(w) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
        return Err(Error::option("weights", format!("one is {w}"), "weights are above zero"));
    }
    Ok(Mix { left: vec![true; pipes.len()], pipes, weights: weights.to_vec(), random: Random::new(seed) })
}

/// See [`mix`].
pub struct Mix<P> {
    pipes: Vec<P>,
    weights: Vec<f64>,
    /// Which of them have items left.
    left: Vec<bool>,
    random: Random,
}

impl<P> Mix<P> {
    fn draw(&mut self) -> Option<usize> {
        let candidates: Vec<usize> = (0..self.weights.len()).filter(|i| self.left[*i]).collect();
        let mut at = self.random.uniform() * candidates.iter().map(|i| self.weights[*i]).sum::<f64>();
        for i in &candidates {
            at -= self.weights[*i];
            if at < 0.0 {
                return Some(*i);
            }
        }
        // Rounding may bring the place to the end of the last one.
        candidates.last().copied()
    }
}

impl<P: Pipe> Pipe for Mix<P> {
    type Item = P::Item;

    fn next(&mut self) -> Option<Result<P::Item>> {
        loop {
            let i = self.draw()?;
            match self.pipes[i].next() {
                None => self.left[i] = false,
                item => return item,
            }
        }
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "pipes": states(&self.pipes)?, "left": self.left, "random": save(&self.random)? }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let left: Vec<bool> = part(state, "left")?;
        restore_all(&mut self.pipes, state)?;
        if left.len() != self.pipes.len() {
            return Err(other("is of another number of pipes"));
        }
        (self.left, self.random) = (left, part(state, "random")?);
        Ok(())
    }
}
