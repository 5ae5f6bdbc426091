// The worker that trains. It loads the module that the page loads; without a window, the module trains instead of drawing.
import init from "./aludel.js";
await init();
