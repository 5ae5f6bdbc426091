//! Second derivatives of random graphs, in float64 on the interpreter: products with the Hessian of a scalar, by every composition of
//! the two modes, are one another's equals and those of differences.

use aludel_compiler::autodiff::{jvp, value_and_grad, vjp};
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_ir::{Attrs, Builder, DType, Graph, ops};

mod common;
use common::Rng;
use common::generate::{Sizes, Style, graph};
use common::shrink::shrink;
use common::values::{differ, inputs};

const CASES: u64 = 120;
/// Of all cases, at least this share is smooth enough, at the point where it is taken, to be compared with differences too.
const SMOOTH: f64 = 0.5;

fn eval(g: &Graph, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, String> {
    run(g, &[], inputs, Precision::F64).map_err(|e| format!("{e}\n{g}"))
}

/// The graph with one output, a scalar: the sum over its float outputs of the mean of their sine.
fn scalar(g: &Graph) -> Result<Graph, String> {
    let build = || -> aludel_ir::Result<Graph> {
        let mut b = Builder::new("scalar");
        b.graph = Graph { outputs: vec![], ..g.clone() };
        let mut op = |name: &str, x: &[_]| b.operator(ops::find(name).expect("an operator"), x, &Attrs::new()).map(|y| y[0]);
        let mut loss = None;
        for o in g.outputs.iter().filter(|o| g.ty(o.value).dtype.is_float()) {
            let sine = op("sin", &[o.value])?;
            let mean = op("mean", &[sine])?;
            loss = Some(match loss {
                None => mean,
                Some(l) => op("add", &[l, mean])?,
            });
        }
        if let Some(loss) = loss {
            b.graph.add_output("loss", loss, None);
        }
        b.graph.eliminate_dead_code();
        Ok(b.graph)
    };
    build().map_err(|e| e.to_string())
}

/// What is wrong with the graph's second derivatives; `smooth` counts graphs that were compared with differences.
fn wrong(g: &Graph, smooth: &mut u64) -> Option<String> {
    match products(g) {
        Err(e) => Some(e),
        Ok(None) => None,
        Ok(Some((found, differences))) => {
            let (_, first) = &found[0];
            for (how, other) in &found[1..] {
                if let Some(d) = differ(first, other, 1e-8) {
                    return Some(format!("{how} is not forward over reverse: {d}"));
                }
            }
            let [coarse, fine] = &differences;
            // A kink between the two points is seen by the coarse and the fine difference differing.
            if differ(fine, coarse, 2e-5).is_some() {
                return None;
            }
            *smooth += 1;
            differ(first, fine, 1e-3).map(|d| format!("forward over reverse against differences: {d}"))
        }
    }
}

type Products = (Vec<(&'static str, Vec<HostTensor>)>, [Vec<HostTensor>; 2]);

/// The product of the Hessian of the graph's scalar with a direction, by each composition, and by two differences of the gradient;
/// none where there is nothing to differentiate by.
fn products(g: &Graph) -> Result<Option<Products>, String> {
    let loss = scalar(g)?;
    let wrt: Vec<usize> = (0..loss.inputs.len()).filter(|i| loss.ty(loss.inputs[*i].value).dtype == DType::F32).collect();
    if wrt.is_empty() || loss.outputs.is_empty() {
        return Ok(None);
    }
    let show = |e: aludel_ir::Error| e.to_string();
    let x = inputs(&loss, &[]);
    let mut rng = Rng::new(5);
    let direction: Vec<HostTensor> = wrt
        .iter()
        .map(|i| {
            let data = x[*i].data.iter().map(|_| rng.below(2001) as f64 / 1000.0 - 1.0).collect();
            HostTensor { data, ..x[*i].clone() }
        })
        .collect();
    let n = wrt.len();

    let gradient = value_and_grad(&loss, &wrt).map_err(show)?;
    let along = |inputs: &[HostTensor]| [inputs, &direction[..]].concat();

    let forward_over_reverse = jvp(&gradient, &wrt).map_err(show)?;
    let mut out = eval(&forward_over_reverse, &along(&x))?;
    let mut found = vec![("forward over reverse", out.split_off(out.len() - n))];

    let mut slope = jvp(&loss, &wrt).map_err(show)?;
    slope.outputs.remove(0);
    let reverse_over_forward = value_and_grad(&slope, &wrt).map_err(show)?;
    let mut out = eval(&reverse_over_forward, &along(&x))?;
    found.push(("reverse over forward", out.split_off(1)));

    // The Hessian is symmetric: the pullback of the gradient is the product too.
    let split = vjp(&gradient, &wrt, gradient.outputs.len()).map_err(show)?;
    let mut residuals = eval(&split.forward, &x)?;
    let residuals = residuals.split_off(residuals.len() - split.residuals);
    let zero = HostTensor { dtype: gradient.ty(gradient.outputs[0].value).dtype, shape: vec![], data: vec![0.0] };
    found.push(("reverse over reverse", eval(&split.backward, &[residuals, vec![zero], direction.clone()].concat())?));

    let difference = |h: f64| -> Result<Vec<HostTensor>, String> {
        let at = |h: f64| {
            let mut x = x.clone();
            for (i, v) in wrt.iter().zip(&direction) {
                x[*i].data.iter_mut().zip(&v.data).for_each(|(x, v)| *x += h * v);
            }
            eval(&gradient, &x).map(|mut out| out.split_off(1))
        };
        let (mut up, down) = (at(h)?, at(-h)?);
        for (u, d) in up.iter_mut().zip(&down) {
            u.data.iter_mut().zip(&d.data).for_each(|(u, d)| *u = (*u - d) / (2.0 * h));
        }
        Ok(up)
    };
    let differences = [difference(4e-5)?, difference(1e-5)?];
    Ok(Some((found, differences)))
}

#[test]
fn products_with_hessians_agree() {
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let mut smooth = 0;
    for seed in 0..cases {
        // Types of 16 bits are rounded nowhere in f64: they are in.
        let style = Style { symbolic: false, gradients: false, jumps: false, sizes: Sizes::Small, length: 3 + (seed % 8) as usize };
        let g = graph(&mut Rng::new(seed.wrapping_mul(977)), style);
        if wrong(&g, &mut smooth).is_some() {
            let (small, reason) = shrink(&g, &|g| wrong(g, &mut 0));
            panic!("seed {seed}: {reason}\n{small}");
        }
    }
    assert!(smooth as f64 >= SMOOTH * cases as f64, "{smooth} of {cases} were smooth");
}
