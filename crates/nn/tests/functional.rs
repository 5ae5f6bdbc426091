//! Transformations of a module as a function of its parameters, against torch.func (tests/func/generate.py), eagerly and compiled.

use aludel_nn::{Init, LayerNorm, Linear, Module, Parameters, functional_call};
use aludel_tensor::{Device, Result, Tensor, Tree, compile, func};
use serde_json::Value;
use std::collections::BTreeMap;

type Params = BTreeMap<String, Tensor>;

#[derive(Clone, Tree)]
struct Classifier {
    first: Linear,
    norm: LayerNorm,
    second: Linear,
}

impl Module for Classifier {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.second.forward(&self.norm.forward(&self.first.forward(x)?)?.tanh()?)
    }
}

struct Case {
    device: Device,
    json: Value,
    model: Classifier,
    x: Tensor,
    y: Tensor,
}

fn numbers(v: &Value) -> Vec<f32> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

impl Case {
    fn new() -> Case {
        let device = Device::interpreter();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/func/func.json");
        let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut init = Init::new(&device, 0);
        let first = Linear::new(&mut init, 3, 4).unwrap();
        let norm = LayerNorm::new(&mut init, 4).unwrap();
        let model = Classifier { first, norm, second: Linear::new(&mut init, 4, 2).unwrap() };
        let x = Tensor::from_slice(&device, &numbers(&json["x"]), [5, 3]).unwrap();
        let y: Vec<i32> = numbers(&json["y"]).iter().map(|v| *v as i32).collect();
        let y = Tensor::from_slice(&device, &y, [5]).unwrap();
        Case { device, json, model, x, y }
    }

    fn tree(&self, key: &str) -> Params {
        let tensor = |name: &str, values: &Value| {
            let shape: Vec<usize> = numbers(&self.json["shapes"][name]).iter().map(|v| *v as usize).collect();
            Tensor::from_slice(&self.device, &numbers(values), shape).unwrap()
        };
        self.json[key].as_object().unwrap().iter().map(|(n, v)| (n.clone(), tensor(n, v))).collect()
    }

    fn loss(&self, params: &Params, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        functional_call(&self.model, params, x)?.cross_entropy(y)
    }

    #[track_caller]
    fn close(&self, got: &Tensor, want: &Value) {
        let (got, want) = (got.to_vec::<f32>().unwrap(), numbers(want));
        assert_eq!(got.len(), want.len());
        for (g, w) in got.iter().zip(&want) {
            // float32 through three derivatives of a composition of a dozen operators.
            assert!((g - w).abs() <= 2e-4 * (0.1 + w.abs()), "{got:?}, expected {want:?}");
        }
    }

    #[track_caller]
    fn close_tree(&self, got: &Params, key: &str) {
        for (name, want) in self.json[key].as_object().unwrap() {
            self.close(&got[name], want);
        }
    }

    /// A function of the parameters, as it is and compiled.
    fn both<R: Tree + Clone>(&self, f: impl Fn(&Params) -> Result<R>, check: impl Fn(&R)) {
        let params = self.tree("parameters");
        check(&f(&params).unwrap());
        check(&compile(|_: &mut (), p: &Params| f(p)).fullgraph(true).call(&mut (), &params).unwrap());
    }
}

#[test]
fn first_derivatives() {
    let c = Case::new();
    c.both(|p| functional_call(&c.model, p, &c.x), |y| c.close(y, &c.json["functional_call"]));
    c.both(func::value_and_grad(|p: &Params| c.loss(p, &c.x, &c.y)), |(value, gradient)| {
        c.close(value, &c.json["loss"]);
        c.close_tree(gradient, "grad");
    });
    let cotangent = Tensor::from_slice(&c.device, &numbers(&c.json["cotangent"]), [5, 2]).unwrap();
    c.both(|p| func::vjp(|p: &Params| functional_call(&c.model, p, &c.x), p)?.1(&cotangent), |g| c.close_tree(g, "vjp"));
    let v = c.tree("directions");
    c.both(|p| Ok(func::jvp(|p: &Params| c.loss(p, &c.x, &c.y), p, &v)?.1), |t| c.close(t, &c.json["jvp"]));
}

#[test]
fn gradients_of_each_sample() {
    let c = Case::new();
    let one = |p: &Params, x: &Tensor, y: &Tensor| c.loss(p, &x.unsqueeze(0)?, &y.unsqueeze(0)?);
    let per_sample =
        |p: &Params| func::vmap(|(x, y): &(Tensor, Tensor)| func::grad(|p: &Params| one(p, x, y))(p), 0, 0)(&(c.x.clone(), c.y.clone()));
    c.both(per_sample, |g| c.close_tree(g, "per_sample_grad"));
}

#[test]
fn higher_derivatives() {
    let c = Case::new();
    let v = c.tree("directions");
    c.both(|p| Ok(func::hvp(|p: &Params| c.loss(p, &c.x, &c.y), p, &v)?.1), |h| c.close_tree(h, "hvp"));
    let one = c.x.narrow(0, 0, 1).unwrap().squeeze(0).unwrap();
    let probabilities = |p: &Params, x: &Tensor| functional_call(&c.model, p, x)?.softmax(-1);
    let negentropy = |p: &Params, x: &Tensor| {
        let q = probabilities(p, x)?;
        q.mul(&q.log()?)?.sum(())
    };
    c.both(|p| func::jacrev(|x: &Tensor| probabilities(p, x))(&one), |j| c.close(j, &c.json["jacobian"]));
    c.both(|p| func::jacfwd(|x: &Tensor| probabilities(p, x))(&one), |j| c.close(j, &c.json["jacobian"]));
    c.both(|p| func::hessian(|x: &Tensor| negentropy(p, x))(&one), |h| c.close(h, &c.json["hessian"]));
    let third = |p: &Params| func::grad(|x: &Tensor| func::hessian(|x: &Tensor| negentropy(p, x))(x)?.sum(()))(&one);
    c.both(third, |t| c.close(t, &c.json["third"]));
}

#[test]
fn wrong_parameters_are_named() {
    let c = Case::new();
    let mut p = c.tree("parameters");
    p.insert("third.weight".into(), c.x.clone());
    p.insert("norm.bias".into(), c.x.clone());
    let e = functional_call(&c.model, &p, &c.x).unwrap_err().to_string();
    assert!(e.contains("third.weight") && e.contains("norm.bias is f32[5, 3] where the module has f32[4]"), "{e}");
    // Some are enough, and the module keeps its own.
    let before = c.model.state_dict();
    let some: Params = c.tree("parameters").into_iter().take(1).collect();
    functional_call(&c.model, &some, &c.x).unwrap();
    assert_eq!(before["norm.weight"].to_vec::<f32>().unwrap(), c.model.state_dict()["norm.weight"].to_vec::<f32>().unwrap());
}

/// Running statistics that a transformed function updates are there afterwards.
#[test]
fn what_a_function_leaves_behind_gets_its_value() {
    use aludel_nn::BatchNorm1d;
    let c = Case::new();
    let updated = |run: &dyn Fn(&BatchNorm1d, &Tensor) -> Result<Tensor>| {
        let norm = BatchNorm1d::new(&mut Init::new(&c.device, 1), 3).unwrap();
        let g = run(&norm, &c.x).unwrap();
        (norm.running_mean().unwrap().to_vec::<f32>().unwrap(), g.to_vec::<f32>().unwrap())
    };
    let squared = |norm: &BatchNorm1d, x: &Tensor| norm.forward(x)?.square()?.mul(x)?.sum(());
    let plain = updated(&|norm, x| {
        let x = x.requires_grad();
        Ok(squared(norm, &x)?.backward()?.get(&x)?.clone())
    });
    assert!(plain.0.iter().all(|v| *v != 0.0));
    let close = |got: &(Vec<f32>, Vec<f32>)| {
        assert_eq!(got.0, plain.0);
        got.1.iter().zip(&plain.1).for_each(|(a, b)| assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{got:?}, expected {plain:?}"));
    };
    close(&updated(&|norm, x| func::grad(|x: &Tensor| squared(norm, x))(x)));
    let again = updated(&|norm, x| {
        let x = x.requires_grad();
        Ok(func::checkpoint(|x: &Tensor| squared(norm, x), &x)?.backward()?.get(&x)?.clone())
    });
    close(&again);
    // In a compiled function too: state in, state out.
    let norm = BatchNorm1d::new(&mut Init::new(&c.device, 1), 3).unwrap();
    let step = compile(|norm: &mut BatchNorm1d, x: &Tensor| {
        let norm = &*norm;
        func::grad(|x: &Tensor| func::checkpoint(|x: &Tensor| squared(norm, x), x))(x)
    });
    let mut state = norm.clone();
    step.call(&mut state, &c.x).unwrap();
    let mean = state.running_mean().unwrap().to_vec::<f32>().unwrap();
    mean.iter().zip(&plain.0).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
    // For samples of a batch there is no one value.
    let e = func::vmap(|x: &Tensor| norm.forward(&x.unsqueeze(0)?), 0, 0)(&c.x.unsqueeze(1).unwrap()).unwrap_err().to_string();
    assert!(e.contains("leaves a tensor behind") || e.contains("batch_norm"), "{e}");
}
