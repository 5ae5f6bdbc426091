// The worker that runs scripts: the second module, loaded when the code view is.
import init from "./aludel_script.js";
await init();
