//! The scripts of `examples/` as the site has them: the files, and a list with a sentence for each, read off their docstrings.

use crate::root;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Copies the scripts to `examples/` of a site and writes their list, `index.json`.
///
/// # Errors
///
/// When a file cannot be read or written, or a script says nothing of itself.
pub fn write(site: &Path) -> Result<()> {
    let to = site.join("examples");
    fs::create_dir_all(&to)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("examples"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "py") {
            names.extend(path.file_stem().and_then(|s| s.to_str()).map(str::to_string));
        }
    }
    names.sort();
    let mut list: Vec<Value> = Vec::new();
    for name in names {
        let from = root().join("examples").join(&name).with_extension("py");
        let text = fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let sentence = sentence(&text).with_context(|| format!("examples/{name}.py has no docstring"))?;
        list.push(json!({ "name": name, "title": title(&name), "sentence": sentence }));
        fs::write(to.join(&name).with_extension("py"), text)?;
    }
    fs::write(to.join("index.json"), serde_json::to_string(&list)?)?;
    Ok(())
}

/// The first paragraph of a script's docstring, on one line.
fn sentence(text: &str) -> Option<String> {
    let doc = text.strip_prefix("\"\"\"")?.split("\"\"\"").next()?;
    let paragraph = doc.split("\n\n").next()?;
    Some(paragraph.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|s| !s.is_empty())
}

/// `digits_mlp` as `Digits mlp`; abbreviations keep their capitals.
fn title(name: &str) -> String {
    let word = |w: &str| match w {
        "mlp" | "cnn" | "gan" | "vit" | "vae" | "gpt" | "lstm" => match w {
            "vit" => "ViT".to_string(),
            w => w.to_uppercase(),
        },
        "lora" => "LoRA".to_string(),
        "llama" => "Llama".to_string(),
        w => w.to_string(),
    };
    let words: Vec<String> = name.split('_').map(word).collect();
    let joined = words.join(" ");
    let mut letters = joined.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sentence_of_a_docstring() {
        let text = "\"\"\"Large batches on\nsmall memory.\n\n    aludel run x.py\n\"\"\"\n";
        assert_eq!(super::sentence(text).unwrap(), "Large batches on small memory.");
        assert!(super::sentence("import torch").is_none());
        assert_eq!(super::title("digits_mlp"), "Digits MLP");
    }
}
