//! The parser's errors in CPython's words and at CPython's places.

use super::SyntaxError;
use super::hints::{bad_number, hint, next_token, trailing_comma};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Expr, Number};
use ruff_python_parser::{InterpolatedStringErrorType, LexicalErrorType, ParseError, ParseErrorType, parse_expression};

/// What is known of a file besides the parser's error.
pub(super) struct Scan {
    /// The innermost bracket left open.
    pub open: Option<(char, usize)>,
    /// A bracket closed that was not open, or another was: its place, and what CPython says.
    pub mismatch: Option<(usize, String)>,
    /// Where `match` follows a semicolon.
    pub names: Vec<usize>,
}

/// CPython's error for the parser's.
pub(super) fn translate(text: &str, error: &ParseError, scan: &Scan) -> SyntaxError {
    let (start, end) = (error.location.start().to_usize().min(text.len()), error.location.end().to_usize().min(text.len()));
    // The tokenizer reads on to the file's end, and what it refuses goes before what the parser refuses.
    if let Some((at, message)) = &scan.mismatch {
        return found(message, *at, at + 1);
    }
    if let Some(refused) = bad_number(text) {
        return refused;
    }
    let ended = matches!(error.error, ParseErrorType::Lexical(LexicalErrorType::Eof));
    let lexical = !ended && matches!(error.error, ParseErrorType::Lexical(_) | ParseErrorType::FStringError(_));
    let reached = next_token(text, start);
    if let (Some((bracket, at)), false) = (scan.open, lexical)
        && (ended || reached >= text.len() || text[at..reached.max(at)].contains('\n'))
    {
        return found(&format!("'{bracket}' was never closed"), at, at + 1);
    }
    if let Some(better) = special(text, &error.error, start, end) {
        return better;
    }
    let (start, end) = token_at(text, start);
    if let Some(better) = trailing_comma(text, start) {
        return better;
    }
    generic(text, start, end)
}

pub(super) fn found(message: &str, start: usize, end: usize) -> SyntaxError {
    SyntaxError { kind: "SyntaxError", message: message.to_string(), start, end }
}

fn indentation(message: &str, start: usize, end: usize) -> SyntaxError {
    SyntaxError { kind: "IndentationError", message: message.to_string(), start, end }
}

fn special(text: &str, error: &ParseErrorType, start: usize, end: usize) -> Option<SyntaxError> {
    use ParseErrorType::*;
    Some(match error {
        InvalidAssignmentTarget => assignment(text, start, end)?,
        InvalidAugmentedAssignmentTarget => {
            found(&format!("'{}' is an illegal expression for augmented assignment", kind_of(text, start, end)?), start, end)
        }
        InvalidDeleteTarget => found(&format!("cannot delete {}", kind_of(text, start, end)?), start, end),
        InvalidNamedAssignmentTarget => {
            found(&format!("cannot use assignment expressions with {}", kind_of(text, start, end)?), start, end)
        }
        InvalidAnnotatedAssignmentTarget => match kind_of(text, start, end)? {
            kind @ ("tuple" | "list") => found(&format!("only single target (not {kind}) can be annotated"), start, end),
            _ => found("illegal target for annotation", start, end),
        },
        NonDefaultParamAfterDefaultParam => found("parameter without a default follows parameter with a default", start, end),
        PositionalAfterKeywordArgument | PositionalAfterKeywordUnpacking => {
            let unpacking = matches!(error, PositionalAfterKeywordUnpacking);
            let next = next_token(text, end);
            if let Some(better) = neighbours(text, next) {
                return Some(better);
            }
            let stops = text[next..].starts_with(|c: char| !(c.is_alphanumeric() || matches!(c, ',' | ')' | '"' | '\'')));
            let close = if stops { next } else { closing(text, end) };
            found(
                if unpacking {
                    "positional argument follows keyword argument unpacking"
                } else {
                    "positional argument follows keyword argument"
                },
                close,
                close + 1,
            )
        }
        InvalidArgumentUnpackingOrder => {
            let close = closing(text, end);
            found("iterable argument unpacking follows keyword argument unpacking", close, close + 1)
        }
        IterableUnpackingInComprehension => found("iterable unpacking cannot be used in comprehension", start, end),
        UnparenthesizedGeneratorExpression => found("Generator expression must be parenthesized", start, end),
        UnexpectedIndentation => {
            let (start, end) = token_at(text, start);
            indentation("unexpected indent", start, end)
        }
        SimpleStatementsOnSameLine | ExpectedToken { .. } | ExpectedExpression | UnexpectedExpressionToken => {
            if let Some(better) = hint(text, token_at(text, start).0) {
                return Some(better);
            }
            if let ExpectedToken { expected: TokenKind::Colon, .. } = error
                && let Some(better) = colon(text, start)
            {
                return Some(better);
            }
            return neighbours(text, start);
        }
        OtherError(message) if message.starts_with("Expected an indented block after") => {
            let (start, end) = token_at(text, start);
            let line = header_line(text, start);
            let what = message.trim_start_matches("Expected an indented block after ").trim_matches('`');
            indentation(&format!("expected an indented block after {} on line {line}", block_name(what)), start, end.min(start + 1))
        }
        OtherError(message) if message.starts_with("Expected an `except` or `finally`") => {
            let (start, end) = token_at(text, start);
            found("expected 'except' or 'finally' block", start, end)
        }
        OtherError(message) if message.contains("Expected one or more") || message.contains("Expected `except` or `finally`") => {
            let (start, end) = token_at(text, start);
            found("expected 'except' or 'finally' block", start, end)
        }
        OtherError(message) if message.starts_with("Expected a parameter name") => {
            let sign = end + text[end..].find('=')?;
            found("expression cannot contain assignment, perhaps you meant \"==\"?", start, sign + 1)
        }
        UnparenthesizedTupleExpression => {
            let comma = start + text[start..end].find(',')?;
            generic(text, comma, comma + 1)
        }
        OtherError(_) => return hint(text, token_at(text, start).0).or_else(|| neighbours(text, start)),
        FStringError(error) => formatted(text, error, start),
        Lexical(error) => lexical(text, error, start, end)?,
        _ => return None,
    })
}

/// `f() = 3`: what stands left of the sign is named.
fn assignment(text: &str, start: usize, end: usize) -> Option<SyntaxError> {
    let kind = kind_of(text, start, end)?;
    let after = text[end..].trim_start();
    let whole = after.starts_with('=') && !after.starts_with("==") && !matches!(kind, "True" | "False" | "None" | "tuple" | "list");
    let whole = whole && is_sum(text, start, end);
    let whole = whole && !text[..start].trim_end_matches([' ', '\t']).ends_with(['(', ',', '[']);
    let more = if whole { " here. Maybe you meant '==' instead of '='?" } else { "" };
    Some(found(&format!("cannot assign to {kind}{more}"), start, end))
}

/// Whether an expression binds as a sum does, or closer: before other ones `=` is not taken for `==`.
pub(super) fn is_sum(text: &str, start: usize, end: usize) -> bool {
    let Some(Ok(parsed)) = text.get(start..end).map(parse_expression) else { return false };
    match &*parsed.syntax().body {
        Expr::BoolOp(_) | Expr::Compare(_) | Expr::Lambda(_) | Expr::If(_) | Expr::Named(_) => false,
        Expr::UnaryOp(unary) => unary.op != ruff_python_ast::UnaryOp::Not,
        _ => true,
    }
}

/// CPython's name for the kind of an expression.
pub(super) fn kind_of(text: &str, start: usize, end: usize) -> Option<&'static str> {
    let parsed = parse_expression(text.get(start..end)?).ok()?;
    Some(match &*parsed.syntax().body {
        Expr::Call(_) => "function call",
        Expr::Attribute(_) => "attribute",
        Expr::Subscript(_) => "subscript",
        Expr::Starred(_) => "starred",
        Expr::Name(_) => "name",
        Expr::List(_) => "list",
        Expr::Tuple(_) => "tuple",
        Expr::Lambda(_) => "lambda",
        Expr::BoolOp(_) | Expr::BinOp(_) | Expr::UnaryOp(_) => "expression",
        Expr::Generator(_) => "generator expression",
        Expr::Yield(_) | Expr::YieldFrom(_) => "yield expression",
        Expr::Await(_) => "await expression",
        Expr::ListComp(_) => "list comprehension",
        Expr::SetComp(_) => "set comprehension",
        Expr::DictComp(_) => "dict comprehension",
        Expr::Dict(_) => "dict literal",
        Expr::Set(_) => "set display",
        Expr::FString(_) => "f-string expression",
        Expr::NumberLiteral(number) if matches!(number.value, Number::Int(_) | Number::Float(_) | Number::Complex { .. }) => "literal",
        Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::NumberLiteral(_) => "literal",
        Expr::BooleanLiteral(value) => {
            if value.value {
                "True"
            } else {
                "False"
            }
        }
        Expr::NoneLiteral(_) => "None",
        Expr::EllipsisLiteral(_) => "ellipsis",
        Expr::Compare(_) => "comparison",
        Expr::If(_) => "conditional expression",
        Expr::Named(_) => "named expression",
        _ => return None,
    })
}

/// A colon is missing: `def f()`, or an assignment stands where a comparison was meant.
fn colon(text: &str, at: usize) -> Option<SyntaxError> {
    let rest = &text[at..];
    if rest.starts_with('=') && !rest.starts_with("==") {
        let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let head = text[line..at].trim_start();
        let keyword = ["if ", "elif ", "while "].into_iter().find(|k| head.starts_with(k))?;
        let start = at - head.len() + keyword.len();
        let stop = rest.find(['\n', ':', '#']).map_or(text.len(), |i| at + i);
        let value = text[at + 1..stop].trim_end();
        // Only a name or an expression that could be compared.
        let left = text[start..at].trim_end();
        return match kind_of(text, start, start + left.len())? {
            _ if !is_sum(text, start, start + left.len()) => None,
            "name" => Some(found("invalid syntax. Maybe you meant '==' or ':=' instead of '='?", start, at + 1 + value.len())),
            kind => Some(found(&format!("cannot assign to {kind} here. Maybe you meant '==' instead of '='?"), start, start + left.len())),
        };
    }
    let (start, end) = token_at(text, at);
    let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let head = text[line..at].trim_start();
    // Some statements want the colon whatever follows, others where the line ends.
    let always = ["def", "else", "try", "finally"];
    let at_end = ["class", "if", "elif", "while", "for", "except", "with", "match", "case"];
    let ends = rest.starts_with('\n') || rest.is_empty() || rest.starts_with('#');
    let word = head.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let wanted = always.contains(&word) || ends && at_end.contains(&word);
    wanted.then(|| found("expected ':'", start, end))
}

/// Two expressions side by side: a comma was forgotten, or `print` is a function now.
fn neighbours(text: &str, at: usize) -> Option<SyntaxError> {
    let line = text[..at.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let stop = text[line..].find('\n').map_or(text.len(), |i| line + i);
    let shown = &text[line..stop];
    let head = shown.trim_start();
    let indent = line + shown.len() - head.len();
    for word in ["print", "exec"] {
        if let Some(rest) = head.strip_prefix(word)
            && rest.starts_with([' ', '\t'])
            && rest.trim_start().starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '{'))
            && at >= indent
        {
            let end = indent + head.trim_end().trim_end_matches(';').len();
            return Some(found(&format!("Missing parentheses in call to '{word}'. Did you mean {word}(...)?"), indent, end));
        }
    }
    // Inside brackets: the expression that ends here, and the one that begins.
    let (token, _) = token_at(text, at);
    let before = text[..token].trim_end();
    let opener = enclosing(&text[..token])?;
    let first = operand_start(before, opener)?;
    let next = text
        .get(token..)
        .filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '(' | '[' | '{')))?;
    // A name before a string may be meant as its prefix, and what a comprehension assigns to is no expression.
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let named =
        before[first..].chars().all(word) && !before[first..].starts_with(|c: char| c.is_ascii_digit()) && next.starts_with(['"', '\'']);
    let target = before[opener..].rfind(" for ").is_some_and(|at| !before[opener + at..].contains(" in "));
    let soft = before[first..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
    let defined =
        text[..opener].trim_end().rsplit_once("def ").is_some_and(|(_, name)| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    if named || target || defined || matches!(soft, Some("match" | "case" | "type" | "_")) {
        return None;
    }
    let inside = &before[opener + 1..first];
    if text[opener..].starts_with('{') && inside.contains(':') && inside.trim_end().ends_with(',') {
        return Some(found("':' expected after dictionary key", before.len() - 1, before.len()));
    }
    let keywords = ["if", "else", "for", "in", "is", "and", "or", "not", "as", "lambda", "async", "await"];
    let word: String = next.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if keywords.contains(&word.as_str()) {
        return None;
    }
    let second = longest_expression(text, token)?;
    parse_expression(&text[first..before.len()]).ok()?;
    Some(found("invalid syntax. Perhaps you forgot a comma?", first, second))
}

/// Where the innermost bracket open at the end of `text` stands.
pub(super) fn enclosing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, b) in text.bytes().enumerate().rev() {
        match b {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth == 0 => return Some(i),
            b'(' | b'[' | b'{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where the last item begins after the bracket or a comma.
pub(super) fn operand_start(text: &str, opener: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut start = opener + 1;
    for (i, b) in text.bytes().enumerate().skip(opener + 1) {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' | b'=' if depth == 0 => start = i + 1,
            _ => {}
        }
    }
    let rest = text.get(start..)?;
    let skipped = rest.len() - rest.trim_start().len();
    (skipped < rest.len()).then_some(start + skipped)
}

/// The end of the expression that begins at `at`: up to a comma, a bracket or the line's end.
fn longest_expression(text: &str, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut end = text.len();
    for (i, b) in text.bytes().enumerate().skip(at) {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => {
                end = i;
                break;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' | b':' | b'=' | b'\n' if depth == 0 => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    let end = at + text[at..end].trim_end().len();
    parse_expression(text.get(at..end)?).ok().map(|_| end)
}

/// Where the bracket that is open at `at` is closed.
fn closing(text: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    for (i, b) in text.bytes().enumerate().skip(at) {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return i,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    at
}

/// The token at a place, or the one after the space there; a line's end is one of width one.
pub(super) fn token_at(text: &str, at: usize) -> (usize, usize) {
    let rest = text.get(at..).unwrap_or("");
    let start = at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let rest = &text[start..];
    let word: usize = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum();
    if word > 0 {
        return (start, start + word);
    }
    let two = ["**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", ":="].iter().any(|t| rest.starts_with(t));
    let width = if two { 2 } else { rest.chars().next().map_or(0, char::len_utf8) };
    (start, start + width)
}

fn generic(text: &str, start: usize, end: usize) -> SyntaxError {
    // `not` behind an operand: what follows should have been `in`.
    let before = text[..start].trim_end_matches([' ', '\t']);
    let operand = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | ')' | ']' | '}'));
    if &text[start..end] == "not" && operand && !["import", "from", "as"].iter().any(|word| before.ends_with(word)) {
        let (start, end) = token_at(text, next_token(text, end));
        return found("invalid syntax", start, end);
    }
    // `<>` is a token of CPython's.
    if text[..start].ends_with('<') && text[start..].starts_with('>') {
        return found("invalid syntax", start - 1, end);
    }
    // A string token is marked whole.
    let end = match text.as_bytes().get(start) {
        Some(b'"' | b'\'') => super::string_end(text.as_bytes(), start),
        _ => end,
    };
    found("invalid syntax", start, end)
}

/// The line of the statement that an indented block should follow.
fn header_line(text: &str, at: usize) -> usize {
    let before = text[..at].trim_end();
    let header = before.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#')).last();
    header.map_or(1, |(index, _)| index + 1)
}

/// ruff's name for a block to CPython's.
fn block_name(what: &str) -> String {
    match what {
        "function definition" | "class definition" => what.to_string(),
        "class` definition" => return "class definition".to_string(),
        "`if` statement" | "if` statement" => "'if' statement".to_string(),
        other => other.replace('`', "'").replacen("clause", "statement", usize::from(!other.contains("except"))).trim().to_string(),
    }
    .split_once("' statement")
    .map_or_else(|| what.replace('`', "'"), |(word, _)| format!("'{}' statement", word.trim_start_matches('\'')))
}

fn formatted(text: &str, error: &InterpolatedStringErrorType, start: usize) -> SyntaxError {
    use InterpolatedStringErrorType::*;
    let message = match error {
        UnclosedLbrace => "f-string: expecting '}'",
        SingleRbrace => "f-string: single '}' is not allowed",
        InvalidConversionFlag => "f-string: invalid conversion character: expected 's', 'r', or 'a'",
        ConversionFlagNotImmediatelyAfterExclamation => "f-string: conversion type must come right after the exclamation mark",
        LambdaWithoutParentheses => "f-string: lambda expressions are not allowed without parentheses",
        NewlineInFormatSpec | UnterminatedString => return unterminated(text, start, "f-string literal"),
        UnterminatedTripleQuotedString => return unterminated(text, start, "triple-quoted f-string literal"),
    };
    found(message, start, start + 1)
}

fn unterminated(text: &str, at: usize, what: &str) -> SyntaxError {
    let triple = what.starts_with("triple");
    let last = if triple { text.trim_end_matches('\n').matches('\n').count() } else { text[..at].matches('\n').count() } + 1;
    found(&format!("unterminated {what} (detected at line {last})"), at, at + 1)
}

fn lexical(text: &str, error: &LexicalErrorType, start: usize, end: usize) -> Option<SyntaxError> {
    Some(match error {
        LexicalErrorType::FStringError(error) => formatted(text, error, start),
        LexicalErrorType::UnclosedStringError => {
            // The end of a format string that is taken for the beginning of another inside its braces.
            let line = text[..start].rfind('\n').map_or(0, |i| i + 1);
            if let Some(mark) = text[start..].chars().next()
                && let Some(open) = ["f", "F"].iter().find_map(|prefix| text[line..start].rfind(&format!("{prefix}{mark}")))
                && text[line + open..start].matches('{').count() > text[line + open..start].matches('}').count()
            {
                return Some(found("f-string: expecting '}'", start, start + 1));
            }
            // Back to the quote, before which a prefix may stand.
            let quote = text[start..].find(['"', '\'']).map_or(start, |i| start + i);
            let triple = text[quote..].starts_with("\"\"\"") || text[quote..].starts_with("'''");
            unterminated(text, start, if triple { "triple-quoted string literal" } else { "string literal" })
        }
        LexicalErrorType::IndentationError => {
            let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
            let line_end = if start == line_end {
                text[line_end..].trim_start_matches('\n').find('\n').map_or(text.len(), |i| line_end + 1 + i)
            } else {
                line_end
            };
            indentation("unindent does not match any outer indentation level", line_end, line_end)
        }
        LexicalErrorType::UnicodeError | LexicalErrorType::StringError => {
            let (from, to) = string_around(text, start)?;
            let body = &text[from..to];
            let escapes = [
                ("\\x", 2_usize, "truncated \\xXX escape"),
                ("\\u", 4, "truncated \\uXXXX escape"),
                ("\\U", 8, "truncated \\UXXXXXXXX escape"),
            ];
            let quotes = if body.ends_with("\"\"\"") || body.ends_with("'''") { 3 } else { 1 };
            let inside = body.trim_start_matches(|c: char| c.is_alphabetic());
            let inside = inside.get(quotes..inside.len().saturating_sub(quotes))?;
            for (sign, wanted, words) in escapes {
                for (at, _) in inside.match_indices(sign) {
                    let digits = inside[at + 2..].chars().take(wanted).take_while(char::is_ascii_hexdigit).count();
                    if digits < wanted {
                        let first = inside[..at].chars().count();
                        let message = format!(
                            "(unicode error) 'unicodeescape' codec can't decode bytes in position {first}-{}: {words}",
                            first + 1 + digits
                        );
                        return Some(found(&message, from, to));
                    }
                }
            }
            if let Some(at) = inside.find("\\N") {
                let first = inside[..at].chars().count();
                let last = first + inside[at..].find('}').unwrap_or(1);
                let words = "names of characters are not known here; use \\u";
                return Some(found(
                    &format!("(unicode error) 'unicodeescape' codec can't decode bytes in position {first}-{last}: {words}"),
                    from,
                    to,
                ));
            }
            return None;
        }
        LexicalErrorType::UnrecognizedToken { tok } if !tok.is_ascii() => {
            let words = if tok.is_control() || tok.is_whitespace() { "non-printable character" } else { "character" };
            let shown = if words == "character" { format!(" '{tok}' (") } else { " ".to_string() };
            let close = if words == "character" { ")" } else { "" };
            found(&format!("invalid {words}{shown}U+{:04X}{close}", u32::from(*tok)), start, start + tok.len_utf8())
        }
        LexicalErrorType::InvalidByteLiteral => {
            let (from, to) = string_around(text, start)?;
            found("bytes can only contain ASCII literal characters", from, to)
        }
        LexicalErrorType::LineContinuationError => found("unexpected character after line continuation character", start + 1, start + 2),
        LexicalErrorType::Eof => found("unexpected EOF while parsing", start, end),
        LexicalErrorType::OtherError(message) => number(text, message, start)?,
        _ => return None,
    })
}

/// The string literal around a place in it.
fn string_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'#' => i = text[i..].find('\n').map_or(bytes.len(), |n| i + n),
            b'"' | b'\'' => {
                let end = super::string_end(bytes, i);
                if at < end {
                    let prefix = text[..i].bytes().rev().take_while(|b| b.is_ascii_alphabetic()).count().min(2);
                    return (i - prefix <= at).then_some((i - prefix, end));
                }
                i = end;
            }
            _ => i += 1,
        }
    }
    None
}

/// Numbers that are none.
pub(super) fn number(text: &str, message: &str, start: usize) -> Option<SyntaxError> {
    let from = start - text[..start].bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.').count();
    let token: &str = text[from..].split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).next().unwrap_or("");
    let lower = token.to_ascii_lowercase();
    if token.starts_with('0') && token.len() > 1 && token.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        let words = "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers";
        return Some(found(words, from, from + 1));
    }
    let (kind, digits): (&str, fn(char) -> bool) = match lower.get(..2) {
        Some("0x") => ("hexadecimal", |c| c.is_ascii_hexdigit()),
        Some("0o") => ("octal", |c| ('0'..='7').contains(&c)),
        Some("0b") => ("binary", |c| c == '0' || c == '1'),
        _ => ("decimal", |c| c.is_ascii_digit()),
    };
    if !token.starts_with(|c: char| c.is_ascii_digit()) {
        return (message.contains("decimal") || message.contains("Invalid")).then(|| generic(text, start, start + 1));
    }
    let prefix = if kind == "decimal" { 0 } else { 2 };
    let good = token[prefix..].chars().take_while(|c| digits(*c) || *c == '_').count() + prefix;
    if kind != "decimal"
        && let Some(bad) = token[good..].chars().next().filter(char::is_ascii_digit)
    {
        return Some(found(&format!("invalid digit '{bad}' in {kind} literal"), from + good, from + good + 1));
    }
    let at = from + good.saturating_sub(1);
    Some(found(&format!("invalid {kind} literal"), at, at + 1))
}
