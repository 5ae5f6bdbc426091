//! What pipes of tables can do besides what all pipes can.

use super::{Expr, Join, Lookup, Table, Transform};
use crate::pipe::{Map, Pipe, State, child, part};
use crate::{Error, Random, Result};
use serde_json::json;

/// Pipes of [`Table`]s.
pub trait TablePipe: Pipe<Item = Table> + Sized {
    /// Tables with a column more, which an expression gives, or another one in place of one of that name.
    fn with(self, name: &str, column: Expr) -> Map<Self, impl FnMut(Table) -> Result<Table> + Send> {
        self.transform(Transform::new().with(name, column))
    }

    /// Tables as a [`Transform`] makes them.
    fn transform(self, transform: Transform) -> Map<Self, impl FnMut(Table) -> Result<Table> + Send> {
        self.map(move |table| transform.apply(&table))
    }

    /// Only the rows for which an expression is true.
    fn filter_rows(self, keep: Expr) -> Map<Self, impl FnMut(Table) -> Result<Table> + Send> {
        self.map(move |table| table.filter(&keep))
    }

    /// Tables with the columns of a small one whose rows have the same key; see [`Lookup`].
    fn join(self, lookup: Lookup, on: &[&str], how: Join) -> Map<Self, impl FnMut(Table) -> Result<Table> + Send> {
        let on: Vec<String> = on.iter().map(|name| name.to_string()).collect();
        self.map(move |table| lookup.join(&table, &on, how))
    }

    /// Tables of exactly so many rows, whatever the sizes were; a last one that is smaller is dropped with `drop_last`.
    fn rebatch(self, rows: usize, drop_last: bool) -> Rebatch<Self> {
        Rebatch { source: self, rows: rows.max(1), drop_last, pending: None, carried: Vec::new(), ended: None }
    }

    /// The rows in a random order: each is drawn from so many that lie next to each other.
    fn shuffle_rows(self, buffer: usize, seed: u64) -> ShuffleRows<Self> {
        ShuffleRows { source: self.rebatch(buffer, false), seed, at: 0 }
    }
}

impl<P: Pipe<Item = Table>> TablePipe for P {}

/// All rows of a pipe in one table; at most so many.
///
/// # Errors
///
/// The first one of the pipe, when there are more rows, and when there is none.
pub fn collect(pipe: &mut impl Pipe<Item = Table>, at_most: usize) -> Result<Table> {
    let (mut tables, mut rows) = (Vec::new(), 0);
    while let Some(table) = pipe.next().transpose()? {
        rows += table.rows();
        if rows > at_most {
            let problem = format!("there are more than {at_most} rows");
            return Err(Error::option("collect", problem, "allow more, or read them as a stream"));
        }
        tables.push(table);
    }
    if tables.is_empty() {
        return Err(Error::option("collect", "there is no row", "give files that have some"));
    }
    Table::concat(&tables)
}

/// See [`TablePipe::rebatch`].
pub struct Rebatch<P> {
    source: P,
    rows: usize,
    drop_last: bool,
    pending: Option<Pending>,
    /// Rows before an error, for the table behind it.
    carried: Vec<Table>,
    /// An error of the source that comes behind the rows read before it; the end is `Some(None)`.
    ended: Option<Option<Error>>,
}

/// A table of the source that was given in part.
struct Pending {
    table: Table,
    given: usize,
    /// The source's position before it.
    before: State,
}

impl<P: Pipe<Item = Table>> Rebatch<P> {
    /// Up to so many rows of the table at hand, which is read where there is none; nothing at the end and before an error.
    fn piece(&mut self, rows: usize) -> Result<Option<Table>> {
        while self.pending.as_ref().is_none_or(|p| p.given >= p.table.rows()) {
            self.pending = None;
            if self.ended.is_some() {
                return Ok(None);
            }
            let before = self.source.state()?;
            match self.source.next() {
                Some(Ok(table)) => self.pending = Some(Pending { table, given: 0, before }),
                other => {
                    self.ended = Some(other.and_then(Result::err));
                    return Ok(None);
                }
            }
        }
        Ok(self.pending.as_mut().map(|p| {
            let piece = p.table.slice(p.given, p.given + rows);
            p.given += piece.rows();
            piece
        }))
    }
}

impl<P: Pipe<Item = Table>> Pipe for Rebatch<P> {
    type Item = Table;

    fn next(&mut self) -> Option<Result<Table>> {
        let mut pieces = std::mem::take(&mut self.carried);
        let mut rows: usize = pieces.iter().map(Table::rows).sum();
        while rows < self.rows {
            match self.piece(self.rows - rows) {
                Ok(Some(piece)) => {
                    rows += piece.rows();
                    pieces.push(piece);
                }
                Ok(None) => break,
                Err(e) => return Some(Err(e)),
            }
        }
        match self.ended.take() {
            Some(Some(e)) if rows < self.rows => {
                self.carried = pieces;
                Some(Err(e))
            }
            ended => {
                self.ended = ended;
                (rows == self.rows || (rows > 0 && !self.drop_last)).then(|| Table::concat(&pieces))
            }
        }
    }

    fn state(&self) -> Result<State> {
        match (&self.ended, &self.pending) {
            _ if !self.carried.is_empty() => Err(Error::state("an error interrupted a table of rows", "take one more item")),
            (Some(Some(e)), _) => Err(Error::state(format!("an error has not been handed out yet: {e}"), "take one more item")),
            (_, Some(p)) if p.given < p.table.rows() => Ok(json!({ "source": p.before, "given": p.given })),
            _ => Ok(json!({ "source": self.source.state()?, "given": 0 })),
        }
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let given: usize = part(state, "given")?;
        (self.pending, self.carried, self.ended) = (None, Vec::new(), None);
        self.source.restore(child(state, "source")?)?;
        if given > 0 {
            let before = self.source.state()?;
            match self.source.next() {
                Some(table) => self.pending = Some(Pending { table: table?, given, before }),
                None => return Err(crate::pipe::other("is behind the end of the data")),
            }
        }
        Ok(())
    }
}

/// See [`TablePipe::shuffle_rows`].
pub struct ShuffleRows<P> {
    source: Rebatch<P>,
    seed: u64,
    at: u64,
}

impl<P: Pipe<Item = Table>> Pipe for ShuffleRows<P> {
    type Item = Table;

    fn next(&mut self) -> Option<Result<Table>> {
        let table = self.source.next()?;
        Some(table.and_then(|table| {
            let mut order: Vec<usize> = (0..table.rows()).collect();
            // A function of the seed and the place alone: nothing else has to be saved.
            Random::of(&[self.seed, self.at]).shuffle(&mut order);
            self.at += 1;
            table.take(&order)
        }))
    }

    fn state(&self) -> Result<State> {
        Ok(json!({ "source": self.source.state()?, "at": self.at }))
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        self.at = part(state, "at")?;
        self.source.restore(child(state, "source")?)
    }
}
