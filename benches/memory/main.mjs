// npm run bench:memory [-- --quick] [-- --against CHECKOUT]: what guard has in memory, by what it is: the default server before, under and
// after load, and models one by one. With a built checkout of another version, rounds of both are taken in turn. Linux only.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import autocannon from "autocannon";
import { describe, machineNow } from "../machine.mjs";
import { median } from "../stats.mjs";
import { number, printTable } from "../table.mjs";
import { prompts } from "../texts/prompts.mjs";
import { writeModel } from "./graph.mjs";
import { memoryOf } from "./smaps.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, against: { type: "string" } },
});
const ROUNDS = flags.quick ? 1 : 3;
const LOAD_SECONDS = flags.quick ? 4 : 30;
/** Longer than it takes until memory is given back. */
const REST_MS = 12_000;
const EMBEDDED = ["embedded:prompt-injection", "embedded:multitask", "embedded:ner"];

const here = fileURLToPath(new URL("../../", import.meta.url));
const machine = machineNow();
console.log(describe(machine));
const checkouts = { here, ...(flags.against && { against: resolve(flags.against) }) };
const folder = mkdtempSync(join(tmpdir(), "guard-memory-"));
const own = ["one", "two"].map((name) => join(folder, name));
const rounds = [];
try {
  own.forEach((place, index) => {
    writeModel(place, join(here, "models/prompt-injection/tokenizer.json"), index + 1);
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [checkout, root] of Object.entries(checkouts)) {
      const embedded = await models(root, EMBEDDED);
      rounds.push({ checkout, server: await server(root), embedded, own: await models(root, own) });
    }
  }
  const size = statSync(join(own[0], "model.onnx")).size / 2 ** 20;
  for (const checkout of Object.keys(checkouts)) print(checkout, size);
} finally {
  rmSync(folder, { recursive: true });
}
mkdirSync("bench-results", { recursive: true });
writeFileSync("bench-results/memory.json", `${JSON.stringify({ date: new Date(), machine, rounds }, null, 2)}\n`);
console.log("Written to bench-results/memory.json");

/** The default server: when it is ready, after a while, under load, and after it. */
async function server(root) {
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
      duration: LOAD_SECONDS,
      requests: [
        {
          method: "POST",
          path: "/analyze/prompt",
          headers: { "content-type": "application/json" },
          setupRequest: (request) => ({ ...request, body: JSON.stringify({ prompt: next() }) }),
        },
      ],
    });
    // A slow machine refuses some: that is no matter here.
    if (errors > 0 || answered === 0) throw new Error(`${errors} errors and ${answered} answers`);
    step("under load");
    await sleep(REST_MS);
    step("after load");
    return steps;
  });
}

/** Models in one process, one by one. */
async function models(root, sources) {
  const child = fileURLToPath(new URL("models.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, root, ...sources], { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

function print(checkout, size) {
  const of = rounds.filter((round) => round.checkout === checkout);
  /** The median of the rounds of a figure of a step. */
  const figure = (part, index, name) => median(of.map((round) => round[part][index][name]));
  const row = (part, index, what) => [
    what,
    ...["total", "own", "shared"].map((name) => number(figure(part, index, name))),
    index === 0 ? "" : number(figure(part, index, "total") - figure(part, index - 1, "total")),
  ];
  const title = checkout === "here" ? "This checkout" : `The checkout ${flags.against}`;
  console.log(
    `\n${title}, MB, median of ${of.length} rounds. "own" has no file behind it, "shared" divides what others have too.`,
  );
  const head = (what) => [what, "resident", "own", "shared", "more than before"];
  printTable(
    head("server with scanners.yml"),
    of[0].server.map(({ step }, index) => row("server", index, step)),
  );
  console.log();
  printTable(
    head("embedded models in one process"),
    of[0].embedded.map(({ step }, index) => row("embedded", index, step)),
  );
  console.log();
  printTable(
    head(`two fp32 models of ${number(size)} MB in one process`),
    of[0].own.map(({ step }, index) => row("own", index, step.startsWith("/") ? `model ${index}` : step)),
  );
}
