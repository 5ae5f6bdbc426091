//! Transformations of functions, eagerly and inside compiled functions, on every device.

mod common;

use aludel_tensor::func::{self, Randomness, VmapOptions};
use aludel_tensor::{DType, Device, Result, Tensor, compile, no_grad};
use common::on_every_device;

fn t(device: &Device, values: &[f32]) -> Tensor {
    Tensor::from_slice(device, values, [values.len()]).unwrap()
}

#[track_caller]
fn close(got: &Tensor, want: &[f32]) {
    let got = got.to_vec::<f32>().unwrap();
    assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= 2e-5 * (1.0 + w.abs()), "{got:?}, expected {want:?}");
    }
}

/// Runs a function of a tensor as it is and compiled.
fn both(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>, want: &[f32]) -> Result<()> {
    close(&f(x)?, want);
    let compiled = compile(|_: &mut (), x: &Tensor| f(x)).fullgraph(true);
    for _ in 0..2 {
        close(&compiled.call(&mut (), x)?, want);
    }
    assert_eq!(compiled.compilations(), 1);
    Ok(())
}

fn cube(x: &Tensor) -> Result<Tensor> {
    x.mul(x)?.mul(x)?.sum(())
}

fn reverse_mode(device: &Device) -> Result<()> {
    let x = t(device, &[1.0, 2.0]);
    both(&x, func::grad(cube), &[3.0, 12.0])?;
    both(&x, |x| Ok(func::value_and_grad(cube)(x)?.0), &[9.0])?;
    // Twice and thrice.
    let second = |x: &Tensor| func::grad(cube)(x)?.sum(());
    both(&x, func::grad(second), &[6.0, 12.0])?;
    both(&x, func::grad(|x: &Tensor| func::grad(second)(x)?.sum(())), &[6.0, 6.0])?;
    // A pullback called twice, and differentiated.
    both(
        &x,
        |x| {
            let (y, pullback) = func::vjp(|x: &Tensor| x.sin()?.mul(x), x)?;
            pullback(&y.ones_like()?)?.add(&pullback(&y)?)
        },
        &[(1f32.sin() + 1f32.cos()) * (1.0 + 1f32.sin()), (2f32.sin() + 2.0 * 2f32.cos()) * (1.0 + 2.0 * 2f32.sin())],
    )?;
    let pulled = |x: &Tensor| {
        let (y, pullback) = func::vjp(|x: &Tensor| x.mul(x), x)?;
        pullback(&y)?.sum(())
    };
    both(&x, func::grad(pulled), &[6.0, 24.0])?;
    Ok(())
}

fn forward_mode(device: &Device) -> Result<()> {
    let x = t(device, &[1.0, 2.0]);
    let v = t(device, &[1.0, -1.0]);
    both(&x, |x| Ok(func::jvp(|x: &Tensor| x.exp(), x, &v)?.1), &[1f32.exp(), -2f32.exp()])?;
    both(&x, |x| Ok(func::jvp(func::grad(cube), x, &v)?.1), &[6.0, -12.0])?;
    both(&x, |x| Ok(func::hvp(cube, x, &v)?.1), &[6.0, -12.0])?;
    // Reverse over forward.
    both(&x, func::grad(|x: &Tensor| Ok(func::jvp(cube, x, &v)?.1)), &[6.0, -12.0])?;
    both(&x, func::hessian(cube), &[6.0, 0.0, 0.0, 12.0])?;
    let f = |x: &Tensor| x.sin()?.mul(&x.flip([0])?);
    let (s, c) = ([1f32.sin(), 2f32.sin()], [1f32.cos(), 2f32.cos()]);
    let want = [2.0 * c[0], s[0], s[1], c[1]];
    both(&x, func::jacfwd(f), &want)?;
    both(&x, func::jacrev(f), &want)?;
    Ok(())
}

/// The inner function's argument and the same tensor taken from around are two things.
fn perturbations_are_not_confused(device: &Device) -> Result<()> {
    let x = t(device, &[3.0]);
    both(&x, |x| func::grad(|y: &Tensor| y.mul(x)?.sum(()))(x), &[3.0])?;
    // d/dx (x * d/dy (x + y)) = 1
    both(&x, func::grad(|x: &Tensor| x.mul(&func::grad(|y: &Tensor| x.add(y)?.sum(()))(x)?)?.sum(())), &[1.0])?;
    both(&x, |x| Ok(func::jvp(|x: &Tensor| x.mul(&func::jvp(|y: &Tensor| x.add(y), x, &x.ones_like()?)?.1), x, &x.ones_like()?)?.1), &[1.0])
}

fn detach_and_no_grad_cut(device: &Device) -> Result<()> {
    let x = t(device, &[2.0]);
    both(&x, func::grad(|x: &Tensor| x.detach().mul(x)?.sum(())), &[2.0])?;
    both(&x, func::grad(|x: &Tensor| no_grad(|| x.square())?.mul(x)?.sum(())), &[4.0])?;
    both(&x, func::grad(|x: &Tensor| x.detach().sum(())), &[0.0])?;
    both(&x, |x| Ok(func::jvp(|x: &Tensor| x.detach().mul(x), x, &x.ones_like()?)?.1), &[2.0])?;
    // What surrounds a transformation does not stop it.
    close(&no_grad(|| func::grad(cube)(&x))?, &[12.0]);
    Ok(())
}

/// Gradients reach what a transformed function takes from around it, and its arguments, by `backward()`.
fn tapes_lead_through(device: &Device) -> Result<()> {
    let (x, w) = (t(device, &[1.0, 2.0]).requires_grad(), t(device, &[3.0, 4.0]).requires_grad());
    let loss = |x: &Tensor, w: &Tensor| func::grad(|x: &Tensor| x.square()?.mul(w)?.sum(()))(x)?.square()?.sum(());
    // (2 x w)^2: d/dx = 8 x w^2, d/dw = 8 x^2 w.
    let check = |g: &aludel_tensor::Gradients| {
        close(g.get(&x).unwrap(), &[72.0, 256.0]);
        close(g.get(&w).unwrap(), &[24.0, 128.0]);
    };
    check(&loss(&x, &w)?.backward()?);
    let step = compile(|_: &mut (), (x, w): &(Tensor, Tensor)| {
        let g = loss(x, w)?.backward()?;
        Ok((g.get(x)?.clone(), g.get(w)?.clone()))
    });
    let (gx, gw) = step.call(&mut (), &(x.clone(), w.clone()))?;
    close(&gx, &[72.0, 256.0]);
    close(&gw, &[24.0, 128.0]);
    Ok(())
}

fn batches(device: &Device) -> Result<()> {
    let x = Tensor::from_slice(device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?;
    both(&x, func::vmap(|x: &Tensor| x.square()?.sum(()), 0, 0), &[5.0, 25.0, 61.0])?;
    both(&x, func::vmap(|x: &Tensor| x.square()?.sum(()), 1, 0), &[35.0, 56.0])?;
    both(&x, func::vmap(|x: &Tensor| x.mul(2.0), -2, 1), &[2.0, 6.0, 10.0, 4.0, 8.0, 12.0])?;
    // Per-sample gradients.
    let w = t(device, &[1.0, -1.0]);
    let loss = |w: &Tensor, x: &Tensor| w.mul(x)?.sum(())?.square();
    both(&x, func::vmap(|x: &Tensor| func::grad(|w: &Tensor| loss(w, x))(&w), 0, 0), &[-2.0, -4.0, -6.0, -8.0, -10.0, -12.0])?;
    // The gradient of a batched function keeps the operators' own derivatives: that of relu at zero is zero.
    let zeros = Tensor::zeros(device, [2, 2])?;
    both(&zeros, func::grad(|x: &Tensor| func::vmap(|x: &Tensor| x.relu(), 0, 0)(x)?.sum(())), &[0.0; 4])?;
    both(&x, func::grad(|x: &Tensor| func::vmap(|x: &Tensor| x.softmax(0)?.narrow(0, 0, 1), 0, 0)(x)?.sum(())), &{
        let p = 1.0 / (1.0 + 1f32.exp());
        let d = p * (1.0 - p);
        [d, -d, d, -d, d, -d]
    })?;
    // Within one another.
    both(&x, func::vmap(func::vmap(|x: &Tensor| x.exp(), 0, 0), 0, 0), &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0].map(f32::exp))?;
    both(&x, func::vmap(|x: &Tensor| Ok(func::jvp(|x: &Tensor| x.square(), x, x)?.1), 0, 0), &[2.0, 8.0, 18.0, 32.0, 50.0, 72.0])?;
    // Errors.
    let wrong = func::vmap(|(a, b): &(Tensor, Tensor)| a.add(b), 0, 0)(&(x.clone(), w.clone())).unwrap_err().to_string();
    assert!(wrong.contains("3 samples") && wrong.contains("2 of another"), "{wrong}");
    assert!(func::vmap(|x: &Tensor| x.exp(), 2, 0)(&x).unwrap_err().to_string().contains("no dimension 2"));
    assert!(func::vmap(|(a, b): &(Tensor, Tensor)| a.add(b), [None, None], 0)(&(x.clone(), w)).is_err());
    let key = Tensor::from_slice(device, &[1u32, 2], [2])?;
    let noisy = |x: &Tensor| x.dropout(&key, 0.5);
    assert!(func::vmap(noisy, 0, 0)(&x).unwrap_err().to_string().contains("randomness"));
    let same = func::vmap_with(noisy, VmapOptions { randomness: Randomness::Same, ..Default::default() })(&x.ones_like()?)?;
    let same = same.to_vec::<f32>()?;
    assert!(same[..2] == same[2..4] && same[..2] == same[4..]);
    Ok(())
}

/// A model as the argument: gradients come in a tree like it.
fn trees(device: &Device) -> Result<()> {
    let args = (t(device, &[1.0, 2.0]), vec![t(device, &[3.0]), Tensor::from_slice(device, &[7i32], [1])?]);
    let f = |(a, list): &(Tensor, Vec<Tensor>)| a.sum(())?.mul(&list[0].sum(())?);
    let (value, (a, list)) = func::value_and_grad(f)(&args)?;
    close(&value, &[9.0]);
    close(&a, &[3.0, 3.0]);
    close(&list[0], &[3.0]);
    assert_eq!((list[1].dtype(), list[1].to_vec::<i32>()?), (DType::I32, vec![0]));
    let (value, gradient, aux) = func::value_and_grad_with_aux(|x: &Tensor| Ok((x.sum(())?, x.mul(2.0)?)))(&args.0)?;
    close(&value, &[3.0]);
    close(&gradient, &[1.0, 1.0]);
    close(&aux, &[2.0, 4.0]);
    Ok(())
}

fn custom_derivatives(device: &Device) -> Result<()> {
    // A sine whose derivative is said to be twice the cosine.
    let f = func::custom_vjp(|x: &Tensor| Ok((x.sin()?, x.cos()?)), |cos: &Tensor, dy: &Tensor| cos.mul(dy)?.mul(2.0));
    let x = t(device, &[0.5, 1.0]);
    let (s, c) = ([0.5f32.sin(), 1f32.sin()], [0.5f32.cos(), 1f32.cos()]);
    both(&x, |x| f(x), &s)?;
    both(&x, func::grad(|x: &Tensor| f(x)?.sum(())), &[2.0 * c[0], 2.0 * c[1]])?;
    // Forward mode follows from it, and so do second derivatives and batches.
    both(&x, |x| Ok(func::jvp(&f, x, &x.ones_like()?)?.1), &[2.0 * c[0], 2.0 * c[1]])?;
    let gradient = |x: &Tensor| func::grad(|x: &Tensor| f(x)?.sum(()))(x)?.sum(());
    both(&x, func::grad(gradient), &[-2.0 * s[0], -2.0 * s[1]])?;
    both(&x, func::grad(|x: &Tensor| func::vmap(&f, 0, 0)(x)?.sum(())), &[2.0 * c[0], 2.0 * c[1]])?;
    both(&x, func::vmap(func::grad(|x: &Tensor| f(x)?.sum(())), 0, 0), &[2.0 * c[0], 2.0 * c[1]])?;
    // By the tape.
    let leaf = x.requires_grad();
    close(f(&leaf)?.sum(())?.backward()?.get(&leaf)?, &[2.0 * c[0], 2.0 * c[1]]);
    let wrong = func::custom_vjp(|x: &Tensor| Ok((x.sin()?, ())), |_: &(), dy: &Tensor| dy.sum(()));
    assert!(wrong(&x).unwrap_err().to_string().contains("gradients of the input"));
    Ok(())
}

struct Doubled;
impl func::Function for Doubled {
    type Input = Tensor;
    type Output = Tensor;
    type Saved = ();
    fn forward(&self, x: &Tensor) -> Result<(Tensor, ())> {
        Ok((x.clone(), ()))
    }
    fn backward(&self, _: &(), dy: &Tensor) -> Result<Tensor> {
        dy.mul(2.0)
    }
    fn jvp(&self, _: &Tensor, tangent: &Tensor) -> Option<Result<Tensor>> {
        Some(tangent.mul(3.0))
    }
}

fn forward_mode_of_its_own(device: &Device) -> Result<()> {
    use func::Function;
    let x = t(device, &[0.5, 1.0]);
    both(&x, |x| Ok(func::jvp(|x: &Tensor| Doubled.apply(x), x, &x.ones_like()?)?.1), &[3.0, 3.0])?;
    both(&x, func::grad(|x: &Tensor| Doubled.apply(x)?.sum(())), &[2.0, 2.0])
}

fn checkpoints(device: &Device) -> Result<()> {
    let w = t(device, &[0.5, -0.5]).requires_grad();
    let x = t(device, &[1.0, 2.0]).requires_grad();
    let key = Tensor::from_slice(device, &[3u32, 4], [2])?;
    let block = |x: &Tensor, w: &Tensor| x.mul(w)?.tanh()?.dropout(&key, 0.5)?.exp()?.mul(x);
    let plain = |x: &Tensor, w: &Tensor| block(&block(x, w)?, w)?.sum(());
    let checkpointed = |x: &Tensor, w: &Tensor| {
        let h = func::checkpoint(|x: &Tensor| block(x, w), x)?;
        func::checkpoint(|x: &Tensor| block(x, w), &h)?.sum(())
    };
    let want = plain(&x, &w)?.backward()?;
    let (dx, dw) = (want.get(&x)?.to_vec::<f32>()?, want.get(&w)?.to_vec::<f32>()?);
    let got = checkpointed(&x, &w)?.backward()?;
    close(got.get(&x)?, &dx);
    close(got.get(&w)?, &dw);
    both(&x, func::grad(|x: &Tensor| checkpointed(x, &w)), &dx)?;
    let step = compile(|_: &mut (), (x, w): &(Tensor, Tensor)| {
        let g = checkpointed(x, w)?.backward()?;
        Ok((g.get(x)?.clone(), g.get(w)?.clone()))
    });
    let (gx, gw) = step.call(&mut (), &(x.clone(), w.clone()))?;
    close(&gx, &dx);
    close(&gw, &dw);
    // Transformed: forward, twice, in a batch.
    let v = x.ones_like()?;
    let along = func::jvp(|x: &Tensor| checkpointed(x, &w), &x, &v)?.1;
    close(&along, &[dx.iter().sum()]);
    let second =
        |f: &dyn Fn(&Tensor, &Tensor) -> Result<Tensor>| func::grad(|x: &Tensor| func::grad(|x: &Tensor| f(x, &w))(x)?.sum(()))(&x);
    close(&second(&checkpointed)?, &second(&plain)?.to_vec::<f32>()?);
    Ok(())
}

/// Six blocks of which a compiled step keeps the ends alone: less than half the arena of one that keeps what the backward pass reads.
fn checkpoints_save_memory(device: &Device) -> Result<()> {
    let weights: Vec<Tensor> = (0..6)
        .map(|i| Tensor::randn(device, [3, 32, 32], i)?.mul(0.2))
        .collect::<Result<Vec<_>>>()?
        .iter()
        .map(Tensor::requires_grad)
        .collect();
    let x = Tensor::randn(device, [512, 32], 9)?;
    let block = |x: &Tensor, w: &Tensor| {
        let mut h = x.clone();
        for i in 0..3 {
            h = h.matmul(&w.narrow(0, i, 1)?.squeeze(0)?)?.gelu("none")?;
        }
        h.add(x)
    };
    let arena = |checkpointed: bool| -> Result<(usize, Vec<f32>)> {
        let step = compile(|_: &mut (), (x, weights): &(Tensor, Vec<Tensor>)| {
            let mut h = x.clone();
            for w in weights {
                h = if checkpointed { func::checkpoint(|h: &Tensor| block(h, w), &h)? } else { block(&h, w)? };
            }
            let g = h.square()?.mean(())?.backward()?;
            g.get(&weights[0]).cloned()
        });
        let gradient = step.call(&mut (), &(x.clone(), weights.clone()))?.to_vec()?;
        let program = step.specializations()[0].program.clone();
        Ok((program.and_then(|p| p.layout(&[])).map_or(0, |(_, bindings)| bindings[0] as usize), gradient))
    };
    let ((plain, want), (less, got)) = (arena(false)?, arena(true)?);
    got.iter().zip(&want).for_each(|(g, w)| assert!((g - w).abs() <= 1e-6 + 1e-4 * w.abs(), "{g} {w}"));
    // The interpreter plans no memory.
    assert!(plain == 0 || less * 2 < plain, "{less} words checkpointed, {plain} without");
    Ok(())
}

fn host_reads_are_refused(device: &Device) -> Result<()> {
    let x = t(device, &[1.0, 2.0]);
    let reads = |x: &Tensor| x.mul(x.sum(())?.item()?)?.sum(());
    for error in [
        func::grad(reads)(&x).unwrap_err(),
        func::jvp(reads, &x, &x).unwrap_err(),
        func::checkpoint(reads, &x).unwrap_err(),
        compile(|_: &mut (), x: &Tensor| func::grad(reads)(x)).call(&mut (), &x).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains("func.rs:") && text.contains("item()") && text.contains("outside of grad"), "{text}");
    }
    // Nothing of it is left behind.
    close(&func::grad(cube)(&x)?, &[3.0, 12.0]);
    assert!(func::grad(|x: &Tensor| x.mul(2.0))(&x).unwrap_err().to_string().contains("scalar"));
    let ints = Tensor::from_slice(device, &[1i32], [1])?;
    assert!(func::grad(|x: &Tensor| x.sum(()))(&ints).unwrap_err().to_string().contains("float"));
    assert!(func::jvp(|x: &Tensor| x.exp(), &x, &t(device, &[1.0])).unwrap_err().to_string().contains("tangents"));
    Ok(())
}

/// A transformed function is compiled once, whatever numbers its tensors have.
fn functions_are_compiled_once(device: &Device) -> Result<()> {
    let gradient = |x: &Tensor, scale: f32| func::grad(|x: &Tensor| x.mul(&Tensor::scalar(device, scale))?.sum(()))(x);
    let x = t(device, &[1.0, 2.0]);
    close(&gradient(&x, 2.0)?, &[2.0, 2.0]);
    // Other tests share the adapter and its counts: they make nothing all the time.
    for _ in 0..100 {
        let before = device.stats();
        for k in 0..4 {
            close(&gradient(&x, k as f32)?, &[k as f32; 2]);
        }
        if device.stats().pipelines_created == before.pipelines_created {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("every call compiles");
}

/// A compiled function for sizes that change: batches and derivatives of symbolic sizes.
fn symbolic_sizes(device: &Device) -> Result<()> {
    let step = compile(|_: &mut (), x: &Tensor| func::vmap(func::grad(|x: &Tensor| x.square()?.sum(())), 0, 0)(x));
    for n in [2usize, 3, 4, 5] {
        let x = Tensor::from_slice(device, &vec![1.5f32; n * 2], [n, 2])?;
        close(&step.call(&mut (), &x)?, &vec![3.0; n * 2]);
    }
    assert_eq!(step.compilations(), 2);
    Ok(())
}

on_every_device!(
    reverse_mode,
    forward_mode,
    perturbations_are_not_confused,
    detach_and_no_grad_cut,
    tapes_lead_through,
    batches,
    trees,
    custom_derivatives,
    forward_mode_of_its_own,
    checkpoints,
    checkpoints_save_memory,
    host_reads_are_refused,
    functions_are_compiled_once,
    symbolic_sizes,
);
