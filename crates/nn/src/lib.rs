//! Modules, initialisers and optimizers, by PyTorch's names and with PyTorch's defaults.
//!
//! A module is a tree of tensors with a `forward`. Parameters are the tensors that require a gradient; their names are the paths of the
//! tree, which are PyTorch's `state_dict` names for modules that name their fields as PyTorch does.

#![warn(clippy::missing_errors_doc, clippy::too_many_lines)]

pub mod activation;
pub mod amp;
pub mod attention;
mod call;
pub mod clip;
pub mod container;
pub mod conv;
#[cfg(not(target_arch = "wasm32"))]
pub mod distributed;
pub mod dropout;
pub mod fold;
pub mod functional;
pub mod init;
pub mod linear;
pub mod loss;
pub mod mode;
pub mod module;
pub mod norm;
pub mod optim;
pub mod padding;
pub mod pool;
pub mod ragged;
pub mod random;
pub mod rnn;
pub mod rotary;
pub mod schedule;
pub mod transformer;

pub use activation::{Activation, Elu, Glu, LeakyRelu, LogSoftmax, PRelu, Softmax};
pub use amp::{GradScaler, GradScalerConfig, MixedPrecision, Precision};
pub use attention::{AttentionArgs, MultiheadAttention, MultiheadAttentionOptions};
pub use clip::{clip_grad_norm, clip_grad_norm_of, clip_grad_value};
pub use container::{Layer, ModuleDict, ModuleList, Sequential};
pub use conv::{Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d};
pub use dropout::{Dropout, Dropout2d};
pub use fold::{Fold, Unfold};
pub use functional::{functional_call, with_parameters};
pub use init::{Fan, Init};
pub use linear::{Embedding, Linear};
pub use loss::{
    BceLoss, BceWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CtcLoss, GaussianNllLoss, HingeEmbeddingLoss, HuberLoss, KlDivLoss,
    L1Loss, MarginRankingLoss, MseLoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NllLoss, PoissonNllLoss,
    Reduction, SmoothL1Loss, SoftMarginLoss, TripletMarginLoss,
};
pub use mode::{Buffer, Training};
pub use module::{IncompatibleKeys, Module, Parameters};
pub use norm::{
    BatchNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LayerNorm,
    RmsNorm,
};
pub use optim::{
    Adadelta, AdadeltaConfig, Adafactor, AdafactorConfig, Adagrad, AdagradConfig, Adam, AdamConfig, AdamW, Adamax, AdamaxConfig, AdjustLr,
    Asgd, AsgdConfig, Groups, Lbfgs, LbfgsConfig, LineSearch, Lion, LionConfig, Muon, MuonConfig, NAdam, NAdamConfig, Optimizer,
    ParamGroup, RAdam, RAdamConfig, RmsProp, RmsPropConfig, Rprop, RpropConfig, Sgd, SgdConfig,
};
pub use padding::{
    CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d, ReflectionPad2d,
    ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d,
};
pub use pool::{
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d, AvgPool1d, AvgPool2d,
    AvgPool3d, Flatten, Identity, MaxPool1d, MaxPool2d, MaxPool3d, PixelShuffle, Unflatten, Upsample, UpsampleMode,
};
pub use ragged::RaggedLayout;
pub use random::Generator;
pub use rnn::{Gru, GruCell, Lstm, LstmCell, Nonlinearity, Rnn, RnnOptions};
pub use rotary::{RotaryEmbedding, RotaryPairs};
pub use schedule::{
    Anneal, ConstantLr, CosineAnnealingLr, CosineAnnealingWarmRestarts, ExponentialLr, LambdaLr, LinearLr, MultiStepLr, OneCycleLr,
    PlateauConfig, PlateauMode, PolynomialLr, ReduceLrOnPlateau, Schedule, Scheduler, SequentialLr, StepLr, ThresholdMode,
};
pub use transformer::{EncoderMasks, TransformerEncoder, TransformerEncoderLayer, TransformerEncoderLayerOptions};
