// Loads models into one process in sequence, and measures its memory after each, after concurrent calls, and after a rest:
//   node benches/memory/models.mjs ROOT SETTINGS MODEL...
// ROOT is the checkout whose library is measured. SETTINGS is a JSON object with `restMs`, the milliseconds until the engine has released
// the memory of earlier runs, `callers`, `calls` of each, and `longTextPrompts` of which a long text is made. Prints one JSON object.
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { prompts } from "../texts/prompts.mjs";
import { memoryOf } from "./smaps.mjs";

const [root, settings, ...sources] = process.argv.slice(2);
const { restMs, callers, calls, longTextPrompts } = JSON.parse(settings);
const rest = () => sleep(restMs);
const { Engine } = await import(pathToFileURL(`${root}/dist/models/engine.js`).href);
const engine = new Engine({ threads: 2, queueCapacity: 64 });
await engine.info();
const steps = [{ step: "library", ...memoryOf(process.pid) }];
const models = [];
for (const source of sources) {
  const model = engine.model(source);
  await model.classify("Which trains run on Sunday?", { strategy: "windows" });
  models.push(model);
  await rest();
  steps.push({ step: source, ...memoryOf(process.pid) });
}
const next = prompts(3);
const longText = () => Array.from({ length: longTextPrompts }, next).join(" ");
const classify = async () => {
  for (let count = 0; count < calls; count++) {
    for (const model of models) await model.classify(count % 2 ? next() : longText(), { strategy: "windows" });
  }
};
await Promise.all(Array.from({ length: callers }, classify));
steps.push({ step: "busy", ...memoryOf(process.pid) });
await rest();
steps.push({ step: "after", ...memoryOf(process.pid) });
console.log(JSON.stringify(steps));
await engine.close();
