//! Devices by the names that people type.

use aludel::{Device, Result};
use aludel_compiler::MatmulPrecision;
use std::fmt;
use std::str::FromStr;

/// A device that a person asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Kernels in C, built by the system's compiler.
    Cpu,
    /// An NVIDIA GPU by its number.
    Cuda(usize),
    /// A GPU through Vulkan, Metal or Direct3D.
    Wgpu,
    /// The reference interpreter.
    Interp,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        match text {
            "cpu" => Ok(Kind::Cpu),
            "cuda" => Ok(Kind::Cuda(0)),
            "wgpu" => Ok(Kind::Wgpu),
            "interp" | "interpreter" => Ok(Kind::Interp),
            _ => match text.strip_prefix("cuda:").map(str::parse) {
                Some(Ok(n)) => Ok(Kind::Cuda(n)),
                _ => Err("use cpu, cuda, cuda:1, wgpu or interp".into()),
            },
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Cpu => f.write_str("cpu"),
            Kind::Cuda(0) => f.write_str("cuda"),
            Kind::Cuda(n) => write!(f, "cuda:{n}"),
            Kind::Wgpu => f.write_str("wgpu"),
            Kind::Interp => f.write_str("interp"),
        }
    }
}

/// What to open, and how.
#[derive(Clone, Debug)]
pub struct Choice {
    pub kind: Kind,
    /// A part of the adapter's name, for wgpu.
    pub adapter: Option<String>,
    /// What matrix products may give up for speed, where the device can.
    pub precision: MatmulPrecision,
    /// Whether other ranks' GPUs are to be connected with this one.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "no GPUs are opened"))]
    pub among: bool,
}

impl Choice {
    pub fn new(kind: Kind) -> Choice {
        Choice { kind, adapter: None, precision: MatmulPrecision::default(), among: false }
    }

    /// The precision by PyTorch's name.
    pub fn precision_name(&self) -> &'static str {
        match self.precision {
            MatmulPrecision::Highest => "highest",
            MatmulPrecision::High => "high",
            MatmulPrecision::Medium => "medium",
        }
    }

    /// Opens the device. Errors say what is missing and what to do about it.
    pub fn open(&self) -> Result<Device> {
        match self.kind {
            Kind::Interp => Ok(Device::interpreter()),
            #[cfg(feature = "wgpu")]
            Kind::Wgpu => {
                use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
                let options = WgpuOptions { adapter: self.adapter.clone(), ..WgpuOptions::default() };
                Ok(Device::new(std::sync::Arc::new(pollster::block_on(WgpuExecutor::request(&options))?)))
            }
            #[cfg(feature = "cpu")]
            Kind::Cpu => Device::cpu(),
            #[cfg(feature = "cuda")]
            Kind::Cuda(device) => {
                use aludel_runtime::cuda::CudaOptions;
                let options = CudaOptions { device, matmul_precision: self.precision, cache: None, primary_context: self.among };
                Device::cuda(&options)
            }
            #[cfg(not(all(feature = "wgpu", feature = "cpu", feature = "cuda")))]
            other => Err(aludel::Error::unsupported(
                format!("the device {other} in this build"),
                "build with its feature, or use --device interp",
            )),
        }
    }
}
