// The worker that trains. It loads the module that the page loads; without a window, the module trains instead of drawing. Without a GPU, or
// where the page asks for the CPU, it loads another one, which trains on both.
const gpu = !new URL(import.meta.url).searchParams.has("cpu") && (await navigator.gpu?.requestAdapter().catch(() => null));
const { default: init } = await import(gpu ? "./aludel.js" : "./cpu/aludel_cpu.js");
await init();
