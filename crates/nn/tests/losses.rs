//! Losses, padding and folding as modules, against PyTorch 2.15's values.

use aludel_nn::*;
use aludel_tensor::{Device, Result, Tensor};

fn close(name: &str, got: Result<Tensor>, want: &[f32]) {
    let got = got.unwrap_or_else(|e| panic!("{name}: {e}")).to_vec::<f32>().unwrap();
    // A few roundings of f32.
    let agree = got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 2e-6 * w.abs().max(1.0));
    assert!(agree, "{name}: {got:?} instead of {want:?}");
}

#[test]
fn losses() -> Result<()> {
    let d = Device::interpreter();
    let floats = |v: &[f32]| Tensor::from_slice(&d, v, [2, 3]);
    let x = floats(&[0.5, -1.0, 2.0, 0.25, 1.5, -0.5])?;
    let (y, s) = (floats(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0])?, floats(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0])?);
    let labels = Tensor::from_slice(&d, &[2i32, 0], [2])?;
    let weight = Some(Tensor::from_slice(&d, &[1.0f32, 2.0, 0.5], [3])?);
    close("mse", MseLoss::default().forward(&x, &y), &[0.46875]);
    close("l1", L1Loss { reduction: Reduction::Sum }.forward(&x, &y), &[3.75]);
    close("smooth l1", SmoothL1Loss { beta: 0.5, ..Default::default() }.forward(&x, &y), &[0.3854167]);
    close("huber", HuberLoss { delta: 0.5, ..Default::default() }.forward(&x, &y), &[0.1927083]);
    let loss = CrossEntropyLoss { weight: weight.clone(), label_smoothing: 0.1, ..Default::default() };
    close("cross entropy", loss.forward(&x, &labels), &[1.2963738]);
    close("ignored", CrossEntropyLoss { ignore_index: 0, ..Default::default() }.forward(&x, &labels), &[0.2413113]);
    close("nll", NllLoss { reduction: Reduction::None, ..Default::default() }.forward(&x, &labels), &[-2.0, -0.25]);
    close("bce", BceLoss::default().forward(&x.sigmoid()?, &y), &[0.4026161]);
    // The first of two optional weights is left out.
    close("logits", BceWithLogitsLoss { pos_weight: weight, ..Default::default() }.forward(&x, &y), &[0.4256076]);
    let loss = KlDivLoss { reduction: Reduction::BatchMean, ..Default::default() };
    close("kl", loss.forward(&x.log_softmax(1)?, &y), &[1.1672872]);
    close("poisson", PoissonNllLoss { full: true, ..Default::default() }.forward(&x, &y), &[1.9629836]);
    close("gaussian", GaussianNllLoss::default().forward(&x, &y, &y.add(1.0)?), &[0.3451618]);
    close("soft margin", SoftMarginLoss::default().forward(&x, &s), &[0.402616]);
    close("hinge", HingeEmbeddingLoss::default().forward(&x, &s), &[1.375]);
    close("multi margin", MultiMarginLoss { p: 2, margin: 0.5, ..Default::default() }.forward(&x, &labels), &[0.5104167]);
    let lists = Tensor::from_slice(&d, &[2i32, -1, 0, 1, 0, -1], [2, 3])?;
    close("multilabel margin", MultiLabelMarginLoss::default().forward(&x, &lists), &[0.0416667]);
    close("multilabel soft margin", MultiLabelSoftMarginLoss::default().forward(&x, &y), &[0.4026161]);
    close("ranking", MarginRankingLoss { margin: 0.5, ..Default::default() }.forward(&x, &y, &s), &[0.2916667]);
    let alike = Tensor::from_slice(&d, &[1i32, -1], [2])?;
    close("cosine", CosineEmbeddingLoss::default().forward(&x, &y, &alike), &[0.5827629]);
    close("triplet", TripletMarginLoss { swap: true, ..Default::default() }.forward(&x, &y, &s), &[0.917892]);
    assert!(MseLoss::default().forward(&x, &labels).is_err());
    Ok(())
}

/// `torch.nn.CTCLoss` of the same numbers: `torch.sin(torch.arange(40.)).reshape(5, 2, 4).log_softmax(2)`.
#[test]
fn sequences_without_alignment() -> Result<()> {
    let d = Device::interpreter();
    let scores = Tensor::from_vec(&d, (0..40).map(|i| (i as f32).sin()).collect(), [5, 2, 4])?.log_softmax(2)?;
    let targets = Tensor::from_slice(&d, &[1i32, 2, 1, 3, 3, 0], [2, 3])?;
    let (of_input, of_target) = (Tensor::from_slice(&d, &[5i32, 4], [2])?, Tensor::from_slice(&d, &[3i32, 2], [2])?);
    let loss = |loss: CtcLoss| loss.forward(&scores, &targets, &of_input, &of_target);
    close("each", loss(CtcLoss { reduction: Reduction::None, ..Default::default() }), &[3.3806226, 3.6994908]);
    // The mean of the losses over their targets' lengths.
    close("mean", loss(CtcLoss::default()), &[1.4883099]);
    let last = CtcLoss { blank: 3, zero_infinity: true, reduction: Reduction::Sum };
    // Two 3s are no labels where 3 is the blank: PyTorch takes them as they are.
    close("sum", loss(last), &[7.8419056]);
    Ok(())
}

#[test]
fn windows_and_edges() -> Result<()> {
    let d = Device::interpreter();
    let x = Tensor::from_vec(&d, (1..=9).map(|v| v as f32).collect(), [1, 1, 3, 3])?;
    let check = |m: &dyn Module, want: &[f32]| close("module", m.forward(&x), want);
    let columns = Unfold::new(2).forward(&x)?;
    close("unfold", Ok(columns.clone()), &[1.0, 2.0, 4.0, 5.0, 2.0, 3.0, 5.0, 6.0, 4.0, 5.0, 7.0, 8.0, 5.0, 6.0, 8.0, 9.0]);
    close("fold", Fold::new(3, 2).forward(&columns), &[1.0, 4.0, 3.0, 8.0, 20.0, 12.0, 7.0, 16.0, 9.0]);
    check(&AdaptiveMaxPool2d::new(2), &[5.0, 6.0, 8.0, 9.0]);
    let reflected = [2.0, 1.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0, 8.0, 7.0, 8.0, 9.0, 5.0, 4.0, 5.0, 6.0];
    check(&ReflectionPad2d::new([1i64, 0, 0, 1]), &reflected);
    // What is cut off does not come round again.
    check(&CircularPad2d::new([-1i64, 1, 0, 0]), &[2.0, 3.0, 2.0, 5.0, 6.0, 5.0, 8.0, 9.0, 8.0]);
    check(&ConstantPad2d::new([0i64, 1, 0, 0], 7.0), &[1.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 7.0, 7.0, 8.0, 9.0, 7.0]);
    assert_eq!(ReplicationPad2d::new(1).forward(&x)?.to_vec::<f32>()?[..6], [1.0, 1.0, 2.0, 3.0, 3.0, 1.0]);
    assert!(ZeroPad2d::new([1i64, 2]).forward(&x).is_err() && ZeroPad2d::new([1i64; 6]).forward(&x).is_err());
    assert!(ReflectionPad1d::new(1).forward(&x).unwrap_err().to_string().contains("ReflectionPad1d"));
    Ok(())
}
