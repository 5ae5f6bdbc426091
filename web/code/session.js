// The worker and its messages (web/script/src/message.rs). A worker that does not answer is replaced: nothing that a script does can
// take the page with it.

/** After *Stop* the worker has so many milliseconds to answer. */
const PATIENCE = 5000;

export class Session {
  #worker = null;
  #listening = false;
  #waiting = [];
  #files = new Map();
  #run = 0;
  /** The worker is the one that has the CPU. */
  #cpu;
  #heard;
  #deadline = 0;

  /** `heard(message)` is called with each message of the present run, and with those of the worker itself. */
  constructor(heard, gpu) {
    this.#heard = heard;
    this.gpu = gpu;
    this.#cpu = !gpu;
    this.#start();
  }

  #start() {
    this.#listening = false;
    this.#worker = new Worker(new URL(this.#cpu ? "worker.js?cpu" : "worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (e) => {
      e.preventDefault();
      this.#replace(`The worker that runs scripts has failed: ${e.message || "it could not be loaded"}.`);
    };
    this.#waiting = [{ kind: "open", gpu: this.gpu }];
    for (const [path, bytes] of this.#files) this.#waiting.push({ kind: "file", path, bytes });
  }

  #receive(message) {
    if (message.kind === "listening") {
      this.#listening = true;
      for (const waiting of this.#waiting.splice(0)) this.#worker.postMessage(waiting);
    } else if (message.kind === "ready" && !message.backend && !this.#cpu) {
      // No GPU after all.
      this.#needCpu();
    } else if (message.kind === "died") {
      this.#replace(`The machine that runs scripts has failed: ${message.why}`);
    } else if (message.run === undefined || message.run === this.#run) {
      this.#heard(message);
    }
  }

  /** A new worker in place of one that failed or hangs. */
  #replace(why) {
    clearTimeout(this.#deadline);
    const loaded = this.#listening;
    this.#worker.terminate();
    this.#heard({ kind: "replaced", why });
    // One that cannot even be loaded would fail again.
    if (loaded) this.#start();
  }

  /** Starts the worker that has the CPU in place of the one there is. */
  #needCpu() {
    if (this.#cpu) return;
    this.#cpu = true;
    this.#worker.terminate();
    this.#start();
  }

  #send(message) {
    if (this.#listening) this.#worker.postMessage(message);
    else this.#waiting.push(message);
  }

  run(script) {
    this.over();
    if (script.eager === "cpu" || script.compiled === "cpu") this.#needCpu();
    this.#run += 1;
    this.#send({ kind: "run", run: this.#run, ...script });
  }

  stop() {
    this.#send({ kind: "stop" });
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#replace("Stopped: the script did not let go, so its worker was ended."), PATIENCE);
  }

  /** What was to be stopped has ended. */
  over() {
    clearTimeout(this.#deadline);
  }

  pause(on) {
    this.#send({ kind: "pause", on });
  }

  /** Goes on for one step and pauses. */
  step() {
    this.#send({ kind: "step" });
  }

  /** The line that the script asked for. */
  answer(line) {
    this.#send({ kind: "answer", line });
  }

  /** What the compiler made of the last run: `inspected` is heard. */
  inspect() {
    this.#send({ kind: "inspect" });
  }

  check(text) {
    this.#send({ kind: "check", text });
  }

  /** Files by their paths. */
  get files() {
    return this.#files;
  }

  /** A file for the scripts that run from now on; `null` takes it away. */
  file(path, bytes) {
    if (bytes) this.#files.set(path, bytes);
    else this.#files.delete(path);
    this.#send({ kind: "file", path, bytes });
  }
}
