// A pane's script on a companion server, which runs it in a process of its own: text frames of JSON (crates/protocol/src/script.rs).

/** The server's `REMOTE_VERSION`. */
const VERSION = 4;
/** Milliseconds until a connection that broke is made again, and how often in a row that is tried. */
const AGAIN = 1000, TRIES = 30;
/** A server that says nothing for so long is not there. */
const PATIENCE = 10000;

/** `host:port`, `http://…` or `wss://…` as the address of the scripts' socket. */
function socketAddress(address) {
  const [, scheme = "ws", rest] = /^(?:(\w+):\/\/)?(.+)$/.exec(address.trim()) ?? [];
  if (!rest || !["http", "https", "ws", "wss"].includes(scheme)) throw new Error(`\`${address}\` is no address: write host:port, or https://host`);
  return `${/s$/.test(scheme) ? "wss" : "ws"}://${rest.replace(/[?#].*$/, "").replace(/\/$/, "")}/ws/script`;
}

const packed = (bytes) => {
  let text = "";
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(text);
};
const unpacked = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Opens a socket and says hello; `hear(kind, what)` hears all that follows, `closed` at the end. */
function connect({ address, token }, resume, hear) {
  const socket = new WebSocket(socketAddress(address));
  socket.onopen = () => socket.send(JSON.stringify({ Hello: { version: VERSION, token: token || null, resume } }));
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (typeof message === "string") hear(message, {});
    else for (const [kind, what] of Object.entries(message)) hear(kind, what);
  };
  socket.onclose = () => hear("closed", {});
  return socket;
}

/** What a server lends: its devices, or an error in words; `needs` where it wants a token. */
export function lent(server) {
  return new Promise((resolve, reject) => {
    let socket = null;
    const fail = (why, needs) => (clearTimeout(late), socket?.close(), reject(Object.assign(new Error(why), { needs })));
    const late = setTimeout(() => fail("it does not answer"), PATIENCE);
    const hear = (kind, what) => {
      if (kind === "Welcome") resolve(what.devices), clearTimeout(late), socket.close();
      else if (kind === "Refused") fail(what.message, what.refusal === "Token");
      else if (kind === "closed") fail("no companion server answers there, or it does not let this page in");
    };
    try {
      socket = connect(server, null, hear);
    } catch (e) {
      fail(e.message);
    }
  });
}

/** One run of a script on a server. */
export class Remote {
  #server;
  #job;
  #heard;
  #socket = null;
  #key = null;
  #waiting = [];
  #tries = 0;
  #over = false;

  /** `heard` is told what a worker of this page would tell (`session.js`), and `whole` where all that was told comes again. */
  constructor(server, lane, script, files, heard) {
    this.#server = server;
    this.#heard = (kind, what) => heard({ kind, lane, ...what });
    const { name, text, args, before } = script;
    const pane = lane === "eager" ? "Eager" : "Compiled";
    this.#job = { device: server.device, pane, name, text, args, before, files: [...files].map(([path, bytes]) => [path, packed(bytes)]) };
    this.#waiting = [{ Create: this.#job }, { Run: { steps: null } }];
    this.#open();
  }

  #open() {
    try {
      this.#socket = connect(this.#server, this.#key, (kind, what) => this.#hear(kind, what));
    } catch (e) {
      this.#end(e.message);
    }
  }

  #hear(kind, what) {
    if (kind === "Welcome") {
      if (this.#key && !what.resumed) return this.#end("The server no longer has this script: it was lost with its values.");
      this.#tries = 0;
      for (const message of this.#waiting.splice(0)) this.#socket.send(JSON.stringify(message));
    } else if (kind === "Created") this.#key = what.session;
    else if (kind === "Report") this.#report(what);
    else if (kind === "Inspected") this.#heard("inspected", what);
    else if (kind === "Failed" || kind === "Refused") this.#end(`Server: ${what.message}.`);
    else if (kind === "TakenOver") this.#end("Another page has taken this script up.");
    else if (kind === "closed") this.#again();
  }

  /** The script goes on meanwhile: it is taken up again. */
  #again() {
    this.#socket = null;
    if (this.#over) return;
    if (!this.#key || (this.#tries += 1) > TRIES) return this.#end(this.#key ? "The server is out of reach." : "No companion server answers there.");
    setTimeout(() => this.#over || this.#open(), AGAIN);
  }

  #report(what) {
    if (what.whole) this.#heard("whole", {});
    const files = what.files.map(([path, bytes]) => [path, unpacked(bytes)]);
    const figures = what.figures.map(([name, media, bytes]) => [name, media, unpacked(bytes)]);
    this.#heard("progress", { output: what.output, numbers: what.numbers, files, figures, logged: what.logged, at: what.at });
    if (what.lines) this.#heard("lines", { lines: what.lines });
    if (what.losses.length) this.#heard("losses", { losses: what.losses.map(([line, step, value]) => [line, step, value ?? NaN]) });
    if (what.asks !== null) this.#heard("asks", {});
    if (what.ended !== null) this.#end(what.ended, what.ended.includes('  File "') ? what.ended : null, true);
  }

  /** The run is over. The session stays for the inspector where the script ended by itself. */
  #end(why, trace = null, stays = false) {
    if (this.#over) return;
    this.#over = true;
    if (!stays) this.cancel();
    this.#heard("ended", { why: why && !why.endsWith("\n") ? `${why}\n` : why, trace });
  }

  #say(message) {
    if (this.#socket?.readyState === WebSocket.OPEN && this.#key) this.#socket.send(JSON.stringify(message));
    else this.#waiting.push(message);
  }

  get isOver() {
    return this.#over;
  }

  stop() {
    this.#say("Stop");
  }

  pause(on) {
    this.#say(on ? "Pause" : { Run: { steps: null } });
  }

  step() {
    this.#say({ Run: { steps: 1 } });
  }

  answer(line) {
    this.#say({ Answer: { line } });
  }

  inspect() {
    this.#say("Inspect");
  }

  /** Ends the session on the server. */
  cancel() {
    this.#over = true;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify("Cancel"));
    this.#socket?.close();
    this.#socket = null;
  }
}
