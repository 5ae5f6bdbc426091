//! Optimizers, clipping and schedules against PyTorch; `tests/nn/generate_optimizers.py` made the expected values.

mod common;

use aludel_nn::*;
use aludel_tensor::{DType, Device, Error, Result, Tensor, Tree, compile};
use common::{assert_close, cpu, floats, read};
use serde_json::Value;

/// f32 arithmetic of twenty steps against float64.
const TOLERANCE: f64 = 1e-4;

#[derive(Clone, Tree)]
struct Model {
    weight: Tensor,
    bias: Tensor,
}

type Push = (Tensor, Tensor);

fn model(d: &Device, file: &Value) -> Result<Model> {
    let values = |key: &str| floats(&file[key]).iter().map(|v| *v as f32).collect::<Vec<_>>();
    let weight = Tensor::from_vec(d, values("weight"), [3, 2])?.requires_grad();
    Ok(Model { weight, bias: Tensor::from_vec(d, values("bias"), [3])?.requires_grad() })
}

fn pushes(d: &Device, file: &Value) -> Result<Vec<Push>> {
    let of = |v: &Value| floats(v).iter().map(|v| *v as f32).collect::<Vec<_>>();
    let one = |p: &Value| Ok((Tensor::from_vec(d, of(&p["weight"]), [3, 2])?, Tensor::from_vec(d, of(&p["bias"]), [3])?));
    file["push"].as_array().unwrap().iter().map(one).collect()
}

/// sum(w c) + sum(w^2) / 2 over both parameters.
fn loss(m: &Model, (cw, cb): &Push) -> Result<Tensor> {
    let of = |p: &Tensor, c: &Tensor| p.mul(c)?.sum(())?.add(&p.mul(p)?.sum(())?.mul(0.5)?);
    of(&m.weight, cw)?.add(&of(&m.bias, cb)?)
}

/// Follows a run; how many graphs were compiled.
fn follow<O: Optimizer + Clone>(
    d: &Device,
    file: &Value,
    run: &Value,
    compiled: bool,
    tolerance: f64,
    make: impl Fn(&Model) -> Result<O>,
) -> Result<()> {
    let name = run["name"].as_str().unwrap();
    let m = model(d, file)?;
    let optimizer = make(&m)?;
    let mut state = (m, optimizer);
    let step = |s: &mut (Model, O), push: &Push| {
        let gradients = loss(&s.0, push)?.backward()?;
        s.1.step(&mut s.0, &gradients)
    };
    let fast = compile(step);
    let kept = floats(&file["steps"]);
    let mut next = run["kept"].as_array().unwrap().iter();
    for (t, push) in pushes(d, file)?.iter().enumerate() {
        if t == 10 {
            let groups = state.1.param_groups_mut();
            for g in 0..groups.len() {
                let lr = groups.lr(g)?;
                groups.set(g, "lr", &[lr / 2.0])?;
            }
        }
        if compiled {
            fast.call(&mut state, push)?
        } else {
            step(&mut state, push)?
        }
        if kept.contains(&((t + 1) as f64)) {
            let want = next.next().unwrap();
            let what = |p: &str| format!("{name} on {d}{}, step {}: {p}", if compiled { ", compiled" } else { "" }, t + 1);
            assert_close(&what("weight"), &state.0.weight, &floats(&want["weight"]), tolerance)?;
            assert_close(&what("bias"), &state.0.bias, &floats(&want["bias"]), tolerance)?;
        }
    }
    // Half the learning rate was no other graph, and both parameters are updated by the launches of one step.
    if compiled {
        assert_eq!(fast.compilations(), 1, "{name}");
        if let Some(program) = fast.specializations()[0].program.as_ref().filter(|_| !name.starts_with("muon")) {
            // Adafactor's update of a matrix waits for means of rows and of columns, and for one of what they make of it.
            let most = if name.starts_with("adafactor") { 5 } else { 3 };
            assert!(program.launches.len() <= most, "{name}: {:?}", program.launches.iter().map(|l| &l.label).collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn run(d: &Device, file: &Value, run: &Value, compiled: bool) -> Result<()> {
    macro_rules! follow {
        ($make:expr) => {
            follow(d, file, run, compiled, TOLERANCE, $make)
        };
    }
    let (sgd, adam) = (SgdConfig { lr: 0.1, ..Default::default() }, AdamConfig { lr: 0.1, ..Default::default() });
    let (rms, ada, lion) = (RmsPropConfig::default(), AdagradConfig::default(), LionConfig::default());
    // The vector is not Muon's.
    let muon = |config: MuonConfig| move |m: &Model| Muon::with_groups(m, config, &[ParamGroup::skip(|n, _| n == "bias")]);
    let wide = MuonConfig { lr: 0.1, ns_dtype: DType::F32, ..Default::default() };
    match run["name"].as_str().unwrap() {
        "sgd" => follow!(|m| Sgd::new(m, sgd)),
        "sgd_momentum" => follow!(|m| Sgd::new(m, SgdConfig { momentum: 0.9, ..sgd })),
        "sgd_dampening" => follow!(|m| Sgd::new(m, SgdConfig { momentum: 0.8, dampening: 0.3, weight_decay: 0.05, ..sgd })),
        "sgd_nesterov" => {
            follow!(|m| Sgd::new(m, SgdConfig { lr: 0.05, momentum: 0.9, nesterov: true, weight_decay: 0.1, ..sgd }))
        }
        "sgd_maximize" => follow!(|m| Sgd::new(m, SgdConfig { lr: 0.01, maximize: true, ..sgd })),
        "adam" => follow!(|m| Adam::new(m, adam)),
        "adam_options" => {
            follow!(|m| Adam::new(m, AdamConfig { lr: 0.05, betas: (0.8, 0.95), eps: 1e-3, weight_decay: Some(0.1), ..adam }))
        }
        "adam_amsgrad" => follow!(|m| Adam::new(m, AdamConfig { betas: (0.5, 0.6), amsgrad: true, maximize: true, ..adam })),
        "adamw" => follow!(|m| AdamW::new(m, adam)),
        "adamw_options" => {
            follow!(|m| AdamW::new(m, AdamConfig { lr: 0.05, betas: (0.0, 0.9), weight_decay: Some(0.2), amsgrad: true, ..adam }))
        }
        "adamw_groups" => follow!(|m| {
            let groups = [ParamGroup::no_decay().lr(0.2)];
            AdamW::with_groups(m, AdamConfig { weight_decay: Some(0.3), ..adam }, &groups)
        }),
        "rmsprop" => follow!(|m| RmsProp::new(m, rms)),
        "rmsprop_options" => follow!(|m| {
            let config = RmsPropConfig { lr: 0.02, alpha: 0.9, eps: 1e-3, weight_decay: 0.1, momentum: 0.8, centered: true, ..rms };
            RmsProp::new(m, config)
        }),
        "rmsprop_momentum" => follow!(|m| RmsProp::new(m, RmsPropConfig { momentum: 0.5, maximize: true, ..rms })),
        "adagrad" => follow!(|m| Adagrad::new(m, ada)),
        "adagrad_options" => follow!(|m| {
            let config = AdagradConfig { lr: 0.1, lr_decay: 0.2, weight_decay: 0.1, initial_accumulator_value: 0.5, eps: 1e-3, ..ada };
            Adagrad::new(m, config)
        }),
        "lion" => follow!(|m| Lion::new(m, LionConfig { lr: 0.01, ..lion })),
        "lion_options" => follow!(|m| Lion::new(m, LionConfig { lr: 0.02, betas: (0.8, 0.7), weight_decay: 0.3, ..lion })),
        "adadelta" => follow!(|m| Adadelta::new(m, AdadeltaConfig::default())),
        "adadelta_options" => {
            follow!(|m| { Adadelta::new(m, AdadeltaConfig { lr: 0.5, rho: 0.7, eps: 1e-3, weight_decay: 0.1, maximize: true }) })
        }
        "adafactor" => follow!(|m| Adafactor::new(m, AdafactorConfig::default())),
        "adafactor_options" => follow!(|m| {
            let config =
                AdafactorConfig { lr: 0.3, beta2_decay: -0.5, eps: (Some(1e-4), 1e-2), d: 1.5, weight_decay: 0.2, maximize: false };
            Adafactor::new(m, config)
        }),
        "adamax" => follow!(|m| Adamax::new(m, AdamaxConfig::default())),
        "adamax_options" => {
            follow!(|m| { Adamax::new(m, AdamaxConfig { lr: 0.1, betas: (0.7, 0.9), eps: 1e-3, weight_decay: 0.1, maximize: false }) })
        }
        "nadam" => follow!(|m| NAdam::new(m, NAdamConfig { lr: 0.1, ..Default::default() })),
        "nadam_options" => follow!(|m| {
            let config = NAdamConfig { lr: 0.1, betas: (0.8, 0.95), weight_decay: 0.1, momentum_decay: 0.1, ..Default::default() };
            NAdam::new(m, NAdamConfig { decoupled_weight_decay: true, ..config })
        }),
        "radam" => follow!(|m| RAdam::new(m, RAdamConfig { lr: 0.1, ..Default::default() })),
        "radam_options" => follow!(|m| {
            let config = RAdamConfig { lr: 0.1, betas: (0.8, 0.9), eps: 1e-3, weight_decay: 0.1, ..Default::default() };
            RAdam::new(m, RAdamConfig { decoupled_weight_decay: true, ..config })
        }),
        "rprop" => follow!(|m| Rprop::new(m, RpropConfig::default())),
        "rprop_options" => {
            follow!(|m| { Rprop::new(m, RpropConfig { lr: 0.1, etas: (0.3, 1.5), step_sizes: (0.02, 0.3), maximize: true }) })
        }
        "asgd" => follow!(|m| Asgd::new(m, AsgdConfig::default())),
        "asgd_options" => {
            follow!(|m| { Asgd::new(m, AsgdConfig { lr: 0.1, lambd: 0.2, alpha: 0.5, t0: 4.0, weight_decay: 0.1, maximize: false }) })
        }
        "muon" => follow!(muon(wide)),
        // bfloat16 has three digits, rounding does not happen at the same places, and each iteration magnifies small singular values by 3.4.
        "muon_bf16" => follow(d, file, run, compiled, 5e-2, muon(MuonConfig { lr: 0.1, ..Default::default() })),
        "muon_options" => follow!(muon(MuonConfig {
            lr: 0.05,
            weight_decay: 0.2,
            momentum: 0.8,
            nesterov: false,
            ns_steps: 3,
            ns_coefficients: [2.0, -1.5, 0.5],
            adjust_lr: AdjustLr::MatchRmsAdamW,
            ..wide
        })),
        other => Err(Error::invalid("optimizers.json", format!("no test runs {other}"), "add it")),
    }
}

fn all(d: &Device, compiled: bool) -> Result<()> {
    let file = read("optimizers.json");
    let runs = file["runs"].as_array().unwrap();
    assert!(runs.len() >= 35);
    runs.iter().try_for_each(|r| run(d, &file, r, compiled))
}

#[test]
fn trajectories_are_pytorchs() -> Result<()> {
    all(&Device::interpreter(), false)
}

#[test]
fn compiled_trajectories_are_pytorchs() -> Result<()> {
    all(&Device::interpreter(), true)
}

#[test]
fn trajectories_compiled_to_c_are_pytorchs() -> Result<()> {
    cpu().map_or(Ok(()), |d| all(&d, true))
}

#[test]
fn lbfgs_is_pytorchs() -> Result<()> {
    let (file, d) = (read("optimizers.json"), Device::interpreter());
    let runs = file["lbfgs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        let (name, fixed) = (run["name"].as_str().unwrap(), LbfgsConfig { lr: 0.1, max_iter: 3, ..Default::default() });
        let config = match name {
            "fixed" => fixed,
            "short" => LbfgsConfig { history_size: 2, ..fixed },
            _ => LbfgsConfig { lr: 1.0, line_search: LineSearch::StrongWolfe, ..fixed },
        };
        let mut x = Tensor::from_slice(&d, &[-1.2f32, 1.0, 0.5, -0.3], [4])?.requires_grad();
        let mut optimizer = Lbfgs::new(&x, config)?;
        for (step, want) in run["kept"].as_array().unwrap().iter().enumerate() {
            // The sum of (1 - a)^2 + 10 (b - a^2)^2 over two pairs.
            let loss = optimizer.step(&mut x, |x| {
                let pairs = x.reshape([2, 2])?;
                let (a, b) = (pairs.narrow(1, 0, 1)?, pairs.narrow(1, 1, 1)?);
                let (near, valley) = (a.neg()?.add(1.0)?.square()?, b.sub(&a.square()?)?.square()?.mul(10.0)?);
                near.add(&valley)?.sum(())
            })?;
            let wanted = want["loss"].as_f64().unwrap();
            assert!((loss - wanted).abs() <= 1e-3 * wanted.abs() + 1e-5, "{name}, step {step}: loss {loss}, PyTorch has {wanted}");
            // Each step divides by differences of gradients, which f32 has to fewer digits.
            assert_close(&format!("{name}, step {step}"), &x, &floats(&want["x"]), 2e-3)?;
        }
    }
    Ok(())
}

#[test]
fn clipping_is_pytorchs() -> Result<()> {
    let file = read("optimizers.json");
    let d = Device::interpreter();
    type Clip = fn(&mut aludel_tensor::Gradients) -> Result<Option<Tensor>>;
    let clips: [(&str, Clip); 5] = [
        ("norm", |g| clip_grad_norm(g, 0.5).map(Some)),
        ("norm_large", |g| clip_grad_norm(g, 50.0).map(Some)),
        ("norm_3", |g| clip_grad_norm_of(g, 0.5, 3.0).map(Some)),
        ("norm_inf", |g| clip_grad_norm_of(g, 0.5, f64::INFINITY).map(Some)),
        ("value", |g| clip_grad_value(g, 0.3).map(|()| None)),
    ];
    for (name, clip) in clips {
        let (m, want) = (model(&d, &file)?, &file["clip"][name]);
        let (cw, cb) = &pushes(&d, &file)?[0];
        let mut g = m.weight.mul(cw)?.sum(())?.add(&m.bias.mul(cb)?.sum(())?)?.backward()?;
        if let Some(norm) = clip(&mut g)? {
            assert_close(name, &norm, &[want["norm"].as_f64().unwrap()], 1e-5)?;
        }
        assert_close(name, g.get(&m.weight)?, &floats(&want["weight"]), 1e-5)?;
        assert_close(name, g.get(&m.bias)?, &floats(&want["bias"]), 1e-5)?;
    }
    Ok(())
}

/// Two groups with 0.1 and 0.03, as the script has them.
fn two_groups(d: &Device) -> Result<Sgd> {
    let m = model(d, &read("optimizers.json"))?;
    let groups = [ParamGroup::matching(|n, _| n == "weight"), ParamGroup::matching(|n, _| n == "bias").lr(0.03)];
    Sgd::with_groups(&m, SgdConfig { lr: 0.1, momentum: 0.9, ..Default::default() }, &groups)
}

/// What the schedule says is exact; what the optimizer gets is its f32.
fn same_sequence(want: &Value, mut step: impl FnMut(usize) -> Result<(Vec<f64>, Vec<f64>, f64)>) -> Result<()> {
    let name = want["name"].as_str().unwrap();
    for (t, (lr, momentum)) in want["lr"].as_array().unwrap().iter().zip(floats(&want["momentum"])).enumerate() {
        let (said, given, m) = step(t)?;
        for (g, want) in floats(lr).iter().enumerate() {
            assert!((said[g] - want).abs() <= 1e-12 + 1e-9 * want, "{name}, step {t}: {} where PyTorch has {want}", said[g]);
            assert!((given[g] - want).abs() <= 1e-7 * want + 1e-12, "{name}, step {t}: {} given, not {want}", given[g]);
        }
        assert!((m - momentum).abs() < 1e-6, "{name}, step {t}: momentum {m}, not {momentum}");
    }
    Ok(())
}

fn given(o: &Sgd) -> Result<(Vec<f64>, f64)> {
    let g = o.param_groups();
    Ok((vec![g.lr(0)?, g.lr(1)?], g.get(0, "momentum")?[0]))
}

#[test]
fn schedules_are_pytorchs() -> Result<()> {
    let (file, d) = (read("optimizers.json"), Device::interpreter());
    let mut seen = 0;
    for want in file["schedules"].as_array().unwrap() {
        let mut o = two_groups(&d)?;
        let schedule: Box<dyn Schedule> = match want["name"].as_str().unwrap() {
            "step" => Box::new(StepLr { step_size: 5, gamma: 0.5 }),
            "multi_step" => Box::new(MultiStepLr { milestones: vec![3, 4, 10], gamma: 0.3 }),
            "exponential" => Box::new(ExponentialLr { gamma: 0.9 }),
            "constant" => Box::new(ConstantLr { factor: 0.25, total_iters: 4 }),
            "linear" => Box::new(LinearLr { start_factor: 0.2, end_factor: 0.9, total_iters: 6 }),
            "polynomial" => Box::new(PolynomialLr { total_iters: 10, power: 2.0 }),
            "cosine" => Box::new(CosineAnnealingLr { t_max: 8, eta_min: 0.01 }),
            "warm_restarts" => Box::new(CosineAnnealingWarmRestarts { t_0: 3, t_mult: 2, eta_min: 0.001 }),
            "lambda" => Box::new(LambdaLr(|g, e| if g == 0 { 1.0 / (1.0 + e as f64) } else { 0.5f64.powi(e as i32) })),
            "sequential" => {
                let warm_up = LinearLr { start_factor: 0.1, total_iters: 5, ..Default::default() };
                Box::new(SequentialLr::new(vec![Box::new(warm_up), Box::new(CosineAnnealingLr { t_max: 12, eta_min: 0.0 })], vec![5])?)
            }
            "one_cycle" => Box::new(OneCycleLr { max_lr: vec![0.5, 0.2], ..OneCycleLr::new(0.5, 25) }),
            "one_cycle_three_phase" => Box::new(OneCycleLr {
                pct_start: 0.4,
                anneal: Anneal::Linear,
                three_phase: true,
                div_factor: 10.0,
                final_div_factor: 100.0,
                ..OneCycleLr::new(0.4, 25)
            }),
            plateau => {
                let config = match plateau {
                    "plateau" => PlateauConfig { patience: 2, factor: 0.5, cooldown: 1, min_lr: 0.02, ..Default::default() },
                    _ => PlateauConfig {
                        mode: PlateauMode::Max,
                        patience: 1,
                        threshold: 0.05,
                        threshold_mode: ThresholdMode::Abs,
                        ..Default::default()
                    },
                };
                let mut s = ReduceLrOnPlateau::new(config);
                let metrics = floats(&want["metrics"]);
                same_sequence(want, |t| {
                    if t > 0 {
                        s.step(metrics[t - 1], &mut o)?;
                    }
                    let (lr, m) = given(&o)?;
                    Ok((if t > 0 { s.last_lr().to_vec() } else { vec![0.1, 0.03] }, lr, m))
                })?;
                seen += 1;
                continue;
            }
        };
        let mut s = Scheduler::new(schedule, &mut o)?;
        same_sequence(want, |t| {
            if t > 0 {
                s.step(&mut o)?;
            }
            let (lr, m) = given(&o)?;
            Ok((s.last_lr().to_vec(), lr, m))
        })?;
        seen += 1;
    }
    assert_eq!(seen, 14);
    Ok(())
}

#[test]
fn mistakes_with_groups_are_errors() -> Result<()> {
    let d = Device::interpreter();
    let m = model(&d, &read("optimizers.json"))?;
    let text = |r: Result<()>| r.unwrap_err().to_string();
    let e = text(Muon::new(&m, MuonConfig::default()).map(|_| ()));
    assert!(e.contains("f32[3]") && e.contains("ParamGroup::skip"), "{e}");
    let e = text(Sgd::with_groups(&m, SgdConfig::default(), &[ParamGroup::no_decay().momentum(0.9)]).map(|_| ()));
    assert!(e.contains("sets momentum"), "{e}");
    assert!(Sgd::with_groups(&m, SgdConfig::default(), &[ParamGroup::skip(|_, _| true)]).is_err());
    assert!(Adam::with_groups(&m, AdamConfig::default(), &[ParamGroup::no_decay().betas((0.9, 1.0))]).is_err());
    assert!(Lion::new(&m, LionConfig { lr: f64::NAN, ..Default::default() }).is_err());
    let mut o = two_groups(&d)?;
    assert_eq!(o.param_groups().assignment(), [Some(0), Some(1)]);
    assert_eq!((o.param_groups().lr(0)?, o.param_groups().lr(1)?), (0.1, 0.03));
    assert!(o.param_groups_mut().set(2, "lr", &[0.1]).is_err());
    assert!(o.param_groups_mut().set(0, "lr", &[-0.1]).is_err());
    assert!(o.param_groups_mut().set(0, "betas", &[0.1, 0.2]).is_err());
    o.param_groups_mut().set(1, "weight_decay", &[0.25])?;
    assert_eq!(o.param_groups().get(1, "weight_decay")?, [0.25]);
    Ok(())
}
