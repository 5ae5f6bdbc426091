//! What a person may get wrong: indices out of range, windows that fit nowhere, element types that mean nothing. The answer is an error
//! that names the operator, or a defined value; on every target, eager and compiled, and never memory that was not meant.

mod common;

use aludel_models::{Gpt2, Gpt2Config};
use aludel_nn::{Init, Module};
use aludel_tensor::{ConvOptions, Device, Result, Tensor, compile};
use common::devices;

type Inputs = Vec<Tensor>;
type Function = fn(&Inputs) -> Result<Tensor>;

/// The values of a function of tensors, run eagerly and compiled.
fn both(f: Function, inputs: &Inputs) -> [Result<Vec<f32>>; 2] {
    let step = compile(move |_: &mut (), x: &Inputs| f(x)).fullgraph(true);
    [f(inputs).and_then(|t| t.to_vec()), step.call(&mut (), inputs).and_then(|t| t.to_vec())]
}

fn ints(device: &Device, values: &[i32]) -> Tensor {
    Tensor::from_slice(device, values, [values.len()]).unwrap()
}

/// Beyond both ends, just and far.
const WRONG: [i32; 6] = [-1, 5, i32::MIN, i32::MAX, 1 << 20, -(1 << 20)];
const ROWS: usize = 5;

/// `[5, 3]` whose values tell where they stand.
fn table(device: &Device) -> Tensor {
    Tensor::from_vec(device, (0..15).map(|i| i as f32 + 1.0).collect(), [ROWS, 3]).unwrap()
}

#[test]
fn reads_out_of_range_are_clamped_on_devices() {
    let reads: [(&str, Function); 3] = [
        ("embedding", |x| x[0].embedding(&x[1])),
        ("index_select", |x| x[0].index_select(0, &x[1])),
        ("gather", |x| x[0].gather(0, &x[1].unsqueeze(1)?.expand([-1, 3])?)),
    ];
    for device in &devices() {
        for (name, read) in reads {
            for wrong in WRONG {
                let given = vec![table(device), ints(device, &[0, wrong, 4])];
                let meant = vec![table(device), ints(device, &[0, wrong.clamp(0, ROWS as i32 - 1), 4])];
                for (ours, right) in both(read, &given).into_iter().zip(both(read, &meant)) {
                    match ours {
                        Ok(v) => assert_eq!(v, right.unwrap(), "{name} at {wrong} on {device}"),
                        Err(e) => {
                            assert!(device.target().is_none(), "{name} at {wrong} on {device}: {e}");
                            let text = e.to_string();
                            assert!(text.contains(&wrong.to_string()) && text.contains("size 5"), "{text}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn writes_out_of_range_are_left_out_on_devices() {
    let writes: [(&str, Function); 2] = [
        ("scatter_add", |x| x[0].scatter_add(0, &x[1].unsqueeze(1)?.expand([-1, 3])?, &x[2])),
        // The gradient of a table is a sum of rows at the indices.
        ("embedding backward", |x| {
            let w = x[0].requires_grad();
            let loss = w.embedding(&x[1])?.mul(&x[2])?.sum(())?;
            loss.backward()?.get(&w).cloned()
        }),
    ];
    for device in &devices() {
        if device.target().is_none() {
            continue;
        }
        let added = |n: usize| Tensor::from_vec(device, (0..3 * n).map(|i| 0.5 + i as f32).collect(), [n, 3]).unwrap();
        for (name, write) in writes {
            for wrong in WRONG {
                // The wrong index last, so that the rest is the same without it.
                let given = vec![table(device), ints(device, &[0, 4, wrong]), added(3)];
                let without = vec![table(device), ints(device, &[0, 4]), added(2)];
                for (ours, right) in both(write, &given).into_iter().zip(both(write, &without)) {
                    assert_eq!(ours.unwrap(), right.unwrap(), "{name} at {wrong} on {device}");
                }
            }
        }
    }
}

#[test]
fn classes_out_of_range_stay_finite_on_devices() {
    for device in &devices() {
        for wrong in WRONG {
            let logits = Tensor::from_vec(device, (0..15).map(|i| (i % 4) as f32).collect(), [3, 5]).unwrap();
            let given = vec![logits, ints(device, &[1, wrong, 2])];
            for outcome in both(|x| x[0].cross_entropy(&x[1]), &given) {
                match outcome {
                    Ok(v) => assert!(v[0].is_finite() && v[0] >= 0.0, "{v:?} of class {wrong} on {device}"),
                    Err(e) => assert!(device.target().is_none() && e.to_string().contains(&wrong.to_string()), "{device}: {e}"),
                }
            }
        }
    }
}

/// Errors name the operator; gives what does not.
fn accepted(device: &Device, cases: &[(&str, Function, &str)], inputs: &Inputs) -> Vec<String> {
    let mut problems = Vec::new();
    for (what, f, name) in cases {
        for (outcome, how) in both(*f, inputs).into_iter().zip(["eager", "compiled"]) {
            match outcome {
                Ok(v) => problems.push(format!("{what}, {how} on {device}: gave {v:?}")),
                Err(e) if !e.to_string().contains(name) => problems.push(format!("{what}, {how} on {device}: {name} not in {e}")),
                Err(_) => {}
            }
        }
    }
    problems
}

#[test]
fn windows_that_fit_nowhere_are_refused() {
    let cases: [(&str, Function, &str); 12] = [
        ("a kernel beyond the image", |x| x[0].conv2d(&x[2], None, &ConvOptions::default()), "conv2d"),
        ("a dilated kernel beyond the image", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().dilation(9)), "conv2d"),
        ("a stride of zero", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().stride(0)), "conv2d"),
        ("a negative stride", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().stride(-1)), "conv2d"),
        ("a negative padding", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().padding(-3)), "conv2d"),
        ("no dilation", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().dilation(0)), "conv2d"),
        ("no groups", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().groups(0)), "conv2d"),
        ("groups that do not divide", |x| x[0].conv2d(&x[1], None, &ConvOptions::default().groups(5)), "conv2d"),
        ("a pool beyond the image", |x| x[0].max_pool2d(9, (), 0), "max_pool2d"),
        ("a pool of nothing", |x| x[0].avg_pool2d(0, 1, 0), "avg_pool2d"),
        ("a pool's padding beyond half its window", |x| x[0].max_pool2d(2, 2, 2), "max_pool2d"),
        (
            "a transposed convolution of a stride of zero",
            |x| x[0].conv_transpose2d(&x[1], None, &ConvOptions::default().stride(0)),
            "conv_transpose2d",
        ),
    ];
    for device in &devices() {
        let tensor = |shape: [usize; 4]| Tensor::ones(device, shape).unwrap();
        // An image of 6 by 6 in 4 channels, a kernel that fits and one that does not.
        let inputs = vec![tensor([2, 4, 6, 6]), tensor([4, 4, 3, 3]), tensor([4, 4, 8, 8])];
        assert_eq!(accepted(device, &cases, &inputs), Vec::<String>::new());
        // Padding makes room for the kernel that did not fit.
        let fits = inputs[0].conv2d(&inputs[2], None, &ConvOptions::default().padding(1)).unwrap();
        assert_eq!(fits.shape(), [2, 4, 1, 1]);
    }
}

#[test]
fn element_types_that_mean_nothing_are_refused() {
    let cases: [(&str, Function, &str); 5] = [
        ("rows by numbers with fractions", |x| x[0].embedding(&x[0]), "embedding"),
        ("bits of numbers with fractions", |x| x[0].bitwise_and(&x[0]), "bitwise_and"),
        ("classes with fractions", |x| x[0].cross_entropy(&x[0].narrow(1, 0, 1)?.squeeze(1)?), "cross_entropy"),
        ("a gather by numbers with fractions", |x| x[0].gather(0, &x[0]), "gather"),
        ("the cross-entropy of whole numbers", |x| x[1].unsqueeze(1)?.expand([-1, 3])?.cross_entropy(&x[1]), "cross_entropy"),
    ];
    for device in &devices() {
        let inputs = vec![table(device), ints(device, &[0, 1, 2])];
        assert_eq!(accepted(device, &cases, &inputs), Vec::<String>::new());
    }
}

#[test]
fn more_positions_than_a_model_has_are_refused() {
    let device = Device::interpreter();
    let config = Gpt2Config { vocab_size: 8, n_positions: 4, n_embd: 8, n_layer: 1, n_head: 2, dropout: 0.0 };
    let gpt = Gpt2::new(&mut Init::new(&device, 0), &config).unwrap();
    let tokens = |shape: [usize; 2]| Tensor::from_vec(&device, vec![1i32; shape[0] * shape[1]], shape).unwrap();
    assert!(gpt.forward(&tokens([1, 4])).is_ok());
    let error = gpt.forward(&tokens([1, 5])).unwrap_err().to_string();
    assert!(error.contains("narrow") && error.contains('5'), "{error}");
    assert!(gpt.forward(&table(&device)).unwrap_err().to_string().contains("tokens are integers"));
}
