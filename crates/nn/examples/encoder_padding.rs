//! What skipping padding gains: an encoder on the CPU on a batch of sequences of 8 to 128 rows, padded and packed, compiled.
//!
//!     cargo run --release -p aludel-nn --no-default-features --features cpu --example encoder_padding

use aludel_nn::*;
use aludel_tensor::{Device, Result, Tensor, compile};
use std::time::{Duration, Instant};

fn main() -> Result<()> {
    let d = Device::cpu()?;
    let (width, heads, batch, longest) = (256, 4, 16, 128);
    let options = TransformerEncoderLayerOptions {
        dim_feedforward: 4 * width,
        batch_first: true,
        activation: Activation::Gelu,
        ..Default::default()
    };
    let layer = TransformerEncoderLayer::new(&mut Init::new(&d, 0), width, heads, options)?;
    let mut encoder = TransformerEncoder::new(&layer, 2, None);
    encoder.eval();
    // Evenly from 8 to the longest: a mean of a little over half.
    let lengths: Vec<usize> = (0..batch).map(|i| 8 + (longest - 8) * ((i * 7) % batch) / (batch - 1)).collect();
    let hidden = lengths.iter().flat_map(|l| (0..longest).map(|t| t >= *l).collect::<Vec<bool>>()).collect();
    let mask = Tensor::from_vec(&d, hidden, [batch, longest])?;
    let x = Tensor::randn(&d, [batch, longest, width], 1)?;
    let layout = RaggedLayout::new(&d, &lengths, 4)?;
    let rows = layout.pack(&x)?;
    let padded = compile(|e: &mut TransformerEncoder, (x, mask): &(Tensor, Tensor)| {
        e.forward_masked(x, &EncoderMasks { src_key_padding_mask: Some(mask), ..Default::default() })
    });
    let packed = compile(|e: &mut TransformerEncoder, (rows, layout): &(Tensor, RaggedLayout)| e.forward_ragged(rows, layout));
    let (a, b) = ((x, mask), (rows.clone(), layout.clone()));
    let time = |f: &mut dyn FnMut() -> Result<Tensor>| -> Result<Duration> {
        let begin = Instant::now();
        f()?.to_vec::<f32>()?;
        Ok(begin.elapsed())
    };
    let mut best = [Duration::MAX; 2];
    // Interleaved, the least of each: other load on the machine comes and goes.
    for _ in 0..30 {
        best[0] = best[0].min(time(&mut || padded.call(&mut encoder, &a))?);
        best[1] = best[1].min(time(&mut || packed.call(&mut encoder, &b))?);
    }
    let (total, all) = (rows.shape()[0], batch * longest);
    println!(
        "{batch} sequences, {total} rows of {all} ({:.0}% padding), {} buckets",
        100.0 * (all - total) as f64 / all as f64,
        layout.buckets()
    );
    println!("padded {:?}, packed {:?}: {:.2} times as fast", best[0], best[1], best[0].as_secs_f64() / best[1].as_secs_f64());
    Ok(())
}
