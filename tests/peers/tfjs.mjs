// TensorFlow.js's side of the comparison of single operators: its calls by the names of `native/src/bench/operators/cases.rs`, on the
// same operands, with a digest of what they give. `operators.html` runs it in a browser, `tfjs_operators.mjs` in Node on Dawn.

const NAN = [NaN, NaN, NaN];

// What keeps channels last here comes with channels first: operands are brought in order once, before any clock runs.
const image = (tf, x) => tf.transpose(x, [0, 2, 3, 1]);
const filter = (tf, w) => tf.transpose(w, [2, 3, 1, 0]);
const images = { back: (tf, y) => (y.rank === 4 ? tf.transpose(y, [0, 3, 1, 2]) : y) };

const conv2d = (strides, pad) => ({
  ...images,
  prepare: (tf, x, w, b) => [image(tf, x), filter(tf, w), b],
  call: (tf, x, filter, bias) => tf.fused.conv2d({ x, filter, bias, strides, pad, dimRoundingMode: 'floor' }),
});
const pooling = call => ({ ...images, prepare: (tf, x) => [image(tf, x)], call });

// One call of a public function each; operators that TensorFlow.js lacks are not composed here.
const OPERATORS = {
  add: (tf, a, b) => tf.add(a, b),
  add_bias: (tf, a, b) => tf.add(a, b),
  mul_scalar: (tf, a) => tf.mul(a, 1.5),
  relu: (tf, a) => tf.relu(a),
  sigmoid: (tf, a) => tf.sigmoid(a),
  clamp: (tf, a) => tf.clipByValue(a, -0.5, 0.5),
  where: (tf, c, a, b) => tf.where(c, a, b),
  sum_rows: (tf, a) => tf.sum(a, -1),
  sum_columns: (tf, a) => tf.sum(a, 0),
  sum_all: (tf, a) => tf.sum(a),
  mean_all: (tf, a) => tf.mean(a),
  amax_rows: (tf, a) => tf.max(a, -1),
  argmax: (tf, a) => tf.argMax(a, -1),
  norm: (tf, a) => tf.norm(a),
  logsumexp: (tf, a) => tf.logSumExp(a, -1),
  cumsum_rows: (tf, a) => tf.cumsum(a, 1),
  cumsum_columns: (tf, a) => tf.cumsum(a, 0),
  cumsum_long: (tf, a) => tf.cumsum(a, 0),
  cumprod: (tf, a) => tf.cumprod(a, 1),
  topk: (tf, a) => { const { values, indices } = tf.topk(a, 8); return [values, indices]; },
  softmax: (tf, a) => tf.softmax(a),
  log_softmax: (tf, a) => tf.logSoftmax(a),
  batch_norm_eval: {
    ...images,
    prepare: (tf, a, ...rest) => [image(tf, a), ...rest],
    call: (tf, a, m, v, w, b) => tf.batchNorm(a, m, v, b, w, 1e-5),
  },
  matmul: (tf, a, b) => tf.matMul(a, b),
  mv: (tf, a, b) => tf.dot(a, b),
  bmm: (tf, a, b) => tf.matMul(a, b),
  linear: (tf, a, b, bias) => tf.fused.matMul({ a, b, bias, transposeB: true }),
  einsum: (tf, a, b) => tf.einsum('bqhd,bkhd->bhqk', a, b),
  conv2d_3x3: conv2d(1, 1),
  conv2d_1x1: conv2d(1, 0),
  conv2d_strided: conv2d(2, 3),
  conv2d_depthwise: {
    ...images,
    prepare: (tf, x, w, b) => [image(tf, x), tf.transpose(w, [2, 3, 0, 1]), b],
    call: (tf, x, filter, bias) => tf.fused.depthwiseConv2d({ x, filter, bias, strides: 1, pad: 'same' }),
  },
  conv_transpose2d: {
    ...images,
    prepare: (tf, x, w, b) => [image(tf, x), filter(tf, w), b],
    call: (tf, x, w, b) => {
      const [n, h, v] = x.shape;
      return tf.tidy(() => tf.add(tf.conv2dTranspose(x, w, [n, 2 * h, 2 * v, w.shape[2]], 2, 1, 'floor'), b));
    },
  },
  conv1d: {
    prepare: (tf, x, w, b) => [tf.transpose(x, [0, 2, 1]), tf.transpose(w, [2, 1, 0]), b],
    call: (tf, x, w, b) => tf.tidy(() => tf.add(tf.conv1d(x, w, 1, 'same'), b)),
    back: (tf, y) => tf.transpose(y, [0, 2, 1]),
  },
  max_pool2d: pooling((tf, x) => tf.maxPool(x, 3, 2, 1, 'floor')),
  avg_pool2d: pooling((tf, x) => tf.avgPool(x, 2, 2, 'valid')),
  adaptive_avg_pool2d: pooling((tf, x) => tf.mean(x, [1, 2])),
  interpolate_nearest: pooling((tf, x) => tf.image.resizeNearestNeighbor(x, [2 * x.shape[1], 2 * x.shape[2]])),
  interpolate_bilinear: pooling((tf, x) => tf.image.resizeBilinear(x, [2 * x.shape[1], 2 * x.shape[2]], false, true)),
  embedding: (tf, w, i) => tf.gather(w, i),
  index_select: (tf, a, i) => tf.gather(a, i),
  transpose: (tf, a) => tf.transpose(a),
  permute: (tf, a) => tf.transpose(a, [0, 2, 1, 3]),
  cat: (tf, a, b) => tf.concat([a, b], 1),
  stack: (tf, a, b) => tf.stack([a, b]),
  pad: (tf, a) => tf.pad(a, [[0, 0], [0, 0], [1, 1], [1, 1]]),
  flip: (tf, a) => tf.reverse(a, 1),
  mse_loss: (tf, a, b) => tf.losses.meanSquaredError(a, b),
  cross_entropy: {
    // Probabilities, which is all that it takes.
    prepare: (tf, x, i) => [x, tf.oneHot(i, x.shape[1]).toFloat()],
    call: (tf, x, y) => tf.losses.softmaxCrossEntropy(y, x),
  },
  bce_with_logits: (tf, a, b) => tf.losses.sigmoidCrossEntropy(b, a),
  fft: {
    prepare: (tf, x) => [tf.complex(...tf.unstack(x, -1))],
    call: (tf, x) => tf.spectral.fft(x),
    back: (tf, y) => tf.stack([tf.real(y), tf.imag(y)], -1),
  },
  rfft: { call: (tf, x) => tf.spectral.rfft(x), back: (tf, y) => tf.stack([tf.real(y), tf.imag(y)], -1) },
};

/** The operators that TensorFlow.js has. */
export const names = Object.keys(OPERATORS);

/** The noise of the benchmark's operands (`noise` in `native/src/bench/operators/call.rs`), of a type. */
function noise(dtype, count, values, seed) {
  let state = (Math.imul(seed, 0x9e3779b9) | 1) >>> 0;
  const data = dtype === 'i32' ? new Int32Array(count) : dtype === 'bool' ? new Uint8Array(count) : new Float32Array(count);
  const bits = new Uint32Array(1), float = new Float32Array(bits.buffer);
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    if (dtype === 'f32') {
      const x = Math.fround(state | 0) / 2147483648;
      data[i] = values === 'positive' ? Math.abs(x) : x;
      continue;
    }
    float[0] = Math.fround(state | 0) / 2147483648;
    data[i] = dtype === 'bool' ? bits[0] & 1 : bits[0] % values;
  }
  return data;
}

// Many operators have the same operands; those of large ones take long to make.
const made = new Map();

function operand(tf, [dtype, shape, values], seed) {
  const count = shape.reduce((a, b) => a * b, 1), key = [dtype, count, values, seed].join();
  if (!made.has(key)) made.set(key, noise(dtype, count, values, seed));
  return tf.tensor(made.get(key), shape, { f32: 'float32', i32: 'int32', bool: 'bool' }[dtype]);
}

/** Three numbers of what a result holds: the means of its values, of their sizes, and of the values weighted by their place. */
export function digest(values) {
  let sum = 0, size = 0, placed = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i];
    size += Math.abs(values[i]);
    placed += values[i] * ((i * 37 % 101) / 101);
  }
  return values.length ? [sum, size, placed].map(x => x / values.length) : NAN;
}

/** The first and the last of a result's rows: what is compared, for reading all of it takes longer than computing it. */
async function ends(tf, y) {
  const parts = tf.tidy(() => {
    if (y.rank === 0) return [y.clone()];
    const count = y.rank === 1 ? Math.min(4096, y.shape[0]) : 1;
    const rest = y.shape.slice(1);
    return [0, y.shape[0] - count].map(at => tf.slice(y, [at, ...rest.map(() => 0)], [count, ...rest]));
  });
  const read = [];
  for (const p of parts) for (const v of await p.data()) read.push(v);
  tf.dispose(parts);
  return read;
}

/** TensorFlow.js on its WebGPU backend, set to run every operator there. */
export async function open(tf) {
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  if (!await tf.setBackend('webgpu')) throw new Error('TensorFlow.js has no WebGPU backend here');
  await tf.ready();
  const backend = tf.backend();
  let fault = null, dispatches = 0;
  backend.device.addEventListener('uncapturederror', e => { fault ??= e.error.message; });
  const pass = Object.getPrototypeOf(backend.device.createCommandEncoder().beginComputePass()), dispatch = pass.dispatchWorkgroups;
  pass.dispatchWorkgroups = function (...sizes) { dispatches++; return dispatch.apply(this, sizes); };
  const finish = async () => {
    if (backend.commandEncoder) {
      // As its own reading back does: an encoder is finished without an open pass.
      backend.endComputePassEncoder();
      backend.submitQueue();
    }
    await backend.device.queue.onSubmittedWorkDone();
    if (fault) throw new Error(fault);
  };
  /** One operator on operands of its own. */
  const prepare = async (name, operands) => {
    const { prepare, call, back } = typeof OPERATORS[name] === 'function' ? { call: OPERATORS[name] } : OPERATORS[name];
    const given = operands.map((o, i) => operand(tf, o, i));
    const taken = prepare ? tf.tidy(() => prepare(tf, ...given)) : given;
    const run = () => tf.dispose(call(tf, ...taken));
    run();
    await finish();
    const before = dispatches;
    run();
    await finish();
    return {
      kernels: dispatches - before,
      issue(n) { for (let i = 0; i < n; i++) run(); },
      finish,
      /** A digest of the first result. */
      async digest() {
        const y = tf.tidy(() => { const y = [call(tf, ...taken)].flat()[0]; return back ? back(tf, y) : y; });
        const read = await ends(tf, y);
        tf.dispose(y);
        return digest(read);
      },
      dispose() { tf.dispose([...given, ...taken]); },
    };
  };
  return { prepare, version: tf.version['tfjs-core'], forget: () => { fault = null; } };
}
