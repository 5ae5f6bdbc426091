//! What the formats share: symbols and guards, types, constants, names and annotations.

use super::expr::{Resolve, parse_expr};
use super::lexer::{Cursor, Token, is_ident, name_or_quoted, quote};
use crate::dtype::{DType, Literal};
use crate::error::Result;
use crate::expr::{Atom, Expr, Sym, write_expr};
use crate::graph::{Origin, Phase};
use crate::shape::{Guard, Relation, ShapeEnv, Symbol, TensorType};
use rustc_hash::{FxHashMap, FxHashSet};

// ---- names ----

/// For each name, itself where it can stand for the thing: `usable`, and the first of its kind. Else `None`.
pub fn usable_names<'a>(names: impl IntoIterator<Item = Option<&'a str>>, usable: impl Fn(&str) -> bool) -> Vec<Option<&'a str>> {
    let mut seen = FxHashSet::default();
    names.into_iter().map(|n| n.filter(|n| usable(n) && seen.insert(*n))).collect()
}

/// A letter and a number, which the formats use for things without a name.
pub fn is_numbered(name: &str, letters: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| letters.contains(c)) && name.len() > 1 && chars.all(|c| c.is_ascii_digit())
}

/// The number of `i12`, `$3`.
pub fn numbered(name: &str, letter: char) -> Option<u32> {
    name.strip_prefix(letter)?.parse().ok()
}

// ---- symbols ----

fn is_symbol_name(n: &str) -> bool {
    is_ident(n) && !is_numbered(n, "iv") && !matches!(n, "floordiv" | "mod" | "min" | "max" | "guard")
}

/// How the symbols of an environment are written.
pub struct Symbols<'a>(Vec<Option<&'a str>>);

impl<'a> Symbols<'a> {
    pub fn new(env: &'a ShapeEnv) -> Self {
        Symbols(usable_names(env.symbols.iter().map(|s| Some(s.name.as_str())), is_symbol_name))
    }

    pub fn name(&self, s: Sym) -> String {
        self.0.get(s.0 as usize).copied().flatten().map_or_else(|| format!("${}", s.0), str::to_string)
    }

    pub fn expr(&self, e: &Expr) -> String {
        let mut out = String::new();
        let name = |a: &Atom| match a {
            Atom::Sym(s) => Some(self.name(*s)),
            _ => None,
        };
        write_expr(e, &name, &mut out);
        out
    }

    pub fn list(&self, es: &[Expr]) -> String {
        format!("[{}]", es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", "))
    }

    pub fn ty(&self, t: &TensorType) -> String {
        format!("{}{}", t.dtype, self.list(&t.shape))
    }

    /// `where B in 2..=65536 = hint 64 from arg0.dim0, guard ..`, each entry on its line; empty without symbols.
    pub fn header(&self, env: &ShapeEnv) -> String {
        let mut entries = Vec::new();
        for (i, s) in env.symbols.iter().enumerate() {
            let name = self.name(Sym(i as u32));
            let alias = if name == s.name { String::new() } else { format!(" {}", quote(&s.name)) };
            let origin = if s.origin.is_empty() { String::new() } else { format!(" from {}", name_or_quoted(&s.origin)) };
            entries.push(format!("{name}{alias} in {}..={} = hint {}{origin}", s.lo, s.hi, s.hint));
        }
        for g in &env.guards {
            let relation = match g.relation {
                Relation::Zero => "== 0",
                Relation::NonZero => "!= 0",
                Relation::NonNegative => ">= 0",
                Relation::Negative => "< 0",
            };
            let reason = if g.reason.is_empty() { String::new() } else { format!(" {}", quote(&g.reason)) };
            entries.push(format!("guard {} {relation}{reason}", self.expr(&g.expr)));
        }
        if entries.is_empty() { String::new() } else { format!("where {}\n", entries.join(",\n      ")) }
    }
}

/// The symbols of a text by name.
#[derive(Default)]
pub struct SymbolTable(FxHashMap<String, Sym>);

impl SymbolTable {
    pub fn get(&self, name: &str) -> Option<Atom> {
        self.0.get(name).map(|s| Atom::Sym(*s))
    }
}

/// Reads a `where` clause, if there is one.
pub fn parse_header(c: &mut Cursor, env: &mut ShapeEnv) -> Result<SymbolTable> {
    let mut table = SymbolTable::default();
    if !c.eat_word("where") {
        return Ok(table);
    }
    loop {
        if c.eat_word("guard") {
            let expr = parse_expr(c, &|n| table.get(n))?;
            let relation = match c.next() {
                Token::Punct("==") => Relation::Zero,
                Token::Punct("!=") => Relation::NonZero,
                Token::Punct(">=") => Relation::NonNegative,
                Token::Punct("<") => Relation::Negative,
                _ => return Err(c.error_from(c.position() - 1, "expected `== 0`, `!= 0`, `>= 0` or `< 0`")),
            };
            if c.int()? != 0 {
                return Err(c.error_from(c.position() - 1, "a guard compares with 0"));
            }
            env.guards.push(Guard { expr, relation, reason: c.eat_string().unwrap_or_default() });
        } else {
            let at = c.position();
            let shown = c.ident("a size's name or `guard`")?;
            let index = env.symbols.len() as u32;
            if shown.starts_with('$') && numbered(shown, '$') != Some(index) {
                return Err(c.error_from(at, format!("the size after this many is `${index}`")));
            }
            if !shown.starts_with('$') && !is_symbol_name(shown) {
                return Err(c.error_from(at, format!("`{shown}` cannot name a size")));
            }
            let name = c.eat_string().unwrap_or_else(|| shown.to_string());
            if table.0.insert(shown.to_string(), Sym(index)).is_some() {
                return Err(c.error_from(at, format!("the size `{shown}` is declared twice")));
            }
            c.word("in")?;
            let range = c.position();
            let lo = c.int()?;
            c.expect("..=")?;
            let hi = c.int()?;
            c.expect("=")?;
            c.word("hint")?;
            let hint = c.int()?;
            if !(0 <= lo && lo <= hint && hint <= hi) {
                return Err(c.error_from(range, format!("the size {hint} is not in the range {lo}..={hi}, or that is not of sizes")));
            }
            let origin = if c.eat_word("from") { c.name("where the size comes from")? } else { String::new() };
            env.symbols.push(Symbol { name, hint, lo, hi, origin });
        }
        if !c.eat(",") {
            return Ok(table);
        }
    }
}

// ---- types and constants ----

pub fn parse_dtype(c: &mut Cursor) -> Result<DType> {
    let at = c.position();
    let name = c.ident("an element type")?;
    name.parse().map_err(|_| {
        let known = DType::ALL.map(DType::name).join(", ");
        c.error_from(at, format!("unknown element type `{name}`: {known} are known"))
    })
}

pub fn parse_shape(c: &mut Cursor, resolve: &Resolve) -> Result<Vec<Expr>> {
    c.list("[", "]", |c| parse_expr(c, resolve))
}

pub fn parse_type(c: &mut Cursor, resolve: &Resolve) -> Result<TensorType> {
    Ok(TensorType { dtype: parse_dtype(c)?, shape: parse_shape(c, resolve)? })
}

/// The digits of a constant, exact for its type.
pub fn literal(l: Literal) -> String {
    match l.dtype {
        DType::Bool => (l.value() != 0.0).to_string(),
        d if !d.is_float() => l.value().to_string(),
        _ if l.value().is_nan() => "nan".into(),
        // The shortest digits that round to the value; every f16 and bf16 is an f32.
        _ => format!("{:?}", l.value() as f32),
    }
}

/// A number, `inf`, `nan`, `true` or `false` as a constant of a known type.
pub fn parse_literal(c: &mut Cursor, dtype: DType) -> Result<Literal> {
    let at = c.position();
    let negative = c.eat("-");
    let value = match *c.peek() {
        Token::Ident("true") => 1.0,
        Token::Ident("false") => 0.0,
        Token::Ident("inf") => f64::INFINITY,
        Token::Ident("nan") => f64::NAN,
        Token::Number { digits, suffix: "" } => number(digits, dtype),
        _ => return c.expected("a number"),
    };
    c.next();
    checked_literal(c, at, if negative { -value } else { value }, dtype)
}

/// The value of digits, rounded once.
pub fn number(digits: &str, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => digits.parse::<f32>().map_or(f64::NAN, f64::from),
        _ => digits.parse().unwrap_or(f64::NAN),
    }
}

/// A constant, if the type holds the value: integers do not wrap.
pub fn checked_literal(c: &Cursor, at: usize, value: f64, dtype: DType) -> Result<Literal> {
    let l = Literal::new(value, dtype);
    let fits = dtype.is_float() || l.value() == value;
    if fits { Ok(l) } else { Err(c.error_from(at, format!("{value} is not a value of {dtype}"))) }
}

// ---- annotations ----

fn phase_name(p: Phase) -> &'static str {
    match p {
        Phase::Forward => "",
        Phase::Backward => "backward",
        Phase::Recompute => "recompute",
    }
}

/// `[1, 4] backward`, `[2] checkpoint=0`; empty for the default.
pub fn origin(o: &Origin) -> String {
    let nodes = if o.nodes.is_empty() { String::new() } else { format!("{:?}", o.nodes) };
    let phase = phase_name(o.phase);
    let checkpoint = o.checkpoint.map(|n| format!("checkpoint={n}")).unwrap_or_default();
    [nodes.as_str(), phase, &checkpoint].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The annotation of a node, without `#`.
pub fn note(location: Option<&str>, o: &Origin) -> String {
    // A location as compilers write it stands as it is; anything else is a string.
    let plain = |l: &str| {
        l.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:\\".contains(c)) && l.contains(':') && l.starts_with(|c: char| c != ':')
    };
    let place = location.map(|l| if plain(l) { l.to_string() } else { quote(l) });
    let parts = [place.unwrap_or_default(), origin(o)];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Reads an annotation at the cursor, if there is one: location and origin.
pub fn parse_note(c: &mut Cursor) -> Result<(Option<String>, Origin)> {
    let Token::Note(text) = *c.peek() else { return Ok((None, Origin::default())) };
    let trimmed = text.trim_start();
    let (location, rest) = if trimmed.starts_with('"') {
        let mut inner = Cursor::new(trimmed, false).map_err(|_| c.error("the annotation's string does not end"))?;
        let s = inner.eat_string();
        (s, after_string(trimmed))
    } else {
        let first = trimmed.split_whitespace().next().unwrap_or("");
        let is_place = first.contains(':') && !first.starts_with('[');
        if is_place { (Some(first.to_string()), &trimmed[first.len()..]) } else { (None, trimmed) }
    };
    let o = parse_origin(rest).map_err(|problem| c.error(problem))?;
    c.next();
    Ok((location, o))
}

/// Reads `[1] backward; [2]`, the origins of a nest.
pub fn parse_origins(c: &mut Cursor) -> Result<Vec<Origin>> {
    let Token::Note(text) = *c.peek() else { return Ok(vec![]) };
    let out = text.split(';').map(|part| parse_origin(part).map_err(|p| c.error(p))).collect::<Result<Vec<_>>>()?;
    c.next();
    Ok(out)
}

fn after_string(text: &str) -> &str {
    let mut escaped = false;
    for (i, ch) in text.char_indices().skip(1) {
        match ch {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return &text[i + 1..],
            _ => {}
        }
    }
    ""
}

fn parse_origin(text: &str) -> std::result::Result<Origin, String> {
    let problem = || format!("an annotation is `place [nodes] phase`, not `{}`", text.trim().chars().take(60).collect::<String>());
    let text = text.trim();
    let (nodes, rest) = match text.strip_prefix('[') {
        None => (vec![], text),
        Some(inner) => {
            let (list, rest) = inner.split_once(']').ok_or_else(problem)?;
            let nodes = list.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse::<u32>().map_err(|_| problem()));
            (nodes.collect::<std::result::Result<Vec<_>, _>>()?, rest.trim())
        }
    };
    let (rest, checkpoint) = match rest.split_once("checkpoint=") {
        None => (rest, None),
        Some((phase, n)) => (phase.trim(), Some(n.trim().parse::<u32>().map_err(|_| problem())?)),
    };
    let phase = [Phase::Forward, Phase::Backward, Phase::Recompute].into_iter().find(|p| phase_name(*p) == rest).ok_or_else(problem)?;
    Ok(Origin { nodes, phase, checkpoint })
}

/// Lines of `(text, annotation)` with the annotations in one column where they fit.
pub fn align(lines: Vec<(String, String)>) -> String {
    const WIDEST: usize = 88;
    let width = |s: &str| s.chars().count();
    let column = lines.iter().filter(|l| !l.1.is_empty()).map(|l| width(&l.0)).filter(|w| *w <= WIDEST).max().unwrap_or(0) + 2;
    let mut out = String::new();
    for (text, note) in lines {
        out.push_str(&text);
        if !note.is_empty() {
            let gap = column.saturating_sub(width(&text)).max(2);
            out.push_str(&" ".repeat(gap));
            out.push_str("# ");
            out.push_str(&note);
        }
        out.push('\n');
    }
    out
}
