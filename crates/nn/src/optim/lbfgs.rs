//! L-BFGS, which evaluates the loss several times a step.

use super::check;
use aludel_tensor::{Error, Result, Tensor, Tree, cat, enable_grad, named_tensors, no_grad};
use std::collections::VecDeque;

/// How [`Lbfgs`] finds the length of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSearch {
    /// The learning rate, whatever the loss says. PyTorch: `None`.
    Fixed,
    /// A length that meets the strong Wolfe conditions.
    StrongWolfe,
}

/// Arguments of [`Lbfgs`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsConfig {
    pub lr: f64,
    /// Iterations a step.
    pub max_iter: usize,
    /// Evaluations of the loss a step; 5 / 4 of the iterations where it is `None`.
    pub max_eval: Option<usize>,
    /// The largest element of a gradient that counts as zero.
    pub tolerance_grad: f64,
    /// The smallest change that counts as one.
    pub tolerance_change: f64,
    pub history_size: usize,
    pub line_search: LineSearch,
}

impl Default for LbfgsConfig {
    fn default() -> Self {
        LbfgsConfig {
            lr: 1.0,
            max_iter: 20,
            max_eval: None,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 100,
            line_search: LineSearch::Fixed,
        }
    }
}

/// What a step leaves for the next one.
#[derive(Clone, Debug, Default)]
struct History {
    n_iter: usize,
    direction: Option<Tensor>,
    length: f64,
    /// Differences of gradients, and the steps that made them, with 1 / (y . s).
    pairs: VecDeque<(Tensor, Tensor, f64)>,
    diagonal: f64,
    gradient: Option<Tensor>,
}

/// Limited-memory BFGS: J. Nocedal, "Updating quasi-Newton matrices with limited storage", 1980. PyTorch: `torch.optim.LBFGS`.
///
/// It decides on the host how to go on, so its step is for eager mode; the loss that it is given may be a compiled function's.
///
/// ```
/// # use aludel_nn::{Lbfgs, LbfgsConfig, LineSearch};
/// # use aludel_tensor::{Device, Result, Tensor};
/// # fn main() -> Result<()> {
/// let device = Device::interpreter();
/// let mut x = Tensor::from_slice(&device, &[3.0f32, -2.0], [2])?.requires_grad();
/// let mut optimizer = Lbfgs::new(&x, LbfgsConfig { line_search: LineSearch::StrongWolfe, ..Default::default() })?;
/// optimizer.step(&mut x, |x| x.sub(1.0)?.square()?.sum(()))?;
/// assert!(x.sub(1.0)?.abs()?.amax(())?.item()? < 1e-4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Lbfgs {
    config: LbfgsConfig,
    history: History,
}

/// The loss and the flat gradient at a place.
type Place = (f64, Tensor);

impl Lbfgs {
    /// For the parameters of a tree.
    ///
    /// # Errors
    ///
    /// A tree without parameters, a number out of range.
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: LbfgsConfig) -> Result<Lbfgs> {
        if !named_tensors(parameters).iter().any(|(_, t)| t.is_requires_grad()) {
            return Err(Error::invalid(
                "Lbfgs",
                "the tree has no parameters",
                "call requires_grad() on the tensors that are to be learned",
            ));
        }
        check("Lbfgs", "lr", config.lr, 0.0..f64::MAX)?;
        check("Lbfgs", "tolerance_grad", config.tolerance_grad, 0.0..f64::MAX)?;
        check("Lbfgs", "tolerance_change", config.tolerance_change, 0.0..f64::MAX)?;
        if config.max_iter == 0 || config.history_size == 0 {
            return Err(Error::invalid("Lbfgs", "no iterations or no history", "use at least 1 of each"));
        }
        Ok(Lbfgs { config, history: History::default() })
    }

    /// Evaluates the loss, and its gradient, as often as it takes, and moves the parameters. Gives the loss before.
    ///
    /// # Errors
    ///
    /// The loss's own; a loss that does not depend on the parameters.
    #[track_caller]
    pub fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, mut loss: impl FnMut(&T) -> Result<Tensor>) -> Result<f64> {
        no_grad(|| self.iterate(parameters, &mut loss))
    }

    fn iterate<T: Tree + ?Sized>(&mut self, parameters: &mut T, loss: &mut dyn FnMut(&T) -> Result<Tensor>) -> Result<f64> {
        let c = self.config;
        let max_eval = c.max_eval.unwrap_or(c.max_iter * 5 / 4);
        let (mut value, mut gradient) = evaluate(parameters, loss)?;
        let (first, mut evaluations) = (value, 1);
        if largest(&gradient)? <= c.tolerance_grad {
            return Ok(first);
        }
        for n in 1..=c.max_iter {
            let d = self.direction(&gradient)?;
            let (before, start) = (value, self.history.n_iter == 1);
            let mut t = if start { (1.0 / gradient.abs()?.sum(())?.item()?).min(1.0) * c.lr } else { c.lr };
            let slope = dot(&gradient, &d)?;
            self.history.gradient = Some(gradient.clone());
            self.history.direction = Some(d.clone());
            self.history.length = t;
            if slope > -c.tolerance_change {
                break;
            }
            match c.line_search {
                LineSearch::StrongWolfe => {
                    let most = max_eval.saturating_sub(evaluations);
                    let from = snapshot(parameters);
                    let mut at = |t: f64| -> Result<Place> {
                        moved(parameters, &from, &d, t)?;
                        evaluate(parameters, loss)
                    };
                    let found = strong_wolfe(&mut at, t, &d, (value, gradient.clone()), slope, c.tolerance_change, most)?;
                    moved(parameters, &from, &d, found.t)?;
                    (t, value, gradient) = (found.t, found.value, found.gradient);
                    evaluations += found.evaluations;
                }
                LineSearch::Fixed => {
                    let from = snapshot(parameters);
                    moved(parameters, &from, &d, t)?;
                    // After the last iteration nobody asks.
                    if n < c.max_iter {
                        (value, gradient) = evaluate(parameters, loss)?;
                        evaluations += 1;
                    }
                }
            }
            self.history.length = t;
            let done = n == c.max_iter
                || evaluations >= max_eval
                || largest(&gradient)? <= c.tolerance_grad
                || largest(&d)? * t.abs() <= c.tolerance_change
                || (value - before).abs() < c.tolerance_change;
            if done {
                break;
            }
        }
        Ok(first)
    }

    /// Minus the gradient times the approximate inverse of the Hessian.
    fn direction(&mut self, gradient: &Tensor) -> Result<Tensor> {
        let h = &mut self.history;
        h.n_iter += 1;
        let (Some(old), Some(d)) = (&h.gradient, &h.direction) else {
            h.diagonal = 1.0;
            return gradient.neg();
        };
        let (y, s) = (gradient.sub(old)?, d.mul(h.length)?);
        let ys = dot(&y, &s)?;
        if ys > 1e-10 {
            h.diagonal = ys / dot(&y, &y)?;
            if h.pairs.len() == self.config.history_size {
                h.pairs.pop_front();
            }
            h.pairs.push_back((y, s, 1.0 / ys));
        }
        let (mut q, mut shares) = (gradient.neg()?, Vec::new());
        for (y, s, ro) in h.pairs.iter().rev() {
            let share = dot(s, &q)? * ro;
            q = q.sub(&y.mul(share)?)?;
            shares.push(share);
        }
        let mut r = q.mul(h.diagonal)?;
        for ((y, s, ro), share) in h.pairs.iter().zip(shares.iter().rev()) {
            let back = dot(y, &r)? * ro;
            r = r.add(&s.mul(share - back)?)?;
        }
        Ok(r)
    }
}

fn dot(x: &Tensor, y: &Tensor) -> Result<f64> {
    x.mul(y)?.sum(())?.item()
}

fn largest(x: &Tensor) -> Result<f64> {
    x.abs()?.amax(())?.item()
}

/// The parameters of a tree, in order.
fn snapshot<T: Tree + ?Sized>(parameters: &T) -> Vec<Tensor> {
    named_tensors(parameters).into_iter().map(|(_, t)| t).filter(Tensor::is_requires_grad).collect()
}

/// Moves the parameters `t` of a direction away from where they were.
fn moved<T: Tree + ?Sized>(parameters: &mut T, from: &[Tensor], direction: &Tensor, t: f64) -> Result<()> {
    let mut start = 0;
    let mut new = Vec::with_capacity(from.len());
    for p in from {
        let piece = direction.narrow(0, start, p.numel())?.reshape(p.dims())?;
        start += p.numel();
        new.push(p.detach().add(&piece.mul(t)?)?.to(p.dtype())?.detach().requires_grad());
    }
    let mut new = new.into_iter();
    parameters.visit_mut(&mut |t| {
        if t.is_requires_grad()
            && let Some(n) = new.next()
        {
            *t = n;
        }
    });
    Ok(())
}

fn evaluate<T: Tree + ?Sized>(parameters: &T, loss: &mut dyn FnMut(&T) -> Result<Tensor>) -> Result<Place> {
    let (value, gradients) = enable_grad(|| {
        let value = loss(parameters)?;
        let gradients = value.backward()?;
        Ok::<_, Error>((value, gradients))
    })?;
    let flat = snapshot(parameters).into_iter().map(|p| match gradients.find(&p) {
        Some(g) => g.reshape([-1]),
        None => p.detach().zeros_like()?.reshape([-1]),
    });
    let flat = flat.collect::<Result<Vec<_>>>()?;
    Ok((value.item()?, cat(&flat.iter().collect::<Vec<_>>(), 0)?.detach()))
}

/// Where the cubic through two places with their slopes is least, within bounds.
fn cubic(x1: f64, f1: f64, g1: f64, x2: f64, f2: f64, g2: f64, bounds: Option<(f64, f64)>) -> f64 {
    let (low, high) = bounds.unwrap_or((x1.min(x2), x1.max(x2)));
    let d1 = g1 + g2 - 3.0 * (f1 - f2) / (x1 - x2);
    let square = d1 * d1 - g1 * g2;
    if square < 0.0 || square.is_nan() {
        return (low + high) / 2.0;
    }
    let d2 = square.sqrt();
    let least = if x1 <= x2 {
        x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2.0 * d2))
    } else {
        x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2.0 * d2))
    };
    least.max(low).min(high)
}

/// A place on the line of a search.
#[derive(Clone)]
struct End {
    t: f64,
    value: f64,
    gradient: Tensor,
    slope: f64,
}

struct Found {
    t: f64,
    value: f64,
    gradient: Tensor,
    evaluations: usize,
}

/// A length that meets the strong Wolfe conditions: J. Nocedal, S. Wright, "Numerical Optimization", algorithms 3.5 and 3.6, as PyTorch has
/// them.
fn strong_wolfe(
    at: &mut dyn FnMut(f64) -> Result<Place>,
    first: f64,
    d: &Tensor,
    (value, gradient): Place,
    slope: f64,
    tolerance: f64,
    most: usize,
) -> Result<Found> {
    const DECREASE: f64 = 1e-4;
    const CURVATURE: f64 = 0.9;
    let reach = largest(d)?;
    let mut visit = |t: f64| -> Result<End> {
        let (value, gradient) = at(t)?;
        let slope = dot(&gradient, d)?;
        Ok(End { t, value, gradient, slope })
    };
    let origin = End { t: 0.0, value, gradient, slope };
    let (mut previous, mut new) = (origin.clone(), visit(first)?);
    let (mut evaluations, mut n, mut done) = (1, 0, false);
    let mut bracket = loop {
        if n >= most {
            break [origin.clone(), new];
        }
        if new.value > value + DECREASE * new.t * slope || (n > 1 && new.value >= previous.value) {
            break [previous, new];
        }
        if new.slope.abs() <= -CURVATURE * slope {
            done = true;
            break [new.clone(), new];
        }
        if new.slope >= 0.0 {
            break [previous, new];
        }
        let bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10.0);
        let t = cubic(previous.t, previous.value, previous.slope, new.t, new.value, new.slope, Some(bounds));
        previous = std::mem::replace(&mut new, visit(t)?);
        evaluations += 1;
        n += 1;
    };
    // The bracket closes around a length that will do.
    let order = |b: &[End; 2]| if b[0].value <= b[1].value { (0, 1) } else { (1, 0) };
    let (mut low, mut high) = order(&bracket);
    let mut slow = false;
    while !done && n < most {
        let (start, end) = (bracket[0].t.min(bracket[1].t), bracket[0].t.max(bracket[1].t));
        if (end - start) * reach < tolerance {
            break;
        }
        let [p, q] = &bracket;
        let mut t = cubic(p.t, p.value, p.slope, q.t, q.value, q.slope, None);
        let margin = 0.1 * (end - start);
        if (end - t).min(t - start) < margin {
            if slow || t >= end || t <= start {
                t = if (t - end).abs() < (t - start).abs() { end - margin } else { start + margin };
                slow = false;
            } else {
                slow = true;
            }
        } else {
            slow = false;
        }
        let new = visit(t)?;
        evaluations += 1;
        n += 1;
        if new.value > value + DECREASE * t * slope || new.value >= bracket[low].value {
            bracket[high] = new;
            (low, high) = order(&bracket);
        } else {
            if new.slope.abs() <= -CURVATURE * slope {
                done = true;
            } else if new.slope * (bracket[high].t - bracket[low].t) >= 0.0 {
                bracket[high] = bracket[low].clone();
            }
            bracket[low] = new;
        }
    }
    let best = bracket[low].clone();
    Ok(Found { t: best.t, value: best.value, gradient: best.gradient, evaluations })
}
