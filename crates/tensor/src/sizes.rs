//! Which sizes change from form to form of a thing that is compiled, and the symbols that take their places.

use aludel_ir::op::Attr;
use aludel_ir::schema::Type;
use aludel_ir::{Attrs, Dim, Error, OpDef, Prim, Result, ShapeEnv, Sym, TensorType};

/// So many forms are remembered.
const MAX_FORMS: usize = 256;

/// Sizes from each of these on have programs of their own.
const LONG: [i64; 2] = [1 << 14, 1 << 20];

/// What may change: a size or position, or the bits of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Size(i64),
    Number(u64),
}

/// The forms of one thing that were compiled as they are.
#[derive(Default)]
pub(crate) struct Forms {
    list: Vec<Vec<Place>>,
    /// Places that no program could be made for.
    refused: Vec<Vec<usize>>,
}

impl Forms {
    pub fn add(&mut self, places: Vec<Place>) {
        if self.list.len() >= MAX_FORMS {
            self.list.remove(0);
        }
        self.list.push(places);
    }

    /// The places that differ among `count` forms, this one among them: as few as possible, since what did not change keeps its size.
    pub fn changing(&self, places: &[Place], count: usize) -> Option<Vec<usize>> {
        let differ = |form: &Vec<Place>| -> Vec<usize> { (0..places.len()).filter(|i| form[*i] != places[*i]).collect() };
        let sets: Vec<Vec<usize>> = self.list.iter().map(differ).collect();
        let often = |set: &&Vec<usize>| !set.is_empty() && sets.iter().filter(|s| is_within(s, set)).count() + 1 >= count;
        let set = sets.iter().filter(often).min_by_key(|s| s.len())?;
        (!self.refused.contains(set)).then(|| set.clone())
    }

    // The forms that differ from one in places of a set alone.
    fn within<'f>(&'f self, places: &'f [Place], set: &'f [usize]) -> impl Iterator<Item = &'f Vec<Place>> {
        self.list.iter().filter(move |f| (0..places.len()).all(|i| f[i] == places[i] || set.contains(&i)))
    }

    /// Whether what was made with symbols in the places of a set would have served an earlier form, where symbols may have the sizes of one:
    /// where an operator is other prims for each size, as one of many steps is, the guards say so.
    pub fn serves_others(&self, places: &[Place], set: &[usize], symbols: &Symbols, env: &ShapeEnv) -> bool {
        let mut others = self.within(places, set).filter(|form| *form != places).filter_map(|form| symbols.bind(form)).peekable();
        others.peek().is_none() || others.any(|sizes| env.broken_guard(&sizes).is_none())
    }

    /// Those places are not tried again.
    pub fn refuse(&mut self, set: Vec<usize>) {
        self.refused.push(set);
    }

    /// Symbols for the places of a set.
    ///
    /// # Errors
    ///
    /// Where none of them can have one.
    pub fn symbols(&self, places: &[Place], set: &[usize]) -> Result<Symbols> {
        let history: Vec<&Vec<Place>> = self.within(places, set).collect();
        let mut env = ShapeEnv::default();
        let mut symbols: Vec<Option<Sym>> = vec![None; places.len()];
        let mut fixed: Vec<Option<Place>> = places.iter().copied().map(Some).collect();
        for &i in set {
            match places[i] {
                Place::Size(n) if is_symbolic(n) => {
                    // Places that were equal each time share a symbol.
                    let alike = |j: &usize| places[*j] == places[i] && history.iter().all(|f| f[*j] == f[i]);
                    let twin = set.iter().filter(|j| **j < i && symbols[**j].is_some()).find(|j| alike(j));
                    symbols[i] = twin.and_then(|j| symbols[*j]).or_else(|| Some(symbol(&mut env, i, n)));
                    fixed[i] = None;
                }
                Place::Size(_) => {}
                Place::Number(_) => fixed[i] = None,
            }
        }
        if fixed.iter().all(Option::is_some) {
            return Err(Error::invalid("compile", "nothing can be a symbol", "report this"));
        }
        Ok(Symbols { env, fixed, symbols })
    }
}

/// The symbols of a thing that is compiled for any sizes.
#[derive(Clone)]
pub(crate) struct Symbols {
    /// Before any guard.
    pub env: ShapeEnv,
    /// What has to be given for each place that is no symbol.
    pub fixed: Vec<Option<Place>>,
    pub symbols: Vec<Option<Sym>>,
}

impl Symbols {
    /// The value of each symbol, where the places fit.
    pub fn bind(&self, places: &[Place]) -> Option<Vec<i64>> {
        let mut sizes = vec![-1; self.env.symbols.len()];
        if places.len() != self.fixed.len() {
            return None;
        }
        for ((place, fixed), symbol) in places.iter().zip(&self.fixed).zip(&self.symbols) {
            if fixed.is_some_and(|f| f != *place) {
                return None;
            }
            if let (Some(s), Place::Size(n)) = (symbol, place) {
                let known = sizes.get_mut(s.0 as usize)?;
                let symbol = self.env.symbols.get(s.0 as usize)?;
                if !(symbol.lo..=symbol.hi).contains(n) || (*known >= 0 && known != n) {
                    return None;
                }
                *known = *n;
            }
        }
        Some(sizes)
    }

    /// The places in order, to be taken one by one.
    pub fn walk(&self) -> Walk<'_> {
        Walk { symbols: self, at: 0 }
    }
}

// Sizes of 0 and 1 broadcast and vanish, so what has them is compiled as it is.
fn is_symbolic(n: i64) -> bool {
    (2..=i64::from(i32::MAX)).contains(&n)
}

// A symbol for sizes about as long as this one: what is worth it for the one is not for the other.
fn symbol(env: &mut ShapeEnv, place: usize, n: i64) -> Sym {
    let s = env.symbol(format!("s{place}"), n, format!("place {place}"));
    if let Some(symbol) = env.symbols.get_mut(s.0 as usize) {
        symbol.lo = LONG.into_iter().rfind(|l| *l <= n).unwrap_or(symbol.lo);
        symbol.hi = LONG.into_iter().find(|l| *l > n).map_or(symbol.hi, |l| l - 1);
    }
    s
}

fn is_within(small: &[usize], large: &[usize]) -> bool {
    small.iter().all(|i| large.contains(i))
}

/// Puts symbols in their places, in the order in which [`take_type`], [`take_prim`] and [`take_attrs`] found them.
pub(crate) struct Walk<'s> {
    symbols: &'s Symbols,
    at: usize,
}

impl Walk<'_> {
    fn size(&mut self, n: i64) -> Dim {
        let dim = self.symbols.symbols.get(self.at).copied().flatten().map_or(Dim::Const(n), Dim::sym);
        self.at += 1;
        dim
    }

    /// Whether the number at this place may be any.
    pub fn number(&mut self) -> bool {
        self.at += 1;
        self.symbols.fixed.get(self.at - 1).is_some_and(Option::is_none)
    }

    pub fn ty(&mut self, ty: &TensorType) -> TensorType {
        TensorType { dtype: ty.dtype, shape: ty.shape.iter().map(|d| self.size(d.as_const().unwrap_or(-1))).collect() }
    }

    pub fn prim(&mut self, prim: &Prim) -> Prim {
        let mut prim = prim.clone();
        for d in prim.dims_mut() {
            *d = self.size(d.as_const().unwrap_or(-1));
        }
        prim
    }

    pub fn attrs(&mut self, def: &OpDef, attrs: &Attrs) -> Attrs {
        let mut attrs = attrs.clone();
        for (name, attr) in &mut attrs.0 {
            if !takes_sizes(def, name) {
                continue;
            }
            match attr {
                Attr::Int(v) => {
                    let dim = self.size(*v);
                    if dim.as_const().is_none() {
                        *attr = Attr::Dims(vec![dim]);
                    }
                }
                Attr::Ints(list) => {
                    let dims: Vec<Dim> = list.iter().map(|v| self.size(*v)).collect();
                    if dims.iter().any(|d| d.as_const().is_none()) {
                        *attr = Attr::Dims(dims);
                    }
                }
                _ => {}
            }
        }
        attrs
    }
}

fn takes_sizes(def: &OpDef, name: &str) -> bool {
    def.schema().param(name).is_some_and(|p| p.types.iter().any(|t| matches!(t, Type::SymInt | Type::SymInts)))
}

/// Takes the sizes out of a type.
pub(crate) fn take_type(ty: &TensorType, places: &mut Vec<Place>) -> TensorType {
    places.extend(ty.shape.iter().map(|d| Place::Size(d.as_const().unwrap_or(-1))));
    TensorType { dtype: ty.dtype, shape: vec![Dim::ZERO; ty.shape.len()] }
}

/// Takes the sizes out of a prim.
pub(crate) fn take_prim(prim: &Prim, places: &mut Vec<Place>) -> Prim {
    let mut bare = prim.clone();
    for d in bare.dims_mut() {
        let size = std::mem::replace(d, Dim::ZERO);
        places.push(Place::Size(size.as_const().unwrap_or(-1)));
    }
    bare
}

/// Takes the sizes out of an operator's arguments.
pub(crate) fn take_attrs(def: &OpDef, attrs: &Attrs, places: &mut Vec<Place>) -> Attrs {
    let mut bare = attrs.clone();
    for (name, attr) in &mut bare.0 {
        if !takes_sizes(def, name) {
            continue;
        }
        match attr {
            Attr::Int(v) => places.push(Place::Size(std::mem::take(v))),
            Attr::Ints(list) => list.iter_mut().for_each(|v| places.push(Place::Size(std::mem::take(v)))),
            _ => {}
        }
    }
    bare
}
