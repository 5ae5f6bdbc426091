//! Python's regular expressions on the `fancy-regex` crate: translation of the syntax, with `re`'s error messages, and the
//! kinds of matching that `re` has.

mod class;
mod translate;

use crate::text::Failure;
use fancy_regex::{Captures, Regex, RegexBuilder};
use std::cell::OnceCell;
use translate::Translator;

/// Flags by the numbers that `re` gives them.
pub const IGNORECASE: u32 = 2;
pub const MULTILINE: u32 = 8;
pub const DOTALL: u32 = 16;
pub const UNICODE: u32 = 32;
pub const VERBOSE: u32 = 64;
pub const ASCII: u32 = 256;

/// How many steps of backtracking a match may take; beyond it is an error instead of a hang.
const STEPS: usize = 1_000_000;

/// A malformed pattern: `re.error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    pub message: String,
    /// The code point that it is about.
    pub position: Option<usize>,
}

/// Where a pattern has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Anywhere from the start on.
    Search,
    /// At the start.
    Match,
    /// From the start to the end.
    Full,
    /// Anywhere from the start on, but not nothing at the start: what follows an empty match.
    Advance,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Program {
    source: String,
    flags: u32,
    /// Names of groups and their numbers, by number.
    pub names: Vec<(String, usize)>,
    /// How many groups there are.
    pub groups: usize,
    compiled: [OnceCell<Regex>; 4],
}

/// The spans of a match, whole and groups, in bytes.
pub type Spans = Vec<Option<(usize, usize)>>;

impl Program {
    /// Translates `pattern` under `flags`.
    pub fn new(pattern: &str, flags: u32) -> Result<Program, PatternError> {
        let translated = Translator::translate(pattern, flags)?;
        let program = Program {
            source: translated.out,
            flags: translated.flags,
            names: translated.names,
            groups: translated.groups,
            compiled: Default::default(),
        };
        program.regex(Mode::Search)?;
        Ok(program)
    }

    /// The flags, with those that the pattern itself sets.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    fn regex(&self, mode: Mode) -> Result<&Regex, PatternError> {
        let cell = &self.compiled[mode as usize];
        if let Some(regex) = cell.get() {
            return Ok(regex);
        }
        let body = &self.source;
        let source = match mode {
            Mode::Search => body.clone(),
            Mode::Match => format!("\\G(?:{body})"),
            Mode::Full => format!("\\G(?:{body})\\z"),
            Mode::Advance => format!("(?:{body})(?!\\G)"),
        };
        let built = RegexBuilder::new(&source)
            .case_insensitive(self.flags & IGNORECASE != 0)
            .backtrack_limit(STEPS)
            .build()
            .map_err(|e| e.to_string())
            .map_err(|e| if e.contains("lookbehind") { "look-behind requires fixed-width pattern".into() } else { e })
            .map_err(|message| PatternError { message, position: None })?;
        Ok(cell.get_or_init(|| built))
    }

    /// Matches within `text` from byte `start` on; `text` ends where matching has to. A pattern that takes too many steps is
    /// a `RuntimeError`.
    pub fn run(&self, text: &str, start: usize, mode: Mode) -> Result<Option<Spans>, Failure> {
        if start > text.len() {
            return Ok(None);
        }
        let failed = |message: String| Failure::new("RuntimeError", format!("regular expression: {message}"));
        let regex = self.regex(mode).map_err(|e| failed(e.message))?;
        let found = regex.captures_from_pos(text, start).map_err(|e| failed(e.to_string()))?;
        Ok(found.map(|c: Captures<'_>| (0..=self.groups).map(|i| c.get(i).map(|m| (m.start(), m.end()))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, flags: u32, text: &str, mode: Mode) -> Option<Vec<String>> {
        let spans = Program::new(pattern, flags).expect(pattern).run(text, 0, mode).expect("a run")?;
        Some(spans.iter().map(|s| s.map_or("-".into(), |(a, b)| text[a..b].to_owned())).collect())
    }

    #[test]
    fn translates() {
        assert_eq!(find(r"(\d+)-(?P<w>\w+)", 0, "a 12-é3", Mode::Search).unwrap(), ["12-é3", "12", "é3"]);
        assert_eq!(find(r"a{,2}b{1}c{x", 0, "aabc{x", Mode::Match).unwrap(), ["aabc{x"]);
        assert_eq!(find(r"[[\]&&a-]+", 0, "[]&a-", Mode::Full).unwrap(), ["[]&a-"]);
        assert_eq!(find(r"(a)?b(?(1)c|d)", 0, "bd", Mode::Full).unwrap(), ["bd", "-"]);
        assert_eq!(find(r"(?P<q>['-])x(?P=q)\1", 0, "'x''", Mode::Match).unwrap(), ["'x''", "'"]);
        assert_eq!(find(r"b$", 0, "ab\n", Mode::Search).unwrap(), ["b"]);
        assert_eq!(find(r"b\Z", 0, "ab\n", Mode::Search), None);
        assert_eq!(find(r"a . c # comment", VERBOSE, "abc", Mode::Match).unwrap(), ["abc"]);
        assert_eq!(find(r"(?i)AbC", 0, "aBc", Mode::Match).unwrap(), ["aBc"]);
        assert_eq!(find(r"a.c", DOTALL, "a\nc", Mode::Match).unwrap(), ["a\nc"]);
        assert_eq!(find(r"^b", MULTILINE, "a\nb", Mode::Search).unwrap(), ["b"]);
        assert_eq!(find(r"\w+", ASCII, "é1", Mode::Search).unwrap(), ["1"]);
        assert_eq!(find(r"b", 0, "ab", Mode::Match), None);
        assert_eq!(find(r"a|ab", 0, "ab", Mode::Full).unwrap(), ["ab"]);
        assert_eq!(find(r"|a", 0, "a", Mode::Advance).unwrap(), ["a"]);
        assert_eq!(find(r"(?<=a)b(?!c)", 0, "abcab", Mode::Search).unwrap(), ["b"]);
        assert_eq!(find("\\x41\\u00e9\\101", 0, "AéA", Mode::Full).unwrap(), ["AéA"]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (pattern, message, position) in [
            ("(", "missing ), unterminated subpattern", 0),
            (")", "unbalanced parenthesis", 0),
            ("[a", "unterminated character set", 0),
            ("*", "nothing to repeat", 0),
            ("a**", "multiple repeat", 2),
            ("\\q", "bad escape \\q", 0),
            ("\\", "bad escape (end of pattern)", 0),
            ("[z-a]", "bad character range z-a", 1),
            ("(a)\\2", "invalid group reference 2", 4),
            ("(?P<n>a)(?P<n>b)", "redefinition of group name 'n' as group 2; was group 1", 12),
            ("(?P=x)", "unknown group name 'x'", 4),
            ("a{3,2}", "min repeat greater than max repeat", 2),
            ("(?z)", "unknown extension ?z", 1),
        ] {
            let error = Program::new(pattern, 0).expect_err(pattern);
            assert_eq!((error.message.as_str(), error.position), (message, Some(position)), "{pattern}");
        }
    }

    #[test]
    fn runaway_patterns_end() {
        let slow = Program::new(r"(?:(a+)+\1)*b$", 0).expect("a pattern");
        assert_eq!(slow.run(&"a".repeat(40), 0, Mode::Match).expect_err("too many steps").kind, "RuntimeError");
    }
}
