//! The helper functions of `shaders/c.h`: the text of those that a unit's kernels use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// One declaration of the prelude.
struct Item {
    text: String,
    /// Positions of the declarations that it refers to.
    uses: Vec<usize>,
}

struct Prelude {
    items: Vec<Item>,
    by_name: BTreeMap<&'static str, usize>,
}

static SOURCE: &str = include_str!("../../../../../shaders/c.h");

fn prelude() -> &'static Prelude {
    static PRELUDE: OnceLock<Prelude> = OnceLock::new();
    PRELUDE.get_or_init(|| {
        let (mut items, mut by_name) = (Vec::new(), BTreeMap::new());
        for chunk in SOURCE.split("\n\n") {
            // Comments stay in the prelude: generated text is read for what is particular to it.
            let text: Vec<&str> = chunk.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let Some(first) = chunk.lines().find(|l| !l.starts_with("//")) else { continue };
            if let Some(name) = declared(first) {
                by_name.insert(name, items.len());
                items.push(Item { text: text.join("\n"), uses: Vec::new() });
            }
        }
        for i in 0..items.len() {
            let uses: BTreeSet<usize> = words(&items[i].text).filter_map(|w| by_name.get(w).copied()).filter(|u| *u != i).collect();
            items[i].uses = uses.into_iter().collect();
        }
        Prelude { items, by_name }
    })
}

/// The name before the first parenthesis of a function; what a reduction is called, after it.
fn declared(line: &'static str) -> Option<&'static str> {
    let (before, after) = line.split_once('(')?;
    if before.starts_with("#pragma") { words(after).next() } else { words(before).last() }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// The helpers that some texts call and all that those use, in the order of the prelude.
pub(super) fn helpers<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let prelude = prelude();
    let mut queue: Vec<usize> = texts.into_iter().flat_map(words).filter_map(|w| prelude.by_name.get(w).copied()).collect();
    let mut wanted = BTreeSet::new();
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
        let expm1 = helpers(["v3 = expm1_f32(v2);"]).join("\n");
        for name in ["expm1_f32(f32 x) {", "scale_f32(f32 x", "from_bits_f32(u32 u)"] {
            assert!(expm1.contains(name), "{name} is missing");
        }
        assert!(!expm1.contains("erf") && !expm1.contains("//"));
        assert!(helpers(["reduction(reduce_max_f32 : v1)"]).join("\n").contains("static inline f32 max_f32"));
        assert!(helpers(["v1 + v2"]).is_empty());
    }
}
