//! Kernels of a step compiled beside the page.
//!
//! wgpu creates pipelines with `createComputePipeline`, which returns at once; the browser's GPU process then compiles one after another
//! and does nothing else meanwhile, and nobody hears how far it is. `createComputePipelineAsync`, which wgpu does not offer, compiles on
//! the browser's threads and says when it is done. Browsers know pipelines by what they were made of, as long as one lives: wgpu's own,
//! made from equal descriptors while ours live, are there at once. Where a browser did not, they would be compiled a second time.

use super::pipeline::{self, Layout};
use super::shared::Shared;
use crate::memory::lock;
use aludel_ir::Result;
use aludel_ir::kernel::Access;
use aludel_ir::program::Program;
use js_sys::{Array, Function, Object, Promise, Reflect};
use std::sync::Arc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// `GPUShaderStage.COMPUTE`.
const COMPUTE: f64 = 4.0;

/// Compiles the kernels of all steps that were loaded and have not run.
pub async fn compile(shared: Arc<Shared>) -> Result<()> {
    let programs = std::mem::take(&mut *lock(&shared.unloaded));
    for program in programs {
        let (missing, started) = start(&shared, &program)?;
        let mut alive = Vec::with_capacity(started.len());
        if !missing.is_empty() {
            shared.report(&program, 0, missing.len());
        }
        for (done, promise) in started.into_iter().enumerate() {
            // What fails here fails again below, where the device tells why.
            alive.extend(JsFuture::from(promise).await);
            shared.report(&program, done + 1, missing.len());
        }
        pipeline::load(&shared, &program, false)?;
        drop(alive);
    }
    shared.faults.check()
}

/// Begins to compile the kernels of a program that are not known.
fn start(shared: &Shared, program: &Program) -> Result<(Vec<usize>, Vec<Promise>)> {
    let known = &mut *lock(&shared.pipelines);
    let layouts = known.layouts(shared, program)?;
    let missing = known.missing(&layouts, program);
    let Some(device) = shared.device.as_webgpu() else { return Ok((missing, Vec::new())) };
    let device: &JsValue = device.as_ref();
    let mut started = Vec::with_capacity(missing.len());
    let described: Vec<Option<JsValue>> = layouts.layouts.iter().map(|l| pipeline_layout(device, program, l)).collect();
    for k in &missing {
        let kernel = &program.kernels[*k];
        let begin = || {
            let module = call(device, "createShaderModule", &object(&[("code", kernel.source.as_str().into())]))?;
            let stage = object(&[("module", module), ("entryPoint", kernel.entry.as_str().into())]);
            let descriptor = object(&[("layout", described[layouts.of[*k]].clone()?), ("compute", stage)]);
            call(device, "createComputePipelineAsync", &descriptor)?.dyn_into::<Promise>().ok()
        };
        started.extend(begin());
    }
    Ok((missing, started))
}

/// As wgpu makes it of the same layout.
fn pipeline_layout(device: &JsValue, program: &Program, layout: &Layout) -> Option<JsValue> {
    let entry = |binding: usize, buffer: JsValue| {
        object(&[("binding", (binding as f64).into()), ("visibility", COMPUTE.into()), ("buffer", buffer)])
    };
    let entries = Array::of1(&entry(0, object(&[("type", "uniform".into()), ("hasDynamicOffset", true.into())])));
    for k in &layout.bindings {
        let ty = if program.bindings[*k].access == Access::Read { "read-only-storage" } else { "storage" };
        entries.push(&entry(k + 1, object(&[("type", ty.into())])));
    }
    let group = call(device, "createBindGroupLayout", &object(&[("entries", entries.into())]))?;
    call(device, "createPipelineLayout", &object(&[("bindGroupLayouts", Array::of1(&group).into())]))
}

fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (key, value) in fields {
        // A plain object takes every field.
        let _ = Reflect::set(&object, &(*key).into(), value);
    }
    object.into()
}

/// A method's result; `None` where there is no such method, or it throws.
fn call(target: &JsValue, method: &str, argument: &JsValue) -> Option<JsValue> {
    Reflect::get(target, &method.into()).ok()?.dyn_into::<Function>().ok()?.call1(target, argument).ok()
}
