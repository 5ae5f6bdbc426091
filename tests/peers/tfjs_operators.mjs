// TensorFlow.js's operators one by one in an eager loop, on a GPU in Node: the peer of `aludel bench --only operators --peer tfjs`.
//
//     npm install webgpu @tensorflow/tfjs @tensorflow/tfjs-backend-webgpu
//     node tests/peers/tfjs_operators.mjs < REQUESTS
//
// Standard input is [[name, size, [[dtype, shape, values], ..]], ..] in JSON, as `torch_operators.py` reads it; modules are looked for
// from the current directory. Each line: peer NAME SIZE ms MILLISECONDS kernels COUNT digest A,B,C.
// The adapter is Dawn's choice; DAWN_OPTIONS has Dawn's own, separated by blanks.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
import * as peer from './tfjs.mjs';

const SLICES = 5, SLICE_MS = 20;

const require = createRequire(process.cwd() + '/'), { resolve } = require;
const dawn = await import(resolve('webgpu'));
Object.assign(globalThis, dawn.globals);
const gpu = dawn.create((process.env.DAWN_OPTIONS ?? '').split(' ').filter(o => o));
Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node', hardwareConcurrency: 8 }, configurable: true });
// The files that pages load, as pages load them; seeing Node, they also ask for its modules.
globalThis.require = require;
for (const file of ['@tensorflow/tfjs/dist/tf.min.js', '@tensorflow/tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js']) {
  runInThisContext(readFileSync(resolve(file), 'utf8'), file);
}

const { info } = await gpu.requestAdapter({ powerPreference: 'high-performance' });
const theirs = await peer.open(tf);
console.log(`TensorFlow.js ${theirs.version} on ${info.vendor} ${info.description || info.device}`);

const time = async (run, n) => {
  const begin = performance.now();
  run.issue(n);
  await run.finish();
  return (performance.now() - begin) / n;
};

for (const [name, size, operands] of JSON.parse(readFileSync(0, 'utf8'))) {
  if (!peer.names.includes(name)) continue;
  try {
    const run = await theirs.prepare(name, operands);
    const digest = (await run.digest()).map(x => x.toPrecision(9)).join();
    await time(run, 3);
    const runs = Math.max(1, Math.min(5000, Math.floor(SLICE_MS / Math.max(await time(run, 1), 1e-3))));
    const times = [];
    for (let i = 0; i < SLICES; i++) times.push(await time(run, runs));
    times.sort((a, b) => a - b);
    console.log(`peer ${name} ${size} ms ${times[SLICES >> 1].toFixed(6)} kernels ${run.kernels} digest ${digest}`);
    run.dispose();
  } catch (e) {
    // One that fails is no reason to leave the others out.
    console.error(`failed ${name} ${size}: ${String(e).slice(0, 400)}`);
    theirs.forget();
  }
}
process.exit(0);
