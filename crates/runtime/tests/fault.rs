//! A kernel that faults on an NVIDIA GPU. Alone in its process: the driver lets nothing of a process outlive such a fault.

#![cfg(feature = "cuda")]

mod common;

use aludel_ir::DType;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::{Access, Stmt, add};
use aludel_ir::program::Role;
use aludel_runtime::Executor;
use common::*;
use std::sync::Arc;

/// Adds nothing: writes where nobody allocated.
const FAULT: &str = "\
.version 8.1
.target sm_80
.address_size 64

.visible .entry kernel(
  .param .u64 b0,
  .param .u64 b1,
  .param .align 4 .b8 p[12]
)
{
  .reg .b64 at;
  mov.u64 at, 64;
  st.global.u32 [at], 1;
  ret;
}
";

#[test]
fn a_kernel_that_faults_loses_the_device() {
    for d in gpus(Default::default()) {
        let mut a = Assembly::new("double", &[(Role::Input(0), Access::Read), (Role::Result(0), Access::ReadWrite)]);
        let (x, y) = (a.tensor("x", vec![Expr::ONE], 0), a.tensor("y", vec![Expr::ONE], 1));
        a.program.inputs = vec![x];
        let body = vec![Stmt::Store { buffer: 1, index: var(0), value: add(at(0, var(0)), at(0, var(0))) }];
        a.launch(&elementwise("double", &[(DType::F32, 0), (DType::F32, 1)], body), Expr::ONE, Expr::ONE, &[x, y]);
        a.output("y", y, None);
        let written = a.finish();
        let whole = load(&d, &written);
        assert_eq!(read(&d, &whole.run(&[], &[host(&[2.0])]).unwrap()[0]), [4.0]);
        let mut broken = written.program(&d.target().unwrap());
        broken.kernels[0].source = FAULT.into();
        let exe = d.load(Arc::default(), Some(Arc::new(broken))).unwrap();
        let result = exe.run(&[], &[host(&[1.0])]).and_then(|out| pollster::block_on(d.download(&out[0])));
        let e = result.unwrap_err().to_string();
        assert!(e.contains("lost") && e.contains("illegal memory access") && e.contains("restart"), "{e}");
        assert!(d.lost().is_some());
        // Every later call says so, and none hangs or panics.
        assert!(whole.run(&[], &[host(&[2.0])]).is_err());
        assert!(d.upload(&[1]).is_err());
        assert!(pollster::block_on(d.throttle(0)).is_err());
    }
}
