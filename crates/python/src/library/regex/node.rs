//! What a pattern consists of.

use crate::text::unicode;

/// How characters of two cases are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    No,
    Ascii,
    Full,
}

/// The character that stands for all that are alike.
pub fn fold(c: char, how: Fold) -> char {
    match how {
        Fold::No => c,
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        Fold::Ascii => c,
        Fold::Full => lower(upper(lower(c))),
    }
}

fn single(c: char, push: fn(char, &mut String)) -> char {
    let mut mapped = String::new();
    push(c, &mut mapped);
    let mut mapped = mapped.chars();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn lower(c: char) -> char {
    single(c, unicode::push_lowered)
}

fn upper(c: char) -> char {
    single(c, unicode::push_upper)
}

pub fn is_word(c: char, ascii: bool) -> bool {
    c == '_' || if ascii || c.is_ascii() { c.is_ascii_alphanumeric() } else { unicode::is_alnum(c) }
}

/// `\d`, `\w`, `\s` and their opposites: the letter, and whether only ASCII counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Category(pub char, pub bool);

impl Category {
    fn has(self, c: char) -> bool {
        let Category(letter, ascii) = self;
        let has = match letter.to_ascii_lowercase() {
            'd' if ascii => c.is_ascii_digit(),
            'd' => unicode::decimal(c).is_some(),
            'w' => is_word(c, ascii),
            _ if ascii => matches!(c, ' ' | '\t'..='\r'),
            _ => unicode::is_space(c),
        };
        has != letter.is_ascii_uppercase()
    }
}

/// A set of characters.
#[derive(Clone, Debug)]
pub struct Set {
    pub negated: bool,
    pub ranges: Vec<(char, char)>,
    pub categories: Vec<Category>,
    pub fold: Fold,
    /// What it says of ASCII, a bit each.
    ascii: u128,
}

impl Set {
    pub fn new(negated: bool, ranges: Vec<(char, char)>, categories: Vec<Category>, fold: Fold) -> Set {
        let mut set = Set { negated, ranges, categories, fold, ascii: 0 };
        set.ascii = (0..128u8).filter(|c| set.holds(*c as char)).fold(0, |bits, c| bits | 1 << c);
        set
    }

    pub fn has(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> c as u32 & 1 != 0 } else { self.holds(c) }
    }

    fn holds(&self, c: char) -> bool {
        let lists = |c: char| self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) || self.categories.iter().any(|k| k.has(c));
        let found = match self.fold {
            Fold::No => lists(c),
            Fold::Ascii => lists(c) || lists(c.to_ascii_lowercase()) || lists(c.to_ascii_uppercase()),
            Fold::Full => lists(c) || lists(lower(c)) || lists(upper(c)) || lists(fold(c, Fold::Full)),
        };
        found != self.negated
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Start,
    LineStart,
    End,
    /// The end, or before a newline there.
    LastLine,
    LineEnd,
    Word {
        negated: bool,
        ascii: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Debug)]
pub enum Node {
    Char(char, Fold),
    Any { newline: bool },
    Set(Box<Set>),
    At(Anchor),
    Back(usize, Fold),
    Seq(Vec<Node>),
    Alt(Vec<Node>),
    Group(usize, Box<Node>),
    Atomic(Box<Node>),
    Look { behind: bool, negated: bool, node: Box<Node> },
    If(usize, Box<(Node, Node)>),
    Repeat { node: Box<Node>, min: u32, max: u32, kind: Kind },
}

impl Node {
    /// How many characters it takes, if it is always as many.
    pub fn width(&self) -> Option<usize> {
        match self {
            Node::Char(..) | Node::Any { .. } | Node::Set(_) => Some(1),
            Node::At(_) | Node::Look { .. } => Some(0),
            Node::Back(..) => None,
            Node::Seq(nodes) => nodes.iter().try_fold(0usize, |sum, node| sum.checked_add(node.width()?)),
            Node::Alt(nodes) => {
                let width = nodes.first()?.width()?;
                nodes.iter().all(|node| node.width() == Some(width)).then_some(width)
            }
            Node::Group(_, node) | Node::Atomic(node) => node.width(),
            Node::If(_, nodes) => nodes.0.width().filter(|width| nodes.1.width() == Some(*width)),
            Node::Repeat { node, min, max, .. } if min == max => node.width()?.checked_mul(*min as usize),
            Node::Repeat { .. } => None,
        }
    }
}
