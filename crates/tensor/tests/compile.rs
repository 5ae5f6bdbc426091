//! Captured functions: results, guards, specialisations, state, graph breaks.

mod common;

use aludel_tensor::{DType, Device, Result, Tensor, Tree, cat, compile, no_grad};

#[derive(Clone, Tree)]
struct Line {
    w: Tensor,
    b: Tensor,
    scale: f64,
    layers: Vec<Tensor>,
    extra: Option<Tensor>,
}

fn line(d: &Device) -> Result<Line> {
    Ok(Line {
        w: Tensor::from_slice(d, &[0.5f32, -0.25], [1, 2])?.requires_grad(),
        b: Tensor::zeros(d, [1])?.requires_grad(),
        scale: 1.0,
        layers: vec![],
        extra: None,
    })
}

fn data(d: &Device, n: usize, seed: u64) -> Result<(Tensor, Tensor)> {
    let x = Tensor::randn(d, [n, 2], seed)?;
    let y = Tensor::randn(d, [n, 1], seed + 1)?;
    Ok((x, y))
}

fn sgd(m: &mut Line, batch: &(Tensor, Tensor)) -> Result<Tensor> {
    let loss = batch.0.linear(&m.w, Some(&m.b))?.mul(m.scale)?.mse_loss(&batch.1)?;
    let g = loss.backward()?;
    let (w, b) = no_grad(|| -> Result<_> { Ok((m.w.sub(&g.get(&m.w)?.mul(0.1)?)?, m.b.sub(&g.get(&m.b)?.mul(0.1)?)?)) })?;
    (m.w, m.b) = (w.requires_grad(), b.requires_grad());
    Ok(loss)
}

fn same(a: &Tensor, b: &Tensor) -> Result<()> {
    let (a, b) = (a.to_vec::<f32>()?, b.to_vec::<f32>()?);
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(&b) {
        assert!((x - y).abs() <= 1e-4 * (1.0 + y.abs()), "{a:?} {b:?}");
    }
    Ok(())
}

fn compiled_training_follows_eager(d: &Device) -> Result<()> {
    let (mut eager, mut compiled) = (line(d)?, line(d)?);
    let step = compile(sgd);
    for i in 0..5 {
        let batch = data(d, 8, i)?;
        same(&step.call(&mut compiled, &batch)?, &sgd(&mut eager, &batch)?)?;
        same(&compiled.w, &eager.w)?;
        assert!(compiled.w.is_requires_grad());
    }
    assert_eq!(step.compilations(), 1);
    let text = step.explain().to_string();
    assert!(text.contains("5 call(s)"), "{text}");
    Ok(())
}

fn a_changed_batch_compiles_once_more_and_any_third_size_not_at_all(d: &Device) -> Result<()> {
    let (mut eager, mut compiled) = (line(d)?, line(d)?);
    let step = compile(sgd);
    for (n, compilations) in [(64, 1), (64, 1), (48, 2), (37, 2), (64, 2), (1000, 2), (2, 2), (1, 3), (1, 3), (5, 3)] {
        let batch = data(d, n, n as u64)?;
        same(&step.call(&mut compiled, &batch)?, &sgd(&mut eager, &batch)?)?;
        assert_eq!(step.compilations(), compilations, "{n}");
    }
    let text = step.explain().to_string();
    assert!(text.contains("size of dimension 0 was 64 and is 48"), "{text}");
    Ok(())
}

fn what_is_prepared_runs_without_another_compilation(d: &Device) -> Result<()> {
    let step = compile(sgd);
    let (mut m, batch) = (line(d)?, data(d, 5, 7)?);
    let before = m.w.to_vec::<f32>()?;
    step.prepare(&mut m, &batch);
    pollster::block_on(d.ready())?;
    assert_eq!((step.compilations(), m.w.to_vec::<f32>()?), (1, before), "nothing has run");
    step.prepare(&mut m, &batch);
    let mut other = line(d)?;
    let direct = compile(sgd);
    for _ in 0..3 {
        same(&step.call(&mut m, &batch)?, &direct.call(&mut other, &batch)?)?;
    }
    assert_eq!(step.compilations(), 1);
    same(&m.w, &other.w)
}

fn mark_dynamic_makes_a_size_symbolic_at_once(d: &Device) -> Result<()> {
    let mut m = line(d)?;
    let step = compile(sgd).mark_dynamic("arg.0", 0).mark_dynamic("arg.1", 0);
    for n in [64, 48, 3] {
        step.call(&mut m, &data(d, n, 1)?)?;
    }
    assert_eq!(step.compilations(), 1);
    Ok(())
}

fn sizes_that_were_equal_and_differ_later_are_compiled_anew(d: &Device) -> Result<()> {
    let f = compile(|_: &mut (), (a, b): &(Tensor, Tensor)| cat(&[a, b], 0)?.sum(()));
    let call = |n: usize, m: usize| -> Result<f64> { f.call(&mut (), &(Tensor::ones(d, [n])?, Tensor::ones(d, [m])?))?.item() };
    for (n, m) in [(4, 4), (5, 5), (6, 6), (6, 7), (8, 9), (9, 9)] {
        assert_eq!(call(n, m)?, (n + m) as f64);
    }
    assert_eq!(f.compilations(), 3);
    // Shapes that the operators refuse are an error, never another answer.
    let g = compile(|_: &mut (), (a, b): &(Tensor, Tensor)| a.mul(b)?.sum(()));
    let call = |n: usize, m: usize| g.call(&mut (), &(Tensor::ones(d, [n])?, Tensor::ones(d, [m])?)).and_then(|t| t.item());
    assert_eq!(call(4, 4)?, 4.0);
    assert_eq!(call(5, 5)?, 5.0);
    assert!(call(5, 6).is_err());
    assert_eq!(call(7, 7)?, 7.0);
    Ok(())
}

fn every_guarded_fact_is_noticed(d: &Device) -> Result<()> {
    let f = compile(|m: &mut Line, x: &Tensor| {
        let mut y = x.mul(m.scale)?.add(&m.b)?;
        for l in &m.layers {
            y = y.mul(l)?;
        }
        if let Some(e) = &m.extra {
            y = y.add(e)?;
        }
        if y.dtype() == DType::F32 && y.rank() == 1 && m.w.is_requires_grad() { y.sum(()) } else { y.neg()?.sum(()) }
    });
    let eager = |m: &Line, x: &Tensor| -> Result<f64> {
        let mut y = x.mul(m.scale)?.add(&m.b)?;
        for l in &m.layers {
            y = y.mul(l)?;
        }
        if let Some(e) = &m.extra {
            y = y.add(e)?;
        }
        let y = if y.dtype() == DType::F32 && y.rank() == 1 && m.w.is_requires_grad() { y } else { y.neg()? };
        y.sum(())?.item()
    };
    let mut m = line(d)?;
    let two = Tensor::from_slice(d, &[2.0f32], [1])?;
    let x = Tensor::from_slice(d, &[1.0f32, 2.0, 3.0], [3])?;
    let changes: Vec<(&str, Box<dyn Fn(&mut Line, &mut Tensor) -> Result<()>>)> = vec![
        (
            "static value",
            Box::new(|m, _| {
                m.scale = 3.0;
                Ok(())
            }),
        ),
        (
            "list",
            Box::new(|m, _| {
                m.layers.push(two.clone());
                Ok(())
            }),
        ),
        (
            "option",
            Box::new(|m, _| {
                m.extra = Some(two.clone());
                Ok(())
            }),
        ),
        (
            "rank",
            Box::new(|_, x| {
                *x = x.unsqueeze(0)?;
                Ok(())
            }),
        ),
        (
            "type",
            Box::new(|_, x| {
                *x = x.flatten(0, -1)?.to(DType::I32)?;
                Ok(())
            }),
        ),
        (
            "requires_grad",
            Box::new(|m, x| {
                m.w = m.w.detach();
                *x = x.to(DType::F32)?;
                Ok(())
            }),
        ),
        (
            "size",
            Box::new(|_, x| {
                *x = cat(&[x, x], 0)?;
                Ok(())
            }),
        ),
    ];
    let mut x = x;
    let mut compilations = 1;
    assert_eq!(f.call(&mut m, &x)?.item()?, eager(&m, &x)?);
    for (name, change) in changes {
        change(&mut m, &mut x)?;
        compilations += 1;
        for _ in 0..2 {
            assert_eq!(f.call(&mut m, &x)?.item()?, eager(&m, &x)?, "{name}");
            assert_eq!(f.compilations(), compilations, "{name}");
        }
    }
    // Another device.
    let e = Device::interpreter();
    m.visit_mut(&mut |t| *t = t.to_device(&e).unwrap());
    let x = x.to_device(&e)?;
    assert_eq!(f.call(&mut m, &x)?.item()?, eager(&m, &x)?);
    assert_eq!(f.compilations(), compilations + 1);
    // Recording of gradients.
    assert_eq!(no_grad(|| f.call(&mut m, &x))?.item()?, eager(&m, &x)?);
    assert_eq!(f.compilations(), compilations + 2);
    Ok(())
}

fn whoever_holds_old_state_keeps_the_old_value(d: &Device) -> Result<()> {
    let add = compile(|s: &mut Tensor, x: &Tensor| {
        *s = s.add(x)?;
        Ok(())
    });
    let (mut s, x) = (Tensor::zeros(d, [2])?, Tensor::ones(d, [2])?);
    let mut kept = Vec::new();
    for i in 0..4 {
        kept.push((s.clone(), s.reshape([2, 1])?, i as f32));
        add.call(&mut s, &x)?;
    }
    for (t, alias, value) in &kept {
        assert_eq!(t.to_vec::<f32>()?, [*value; 2]);
        assert_eq!(alias.to_vec::<f32>()?, [*value; 2]);
    }
    // Old state put back is the state from then on.
    s = kept[1].0.clone();
    add.call(&mut s, &x)?;
    assert_eq!(s.to_vec::<f32>()?, [2.0; 2]);
    assert_eq!(kept[1].0.to_vec::<f32>()?, [1.0; 2]);
    assert_eq!(add.compilations(), 1);
    Ok(())
}

fn state_may_be_an_argument_and_a_result(d: &Device) -> Result<()> {
    let f = compile(|s: &mut (Tensor, Tensor), x: &Tensor| {
        let old = s.0.clone();
        s.0 = s.0.add(x)?;
        Ok((old, s.0.clone(), s.1.clone(), x.clone()))
    });
    let mut s = (Tensor::ones(d, [2])?, Tensor::full(d, [1], 7.0, DType::F32)?);
    for i in 1..4 {
        let x = s.0.clone();
        let (old, new, other, same) = f.call(&mut s, &x)?;
        let v = 2f32.powi(i);
        assert_eq!(old.to_vec::<f32>()?, [v / 2.0; 2]);
        assert_eq!(new.to_vec::<f32>()?, [v; 2]);
        assert_eq!(other.to_vec::<f32>()?, [7.0]);
        assert_eq!(same.to_vec::<f32>()?, [v / 2.0; 2]);
        assert_eq!(s.0.to_vec::<f32>()?, [v; 2]);
    }
    Ok(())
}

fn swapped_state_is_swapped(d: &Device) -> Result<()> {
    let f = compile(|s: &mut (Tensor, Tensor), _: &()| {
        std::mem::swap(&mut s.0, &mut s.1);
        Ok(())
    });
    let mut s = (Tensor::ones(d, [2])?, Tensor::zeros(d, [2])?);
    for i in 0..4 {
        assert_eq!(s.0.to_vec::<f32>()?[0], (i % 2 == 0) as i32 as f32);
        f.call(&mut s, &())?;
    }
    Ok(())
}

fn a_host_read_breaks_the_graph_and_computes_the_same(d: &Device) -> Result<()> {
    let clipped = |m: &mut Line, batch: &(Tensor, Tensor)| -> Result<Tensor> {
        let loss = batch.0.linear(&m.w, Some(&m.b))?.mse_loss(&batch.1)?;
        let rate = if loss.item()? > 1.0 { 0.01 } else { 0.1 };
        let g = loss.backward()?;
        m.w = no_grad(|| m.w.sub(&g.get(&m.w)?.mul(rate)?))?.requires_grad();
        Ok(loss)
    };
    let step = compile(clipped);
    let (mut eager, mut compiled) = (line(d)?, line(d)?);
    let mut segments = 0;
    for i in 0..12 {
        let batch = data(d, 8, i)?;
        let batch = (batch.0, batch.1.mul(if i % 2 == 0 { 0.1 } else { 3.0 })?);
        same(&step.call(&mut compiled, &batch)?, &clipped(&mut eager, &batch)?)?;
        same(&compiled.w, &eager.w)?;
        if i == 5 {
            segments = step.explain().segments;
        }
    }
    let e = step.explain();
    assert_eq!(e.segments, segments, "later calls find their segments");
    assert_eq!(e.breaks.len(), 1);
    assert!(e.breaks[0].location.starts_with("compile.rs:"), "{}", e.breaks[0].location);
    assert!(e.breaks[0].reason.contains("item()"), "{}", e.breaks[0].reason);
    for (n, new) in [(5, true), (6, false), (7, false), (8, false)] {
        let batch = data(d, n, 0)?;
        same(&step.call(&mut compiled, &batch)?, &clipped(&mut eager, &batch)?)?;
        let now = step.explain().segments;
        assert_eq!(now > segments, new, "batch {n}");
        segments = now;
    }
    let whole = compile(clipped).fullgraph(true);
    let error = whole.call(&mut line(d)?, &data(d, 8, 0)?).unwrap_err().to_string();
    assert!(error.contains("compile.rs:") && error.contains("fullgraph"), "{error}");
    Ok(())
}

fn what_a_replay_would_miss_is_an_error(d: &Device) -> Result<()> {
    let x = Tensor::ones(d, [2])?;
    // A static value that changes.
    let counted = compile(|s: &mut (Tensor, i64), x: &Tensor| {
        s.1 += 1;
        s.0 = s.0.add(x)?;
        Ok(())
    });
    let mut s = (x.clone(), 0);
    let error = counted.call(&mut s, &x).unwrap_err().to_string();
    assert!(error.contains("static value 1") && error.contains("Tensor::scalar"), "{error}");
    assert_eq!(s.0.to_vec::<f32>()?, [1.0; 2], "the state is as before");
    // A shape that changes.
    let grows = compile(|s: &mut Tensor, x: &Tensor| {
        *s = cat(&[s, x], 0)?;
        Ok(())
    });
    let error = grows.call(&mut x.clone(), &x).unwrap_err().to_string();
    assert!(error.contains("f32[2] to f32[4]"), "{error}");
    // Something outside.
    let hidden = std::cell::Cell::new(1.0);
    let leaky = compile(|_: &mut (), x: &Tensor| x.mul(hidden.get())).check_every(2);
    assert_eq!(leaky.call(&mut (), &x)?.to_vec::<f32>()?, [1.0; 2]);
    assert_eq!(leaky.call(&mut (), &x)?.to_vec::<f32>()?, [1.0; 2]);
    hidden.set(2.0);
    leaky.call(&mut (), &x)?;
    let error = leaky.call(&mut (), &x).unwrap_err().to_string();
    assert!(error.contains("neither argument nor state"), "{error}");
    // A static value that never repeats.
    let endless = compile(|_: &mut (), (x, lr): &(Tensor, f64)| x.mul(*lr));
    let error = (0..100).find_map(|i| endless.call(&mut (), &(x.clone(), i as f64)).err()).map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("specialisations"), "{error}");
    // A tensor that leaves.
    let kept = std::cell::RefCell::new(None);
    let leak = compile(|_: &mut (), x: &Tensor| {
        let y = x.neg()?;
        *kept.borrow_mut() = Some(y.clone());
        Ok(y)
    });
    leak.call(&mut (), &x)?;
    assert!(kept.borrow().as_ref().unwrap().to_vec::<f32>().is_err());
    assert!(kept.borrow().as_ref().unwrap().neg().is_err());
    Ok(())
}

fn an_error_or_panic_in_the_function_leaves_everything_as_it_was(d: &Device) -> Result<()> {
    let x = Tensor::ones(d, [2])?;
    let f = compile(|s: &mut Tensor, x: &Tensor| {
        *s = s.add(x)?;
        if x.dtype() == DType::I32 {
            panic!("no");
        }
        s.matmul(&Tensor::zeros(x.device(), [3, 3])?)
    });
    let mut s = x.clone();
    assert!(f.call(&mut s, &x).is_err());
    assert_eq!(s.to_vec::<f32>()?, [1.0; 2]);
    let i = x.to(DType::I32)?;
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f.call(&mut s, &i))).is_err());
    assert_eq!(s.to_vec::<f32>()?, [1.0; 2]);
    assert_eq!(s.add(&x)?.to_vec::<f32>()?, [2.0; 2]);
    Ok(())
}

fn a_compiled_function_inside_another_is_part_of_it(d: &Device) -> Result<()> {
    let inner = compile(|_: &mut (), x: &Tensor| x.exp());
    let outer = compile(|_: &mut (), x: &Tensor| inner.call(&mut (), &x.neg()?)?.sum(()));
    let x = Tensor::zeros(d, [3])?;
    assert_eq!(outer.call(&mut (), &x)?.item()?, 3.0);
    assert_eq!((outer.compilations(), inner.compilations()), (1, 0));
    Ok(())
}

fn gradients_stop_where_eager_stops_them(d: &Device) -> Result<()> {
    let f = |_: &mut (), w: &Tensor| -> Result<(Tensor, Tensor)> {
        let target = no_grad(|| w.mul(3.0))?;
        let y = w.mul(w)?.mul(&target)?.mul(&w.detach())?;
        let loss = y.sum(())?;
        let g = loss.backward()?.get(w)?.clone();
        Ok((loss, g))
    };
    let w = Tensor::from_slice(d, &[2.0f32, -1.0], [2])?.requires_grad();
    let (eager, compiled) = (f(&mut (), &w)?, compile(f).call(&mut (), &w)?);
    same(&compiled.0, &eager.0)?;
    same(&compiled.1, &eager.1)?;
    same(&eager.1, &Tensor::from_slice(d, &[48.0f32, -6.0], [2])?)
}

#[derive(Clone, Tree)]
struct Noise {
    key: Tensor,
}

// The same random bits, so the same zeros, whichever way the step runs.
fn dropout_is_the_same_bit_for_bit(d: &Device) -> Result<()> {
    let drop = |s: &mut Noise, x: &Tensor| -> Result<Tensor> {
        let y = x.dropout(&s.key, 0.3)?;
        s.key = s.key.add(&s.key.ones_like()?)?;
        Ok(y)
    };
    let new = || Ok::<_, aludel_tensor::Error>(Noise { key: Tensor::from_slice(d, &[7u32, 9], [2])? });
    let (mut eager, mut compiled) = (new()?, new()?);
    let step = compile(drop);
    let x = Tensor::randn(d, [33, 17], 5)?;
    let mut last = Vec::new();
    for _ in 0..3 {
        let (a, b) = (drop(&mut eager, &x)?.to_vec::<f32>()?, step.call(&mut compiled, &x)?.to_vec::<f32>()?);
        assert_eq!(a, b);
        let zeros = a.iter().filter(|v| **v == 0.0).count() as f64 / a.len() as f64;
        assert!((zeros - 0.3).abs() < 0.1, "{zeros}");
        assert_ne!(a, last);
        last = a;
    }
    let host = Tensor::from_vec(&Device::interpreter(), x.to_vec::<f32>()?, [33, 17])?;
    let reference = drop(&mut Noise { key: Tensor::from_slice(host.device(), &[9u32, 11], [2])? }, &host)?;
    assert_eq!(
        reference.to_vec::<f32>()?.iter().map(|v| *v == 0.0).collect::<Vec<_>>(),
        last.iter().map(|v| *v == 0.0).collect::<Vec<_>>()
    );
    Ok(())
}

fn a_snapshot_goes_on_on_another_device(d: &Device) -> Result<()> {
    use aludel_tensor::Snapshot;
    let step = compile(sgd);
    let mut m = line(d)?;
    for i in 0..3 {
        step.call(&mut m, &data(d, 8, i)?)?;
    }
    let snapshot = pollster::block_on(Snapshot::take(&m))?;
    let want = step.call(&mut m, &data(d, 8, 9)?)?.item()?;
    let other = Device::interpreter();
    snapshot.restore(&mut m, &other)?;
    let got = step.call(&mut m, &data(&other, 8, 9)?)?.item()?;
    assert!((got - want).abs() < 1e-4, "{got} {want}");
    assert!(m.w.is_requires_grad() && *m.w.device() == other);
    let error = snapshot.restore(&mut (m.w.clone(), m.b.clone()), &other).unwrap_err().to_string();
    assert!(error.contains("restore"), "{error}");
    Ok(())
}

common::on_every_device! {
    compiled_training_follows_eager,
    a_changed_batch_compiles_once_more_and_any_third_size_not_at_all,
    mark_dynamic_makes_a_size_symbolic_at_once,
    what_is_prepared_runs_without_another_compilation,
    sizes_that_were_equal_and_differ_later_are_compiled_anew,
    every_guarded_fact_is_noticed,
    whoever_holds_old_state_keeps_the_old_value,
    state_may_be_an_argument_and_a_result,
    swapped_state_is_swapped,
    a_host_read_breaks_the_graph_and_computes_the_same,
    what_a_replay_would_miss_is_an_error,
    an_error_or_panic_in_the_function_leaves_everything_as_it_was,
    a_compiled_function_inside_another_is_part_of_it,
    gradients_stop_where_eager_stops_them,
    dropout_is_the_same_bit_for_bit,
    a_snapshot_goes_on_on_another_device,
}
