//! Maximum flow by Dinic's algorithm, and the minimum cut that goes with it.
//!
//! Source: E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970.

/// No cut goes through an edge of this capacity, as long as a cut without such edges exists.
pub const UNBOUNDED: u64 = u64::MAX / 4;

struct Edge {
    to: usize,
    /// What may still flow. The edge at the same place with the last bit flipped is the way back.
    left: u64,
}

/// A directed graph with capacities.
pub struct Network {
    edges: Vec<Edge>,
    from: Vec<Vec<usize>>,
}

impl Network {
    pub fn new(nodes: usize) -> Self {
        Network { edges: Vec::new(), from: vec![Vec::new(); nodes] }
    }

    pub fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.from[from].push(self.edges.len());
        self.edges.push(Edge { to, left: capacity });
        self.from[to].push(self.edges.len());
        self.edges.push(Edge { to: from, left: 0 });
    }

    /// Lets as much flow as possible and says how much that is.
    pub fn saturate(&mut self, source: usize, sink: usize) -> u64 {
        let mut total = 0u64;
        while let Some(level) = self.levels(source, sink) {
            // Where each node goes on looking: an edge that led nowhere in this phase never will.
            let mut next = vec![0; self.from.len()];
            while let Some(path) = self.path(source, sink, &level, &mut next) {
                let amount = path.iter().map(|e| self.edges[*e].left).min().unwrap_or(0);
                for e in path {
                    self.edges[e].left -= amount;
                    self.edges[e ^ 1].left += amount;
                }
                total = total.saturating_add(amount);
            }
        }
        total
    }

    /// Distances from the source over edges with room; `None` once the sink is out of reach.
    fn levels(&self, source: usize, sink: usize) -> Option<Vec<usize>> {
        let mut level = vec![usize::MAX; self.from.len()];
        level[source] = 0;
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(n) = queue.pop_front() {
            for e in &self.from[n] {
                let Edge { to, left } = self.edges[*e];
                if left > 0 && level[to] == usize::MAX {
                    level[to] = level[n] + 1;
                    queue.push_back(to);
                }
            }
        }
        (level[sink] != usize::MAX).then_some(level)
    }

    /// A way from source to sink, each step one level down. Iterative: graphs are deep.
    fn path(&self, source: usize, sink: usize, level: &[usize], next: &mut [usize]) -> Option<Vec<usize>> {
        let mut path: Vec<usize> = Vec::new();
        let mut at = source;
        while at != sink {
            let step = self.from[at].get(next[at]).copied();
            match step {
                Some(e) if self.edges[e].left > 0 && level[self.edges[e].to] == level[at] + 1 => {
                    path.push(e);
                    at = self.edges[e].to;
                }
                Some(_) => next[at] += 1,
                None => {
                    let back = path.pop()?;
                    at = self.edges[back ^ 1].to;
                    next[at] += 1;
                }
            }
        }
        Some(path)
    }

    /// After [`Network::saturate`]: which nodes can still reach the sink. Edges into that set are the minimum cut that lies
    /// closest to the sink.
    pub fn reaches(&self, sink: usize) -> Vec<bool> {
        let mut seen = vec![false; self.from.len()];
        seen[sink] = true;
        let mut stack = vec![sink];
        while let Some(n) = stack.pop() {
            for e in &self.from[n] {
                let before = self.edges[*e].to;
                if self.edges[*e ^ 1].left > 0 && !seen[before] {
                    seen[before] = true;
                    stack.push(before);
                }
            }
        }
        seen
    }
}
