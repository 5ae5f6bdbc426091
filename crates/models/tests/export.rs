//! A preset's step, exported and run elsewhere, gives the losses of the step itself: operator by operator and compiled.

use aludel_models::presets::{Batch, Config, Preset, Source, Train};
use aludel_tensor::{DType, Device, EagerGraph, Exported, ExportedInput, Tensor, compile, dispatch};

const STEPS: u64 = 5;

fn config(preset: Preset, fields: &[(&str, &str)]) -> Config {
    let fields: Vec<(String, String)> = fields.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Config::from_fields(preset, &fields).unwrap()
}

fn presets() -> Vec<Config> {
    vec![
        config(Preset::Digits, &[("optimizer", "adamw"), ("batch", "16"), ("layers", "16, 16")]),
        config(Preset::Points, &[("optimizer", "momentum"), ("batch", "16"), ("layers", "8"), ("activation", "gelu")]),
        config(
            Preset::Addition,
            &[("optimizer", "adamw"), ("batch", "4"), ("digits", "1"), ("context", "6"), ("layers", "2"), ("width", "8"), ("heads", "2")],
        ),
    ]
}

fn exported(config: &Config, device: &Device) -> Exported {
    let mut train = Train::new(config, device).unwrap();
    let batch = Source::new(config).batch(0, device).unwrap();
    let step = compile(|s: &mut Train, b: &Batch| s.step(b)).named("step");
    let exported = step.export(&mut train, &batch).unwrap();
    assert_eq!(step.compilations(), 0, "exporting compiles nothing");
    exported
}

/// The inputs of the step as tensors, those of the arguments empty.
fn values(exported: &Exported) -> Vec<Option<Tensor>> {
    let value = |i: &ExportedInput| match i {
        ExportedInput::State { tensor, .. } | ExportedInput::Constant(tensor) => Some(tensor.clone()),
        ExportedInput::Argument { .. } => None,
    };
    exported.inputs.iter().map(value).collect()
}

#[test]
fn operator_by_operator_gives_the_same_losses() {
    let device = Device::interpreter();
    for config in presets() {
        let exported = exported(&config, &device);
        // Through text, as it travels.
        let text = aludel_ir::text::print_graph(&exported.graph);
        let graph = aludel_ir::text::parse_graph(&text).unwrap();
        let eager = EagerGraph::new(&device, graph).unwrap();
        let loss = exported.results[0].unwrap();
        let mut held = values(&exported);
        let mut train = Train::new(&config, &device).unwrap();
        let (mut here, mut there) = (Source::new(&config), Source::new(&config));
        for k in 0..STEPS {
            let want = train.step(&here.batch(k, &device).unwrap()).unwrap().item().unwrap();
            let (x, y) = there.batch(k, &device).unwrap();
            let inputs = exported.inputs.iter().zip(&held).map(|(i, h)| match i {
                ExportedInput::Argument { position, .. } => {
                    if *position == 0 {
                        x.clone()
                    } else {
                        y.clone()
                    }
                }
                _ => h.clone().unwrap(),
            });
            let outputs = eager.run(inputs.collect()).unwrap();
            // The very same operators on the very same numbers.
            assert_eq!(outputs[loss].item().unwrap(), want, "{:?} step {k}", config.preset());
            for (o, t) in eager.graph().outputs.iter().zip(&outputs) {
                if let Some(i) = o.updates {
                    held[i] = Some(t.clone());
                }
            }
        }
        assert!(
            exported.inputs.iter().any(|i| matches!(i, ExportedInput::State { updated: true, path, .. } if path.starts_with("model"))),
            "the parameters are updated"
        );
    }
}

/// Counts are those of the closure run eagerly: nothing is fused, split or run twice.
#[test]
fn as_many_kernels_as_the_closure() {
    let config = &presets()[2];
    let dispatches = |device: &Device, run: &mut dyn FnMut()| {
        run();
        let before = device.stats().dispatches;
        run();
        device.stats().dispatches - before
    };
    let device = Device::interpreter();
    let mut train = Train::new(config, &device).unwrap();
    let batch = Source::new(config).batch(0, &device).unwrap();
    let own = dispatches(&device, &mut || drop(train.step(&batch).unwrap()));

    let device = Device::interpreter();
    let exported = exported(config, &device);
    let eager = EagerGraph::new(&device, exported.graph.clone()).unwrap();
    let (x, y) = Source::new(config).batch(0, &device).unwrap();
    let inputs: Vec<Tensor> = exported
        .inputs
        .iter()
        .map(|i| match i {
            ExportedInput::Argument { position: 0, .. } => x.clone(),
            ExportedInput::Argument { .. } => y.clone(),
            ExportedInput::State { tensor, .. } | ExportedInput::Constant(tensor) => tensor.clone(),
        })
        .collect();
    let again = dispatches(&device, &mut || drop(eager.run(inputs.clone()).unwrap()));
    assert_eq!(again, own);
}

#[test]
fn refuses_what_does_not_fit() {
    let device = Device::interpreter();
    let parse = |text: &str| aludel_ir::text::parse_graph(text).unwrap();
    let double = "graph g(%x: f32[3]) {
        %s = sum(%x) : f32[]
        %d = grad(%s, wrt=[%x]) : f32[3]
        %t = sum(%d) : f32[]
        %e = grad(%t, wrt=[%x]) : f32[3]
        return %e
    }";
    // Second derivatives: the first ones are on the tape. That of a sum of ones is zero, that of a cube is not.
    let x = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0], [3]).unwrap();
    let twice = |text: &str| EagerGraph::new(&device, parse(text)).unwrap().run(vec![x.clone()]).unwrap()[0].to_vec::<f32>().unwrap();
    assert_eq!(twice(double), [0.0; 3]);
    let cube = "%q = mul(%x, %x) : f32[3]\n%c = mul(%q, %x) : f32[3]\n%s = sum(%c)";
    assert_eq!(twice(&double.replace("%s = sum(%x)", cube)), [6.0, 12.0, 18.0]);
    let plain = "graph g(%x: f32[3]) {
        %h = mul(%x, %x) : f32[3]
        %i = iota[i32[3], dim=0]
        %f = cast[f32] %i
        %p = mul %h, %f
        %k = mul(%p, %f) : f32[3]
        %s = sum(%k) : f32[]
        %dh, %dx, %df = grad(%s, wrt=[%h, %x, %f]) : f32[3], f32[3], f32[3]
        return %s, %dh, %dx, %df
    }";
    // Gradients of a leaf, of a result on the tape, and of a value that is neither; through a prim and through an operator.
    let eager = EagerGraph::new(&device, parse(plain)).unwrap();
    for eager in [&eager, &EagerGraph::new(&device, parse(&plain.replace("mul %h, %f", "mul(%h, %f)"))).unwrap()] {
        let out: Vec<Vec<f32>> = eager.run(vec![x.clone()]).unwrap().iter().map(|t| t.to_vec().unwrap()).collect();
        assert_eq!(out, [vec![40.0], vec![0.0, 1.0, 4.0], vec![0.0, 4.0, 24.0], vec![0.0, 8.0, 36.0]]);
    }
    assert!(eager.run(vec![]).is_err());
    assert!(eager.run(vec![Tensor::zeros(&device, [4]).unwrap()]).is_err());
    assert!(eager.run(vec![Tensor::zeros(&Device::interpreter(), [3]).unwrap()]).is_err());
    let mut n = 0;
    let stop = eager.run_with(vec![x], &mut |k| {
        n = k;
        if k == 2 { Err(aludel_tensor::Error::invalid("run", "cancelled", "")) } else { Ok(()) }
    });
    assert!(stop.is_err() && n == 2);
}

#[test]
fn bytes_are_the_elements() {
    let device = Device::interpreter();
    let ops = aludel_ir::ops::find("to").unwrap();
    for dtype in DType::ALL {
        let t = Tensor::from_slice(&device, &[1.0f32, 0.0, 2.5], [3]).unwrap();
        let t = dispatch(ops, &[(&t).into()], aludel_tensor::Attrs::new().with("dtype", dtype)).unwrap().remove(0);
        let bytes = pollster::block_on(t.to_le_bytes_async()).unwrap();
        assert_eq!(bytes.len(), 3 * dtype.size());
        let back = Tensor::from_le_bytes(&device, dtype, [3], &bytes).unwrap();
        assert_eq!(back.to_vec::<f64>().unwrap(), t.to_vec::<f64>().unwrap());
        assert!(Tensor::from_le_bytes(&device, dtype, [4], &bytes).is_err());
        assert!(Tensor::from_le_bytes(&device, dtype, [i64::MAX, 2], &bytes).is_err());
    }
}
