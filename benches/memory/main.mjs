// npm run bench:memory [-- --quick] [-- --against CHECKOUT]: guard's memory by kind: the default server before, under and after load, and
// models one by one. `--against` names a built checkout of another version, measured in turn. Linux only.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import autocannon from "autocannon";
import { formatMachine, machineInfo } from "../machine.mjs";
import { saveResults } from "../results.mjs";
import { median } from "../stats.mjs";
import { formatNumber, printTable } from "../table.mjs";
import { prompts } from "../texts/prompts.mjs";
import { writeModel } from "./onnx-model.mjs";
import { memoryOf } from "./smaps.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, against: { type: "string" } },
});
const ROUNDS = flags.quick ? 1 : 3;
const LOAD_MS = flags.quick ? 1000 : 30_000;
/** guard releases memory two seconds after the last scan; the full form waits longer to be sure. */
const REST_MS = flags.quick ? 2500 : 12_000;
const EMBEDDED = ["embedded:prompt-injection", "embedded:moderation", "embedded:multitask", "embedded:ner"].slice(
  0,
  flags.quick ? 1 : undefined,
);
const CUSTOM = ["one", "two"].slice(0, flags.quick ? 1 : 2);
/** Settings of models.mjs. */
const MODEL_SETTINGS = flags.quick
  ? { restMs: 2500, callers: 2, calls: 2, longTextPrompts: 4 }
  : { restMs: 5000, callers: 16, calls: 4, longTextPrompts: 30 };

const here = fileURLToPath(new URL("../../", import.meta.url));
const machine = machineInfo();
console.log(formatMachine(machine));
const checkouts = { here, ...(flags.against && { against: resolve(flags.against) }) };
const folder = mkdtempSync(join(tmpdir(), "guard-memory-"));
const custom = CUSTOM.map((name) => join(folder, name));
const rounds = [];
try {
  custom.forEach((model, index) => {
    writeModel(model, join(here, "models/words/tokenizer.json"), index + 1);
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [checkout, root] of Object.entries(checkouts)) {
      const embedded = await measureModels(root, EMBEDDED);
      rounds.push({ checkout, server: await measureServer(root), embedded, custom: await measureModels(root, custom) });
    }
  }
  const size = statSync(join(custom[0], "model.onnx")).size / 2 ** 20;
  for (const checkout of Object.keys(checkouts)) print(checkout, size);
} finally {
  rmSync(folder, { recursive: true });
}
console.log();
saveResults("memory", { quick: flags.quick, machine, rounds });

/** The default server: when it is ready, after a rest, under load, and after the load. */
async function measureServer(root) {
  const { withServer } = await import(pathToFileURL(join(root, "benches/server.mjs")).href);
  return withServer(join(root, "scanners.yml"), async ({ url, server }) => {
    const steps = [{ step: "ready", ...memoryOf(server.pid) }];
    const step = (name) => steps.push({ step: name, ...memoryOf(server.pid) });
    await sleep(REST_MS);
    step("idle");
    const next = prompts(2);
    const { "2xx": answered, errors } = await autocannon({
      url,
      connections: 16,
      duration: LOAD_MS / 1000,
      requests: [
        {
          method: "POST",
          path: "/analyze/prompt",
          headers: { "content-type": "application/json" },
          setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: next() }) }),
        },
      ],
    });
    // Refused requests do not matter here: a slow machine refuses some.
    if (errors > 0 || answered === 0) throw new Error(`${errors} errors and ${answered} answers`);
    step("under load");
    await sleep(REST_MS);
    step("after load");
    return steps;
  });
}

/** Models in one process, one by one. */
async function measureModels(root, sources) {
  const child = fileURLToPath(new URL("models.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [child, root, JSON.stringify(MODEL_SETTINGS), ...sources],
    { maxBuffer: 2 ** 24 },
  );
  return JSON.parse(stdout);
}

function print(checkout, size) {
  const ofCheckout = rounds.filter((round) => round.checkout === checkout);
  const figure = (part, index, name) => median(ofCheckout.map((round) => round[part][index][name]));
  const row = (part, index, step) => [
    step,
    ...["total", "anonymous", "proportional"].map((name) => formatNumber(figure(part, index, name))),
    index === 0 ? "" : formatNumber(figure(part, index, "total") - figure(part, index - 1, "total")),
  ];
  const title = checkout === "here" ? "This checkout" : `The checkout ${flags.against}`;
  console.log(
    `\n${title}, MB, median of ${ofCheckout.length} rounds. "anonymous" pages have no file; "proportional" divides shared pages among processes.`,
  );
  const head = (title) => [title, "resident", "anonymous", "proportional", "growth"];
  printTable(
    head("server with scanners.yml"),
    ofCheckout[0].server.map(({ step }, index) => row("server", index, step)),
  );
  console.log();
  printTable(
    head("embedded models in one process"),
    ofCheckout[0].embedded.map(({ step }, index) => row("embedded", index, step)),
  );
  console.log();
  printTable(
    head(`fp32 models of ${formatNumber(size)} MB in one process`),
    ofCheckout[0].custom.map(({ step }, index) => row("custom", index, step.startsWith("/") ? `model ${index}` : step)),
  );
}
