// The visitor's files in the browser's own storage (the origin private file system), where that is asked for.

const FOLDER = "aludel-files";
const ASKED = "aludel-keep";

const folder = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });

/** Whether files are kept. */
export function isKept() {
  try {
    return localStorage.getItem(ASKED) === "1";
  } catch {
    return false;
  }
}

/** Keeps files from here on, or forgets all. */
export async function keep(on) {
  try {
    if (on) localStorage.setItem(ASKED, "1");
    else localStorage.removeItem(ASKED);
  } catch {}
  if (!on) await (await navigator.storage.getDirectory()).removeEntry(FOLDER, { recursive: true }).catch(() => {});
}

/** Keeps a file; without bytes it is forgotten. */
export async function store(name, bytes) {
  if (!isKept()) return;
  const to = await folder();
  if (!bytes) return to.removeEntry(name).catch(() => {});
  const writable = await (await to.getFileHandle(name, { create: true })).createWritable();
  await writable.write(bytes);
  await writable.close();
}

/** The files that are kept, as `[name, bytes]`. */
export async function kept() {
  if (!isKept()) return [];
  const files = [];
  for await (const [name, handle] of (await folder()).entries()) {
    if (handle.kind === "file") files.push([name, new Uint8Array(await (await handle.getFile()).arrayBuffer())]);
  }
  return files;
}
