//! Machines that do not carry all packages, as a page's: their imports wait for files.

use aludel_python::Vm;
use aludel_python::host::Memory;
use aludel_python::modules::apart::{Fetching, Wanted};
use aludel_python::objects::Value;
use aludel_tensor::Device;
use aludel_torch::Finished;
use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

thread_local! {
    static FETCHED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// A file that comes a while after it was asked for.
fn later(wanted: Wanted) -> Fetching {
    FETCHED.with_borrow_mut(|fetched| fetched.push(wanted.package));
    Box::pin(async move {
        let mut asked = 0;
        poll_fn(|context| {
            asked += 1;
            context.waker().wake_by_ref();
            if asked < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        let files = aludel_torch::library::files();
        files.into_iter().find(|(package, _)| *package == wanted.package).map(|(_, file)| file).ok_or_else(|| "no such file".to_string())
    })
}

/// What a script's `found` is, or its traceback.
fn run(script: &str, fetch: fn(Wanted) -> Fetching) -> Result<String, String> {
    FETCHED.with_borrow_mut(Vec::clear);
    let mut vm = Vm::new(Box::new(Memory::default()));
    aludel_torch::install(&mut vm, Device::interpreter());
    aludel_torch::library::take_out(&mut vm);
    vm.fetch = fetch;
    if let Err(error) = vm.load_main("script.py", script) {
        return Err(vm.format_exception(&error));
    }
    match pollster::block_on(aludel_torch::run(&mut vm, &mut |_| {})) {
        Finished::Done => {}
        Finished::Error(error) => return Err(vm.format_exception(&error)),
    }
    let Some(Value::Module(main)) = vm.modules.get("__main__") else { return Err("there is no __main__".into()) };
    Ok(main.attrs.get("found").and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default())
}

#[test]
fn every_module_of_every_package_can_be_imported() {
    let files = aludel_torch::library::files();
    let modules = files.iter().flat_map(|(_, file)| file.split('\u{c}').skip(1).filter_map(|part| part.lines().next()));
    let script: String = modules.map(|module| format!("import {module}\n")).collect();
    assert!(script.contains("import torch.distributions.kl\n") && script.contains("import argparse\n"), "{script}");
    run(&script, later).unwrap();
    let mut fetched = FETCHED.with_borrow(Vec::clone);
    fetched.sort_unstable();
    let mut all: Vec<_> = files.iter().map(|(package, _)| *package).collect();
    all.sort_unstable();
    assert_eq!(fetched, all, "each is fetched once");
}

#[test]
fn torch_and_what_scripts_usually_import_need_no_file() {
    let usual = "import collections, contextlib, copy, dataclasses, enum, functools, io, itertools, json, math, os, pathlib, random, re\n\
                 import string, sys, time, types, typing, warnings, torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n\
                 from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split\n\
                 model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\noptimizer = optim.AdamW(model.parameters())\n\
                 for x, y in DataLoader(TensorDataset(torch.randn(8, 2), torch.randn(8, 1)), batch_size=4, shuffle=True):\n    \
                 optimizer.zero_grad()\n    F.mse_loss(model(x), y).backward()\n    optimizer.step()\nfound = 'all'\n";
    assert_eq!(run(usual, later).unwrap(), "all");
    assert_eq!(FETCHED.with_borrow(Vec::clone), Vec::<&str>::new());
}

#[test]
fn imports_wait_wherever_they_stand() {
    let script = "import torch\n\
                  def of(x):\n    import argparse as a\n    return a.ArgumentParser(description=x).description\n\
                  class Late:\n    from textwrap import dedent\n\
                  texts = [of(x) for x in ('a', 'b')]\n\
                  normal = torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0))\n\
                  found = f'{texts} {Late.dedent(\"  c\")} {normal.mean.item()} {torch.tensor([1, 2]).numpy().sum()}'\n";
    assert_eq!(run(script, later).unwrap(), "['a', 'b'] c 0.0 3");
}

#[test]
fn what_does_not_come_is_an_import_error_with_the_reason() {
    fn never(_: Wanted) -> Fetching {
        Box::pin(std::future::ready(Err("the site answers 404".into())))
    }
    let error = run("import torch\nimport argparse\n", never).unwrap_err();
    assert!(
        error.contains("line 2") && error.ends_with("ImportError: the package 'argparse' is not here: the site answers 404\n"),
        "{error}"
    );
    let script = "found = ''\nfor name in ('argparse', 'torch.distributions'):\n    try:\n        __import__(name)\n    \
                  except ImportError as e:\n        found += str(e) + '; '\n";
    let both =
        "the package 'argparse' is not here: the site answers 404; the package 'torch.distributions' is not here: the site answers 404; ";
    assert_eq!(run(script, never).unwrap(), both);
    // As an attribute too: it is there, and did not come.
    let error = run("import torch\ntorch.distributions\n", never).unwrap_err();
    assert!(error.contains("the site answers 404"), "{error}");
}

#[test]
fn files_of_another_build_are_refused() {
    fn older(_: Wanted) -> Fetching {
        Box::pin(std::future::ready(Ok("0123\n\u{c}argparse\nfound = 1\n".into())))
    }
    let error = run("import argparse\n", older).unwrap_err();
    assert!(error.contains("another version"), "{error}");
    /// Of the right version, without the module.
    fn empty(wanted: Wanted) -> Fetching {
        Box::pin(std::future::ready(Ok(format!("{}\n", wanted.version))))
    }
    let error = run("import argparse\n", empty).unwrap_err();
    assert!(error.contains("ImportError: the file of 'argparse' lacks it"), "{error}");
}
