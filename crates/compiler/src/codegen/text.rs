//! Pieces of expressions in C-like languages, and when they need parentheses.

use aludel_ir::kernel::Ty;

/// How tightly the outermost operator of a text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Binds {
    /// Comparisons, choices, shifts and bit operations: in parentheses wherever they are part of something.
    Never,
    Sum,
    Product,
    Unary,
    Atom,
}

/// A piece of an expression: text with its type and how tightly it binds.
pub(super) struct Text {
    pub code: String,
    pub ty: Ty,
    pub binds: Binds,
}

impl Text {
    pub fn new(code: impl Into<String>, ty: Ty, binds: Binds) -> Self {
        Text { code: code.into(), ty, binds }
    }

    pub fn atom(code: impl Into<String>, ty: Ty) -> Self {
        Text::new(code, ty, Binds::Atom)
    }

    /// As an operand of an operator that binds as tightly as `least`.
    pub fn at(&self, least: Binds) -> String {
        if self.binds >= least { self.code.clone() } else { format!("({})", self.code) }
    }

    /// As an argument of a function, an index, or a loop's bound.
    pub fn arg(&self) -> String {
        self.at(Binds::Sum)
    }

    /// With as many lanes as asked; `vector` says a vector of one number in every lane.
    pub fn spread(self, lanes: u8, vector: fn(Text, Ty) -> Text) -> Text {
        if self.ty.lanes >= lanes {
            return self;
        }
        let ty = Ty { lanes, ..self.ty };
        vector(self, ty)
    }
}
