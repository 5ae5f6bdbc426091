//! Reading a function of the helper language.

use aludel_ir::DType;
use std::collections::BTreeMap;

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::codegen) enum Type {
    F32,
    I32,
    U32,
    Bool,
}

impl Type {
    pub fn dtype(self) -> DType {
        match self {
            Type::F32 => DType::F32,
            Type::I32 => DType::I32,
            Type::U32 => DType::U32,
            Type::Bool => DType::Bool,
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::codegen) enum Expr {
    F32(f32),
    Int(u32, Type),
    Bool(bool),
    Name(String),
    /// `-`, `!`
    Unary(char, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Bitcast(Type, Box<Expr>),
    Call(String, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(in crate::codegen) enum Line {
    Let(String, Expr),
    Var(String, Type, Option<Expr>),
    /// `x = e`; `x += e` is read as `x = x + e`.
    Assign(String, Expr),
    If(Expr, Vec<Line>, Vec<Line>),
    /// `while`; `loop` has no condition.
    Loop(Option<Expr>, Vec<Line>),
    Break,
    Return(Expr),
}

#[derive(Clone, Debug)]
pub(in crate::codegen) struct Function {
    pub name: String,
    pub params: Vec<(String, Type)>,
    pub result: Type,
    pub body: Vec<Line>,
}

/// All functions of some files by name, those of a later one in the place of those of an earlier; what is written in more of WGSL than
/// is read here is left out.
pub(in crate::codegen) fn functions(sources: &[&str]) -> BTreeMap<String, Function> {
    sources.iter().flat_map(|s| s.split("\n\n")).filter_map(function).map(|f| (f.name.clone(), f)).collect()
}

/// Reads one declaration; `None` for what is no function of this language.
fn function(chunk: &str) -> Option<Function> {
    let text: String = chunk.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut p = Parser { tokens: tokens(&text)?, at: 0 };
    p.word("fn")?;
    let name = p.ident()?;
    let mut params = Vec::new();
    p.punct("(")?;
    while !p.eat(")") {
        let name = p.ident()?;
        p.punct(":")?;
        params.push((name, p.ty()?));
        p.eat(",");
    }
    p.punct("->")?;
    let result = p.ty()?;
    let body = p.block()?;
    (p.at == p.tokens.len()).then_some(Function { name, params, result, body })
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Ident(String),
    Number(String),
    Punct(&'static str),
}

const PUNCTUATION: [&str; 33] = [
    "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "(", ")", "{", "}", "<", ">", "=", "+", "-", "*", "/", "%",
    "!", "~", "&", "|", "^", ",", ";", ":", ".",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = if c.is_ascii_digit() {
            let mut end = 0;
            let bytes = rest.as_bytes();
            let hex = rest.starts_with("0x");
            while end < bytes.len() {
                let here = bytes[end] as char;
                let exponent = !hex && end > 0 && matches!(bytes[end - 1], b'e') && matches!(here, '-' | '+');
                if !(is_word(here) || here == '.' || exponent) {
                    break;
                }
                end += 1;
            }
            out.push(Token::Number(rest[..end].to_string()));
            end
        } else if is_word(c) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            out.push(Token::Ident(rest[..end].to_string()));
            end
        } else {
            let p = PUNCTUATION.iter().find(|p| rest.starts_with(**p))?;
            out.push(Token::Punct(p));
            p.len()
        };
        rest = rest[len..].trim_start();
    }
    Some(out)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

/// Binary operators by precedence, the weakest first. Those of WGSL that need parentheses between them have them.
const LEVELS: [&[&str]; 8] = [&["||"], &["&&"], &["|"], &["^"], &["&"], &["==", "!=", "<", "<=", ">", ">="], &["<<", ">>"], &["+", "-"]];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, p: &str) -> bool {
        let yes = matches!(self.peek(), Some(Token::Punct(q)) if *q == p);
        self.at += yes as usize;
        yes
    }

    fn punct(&mut self, p: &str) -> Option<()> {
        self.eat(p).then_some(())
    }

    fn at_word(&self, w: &str) -> bool {
        matches!(self.peek(), Some(Token::Ident(n)) if n == w)
    }

    fn word(&mut self, w: &str) -> Option<()> {
        let yes = self.at_word(w);
        self.at += yes as usize;
        yes.then_some(())
    }

    fn ident(&mut self) -> Option<String> {
        let Some(Token::Ident(n)) = self.peek() else { return None };
        let n = n.clone();
        self.at += 1;
        Some(n)
    }

    fn ty(&mut self) -> Option<Type> {
        Some(match self.ident()?.as_str() {
            "f32" => Type::F32,
            "i32" => Type::I32,
            "u32" => Type::U32,
            "bool" => Type::Bool,
            _ => return None,
        })
    }

    fn block(&mut self) -> Option<Vec<Line>> {
        self.punct("{")?;
        let mut out = Vec::new();
        while !self.eat("}") {
            out.push(self.line()?);
        }
        Some(out)
    }

    fn line(&mut self) -> Option<Line> {
        let word = self.ident()?;
        let line = match word.as_str() {
            "if" => return self.branch(),
            "loop" => return Some(Line::Loop(None, self.block()?)),
            "while" => {
                let condition = self.expr()?;
                return Some(Line::Loop(Some(condition), self.block()?));
            }
            "break" => Line::Break,
            "return" => Line::Return(self.expr()?),
            "let" => {
                let name = self.ident()?;
                self.punct("=")?;
                Line::Let(name, self.expr()?)
            }
            "var" => {
                let name = self.ident()?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                let start = if self.eat("=") { Some(self.expr()?) } else { None };
                // Without a type it is that of its first value: a number's, or a name's, which are floats but for counters.
                let ty = ty.or_else(|| start.as_ref().map(|e| if is_unsigned(e) { Type::U32 } else { Type::F32 }))?;
                Line::Var(name, ty, start)
            }
            name => {
                let name = name.to_string();
                let op = ["=", "+=", "-=", "*="].into_iter().find(|o| self.eat(o))?;
                let value = self.expr()?;
                let old = || Box::new(Expr::Name(name.clone()));
                let value = match op {
                    "+=" => Expr::Binary("+", old(), Box::new(value)),
                    "-=" => Expr::Binary("-", old(), Box::new(value)),
                    "*=" => Expr::Binary("*", old(), Box::new(value)),
                    _ => value,
                };
                Line::Assign(name, value)
            }
        };
        self.punct(";")?;
        Some(line)
    }

    fn branch(&mut self) -> Option<Line> {
        let condition = self.expr()?;
        let then = self.block()?;
        let otherwise = match self.word("else") {
            None => vec![],
            Some(()) if self.at_word("if") => {
                self.at += 1;
                vec![self.branch()?]
            }
            Some(()) => self.block()?,
        };
        Some(Line::If(condition, then, otherwise))
    }

    fn expr(&mut self) -> Option<Expr> {
        self.level(0)
    }

    fn level(&mut self, n: usize) -> Option<Expr> {
        let Some(operators) = LEVELS.get(n) else { return self.product() };
        let mut left = self.level(n + 1)?;
        while let Some(op) = operators.iter().find(|o| matches!(self.peek(), Some(Token::Punct(p)) if p == *o)) {
            self.at += 1;
            left = Expr::Binary(op, Box::new(left), Box::new(self.level(n + 1)?));
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Expr> {
        let mut left = self.unary()?;
        while let Some(op) = ["*", "/", "%"].into_iter().find(|o| self.eat(o)) {
            left = Expr::Binary(op, Box::new(left), Box::new(self.unary()?));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        if self.eat("-") {
            return Some(Expr::Unary('-', Box::new(self.unary()?)));
        }
        if self.eat("!") {
            return Some(Expr::Unary('!', Box::new(self.unary()?)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Option<Expr> {
        if self.eat("(") {
            let e = self.expr()?;
            self.punct(")")?;
            return Some(e);
        }
        if let Some(Token::Number(n)) = self.peek() {
            let n = n.clone();
            self.at += 1;
            return number(&n);
        }
        let name = self.ident()?;
        match name.as_str() {
            "true" | "false" => return Some(Expr::Bool(name == "true")),
            "bitcast" => {
                self.punct("<")?;
                let ty = self.ty()?;
                self.punct(">")?;
                self.punct("(")?;
                let e = self.expr()?;
                self.punct(")")?;
                return Some(Expr::Bitcast(ty, Box::new(e)));
            }
            _ => {}
        }
        if !self.eat("(") {
            return Some(Expr::Name(name));
        }
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.expr()?);
            self.eat(",");
        }
        Some(Expr::Call(name, args))
    }
}

fn is_unsigned(e: &Expr) -> bool {
    match e {
        Expr::Int(_, ty) => *ty == Type::U32,
        Expr::Call(name, _) => name == "u32",
        _ => false,
    }
}

fn number(text: &str) -> Option<Expr> {
    if let Some(hex) = text.strip_prefix("0x") {
        return Some(match hex.strip_suffix('u') {
            Some(h) => Expr::Int(u32::from_str_radix(h, 16).ok()?, Type::U32),
            None => Expr::Int(u32::from_str_radix(hex, 16).ok()?, Type::I32),
        });
    }
    if let Some(u) = text.strip_suffix('u') {
        return Some(Expr::Int(u.parse().ok()?, Type::U32));
    }
    match text.strip_suffix('f') {
        Some(f) => Some(Expr::F32(f.parse().ok()?)),
        None if text.contains(['.', 'e']) => Some(Expr::F32(text.parse().ok()?)),
        None => Some(Expr::Int(text.parse::<i32>().ok()? as u32, Type::I32)),
    }
}
