//! Losses as modules, with PyTorch's defaults: `CrossEntropyLoss { label_smoothing: 0.1, ..Default::default() }`.

use crate::call::{one, operands};
use aludel_ir::op::Attr;
use aludel_tensor::{Attrs, Result, Tensor, Tree};

/// What becomes of a loss's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Tree)]
pub enum Reduction {
    /// They stay apart.
    None,
    #[default]
    Mean,
    Sum,
    /// Their sum over the size of the batch; [`KlDivLoss`] alone has it.
    BatchMean,
}

impl Reduction {
    fn name(self) -> &'static str {
        match self {
            Reduction::None => "none",
            Reduction::Mean => "mean",
            Reduction::Sum => "sum",
            Reduction::BatchMean => "batchmean",
        }
    }
}

macro_rules! losses {
    ($($name:ident, $op:literal, ($($operand:ident),+), weights ($($weight:ident),*), ($($field:ident: $ty:ty = $default:expr),*), $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// Fields are PyTorch's arguments; [the operators](aludel_ir::ops) say what they mean.
        #[derive(Clone, Tree)]
        pub struct $name {
            $(pub $weight: Option<Tensor>,)*
            $(pub $field: $ty,)*
            pub reduction: Reduction,
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($weight: None,)* $($field: $default,)* reduction: Reduction::Mean }
            }
        }

        impl $name {
            /// The loss: a scalar, or one value for each term without reduction.
            ///
            /// # Errors
            ///
            /// Shapes or types that do not fit each other, and fields out of their ranges.
            #[track_caller]
            pub fn forward(&self, $($operand: &Tensor),+) -> Result<Tensor> {
                let attrs = Attrs::new().with("reduction", self.reduction.name())$(.with(stringify!($field), self.$field))*;
                $(let attrs = if self.$weight.is_none() { attrs.with(stringify!($weight), Attr::None) } else { attrs };)*
                one($op, &operands(&[$($operand),+], &[$(&self.$weight),*]), attrs)
            }
        }
    )*};
}
losses! {
    MseLoss, "mse_loss", (input, target), weights (), (), "`(input - target)^2`. PyTorch: `torch.nn.MSELoss`.";
    L1Loss, "l1_loss", (input, target), weights (), (), "`|input - target|`. PyTorch: `torch.nn.L1Loss`.";
    SmoothL1Loss, "smooth_l1_loss", (input, target), weights (), (beta: f64 = 1.0),
        "Squares below `beta`, absolute differences above. PyTorch: `torch.nn.SmoothL1Loss`.";
    HuberLoss, "huber_loss", (input, target), weights (), (delta: f64 = 1.0),
        "As [`SmoothL1Loss`], times `delta`. PyTorch: `torch.nn.HuberLoss`.";
    CrossEntropyLoss, "cross_entropy", (input, target), weights (weight), (ignore_index: i64 = -100, label_smoothing: f64 = 0.0),
        "Of scores `[N, C, ..]` against class indices or probabilities. PyTorch: `torch.nn.CrossEntropyLoss`.";
    NllLoss, "nll_loss", (input, target), weights (weight), (ignore_index: i64 = -100),
        "Of log-probabilities `[N, C, ..]` against class indices. PyTorch: `torch.nn.NLLLoss`.";
    BceLoss, "binary_cross_entropy", (input, target), weights (weight), (),
        "Of probabilities against probabilities. PyTorch: `torch.nn.BCELoss`.";
    BceWithLogitsLoss, "binary_cross_entropy_with_logits", (input, target), weights (weight, pos_weight), (),
        "[`BceLoss`] of the sigmoid, without overflow. PyTorch: `torch.nn.BCEWithLogitsLoss`.";
    KlDivLoss, "kl_div", (input, target), weights (), (log_target: bool = false),
        "Of log-probabilities against probabilities. PyTorch: `torch.nn.KLDivLoss`.";
    PoissonNllLoss, "poisson_nll_loss", (input, target), weights (), (log_input: bool = true, full: bool = false, eps: f64 = 1e-8),
        "Of logarithms of rates against counts. PyTorch: `torch.nn.PoissonNLLLoss`.";
    GaussianNllLoss, "gaussian_nll_loss", (input, target, var), weights (), (full: bool = false, eps: f64 = 1e-6),
        "Of means against values, under variances. PyTorch: `torch.nn.GaussianNLLLoss`.";
    SoftMarginLoss, "soft_margin_loss", (input, target), weights (), (),
        "`log(1 + e^(-target input))` for targets 1 and -1. PyTorch: `torch.nn.SoftMarginLoss`.";
    HingeEmbeddingLoss, "hinge_embedding_loss", (input, target), weights (), (margin: f64 = 1.0),
        "Of distances against targets 1 and -1. PyTorch: `torch.nn.HingeEmbeddingLoss`.";
    MultiMarginLoss, "multi_margin_loss", (input, target), weights (weight), (p: i64 = 1, margin: f64 = 1.0),
        "Of scores `[N, C]` against class indices, by margins. PyTorch: `torch.nn.MultiMarginLoss`.";
    MultiLabelMarginLoss, "multilabel_margin_loss", (input, target), weights (), (),
        "Of scores `[N, C]` against lists of class indices that -1 ends. PyTorch: `torch.nn.MultiLabelMarginLoss`.";
    MultiLabelSoftMarginLoss, "multilabel_soft_margin_loss", (input, target), weights (weight), (),
        "Of scores `[N, C]` against zeros and ones. PyTorch: `torch.nn.MultiLabelSoftMarginLoss`.";
    MarginRankingLoss, "margin_ranking_loss", (input1, input2, target), weights (), (margin: f64 = 0.0),
        "Of two scores, the first to be larger where the target is 1. PyTorch: `torch.nn.MarginRankingLoss`.";
    CosineEmbeddingLoss, "cosine_embedding_loss", (input1, input2, target), weights (), (margin: f64 = 0.0),
        "Of vectors to be alike (1) or not (-1), by their cosine. PyTorch: `torch.nn.CosineEmbeddingLoss`.";
    TripletMarginLoss, "triplet_margin_loss", (anchor, positive, negative), weights (),
        (margin: f64 = 1.0, p: f64 = 2.0, eps: f64 = 1e-6, swap: bool = false),
        "Of an anchor that is to be closer to one vector than to another. PyTorch: `torch.nn.TripletMarginLoss`.";
    CtcLoss, "ctc_loss", (log_probs, targets, input_lengths, target_lengths), weights (), (blank: i64 = 0, zero_infinity: bool = false),
        "Of log-probabilities `[T, N, C]` against sequences of labels. PyTorch: `torch.nn.CTCLoss`.";
}
