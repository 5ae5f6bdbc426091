//! Text.

use super::super::Fault;
use super::super::columns::cast;
use super::{Made, each};
use arrow::array::{ArrayRef, AsArray, Int64Array, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::DataType;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// What is done to the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Letters {
    Lower,
    Upper,
    /// White space at both ends is left out.
    Strip,
}

/// See [`Letters`].
///
/// # Errors
///
/// When the column is not of text.
pub fn letters(what: Letters, column: &ArrayRef) -> Made {
    let change = |text: &str| match what {
        Letters::Lower => text.to_lowercase(),
        Letters::Upper => text.to_uppercase(),
        Letters::Strip => text.trim().to_string(),
    };
    each(column, |column| Ok(Arc::new(text(column)?.iter().map(|t| t.map(change)).collect::<StringArray>())))
}

/// A column of text, of whatever kind.
fn text(column: &ArrayRef) -> Result<StringArray, Fault> {
    let is = |t: &DataType| matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match column.data_type() {
        t if is(t) => {}
        DataType::Dictionary(_, values) if is(values) => {}
        t => return Err(Fault::new(format!("is {t}, not text"), "`cast` it to Utf8")),
    }
    Ok(cast(column, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// Lists of parts of texts.
fn parts<'a, I: Iterator<Item = &'a str>>(texts: &'a StringArray, cut: impl Fn(&'a str) -> I) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in texts.iter() {
        for part in text.into_iter().flat_map(&cut) {
            lists.values().append_value(part);
        }
        lists.append(text.is_some());
    }
    Arc::new(lists.finish())
}

/// The parts of a text between separators; without one, between white space.
///
/// # Errors
///
/// When the column is not of text.
pub fn split(column: &ArrayRef, separator: &str) -> Made {
    let texts = text(column)?;
    Ok(match separator {
        "" => parts(&texts, str::split_whitespace),
        _ => parts(&texts, |text| text.split(separator)),
    })
}

/// The words of a text, and every sign of punctuation by itself.
///
/// # Errors
///
/// When the column is not of text.
pub fn tokenize(column: &ArrayRef) -> Made {
    Ok(parts(&text(column)?, words))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = match of_word(first) {
            true => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// The place of each text in a vocabulary, as i64; `default` of one that is not in it.
///
/// # Errors
///
/// When the column is not of text, or a word is in the vocabulary twice.
pub fn lookup_indices(column: &ArrayRef, vocabulary: &[String], default: i64) -> Made {
    let mut places = HashMap::with_capacity(vocabulary.len());
    for (place, word) in vocabulary.iter().enumerate() {
        if places.insert(word.as_str(), place as i64).is_some() {
            return Err(Fault::new(format!("{word:?} is in the vocabulary twice"), "give each word once"));
        }
    }
    each(column, |column| {
        let place = |text: &str| places.get(text).copied().unwrap_or(default);
        Ok(Arc::new(text(column)?.iter().map(|t| t.map(place)).collect::<Int64Array>()))
    })
}
