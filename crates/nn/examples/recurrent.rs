//! How a training step of an LSTM grows with the length of its sequences: launches grow with it, kernels and the time to compile each do
//! not.
//!
//!     cargo run --release -p aludel-nn --no-default-features --features cpu --example recurrent -- 8 35 128

use aludel_nn::*;
use aludel_tensor::{Device, Result, Tensor, compile};
use std::time::Instant;

fn main() -> Result<()> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let lengths = if given.is_empty() { vec![8, 35, 128] } else { given };
    let d = Device::cpu()?;
    let (batch, inputs, hidden) = (16, 32, 64);
    for steps in lengths {
        let init = &mut Init::new(&d, 0);
        let lstm = Lstm::new(init, inputs, hidden, RnnOptions::default())?;
        let optimizer = Sgd::new(&lstm, SgdConfig::default())?;
        let mut state = (lstm, optimizer);
        let x = Tensor::randn(&d, [steps, batch, inputs], 1)?;
        let train = compile(|(lstm, optimizer): &mut (Lstm, Sgd), x: &Tensor| {
            let (y, _) = lstm.forward(x, None)?;
            let loss = y.mul(&y)?.mean(())?;
            optimizer.step(lstm, &loss.backward()?)?;
            Ok(loss)
        });
        let begin = Instant::now();
        train.call(&mut state, &x)?.item()?;
        let compiled = begin.elapsed();
        let explanation = train.explain();
        let Some(program) = explanation.specializations.first().and_then(|s| s.program.clone()) else { continue };
        let mut best = f64::MAX;
        for _ in 0..20 {
            let begin = Instant::now();
            train.call(&mut state, &x)?.item()?;
            best = best.min(begin.elapsed().as_secs_f64());
        }
        let (kernels, launches) = (program.kernels.len(), program.launches.len());
        println!("{steps} steps: {kernels} kernels, {launches} launches, first call {compiled:?}, then {:.3} ms", best * 1e3);
        if std::env::var("LAUNCHES").is_ok() {
            program.launches.iter().for_each(|l| println!("  kernel {} {}", l.kernel, l.label));
        }
    }
    Ok(())
}
