//! Which file and row each row of a table comes from: only errors ask.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rows that follow each other in a file.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    file: Arc<str>,
    first: u64,
    rows: usize,
}

/// See the [module](self).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, u64, usize)>", into = "Vec<(String, u64, usize)>")]
pub struct Origin(Vec<Span>);

impl Origin {
    pub fn new(file: &str, first: u64, rows: usize) -> Origin {
        Origin(vec![Span { file: file.into(), first, rows }])
    }

    /// Of a table without rows the place where they would be.
    pub fn place(&self, mut row: usize) -> Option<(&str, u64)> {
        for span in &self.0 {
            if row < span.rows {
                return Some((&span.file, span.first + row as u64));
            }
            row -= span.rows;
        }
        self.0.last().map(|s| (&*s.file, s.first))
    }

    fn push(&mut self, span: Span) {
        match self.0.last_mut() {
            Some(last) if last.file == span.file && last.first + last.rows as u64 == span.first => last.rows += span.rows,
            _ => self.0.push(span),
        }
    }

    pub fn slice(&self, from: usize, to: usize) -> Origin {
        let (mut out, mut at) = (Origin::default(), 0);
        for span in &self.0 {
            let (low, high) = (from.max(at), to.min(at + span.rows));
            // A slice without rows is somewhere, too.
            if low < high || (from == to && out.0.is_empty() && low == high) {
                out.push(Span { file: span.file.clone(), first: span.first + (low - at) as u64, rows: high - low });
            }
            at += span.rows;
        }
        out
    }

    pub fn take(&self, rows: &[usize]) -> Origin {
        // Where each span begins.
        let starts: Vec<usize> = self.0.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + s.rows))).collect();
        let mut out = Origin::default();
        for row in rows {
            let span = starts.partition_point(|start| start <= row).saturating_sub(1);
            if let Some(s) = self.0.get(span) {
                out.push(Span { file: s.file.clone(), first: s.first + (row - starts[span]) as u64, rows: 1 });
            }
        }
        out
    }

    pub fn concat<'a>(origins: impl Iterator<Item = &'a Origin>) -> Origin {
        let mut out = Origin::default();
        for span in origins.flat_map(|o| &o.0) {
            out.push(span.clone());
        }
        out
    }
}

impl From<Vec<(String, u64, usize)>> for Origin {
    fn from(spans: Vec<(String, u64, usize)>) -> Origin {
        Origin(spans.into_iter().map(|(file, first, rows)| Span { file: file.into(), first, rows }).collect())
    }
}

impl From<Origin> for Vec<(String, u64, usize)> {
    fn from(origin: Origin) -> Self {
        origin.0.into_iter().map(|s| (s.file.to_string(), s.first, s.rows)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_places() {
        let (a, b) = (Origin::new("a", 10, 3), Origin::new("b", 0, 2));
        let both = Origin::concat([&a, &b].into_iter());
        assert_eq!((both.place(2), both.place(4)), (Some(("a", 12)), Some(("b", 1))));
        assert_eq!(both.slice(2, 4), Origin::concat([&Origin::new("a", 12, 1), &Origin::new("b", 0, 1)].into_iter()));
        let taken = both.take(&[4, 0, 1]);
        assert_eq!([0, 1, 2].map(|row| taken.place(row)), [Some(("b", 1)), Some(("a", 10)), Some(("a", 11))]);
        assert_eq!(Origin::concat([&a.slice(0, 1), &a.slice(1, 3)].into_iter()), a);
        assert_eq!(a.slice(1, 1).place(0), Some(("a", 11)));
    }
}
