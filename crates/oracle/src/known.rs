//! The cases that may fail, with reasons: `known.txt` beside a suite's directory.

use crate::invalid;
use aludel_ir::Result;
use std::path::Path;

/// The cases of one directory that may fail.
#[derive(Clone, Debug, Default)]
pub struct Known(Vec<String>);

impl Known {
    /// Reads the lines for `dir` from the `known.txt` beside it: `DIRECTORY/CASE`, or a beginning of that with a star, then the reason. Lines
    /// with `#` in front are comments.
    ///
    /// Errors: a line without a reason, an unreadable file. Without a file, no case may fail.
    pub fn beside(dir: &Path) -> Result<Known> {
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name().and_then(|n| n.to_str())) else { return Ok(Known::default()) };
        let path = parent.join("known.txt");
        if !path.exists() {
            return Ok(Known::default());
        }
        let text = std::fs::read_to_string(&path).map_err(|e| invalid(path.display(), e))?;
        let mut cases = Vec::new();
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (case, _reason) = line.split_once(char::is_whitespace).ok_or_else(|| invalid(line, "has no reason"))?;
            cases.extend(case.strip_prefix(name).and_then(|c| c.strip_prefix('/')).map(str::to_string));
        }
        Ok(Known(cases))
    }

    /// Whether a case may fail.
    pub fn has(&self, case: &str) -> bool {
        self.0.iter().any(|k| k.strip_suffix('*').map_or(case == k, |start| case.starts_with(start)))
    }
}
