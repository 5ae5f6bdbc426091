//! The hyperparameters of presets as text that people write and links carry, and from there to numbers that are checked, with a message at
//! the field for everything that is wrong.

use serde::{Deserialize, Serialize};

/// One hyperparameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The name in links.
    pub key: &'static str,
    pub label: &'static str,
    pub default: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Integer,
    Number,
    /// Whole numbers, separated by commas.
    Integers,
    /// `(value, label)`.
    Choice(&'static [(&'static str, &'static str)]),
}

pub(super) const fn field(key: &'static str, label: &'static str, default: &'static str, kind: Kind) -> Field {
    Field { key, label, default, kind }
}

/// The fields of a preset: those of its own, and how every one is trained.
pub(super) const fn with_training<const OWN: usize, const ALL: usize>(
    own: [Field; OWN],
    lr: &'static str,
    batch: &'static str,
) -> [Field; ALL] {
    assert!(ALL == OWN + 4);
    let mut all = [field("seed", "Seed", "0", Kind::Integer); ALL];
    let mut i = 0;
    while i < OWN {
        all[i] = own[i];
        i += 1;
    }
    all[OWN] = field("optimizer", "Optimizer", "adamw", super::optimizer::CHOICES);
    all[OWN + 1] = field("lr", "Learning rate", lr, Kind::Number);
    all[OWN + 2] = field("batch", "Batch", batch, Kind::Integer);
    all
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The field's key.
    pub field: String,
    /// For the person who filled it in.
    pub message: String,
}

/// The most hidden layers, units in one, and channels: what a browser's GPU memory holds with ease, twice.
pub(super) const MAX_LAYERS: usize = 8;
pub(super) const MAX_WIDTH: usize = 4096;
const MAX_CHANNELS: usize = 512;

/// Reads fields one by one; what is wrong is collected, and something usable stands in for it.
pub(super) struct Reader<'a> {
    pub fields: &'static [Field],
    pub given: &'a [(String, String)],
    pub errors: Vec<FieldError>,
}

impl<'a> Reader<'a> {
    fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.key == key)
    }

    fn text(&self, key: &str) -> &'a str {
        let default = self.field(key).map_or("", |f| f.default);
        self.given.iter().find(|(k, _)| k == key).map_or(default, |(_, v)| v.trim())
    }

    pub fn fail(&mut self, key: &str, message: String) {
        self.errors.push(FieldError { field: key.into(), message });
    }

    pub fn choice(&mut self, key: &str) -> &'a str {
        let text = self.text(key);
        if let Some(Kind::Choice(options)) = self.field(key).map(|f| f.kind)
            && !options.iter().any(|(v, _)| *v == text)
        {
            let known: Vec<_> = options.iter().map(|o| o.0).collect();
            self.fail(key, format!("`{text}` is not one of {}", known.join(", ")));
        }
        text
    }

    pub fn integer(&mut self, key: &str, lo: usize, hi: usize) -> usize {
        match whole(self.text(key), lo, hi) {
            Ok(n) => n,
            Err(message) => {
                self.fail(key, message);
                lo
            }
        }
    }

    /// A finite number above 0 and up to `hi`.
    pub fn number(&mut self, key: &str, hi: f64) -> f64 {
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

    pub fn widths(&mut self, key: &str) -> Vec<usize> {
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
    pub fn channels(&mut self, key: &str) -> [usize; 2] {
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
    pub fn transformer(&mut self) -> (usize, usize, usize) {
        let layers = self.integer("layers", 1, MAX_LAYERS);
        let width = self.integer("width", 1, 512);
        let heads = self.integer("heads", 1, 64);
        if self.errors.is_empty() && !width.is_multiple_of(heads) {
            self.fail("heads", format!("must divide the width: {width} is not a multiple of {heads}"));
        }
        (layers, width, heads)
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
    use super::super::{Config, Preset};

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
        assert_eq!(Config::from_fields(Preset::Points, &[("layers".into(), "".into())]).unwrap().parameters(), 2 * 2 + 2);
    }
}
