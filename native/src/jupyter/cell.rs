//! What a cell's text is before it runs: magics taken out, and whether it is all there.

use aludel_python::parse::parse;

/// Lines of IPython that ask for what is so here anyway.
const NEEDLESS: [&str; 5] = ["matplotlib", "config", "load_ext", "autoreload", "reload_ext"];

/// A cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// The value of its last expression is not shown.
    pub is_quiet: bool,
    /// It began with `%%time`.
    pub is_timed: bool,
}

/// Takes IPython's own lines out of a cell; every line keeps its number.
///
/// # Errors
///
/// What IPython says to a magic that there is not.
pub fn read(code: &str) -> Result<Cell, String> {
    let (mut text, mut is_timed) = (code.to_string(), false);
    if let Some(rest) = code.trim_start().strip_prefix("%%") {
        let name = rest.split_whitespace().next().unwrap_or_default();
        if name != "time" {
            return Err(format!("UsageError: Cell magic `%%{name}` not found."));
        }
        is_timed = true;
        text = code.replacen("%%time", "", 1);
    }
    // What is Python is left alone: a line of a string may begin with anything.
    if parse(&text).is_err() && text.lines().any(|l| l.starts_with(['%', '!'])) {
        text = text.lines().map(|line| plain(line).map(|l| l + "\n")).collect::<Result<String, String>>()?;
    }
    let is_quiet = text.trim_end().ends_with(';');
    Ok(Cell { text, is_quiet, is_timed })
}

fn plain(line: &str) -> Result<String, String> {
    if line.starts_with('!') {
        return Err(format!("UsageError: {line}: there is no shell in this kernel"));
    }
    let Some(rest) = line.strip_prefix('%') else { return Ok(line.to_string()) };
    let name = rest.split_whitespace().next().unwrap_or_default();
    match name {
        name if NEEDLESS.contains(&name) => Ok(String::new()),
        "pip" | "conda" => Err(format!("UsageError: %{name}: this kernel brings the modules that it has, and installs none")),
        name => Err(format!("UsageError: Line magic function `%{name}` not found.")),
    }
}

/// Whether a cell can run as it is.
#[derive(Debug, PartialEq, Eq)]
pub enum Whole {
    Complete,
    /// More is to come, and what its line begins with.
    Incomplete(String),
    Invalid,
}

/// Says whether a cell is complete, as a console asks after each line.
pub fn is_whole(code: &str) -> Whole {
    let Ok(cell) = read(code) else { return Whole::Complete };
    let text = &cell.text;
    let last = text.lines().last().unwrap_or_default();
    let indent: String = last.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    let deeper = || if last.trim_end().ends_with(':') { format!("{indent}    ") } else { indent.clone() };
    match parse(text) {
        // A block goes on until an empty line, or a line that is not indented.
        Ok(_) if !indent.is_empty() && !last.trim().is_empty() && !text.ends_with("\n\n") => Whole::Incomplete(deeper()),
        Ok(_) => Whole::Complete,
        Err(e) => {
            let is_open =
                e.message.contains("was never closed") || e.message.contains("unterminated triple-quoted") || text.ends_with("\\\n");
            // A block or a statement that something must follow.
            let at_end = e.message.contains("expected an indented block") && text.get(e.start..).is_none_or(|rest| rest.trim().is_empty());
            let continues = text.trim_end_matches(['\n', ' ']).ends_with('\\') || last.trim_end().ends_with(':') && at_end;
            if is_open || at_end || continues { Whole::Incomplete(deeper()) } else { Whole::Invalid }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magics_are_taken_out_and_lines_keep_their_numbers() {
        let cell = read("%matplotlib inline\nimport torch\nx = 1;\n").unwrap();
        assert_eq!((cell.text.as_str(), cell.is_quiet), ("\nimport torch\nx = 1;\n", true));
        let timed = read("%%time\nx").unwrap();
        assert_eq!((timed.text.as_str(), timed.is_timed), ("\nx", true));
        let string = "s = '''\n%run\n!ls\n'''";
        assert_eq!(read(string).unwrap().text, string);
        assert!(read("%run x.py").unwrap_err().contains("`%run` not found"));
        assert!(read("%%bash\nls").unwrap_err().contains("`%%bash` not found"));
        assert!(read("!ls").unwrap_err().contains("no shell"));
    }

    #[test]
    fn what_is_not_all_there_waits() {
        for whole in ["x = 1", "print(1)\n", "for i in x:\n    pass\n\n", "x = '%s' % 1", "%matplotlib inline"] {
            assert_eq!(is_whole(whole), Whole::Complete, "{whole:?}");
        }
        for (part, indent) in [("for i in x:", "    "), ("f(1,", ""), ("'''a", ""), ("if x:\n    y", "    "), ("x = 1 + \\", "")] {
            assert_eq!(is_whole(part), Whole::Incomplete(indent.into()), "{part:?}");
        }
        for wrong in ["x = )", "1 +* 2", "def 1():"] {
            assert_eq!(is_whole(wrong), Whole::Invalid, "{wrong:?}");
        }
    }
}
