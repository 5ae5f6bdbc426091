//! Ranks that are threads train as one process does with the whole batch.

use aludel_compiler::{Compilation, Options, Pass, Target};
use aludel_nn::distributed::{
    DataParallelConfig, DistributedDataParallel, DistributedSampler, FullyShardedConfig, FullyShardedDataParallel, Member, Offloaded,
    SyncBatchNorm, rank_seed,
};
use aludel_nn::{BatchNorm, Init, LayerNorm, Linear, Module, Optimizer, Parameters, Sgd, SgdConfig, clip_grad_norm};
use aludel_tensor::distributed::{LocalGroup, PaperGroup};
use aludel_tensor::{DType, Device, Result, Tensor, Tree, compile};
use std::sync::Arc;
use std::time::Duration;

const STEPS: usize = 50;
/// Samples of a step over all ranks.
const BATCH: usize = 16;

/// Runs the same on so many ranks, each with a device of its own.
fn on_ranks<R: Send>(ranks: usize, device: fn() -> Device, run: impl Fn(Member, Device) -> Result<R> + Sync) -> Vec<R> {
    let groups = LocalGroup::create("world", ranks, Duration::from_secs(60)).unwrap();
    std::thread::scope(|s| {
        let all: Vec<_> = groups
            .into_iter()
            .map(|group| {
                let run = &run;
                s.spawn(move || {
                    let device = device();
                    let member = device.join(group)?;
                    run(member, device)
                })
            })
            .collect();
        all.into_iter().map(|t| t.join().unwrap().unwrap()).collect()
    })
}

#[derive(Clone, Tree)]
struct Block {
    norm: LayerNorm,
    linear: Linear,
}

#[derive(Clone, Tree)]
struct Net {
    first: Linear,
    h: Vec<Block>,
    last: Linear,
}

impl Net {
    fn new(device: &Device, seed: u64) -> Result<Net> {
        let mut init = Init::new(device, seed);
        let mut block = || Ok(Block { norm: LayerNorm::new(&mut init, 10)?, linear: Linear::new(&mut init, 10, 10)? });
        let h = vec![block()?, block()?];
        Ok(Net { first: Linear::new(&mut init, 6, 10)?, h, last: Linear::new(&mut init, 10, 3)? })
    }
}

impl Module for Net {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = self.first.forward(x)?;
        for b in &self.h {
            x = x.add(&b.linear.forward(&b.norm.forward(&x)?.tanh()?)?)?;
        }
        self.last.forward(&x)
    }
}

/// The samples of a step that are a rank's: inputs and what is to be learned of them.
fn batch(device: &Device, step: usize, member: &Member) -> Result<(Tensor, Tensor)> {
    let own = BATCH / member.ranks();
    let number = |i: usize| ((rank_seed(7, i as u64) >> 40) as f32 / 8_388_608.0) - 1.0;
    let rows = (0..own).map(|r| step * BATCH + member.rank * own + r);
    let x: Vec<f32> = rows.flat_map(|row| (0..6).map(move |c| number(row * 6 + c))).collect();
    let y: Vec<f32> = x.chunks(6).flat_map(|r| [r[0] * r[1], r[2] - r[3], (r[4] + r[5]).sin()]).collect();
    Ok((Tensor::from_slice(device, &x, [own, 6])?, Tensor::from_slice(device, &y, [own, 3])?))
}

fn squares(y: &Tensor, want: &Tensor) -> Result<Tensor> {
    y.sub(want)?.square()?.mean(())
}

/// Losses of data-parallel training, each the mean over the ranks.
fn data_parallel(member: Member, device: Device, compiled: bool, seed: u64) -> Result<Vec<f64>> {
    train(Net::new(&device, seed)?, member, device, compiled)
}

/// A model whose batches are normalized.
#[derive(Clone, Tree)]
struct Normal {
    first: Linear,
    norm: BatchNorm,
    last: Linear,
}

impl Module for Normal {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.last.forward(&self.norm.forward(&self.first.forward(x)?)?.tanh()?)
    }
}

/// As [`data_parallel`], of a model whose batches are normalized over all ranks.
fn synchronized(member: Member, device: Device, compiled: bool) -> Result<Vec<f64>> {
    let mut init = Init::new(&device, 1).synchronized(&member);
    let (first, norm) = (Linear::new(&mut init, 6, 10)?, BatchNorm::new(&mut init, 10)?);
    train(Normal { first, norm, last: Linear::new(&mut init, 10, 3)? }, member, device, compiled)
}

fn train<M: Module + Clone>(model: M, member: Member, device: Device, compiled: bool) -> Result<Vec<f64>> {
    let model = DistributedDataParallel::new(model, &member)?;
    let optimizer = Sgd::new(&model, SgdConfig { lr: 0.1, momentum: 0.9, ..Default::default() })?;
    let step = |state: &mut (DistributedDataParallel<M>, Sgd), (x, y): &(Tensor, Tensor)| {
        let loss = squares(&state.0.forward(x)?, y)?;
        let mut gradients = state.0.backward(&loss)?;
        clip_grad_norm(&mut gradients, 1.0)?;
        state.1.step(&mut state.0, &gradients)?;
        state.0.mean(&loss)
    };
    let compiled_step = compile(step);
    let mut state = (model, optimizer);
    (0..STEPS)
        .map(|i| {
            let data = batch(&device, i, &member)?;
            let loss = if compiled { compiled_step.call(&mut state, &data)? } else { step(&mut state, &data)? };
            loss.item()
        })
        .collect()
}

fn assert_alike(one: &[f64], many: &[Vec<f64>], what: &str) {
    assert!(one[STEPS - 1] < 0.5 * one[0], "{what}: nothing was learned: {} to {}", one[0], one[STEPS - 1]);
    for losses in many {
        for (i, (a, b)) in one.iter().zip(losses).enumerate() {
            assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{what}, step {i}: {a} alone, {b} on ranks");
        }
    }
}

#[test]
fn data_parallel_losses_are_those_of_one_process() {
    for compiled in [false, true] {
        let one = data_parallel(Member::alone(), Device::interpreter(), compiled, 1).unwrap();
        for ranks in [2, 4, 8] {
            // Each begins with numbers of its own: rank 0's count.
            let many = on_ranks(ranks, Device::interpreter, |m, d| {
                let seed = 1 + m.rank as u64;
                data_parallel(m, d, compiled, seed)
            });
            assert_alike(&one, &many, &format!("{ranks} ranks, compiled: {compiled}"));
        }
    }
}

#[cfg(feature = "cpu")]
#[test]
fn compiled_steps_on_the_cpu_exchange_too() {
    let Ok(alone) = Device::cpu().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    let one = data_parallel(Member::alone(), alone, true, 1).unwrap();
    for ranks in [2, 4] {
        let many = on_ranks(ranks, || Device::cpu().unwrap(), |m, d| data_parallel(m, d, true, 1));
        assert_alike(&one, &many, &format!("{ranks} ranks on the CPU"));
    }
}

#[test]
fn normalized_losses_are_those_of_one_process() {
    for compiled in [false, true] {
        let one = synchronized(Member::alone(), Device::interpreter(), compiled).unwrap();
        let many = on_ranks(2, Device::interpreter, |m, d| synchronized(m, d, compiled));
        assert_alike(&one, &many, &format!("2 ranks normalized together, compiled: {compiled}"));
    }
    #[cfg(feature = "cpu")]
    if let Ok(alone) = Device::cpu().inspect_err(|e| eprintln!("SKIPPED: {e}")) {
        let one = synchronized(Member::alone(), alone, true).unwrap();
        let many = on_ranks(4, || Device::cpu().unwrap(), |m, d| synchronized(m, d, true));
        assert_alike(&one, &many, "4 ranks normalized together on the CPU");
    }
}

/// Losses of fully sharded training, and the elements of a rank's parameters.
fn fully_sharded(member: Member, device: Device, compiled: bool, offload_optimizer: bool) -> Result<(Vec<f64>, usize)> {
    let model =
        FullyShardedDataParallel::with(Net::new(&device, 1)?, &member, FullyShardedConfig { offload_optimizer, ..Default::default() })?;
    let optimizer = model.optimizer(Sgd::new(&model, SgdConfig { lr: 0.1, momentum: 0.9, ..Default::default() })?)?;
    assert!(!optimizer.is_away(), "the memory of the interpreter and the CPU is the host's");
    let step = |state: &mut (FullyShardedDataParallel<Net>, Offloaded<Sgd>), (x, y): &(Tensor, Tensor)| {
        let loss = squares(&state.0.forward(x)?, y)?;
        let mut gradients = state.0.backward(&loss)?;
        state.0.clip_grad_norm(&mut gradients, 1.0)?;
        state.1.step(&mut state.0, &gradients)?;
        aludel_tensor::no_grad(|| loss.detach().all_reduce("mean", &state.0.member().group))
    };
    let compiled_step = compile(step);
    let mut state = (model, optimizer);
    let losses = (0..STEPS).map(|i| {
        let data = batch(&device, i, &member)?;
        let loss = if compiled { compiled_step.call(&mut state, &data)? } else { step(&mut state, &data)? };
        loss.item()
    });
    let losses = losses.collect::<Result<Vec<f64>>>()?;
    Ok((losses, state.0.parameter_count()))
}

#[test]
fn sharded_losses_are_those_of_one_process() {
    let one = data_parallel(Member::alone(), Device::interpreter(), true, 1).unwrap();
    let whole = Net::new(&Device::interpreter(), 1).unwrap().parameter_count();
    for (ranks, compiled, offload) in [(1, true, false), (2, false, true), (2, true, true), (4, true, false)] {
        let many = on_ranks(ranks, Device::interpreter, |m, d| fully_sharded(m, d, compiled, offload));
        // Padding takes less than a row of each parameter.
        assert!(many.iter().all(|(_, n)| *n < whole / ranks + 12), "{} of {whole} on {ranks} ranks", many[0].1);
        let many: Vec<Vec<f64>> = many.into_iter().map(|(l, _)| l).collect();
        assert_alike(&one, &many, &format!("{ranks} ranks sharded, compiled: {compiled}"));
    }
}

#[test]
fn a_sharded_module_gives_and_takes_the_whole_by_its_own_names() {
    let want = Net::new(&Device::interpreter(), 3).unwrap().state_dict();
    let numbers = |t: &Tensor| t.to_vec::<f32>().unwrap();
    for ranks in [1, 3] {
        on_ranks(ranks, Device::interpreter, |m, d| {
            let mut model = FullyShardedDataParallel::new(Net::new(&d, 3)?, &m)?;
            let state = model.full_state_dict()?;
            assert!(state.keys().eq(want.keys()), "{:?}", state.keys());
            assert!(state.iter().all(|(n, t)| numbers(t) == numbers(&want[n]) && t.dims() == want[n].dims()));
            let other = Net::new(&d, 4)?.state_dict();
            model.load_full_state_dict(&other)?;
            assert!(model.full_state_dict()?.iter().all(|(n, t)| numbers(t) == numbers(&other[n])));
            let mut less = other.clone();
            less.pop_first();
            assert!(model.load_full_state_dict(&less).unwrap_err().to_string().contains("missing"));
            Ok(())
        });
    }
}

#[test]
fn gradients_accumulate_without_exchange() {
    let gradient = |member: Member, device: Device, micro: usize| -> Result<Vec<f32>> {
        let mut model = DistributedDataParallel::new(Net::new(&device, 1)?, &member)?;
        let (x, y) = batch(&device, 0, &member)?;
        let rows = BATCH / member.ranks() / micro;
        let part = |model: &DistributedDataParallel<Net>, k: usize| {
            let (x, y) = (x.narrow(0, k * rows, rows)?, y.narrow(0, k * rows, rows)?);
            squares(&model.forward(&x)?, &y)?.div(micro as f64)
        };
        let mut sum: Option<Vec<Tensor>> = None;
        let mut total = None;
        for k in 0..micro {
            let loss = part(&model, k)?;
            let own = model.no_sync(|m| m.backward(&loss))?;
            let list: Vec<Tensor> = own.iter().cloned().collect();
            sum = Some(match sum {
                None => list,
                Some(s) => s.iter().zip(&list).map(|(a, b)| a.add(b)).collect::<Result<_>>()?,
            });
            total = Some(own);
        }
        let mut total = total.unwrap();
        total.replace(sum.unwrap())?;
        model.reduce(&mut total)?;
        total.get(&model.module.first.weight)?.to_vec()
    };
    let one = gradient(Member::alone(), Device::interpreter(), 1).unwrap();
    for many in on_ranks(2, Device::interpreter, |m, d| gradient(m, d, 2)) {
        assert!(one.iter().zip(&many).all(|(a, b)| (a - b).abs() < 1e-6), "{one:?} {many:?}");
    }
}

#[test]
fn batches_are_normalized_over_all_ranks() {
    // Ranks have 3, 5 and 4 samples.
    let sizes = [3usize, 5, 4];
    let x: Vec<f32> = (0..12 * 2 * 2).map(|i| ((i * 37 % 23) as f32) * 0.3 - 2.0).collect();
    let whole = |d: &Device| Tensor::from_slice(d, &x, [12, 2, 2]).unwrap();
    let weights = |y: &Tensor, first: usize| {
        let n = y.numel();
        let w: Vec<f32> = (0..n).map(|i| ((first * 4 + i) as f32 * 0.7).sin()).collect();
        y.mul(&Tensor::from_slice(y.device(), &w, y.dims())?)?.sum(())
    };
    let d = Device::interpreter();
    let plain = BatchNorm::new(&mut Init::new(&d, 0), 2).unwrap();
    let input = whole(&d).requires_grad();
    let y = plain.forward(&input).unwrap();
    let g = weights(&y, 0).unwrap().backward().unwrap();
    let (y, dx) = (y.to_vec::<f32>().unwrap(), g.get(&input).unwrap().to_vec::<f32>().unwrap());
    let many = on_ranks(3, Device::interpreter, |m, d| {
        let norm = SyncBatchNorm::new(&mut Init::new(&d, 0), 2, &m)?;
        // What models are made of, where they are made for several ranks.
        let made = BatchNorm::new(&mut Init::new(&d, 0).synchronized(&m), 2)?;
        let first: usize = sizes[..m.rank].iter().sum();
        let input = whole(&d).narrow(0, first, sizes[m.rank])?.detach().requires_grad();
        let y = norm.forward(&input)?;
        let g = weights(&y, first)?.backward()?;
        let same = |a: &Tensor, b: &Tensor| Ok::<bool, aludel_tensor::Error>(a.to_vec::<f32>()? == b.to_vec::<f32>()?);
        let others = input.detach().requires_grad();
        let again = made.forward(&others)?;
        let h = weights(&again, first)?.backward()?;
        assert!(same(&again, &y)? && same(h.get(&others).unwrap(), g.get(&input).unwrap())?);
        assert!(same(&made.running_mean().unwrap(), &norm.running_mean())? && same(&made.running_var().unwrap(), &norm.running_var())?);
        // Narrow inputs are normalized by statistics of f32, and stay narrow.
        let low = input.detach().to(DType::BF16)?;
        let (of_low, of_wide) = (made.forward(&low)?, made.forward(&low.to(DType::F32)?)?);
        assert_eq!(of_low.dtype(), DType::BF16);
        assert!(same(&of_low.to(DType::F32)?, &of_wide.to(DType::BF16)?.to(DType::F32)?)?);
        Ok((y.to_vec::<f32>()?, g.get(&input)?.to_vec::<f32>()?, norm.running_mean().to_vec::<f32>()?, norm.running_var().to_vec::<f32>()?))
    });
    let close = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 2e-6 * (1.0 + b.abs()));
    let all_y: Vec<f32> = many.iter().flat_map(|r| r.0.clone()).collect();
    let all_dx: Vec<f32> = many.iter().flat_map(|r| r.1.clone()).collect();
    assert!(close(&all_y, &y), "{all_y:?} {y:?}");
    assert!(close(&all_dx, &dx), "{all_dx:?} {dx:?}");
    let (mean, var) = (plain.running_mean().unwrap().to_vec::<f32>().unwrap(), plain.running_var().unwrap().to_vec::<f32>().unwrap());
    assert!(many.iter().all(|r| close(&r.2, &mean) && close(&r.3, &var)), "{mean:?} {var:?} {:?}", many[0]);
}

#[test]
fn samples_are_divided() {
    for (ranks, drop) in [(1, false), (3, false), (4, true)] {
        let all: Vec<DistributedSampler> = (0..ranks)
            .map(|rank| {
                let member = Member { rank, group: aludel_nn::distributed::Group { name: "world".into(), ranks: ranks as u32 } };
                let s = DistributedSampler::new(10, &member, Some(5)).unwrap();
                if drop { s.drop_last() } else { s }
            })
            .collect();
        let epoch = |e: u64| -> Vec<Vec<usize>> { all.iter().map(|s| s.indices(e)).collect() };
        assert!(epoch(0).iter().all(|i| i.len() == all[0].len()));
        assert_ne!(epoch(0), epoch(1));
        let mut seen: Vec<usize> = epoch(2).concat();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), if drop { 8 } else { 10 });
    }
    assert_ne!(rank_seed(1, 0), rank_seed(1, 1));
}

#[derive(Clone, Tree)]
struct Deep {
    layers: Vec<Linear>,
}

/// The plan of a step on two ranks of a GPU: each bucket (of a layer here) is exchanged while the backward pass goes on, its gradients are
/// written into it by what computes them, and the mean is taken by the update that reads it.
#[test]
fn buckets_are_exchanged_within_the_backward_pass() {
    let device = Device::interpreter();
    let member = device.join(Arc::new(PaperGroup::new("world", 2))).unwrap();
    let mut init = Init::new(&device, 1);
    let layers = (0..4).map(|_| Linear::new(&mut init, 256, 256).unwrap()).collect();
    let config = DataParallelConfig { bucket_bytes: 262_145, first_bucket_bytes: 262_145 };
    let model = DistributedDataParallel::with(Deep { layers }, &member, config).unwrap();
    let optimizer = Sgd::new(&model, SgdConfig { lr: 0.1, momentum: 0.9, ..SgdConfig::default() }).unwrap();
    let x = Tensor::zeros(&device, [512, 256]).unwrap();
    let step = |(model, optimizer): &mut (DistributedDataParallel<Deep>, Sgd), x: &Tensor| {
        let y = model.module.layers.iter().try_fold(x.clone(), |x, l| l.forward(&x)?.tanh())?;
        let loss = squares(&y, x)?;
        optimizer.step(model, &model.backward(&loss)?)?;
        Ok(loss)
    };
    let graph = compile(step).named("deep").export(&mut (model, optimizer), &x).unwrap().graph;
    let (target, options) = (Target::cuda(90, Default::default()), Options::default());
    let mut made = Compilation::new(&graph, &target, &options);
    made.until(Pass::Plan).unwrap();
    let launches = &made.program.launches;
    let text = launches.iter().map(|l| l.label.as_str()).collect::<Vec<_>>().join("\n");
    let exchanges: Vec<usize> = (0..launches.len()).filter(|l| launches[*l].exchange.is_some()).collect();
    assert_eq!(exchanges.len(), 4, "{text}");
    // Of three layers before the last product of the backward pass, of the first layer behind it, and no two without a product between them.
    let products: Vec<usize> =
        (0..launches.len()).filter(|l| launches[*l].flops.as_const().is_some_and(|f| f >= 512 * 256 * 256)).collect();
    assert_eq!(products.len(), 4 + 4 + 3, "{text}");
    let before = |e: usize| products.iter().filter(|p| **p < e).count();
    let counts: Vec<usize> = exchanges.iter().map(|e| before(*e)).collect();
    assert!(counts.windows(2).all(|w| w[0] < w[1]) && counts[2] < products.len(), "{counts:?}\n{text}");
    // No kernel only fills a bucket, none only divides one.
    for l in launches.iter().filter(|l| l.exchange.is_none()) {
        assert!(!l.label.starts_with("cat") && l.label != "all_reduce", "{text}");
    }
}

/// Rank r gives r + i rows to rank i; what went comes back, and so do its derivatives.
#[test]
fn ranks_exchange_different_numbers_of_rows() {
    let ranks = 3;
    for (device, compiled) in [(Device::interpreter as fn() -> Device, false), (Device::interpreter, true)] {
        on_ranks(ranks, device, |member, device| {
            let r = member.rank;
            let splits = member.tell_splits(&device, &(0..ranks).map(|i| r + i).collect::<Vec<_>>())?;
            assert_eq!(
                (splits.got(), splits.most(), splits.reversed().reversed()),
                ((0..ranks).map(|i| r + i).collect(), 4, splits.clone())
            );
            let n: usize = splits.given().iter().sum();
            let rows = member.tell_rows(&device, n)?;
            assert_eq!(rows, [3, 6, 9]);
            let x = Tensor::from_vec(&device, (0..2 * n).map(|i| (100 * r + i) as f32).collect::<Vec<f32>>(), [n, 2])?;
            // There and back, times the number of the rank that has them between, and all of it on every rank.
            let step = |_: &mut (), x: &Tensor| -> Result<(Tensor, Tensor, Tensor, Tensor)> {
                let leaf = x.detach().requires_grad();
                let y = leaf.all_to_all_uneven(&splits, &member)?;
                let back = y.mul((r + 1) as f64)?.all_to_all_uneven(&splits.reversed(), &member)?;
                let gradients = back.sum(())?.backward()?;
                let g = gradients.get(&leaf).cloned().unwrap();
                Ok((y.detach(), back.detach(), g, x.all_gather_uneven(&rows, &member)?))
            };
            let compiled_step = compile(step);
            let (y, back, g, all) = if compiled { compiled_step.call(&mut (), &x)? } else { step(&mut (), &x)? };
            // Rank i's rows for this rank follow those for the ranks before it.
            let from = |i: usize| (0..2 * (r + i)).map(move |k| (100 * i + 2 * (0..r).map(|to| i + to).sum::<usize>() + k) as f32);
            assert_eq!(y.to_vec::<f32>()?, (0..ranks).flat_map(from).collect::<Vec<f32>>());
            let factors: Vec<f32> = (0..ranks).flat_map(|i| vec![(i + 1) as f32; 2 * (r + i)]).collect();
            let want: Vec<f32> = x.to_vec::<f32>()?.iter().zip(&factors).map(|(x, f)| x * f).collect();
            assert_eq!((back.to_vec::<f32>()?, g.to_vec::<f32>()?), (want, factors));
            let whole = (0..ranks).flat_map(|i| (0..6 * (i + 1)).map(move |k| (100 * i + k) as f32)).collect::<Vec<f32>>();
            assert_eq!(all.to_vec::<f32>()?, whole);
            let e = x.all_gather_uneven(&[n + 1; 3], &member).unwrap_err().to_string();
            assert!(e.contains("were told"), "{e}");
            Ok(())
        });
    }
}
