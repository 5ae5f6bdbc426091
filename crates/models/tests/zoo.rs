//! Models load what PyTorch, torchvision, timm and Hugging Face save, give their logits, and train as they do.
//!
//! `tests/zoo/generate.py` made the files.

mod common;

use aludel_checkpoint::{State, decode};
use aludel_models::{
    BertConfig, BertForMaskedLm, BertForSequenceClassification, BertInputs, Gan, GanConfig, GanTrain, Gpt2, Gpt2Config, Llama, LlamaConfig,
    LstmLm, LstmLmConfig, Published, ResNet, ResNetConfig, ResNetKind, UNet, UNetConfig, Vgg, VggConfig, Vit, VitConfig,
};
use aludel_nn::{AdamConfig, AdamW, Init, Module, Optimizer, Parameters, Sgd, SgdConfig};
use aludel_tensor::{Device, Result, Tensor, Tree, compile};
use common::devices;
use std::collections::BTreeMap;

/// Reductions are summed in another order than PyTorch's: f32 agrees to about 1e-6 of the largest logit in one pass, and AdamW, which
/// divides by the size of gradients, lets it grow to about 1e-5 of the loss in a few steps. The residual networks take four small steps
/// of SGD: of AdamW's, or of larger ones, they make chaos (in PyTorch, parameters that are 1e-6 of themselves off change the bottlenecks'
/// sixth loss by 0.2 at a rate of 0.001, and the fifth by 9e-6 at 0.0001).
const LOGITS: f64 = 3e-5;
const LOSSES: f64 = 1e-4;
/// The first gradients of two devices, as a share of their norm: a wrong term is off by far more. Through twenty normalized layers of few
/// pixels rounding grows: PyTorch's own in f32 are up to 5e-5 from those in f64, at the first layer's bias, where C's are 2e-5 and
/// WGSL's 7e-5 from the interpreter's.
const GRADIENTS: f64 = 2e-4;

fn read(name: &str) -> State {
    let path = format!("{}/../../tests/zoo/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
    decode(name, &std::fs::read(path).unwrap()).unwrap()
}

/// One model's part of what PyTorch gave.
struct Expected<'a> {
    name: &'a str,
    state: &'a State,
    device: &'a Device,
}

impl Expected<'_> {
    fn tensor(&self, key: &str) -> Tensor {
        self.state[&format!("{}.{key}", self.name)].tensor(self.device).unwrap()
    }

    fn values(&self, key: &str) -> Vec<f64> {
        self.tensor(key).to_vec::<f32>().unwrap().into_iter().map(f64::from).collect()
    }

    /// The tensors of the model's file on the device.
    fn file(&self) -> BTreeMap<String, Tensor> {
        read(self.name).iter().map(|(n, a)| (n.clone(), a.tensor(self.device).unwrap())).collect()
    }
}

fn close(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    let worst = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance * scale, "{what}: {worst:e} apart of {scale}\n{ours:?}\n{theirs:?}");
}

#[derive(Clone, Tree)]
struct Train<M: Tree, O: Tree> {
    model: M,
    optimizer: O,
}

const LR: f64 = 0.001;

fn adamw<M: Tree>(model: &M) -> AdamW {
    AdamW::new(model, AdamConfig { lr: LR, ..AdamConfig::default() }).unwrap()
}

fn sgd<M: Tree>(model: &M) -> Sgd {
    Sgd::new(model, SgdConfig { lr: 0.1 * LR, ..SgdConfig::default() }).unwrap()
}

/// What a model is given beside its targets, and how it makes logits of it.
type Forward<M> = fn(&M, &[Tensor]) -> Result<Tensor>;

/// Loads the file, compares the logits, and follows the losses, eager and compiled.
fn reproduces<M: Tree + Clone>(
    name: &str,
    make: impl Fn(&mut Init) -> Result<M>,
    load: impl Fn(&mut M, &BTreeMap<String, Tensor>) -> Result<()>,
    inputs: impl Fn(&Expected) -> Vec<Tensor>,
    forward: Forward<M>,
) {
    reproduces_with(name, make, load, inputs, forward, adamw);
}

fn reproduces_with<M: Tree + Clone, O: Optimizer + Tree + Clone>(
    name: &str,
    make: impl Fn(&mut Init) -> Result<M>,
    load: impl Fn(&mut M, &BTreeMap<String, Tensor>) -> Result<()>,
    inputs: impl Fn(&Expected) -> Vec<Tensor>,
    forward: Forward<M>,
    optimizer: fn(&M) -> O,
) {
    let state = read("expected");
    for device in &devices() {
        let expected = Expected { name, state: &state, device };
        let mut model = make(&mut Init::new(device, 0)).unwrap();
        load(&mut model, &expected.file()).unwrap();
        let (x, y) = (inputs(&expected), expected.tensor("y"));
        model.eval();
        // Eager operators are the oracle's to check on devices: a C compiler would run for each of them.
        let interprets = device.target().is_none();
        let logits = match interprets {
            true => forward(&model, &x),
            false => compile(move |m: &mut M, x: &Vec<Tensor>| forward(m, x)).call(&mut model, &x),
        };
        let logits = logits.unwrap();
        let logits: Vec<f64> = logits.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect();
        close(&format!("{name} logits on {device}"), &logits, &expected.values("logits"), LOGITS);

        model.train();
        let mut eager = Train { optimizer: optimizer(&model), model };
        let mut compiled = eager.clone();
        let run = move |s: &mut Train<M, O>, (x, y): &(Vec<Tensor>, Tensor)| {
            let logits = forward(&s.model, x)?;
            // Classes stand behind the batch in images, and last in sequences.
            let loss = match (logits.rank(), y.rank()) {
                (3, 2) => {
                    let classes = logits.size(-1)?;
                    logits.reshape((-1, &classes))?.cross_entropy(&y.reshape([-1])?)?
                }
                _ => logits.cross_entropy(y)?,
            };
            s.optimizer.step(&mut s.model, &loss.backward()?)?;
            Ok(loss)
        };
        let step = compile(run).fullgraph(true);
        let theirs = expected.values("losses");
        let batch = (x, y);
        let ours: Vec<f64> = theirs.iter().map(|_| step.call(&mut compiled, &batch).unwrap().item().unwrap()).collect();
        close(&format!("{name} compiled losses on {device}"), &ours, &theirs, LOSSES);
        if interprets {
            let ours: Vec<f64> = theirs.iter().map(|_| run(&mut eager, &batch).unwrap().item().unwrap()).collect();
            close(&format!("{name} eager losses"), &ours, &theirs, LOSSES);
        }
    }
}

/// The images that `pattern` of the script makes.
fn pattern(device: &Device, shape: [usize; 4]) -> Vec<Tensor> {
    let values = (0..shape.iter().product()).map(|i: usize| ((i * 37 % 101) as f32 - 50.0) / 25.0).collect();
    vec![Tensor::from_vec(device, values, shape).unwrap()]
}

fn strictly<M: Tree>(model: &mut M, file: &BTreeMap<String, Tensor>) -> Result<()> {
    model.load_state_dict(file)
}

#[test]
fn resnets() {
    let small = |kind, width| ResNetConfig { kind, layers: vec![1, 2, 1, 1], width, channels: 3, classes: 5 };
    let cases = [("resnet", small(ResNetKind::Bottleneck, 2)), ("resnet_basic", small(ResNetKind::Basic, 2))];
    for (name, config) in cases {
        let images = |e: &Expected| pattern(e.device, [4, 3, 64, 64]);
        reproduces_with(name, |init| ResNet::new(init, &config), strictly, images, |m, x| m.forward(&x[0]), sgd);
        gradients_agree(name, &config);
    }
}

/// Every device gives the interpreter's gradients of the first training step.
fn gradients_agree(name: &str, config: &ResNetConfig) {
    let state = read("expected");
    let mut first: Option<Vec<Vec<f32>>> = None;
    for device in &devices() {
        let expected = Expected { name, state: &state, device };
        let mut model = ResNet::new(&mut Init::new(device, 0), config).unwrap();
        model.load_state_dict(&expected.file()).unwrap();
        model.train();
        let run = |m: &mut ResNet, (x, y): &(Tensor, Tensor)| {
            let gradients = m.forward(x)?.cross_entropy(y)?.backward()?;
            m.named_parameters().iter().map(|(_, p)| gradients.get(p).cloned()).collect::<Result<Vec<Tensor>>>()
        };
        let batch = (pattern(device, [4, 3, 64, 64]).remove(0), expected.tensor("y"));
        let gradients = compile(run).fullgraph(true).call(&mut model, &batch).unwrap();
        let gradients: Vec<Vec<f32>> = gradients.iter().map(|g| g.to_vec().unwrap()).collect();
        let Some(right) = &first else {
            first = Some(gradients);
            continue;
        };
        for ((parameter, _), (ours, right)) in model.named_parameters().iter().zip(gradients.iter().zip(right)) {
            let norm = |v: &mut dyn Iterator<Item = f32>| v.map(|x| (x as f64).powi(2)).sum::<f64>().sqrt();
            let apart = norm(&mut ours.iter().zip(right).map(|(a, b)| a - b)) / norm(&mut right.iter().copied());
            assert!(apart <= GRADIENTS, "{name}: the gradient of {parameter} on {device} is {apart:e} of its norm off");
        }
    }
}

#[test]
fn a_vgg() {
    let stages = vec![vec![4], vec![6, 6]];
    let config = VggConfig { stages, pooled: 2, hidden: 8, dropout: 0.0, channels: 3, classes: 5 };
    let images = |e: &Expected| pattern(e.device, [4, 3, 64, 64]);
    reproduces("vgg", |init| Vgg::new(init, &config), strictly, images, |m, x| m.forward(&x[0]));
}

#[test]
fn a_vision_transformer() {
    let config = VitConfig {
        img_size: 16,
        patch_size: 8,
        embed_dim: 16,
        depth: 2,
        num_heads: 2,
        mlp_ratio: 2,
        num_classes: 5,
        ..VitConfig::vit_tiny()
    };
    let images = |e: &Expected| pattern(e.device, [4, 3, 16, 16]);
    reproduces("vit", |init| Vit::new(init, &config), strictly, images, |m, x| m.forward(&x[0]));
}

#[test]
fn a_u_net() {
    let config = UNetConfig { channels: 1, classes: 2, width: 1 };
    let images = |e: &Expected| pattern(e.device, [4, 1, 20, 22]);
    reproduces("unet", |init| UNet::new(init, &config), strictly, images, |m, x| m.forward(&x[0]));
}

fn tokens(e: &Expected) -> Vec<Tensor> {
    vec![e.tensor("x")]
}

#[test]
fn a_gpt2() {
    let config = Gpt2Config { vocab_size: 32, n_positions: 16, n_embd: 16, n_layer: 2, n_head: 2, dropout: 0.0 };
    reproduces("gpt2", |init| Gpt2::new(init, &config), Gpt2::load_published, tokens, |m, x| m.forward(&x[0]));
}

#[test]
fn a_llama() {
    let config = LlamaConfig {
        vocab_size: 32,
        hidden_size: 16,
        intermediate_size: 24,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        rms_norm_eps: 1e-6,
        tie_word_embeddings: false,
        ..LlamaConfig::smol()
    };
    reproduces("llama", |init| Llama::new(init, &config), Llama::load_published, tokens, |m, x| m.forward(&x[0]));
}

fn bert(num_hidden_layers: usize) -> BertConfig {
    BertConfig {
        vocab_size: 32,
        hidden_size: 16,
        num_hidden_layers,
        num_attention_heads: 2,
        intermediate_size: 24,
        max_position_embeddings: 16,
        hidden_dropout_prob: 0.0,
        attention_probs_dropout_prob: 0.0,
        ..BertConfig::bert_base()
    }
}

#[test]
fn berts() {
    reproduces(
        "bert",
        |init| BertForSequenceClassification::new(init, &bert(2), 3),
        BertForSequenceClassification::load_published,
        |e| vec![e.tensor("x"), e.tensor("mask"), e.tensor("kinds")],
        |m, x| m.logits(&x[0], BertInputs { attention_mask: Some(&x[1]), token_type_ids: Some(&x[2]) }),
    );
    reproduces("bert_mlm", |init| BertForMaskedLm::new(init, &bert(1)), BertForMaskedLm::load_published, tokens, |m, x| m.forward(&x[0]));
}

#[test]
fn an_lstm_language_model() {
    let config = LstmLmConfig { vocabulary: 32, emsize: 8, nhid: 12, nlayers: 2, dropout: 0.0 };
    reproduces("lstm", |init| LstmLm::new(init, &config), strictly, tokens, |m, x| m.forward(&x[0]));
}

#[test]
fn a_gan_of_two_optimizers() {
    let state = read("expected");
    for device in &devices() {
        let expected = Expected { name: "gan", state: &state, device };
        let mut gan = Gan::new(&mut Init::new(device, 0), &GanConfig { noise: 4, hidden: 8, sample: 2 }).unwrap();
        gan.load_state_dict(&expected.file()).unwrap();
        let mut eager = GanTrain::new(gan, |m| Ok(adamw(m))).unwrap();
        let mut compiled = eager.clone();
        let step = compile(|s: &mut GanTrain<AdamW>, (real, noise): &(Tensor, Tensor)| s.step(real, noise)).fullgraph(true);
        let batch = (expected.tensor("real"), expected.tensor("noise"));
        let theirs = expected.values("losses");
        let item = |t: Tensor| t.item().unwrap();
        let ours: Vec<f64> = (0..theirs.len() / 2)
            .flat_map(|_| {
                let (d, g) = step.call(&mut compiled, &batch).unwrap();
                [item(d), item(g)]
            })
            .collect();
        close(&format!("gan compiled on {device}"), &ours, &theirs, LOSSES);
        assert_eq!(step.compilations(), 1);
        let ours: Vec<f64> = (0..theirs.len() / 2)
            .flat_map(|_| {
                let (d, g) = eager.step(&batch.0, &batch.1).unwrap();
                [item(d), item(g)]
            })
            .collect();
        close(&format!("gan eager on {device}"), &ours, &theirs, LOSSES);
    }
}

/// The full sizes have as many parameters as the libraries' models; no number of them is made.
#[test]
fn published_sizes() {
    let device = Device::interpreter();
    let init = &mut Init::new(&device, 0);
    let bert = BertConfig::bert_base();
    let counts = [
        ("resnet18", ResNet::new(init, &ResNetConfig::resnet18()).unwrap().parameter_count(), 11_689_512),
        ("resnet50", ResNet::new(init, &ResNetConfig::resnet50()).unwrap().parameter_count(), 25_557_032),
        ("vgg16", Vgg::new(init, &VggConfig::vgg16()).unwrap().parameter_count(), 138_357_544),
        ("unet", UNet::new(init, &UNetConfig::standard()).unwrap().parameter_count(), 31_037_698),
        ("vit_tiny", Vit::new(init, &VitConfig::vit_tiny()).unwrap().parameter_count(), 5_717_416),
        ("gpt2", Gpt2::new(init, &Gpt2Config::gpt2_small()).unwrap().parameter_count(), 124_439_808),
        ("lstm", LstmLm::new(init, &LstmLmConfig::medium()).unwrap().parameter_count(), 19_780_400),
        ("SmolLM-135M", Llama::new(init, &LlamaConfig::smol()).unwrap().parameter_count(), 134_515_008),
        ("bert-base", aludel_models::BertModel::new(init, &bert).unwrap().parameter_count(), 109_482_240),
        ("bert-base, two classes", BertForSequenceClassification::new(init, &bert, 2).unwrap().parameter_count(), 109_483_778),
        ("bert-base, masked tokens", BertForMaskedLm::new(init, &bert).unwrap().parameter_count(), 109_514_298),
    ];
    for (name, ours, theirs) in counts {
        assert_eq!(ours, theirs, "{name}");
    }
}

/// Files of the body alone, and files with what a library repeats.
#[test]
fn names_of_published_files() {
    let device = Device::interpreter();
    let config = Gpt2Config { vocab_size: 32, n_positions: 16, n_embd: 16, n_layer: 2, n_head: 2, dropout: 0.0 };
    let mut gpt = Gpt2::new(&mut Init::new(&device, 0), &config).unwrap();
    let state: BTreeMap<String, Tensor> = read("gpt2").iter().map(|(n, a)| (n.clone(), a.tensor(&device).unwrap())).collect();
    let mut body: BTreeMap<String, Tensor> =
        state.iter().map(|(n, t)| (n.trim_start_matches("transformer.").to_string(), t.clone())).collect();
    body.insert("h.0.attn.bias".into(), Tensor::ones(&device, [1, 1, 16, 16]).unwrap());
    gpt.load_published(&body).unwrap();
    assert_eq!(gpt.state_dict()["transformer.ln_f.bias"].to_vec::<f32>().unwrap(), body["ln_f.bias"].to_vec::<f32>().unwrap());

    // The error lists everything, and nothing is changed.
    let before = gpt.state_dict()["transformer.wte.weight"].to_vec::<f32>().unwrap();
    let mut wrong = state.clone();
    wrong.insert("transformer.wte.weight".into(), Tensor::zeros(&device, [31, 16]).unwrap());
    wrong.insert("transformer.h.2.ln_1.weight".into(), Tensor::zeros(&device, [16]).unwrap());
    wrong.remove("transformer.h.1.mlp.c_fc.bias");
    wrong.remove("transformer.ln_f.weight");
    let error = gpt.load_published(&wrong).unwrap_err().to_string();
    for part in [
        "missing: transformer.h.1.mlp.c_fc.bias, transformer.ln_f.weight",
        "unexpected: transformer.h.2.ln_1.weight",
        "transformer.wte.weight is f32[31, 16] where the module has f32[32, 16]",
    ] {
        assert!(error.contains(part), "{part} not in {error}");
    }
    assert_eq!(gpt.state_dict()["transformer.wte.weight"].to_vec::<f32>().unwrap(), before);
}

#[test]
fn sizes_that_do_not_fit_are_named() {
    let device = Device::interpreter();
    let init = &mut Init::new(&device, 0);
    let error = |e: Result<()>| e.unwrap_err().to_string();
    let llama = LlamaConfig { num_key_value_heads: 2, ..LlamaConfig::smol() };
    assert!(error(Llama::new(init, &llama).map(|_| ())).contains("9 query heads cannot share 2 key heads"));
    let vit = VitConfig { img_size: 30, ..VitConfig::vit_tiny() };
    assert!(error(Vit::new(init, &vit).map(|_| ())).contains("patches of 16 do not fill images of 30"));
    let resnet = ResNetConfig { layers: vec![2, 2, 2], ..ResNetConfig::resnet18() };
    assert!(error(ResNet::new(init, &resnet).map(|_| ())).contains("3 stages"));
    let gpt = Gpt2Config { n_head: 5, ..Gpt2Config::gpt2_small() };
    assert!(error(Gpt2::new(init, &gpt).map(|_| ())).contains("5 heads do not divide a width of 768"));
}
