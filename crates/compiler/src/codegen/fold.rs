//! Constants are folded before they are printed: WGSL takes a constant expression that overflows for an error.

use aludel_ir::kernel::KExpr;
use aludel_ir::{DType, Literal, ScalarOp};

/// The value of an expression of constants, with its lanes.
pub(super) fn fold(e: &KExpr) -> Option<(Literal, u8)> {
    match e {
        KExpr::Lit(l) => Some((*l, 1)),
        KExpr::Vec4(parts) if parts.len() == 1 => fold(&parts[0]).map(|(l, _)| (l, 4)),
        KExpr::Scalar(op, args) => {
            let args = args.iter().map(fold).collect::<Option<Vec<_>>>()?;
            let dtypes: Vec<DType> = args.iter().map(|(l, _)| l.dtype).collect();
            let result = op.result_dtype(&dtypes).ok()?;
            let values: Vec<f64> = args.iter().map(|(l, _)| l.value()).collect();
            let operand = dtypes[if *op == ScalarOp::Select { 1 } else { 0 }];
            Some((Literal::new(op.eval(&values, operand, result), result), args.iter().map(|a| a.1).max()?))
        }
        KExpr::Cast(dtype, x) => fold(x).map(|(l, lanes)| (Literal::new(l.value(), *dtype), lanes)),
        KExpr::Bitcast(dtype, x) => {
            let (l, lanes) = fold(x)?;
            let bits = match l.dtype {
                d if d == *dtype => return Some((l, lanes)),
                DType::F32 => (l.value() as f32).to_bits(),
                DType::I32 => l.value() as i32 as u32,
                DType::U32 => l.value() as u32,
                _ => return None,
            };
            let value = match dtype {
                DType::F32 => f32::from_bits(bits) as f64,
                DType::I32 => bits as i32 as f64,
                DType::U32 => bits as f64,
                _ => return None,
            };
            Some((Literal::new(value, *dtype), lanes))
        }
        KExpr::Lane(x, _) => fold(x).map(|(l, _)| (l, 1)),
        _ => None,
    }
}
