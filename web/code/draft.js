// What stays when the page goes: drafts in the browser's storage, and scripts in links.

const DRAFTS = "aludel-code";

function stored() {
  // Storage may be closed to us; drafts then last as long as the page.
  try {
    return JSON.parse(localStorage.getItem(DRAFTS)) ?? {};
  } catch {
    return {};
  }
}

/** The draft of a name, `{ text, args, files }`, if there is one. */
export function draft(name) {
  return stored().drafts?.[name];
}

/** The name that was open last. */
export function last() {
  return stored().last;
}

/** Keeps a draft and its name as the last; without a draft only the name. */
export function keep(name, kept) {
  const all = stored();
  all.last = name;
  all.drafts = { ...all.drafts, [name]: kept };
  if (!kept) delete all.drafts[name];
  try {
    localStorage.setItem(DRAFTS, JSON.stringify(all));
  } catch {}
}

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** The fragment of a link that brings a script: compressed, as base64url. */
export async function fragment(script) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(script)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return "#script=" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The most that a link's script may hold, in characters. */
const LONGEST = 1 << 20;

/** The script of a fragment, `{ name, text, args, files }`; `null` where it brings none. An error where it is damaged. */
export async function shared(hash) {
  if (!hash.startsWith("#script=")) return null;
  const packed = Uint8Array.from(atob(hash.slice(8).replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  // Never more than a script may be long, however well it is packed.
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > LONGEST) throw new Error("it is too long");
  }
  const script = JSON.parse(text + decoder.decode());
  if (typeof script?.text !== "string") throw new Error("there is no script in it");
  const files = Object.fromEntries(Object.entries(script.files ?? {}).filter(([, text]) => typeof text === "string"));
  return { name: String(script.name ?? "script.py").slice(0, 80), text: script.text, args: String(script.args ?? "").slice(0, 400), files };
}
