//! Random functions: eager and compiled give the same values, gradients and state, whatever is detached, kept or replaced on the way.

use aludel_tensor::{DType, Device, Result, Tensor, Tree, cat, compile, no_grad, where_};

mod common;

/// A small generator of choices; the same seed gives the same function.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn pick<'a>(&mut self, pool: &'a [Tensor]) -> &'a Tensor {
        let i = self.below(pool.len());
        &pool[i]
    }
}

#[derive(Clone, Tree)]
struct State {
    weights: Vec<Tensor>,
    /// Not learned.
    buffer: Tensor,
    count: Tensor,
}

fn state(d: &Device, seed: u64) -> Result<State> {
    Ok(State {
        weights: (0..3).map(|i| Ok(Tensor::randn(d, [4, 4], seed * 7 + i)?.requires_grad())).collect::<Result<_>>()?,
        buffer: Tensor::randn(d, [4], seed)?,
        count: Tensor::scalar(d, 0.0f32),
    })
}

/// One random step: values of `[n, 4]`, all of moderate size.
fn step(seed: u64, s: &mut State, x: &Tensor) -> Result<(Tensor, Vec<Tensor>)> {
    let mut c = Choices(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut pool = vec![x.clone()];
    for _ in 0..3 + c.below(8) {
        let a = c.pick(&pool);
        let b = c.pick(&pool);
        let new = match c.below(16) {
            0 | 1 => a.linear(c.pick(&s.weights), None)?.tanh()?,
            2 => a.linear(c.pick(&s.weights), Some(&s.buffer))?.relu()?,
            3 => a.add(b)?.mul(0.5)?,
            4 => a.mul(b)?.tanh()?,
            5 => a.softmax(-1)?,
            6 => a.layer_norm([4], None, None, 1e-3)?,
            7 => no_grad(|| a.mul(0.7))?,
            8 => a.detach().sigmoid()?,
            9 => where_(&a.gt(b)?, a, 0.25)?,
            10 => cat(&[a, b], -1)?.narrow(-1, 2, 4)?,
            11 => a.sub(&a.mean_keepdim(-1)?)?,
            12 => a.reshape((&x.size(0)?, 2, 2))?.transpose(1, 2)?.reshape((-1, 4))?,
            13 => a.add(&s.count)?.sin()?,
            14 => a.div(&b.abs()?.add(1.0)?)?,
            _ => a.to(DType::F32)?.clamp(-1.0, 1.0)?.requires_grad(),
        };
        pool.push(new);
    }
    // Every weight takes part.
    let mut loss = c.pick(&pool).square()?.mean(())?;
    for (i, w) in s.weights.iter().enumerate() {
        loss = loss.add(&pool[pool.len() - 1].linear(w, None)?.square()?.mean(())?.mul(0.1 * (i + 1) as f64)?)?;
    }
    let g = loss.backward()?;
    let mut results = vec![loss.clone(), c.pick(&pool).clone(), s.weights[0].clone()];
    for w in &mut s.weights {
        let next = no_grad(|| w.sub(&g.get(w)?.mul(0.1)?))?;
        results.push(g.get(w)?.clone());
        *w = next.requires_grad();
    }
    match c.below(3) {
        0 => s.buffer = pool[pool.len() - 1].detach().mean(0)?,
        1 => s.weights.swap(0, 2),
        _ => {}
    }
    s.count = s.count.add(0.125)?;
    Ok((loss, results))
}

fn close(a: &Tensor, b: &Tensor, what: &str) -> Result<()> {
    assert_eq!(a.shape(), b.shape(), "{what}");
    for (x, y) in a.to_vec::<f32>()?.iter().zip(b.to_vec::<f32>()?) {
        assert!((x - y).abs() <= 2e-3 * (1.0 + y.abs()), "{what}: {x} {y}");
    }
    Ok(())
}

fn compare(d: &Device, seeds: std::ops::Range<u64>) -> Result<()> {
    let host = &Device::interpreter();
    for seed in seeds {
        let (mut eager, mut compiled) = (state(host, seed)?, state(d, seed)?);
        let f = compile(move |s: &mut State, x: &Tensor| step(seed, s, x));
        let mut kept = Vec::new();
        for (i, n) in [3, 3, 5, 4, 1, 6].into_iter().enumerate() {
            let what = format!("seed {seed}, call {i}");
            if i % 2 == 1 {
                kept.push((compiled.clone(), eager.clone()));
            }
            let (loss, results) = f.call(&mut compiled, &Tensor::randn(d, [n, 4], seed + i as u64)?)?;
            let (want, wanted) = step(seed, &mut eager, &Tensor::randn(host, [n, 4], seed + i as u64)?)?;
            close(&loss, &want, &what)?;
            for (r, w) in results.iter().zip(&wanted) {
                close(r, w, &what)?;
            }
            for (a, b) in kept.iter().chain([&(compiled.clone(), eager.clone())]) {
                a.weights.iter().zip(&b.weights).try_for_each(|(a, b)| close(a, b, &what))?;
                close(&a.buffer, &b.buffer, &what)?;
                close(&a.count, &b.count, &what)?;
            }
        }
        assert_eq!(f.compilations(), 3, "seed {seed}: {}", f.explain());
    }
    Ok(())
}

fn random_steps(d: &Device) -> Result<()> {
    // WebGPU is compared with fewer: each makes its kernels anew.
    compare(d, if d.target().is_none() { 0..120 } else { 200..212 })
}

common::on_every_device! {
    random_steps,
}
