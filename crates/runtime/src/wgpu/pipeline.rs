//! Pipelines and layouts, each made once: kernels of equal text share a pipeline across programs.

use super::shared::Shared;
use aludel_ir::kernel::Access;
use aludel_ir::program::{KernelSource, Program};
use aludel_ir::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The layout of a program's one bind group: the uniform parameters, then its storage bindings.
pub struct Layout {
    pub id: u64,
    pub group: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

#[derive(Default)]
pub struct Pipelines {
    layouts: HashMap<Vec<Access>, Arc<Layout>>,
    pipelines: HashMap<(u64, String), wgpu::ComputePipeline>,
}

impl Pipelines {
    pub fn layout(&mut self, shared: &Shared, program: &Program) -> Result<Arc<Layout>> {
        let access: Vec<Access> = program.bindings.iter().map(|b| b.access).collect();
        let limit = shared.limits.max_storage_buffers_per_shader_stage;
        if access.len() > limit as usize {
            return Err(Error::Limit {
                what: format!("the number of storage bindings of {}", program.name),
                value: access.len().to_string(),
                limit: limit.to_string(),
                remedy: "compile in the step style, which needs three".into(),
            });
        }
        if let Some(layout) = self.layouts.get(&access) {
            return Ok(layout.clone());
        }
        let entry = |binding: usize, ty, dynamic| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true)];
        for (i, a) in access.iter().enumerate() {
            entries.push(entry(i + 1, wgpu::BufferBindingType::Storage { read_only: *a == Access::Read }, false));
        }
        let device = &shared.device;
        let group = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        shared.faults.check()?;
        let layout = Arc::new(Layout { id: self.layouts.len() as u64, group, pipeline });
        self.layouts.insert(access, layout.clone());
        Ok(layout)
    }

    pub fn pipeline(&mut self, shared: &Shared, layout: &Layout, kernel: &KernelSource) -> Result<wgpu::ComputePipeline> {
        let key = (layout.id, kernel.source.clone());
        if let Some(pipeline) = self.pipelines.get(&key) {
            return Ok(pipeline.clone());
        }
        let source = wgpu::ShaderSource::Wgsl(kernel.source.as_str().into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(&kernel.name), source };
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        checks.bounds_checks = false;
        checks.force_loop_bounding = false;
        // SAFETY: the text is printed by our compiler from a verified kernel. Every index that it prints is in range by
        // construction: it is an axis under its extent, guarded by an `if`, or, where it comes from data, clamped (the
        // contract of `aludel_ir::kernel`). Every loop counts up to a bound in positive steps, so it ends. Division stays
        // checked. Operands and layouts are checked against the program before each run.
        let module = unsafe { shared.device.create_shader_module_trusted(descriptor, checks) };
        let pipeline = shared.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&kernel.name),
            layout: Some(&layout.pipeline),
            module: &module,
            entry_point: Some(&kernel.entry),
            // Kernels write workgroup memory before they read it.
            compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
            cache: None,
        });
        shared.counters.pipelines.fetch_add(1, Ordering::Relaxed);
        shared.faults.check().map_err(|e| match e {
            Error::Device { problem, remedy } => Error::device(format!("kernel {}: {problem}", kernel.name), remedy),
            e => e,
        })?;
        self.pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }
}
