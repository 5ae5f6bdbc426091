//! The helper functions of `shaders/wgsl.wgsl`: which there are, and the text of those that a kernel uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// One declaration of the prelude: a function or a private variable.
struct Item {
    name: &'static str,
    text: String,
    /// Positions of the declarations that it refers to.
    uses: Vec<usize>,
}

struct Prelude {
    items: Vec<Item>,
    by_name: BTreeMap<&'static str, usize>,
}

static SOURCE: &str = include_str!("../../../../shaders/wgsl.wgsl");

fn prelude() -> &'static Prelude {
    static PRELUDE: OnceLock<Prelude> = OnceLock::new();
    PRELUDE.get_or_init(|| {
        let mut items: Vec<Item> = Vec::new();
        for chunk in SOURCE.split("\n\n") {
            // Comments stay in the prelude: generated kernels are read for what is particular to them.
            let text: Vec<&str> = chunk.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let text = text.join("\n");
            let Some(first) = chunk.lines().find(|l| !l.starts_with("//")) else { continue };
            if let Some(name) = words(first).find(|w| !matches!(*w, "fn" | "var" | "private")) {
                items.push(Item { name, text, uses: Vec::new() });
            }
        }
        let by_name: BTreeMap<&'static str, usize> = items.iter().enumerate().map(|(i, item)| (item.name, i)).collect();
        for (i, item) in items.iter_mut().enumerate() {
            let uses: BTreeSet<usize> = words(&item.text).filter_map(|w| by_name.get(w).copied()).filter(|u| *u != i).collect();
            item.uses = uses.into_iter().collect();
        }
        Prelude { items, by_name }
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// The types of a helper's parameters and its result; `None` for an unknown name.
pub fn signature(name: &str) -> Option<(Vec<&'static str>, &'static str)> {
    let prelude = prelude();
    let item = &prelude.items[*prelude.by_name.get(name)?];
    let (params, rest) = item.text.split_once('(')?.1.split_once(')')?;
    let params = params.split(',').filter_map(|p| Some(p.split_once(':')?.1.trim())).collect();
    Some((params, rest.split_once("->")?.1.split_once('{')?.0.trim()))
}

/// The text of the named helpers and all that they use, in the order of the prelude.
pub fn text(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<&'static str> {
    let prelude = prelude();
    let mut wanted = BTreeSet::new();
    let mut queue: Vec<usize> = names.into_iter().filter_map(|n| prelude.by_name.get(n.as_ref()).copied()).collect();
    while let Some(i) = queue.pop() {
        if wanted.insert(i) {
            queue.extend(&prelude.items[i].uses);
        }
    }
    wanted.into_iter().map(|i| prelude.items[i].text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_bring_what_they_use() {
        let tanh = text(["tanh_f32"]).join("\n\n");
        for name in ["fn expm1_f32", "fn sign_f32", "fn copysign_f32", "fn tanh_f32"] {
            assert!(tanh.contains(name), "{name} is missing");
        }
        assert!(!tanh.contains("erf"));
        assert!(!tanh.contains("//"));
        assert!(text(["nan_f32"])[0].contains("var<private> nan_bits"));
        assert_eq!(signature("select_f32"), None);
        assert_eq!(signature("threefry_u32"), Some((vec!["u32"; 4], "u32")));
        assert_eq!(signature("isnan_f32"), Some((vec!["f32"], "bool")));
    }
}
