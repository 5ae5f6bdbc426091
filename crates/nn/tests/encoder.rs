//! The encoder's fast path: the same results without the padding, and reasons where it is not taken.

use aludel_nn::*;
use aludel_tensor::{Device, Result, Tensor, compile};

fn encoder(d: &Device, batch_first: bool, norm_first: bool) -> Result<TransformerEncoder> {
    let init = &mut Init::new(d, 3);
    let options =
        TransformerEncoderLayerOptions { dim_feedforward: 16, batch_first, norm_first, activation: Activation::Gelu, ..Default::default() };
    let layer = TransformerEncoderLayer::new(init, 8, 2, options)?;
    let mut encoder = TransformerEncoder::new(&layer, 2, Some(LayerNorm::new(init, 8)?));
    encoder.eval();
    Ok(encoder)
}

fn padding(d: &Device, lengths: &[usize], longest: usize) -> Result<Tensor> {
    let hidden: Vec<bool> = lengths.iter().flat_map(|l| (0..longest).map(|t| t >= *l).collect::<Vec<_>>()).collect();
    Tensor::from_vec(d, hidden, [lengths.len(), longest])
}

/// Equal where there are rows, zero elsewhere.
fn same_rows(fast: &Tensor, padded: &Tensor, lengths: &[usize], longest: usize) -> Result<()> {
    let (fast, padded) = (fast.to_vec::<f32>()?, padded.to_vec::<f32>()?);
    for (s, l) in lengths.iter().enumerate() {
        for t in 0..longest {
            for k in 0..8 {
                let at = (s * longest + t) * 8 + k;
                let want = if t < *l { padded[at] } else { 0.0 };
                assert!((fast[at] - want).abs() < 2e-5, "sequence {s}, position {t}: {} and {want}", fast[at]);
            }
        }
    }
    Ok(())
}

#[test]
fn padding_is_skipped_and_changes_nothing() -> Result<()> {
    let d = Device::interpreter();
    for (lengths, longest) in [(&[5usize, 2, 7, 7, 1][..], 9), (&[3, 4], 4), (&[1, 6, 6, 2, 3, 3, 5], 6)] {
        for norm_first in [false, true] {
            let x = Tensor::randn(&d, [lengths.len(), longest, 8], 1)?;
            let mask = padding(&d, lengths, longest)?;
            let masks = EncoderMasks { src_key_padding_mask: Some(&mask), ..Default::default() };
            let first = encoder(&d, true, norm_first)?;
            assert_eq!(first.why_not_fast(&x, &masks)?, None);
            let fast = first.forward_masked(&x, &masks)?;
            let padded = first.clone().enable_nested_tensor(false).forward_masked(&x, &masks)?;
            same_rows(&fast, &padded, lengths, longest)?;
            // [length, batch, width] is the same turned around.
            let turned = encoder(&d, false, norm_first)?.forward_masked(&x.transpose(0, 1)?, &masks)?;
            same_rows(&turned.transpose(0, 1)?, &padded, lengths, longest)?;
        }
    }
    Ok(())
}

#[test]
fn other_lengths_run_the_same_program() -> Result<()> {
    let d = Device::interpreter();
    let mut e = encoder(&d, true, false)?;
    let run = compile(|e: &mut TransformerEncoder, (rows, layout): &(Tensor, RaggedLayout)| e.forward_ragged(rows, layout));
    // Three short and three long ones each time: a bucket of a single sequence would be a program of its own, as every size of 1.
    let batches = [[10usize, 3, 8, 2, 9, 4], [11, 2, 9, 3, 10, 4], [9, 4, 8, 3, 10, 2], [3, 9, 2, 8, 10, 4]];
    for (seed, lengths) in batches.iter().enumerate() {
        let longest = 11;
        let layout = RaggedLayout::new(&d, lengths, 2)?;
        assert_eq!(layout.buckets(), 2);
        let x = Tensor::randn(&d, [6, longest, 8], seed as u64)?;
        let rows = run.call(&mut e, &(layout.pack(&x)?, layout.clone()))?;
        assert_eq!(rows.shape(), [lengths.iter().sum(), 8]);
        let mask = padding(&d, lengths, longest)?;
        let masks = EncoderMasks { src_key_padding_mask: Some(&mask), ..Default::default() };
        let padded = e.clone().enable_nested_tensor(false).forward_masked(&x, &masks)?;
        let most = *lengths.iter().max().unwrap();
        same_rows(&layout.unpack(&rows)?, &padded.narrow(1, 0, most)?, lengths, most)?;
    }
    assert_eq!(run.compilations(), 2);
    assert!(RaggedLayout::new(&d, &[3, 0], 1).is_err() && RaggedLayout::new(&d, &[], 1).is_err());
    Ok(())
}

#[test]
fn every_reason_is_told() -> Result<()> {
    let d = Device::interpreter();
    let mut e = encoder(&d, true, false)?;
    let x = Tensor::randn(&d, [2, 4, 8], 1)?;
    let mask = padding(&d, &[4, 2], 4)?;
    let causal = Tensor::ones(&d, [4, 4])?.triu(1)?.gt(0.5)?;
    let masks = EncoderMasks { src_key_padding_mask: Some(&mask), ..Default::default() };
    let why = |e: &TransformerEncoder, masks: &EncoderMasks| Ok::<_, aludel_tensor::Error>(e.why_not_fast(&x, masks)?.unwrap_or_default());
    assert_eq!(why(&e, &masks)?, "");
    assert!(why(&e, &EncoderMasks::default())?.contains("no src_key_padding_mask"));
    assert!(why(&e, &EncoderMasks { mask: Some(&causal), ..masks })?.contains("besides"));
    assert!(why(&e, &EncoderMasks { is_causal: true, ..masks })?.contains("besides"));
    let full = padding(&d, &[4, 4], 4)?;
    assert!(why(&e, &EncoderMasks { src_key_padding_mask: Some(&full), ..masks })?.contains("nothing is padding"));
    let empty = padding(&d, &[4, 0], 4)?;
    assert!(why(&e, &EncoderMasks { src_key_padding_mask: Some(&empty), ..masks })?.contains("all padding"));
    let hole = Tensor::from_slice(&d, &[false, true, false, false, false, false, false, true], [2, 4])?;
    assert!(why(&e, &EncoderMasks { src_key_padding_mask: Some(&hole), ..masks })?.contains("before the end"));
    assert!(why(&e.clone().enable_nested_tensor(false), &masks)?.contains("enable_nested_tensor"));
    // A compiled function cannot read the mask; it says so and gives the same.
    let eager = e.forward_masked(&x, &masks)?;
    let run = compile(|e: &mut TransformerEncoder, (x, mask): &(Tensor, Tensor)| {
        e.forward_masked(x, &EncoderMasks { src_key_padding_mask: Some(mask), ..Default::default() })
    });
    let compiled = run.call(&mut e, &(x.clone(), mask.clone()))?;
    same_rows(&eager, &compiled, &[4, 2], 4)?;
    let text = run.explain().to_string();
    assert!(text.contains("padding is not skipped: the lengths are not known on the host"), "{text}");
    e.train();
    assert!(why(&e, &masks)?.contains("training mode"));
    Ok(())
}
