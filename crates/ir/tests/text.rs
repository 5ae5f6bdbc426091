//! The text formats: what is printed is read back, and nothing that is read makes the parser panic or hang.

use aludel_ir::graph::{Graph, InputKind, Op, Origin, Phase};
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Ty, Var, int};
use aludel_ir::loops::LoopProgram;
use aludel_ir::text::{parse_graph, parse_kernel, parse_loops};
use aludel_ir::{Attr, Attrs, Builder, DType, Error, Expr, Literal, ScalarOp, TensorType};

/// Every kind of node once, as the printer lays them out.
const GRAPH: &str = r##"graph all(%x: f32[B, 64], %i as index: i32[B, 64], state %w: f32[4, 64], state %3 "odd name": f32[] )
where B in 2..=65536 = hint 64 from arg0.dim0,
      $1 "floordiv" in 2..=8 = hint 4 from "arg 1 dim 0",
      guard B - 64 == 0 "shapes agree",
      guard 2*B - B*$1 + floordiv(B, 2) + mod(min(B, 3), max(2, $1)) - 9223372036854775807 < 0
{
  %h = relu(%x) : f32[B, 64]                                # src/model.rs:12 [0]
  %c = const[0.1: f32] : f32[]
  %6, %7 = sort[1, descending] %h : f32[B, 64], i32[B, 64]  # [1, 3] backward
  %8 = reduce.sum[0, 1] %h : f32[]                          # "a place: with words" recompute
  %9 = contract[batch=[], contract=[(1, 1)]] %h, %w : f32[B, 4]
  %10 = slice[start=[0, 2], size=[B, 8], step=[1, 3]] %x : f32[B, 8]
  %11 = pad[lo=[0, 1], hi=[B, 0], value=-inf: f32] %x : f32[2*B, 65]
  %12 = iota[i32[B, 64], dim=1] : i32[B, 64]
  %13 = gather[1] %x, %12 : f32[B, 64]
  %14 = scan.prod[1] %13 : f32[B, 64]
  %15 = unfold[dim=1, size=3, step=2, dilation=1] %x : f32[B, 31, 3]
  %16 = size[2*B + 1] : i32[]
  %17 = cast[bf16] %x : bf16[B, 64]
  %18 = bitcast[u32] %x : u32[B, 64]
  %19 = detach %x : f32[B, 64]
  %20 = permute[1, 0] %x : f32[64, B]
  %21 = reshape[64*B] %x : f32[64*B]
  %22 = reshape[64, 1] %c : f32[64, 1]
  %23 = expand[64, 3] %22 : f32[64, 3]
  %24 = flip[0, 1] %x : f32[B, 64]
  %25 = cat[0] %x, %24, %x : f32[3*B, 64]
  %26 = scatter_add[1] %x, %i, %x : f32[B, 64]
  %27, %28 = grad(%8, wrt=[%w, %x]) : f32[4, 64], f32[B, 64]
  %29 = add %w, %w : f32[4, 64]
  return %8, state %w <- %29, %x as "the input again"
}
"##;

const LOOPS: &str = r##"loops step
where B in 2..=65536 = hint 64
{
  buffer %x: f32[B, 64] = input 0
  buffer %w: f32[10, 64] = input 1
  buffer %2 "x": f32[B, 10] = temp
  buffer %out: i32[] = result 0
  buffer %new.w: f32[10, 64] = update 1
  buffer %steps: f32[B, 10] = temp
  buffer %reversed: f32[B, 10] = temp
  axes i3: 64*B

  nest i0: B, i1: 10 inner i2: 64 {  # [0]; [1, 2] backward
    v0 = load %x[i0, i2] : f32
    v1 = load %w[i1, floordiv(i2, 2) + 3*mod(i2, 2)] : f32
    v2 = mul v0, v1 : f32
    v3 = reduce.sum[i2] v2 : f32
    v4 = const -0.0 : f32
    v5 = index 64*i0 + i1 : i32
    v6 = cast v5 : f32
    v7 = gt v3, v6 : bool
    v8 = load %x[i0, v5] if v7 : f32
    v9 = bitcast v8 : u32
    store %2[i0, i1] = v3
    store %new.w[i1, v5] += v8
  }

  nest {  # []
    v0 = const 7 : i32
    store %out[] = v0
  }

  nest inner i4: 3 {
  }

  nest i5: B steps {  # []
  step i5: B, i6: 5 {
    v0 = load %x[i5, i6] : f32
    v1 = load %x[i5, i6 + 5] : f32
    v2 = add v0, v1 : f32
    v3 = sub v0, v1 : f32
    store %steps[i5, i6] = v2
    store %steps[i5, i6 + 5] = v3
  }
  step i5: B, i7: 10 {
    v0 = load %steps[i5, -i7 + 9] : f32
    store %reversed[i5, i7] = v0
  }
  }
}
"##;

const KERNEL: &str = r##"kernel fused workgroup(64, 2, 1) {
  param n
  param $p1 "r1"
  buffer x: f32 = binding 0 at n
  buffer $b1 "n": u32 = binding 3
  shared tile: f32x4[256]
  reg r1: bool

  let r0: i32 = workgroup_id.x * 64 + local_id.y - -5
  var r2: f32 = 0.1
  for r3: i32 in 0..n - (r0 - 1) {
    r2 = r2 + x[r3 * 2 % 7] * (r2 - 1e20)
    for r4: i32 in n..10 step 64 {
      barrier
    }
  }
  if (r0 < n) == (r0 > 1) {
    x[r0] = select(isnan(r2), inf, -inf)
    atomic x[0] += cast[f32](5u32 ^ 7u32 & $b1[r0] << 2u32)
  } else if true {
    tile[local_id.x] = x.vec4[r0]
    let r5: f32x4 = vec4(1.0, tile[0].w, (r2 + nan).y, -0.0)
    let r6: f16 = -inf_f16 + 0.5f16
    let r7: u32 = bitcast[u32](load[i32](x, 0))
  } else {
    x[1] = 2.0
  }
}
"##;

fn same_text(text: &str, printed: String) {
    // Layout of the first input list is free.
    let tidy = |t: &str| t.replace(" )", ")").lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    for (a, b) in tidy(text).iter().zip(tidy(&printed)) {
        assert_eq!(*a, b);
    }
    assert_eq!(tidy(text).len(), tidy(&printed).len(), "{printed}");
}

#[test]
fn graph_round_trip() {
    let g = parse_graph(GRAPH).unwrap();
    same_text(GRAPH, g.to_string());
    assert_eq!(parse_graph(&g.to_string()).unwrap(), g);
    assert_eq!(g.compact(), g);
    assert_eq!(g.nodes[2].origin, Origin { nodes: vec![1, 3], phase: Phase::Backward, checkpoint: None });
    assert_eq!(g.nodes[3].location.as_deref(), Some("a place: with words"));
}

#[test]
fn loops_round_trip() {
    let p = parse_loops(LOOPS).unwrap();
    same_text(LOOPS, p.to_string());
    assert_eq!(parse_loops(&p.to_string()).unwrap(), p);
    assert_eq!(p.nests[1].origins, vec![Origin::default()]);
}

#[test]
fn kernel_round_trip() {
    let k = parse_kernel(KERNEL).unwrap();
    same_text(KERNEL, k.to_string());
    assert_eq!(parse_kernel(&k.to_string()).unwrap().to_string(), k.to_string());
}

#[test]
fn values_without_definition_order_are_renumbered() {
    let mut b = Builder::new("gaps");
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, [3i64]));
    let unused = b.neg(x).unwrap();
    let y = b.unary(ScalarOp::Exp, x).unwrap();
    b.graph.names[unused.index()] = Some("dead".into());
    b.graph.add_output("", y, None);
    b.graph.eliminate_dead_code();
    let text = b.graph.to_string();
    assert!(text.contains("%1 = exp %x"), "{text}");
    let g = parse_graph(&text).unwrap();
    assert_eq!(g, b.graph.compact());
    g.verify().unwrap();
}

#[test]
fn names_and_arguments_of_any_kind_survive() {
    let names = ["", "7", "a b", "x", "x", "%", "\"\\\n", "state", "where", "grad", "a.b", "a..b", "π", "w'"];
    let mut b = Builder::new("where {");
    for n in names {
        b.graph.env.symbol(n, 4, n);
        b.graph.add_input(n, InputKind::State, TensorType::new(DType::F32, [2i64]));
    }
    let x = b.graph.inputs[0].value;
    let attrs = Attrs::new()
        .with("a", "mean")
        .with("b", "true")
        .with("c", "two words")
        .with("d", -0.0)
        .with("e", f64::NEG_INFINITY)
        .with("f", -5i64)
        .with("g", vec![1i64, -2])
        .with("h", vec![Expr::sym(aludel_ir::Sym(2)).scale(3), Expr::ONE])
        .with("i", Attr::DType(DType::BF16))
        .with("j", false)
        .with("k", 1e-300)
        .with("l", Vec::<Expr>::new())
        .with("not an identifier", i64::MIN);
    let relu = aludel_ir::ops::find("relu").unwrap();
    let y = b.push(Op::Call(relu, attrs), &[x], vec![TensorType::new(DType::F32, [2i64])])[0];
    for (i, n) in names.iter().enumerate() {
        b.graph.names[b.graph.inputs[i].value.index()] = (i % 3 != 1).then(|| n.to_string());
        b.graph.add_output(*n, y, (i % 2 == 0).then_some(i));
    }
    let text = b.graph.to_string();
    assert_eq!(parse_graph(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), b.graph.compact(), "{text}");
}

#[test]
fn constants_are_exact() {
    let mut rng = Rng(7);
    for dtype in DType::ALL {
        for _ in 0..300 {
            let v = match rng.below(4) {
                0 => f32::from_bits(rng.next() as u32) as f64,
                1 => rng.next() as i64 as f64,
                2 => rng.below(100) as f64 / 8.0,
                _ => -0.0,
            };
            let mut b = Builder::new("c");
            let l = Literal::new(v, dtype);
            let c = b.prim(aludel_ir::Prim::Const(l), &[]).unwrap();
            b.graph.add_output("", c, None);
            let text = b.graph.to_string();
            assert_eq!(parse_graph(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), b.graph, "{text}");
            let kernel = Kernel {
                name: "c".into(),
                workgroup_size: [1; 3],
                params: vec![],
                buffers: vec![],
                shared: vec![],
                maps: vec![],
                vars: vec![Ty::scalar(dtype)],
                body: vec![Stmt::Let(Var(0), KExpr::Lit(l))],
            };
            let text = kernel.to_string();
            assert_eq!(parse_kernel(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), kernel, "{text}");
        }
    }
}

#[test]
fn random_kernel_expressions_survive() {
    let mut rng = Rng(11);
    for _ in 0..500 {
        let e = random_expr(&mut rng, 5);
        let mut k = parse_kernel(KERNEL).unwrap();
        k.body = vec![Stmt::Let(Var(0), int(0)), Stmt::Let(Var(2), e)];
        let text = k.to_string();
        assert_eq!(parse_kernel(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), k, "{text}");
    }
}

fn random_expr(rng: &mut Rng, depth: usize) -> KExpr {
    if depth == 0 || rng.below(6) == 0 {
        return match rng.below(5) {
            0 => int(rng.below(9) as i64 - 4),
            1 => KExpr::Var(Var(0)),
            2 => KExpr::Param(rng.below(2) as u32),
            3 => KExpr::LocalId(rng.below(3) as u8),
            _ => KExpr::Lit(Literal::new(rng.below(9) as f64 - 4.0, DType::F32)),
        };
    }
    let mut sub = || random_expr(rng, depth - 1);
    let (a, b, c) = (sub(), sub(), sub());
    match rng.below(8) {
        0 => KExpr::Lane(Box::new(a), 2),
        1 => KExpr::Cast(DType::F16, Box::new(a)),
        2 => KExpr::Load { buffer: 0, index: Box::new(a), ty: Ty::vec4(DType::F32) },
        3 => KExpr::Vec4(vec![a, b, c]),
        _ => {
            let all: Vec<_> = ScalarOp::all().collect();
            let def = all[rng.below(all.len())];
            KExpr::Scalar(def.op, [a, b, c.clone(), c.clone(), c].into_iter().take(def.arity).collect())
        }
    }
}

/// A small generator of repeatable random numbers (Marsaglia, "Xorshift RNGs", 2003).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Changes a text in a few places: characters and words of the format are dropped, doubled, swapped and put in.
fn mutate(text: &str, rng: &mut Rng) -> String {
    const PIECES: [&str; 26] = [
        "99999999999999999999",
        "4294967295",
        "9223372036854775807",
        "-",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "%",
        "#",
        "\"",
        "\\u{",
        "v7",
        "i3",
        "floordiv(",
        "B*B*",
        " = ",
        ":",
        ",",
        "state ",
        "é",
        "\n",
        "0",
        "r99",
    ];
    const DIGITS: [char; 4] = ['0', '1', '7', '9'];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + rng.below(2) {
        let at = rng.below(chars.len().max(1)).min(chars.len());
        let len = (1 + rng.below(12)).min(chars.len() - at);
        match rng.below(5) {
            0 => drop(chars.drain(at..at + len)),
            4 => chars.iter_mut().skip(at).filter(|c| c.is_ascii_digit()).take(1).for_each(|c| *c = DIGITS[rng.below(4)]),
            1 => drop(chars.splice(at..at, PIECES[rng.below(PIECES.len())].chars().collect::<Vec<_>>())),
            2 => {
                let copy: Vec<char> = chars[at..at + len].to_vec();
                let to = rng.below(chars.len() + 1);
                drop(chars.splice(to..to, copy));
            }
            _ => drop(chars.splice(at..at + len, PIECES[rng.below(PIECES.len())].chars().collect::<Vec<_>>())),
        }
    }
    chars.into_iter().collect()
}

/// Whatever parses prints to a text that parses to the same again; what does not parse says where.
fn check<T: ToString>(text: &str, parse: fn(&str) -> aludel_ir::Result<T>, parsed: &mut usize) -> Option<T> {
    match parse(text) {
        Ok(x) => {
            *parsed += 1;
            let once = x.to_string();
            let again = parse(&once).unwrap_or_else(|e| panic!("{e}\nfrom\n{text}\nprinted\n{once}"));
            assert_eq!(again.to_string(), once);
            Some(x)
        }
        Err(Error::Parse { line, column, problem }) => {
            assert!(line >= 1 && column >= 1 && !problem.is_empty());
            assert!(line <= text.lines().count() + 1);
            None
        }
        Err(e) => panic!("not a parse error: {e}"),
    }
}

#[test]
fn mutated_texts_are_errors_or_programs() {
    let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
    let mut parsed = 0;
    for _ in 0..6000 {
        if let Some(g) = check(&mutate(GRAPH, &mut rng), parse_graph, &mut parsed) {
            drop(Graph::verify(&g));
        }
        if let Some(p) = check(&mutate(LOOPS, &mut rng), parse_loops, &mut parsed) {
            drop(LoopProgram::verify(&p));
        }
        if let Some(k) = check(&mutate(KERNEL, &mut rng), parse_kernel, &mut parsed) {
            drop(Kernel::verify(&k));
        }
    }
    assert!(parsed > 500, "only {parsed} mutations parsed: too coarse to test anything");
}

const FUNCTIONS: &str = r##"graph calls(%x: f32[s, 2])
where s in 2..=8 = hint 4 from arg.dim0
{
  %y = function twice(%x) checkpoint {
    body(%a: f32[s, 2]) {
      %1 = function halves(%a) {
        body(%b: f32[s, 2]) {
          %1 = sin(%b) : f32[s, 2]
          return %1
        }
        vjp(%b: f32[s, 2], %c: f32[s, 2], %d: f32[s, 2]) {
          return %d
        }
        jvp tangent(%b: f32[s, 2], %d: f32[s, 2]) {
          return %d
        }
      } : f32[s, 2]  # model.rs:3
      return %1
    }
  } : f32[s, 2]
  %2 = sin(%y) : f32[s, 2]  # [1] checkpoint=4
  return %2
}
"##;

#[test]
fn functions_round_trip() {
    let g = parse_graph(FUNCTIONS).unwrap();
    g.verify().unwrap();
    same_text(FUNCTIONS, g.to_string());
    assert_eq!(parse_graph(&g.to_string()).unwrap(), g);
    assert_eq!(g.nodes[1].origin.checkpoint, Some(4));
    assert_eq!(g.total_nodes(), 4);
    // The derivative must fit the body.
    for (old, new) in [
        ("%d: f32[s, 2]) {\n          return %d\n        }\n        jvp", "%d: f32[s, 2]) {\n          return\n        }\n        jvp"),
        ("body(%b: f32[s, 2])", "body(%b: f32[s, 3])"),
    ] {
        assert!(FUNCTIONS.contains(old));
        let broken = FUNCTIONS.replacen(old, new, 1);
        let wrong = parse_graph(&broken).and_then(|g| g.verify());
        assert!(wrong.is_err(), "{broken}");
    }
    let nested = |n: usize| {
        let open: String = (0..n).map(|i| format!("%y{i} = function f(%x) {{ body(%x: f32[2]) {{ ")).collect();
        let close: String = (0..n).rev().map(|i| format!("return %x }} }} : f32[2] return %y{i} }} ")).collect();
        parse_graph(&format!("graph g(%x: f32[2]) {{ {open}{}", close.trim_end().trim_start_matches(' ')))
    };
    assert!(nested(3).is_err() || nested(3).unwrap().verify().is_ok());
    assert!(nested(10_000).unwrap_err().to_string().contains("nest deeper"));
}

#[test]
fn depth_and_size_are_limited() {
    let deep = |open: &str, close: &str, n: usize| format!("{}n{}", open.repeat(n), close.repeat(n));
    let kernel = |e: String| parse_kernel(&format!("kernel k workgroup(1, 1, 1) {{ param n let r0: i32 = {e} }}"));
    assert!(kernel(deep("(", ")", 50)).is_ok());
    assert!(kernel(deep("(", ")", 100_000)).unwrap_err().to_string().contains("nested deeper"));
    assert!(kernel("n + ".repeat(100_000) + "n").unwrap_err().to_string().contains("deeper than 256"));
    let blocks = "if true { ".repeat(100_000);
    assert!(parse_kernel(&format!("kernel k workgroup(1, 1, 1) {{ {blocks}")).unwrap_err().to_string().contains("nested deeper"));
    let elses = "if true { } else ".repeat(100_000);
    assert!(parse_kernel(&format!("kernel k workgroup(1, 1, 1) {{ {elses}")).unwrap_err().to_string().contains("nested deeper"));
    let size = |e: String| parse_graph(&format!("graph g(%x: f32[{e}]) where n in 2..=8 = hint 4 {{ return }}"));
    assert!(size(deep("(", ")", 100_000)).unwrap_err().to_string().contains("nested deeper"));
    assert!(size("(n + 1)*".repeat(100_000) + "n").unwrap_err().to_string().contains("factors"));
    assert!(size("9223372036854775807*2".into()).unwrap_err().to_string().contains("64 bits"));
    assert!(size("floordiv(n, 0)".into()).unwrap_err().to_string().contains("not positive"));
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("graph g(%x: f33[2]) { return }", "line 1, column 13: unknown element type `f33`: f32, f16, bf16, i32, u32, bool are known"),
        ("graph g(%x: f32[B]) { return }", "line 1, column 17: unknown size or index `B`"),
        ("graph g(%x: f32[2]) {\n  %y = rellu(%x)\n return }", "line 2, column 8: there is no operator `rellu`"),
        (
            "graph g(%x: f32[2]) {\n  %y = threefry(%x)\n return }",
            "line 2, column 8: there is no operator `threefry`; the prim is written without parentheses: `threefry %x`",
        ),
        ("graph g(%x: f32[2]) {\n  %y = neg %z\n return }", "line 2, column 12: %z is not defined before this"),
        ("graph g(%x: f32[2], %x: f32[3]) { return }", "line 1, column 21: %x is defined twice"),
        (
            "graph g(%x: f32[2]) { %y = add %x : f32[2] }",
            "line 1, column 44: expected a node such as `%y = relu(%x)`, or `return`, found `}`",
        ),
        ("graph g(%x: f32[2]) {\n%y = add %x, %x\nreturn state %y <- %x }", "line 3, column 14: y is not an input"),
        ("graph g(%x: f32[2]) { return } }", "line 1, column 32: expected the end of the text, found `}`"),
        ("graph g(%x: f32[2]) { %y = const[300000000000: i32] return }", "line 1, column 34: 300000000000 is not a value of i32"),
        ("graph é §", "line 1, column 7: unexpected character 'é'"),
        ("", "line 1, column 1: expected `graph`, found the end of the text"),
    ];
    for (text, want) in cases {
        assert_eq!(parse_graph(text).unwrap_err().to_string(), want, "{text}");
    }
    let loops = |body: &str| parse_loops(&format!("loops l {{\nbuffer %x: f32[2] = input 0\n{body}\n}}")).unwrap_err().to_string();
    assert_eq!(loops("nest i1: 2 { }"), "line 4, column 2: axes are numbered without gaps: i0 is missing, i1 is there");
    assert_eq!(loops("nest i0: 2 { v0 = load %x[v0] : f32 }"), "line 3, column 27: unknown size or index `v0`");
    assert_eq!(loops("nest i0: 2 { } nest i0: 3 { }"), "line 3, column 21: i0 has another extent where it was declared before");
}

#[test]
fn the_verifier_names_the_node() {
    let bad = |text: &str| parse_graph(text).unwrap().verify().unwrap_err().to_string();
    assert_eq!(
        bad("graph g(%x: f32[2, 3]) {\n %y = permute[1, 0] %x : f32[2, 3]\n return %y }"),
        "invalid IR at node 0, %y = permute: %y is declared f32[2, 3], is f32[3, 2]"
    );
    assert!(
        bad("graph g(%x: f32[2]) {\n %y = add %x : f32[2] # m.rs:3\n return %y }").starts_with("invalid IR at node 0, %y = add (m.rs:3): ")
    );
    assert_eq!(
        bad("graph g(%x: f32[2], state %w: f32[2]) { return state %x <- %w }"),
        "invalid IR at output 0 `x`: updates `x`, which is not state"
    );
    assert_eq!(
        bad("graph g(state %w: f32[2], %x: f32[3]) { return state %w <- %x }"),
        "invalid IR at output 0 `w`: updates `w` of f32[2] with f32[3]"
    );
    assert_eq!(
        bad("graph g(%a: f32[B], %b: f32[C]) where B in 2..=9 = hint 4, C in 2..=9 = hint 4 { %c = add %a, %b : f32[B] return %c }"),
        "invalid IR at node 0, %c = add: assumes -B + C == 0 (operands of a pointwise operator agree), which no guard states"
    );
    assert!(bad("graph g(%x: f32[2147483648]) { return }").contains("more than"));
}
