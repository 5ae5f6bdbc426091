//! How long the repository's files may be: what is longer is two things, or says beside itself why it is one.

use crate::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a source file.
pub const LONGEST: usize = 700;

/// What a file that is longer says, with its reason, in a comment among its first lines.
pub const EXCUSE: &str = "Long: ";

/// Where sources are not ours, or not sources.
const ELSEWHERE: [&str; 4] = ["vendor", "node_modules", "target", "shared"];

/// Every source file that is longer and does not say why, with its number of lines.
///
/// # Errors
///
/// When a folder or file cannot be read.
pub fn too_long() -> Result<Vec<(PathBuf, usize)>> {
    let mut found = Vec::new();
    walk(&root(), &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, usize)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            // Another build's directory has cargo's mark in it.
            let skip = name.starts_with('.') || ELSEWHERE.contains(&name.as_str()) || path.join("CACHEDIR.TAG").exists();
            if !skip && !path.is_symlink() {
                walk(&path, found)?;
            }
        } else if ["rs", "py", "js", "css", "html", "c", "h", "wgsl", "ptx"].iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let lines = text.lines().count();
            if lines > LONGEST && !text.lines().take(20).any(|l| l.contains(EXCUSE)) {
                found.push((path, lines));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_short_or_say_why_not() {
        let found = too_long().unwrap();
        assert!(found.is_empty(), "longer than {LONGEST} lines; divide them, or say `{EXCUSE}` and why at their beginning: {found:#?}");
    }
}
