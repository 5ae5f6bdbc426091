//! Captured functions: results, guards, specialisations, state, graph breaks.

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
        assert!((x - y).abs() <= 1e-5 * (1.0 + y.abs()), "{a:?} {b:?}");
    }
    Ok(())
}

#[test]
fn compiled_training_follows_eager() -> Result<()> {
    let d = Device::interpreter();
    let (mut eager, mut compiled) = (line(&d)?, line(&d)?);
    let step = compile(sgd);
    for i in 0..5 {
        let batch = data(&d, 8, i)?;
        same(&step.call(&mut compiled, &batch)?, &sgd(&mut eager, &batch)?)?;
        same(&compiled.w, &eager.w)?;
        assert!(compiled.w.is_requires_grad());
    }
    assert_eq!(step.compilations(), 1);
    let text = step.explain().to_string();
    assert!(text.contains("5 call(s)"), "{text}");
    Ok(())
}

#[test]
fn a_changed_batch_compiles_once_more_and_any_third_size_not_at_all() -> Result<()> {
    let d = Device::interpreter();
    let (mut eager, mut compiled) = (line(&d)?, line(&d)?);
    let step = compile(sgd);
    for (n, compilations) in [(64, 1), (64, 1), (48, 2), (37, 2), (64, 2), (1000, 2), (2, 2), (1, 3), (1, 3), (5, 3)] {
        let batch = data(&d, n, n as u64)?;
        same(&step.call(&mut compiled, &batch)?, &sgd(&mut eager, &batch)?)?;
        assert_eq!(step.compilations(), compilations, "{n}");
    }
    let text = step.explain().to_string();
    assert!(text.contains("size of dimension 0 was 64 and is 48"), "{text}");
    Ok(())
}

#[test]
fn mark_dynamic_makes_a_size_symbolic_at_once() -> Result<()> {
    let d = Device::interpreter();
    let mut m = line(&d)?;
    let step = compile(sgd).mark_dynamic("arg.0", 0).mark_dynamic("arg.1", 0);
    for n in [64, 48, 3] {
        step.call(&mut m, &data(&d, n, 1)?)?;
    }
    assert_eq!(step.compilations(), 1);
    Ok(())
}

#[test]
fn sizes_that_were_equal_and_differ_later_are_compiled_anew() -> Result<()> {
    let d = Device::interpreter();
    let f = compile(|_: &mut (), (a, b): &(Tensor, Tensor)| cat(&[a, b], 0)?.sum(()));
    let call = |n: usize, m: usize| -> Result<f64> { f.call(&mut (), &(Tensor::ones(&d, [n])?, Tensor::ones(&d, [m])?))?.item() };
    for (n, m) in [(4, 4), (5, 5), (6, 6), (6, 7), (8, 9), (9, 9)] {
        assert_eq!(call(n, m)?, (n + m) as f64);
    }
    assert_eq!(f.compilations(), 3);
    // Shapes that the operators refuse are an error, never another answer.
    let g = compile(|_: &mut (), (a, b): &(Tensor, Tensor)| a.mul(b)?.sum(()));
    let call = |n: usize, m: usize| g.call(&mut (), &(Tensor::ones(&d, [n])?, Tensor::ones(&d, [m])?)).and_then(|t| t.item());
    assert_eq!(call(4, 4)?, 4.0);
    assert_eq!(call(5, 5)?, 5.0);
    assert!(call(5, 6).is_err());
    assert_eq!(call(7, 7)?, 7.0);
    Ok(())
}

#[test]
fn every_guarded_fact_is_noticed() -> Result<()> {
    let d = Device::interpreter();
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
    let mut m = line(&d)?;
    let two = Tensor::from_slice(&d, &[2.0f32], [1])?;
    let x = Tensor::from_slice(&d, &[1.0f32, 2.0, 3.0], [3])?;
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

#[test]
fn whoever_holds_old_state_keeps_the_old_value() -> Result<()> {
    let d = Device::interpreter();
    let add = compile(|s: &mut Tensor, x: &Tensor| {
        *s = s.add(x)?;
        Ok(())
    });
    let (mut s, x) = (Tensor::zeros(&d, [2])?, Tensor::ones(&d, [2])?);
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

#[test]
fn state_may_be_an_argument_and_a_result() -> Result<()> {
    let d = Device::interpreter();
    let f = compile(|s: &mut (Tensor, Tensor), x: &Tensor| {
        let old = s.0.clone();
        s.0 = s.0.add(x)?;
        Ok((old, s.0.clone(), s.1.clone(), x.clone()))
    });
    let mut s = (Tensor::ones(&d, [2])?, Tensor::full(&d, [1], 7.0, DType::F32)?);
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

#[test]
fn swapped_state_is_swapped() -> Result<()> {
    let d = Device::interpreter();
    let f = compile(|s: &mut (Tensor, Tensor), _: &()| {
        std::mem::swap(&mut s.0, &mut s.1);
        Ok(())
    });
    let mut s = (Tensor::ones(&d, [2])?, Tensor::zeros(&d, [2])?);
    for i in 0..4 {
        assert_eq!(s.0.to_vec::<f32>()?[0], (i % 2 == 0) as i32 as f32);
        f.call(&mut s, &())?;
    }
    Ok(())
}

#[test]
fn a_host_read_breaks_the_graph_and_computes_the_same() -> Result<()> {
    let d = Device::interpreter();
    let clipped = |m: &mut Line, batch: &(Tensor, Tensor)| -> Result<Tensor> {
        let loss = batch.0.linear(&m.w, Some(&m.b))?.mse_loss(&batch.1)?;
        let rate = if loss.item()? > 1.0 { 0.01 } else { 0.1 };
        let g = loss.backward()?;
        m.w = no_grad(|| m.w.sub(&g.get(&m.w)?.mul(rate)?))?.requires_grad();
        Ok(loss)
    };
    let step = compile(clipped);
    let (mut eager, mut compiled) = (line(&d)?, line(&d)?);
    let mut segments = 0;
    for i in 0..12 {
        let batch = data(&d, 8, i)?;
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
    let whole = compile(clipped).fullgraph(true);
    let error = whole.call(&mut line(&d)?, &data(&d, 8, 0)?).unwrap_err().to_string();
    assert!(error.contains("compile.rs:") && error.contains("fullgraph"), "{error}");
    Ok(())
}

#[test]
fn what_a_replay_would_miss_is_an_error() -> Result<()> {
    let d = Device::interpreter();
    let x = Tensor::ones(&d, [2])?;
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

#[test]
fn an_error_or_panic_in_the_function_leaves_everything_as_it_was() -> Result<()> {
    let d = Device::interpreter();
    let x = Tensor::ones(&d, [2])?;
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

#[test]
fn a_compiled_function_inside_another_is_part_of_it() -> Result<()> {
    let d = Device::interpreter();
    let inner = compile(|_: &mut (), x: &Tensor| x.exp());
    let outer = compile(|_: &mut (), x: &Tensor| inner.call(&mut (), &x.neg()?)?.sum(()));
    let x = Tensor::zeros(&d, [3])?;
    assert_eq!(outer.call(&mut (), &x)?.item()?, 3.0);
    assert_eq!((outer.compilations(), inner.compilations()), (1, 0));
    Ok(())
}

#[test]
fn gradients_stop_where_eager_stops_them() -> Result<()> {
    let d = Device::interpreter();
    let f = |_: &mut (), w: &Tensor| -> Result<(Tensor, Tensor)> {
        let target = no_grad(|| w.mul(3.0))?;
        let y = w.mul(w)?.mul(&target)?.mul(&w.detach())?;
        let loss = y.sum(())?;
        let g = loss.backward()?.get(w)?.clone();
        Ok((loss, g))
    };
    let w = Tensor::from_slice(&d, &[2.0f32, -1.0], [2])?.requires_grad();
    let (eager, compiled) = (f(&mut (), &w)?, compile(f).call(&mut (), &w)?);
    same(&compiled.0, &eager.0)?;
    same(&compiled.1, &eager.1)?;
    same(&eager.1, &Tensor::from_slice(&d, &[48.0f32, -6.0], [2])?)
}
