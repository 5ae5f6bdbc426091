//! The helper functions of `shaders/`: what a target's prelude declares, and the text of what a kernel uses of it.

pub(super) mod parse;

use aludel_ir::order::InOrder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// One declaration of a prelude.
struct Item {
    text: String,
    /// Positions of the declarations that it refers to.
    uses: Vec<usize>,
}

/// The declarations of a file, which empty lines separate.
pub(super) struct Prelude {
    items: Vec<Item>,
    by_name: BTreeMap<&'static str, usize>,
}

impl Prelude {
    /// `declared` is the name that a declaration's first line gives it.
    pub fn parse(source: &'static str, declared: impl Fn(&'static str) -> Option<&'static str>) -> Prelude {
        let (mut items, mut by_name) = (Vec::new(), BTreeMap::new());
        for chunk in source.split("\n\n") {
            // Comments stay in the prelude: generated text is read for what is particular to it.
            let text: Vec<&str> = chunk.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let Some(first) = chunk.lines().find(|l| !l.starts_with("//")) else { continue };
            if let Some(name) = declared(first) {
                by_name.insert(name, items.len());
                items.push(Item { text: text.join("\n"), uses: Vec::new() });
            }
        }
        for i in 0..items.len() {
            let uses: BTreeSet<usize> = words(&items[i].text).filter_map(|w| by_name.get(w).copied()).filter(|u| *u != i).in_order();
            items[i].uses = uses.into_iter().collect();
        }
        Prelude { items, by_name }
    }

    fn get(&self, name: &str) -> Option<&str> {
        Some(&self.items[*self.by_name.get(name)?].text)
    }

    /// The text of the named declarations and all that they use, in the prelude's order. Other names count for nothing.
    pub fn with_uses<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        let mut wanted = BTreeSet::new();
        let mut queue: Vec<usize> = names.into_iter().filter_map(|n| self.by_name.get(n).copied()).collect();
        while let Some(i) = queue.pop() {
            if wanted.insert(i) {
                queue.extend(&self.items[i].uses);
            }
        }
        wanted.into_iter().map(|i| self.items[i].text.as_str()).collect()
    }
}

/// The names and numbers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// The helpers of `shaders/wgsl.wgsl`.
pub(super) fn wgsl() -> &'static Prelude {
    static PRELUDE: OnceLock<Prelude> = OnceLock::new();
    let declared = |first| words(first).find(|w| !matches!(*w, "fn" | "var" | "private"));
    PRELUDE.get_or_init(|| Prelude::parse(include_str!("../../../../../shaders/wgsl.wgsl"), declared))
}

/// The types of a WGSL helper's parameters and its result; `None` for an unknown name.
pub(super) fn signature(name: &str) -> Option<(Vec<&'static str>, &'static str)> {
    let (params, rest) = wgsl().get(name)?.split_once('(')?.1.split_once(')')?;
    let params = params.split(',').filter_map(|p| Some(p.split_once(':')?.1.trim())).collect();
    Some((params, rest.split_once("->")?.1.split_once('{')?.0.trim()))
}

/// The helpers of `shaders/c.h`. The name of a function or table comes before its first parenthesis or bracket, what a reduction is called
/// after it.
pub(super) fn c() -> &'static Prelude {
    static PRELUDE: OnceLock<Prelude> = OnceLock::new();
    PRELUDE.get_or_init(|| {
        Prelude::parse(include_str!("../../../../../shaders/c.h"), |first| {
            let (before, after) = first.split_once(['(', '['])?;
            if before.starts_with("#pragma") { words(after).next() } else { words(before).last() }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wgsl_helpers_bring_what_they_use() {
        let tanh = wgsl().with_uses(["tanh_f32"]).join("\n\n");
        for name in ["fn expm1_f32", "fn sign_f32", "fn copysign_f32", "fn tanh_f32"] {
            assert!(tanh.contains(name), "{name} is missing");
        }
        assert!(!tanh.contains("erf") && !tanh.contains("//"));
        assert!(wgsl().with_uses(["nan_f32"])[0].contains("var<private> nan_bits"));
        assert_eq!(signature("select_f32"), None);
        assert_eq!(signature("threefry_u32"), Some((vec!["u32"; 4], "u32")));
        assert_eq!(signature("isnan_f32"), Some((vec!["f32"], "bool")));
    }

    #[test]
    fn c_helpers_bring_what_they_use() {
        let helpers = |text| c().with_uses(words(text)).join("\n");
        let expm1 = helpers("v3 = expm1_f32(v2);");
        for name in ["expm1_f32(f32 x) {", "scale_f32(f32 x", "from_bits_f32(u32 u)"] {
            assert!(expm1.contains(name), "{name} is missing");
        }
        assert!(!expm1.contains("erf") && !expm1.contains("//"));
        assert!(helpers("reduction(reduce_max_f32 : v1)").contains("static inline f32 max_f32"));
        assert!(helpers("v1 + v2").is_empty());
    }
}
