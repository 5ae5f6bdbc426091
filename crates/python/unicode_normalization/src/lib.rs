//! Stands in for `unicode-normalization`, which the parser asks for names in other characters than ASCII alone and whose tables take
//! 75 kB compressed. Nothing is normalised here: a name written in two ways that Unicode holds to be one (`ﬁ` and `fi`) is two names.

use std::str::Chars;

/// The part of the crate's trait that the parser uses.
pub trait UnicodeNormalization<'a> {
    /// The characters in their compatible, composed form: here, as they are.
    fn nfkc(self) -> Chars<'a>;
}

impl<'a> UnicodeNormalization<'a> for &'a str {
    fn nfkc(self) -> Chars<'a> {
        self.chars()
    }
}
