// Threads beside the one that trains: workers that share the executor's memory and run pieces of a kernel with it. `browser.rs` calls this
// file, and its workers load it.
//
// A launch is opened to whoever is awake: a worker that joins takes pieces until there are none, and the trainer, which takes pieces
// itself, closes the launch and waits for those alone that have joined. One that sleeps, or never started, holds nobody up.

const NAME = "aludel-thread";

// Words of control. STATE holds a launch's number, whether it is open, and how many workers are at it.
const STATE = 0, NEXT = 1, END = 2, EACH = 3, KERNEL = 4, ROW = 5, BINDINGS = 6, SCRATCH = 7, STRIDE = 8, FAILED = 9, MESSAGES = 10, WORDS = 11;
const OPEN = 0x100, JOINED = 0xff, NUMBER = 9;
/** Looks at a word before going to sleep: some tens of microseconds, about what waking up takes. */
const LOOKS = 20000;

/** Waits until a word is not what it was. */
function changed(control, word, was) {
  for (let i = 0; i < LOOKS; i++) if (Atomics.load(control, word) !== was) return;
  Atomics.wait(control, word, was);
}

/** Takes pieces until there are none. */
function work(control, main, scratch) {
  const [row, bindings, end, each] = [ROW, BINDINGS, END, EACH].map((word) => control[word]);
  for (let at; (at = Atomics.add(control, NEXT, each)) < end;) main(row, bindings, at, Math.min(at + each, end), scratch);
}

/** The trainer's end. */
export class Team {
  #control;
  #memory;
  #workers;

  constructor(memory, count) {
    const control = new Int32Array(new SharedArrayBuffer(4 * WORDS));
    this.#control = control;
    this.#memory = memory;
    this.#workers = Array.from({ length: Math.min(count, JOINED) }, (_, i) => {
      const worker = new Worker(import.meta.url, { type: "module", name: NAME });
      // Without it the others do its work.
      worker.onerror = (e) => e.preventDefault();
      worker.postMessage({ control, memory, thread: i + 1 });
      return worker;
    });
  }

  /** Gives a kernel's module to all. */
  add(module) {
    for (const worker of this.#workers) worker.postMessage({ module });
    Atomics.add(this.#control, MESSAGES, 1);
    Atomics.notify(this.#control, STATE);
  }

  /** Runs pieces 0 to `end` of a kernel, whose function here is `main`, `each` at a time. */
  run(main, kernel, row, bindings, end, each, scratch, stride) {
    const control = this.#control;
    const number = (control[STATE] >>> NUMBER) + 1;
    const values = { [NEXT]: 0, [END]: end, [EACH]: each, [KERNEL]: kernel, [ROW]: row, [BINDINGS]: bindings, [SCRATCH]: scratch, [STRIDE]: stride };
    for (const word in values) control[word] = values[word];
    Atomics.store(control, STATE, (number << NUMBER) | OPEN);
    Atomics.notify(control, STATE);
    try {
      work(control, main, scratch);
    } finally {
      // After a trap here the others stop too.
      Atomics.store(control, NEXT, end);
      Atomics.and(control, STATE, ~OPEN);
      for (let state; (state = Atomics.load(control, STATE)) & JOINED;) changed(control, STATE, state);
    }
    if (Atomics.exchange(control, FAILED, 0)) throw new Error("a thread beside the trainer's failed");
  }

  end() {
    for (const worker of this.#workers) worker.terminate();
  }
}

/** A worker's end: waits for launches, but for when a message is on its way, which only arrives where nothing runs. */
function serve(self) {
  const { control, kernels } = self;
  for (;;) {
    const state = Atomics.load(control, STATE);
    // Looked at after the state: whoever sees a launch sees its kernel announced.
    if (Atomics.load(control, MESSAGES) !== kernels.length) return;
    if (!(state & OPEN) || state >>> NUMBER === self.done) {
      changed(control, STATE, state);
      continue;
    }
    if (Atomics.compareExchange(control, STATE, state, state + 1) !== state) continue;
    try {
      work(control, kernels[control[KERNEL]], control[SCRATCH] + self.thread * control[STRIDE]);
    } catch {
      Atomics.store(control, FAILED, 1);
    }
    self.done = state >>> NUMBER;
    Atomics.sub(control, STATE, 1);
    Atomics.notify(control, STATE);
  }
}

if (globalThis.name === NAME) {
  const self = { kernels: [], done: -1 };
  onmessage = ({ data }) => {
    if (data.module) self.kernels.push(new WebAssembly.Instance(data.module, { aludel: { memory: self.memory } }).exports.main);
    else Object.assign(self, data);
    serve(self);
  };
}
