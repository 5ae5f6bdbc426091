//! The results in `docs/benchmarks/` as the site has them: the files, and their list, the newest of each machine only.

use crate::root;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Copies the results to `benchmarks/` of a site and writes their list, `index.json`.
///
/// # Errors
///
/// When a file cannot be read or written, or is not named `MACHINE.YYYY-MM-DD.jsonl`.
pub fn write(site: &Path) -> Result<()> {
    let to = site.join("benchmarks");
    fs::create_dir_all(&to)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("docs/benchmarks"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".jsonl") {
            names.push(name);
        }
    }
    let list = newest(names)?;
    for name in &list {
        let from = root().join("docs/benchmarks").join(name);
        fs::copy(&from, to.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    fs::write(to.join("index.json"), serde_json::to_string(&list)?)?;
    Ok(())
}

/// The last file of each machine.
fn newest(mut names: Vec<String>) -> Result<Vec<String>> {
    names.sort();
    let mut last = BTreeMap::new();
    for name in names {
        let parts: Vec<&str> = name.split('.').collect();
        let [machine, date, "jsonl"] = parts[..] else {
            bail!("docs/benchmarks/{name} is not named MACHINE.YYYY-MM-DD.jsonl");
        };
        if date.len() != 10 {
            bail!("docs/benchmarks/{name}: {date} is no date as YYYY-MM-DD");
        }
        last.insert(machine.to_string(), name);
    }
    Ok(last.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_machine_is_listed() {
        let names = ["b.2026-01-02.jsonl", "a.2026-01-02.jsonl", "a.2026-11-02.jsonl"].map(String::from).to_vec();
        assert_eq!(newest(names).expect("names"), ["a.2026-11-02.jsonl", "b.2026-01-02.jsonl"]);
        assert!(newest(vec!["a.jsonl".into()]).is_err() && newest(vec!["a.today.jsonl".into()]).is_err());
    }
}
