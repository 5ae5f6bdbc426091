//! The vision transformer as timm's `VisionTransformer`: its parameter names and initial values. Dosovitskiy et al., "An Image is Worth
//! 16x16 Words", ICLR 2021; Touvron et al., "Training data-efficient image transformers", ICML 2021, for its smallest size.

use aludel_nn::{Conv2d, Dropout, Init, LayerNorm, Linear, Module};
use aludel_tensor::{ConvOptions, Error, Result, Tensor, Tree, cat};

/// Sizes of a [`Vit`], by the names of timm's `VisionTransformer`.
#[derive(Clone, Debug, PartialEq)]
pub struct VitConfig {
    /// Rows and columns of the images; a multiple of the patches'.
    pub img_size: usize,
    pub patch_size: usize,
    /// Channels of the images.
    pub in_chans: usize,
    pub num_classes: usize,
    pub embed_dim: usize,
    pub depth: usize,
    pub num_heads: usize,
    /// Width of the hidden layer of a block in multiples of `embed_dim`.
    pub mlp_ratio: usize,
    /// Of the residual branches while training.
    pub drop_rate: f64,
}

impl VitConfig {
    /// timm's `vit_tiny_patch16_224`: 5,717,416 parameters.
    pub fn vit_tiny() -> Self {
        VitConfig {
            img_size: 224,
            patch_size: 16,
            in_chans: 3,
            num_classes: 1000,
            embed_dim: 192,
            depth: 12,
            num_heads: 3,
            mlp_ratio: 4,
            drop_rate: 0.0,
        }
    }
}

const EPS: f64 = 1e-6;
/// The standard deviation that weights start with.
const STD: f64 = 0.02;

fn linear(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
    let mut layer = Linear::new(init, inputs, outputs)?;
    layer.weight = init.trunc_normal([outputs, inputs], STD)?;
    layer.bias = Some(init.zeros([outputs])?);
    Ok(layer)
}

#[derive(Clone, Tree)]
struct PatchEmbed {
    proj: Conv2d,
}

#[derive(Clone, Tree)]
struct Attention {
    qkv: Linear,
    proj: Linear,
    heads: usize,
    width: usize,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Module for Attention {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (batch, time, all) = (x.size(0)?, x.size(1)?, self.heads * self.width);
        let qkv = self.qkv.forward(x)?;
        let part = |i: usize| qkv.narrow(-1, i * all, all)?.reshape((&batch, &time, self.heads, self.width))?.transpose(1, 2);
        let y = part(0)?.scaled_dot_product_attention(&part(1)?, &part(2)?, None, false)?;
        self.dropout.forward(&self.proj.forward(&y.transpose(1, 2)?.reshape((&batch, &time, all))?)?)
    }
}

#[derive(Clone, Tree)]
struct Mlp {
    fc1: Linear,
    fc2: Linear,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Module for Mlp {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let hidden = self.dropout.forward(&self.fc1.forward(x)?.gelu("none")?)?;
        self.dropout.forward(&self.fc2.forward(&hidden)?)
    }
}

#[derive(Clone, Tree)]
struct VitBlock {
    norm1: LayerNorm,
    attn: Attention,
    norm2: LayerNorm,
    mlp: Mlp,
}

impl VitBlock {
    fn new(init: &mut Init, config: &VitConfig) -> Result<VitBlock> {
        let &VitConfig { embed_dim: width, num_heads: heads, mlp_ratio, drop_rate, .. } = config;
        if heads == 0 || !width.is_multiple_of(heads) {
            return Err(Error::invalid("Vit", format!("{heads} heads do not divide a width of {width}"), "give a divisor of the width"));
        }
        let dropout = Dropout::new(drop_rate)?;
        Ok(VitBlock {
            norm1: LayerNorm::new(init, width)?.eps(EPS),
            attn: Attention {
                qkv: linear(init, width, 3 * width)?,
                proj: linear(init, width, width)?,
                heads,
                width: width / heads,
                dropout,
            },
            norm2: LayerNorm::new(init, width)?.eps(EPS),
            mlp: Mlp { fc1: linear(init, width, mlp_ratio * width)?, fc2: linear(init, mlp_ratio * width, width)?, dropout },
        })
    }
}

impl Module for VitBlock {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = x.add(&self.attn.forward(&self.norm1.forward(x)?)?)?;
        x.add(&self.mlp.forward(&self.norm2.forward(&x)?)?)
    }
}

/// Classes of images from a token beside those of the patches; parameters are `cls_token`, `pos_embed`, `patch_embed.proj.weight`,
/// `blocks.0.norm1.weight`, `blocks.0.attn.qkv.weight`, .., `head.bias`.
#[derive(Clone, Tree)]
pub struct Vit {
    /// `[1, 1, embed_dim]`
    cls_token: Tensor,
    /// `[1, 1 + patches, embed_dim]`
    pos_embed: Tensor,
    patch_embed: PatchEmbed,
    blocks: Vec<VitBlock>,
    norm: LayerNorm,
    head: Linear,
    #[tree(flatten)]
    dropout: Dropout,
}

impl Vit {
    /// With fresh weights.
    ///
    /// # Errors
    ///
    /// When patches do not fill the image, heads do not divide the width, a size is zero, or the parameters are more than the device can
    /// hold.
    pub fn new(init: &mut Init, config: &VitConfig) -> Result<Vit> {
        let &VitConfig { img_size, patch_size, in_chans, num_classes, embed_dim: width, depth, drop_rate, .. } = config;
        if patch_size == 0 || img_size == 0 || !img_size.is_multiple_of(patch_size) {
            let problem = format!("patches of {patch_size} do not fill images of {img_size}");
            return Err(Error::invalid("Vit", problem, "give an image size that is a multiple of the patch size"));
        }
        let patches = (img_size / patch_size) * (img_size / patch_size);
        let patch = i64::try_from(patch_size).unwrap_or(i64::MAX);
        Ok(Vit {
            cls_token: init.normal_std([1, 1, width], 1e-6)?,
            pos_embed: init.trunc_normal([1, 1 + patches, width], STD)?,
            patch_embed: PatchEmbed { proj: Conv2d::new(init, in_chans, width, patch, ConvOptions::default().stride(patch))? },
            blocks: (0..depth).map(|_| VitBlock::new(init, config)).collect::<Result<_>>()?,
            norm: LayerNorm::new(init, width)?.eps(EPS),
            head: linear(init, width, num_classes)?,
            dropout: Dropout::new(drop_rate)?,
        })
    }
}

impl Module for Vit {
    /// `[N, channels, H, W]` to logits `[N, classes]`; height and width are the configuration's.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let patches = self.patch_embed.proj.forward(x)?.flatten(2, -1)?.transpose(1, 2)?;
        let class = self.cls_token.expand((&x.size(0)?, 1, -1))?;
        let mut x = self.dropout.forward(&cat(&[&class, &patches], 1)?.add(&self.pos_embed)?)?;
        for block in &self.blocks {
            x = block.forward(&x)?;
        }
        self.head.forward(&self.norm.forward(&x)?.narrow(1, 0, 1)?.squeeze(1)?)
    }
}
