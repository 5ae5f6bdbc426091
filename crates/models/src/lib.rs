//! The model zoo and the playground's presets, written with the public API only.
//!
//! Every model is built from a configuration, names its parameters as the library does whose files it takes, and starts from that
//! library's initial values.

#![warn(clippy::missing_errors_doc, clippy::too_many_lines)]

pub mod data;
mod gan;
mod language;
mod mlp;
pub mod presets;
mod published;
mod vision;

pub use gan::{Gan, GanConfig, GanTrain};
pub use language::{
    BertConfig, BertForMaskedLm, BertForSequenceClassification, BertInputs, BertModel, Block, Gpt, Gpt2, Gpt2Config, Llama, LlamaConfig,
    LstmLm, LstmLmConfig, LstmState,
};
pub use mlp::Mlp;
pub use published::Published;
pub use vision::{
    Autoencoder, BasicBlock, Bottleneck, Cnn, LeNet, ResNet, ResNetBlock, ResNetConfig, ResNetKind, UNet, UNetConfig, Vgg, VggConfig, Vit,
    VitConfig,
};
