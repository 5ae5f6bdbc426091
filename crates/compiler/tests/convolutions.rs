//! What becomes of convolutions on CUDA: layouts, plain products, and bytes, all exact on any machine.

mod steps;

use aludel_compiler::{Compilation, MatmulPrecision, Options, Part, Pass, Target, compile};
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::Kernel;
use aludel_ir::loops::Store;
use aludel_ir::program::Program;
use aludel_ir::{DType, Graph};
use steps::convolutional::{digits, resnet50, vgg16};

fn cuda() -> Target {
    Target { library_products: true, ..Target::cuda(90, MatmulPrecision::High) }
}

fn program(graph: &Graph) -> Program {
    compile(graph, &cuda(), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The first stage of ResNet-50: every kind of layer but strided ones.
fn stage(products: DType) -> Program {
    program(&resnet50(32, 224, 1, products))
}

/// With channels innermost a convolution of 1x1 is a plain product of a matrix with a row for each place.
#[test]
fn convolutions_of_one_element_are_plain_products() {
    let rows = 32 * 56 * 56;
    let p = stage(DType::F32);
    let forward = p.launches.iter().filter_map(|l| l.product.as_ref()).filter(|p| p.m.as_const() == Some(rows)).count();
    // Three blocks of two, and the downsampling one, forward; most of their gradients too.
    assert!(forward >= 7, "{forward}");
}

/// Activations lie with their channels innermost.
#[test]
fn channels_lie_innermost() {
    let p = stage(DType::F32);
    let planes = |shape: &[aludel_ir::Dim]| {
        let known: Vec<i64> = shape.iter().filter_map(|d| d.as_const()).filter(|d| *d != 1).collect();
        (known.len() == 4 && known.contains(&32) && known.iter().filter(|d| **d == 56).count() == 2).then_some(known)
    };
    let found: Vec<Vec<i64>> = p.placements.iter().filter_map(|p| planes(&p.shape)).collect();
    assert!(found.len() > 20);
    for shape in found {
        assert_eq!(shape[1..3], [56, 56], "batch, height, width, channels: {shape:?}");
    }
}

/// Images of one channel do not lead: what follows them has its channels innermost, not the batch, and the gradient of the first weight,
/// a thin product of few results, is summed in parts of 512 terms.
#[test]
fn images_of_one_channel_leave_channels_innermost() {
    let p = program(&digits(512));
    let found: Vec<Vec<i64>> =
        p.placements.iter().map(|p| p.shape.iter().filter_map(|d| d.as_const()).filter(|d| *d != 1).collect()).collect();
    let count = |shape: [i64; 4]| found.iter().filter(|s| **s == shape).count();
    assert!(count([512, 8, 8, 16]) >= 3 && count([16, 8, 8, 512]) == 0 && count([512, 16, 8, 8]) == 0, "{found:?}");
    let parts = found.iter().filter(|s| matches!(s[..], [64, 16, 3, 3])).count();
    assert_eq!(parts, 1, "{found:?}");
}

/// Nothing is copied out for windows: no launch of a convolution writes more than its result.
#[test]
fn no_windows_are_written() {
    let p = stage(DType::F32);
    let input = 32 * 64 * 58 * 58;
    let copied = p.placements.iter().filter(|p| p.shape.iter().any(|d| d.as_const() == Some(58))).count();
    assert_eq!(copied, 0, "a padded copy of {input} elements");
}

/// The copy engine brings the windows of every 3x3 convolution with 64 channels or more, of results and of both gradients, with steps too.
/// Kernels that take windows print and parse.
#[test]
fn bulk_copies_bring_windows() {
    let p = program(&resnet50(32, 224, 2, DType::BF16));
    let maps: Vec<_> = p.launches.iter().flat_map(|l| &l.maps).filter_map(|m| m.windows.as_ref().map(|w| (m, w))).collect();
    // Seven such convolutions; those of 1x1 with steps of two besides.
    assert!(maps.len() >= 3 * 7, "{}", maps.len());
    let three = |first: i32, last: i32, step: u32| {
        maps.iter()
            .filter(|(_, w)| (w.first.as_slice(), w.last.as_slice(), w.steps.as_slice()) == (&[first; 2], &[last; 2], &[step; 2]))
            .count()
    };
    // Three of the first stage and three of the second, forward and of both factors; of the one with steps the windows of the result
    // and of its weights' gradient: it begins before an image of even sides and ends inside.
    assert_eq!((three(-1, -1, 1), three(-1, -2, 2)), (3 * 6, 2));
    for (m, _) in &maps {
        let rank = m.extents.len();
        assert_eq!((m.sizes.len(), m.strides.len()), (rank, rank - 1));
        assert_eq!(m.sizes[0], 64, "a row of a tile");
    }
    let (graph, target, options) = (resnet50(32, 224, 2, DType::BF16), cuda(), Options::default());
    let mut c = Compilation::new(&graph, &target, &options);
    c.until(Pass::Schedule).unwrap_or_else(|e| panic!("{e}"));
    let windowed: Vec<_> = c.scheduled.iter().map(|s| &s.kernel).filter(|k| k.maps.iter().any(|m| m.windows)).collect();
    assert!(windowed.len() >= 7, "{}", windowed.len());
    for k in windowed {
        let text = k.to_string();
        let again: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.to_string(), text);
        assert_eq!(again.maps, k.maps);
    }
}

/// Windows are read through masks after pooling too: no launch writes a padded copy.
#[test]
fn pooled_images_are_padded_where_they_are_read() {
    let p = program(&vgg16(8, 224, DType::BF16));
    let padded = |n: i64| [112, 56, 28, 14, 7].contains(&(n - 2));
    let copies: Vec<&str> = p
        .placements
        .iter()
        .filter(|p| p.shape.len() == 4 && p.shape[1..3].iter().any(|d| d.as_const().is_some_and(padded)))
        .map(|p| p.name.as_str())
        .collect();
    assert!(copies.is_empty(), "{copies:?}");
}

/// An optimizer goes through the weights of convolutions as they lie in memory, though their gradients lie with the channels innermost; also
/// where a gradient is no sum of parts: then its product leaves the update to a nest of its own.
#[test]
fn weights_are_updated_in_the_order_of_memory() {
    for (graph, all) in [(vgg16(8, 224, DType::BF16), 12), (vgg16(2, 32, DType::BF16), 12)] {
        let (target, options) = (cuda(), Options::default());
        let mut c = Compilation::new(&graph, &target, &options);
        c.until(Pass::Split).unwrap_or_else(|e| panic!("{e}"));
        let shape = |s: &Store| c.loops.buffer(s.buffer).shape.iter().map(|d| d.as_const().unwrap_or(0)).collect::<Vec<_>>();
        let of_weight = |s: &&Store| matches!(shape(s)[..], [_, channels, 3, 3] if channels > 3);
        let mut updates = 0;
        for nest in c.loops.nests.iter().filter(|n| n.stores.iter().filter(of_weight).count() >= 3) {
            updates += 1;
            for s in nest.stores.iter().filter(of_weight) {
                let order: Vec<AxisId> = s.index.iter().flat_map(|e| e.axes()).collect();
                let places: Vec<usize> = order.iter().filter_map(|a| nest.axes.iter().position(|b| a == b)).collect();
                assert!(places.is_sorted(), "{:?} written along {order:?}", nest.axes);
            }
        }
        assert_eq!(updates, all);
    }
}

/// A thread takes four neighbouring channels of a pooling: nine vectors for its windows, and the normalization's parameters once.
#[test]
fn poolings_read_four_channels_at_once() {
    let p = stage(DType::BF16);
    let pool = p.launches.iter().find(|l| l.label.contains("max_pool2d") && !l.label.contains("grad")).expect("a pooling");
    let source = &p.kernels[pool.kernel].source;
    let vectors = source.lines().filter(|l| l.contains("ld.global") && (l.contains(".v4.") || l.contains(".v2."))).count();
    assert_eq!(vectors, 9 + 5, "{source}");
}

/// A thread's groups of four elements have the same channels, whose parameters it reads once: the weight and the bias of two normalizations.
#[test]
fn normalizations_read_their_parameters_once() {
    let p = stage(DType::BF16);
    let last = p.launches.iter().find(|l| l.label == "batch_norm + add + relu").expect("the end of a block");
    let source = &p.kernels[last.kernel].source;
    assert_eq!(source.matches("ld.global.nc.v4.f32").count(), 4, "{source}");
}

/// Values of 16 bits stay so around products.
#[test]
fn narrow_products_take_fewer_bytes() {
    let bytes = |p: &Program| p.launches.iter().map(|l| p.eval(&l.bytes, &[]).unwrap_or(0)).sum::<i64>();
    let (wide, narrow) = (bytes(&stage(DType::F32)), bytes(&stage(DType::BF16)));
    assert!(narrow * 10 < wide * 7, "{narrow} of {wide}");
}

/// A depthwise convolution is one kernel on WebGPU, with what follows it, and so is each of its gradients: no window or padded copy is
/// ever written.
#[test]
fn depthwise_convolutions_are_one_kernel_each_on_webgpu() {
    let text = "graph depthwise(%x: f32[4, 32, 28, 28], %w: f32[32, 1, 3, 3], %b: f32[32]) {
  %y = conv2d(%x, %w, %b, padding=1, groups=32)
  %z = relu(%y)
  return %z
}";
    let gradients = "graph gradients(%x: f32[4, 32, 28, 28], %w: f32[32, 1, 3, 3], %k: f32[4, 32, 28, 28]) {
  %y = conv2d(%x, %w, padding=1, groups=32)
  %p = mul(%y, %k)
  %l = sum(%p)
  %dx, %dw = grad(%l, wrt=[%x, %w])
  return %dx, %dw
}";
    for (text, kernels) in [(text, 1), (gradients, 2)] {
        let graph = aludel_ir::text::parse_graph(text).unwrap();
        let options = Options { parts: Options::default().parts.without(Part::SharedLaunches), ..Options::default() };
        let p = compile(&graph, &Target::webgpu_default(), &options).unwrap();
        let labels: Vec<&str> = p.launches.iter().map(|l| l.label.as_str()).collect();
        assert_eq!(p.launches.len(), kernels, "{labels:?}");
        let results: Vec<usize> = p.outputs.iter().map(|o| o.placement).collect();
        let written: Vec<&str> =
            p.launches.iter().flat_map(|l| &l.writes).filter(|w| !results.contains(w)).map(|w| p.placements[*w].name.as_str()).collect();
        assert!(written.is_empty(), "{written:?}");
    }
}
