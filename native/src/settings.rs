//! Presets and their settings as people type them: `digits layers=64,64 lr=0.01`.

use aludel::{Error, Result};
use aludel_models::presets::{Config, Kind, Preset};
use std::collections::BTreeMap;

/// The preset of a name.
pub fn preset(name: &str) -> Result<Preset> {
    let known: Vec<_> = Preset::ALL.iter().map(|p| p.key()).collect();
    Preset::from_key(name).ok_or_else(|| Error::invalid(name, "no such preset", format!("use {}", known.join(", "))))
}

/// Reads `key=value` settings; errors name every one that is wrong.
pub fn config(preset: Preset, settings: &[String]) -> Result<Config> {
    let mut fields = Vec::new();
    for setting in settings {
        let keys = || preset.fields().iter().map(|f| f.key).collect::<Vec<_>>().join(", ");
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::invalid(setting, "is not a setting", format!("write key=value; {} has {}", preset.key(), keys())))?;
        if !preset.fields().iter().any(|f| f.key == key) {
            return Err(Error::invalid(key, "no such setting", format!("{} has {}", preset.key(), keys())));
        }
        fields.push((key.to_string(), value.to_string()));
    }
    Config::from_fields(preset, &fields).map_err(|errors| {
        let list: Vec<_> = errors.iter().map(|e| format!("{}: {}", e.field, e.message)).collect();
        Error::invalid(preset.key(), list.join("; "), "")
    })
}

/// Every setting in one spelling, defaults included: what a run that resumes must have in common.
pub fn canonical(preset: Preset, settings: &[String]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::from([("preset".to_string(), preset.key().to_string())]);
    for field in preset.fields() {
        let given = settings.iter().rev().filter_map(|s| s.split_once('=')).find(|(k, _)| *k == field.key);
        let text = given.map_or(field.default, |(_, v)| v).trim();
        let value = match field.kind {
            Kind::Integers => text.split(',').map(str::trim).filter(|p| !p.is_empty()).collect::<Vec<_>>().join(","),
            Kind::Number => text.parse::<f64>().map_or(text.to_string(), |v| v.to_string()),
            Kind::Integer => text.parse::<u64>().map_or(text.to_string(), |v| v.to_string()),
            Kind::Choice(_) => text.to_string(),
        };
        out.insert(field.key.to_string(), value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_equal_settings() {
        let of = |s: &[&str]| canonical(Preset::Digits, &s.iter().map(|s| s.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["layers=128,128", "lr=1e-3"]), of(&["layers=128, 128", "batch=64"]));
        assert_ne!(of(&["seed=1"]), of(&[]));
    }

    #[test]
    fn errors_name_what_there_is() {
        let e = |s: &str| config(Preset::Digits, &[s.to_string()]).unwrap_err().to_string();
        assert!(e("speed=3").contains("digits has layers, optimizer, lr, batch, seed"));
        assert!(e("lr").contains("write key=value"));
        assert_eq!(e("lr=-1"), "digits: lr: must be above 0");
        assert!(preset("digit").unwrap_err().to_string().contains("points, digits, digits-cnn, autoencoder, addition"));
    }
}
