// Loads models into one process, one after the other, and tells its memory after each, after many texts at a time, and after a rest:
//   node benches/memory/models.mjs ROOT FOLDER...
// ROOT is the checkout whose library is measured. Prints one JSON object.

import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { prompts } from "../texts/prompts.mjs";
import { memoryOf } from "./smaps.mjs";

/** Longer than it takes until memory is given back. */
const REST_MS = 5000;

const [root, ...sources] = process.argv.slice(2);
const { Engine } = await import(pathToFileURL(`${root}/dist/models/engine.js`).href);
const engine = new Engine({ threads: 2, queueCapacity: 64 });
await engine.info();
const steps = [{ step: "library", ...memoryOf(process.pid) }];
const models = [];
for (const source of sources) {
  const model = engine.model(source);
  await model.classify("Which trains run on Sunday?", "windows");
  models.push(model);
  // What the first run took is given back as well.
  await sleep(REST_MS);
  steps.push({ step: source, ...memoryOf(process.pid) });
}
const next = prompts(3);
const long = () => Array.from({ length: 30 }, next).join(" ");
const ask = async () => {
  for (let count = 0; count < 4; count++) {
    for (const model of models) await model.classify(count % 2 ? next() : long(), "windows");
  }
};
await Promise.all(Array.from({ length: 16 }, ask));
steps.push({ step: "busy", ...memoryOf(process.pid) });
await sleep(REST_MS);
steps.push({ step: "after", ...memoryOf(process.pid) });
console.log(JSON.stringify(steps));
await engine.close();
