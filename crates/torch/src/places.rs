//! Places in a tensor that are others from step to step, as in `x[i:i + batch]`: they become an input of what is recorded, and of a turn
//! that is watched it is known which numbers they come from.

use aludel_ir::Attrs;
use aludel_ir::op::Attr;
use aludel_python::bytecode::{Binary, Compare};
use aludel_python::objects::watch::{self, Arg, NodeOp};
use aludel_python::objects::{Exc, Value};
use aludel_tensor::{Tensor, record};

use crate::cell::{Moves, one};
use crate::state::raise;

/// A number in an index.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    pub value: i64,
    /// Its expression, where it is marked.
    node: Option<u32>,
}

impl Bound {
    pub fn fixed(value: i64) -> Bound {
        Bound { value, node: None }
    }

    /// A marked integer as it is, which decides nothing yet.
    pub fn marked(value: &Value) -> Option<Bound> {
        let (bare, node) = value.marked()?;
        match bare {
            Value::Int(value) => Some(Bound { value: *value, node: Some(node) }),
            _ => None,
        }
    }

    /// The number, which must be the same the next time.
    pub fn get(self) -> i64 {
        self.observe();
        self.value
    }

    fn observe(self) {
        if let Some(node) = self.node {
            watch::observe(node, &Value::Int(self.value));
        }
    }

    fn arg(self) -> Arg {
        self.node.map_or(Arg::Const(Value::Int(self.value)), Arg::Node)
    }
}

/// The marked numbers of one part of an index.
#[derive(Default)]
pub(crate) struct Moving {
    start: Option<Bound>,
    /// Where it ends, if not by itself.
    stop: Option<Bound>,
    /// Elements of the dimension.
    n: i64,
}

impl Moving {
    /// Of a place in a dimension of `n` elements.
    pub fn one(at: Bound, n: i64) -> Moving {
        Moving { start: Some(at), stop: None, n }
    }

    /// Of a slice of one.
    pub fn slice(start: Option<Bound>, stop: Option<Bound>, n: i64) -> Moving {
        Moving { start: start.or(stop.map(|_| Bound::fixed(0))), stop: stop.or(start.map(|_| Bound::fixed(n))), n }
    }

    fn bounds(&self) -> impl Iterator<Item = Bound> {
        [self.start, self.stop].into_iter().flatten()
    }

    /// The numbers are used as they are.
    pub fn observe(&self) {
        self.bounds().for_each(Bound::observe);
    }

    // The expression of the first place, where only that moves: as many places follow as now, and all are in the dimension.
    fn first(&self) -> Option<u32> {
        let (start, last) = (self.start?, self.stop.or(self.start)?);
        let inside = (0..=self.n).contains(&start.value) && (start.value..=self.n).contains(&last.value);
        let node = start.node.filter(|_| inside && (self.stop.is_some() || start.value < self.n))?;
        let decide = |compare: Compare, left: Arg, right: i64| {
            watch::decided(NodeOp::Compare(compare), vec![left, Arg::Const(Value::Int(right))], true);
        };
        decide(Compare::Ge, start.arg(), 0);
        match self.stop {
            Some(stop) => {
                decide(Compare::Le, stop.arg(), self.n);
                let count = Value::Int(stop.value - start.value);
                if let Some((_, count_node)) = watch::mark(NodeOp::Binary(Binary::Sub), vec![stop.arg(), start.arg()], &count).marked() {
                    decide(Compare::Eq, Arg::Node(count_node), stop.value - start.value);
                }
            }
            None => decide(Compare::Lt, start.arg(), self.n),
        }
        Some(node)
    }
}

/// The elements at places that change from step to step are read by positions, which are an input of the graph. `None` where they do not
/// change, or are none.
pub(crate) fn taken(x: &Tensor, name: &str, attrs: &Attrs, moving: &Moving) -> Result<Option<(Tensor, Option<Moves>)>, Exc> {
    let of = |name: &str| match attrs.get(name) {
        Some(Attr::Int(v)) => Some(*v),
        _ => None,
    };
    let (Some(dim), Some(start)) = (of("dim"), of("index").or(of("start"))) else { return Ok(None) };
    if !matches!(name, "select" | "slice") || !record::changes(name, start as f64) {
        return Ok(None);
    }
    let (stop, step) = (of("end").unwrap_or(start + 1), of("step").unwrap_or(1).max(1) as usize);
    let places: Vec<i32> = (start..stop).step_by(step).map(|at| at as i32).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let count = places.len();
    let places = Tensor::from_vec(x.device(), places, [count]).map_err(raise)?;
    let moves = if watch::on() { moving.first() } else { None };
    match moves {
        Some(first) => crate::replay::log::places(&places, first, count, step),
        None => moving.observe(),
    }
    let moves = moves.map(|node| Moves { node, stretch: watch::birth() });
    let rows = one("index_select", &[x, &places], Attrs::new().with("dim", dim))?;
    if name == "slice" {
        return Ok(Some((rows, moves)));
    }
    let mut shape: Vec<i64> = rows.shape().iter().map(|n| *n as i64).collect();
    shape.remove(dim as usize);
    Ok(Some((one("reshape", &[&rows], Attrs::new().with("shape", shape))?, moves)))
}
