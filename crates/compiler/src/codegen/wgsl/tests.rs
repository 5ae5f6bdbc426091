use super::*;
use aludel_ir::kernel::{self, BOOL, I32, KernelBuffer, SharedArray, add, int, lt, mul};
use std::process::Command;

/// Both front ends take the text: naga always, Tint where it is installed.
fn check(source: &str) {
    let numbered = || source.lines().enumerate().map(|(i, l)| format!("{:4} {l}\n", i + 1)).collect::<String>();
    let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}\n{}", e.emit_to_string(source), numbered()));
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::SHADER_FLOAT16);
    validator.validate(&module).unwrap_or_else(|e| panic!("{}\n{}", e.emit_to_string(source), numbered()));
    // Tests of one process run at once: each needs a file of its own.
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("aludel-codegen-{}-{n}.wgsl", std::process::id()));
    std::fs::write(&path, source).unwrap();
    match Command::new("tint").args(["--format", "wgsl", "-o", "/dev/null"]).arg(&path).output() {
        Ok(out) => assert!(out.status.success(), "{}\n{}", String::from_utf8_lossy(&out.stderr), numbered()),
        Err(_) => eprintln!("SKIPPED: tint is not installed, only naga has checked this shader"),
    }
    let _ = std::fs::remove_file(path);
}

fn buffer(dtype: DType, binding: u32, offset: Option<u32>) -> KernelBuffer {
    KernelBuffer { name: format!("b{binding}"), dtype, binding, offset }
}

fn load(buffer: u32, index: KExpr, ty: Ty) -> KExpr {
    KExpr::Load { buffer, index: Box::new(index), ty }
}

fn store(buffer: u32, index: KExpr, value: KExpr) -> Stmt {
    Stmt::Store { buffer, index, value }
}

fn kernel(buffers: Vec<KernelBuffer>, vars: Vec<Ty>, body: Vec<Stmt>) -> Kernel {
    let params = vec!["n".into(), "x".into(), "y".into(), "z".into(), "w".into()];
    Kernel { name: "test".into(), workgroup_size: [64, 1, 1], params, buffers, shared: vec![], maps: vec![], vars, body }
}

/// Every operation on every type that it takes, on one and four lanes, with registers and with constants.
#[test]
fn every_scalar_operation_is_valid() {
    for lanes in [1, 4] {
        for dtype in DType::ALL {
            let mut body = Vec::new();
            let operand = load(0, KExpr::LocalId(0), Ty { dtype, lanes });
            let condition = KExpr::Cast(DType::Bool, Box::new(operand.clone()));
            let one = KExpr::Lit(Literal::new(1.0, dtype));
            let mut covered = 0;
            for def in ScalarOp::all() {
                let select = def.op == ScalarOp::Select;
                let mut types = vec![dtype; def.arity];
                if select {
                    types[0] = DType::Bool;
                }
                let Ok(result) = def.op.result_dtype(&types) else { continue };
                covered += 1;
                assert!(spell(def.op, dtype).is_some(), "{} of {dtype} has no spelling", def.name);
                for constant in [None, Some(0), Some(1)] {
                    let mut args = vec![operand.clone(); def.arity];
                    if select {
                        args[0] = condition.clone();
                    }
                    match constant {
                        Some(k) if k < def.arity && !(select && k == 0) => args[k] = one.clone(),
                        Some(_) => continue,
                        None => {}
                    }
                    body.push(store(result as u32 + 1, KExpr::LocalId(0), KExpr::Scalar(def.op, args)));
                }
            }
            assert!(covered > 10, "{dtype}: {covered} operations");
            let mut buffers = vec![buffer(dtype, 0, Some(1))];
            for (i, d) in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::U32, DType::Bool].into_iter().enumerate() {
                buffers.push(buffer(d, i as u32 + 1, None));
            }
            check(&print(&kernel(buffers, vec![], body), &[]).unwrap());
        }
    }
}

#[test]
fn every_cast_is_valid() {
    for lanes in [1, 4] {
        let mut body = Vec::new();
        let buffers: Vec<KernelBuffer> = DType::ALL.into_iter().enumerate().map(|(i, d)| buffer(d, i as u32, None)).collect();
        for (i, from) in DType::ALL.into_iter().enumerate() {
            for (j, to) in DType::ALL.into_iter().enumerate() {
                let x = load(i as u32, KExpr::LocalId(0), Ty { dtype: from, lanes });
                body.push(store(j as u32, KExpr::LocalId(0), KExpr::Cast(to, Box::new(x.clone()))));
                let cast = KExpr::Bitcast(to, Box::new(x));
                if kernel(buffers.clone(), vec![], vec![]).type_of(&cast).is_ok() {
                    body.push(store(j as u32, KExpr::LocalId(0), cast));
                }
            }
        }
        check(&print(&kernel(buffers, vec![], body), &[]).unwrap());
    }
}

/// Constants at the edges, and operations on constants that would not be representable.
#[test]
fn constants_are_exact_and_never_folded_by_the_front_end() {
    let f = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        0.1f32 as f64,
        f32::MAX as f64,
        -f32::MAX as f64,
        1e-40,
        1.1754944e-38,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut body: Vec<Stmt> = f.iter().map(|v| store(0, int(0), kernel::f32c(*v))).collect();
    for v in [0.0, -1.0, i32::MIN as f64, i32::MAX as f64] {
        body.push(store(1, int(0), KExpr::Lit(Literal::new(v, DType::I32))));
    }
    let op = |op, args: Vec<KExpr>| KExpr::Scalar(op, args);
    body.push(store(0, int(0), op(ScalarOp::Exp, vec![kernel::f32c(1000.0)])));
    body.push(store(0, int(0), op(ScalarOp::Div, vec![kernel::f32c(1.0), kernel::f32c(0.0)])));
    body.push(store(1, int(0), op(ScalarOp::Div, vec![int(1), int(0)])));
    body.push(store(1, int(0), op(ScalarOp::Add, vec![int(i32::MAX as i64), int(1)])));
    body.push(store(1, int(0), op(ScalarOp::Fmod, vec![KExpr::LocalId(0), int(0)])));
    body.push(store(1, int(0), op(ScalarOp::Shl, vec![KExpr::LocalId(0), int(40)])));
    body.push(store(1, int(0), KExpr::Bitcast(DType::I32, Box::new(kernel::f32c(f64::INFINITY)))));
    let source = print(&kernel(vec![buffer(DType::F32, 0, None), buffer(DType::I32, 1, None)], vec![], body), &[]).unwrap();
    for text in [
        "= 0.1f;",
        "= -1.5f;",
        "0x7f7fffffu",
        "= 0.0f;",
        "0x80000000u",
        "inf_f32()",
        "neg_inf_f32()",
        "nan_f32()",
        "<< 8u",
        "= 2139095040;",
    ] {
        assert!(source.contains(text), "no {text} in\n{source}");
    }
    check(&source);
}

#[test]
fn statements_print_as_written() {
    let v = |i| KExpr::Var(Var(i));
    let f = Ty::scalar(DType::F32);
    let mut k = kernel(
        vec![buffer(DType::F32, 0, Some(1)), buffer(DType::F32, 2, None)],
        vec![I32, f, I32, BOOL],
        vec![
            Stmt::Let(Var(0), add(mul(KExpr::WorkgroupId(0), int(64)), KExpr::LocalId(0))),
            Stmt::Mut(Var(1), kernel::f32c(0.0)),
            Stmt::For {
                var: Var(2),
                start: v(0),
                end: KExpr::Param(0),
                step: int(64),
                body: vec![Stmt::Assign(Var(1), KExpr::Scalar(ScalarOp::Add, vec![v(1), load(0, v(2), f)]))],
            },
            Stmt::StoreShared { array: 0, index: KExpr::LocalId(0), value: v(1) },
            Stmt::StoreShared { array: 1, index: KExpr::LocalId(0), value: lt(v(0), int(3)) },
            Stmt::Barrier,
            Stmt::Let(Var(3), lt(KExpr::LocalId(0), int(1))),
            Stmt::If {
                cond: v(3),
                then: vec![store(1, v(0), KExpr::Shared { array: 0, index: Box::new(int(63)) })],
                otherwise: vec![Stmt::Assign(
                    Var(1),
                    KExpr::Cast(DType::F32, Box::new(KExpr::Shared { array: 1, index: Box::new(int(0)) })),
                )],
            },
        ],
    );
    k.shared = vec![
        SharedArray { name: "partial".into(), ty: f, len: 64, view: None },
        SharedArray { name: "mask".into(), ty: BOOL, len: 64, view: None },
    ];
    let source = print(&k, &[Some(Access::ReadWrite)]).unwrap();
    check(&source);
    let expected = "\
@group(0) @binding(0) var<uniform> p: array<vec4<i32>, 2>;
@group(0) @binding(1) var<storage, read_write> b0: array<f32>;
@group(0) @binding(3) var<storage, read_write> b2: array<f32>;
var<workgroup> s0: array<f32, 64>;
var<workgroup> s1: array<u32, 64>;

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>, @builtin(local_invocation_id) local_id: vec3<u32>) {
  let group = vec3<i32>(workgroup_id);
  let thread = vec3<i32>(local_id);
  let o1 = p[0].y;
  let v0 = group.x * 64 + thread.x;
  var v1 = 0.0f;
  for (var v2 = v0; v2 < p[0].x; v2 += 64) {
    v1 = v1 + b0[o1 + v2];
  }
  s0[thread.x] = v1;
  s1[thread.x] = u32(v0 < 3);
  workgroupBarrier();
  let v3 = thread.x < 1;
  if (v3) {
    b2[v0] = s0[63];
  } else {
    v1 = f32(s1[0] != 0u);
  }
}
";
    assert_eq!(source, expected);
}

/// A binding takes the widest form that all its accesses allow.
#[test]
fn bindings_take_the_widest_valid_form() {
    let (one, four) = (Ty::scalar(DType::F32), Ty::vec4(DType::F32));
    let i = KExpr::LocalId(0);
    let source = |body| {
        let buffers = vec![buffer(DType::F32, 0, Some(0)), buffer(DType::F32, 0, Some(1)), buffer(DType::I32, 0, Some(2))];
        let source = print(&kernel(buffers, vec![], body), &[]).unwrap();
        check(&source);
        source
    };
    let wide = source(vec![store(1, i.clone(), load(0, i.clone(), four))]);
    assert!(wide.contains("b0: array<vec4<f32>>;") && wide.contains("b0[(o1 >> 2u) + thread.x] = b0[(o0 >> 2u) + thread.x];"), "{wide}");
    let mixed = source(vec![store(1, i.clone(), KExpr::Scalar(ScalarOp::Add, vec![load(0, i.clone(), four), load(1, i.clone(), one)]))]);
    assert!(mixed.contains("array<vec4<f32>>;") && mixed.contains("load_b0(o1 + thread.x)"), "{mixed}");
    let narrow = source(vec![store(1, i.clone(), load(0, i.clone(), four)), store(0, i.clone(), load(0, i.clone(), one))]);
    assert!(narrow.contains("array<f32>;") && narrow.contains("store4_b0(o1 + thread.x * 4, load4_b0("), "{narrow}");
    let types = source(vec![store(2, i.clone(), load(2, i.clone(), Ty::scalar(DType::I32))), store(0, i.clone(), load(0, i.clone(), one))]);
    assert!(types.contains("array<u32>;") && types.contains("= bitcast<u32>(bitcast<i32>("), "{types}");
    let atomic = source(vec![
        Stmt::AtomicAdd { buffer: 0, index: i.clone(), value: load(1, i.clone(), one) },
        Stmt::AtomicAdd { buffer: 2, index: i.clone(), value: int(1) },
        store(1, i.clone(), load(0, i.clone(), four)),
    ]);
    assert!(atomic.contains("atomic<u32>") && atomic.contains("atomicAdd(&b0[o2 + thread.x], bitcast<u32>(1));"), "{atomic}");
}

#[test]
fn a_read_only_binding_is_not_written() {
    let k = kernel(vec![buffer(DType::F32, 0, None)], vec![], vec![store(0, int(0), kernel::f32c(1.0))]);
    let error = print(&k, &[Some(Access::Read)]).unwrap_err().to_string();
    assert!(error.contains("read-only"), "{error}");
}

/// Where the device has f16, a binding of it is declared as such: offsets count words, indices elements.
#[test]
fn f16_is_kept_in_two_bytes() {
    let target = Target { f16_storage: true, ..Target::webgpu_default() };
    let i = KExpr::LocalId(0);
    let print = |buffers: Vec<KernelBuffer>, body| print_sized(&kernel(buffers, vec![], body), &target, &[], &[Some(256), Some(256)]);
    let wide = |x| KExpr::Cast(DType::F32, Box::new(x));
    for (ty, load_text, store_text, size) in [
        (Ty::scalar(DType::F16), "f32(b0[(o0 << 1u) + thread.x])", "b1[o1 + thread.x]", "array<f16, 512>"),
        (Ty::vec4(DType::F16), "vec4<f32>(b0[(o0 >> 1u) + thread.x])", "b1[(o1 >> 2u) + thread.x]", "array<vec4<f16>, 128>"),
    ] {
        let buffers = || vec![buffer(DType::F16, 0, Some(0)), buffer(DType::F32, 1, Some(1))];
        let source = print(buffers(), vec![store(1, i.clone(), wide(load(0, i.clone(), ty)))]).unwrap();
        check(&source);
        assert!(source.starts_with("enable f16;") && source.contains(size), "{source}");
        assert!(source.contains(&format!("{store_text} = {load_text};")), "{source}");
        let back = KExpr::Cast(DType::F16, Box::new(load(1, i.clone(), Ty { dtype: DType::F32, ..ty })));
        let source = print(buffers(), vec![store(0, i.clone(), back)]).unwrap();
        check(&source);
        assert!(source.contains("round_f16_f32") && source.contains("f16>(") || source.contains("= f16("), "{source}");
    }
    let mixed = vec![buffer(DType::F16, 0, Some(0)), buffer(DType::F32, 0, Some(1))];
    let error = print(mixed, vec![store(1, i.clone(), wide(load(0, i, Ty::scalar(DType::F16))))]).unwrap_err().to_string();
    assert!(error.contains("beside it"), "{error}");
}

/// A GPU that a CPU plays ends loops after so many turns of a thread: long ones take several at a time, and what is too long is refused.
#[test]
fn software_takes_few_turns() {
    let target = Target { software: true, ..Target::webgpu_default() };
    let sum = |var: u32, end: i64, inside: Vec<Stmt>| Stmt::For { var: Var(var), start: int(0), end: int(end), step: int(1), body: inside };
    let print = |body: Vec<Stmt>| {
        let mut k = kernel(vec![buffer(DType::F32, 0, None)], vec![], vec![]);
        k.vars = vec![kernel::I32, kernel::I32, Ty::scalar(DType::F32)];
        k.body = vec![Stmt::Mut(Var(2), kernel::f32c(0.0))];
        k.body.extend(body);
        k.body.push(store(0, int(0), KExpr::Var(Var(2))));
        print_sized(&k, &target, &[], &[Some(4)])
    };
    let add = || vec![Stmt::Assign(Var(2), kernel::bin(ScalarOp::Add, KExpr::Var(Var(2)), load(0, int(0), Ty::scalar(DType::F32))))];
    let times = |source: &str| source.matches("v2 = v2 + ").count();
    for (body, copies) in [
        (vec![sum(0, 60_000, add())], 1),
        (vec![sum(0, 70_000, add())], 2),
        (vec![sum(0, 60_000, add()), sum(1, 60_000, add())], 4),
        // The inner loop is written out whole, and the outer one by halves where that is not enough.
        (vec![sum(0, 60_000, vec![sum(1, 3, add())])], 3),
        (vec![sum(0, 70_000, vec![sum(1, 3, add())])], 6),
    ] {
        let source = print(body).unwrap();
        check(&source);
        assert_eq!(times(&source), copies, "{source}");
    }
    let error = print(vec![sum(0, 1 << 30, vec![sum(1, 1 << 30, add())])]).unwrap_err().to_string();
    assert!(error.contains("turns"), "{error}");
}
