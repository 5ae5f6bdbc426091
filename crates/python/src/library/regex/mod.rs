//! Python's regular expressions: their syntax with `re`'s error messages, and a machine that goes back where `re`'s does. A crate for
//! expressions of other languages would be an eighth of what the page loads, and finds in some other matches.

mod class;
mod node;
mod parse;
mod program;

use crate::text::Failure;
use parse::Parser;
use program::{Code, Machine};

/// Flags by the numbers that `re` gives them.
pub const IGNORECASE: u32 = 2;
pub const MULTILINE: u32 = 8;
pub const DOTALL: u32 = 16;
pub const UNICODE: u32 = 32;
pub const VERBOSE: u32 = 64;
pub const ASCII: u32 = 256;

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
    code: Code,
    flags: u32,
    /// Names of groups and their numbers, by number.
    pub names: Vec<(String, usize)>,
    /// How many groups there are.
    pub groups: usize,
}

/// The spans of a match, whole and groups, in bytes.
pub type Spans = Vec<Option<(usize, usize)>>;

impl Program {
    /// Compiles `pattern` under `flags`.
    pub fn new(pattern: &str, flags: u32) -> Result<Program, PatternError> {
        let (parsed, node) = Parser::parse(pattern, flags)?;
        let fixed = || PatternError { message: "look-behind requires fixed-width pattern".into(), position: None };
        let code = Code::new(&node).ok_or_else(fixed)?;
        Ok(Program { code, flags: parsed.flags, names: parsed.names, groups: parsed.groups })
    }

    /// The flags, with those that the pattern itself sets.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Matches within `text` from byte `start` on; `text` ends where matching has to. A pattern that takes too many steps is
    /// a `RuntimeError`.
    pub fn run(&self, text: &str, start: usize, mode: Mode) -> Result<Option<Spans>, Failure> {
        if start > text.len() {
            return Ok(None);
        }
        let mut machine = Machine::new(&self.code, text, self.groups);
        let found = match mode {
            Mode::Match => machine.at(start)?.map(|end| (start, end)),
            Mode::Full => {
                machine.end = Some(text.len());
                machine.at(start)?.map(|end| (start, end))
            }
            Mode::Search => machine.search(start)?,
            Mode::Advance => {
                machine.not_at = Some(start);
                machine.search(start)?
            }
        };
        Ok(found.map(|whole| std::iter::once(Some(whole)).chain((1..=self.groups).map(|group| machine.span(group))).collect()))
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
    fn goes_back_as_re_does() {
        assert_eq!(find(r"(?:(a)|b)*", 0, "ab", Mode::Match).unwrap(), ["ab", "a"]);
        assert_eq!(find(r"(a*)*b", 0, "aab", Mode::Match).unwrap(), ["aab", ""]);
        assert_eq!(find(r"(?:ab?){2,3}?c", 0, "abaac", Mode::Match).unwrap(), ["abaac"]);
        assert_eq!(find(r"(?:a{2}|b){3}$", 0, "aabaa", Mode::Match).unwrap(), ["aabaa"]);
        assert_eq!(find(r"<(.+?)>(.*)</\1>", 0, "<b>x</b></b>", Mode::Search).unwrap(), ["<b>x</b></b>", "b", "x</b>"]);
        assert_eq!(find(r"a*+a", 0, "aaa", Mode::Search), None);
        assert_eq!(find(r"(?>a|ab)c", 0, "abc", Mode::Match), None);
        assert_eq!(find(r"(?=(\w+))\1:", 0, "ab:", Mode::Search).unwrap(), ["ab:", "ab"]);
        assert_eq!(find(r"(?!(a)b)ac", 0, "ac", Mode::Match).unwrap(), ["ac", "-"]);
        assert_eq!(find(r"(?<=ä|b)c", 0, "äc", Mode::Search).unwrap(), ["c"]);
        assert_eq!(find(r"(?i)stra(?-i:S)e", 0, "STRaSE", Mode::Full).unwrap(), ["STRaSE"]);
        assert_eq!(find(r"(?i)[k-m]\u00b5", 0, "\u{212a}\u{3bc}", Mode::Full).unwrap(), ["\u{212a}\u{3bc}"]);
        assert_eq!(find(r"\bfoo\b", 0, "a foo.", Mode::Search).unwrap(), ["foo"]);
        assert_eq!(find(r"a(?#no)*b", 0, "aab", Mode::Match).unwrap(), ["aab"]);
        assert_eq!(find(r"x*", 0, "xx", Mode::Advance).unwrap(), ["xx"]);
        assert_eq!(find(r"(?:x|(y)){0,2}z", 0, "xyxz", Mode::Search).unwrap(), ["yxz", "y"]);
        assert!(Program::new(r"(?<=a+)b", 0).is_err() && Program::new("^*", 0).is_err());
        // A run of its own in each turn, and many places to go back to, need no stack of Rust's.
        assert!(find(r"(?:a|b|(?=c)c)*$", 0, &"abc".repeat(50_000), Mode::Match).is_some());
    }

    #[test]
    fn runaway_patterns_end() {
        let slow = Program::new(r"(?:(a+)+\1)*b$", 0).expect("a pattern");
        assert_eq!(slow.run(&"a".repeat(40), 0, Mode::Match).expect_err("too many steps").kind, "RuntimeError");
    }
}
