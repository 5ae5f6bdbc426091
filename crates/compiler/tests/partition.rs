//! The partition: its minimum cut against brute force, and what it keeps for graphs that people know.

use aludel_compiler::partition::cut::{self, Problem};
use aludel_compiler::partition::flow::Network;
use aludel_compiler::partition::partition;
use aludel_ir::Graph;

mod common;
use common::Rng;

/// Which values are there: kept, or computed from what is there.
fn there(p: &Problem, kept: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut there: Vec<bool> = Vec::new();
    for v in 0..p.inputs.len() {
        there.push(kept(v) || (!p.fixed[v] && p.inputs[v].iter().all(|i| there[*i])));
    }
    there
}

/// The least cost of keeping, by trying every set of values.
fn brute_force(p: &Problem) -> u64 {
    let n = p.inputs.len();
    let suffices = |set: u32| there(p, &|v| set >> v & 1 == 1).iter().zip(&p.needed).all(|(t, needed)| *t || !needed);
    let cost = |set: u32| (0..n).filter(|v| set >> v & 1 == 1).map(|v| p.weight[v]).sum();
    (0u32..1 << n).filter(|s| suffices(*s)).map(cost).min().expect("keeping everything suffices")
}

#[test]
fn the_cut_is_minimal() {
    let mut rng = Rng::new(3);
    for case in 0..600 {
        let n = 2 + rng.below(9);
        let mut p = Problem::default();
        for v in 0..n {
            let inputs: Vec<usize> = (0..rng.below(4)).filter(|_| v > 0).map(|_| rng.below(v.max(1))).collect();
            p.fixed.push(rng.below(4) == 0 || (inputs.is_empty() && rng.below(2) == 0));
            p.weight.push(rng.below(9) as u64);
            p.needed.push(rng.below(3) == 0);
            p.inputs.push(inputs);
        }
        let kept = cut::solve(&p);
        let cost: u64 = (0..n).filter(|v| kept[*v]).map(|v| p.weight[v]).sum();
        assert_eq!(cost, brute_force(&p), "case {case}: {p:?} keeps {kept:?}");
        assert!(there(&p, &|v| kept[v]).iter().zip(&p.needed).all(|(t, needed)| *t || !needed), "case {case}: {p:?}");
        let again = cut::recomputed(&p, &kept);
        assert!((0..n).all(|v| !(again[v] && (kept[v] || p.fixed[v]))), "case {case}");
    }
}

#[test]
fn flow_equals_cut() {
    let mut rng = Rng::new(5);
    for _ in 0..300 {
        let n = 2 + rng.below(6);
        let edges: Vec<(usize, usize, u64)> =
            (0..rng.below(20)).map(|_| (rng.below(n), rng.below(n), rng.below(10) as u64)).filter(|(a, b, _)| a != b).collect();
        let mut net = Network::new(n);
        edges.iter().for_each(|(a, b, c)| net.edge(*a, *b, *c));
        let flow = net.saturate(0, n - 1);
        let cost = |sink_side: &dyn Fn(usize) -> bool| -> u64 {
            edges.iter().filter(|(a, b, _)| !sink_side(*a) && sink_side(*b)).map(|e| e.2).sum()
        };
        let sides = (0u32..1 << n).filter(|s| s & 1 == 0 && s >> (n - 1) & 1 == 1);
        assert_eq!(Some(flow), sides.map(|s| cost(&|v| s >> v & 1 == 1)).min());
        let reaches = net.reaches(n - 1);
        assert_eq!(flow, cost(&|v| reaches[v]), "the cut found has the flow's value");
    }
}

#[test]
fn deep_chains_need_no_stack() {
    let n = 100_000;
    let p = Problem {
        inputs: (0..n).map(|v: usize| v.checked_sub(1).into_iter().collect()).collect(),
        weight: (0..n).map(|v| if v == n / 2 { 1 } else { 3 }).collect(),
        fixed: (0..n).map(|v| v == 0).collect(),
        needed: (0..n).map(|v| v == n - 1).collect(),
    };
    let kept = cut::solve(&p);
    assert_eq!(kept.iter().positions(), [n / 2]);
}

trait Positions {
    fn positions(self) -> Vec<usize>;
}

impl<'a, I: Iterator<Item = &'a bool>> Positions for I {
    fn positions(self) -> Vec<usize> {
        self.enumerate().filter(|(_, k)| **k).map(|(i, _)| i).collect()
    }
}

fn graph(text: &str) -> Graph {
    let g: Graph = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    g.verify().unwrap();
    g
}

/// y = exp(sin(x w)); the backward pass needs exp(sin(h)), cos(h) and x.
const CHAIN: &str = "graph chain(%x: f32[64, 32], %w: f32[32, 16], %dy: f32[64, 16]) {
  %h = contract[batch=[], contract=[(1, 0)]] %x, %w : f32[64, 16]
  %s = sin %h : f32[64, 16]
  %y = exp %s : f32[64, 16]
  %loss = reduce.sum[0, 1] %y : f32[]
  %a = mul %dy, %y : f32[64, 16]    # backward
  %c = cos %h : f32[64, 16]         # backward
  %b = mul %a, %c : f32[64, 16]     # backward
  %dw = contract[batch=[], contract=[(0, 0)]] %x, %b : f32[32, 16]  # backward
  return %loss, %dw
}";

#[test]
fn pointwise_chains_are_computed_again() {
    let g = graph(CHAIN);
    let (new, report) = partition(&g, 1.0).unwrap();
    new.verify().unwrap();
    // h alone is kept: sin and exp follow from it.
    assert_eq!(report.kept.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["h"]);
    assert_eq!(report.kept_bytes, 64 * 16 * 4);
    assert_eq!(report.recomputed.iter().map(|r| r.operation.as_str()).collect::<Vec<_>>(), ["sin", "exp"]);
    let text = new.to_string();
    assert!(text.contains("= sin %h : f32[64, 16]") && text.contains("# recompute"), "{text}");
    assert_eq!(partition(&g, 1.0).unwrap().0.to_string(), text, "the same again");
}

#[test]
fn a_budget_releases_contractions() {
    let (new, report) = partition(&graph(CHAIN), 0.0).unwrap();
    new.verify().unwrap();
    assert_eq!((report.kept_bytes, report.default_kept_bytes), (0, 64 * 16 * 4));
    assert!(report.recomputed.iter().any(|r| r.operation == "contract" && r.flops == 2 * 64 * 32 * 16), "{report:?}");
}

#[test]
fn random_numbers_are_drawn_once() {
    let g = graph(
        "graph drop(%x: f32[64], %k: u32[64], %i: u32[64], %dy: f32[64]) {
  %bits = threefry %k, %k, %i, %i : u32[64]
  %f = cast[f32] %bits : f32[64]
  %y = mul %x, %f : f32[64]
  %dx = mul %dy, %f : f32[64]  # backward
  return %y, %dx
}",
    );
    for budget in [1.0, 0.5, 0.0] {
        let (new, report) = partition(&g, budget).unwrap();
        assert_eq!(new.nodes.iter().filter(|n| n.op.name() == "threefry").count(), 1);
        assert_eq!(report.kept_bytes, 256, "{report:?}");
    }
}

#[test]
fn what_only_the_backward_pass_reads_is_not_doubled() {
    let g = graph(
        "graph update(%x: f32[8], state %w: f32[8], %t: f32[], %dy: f32[8]) {
  %one = const[1.0: f32] : f32[]
  %t1 = add %t, %one : f32[]
  %rate = exp %t1 : f32[]
  %r1 = reshape[1] %rate : f32[1]
  %r = expand[8] %r1 : f32[8]
  %y = mul %x, %w : f32[8]
  %dw = mul %dy, %x : f32[8]  # backward
  %d = mul %dw, %r : f32[8]
  %w1 = sub %w, %d : f32[8]
  return %y, state %w <- %w1
}",
    );
    let (new, report) = partition(&g, 1.0).unwrap();
    new.verify().unwrap();
    assert_eq!(new.nodes.len(), g.nodes.len());
    assert!(report.recomputed.is_empty() && report.kept_bytes <= 4, "{report:?}");
    assert!(!new.to_string().contains("recompute"));
}

#[test]
fn wrong_arguments_are_errors() {
    let g = graph(CHAIN);
    for b in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
        assert!(partition(&g, b).unwrap_err().to_string().contains("not from 0 to 1"));
    }
    let call = graph("graph g(%x: f32[2]) { %y = relu(%x) return %y }");
    assert!(partition(&call, 1.0).unwrap_err().to_string().contains("relu is not a prim"));
}
