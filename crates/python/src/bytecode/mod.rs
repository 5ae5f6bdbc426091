//! What the compiler makes and the machine runs.

use crate::objects::{Str, Value};
use crate::order::InOrder;
use std::cell::Cell;
use std::rc::Rc;

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    Mod,
    Pow,
    LShift,
    RShift,
    BitOr,
    BitXor,
    BitAnd,
    FloorDiv,
}

impl Binary {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        ["+", "-", "*", "@", "/", "%", "**", "<<", ">>", "|", "^", "&", "//"][self as usize]
    }

    /// The methods that define it: plain, reflected, in place.
    pub fn methods(self) -> [&'static str; 3] {
        [
            ["__add__", "__radd__", "__iadd__"],
            ["__sub__", "__rsub__", "__isub__"],
            ["__mul__", "__rmul__", "__imul__"],
            ["__matmul__", "__rmatmul__", "__imatmul__"],
            ["__truediv__", "__rtruediv__", "__itruediv__"],
            ["__mod__", "__rmod__", "__imod__"],
            ["__pow__", "__rpow__", "__ipow__"],
            ["__lshift__", "__rlshift__", "__ilshift__"],
            ["__rshift__", "__rrshift__", "__irshift__"],
            ["__or__", "__ror__", "__ior__"],
            ["__xor__", "__rxor__", "__ixor__"],
            ["__and__", "__rand__", "__iand__"],
            ["__floordiv__", "__rfloordiv__", "__ifloordiv__"],
        ][self as usize]
    }
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Neg,
    Pos,
    Invert,
    Not,
}

/// Rich comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

impl Compare {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        ["<", "<=", "==", "!=", ">", ">="][self as usize]
    }

    /// The method that defines it.
    pub fn method(self) -> &'static str {
        ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"][self as usize]
    }

    /// The comparison with the operands exchanged.
    pub fn mirrored(self) -> Compare {
        use Compare::*;
        [Gt, Ge, Eq, Ne, Lt, Le][self as usize]
    }

    /// Whether an ordering satisfies it.
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Compare::Lt => ordering.is_lt(),
            Compare::Le => ordering.is_le(),
            Compare::Eq => ordering.is_eq(),
            Compare::Ne => ordering.is_ne(),
            Compare::Gt => ordering.is_gt(),
            Compare::Ge => ordering.is_ge(),
        }
    }
}

/// One instruction. Targets of jumps are indices of instructions; `s` operands index [`Code::sites`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    Const(u32),
    None,
    /// Before a statement of a loop's body but the first: from here on the host may do what the rest of the turn would
    /// ([`crate::vm::regions`]).
    Point,
    Local(u32),
    StoreLocal(u32),
    DeleteLocal(u32),
    /// An error where the local is not set.
    CheckLocal(u32),
    /// Forgets a local, set or not.
    Clear(u32),
    /// Two locals one after the other.
    Locals(u16, u16),
    /// A local and a constant.
    LocalConst(u16, u16),
    /// A local's attribute.
    LocalAttr(u16, u16),
    /// [`LoadMethod`](Op::LoadMethod) of a local.
    LocalMethod(u16, u16),
    BinaryLocals(Binary, u16, u16),
    BinaryLocalConst(Binary, u16, u16),
    /// The right operand is a local.
    BinaryLocal(Binary, u16),
    /// The right operand is a constant.
    BinaryConst(Binary, u16),
    CompareLocalConst(Compare, u16, u16),
    /// Fills the slot with a new cell that holds what the slot held.
    MakeCell(u32),
    /// The cell in a slot itself.
    CellOf(u32),
    Deref(u32),
    StoreDeref(u32),
    DeleteDeref(u32),
    /// In a class's body: its namespace first, then the cell.
    ClassDeref(u32, u16),
    Global(u32),
    StoreGlobal(u32),
    DeleteGlobal(u32),
    /// In a class's body: its namespace, then globals, then builtins.
    Name(u32),
    StoreName(u32),
    DeleteName(u32),
    Attr(u32),
    StoreAttr(u32),
    DeleteAttr(u32),
    /// Replaces the object by a function and the object, or by nothing and a bound callable.
    LoadMethod(u32),
    Item,
    StoreItem,
    DeleteItem,
    Slice(bool),
    Binary(Binary),
    Inplace(Binary),
    /// `local op= top`: the local's own reference is given up first, so that a string may grow in place.
    InplaceLocal(Binary, u32),
    Unary(Unary),
    Compare(Compare),
    Is(bool),
    In(bool),
    Pop,
    Dup,
    Dup2,
    Swap,
    /// The top goes below the next two.
    Rot3,
    Jump(u32),
    /// A jump backwards: counts fuel.
    Loop(u32),
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    JumpIfFalseOrPop(u32),
    JumpIfTrueOrPop(u32),
    JumpIfNone(u32),
    /// Compares the two topmost and jumps where the comparison does not hold.
    CompareJump(Compare, u32),
    Iter,
    For(u32),
    /// `for` over an iterator with the value stored at once in a local: second operand.
    ForLocal(u32, u16),
    Call(u32),
    CallMethod(u32),
    /// Count of all arguments; the constant is the tuple of keywords' names.
    CallKeywords(u32, u16),
    /// Positional arguments as a tuple, and keyword arguments as a dictionary if true.
    CallSpread(bool),
    Return,
    Yield,
    YieldFrom,
    /// The iterator of `yield from`.
    YieldIter,
    MakeGenerator,
    Tuple(u32),
    List(u32),
    Set(u32),
    Dict(u32),
    Join(u32),
    Append(u32),
    AddSet(u32),
    AddDict(u32),
    Extend,
    UpdateSet,
    UpdateDict,
    /// Keyword arguments into the dictionary below; a key twice is an error.
    MergeDict,
    ListToTuple,
    Unpack(u32),
    UnpackStar(u16, u16),
    /// Conversion (0 none, 1 str, 2 repr, 3 ascii), and whether a specification lies on top.
    Format(u8, bool),
    /// Flags: 1 defaults, 2 keyword defaults, 4 annotations, 8 closure.
    Function(u8),
    Import(u32),
    ImportFrom(u32),
    ImportStar,
    PushBlock(u32),
    /// A block whose handler keeps all but the topmost value.
    PushBlockUnder(u32),
    PopBlock,
    /// Ends a handler: the exception handled before is again the one handled.
    PopExcept,
    /// Raises the exception on top, keeping its traceback.
    Reraise,
    Raise(u8),
    MatchException,
    Assert,
    Enter,
    /// Calls `__exit__` of the manager on top with three `None`.
    Exit,
    /// Calls `__exit__` of the manager below the handled exception with it.
    ExitException,
    MatchSequence(u32),
    MatchStar(u32),
    MatchMapping,
    MatchKeys,
    MatchClass(u16, u16),
    /// `annotations[name] = top`.
    Annotate(u32),
}

impl Op {
    /// Whether another frame may be topmost after it.
    #[inline(always)]
    pub fn transfers(self) -> bool {
        use Op::*;
        matches!(
            self,
            CallKeywords(..) | CallSpread(_) | Yield | YieldFrom | MakeGenerator | Reraise | Raise(_) | Enter | Exit | ExitException
        )
    }
}

/// A place that looks up a name, with what it found last.
pub struct Site {
    pub name: Rc<Str>,
    pub cache: Cell<Cache>,
    pub value: std::cell::RefCell<Value>,
}

/// What a site found last.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub enum Cache {
    #[default]
    Empty,
    /// An instance's attribute, at this place of its table, of classes of this version.
    Instance { class: u64, place: u32 },
    /// A method of the class; the site's value.
    Method { class: u64 },
    /// A global, or an attribute of a module, at this place.
    Global { place: u32 },
    /// A builtin: valid while the globals have these keys.
    Builtin { keys: u64, place: u32 },
    /// A new attribute of instances of this class version shadows nothing.
    Store { class: u64, place: u32 },
}

/// Lines and columns of an instruction: lines count from one, columns are bytes of the line from zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Position {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// A file's name and text, for tracebacks.
pub struct Source {
    pub file: Rc<str>,
    pub text: Rc<str>,
    /// Code of the machine itself: tracebacks leave it out.
    pub internal: bool,
}

/// Code of a module, a class's body or a function.
pub struct Code {
    pub name: Rc<Str>,
    pub qualname: Rc<Str>,
    pub source: Rc<Source>,
    pub line: u32,
    pub ops: Vec<Op>,
    pub positions: Vec<Position>,
    pub consts: Vec<Value>,
    pub sites: Vec<Site>,
    pub names: Vec<Rc<Str>>,
    pub codes: Vec<Rc<Code>>,
    /// Names of the slots: parameters first, then other locals, then cells of its own, then cells of its closure.
    pub slots: Vec<Rc<Str>>,
    /// Where the closure's cells begin.
    pub free_start: usize,
    /// Positional parameters, with those that are positional only; keyword-only parameters follow them, then `*args`, `**kwargs`.
    pub positional: usize,
    pub positional_only: usize,
    pub keyword_only: usize,
    pub star: bool,
    pub star_star: bool,
    /// How many arguments a call needs that only has to be given room for its other `locals`: no cells, stars or keyword-only ones.
    pub exact: Option<usize>,
    pub locals: usize,
    pub generator: bool,
    pub class_body: bool,
    pub doc: Value,
}

impl Code {
    /// The lines that something of it stands at, with those of the functions and classes in it.
    pub fn lines(&self) -> std::collections::BTreeSet<u32> {
        let mut lines: std::collections::BTreeSet<u32> = self.positions.iter().map(|p| p.line).in_order();
        lines.extend(self.codes.iter().flat_map(|code| code.lines()));
        lines
    }

    /// How many slots hold parameters.
    pub fn parameters(&self) -> usize {
        self.positional + self.keyword_only + usize::from(self.star) + usize::from(self.star_star)
    }

    /// Whether a call with exactly its positional parameters needs no more than a copy.
    #[inline]
    pub fn is_simple(&self) -> bool {
        !self.star && !self.star_star && self.keyword_only == 0
    }
}
