//! From text to a checked configuration, with a message at the field for everything that is wrong.

use super::{Activation, Config, Dataset, Decoder, Field, Kind, Optimizer, Precision, Preset, Task};
use crate::data::{addition, digits, points};
use serde::{Deserialize, Serialize};

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The field's key.
    pub field: String,
    /// For the person who filled it in.
    pub message: String,
}

/// The most hidden layers, units in one, and numbers to learn: what a browser's GPU memory holds with ease, twice.
const MAX_LAYERS: usize = 8;
const MAX_WIDTH: usize = 4096;
const MAX_CHANNELS: usize = 512;
const MAX_PARAMETERS: usize = 20_000_000;
/// The most sums in a batch.
const MAX_SUMS: usize = 1024;
const MAX_SEED: usize = u32::MAX as usize;

struct Reader<'a> {
    preset: Preset,
    given: &'a [(String, String)],
    errors: Vec<FieldError>,
}

pub(super) fn config(preset: Preset, given: &[(String, String)]) -> Result<Config, Vec<FieldError>> {
    let mut r = Reader { preset, given, errors: Vec::new() };
    let (task, max_batch) = match preset {
        Preset::Points => {
            let data = match r.choice("data") {
                "circles" => Dataset::Circles,
                "xor" => Dataset::Xor,
                "moons" => Dataset::Moons,
                _ => Dataset::Spirals,
            };
            let activation = match r.choice("activation") {
                "relu" => Activation::Relu,
                "gelu" => Activation::Gelu,
                "silu" => Activation::Silu,
                "sigmoid" => Activation::Sigmoid,
                _ => Activation::Tanh,
            };
            (Task::Points { data, layers: r.widths("layers"), activation }, points::TRAIN)
        }
        Preset::Digits => (Task::Digits { layers: r.widths("layers") }, digits::TRAIN),
        Preset::Cnn => (Task::Cnn { channels: r.channels("channels") }, digits::TRAIN),
        Preset::Autoencoder => (Task::Autoencoder { channels: r.channels("channels") }, digits::TRAIN),
        Preset::Addition => (r.addition(Decoder::Gpt), MAX_SUMS),
        Preset::Llama => (r.addition(Decoder::Llama), MAX_SUMS),
        Preset::Lstm => (r.addition(Decoder::Lstm), MAX_SUMS),
        Preset::ResNet => (Task::ResNet { width: r.integer("width", 1, 128) }, digits::TRAIN),
        Preset::Vit => (r.vit(), digits::TRAIN),
        Preset::Gan => {
            let (noise, hidden) = (r.integer("noise", 1, MAX_WIDTH), r.integer("hidden", 1, MAX_WIDTH));
            (Task::Gan { noise, hidden }, digits::TRAIN)
        }
    };
    let optimizer = match r.choice("optimizer") {
        "sgd" => Optimizer::Sgd,
        "momentum" => Optimizer::Momentum,
        "adam" => Optimizer::Adam,
        _ => Optimizer::AdamW,
    };
    let learning_rate = r.number("lr", 10.0);
    let batch = r.integer("batch", 1, max_batch);
    let seed = r.integer("seed", 0, MAX_SEED) as u64;
    let config = Config { task, optimizer, learning_rate, batch, seed, precision: Precision::F32 };
    if r.errors.is_empty() && config.parameters() > MAX_PARAMETERS {
        let message = format!("{} numbers to learn; at most {MAX_PARAMETERS} fit here", config.parameters());
        r.errors.push(FieldError { field: "layers".into(), message });
    }
    if r.errors.is_empty() { Ok(config) } else { Err(r.errors) }
}

impl<'a> Reader<'a> {
    fn field(&self, key: &str) -> Option<&'static Field> {
        self.preset.fields().iter().find(|f| f.key == key)
    }

    fn text(&self, key: &str) -> &'a str {
        let default = self.field(key).map_or("", |f| f.default);
        self.given.iter().find(|(k, _)| k == key).map_or(default, |(_, v)| v.trim())
    }

    fn fail(&mut self, key: &str, message: String) {
        self.errors.push(FieldError { field: key.into(), message });
    }

    fn choice(&mut self, key: &str) -> &'a str {
        let text = self.text(key);
        if let Some(Kind::Choice(options)) = self.field(key).map(|f| f.kind)
            && !options.iter().any(|(v, _)| *v == text)
        {
            let known: Vec<_> = options.iter().map(|o| o.0).collect();
            self.fail(key, format!("`{text}` is not one of {}", known.join(", ")));
        }
        text
    }

    fn integer(&mut self, key: &str, lo: usize, hi: usize) -> usize {
        match whole(self.text(key), lo, hi) {
            Ok(n) => n,
            Err(message) => {
                self.fail(key, message);
                lo
            }
        }
    }

    /// A finite number above 0 and up to `hi`.
    fn number(&mut self, key: &str, hi: f64) -> f64 {
        let text = self.text(key);
        let problem = match text.parse::<f64>() {
            Ok(v) if v.is_nan() => "not a number",
            Ok(v) if v <= 0.0 => "must be above 0",
            Ok(v) if v > hi => "too large: at most 10",
            // Smaller is zero in f32, and nothing would be learned.
            Ok(v) if v < 1e-12 => "too small: at least 1e-12",
            Ok(v) => return v,
            Err(_) if text.is_empty() => "write a number, such as 0.001",
            Err(_) => "not a number",
        };
        self.fail(key, problem.to_string());
        1.0
    }

    fn widths(&mut self, key: &str) -> Vec<usize> {
        let text = self.text(key);
        let mut out = Vec::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            match whole(part, 1, MAX_WIDTH) {
                Ok(n) => out.push(n),
                Err(message) => {
                    self.fail(key, message);
                    return vec![1];
                }
            }
        }
        if out.len() > MAX_LAYERS {
            self.fail(key, format!("{} hidden layers; at most {MAX_LAYERS}", out.len()));
        }
        out
    }

    /// The channels after each of two convolutions.
    fn channels(&mut self, key: &str) -> [usize; 2] {
        let errors = self.errors.len();
        let given = self.widths(key);
        match given[..] {
            [a, b] if a.max(b) <= MAX_CHANNELS => return [a, b],
            [_, _] => self.fail(key, format!("at most {MAX_CHANNELS} channels")),
            _ if self.errors.len() == errors => self.fail(key, "write two numbers: the channels after each convolution".into()),
            _ => {}
        }
        [1, 1]
    }

    /// Layers, width and heads of a transformer.
    fn transformer(&mut self) -> (usize, usize, usize) {
        let layers = self.integer("layers", 1, MAX_LAYERS);
        let width = self.integer("width", 1, 512);
        let heads = self.integer("heads", 1, 64);
        if self.errors.is_empty() && !width.is_multiple_of(heads) {
            self.fail("heads", format!("must divide the width: {width} is not a multiple of {heads}"));
        }
        (layers, width, heads)
    }

    fn vit(&mut self) -> Task {
        let (layers, width, heads) = self.transformer();
        Task::Vit { layers, width, heads }
    }

    fn addition(&mut self, decoder: Decoder) -> Task {
        let digits = self.integer("digits", 1, 3);
        let (layers, width, heads) = match decoder {
            Decoder::Lstm => (self.integer("layers", 1, MAX_LAYERS), self.integer("width", 1, 512), 1),
            _ => self.transformer(),
        };
        // Rotary positions turn pairs of numbers.
        if self.errors.is_empty() && decoder == Decoder::Llama && !(width / heads).is_multiple_of(2) {
            self.fail("heads", format!("{} numbers for each head: use an even number", width / heads));
        }
        let context = self.integer("context", 1, 256);
        let need = addition::context_for(digits);
        if self.errors.is_empty() && context < need {
            self.fail("context", format!("sums of {digits} digits take {need}"));
        }
        Task::Addition { digits, layers, width, heads, context, decoder }
    }
}

/// A whole number within bounds.
fn whole(text: &str, lo: usize, hi: usize) -> Result<usize, String> {
    if text.is_empty() {
        return Err(format!("write a whole number from {lo} to {hi}"));
    }
    match text.parse::<i128>() {
        Ok(n) if n < lo as i128 => Err(format!("{n} is too small: at least {lo}")),
        Ok(n) if n > hi as i128 => Err(format!("{n} is too large: at most {hi}")),
        Ok(n) => Ok(n as usize),
        Err(_) => Err(format!("`{}` is not a whole number", text.chars().take(20).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(preset: Preset, key: &str, value: &str) -> String {
        match Config::from_fields(preset, &[(key.into(), value.into())]) {
            Ok(c) => format!("accepted: {c:?}"),
            Err(e) => e.into_iter().map(|e| format!("{}: {}", e.field, e.message)).collect::<Vec<_>>().join("; "),
        }
    }

    #[test]
    fn defaults_are_valid() {
        for &p in Preset::ALL {
            let c = Config::from_fields(p, &p.defaults()).unwrap();
            assert_eq!(c.preset(), p);
            assert_eq!(Config::from_fields(p, &[]).unwrap(), c);
            assert_eq!(Preset::from_key(p.key()), Some(p));
        }
        let digits = Config::from_fields(Preset::Digits, &[]).unwrap();
        assert_eq!(digits.parameters(), 64 * 128 + 128 + 128 * 128 + 128 + 128 * 10 + 10);
    }

    #[test]
    fn says_what_is_wrong_at_the_field() {
        assert_eq!(error(Preset::Digits, "layers", "128, 0"), "layers: 0 is too small: at least 1");
        assert_eq!(error(Preset::Digits, "layers", "10000000"), "layers: 10000000 is too large: at most 4096");
        assert_eq!(error(Preset::Digits, "layers", "12, x"), "layers: `x` is not a whole number");
        assert_eq!(error(Preset::Digits, "layers", "4096,4096,4096"), "layers: 33869834 numbers to learn; at most 20000000 fit here");
        assert_eq!(error(Preset::Digits, "lr", "NaN"), "lr: not a number");
        assert_eq!(error(Preset::Digits, "lr", "-1"), "lr: must be above 0");
        assert_eq!(error(Preset::Digits, "lr", "inf"), "lr: too large: at most 10");
        assert_eq!(error(Preset::Digits, "lr", ""), "lr: write a number, such as 0.001");
        assert_eq!(error(Preset::Digits, "batch", "99999999999999999999"), "batch: 99999999999999999999 is too large: at most 1438");
        assert_eq!(error(Preset::Cnn, "channels", "16"), "channels: write two numbers: the channels after each convolution");
        assert_eq!(error(Preset::Cnn, "channels", "16, 513"), "channels: at most 512 channels");
        assert_eq!(error(Preset::Autoencoder, "channels", "16, x"), "channels: `x` is not a whole number");
        assert_eq!(error(Preset::Points, "data", "cube"), "data: `cube` is not one of spirals, circles, xor, moons");
        assert_eq!(error(Preset::Addition, "heads", "5"), "heads: must divide the width: 64 is not a multiple of 5");
        assert_eq!(error(Preset::Addition, "context", "5"), "context: sums of 2 digits take 9");
    }

    #[test]
    fn a_model_without_hidden_layers_is_fine() {
        assert_eq!(Config::from_fields(Preset::Points, &[("layers".into(), "".into())]).unwrap().mlp_sizes(), Some(vec![2, 2]));
    }
}
