// The worker that runs scripts: the second module, loaded when the code view is. Without a GPU, or where the page asks for the CPU, another
// one that has both.
const gpu = !new URL(import.meta.url).searchParams.has("cpu") && (await navigator.gpu?.requestAdapter().catch(() => null));
const { default: init } = await import(gpu ? "./aludel_script.js" : "./cpu/aludel_script_cpu.js");
// A package of the library that few scripts import: the machine waits for it.
self.libraryFile = async (name, version) => {
  const answer = await fetch(new URL(`library/${name}.txt?${version}`, import.meta.url), { signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
  return answer.text();
};
// A panic, which says nothing where the module is built to ship, is the page's to hear of where a promise would keep it, too.
self.addEventListener("unhandledrejection", (e) => {
  if (e.reason instanceof WebAssembly.RuntimeError) throw e.reason;
});
await init();
