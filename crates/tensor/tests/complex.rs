//! Complex tensors: what the type adds to the operators, which the oracle checks.

mod common;

use aludel_tensor::{Complex32, Complex64, ComplexDType, ComplexTensor, ConvOptions, Device, Norm, Result, Tensor, compile, func};
use common::on_every_device;

fn z(device: &Device, values: &[(f32, f32)]) -> ComplexTensor {
    let values: Vec<Complex32> = values.iter().map(|(re, im)| Complex32::new(*re, *im)).collect();
    ComplexTensor::from_slice(device, &values, [values.len()]).unwrap()
}

#[track_caller]
fn close(got: &ComplexTensor, want: &[(f32, f32)]) {
    let got = got.to_vec().unwrap();
    assert_eq!(got.len(), want.len(), "{got:?}");
    for (g, (re, im)) in got.iter().zip(want) {
        assert!((g - Complex32::new(*re, *im)).l1_norm() <= 2e-5 * (1.0 + g.l1_norm()), "{got:?}, expected {want:?}");
    }
}

fn operands_of_every_kind(device: &Device) -> Result<()> {
    let a = z(device, &[(1.0, 2.0), (-3.0, 0.5)]);
    let r = Tensor::from_slice(device, &[2.0f32, 4.0], [2])?;
    let i = Complex64::i();
    close(&(&a + &a)?, &[(2.0, 4.0), (-6.0, 1.0)]);
    close(&(&a + &r)?, &[(3.0, 2.0), (1.0, 0.5)]);
    close(&(&a - i)?, &[(1.0, 1.0), (-3.0, -0.5)]);
    close(&(&a * &r)?, &[(2.0, 4.0), (-12.0, 2.0)]);
    close(&(&a * i)?, &[(-2.0, 1.0), (-0.5, -3.0)]);
    close(&(&a * 2.0)?, &[(2.0, 4.0), (-6.0, 1.0)]);
    close(&(&a / &r)?, &[(0.5, 1.0), (-0.75, 0.125)]);
    close(&(&a / &a.clone())?, &[(1.0, 0.0), (1.0, 0.0)]);
    close(&a.pow(2.0)?, &[(-3.0, 4.0), (8.75, -3.0)]);
    assert_eq!(a.eq(&a)?.to_vec::<bool>()?, [true, true]);
    assert_eq!(a.eq(Complex32::new(1.0, 2.0))?.to_vec::<bool>()?, [true, false]);
    close(&r.complex(&r)?, &[(2.0, 2.0), (4.0, 4.0)]);
    close(&ComplexTensor::polar(&r, &r.zeros_like()?)?, &[(2.0, 0.0), (4.0, 0.0)]);
    assert_eq!(a.sum(())?.item()?, Complex64::new(-2.0, 2.5));
    assert_eq!(a.mean(0)?.item()?, Complex64::new(-1.0, 1.25));
    Ok(())
}

fn shapes_are_those_of_the_numbers(device: &Device) -> Result<()> {
    let a = z(device, &[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0), (5.0, 5.0), (6.0, 6.0)]).reshape([2, -1])?;
    assert_eq!((a.shape(), a.rank(), a.numel(), a.dtype()), (vec![2, 3], 2, 6, ComplexDType::Complex64));
    assert_eq!(a.view_as_real().shape(), [2, 3, 2]);
    close(&a.transpose(-1, 0)?.narrow(0, 1, 1)?, &[(2.0, 2.0), (5.0, 5.0)]);
    close(&a.permute([1, 0])?.narrow(-1, 0, 1)?.squeeze(-1)?, &[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
    close(&a.sum(-1)?, &[(6.0, 6.0), (15.0, 15.0)]);
    close(&a.flip(1)?.narrow(1, 0, 1)?.reshape([2])?, &[(3.0, 3.0), (6.0, 6.0)]);
    assert_eq!(ComplexTensor::stack(&[&a, &a], -1)?.shape(), [2, 3, 2]);
    assert_eq!(ComplexTensor::cat(&[&a, &a], -1)?.shape(), [2, 6]);
    assert_eq!(a.unsqueeze(-1)?.shape(), [2, 3, 1]);
    for wrong in [a.sum(2).err(), a.transpose(0, 2).err(), a.unsqueeze(3).err(), a.fft(None, 2, Norm::Backward).err()] {
        assert!(wrong.unwrap().to_string().contains("dimension"));
    }
    assert!(Tensor::ones(device, [3])?.view_as_complex().unwrap_err().to_string().contains("pairs"));
    assert!(a.matmul(&a).is_err());
    Ok(())
}

fn half_precision_is_storage(device: &Device) -> Result<()> {
    let a = z(device, &[(1.0, 2.0), (0.1, 3.0)]).to(ComplexDType::Complex32)?;
    assert_eq!(a.dtype(), ComplexDType::Complex32);
    let back = a.to(ComplexDType::Complex64)?.to_vec()?;
    assert!(back[0] == Complex32::new(1.0, 2.0) && back[1].re != 0.1 && (back[1].re - 0.1).abs() < 1e-4);
    Ok(())
}

fn products_and_convolutions(device: &Device) -> Result<()> {
    let a = z(device, &[(1.0, 1.0), (0.0, 2.0), (3.0, 0.0), (1.0, -1.0)]).reshape([2, 2])?;
    close(&a.matmul(&a)?, &[(0.0, 8.0), (0.0, 4.0), (6.0, 0.0), (0.0, 4.0)]);
    let identity = Tensor::from_slice(device, &[1.0f32, 0.0, 0.0, 1.0], [2, 2])?;
    close(&a.matmul(&identity)?, &[(1.0, 1.0), (0.0, 2.0), (3.0, 0.0), (1.0, -1.0)]);
    close(&a.linear(&a, None)?, &a.matmul(&a.transpose(0, 1)?)?.to_vec()?.iter().map(|z| (z.re, z.im)).collect::<Vec<_>>());
    close(&ComplexTensor::einsum("ij->i", &[&a])?, &[(1.0, 3.0), (4.0, -1.0)]);
    let signal = z(device, &[(1.0, 0.0), (0.0, 1.0), (2.0, 0.0)]).reshape([1, 1, 3])?;
    let kernel = z(device, &[(0.0, 1.0), (1.0, 0.0)]).reshape([1, 1, 2])?;
    close(&signal.conv1d(&kernel, None, &ConvOptions::default())?, &[(0.0, 2.0), (1.0, 0.0)]);
    Ok(())
}

fn transforms_and_gradients_compile(device: &Device) -> Result<()> {
    let x = Tensor::from_slice(device, &[1.0f32, 2.0, 0.0, -1.0, 0.5], [5])?;
    // Parseval: the gradient of the energy of a spectrum is 2 n x.
    let energy = |x: &Tensor| {
        let n = x.rfft(None, -1, Norm::Backward)?;
        let twice = Tensor::from_slice(device, &[1.0f32, 2.0, 2.0], [3])?;
        n.abs()?.square()?.mul(&twice)?.sum(())
    };
    let want = [10.0, 20.0, 0.0, -10.0, 5.0];
    let check = |g: Tensor| g.to_vec::<f32>().unwrap().iter().zip(want).for_each(|(g, w)| assert!((g - w).abs() < 1e-4, "{g} {w}"));
    let leaf = x.requires_grad();
    check(energy(&leaf)?.backward()?.get(&leaf)?.clone());
    check(func::grad(energy)(&x)?);
    check(compile(|_: &mut (), x: &Tensor| func::grad(energy)(x)).call(&mut (), &x)?);
    let back = |x: &Tensor| x.rfft(None, 0, Norm::Ortho)?.irfft(Some(5), 0, Norm::Ortho);
    close(&Tensor::from_slice(device, &[1i32, 2], [2])?.fft(None, 0, Norm::Backward)?, &[(3.0, 0.0), (-1.0, 0.0)]);
    let got = back(&x)?.to_vec::<f32>()?;
    got.iter().zip(x.to_vec::<f32>()?).for_each(|(g, w)| assert!((g - w).abs() < 1e-5));
    // A complex argument of a compiled and of a transformed function.
    let a = z(device, &[(1.0, 2.0), (-3.0, 0.5)]);
    let f = |a: &ComplexTensor| a.mul(a)?.fft(None, 0, Norm::Backward)?.abs()?.square()?.sum(());
    let gradient = func::grad(f)(&a)?;
    close(
        &compile(|_: &mut (), a: &ComplexTensor| func::grad(f)(a)).call(&mut (), &a)?,
        &gradient.to_vec()?.iter().map(|z| (z.re, z.im)).collect::<Vec<_>>(),
    );
    let leaf = a.requires_grad();
    close(&leaf.gradient(&f(&leaf)?.backward()?)?, &gradient.to_vec()?.iter().map(|z| (z.re, z.im)).collect::<Vec<_>>());
    // Samples at once.
    let rows = Tensor::from_slice(device, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    let spectra = func::vmap(|x: &Tensor| x.rfft(None, 0, Norm::Backward), 0, 0)(&rows)?;
    close(&spectra, &[(3.0, 0.0), (-1.0, 0.0), (7.0, 0.0), (-1.0, 0.0)]);
    let shifted = rows.rfft(None, 1, Norm::Backward)?.fftshift(1)?;
    close(&shifted, &[(-1.0, 0.0), (3.0, 0.0), (-1.0, 0.0), (7.0, 0.0)]);
    close(&shifted.ifftshift(1)?, &[(3.0, 0.0), (-1.0, 0.0), (7.0, 0.0), (-1.0, 0.0)]);
    Ok(())
}

on_every_device!(
    operands_of_every_kind,
    shapes_are_those_of_the_numbers,
    half_precision_is_storage,
    products_and_convolutions,
    transforms_and_gradients_compile,
);
