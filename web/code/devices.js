// On which device each pane runs: this page's GPU or CPU, or one that a companion server lends.
import { lent } from "./remote.js";

const $ = (id) => document.getElementById(id);
/** As the page that trains presets keeps it: for this tab, by the server's address. */
const item = (address) => `aludel-token ${address}`;
const HERE = "", CPU = "cpu";

/** Storage may be closed to us; then a reload begins anew. */
const remembered = (key) => { try { return sessionStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { sessionStorage.setItem(key, value); } catch {} };

export class Devices {
  #server = null;
  #own = null;
  #changed;

  /** `changed` is called when a pane is given another device. */
  constructor(changed) {
    this.#changed = changed;
    $("server-form").onsubmit = (e) => {
      e.preventDefault();
      const address = $("server-address").value.trim();
      if (address) this.#connect(address, $("server-token").value.trim() || remembered(item(address)), item(address));
    };
  }

  /** Looks for the server that this page comes from, or that this tab knows. */
  async begin() {
    const statement = await fetch("api/server").then((r) => r.json()).catch(() => ({}));
    const here = new URL("./", location.href).href;
    const known = remembered("aludel-script-server");
    if (statement.server) await this.#connect(here, remembered(item("this page")), item("this page"));
    else if (known) await this.#connect(known, remembered(item(known)), item(known));
  }

  async #connect(address, token, key) {
    const say = (text) => ($("server-state").textContent = text);
    say(`Asking ${address} …`);
    $("server-address").value = address;
    try {
      const devices = await lent({ address, token });
      this.#server = { address, token, devices };
      if (token) remember(key, token);
      remember("aludel-script-server", address);
      say(`Lends ${devices.map((d) => d.backend).join(", ")}: choose one in either pane.`);
    } catch (e) {
      this.#server = null;
      say(e.needs ? (token ? "That is not the server's token." : "This server asks for the token that it was started with.") : `${address}: ${e.message}.`);
    }
    this.show();
  }

  /** What this page runs on by itself. */
  own(backend) {
    this.#own = backend;
    this.show();
  }

  /** Puts the choices into both panes; what was chosen stays where it is still there. */
  show() {
    for (const select of document.querySelectorAll("select.on")) {
      const chosen = select.value;
      const choices = [[HERE, this.#own ? `This page (${this.#own})` : "This page"], ...(this.#own === "WebGPU" ? [[CPU, "This page (WebAssembly)"]] : []), ...(this.#server?.devices ?? []).map((d) => [d.id, `Server ${d.backend}${/:[1-9]/.test(d.id) ? ` ${d.id.split(":")[1]}` : ""}`])];
      select.replaceChildren(...choices.map(([value, textContent]) => Object.assign(document.createElement("option"), { value, textContent })));
      select.value = choices.some(([value]) => value === chosen) ? chosen : HERE;
      select.hidden = choices.length < 2;
      select.onchange = this.#changed;
    }
  }

  /** Where in this page a pane runs, on its own device or on the CPU beside its GPU. */
  here(lane) {
    return $(`${lane}-on`).value === CPU ? "cpu" : "own";
  }

  /** Where a pane runs; `null`: in this page. */
  of(lane) {
    const device = this.#server?.devices.findIndex((d) => d.id === $(`${lane}-on`).value) ?? -1;
    return device < 0 ? null : { ...this.#server, device };
  }
}
