//! Convolutional networks as captured training steps, with torchvision's layers and sizes.

use super::{Optimizer, Step};
use aludel_ir::graph::InputKind;
use aludel_ir::{Attrs, DType, Graph, TensorType, ValueId};

impl Step {
    fn conv(&mut self, name: &str, x: ValueId, sizes: [i64; 2], kernel: i64, stride: i64, groups: i64) -> ValueId {
        let w = self.param(&format!("{name}.weight"), &[sizes[1], sizes[0] / groups, kernel, kernel]);
        let (x, w) = (self.low(x), self.low(w));
        let a = Attrs::new().with("stride", stride).with("padding", kernel / 2).with("groups", groups);
        self.op("conv2d", &[x, w], a)
    }

    /// Batch normalization in training, its running statistics updated.
    fn batch_norm(&mut self, name: &str, x: ValueId, channels: i64) -> ValueId {
        let w = self.param(&format!("{name}.weight"), &[channels]);
        let bias = self.param(&format!("{name}.bias"), &[channels]);
        let mut running = Vec::new();
        for part in ["running_mean", "running_var"] {
            let ty = TensorType::new(DType::F32, vec![channels]);
            let v = self.b.graph.add_input(format!("{name}.{part}"), InputKind::State, ty);
            running.push((format!("{name}.{part}"), v, self.b.graph.inputs.len() - 1));
        }
        let def = aludel_ir::ops::find("batch_norm").expect("an operator");
        let a = Attrs::new().with("training", true);
        let out = self.b.operator(def, &[x, running[0].1, running[1].1, w, bias], &a).unwrap_or_else(|e| panic!("{e}"));
        for ((name, _, at), new) in running.into_iter().zip(&out[1..]) {
            self.b.graph.add_output(name, *new, Some(at));
        }
        out[0]
    }

    /// In the type that products run in.
    fn low(&mut self, x: ValueId) -> ValueId {
        let dtype = self.products;
        self.cast(x, dtype)
    }

    fn cast(&mut self, x: ValueId, dtype: DType) -> ValueId {
        match self.b.ty(x).dtype {
            d if d == dtype => x,
            _ => self.b.prim(aludel_ir::Prim::Cast(dtype), &[x]).unwrap_or_else(|e| panic!("{e}")),
        }
    }

    fn dense(&mut self, name: &str, x: ValueId, i: i64, o: i64) -> ValueId {
        let w = self.param(&format!("{name}.weight"), &[o, i]);
        let bias = self.param(&format!("{name}.bias"), &[o]);
        let (x, w, bias) = (self.low(x), self.low(w), self.low(bias));
        self.op("linear", &[x, w, bias], Attrs::new())
    }

    fn relu(&mut self, x: ValueId) -> ValueId {
        self.op("relu", &[x], Attrs::new())
    }

    fn images(&mut self, batch: i64, size: i64) -> (ValueId, ValueId) {
        let x = self.arg("x", DType::F32, &[batch.into(), 3i64.into(), size.into(), size.into()]);
        (x, self.arg("y", DType::I32, &[batch.into()]))
    }

    fn classify(mut self, x: ValueId, y: ValueId) -> Graph {
        let x = self.cast(x, DType::F32);
        let loss = self.op("cross_entropy", &[x, y], Attrs::new());
        self.finish(loss, Optimizer::AdamW)
    }
}

/// ResNet-50 as torchvision has it (the stride in the 3x3 convolution); `stages` of its four. Products
/// run in the type `products`.
pub fn resnet50(batch: i64, size: i64, stages: usize, products: DType) -> Graph {
    let mut s = Step { products, ..Step::new("resnet50") };
    let (x, y) = s.images(batch, size);
    let x = s.conv("conv1", x, [3, 64], 7, 2, 1);
    let x = s.batch_norm("bn1", x, 64);
    let x = s.relu(x);
    let pool = Attrs::new().with("kernel_size", 3i64).with("stride", 2i64).with("padding", 1i64);
    let mut x = s.op("max_pool2d", &[x], pool);
    let mut channels = 64;
    for (stage, (width, blocks)) in [(64, 3), (128, 4), (256, 6), (512, 3)].into_iter().take(stages).enumerate() {
        for block in 0..blocks {
            let name = format!("layer{}.{block}", stage + 1);
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            let mut h = s.conv(&format!("{name}.conv1"), x, [channels, width], 1, 1, 1);
            h = s.batch_norm(&format!("{name}.bn1"), h, width);
            h = s.relu(h);
            h = s.conv(&format!("{name}.conv2"), h, [width, width], 3, stride, 1);
            h = s.batch_norm(&format!("{name}.bn2"), h, width);
            h = s.relu(h);
            h = s.conv(&format!("{name}.conv3"), h, [width, 4 * width], 1, 1, 1);
            h = s.batch_norm(&format!("{name}.bn3"), h, 4 * width);
            if block == 0 {
                x = s.conv(&format!("{name}.downsample.0"), x, [channels, 4 * width], 1, stride, 1);
                x = s.batch_norm(&format!("{name}.downsample.1"), x, 4 * width);
            }
            x = s.op("add", &[h, x], Attrs::new());
            x = s.relu(x);
            channels = 4 * width;
        }
    }
    let x = s.op("mean", &[x], Attrs::new().with("dim", vec![2i64, 3]));
    let x = s.dense("fc", x, channels, 1000);
    s.classify(x, y)
}

/// VGG-16 as torchvision has it, without dropout; products run in the type `products`.
pub fn vgg16(batch: i64, size: i64, products: DType) -> Graph {
    let mut s = Step { products, ..Step::new("vgg16") };
    let (mut x, y) = s.images(batch, size);
    let (mut channels, mut at, mut side) = (3, 0, size);
    for (width, convs) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..convs {
            let name = format!("features.{at}");
            x = s.conv(&name, x, [channels, width], 3, 1, 1);
            let bias = s.param(&format!("{name}.bias"), &[width]);
            let bias = s.low(bias);
            let bias = s.op("reshape", &[bias], Attrs::new().with("shape", vec![width, 1, 1]));
            x = s.op("add", &[x, bias], Attrs::new());
            x = s.relu(x);
            (channels, at) = (width, at + 2);
        }
        x = s.op("max_pool2d", &[x], Attrs::new().with("kernel_size", 2i64).with("stride", 2i64));
        (at, side) = (at + 1, side / 2);
    }
    let mut width = 512 * side * side;
    x = s.op("reshape", &[x], Attrs::new().with("shape", vec![batch, width]));
    for (i, next) in [(0, 4096), (3, 4096), (6, 1000)] {
        x = s.dense(&format!("classifier.{i}"), x, width, next);
        if next == 4096 {
            x = s.relu(x);
        }
        width = next;
    }
    s.classify(x, y)
}

/// The playground's convolutional network for handwritten digits: two convolutions with batch normalization, pooled to one pixel.
pub fn digits(batch: i64) -> Graph {
    let mut s = Step::new("digits");
    let x = s.arg("x", DType::F32, &[batch.into(), 1i64.into(), 8i64.into(), 8i64.into()]);
    let y = s.arg("y", DType::I32, &[batch.into()]);
    let x = s.conv("0", x, [1, 16], 3, 1, 1);
    let x = s.batch_norm("1", x, 16);
    let x = s.relu(x);
    let x = s.op("max_pool2d", &[x], Attrs::new().with("kernel_size", 2i64));
    let x = s.conv("4", x, [16, 32], 3, 1, 1);
    let x = s.batch_norm("5", x, 32);
    let x = s.relu(x);
    let x = s.op("mean", &[x], Attrs::new().with("dim", vec![2i64, 3]));
    let x = s.dense("9", x, 32, 10);
    s.classify(x, y)
}
