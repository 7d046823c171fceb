// npm run bench:suite [-- --quick] [-- --model FOLDER]: what several neural scanners cost together, beside what each costs alone, on
// short, medium and long texts, in the library and through the server. Prints tables and writes bench-results/suite.json.
// Where GUARD_LLM_GUARD_PYTHON names a Python that has llm-guard (see peers/suite.py), its scanners read the same texts with models of the
// same size. Of a long text they read the first 512 tokens, where guard reads all.
// `--model` replaces embedded:multitask. Machines are noisy, so all variants run in turn on each text, and each ratio is the median
// of the ratios on the same text.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dump, load as parseYaml } from "js-yaml";
import { createScanner, scanOutput, scanPrompt } from "../dist/index.js";
import { defaultEngine } from "../dist/models/engine.js";
import { scannerClasses } from "../dist/scanners/catalog.js";
import { describe, machineNow } from "./machine.mjs";
import { shapeOf, startPeers } from "./peers.mjs";
import { withServer } from "./server.mjs";
import { median } from "./stats.mjs";
import { number, printTable } from "./table.mjs";
import { textsOfLength } from "./texts/whole-tokens.mjs";

const MULTITASK = "embedded:multitask";
const LENGTHS = { short: 30, medium: 200, long: 2000 };
const SIDES = ["input", "output"];
const PROMPT = "What did the team say about the weather, the match and the election?";
/** The scanners that share a model, which are measured in addition to those of scanners.yml. */
const EVERY = {
  input: [{ type: "Toxicity" }, { type: "EmotionDetection" }, banTopics()],
  output: [
    { type: "Toxicity" },
    { type: "EmotionDetection" },
    banTopics(),
    { type: "NoRefusal" },
    { type: "Bias" },
    { type: "Relevance" },
  ],
};

/** The clocks of a call, in milliseconds. The time of the processor does not depend on other work of the machine. */
const CLOCKS = {
  library: () => performance.now(),
  "library, processor": () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  server: () => performance.now(),
};

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, model: { type: "string" } },
});
const TEXTS = flags.quick ? { short: 5, medium: 3, long: 2 } : { short: 40, medium: 20, long: 10 };
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const config = parseYaml(readFileSync(path("scanners.yml"), "utf8"));

const machine = machineNow();
const peers = startPeers("suite.py");
console.log(describe(machine));
console.log(
  "Milliseconds of a call, one at a time; ratios are of the whole set to the dearest member and to the sum of all, and of llm-guard to the set.\n",
);

const results = [];
for (const side of SIDES) {
  const defaults = config[`${side}_scanners`].map(withModel(side)).filter(isNeural);
  results.push(await bench("scanners.yml", side, defaults, true));
  // Where scanners.yml has a scanner of the same type, that one is used.
  const others = EVERY[side].filter(({ type }) => !defaults.some((known) => known.type === type));
  results.push(await bench("all classifiers", side, [...defaults, ...others.map(withModel(side))], false));
}
const folder = path("bench-results/");
mkdirSync(folder, { recursive: true });
writeFileSync(
  `${folder}suite.json`,
  `${JSON.stringify({ date: new Date(), quick: flags.quick, machine, results }, null, 2)}\n`,
);
peers?.close();
console.log("Written to bench-results/suite.json");

/** Measures one set of scanners, also through the server where `served`, and prints tables. */
async function bench(set, side, listed, served) {
  console.log(`${set}, ${side}: ${listed.map(({ type }) => type).join(", ") || "none"}`);
  const rows = [];
  if (listed.length > 0) {
    rows.push(...(await inLibrary(side, listed, served ? peerOf(side, listed) : undefined)));
    if (served) rows.push(...(await throughServer(side, listed)));
    printTable(
      ["", "set", "dearest member", "sum of members", "to one", "to the sum", "llm-guard", "times"],
      rows.map(({ where, length, all, dearest, sum, toOne, toSum, peer, times }) => [
        `${where}, ${length}`,
        ...[all, dearest, sum].map(number),
        ...[toOne, toSum].map((ratio) => ratio.toFixed(2)),
        ...(peer === undefined ? ["", ""] : [number(peer), times.toFixed(1)]),
      ]),
    );
  }
  console.log();
  return { set, side, scanners: listed, rows };
}

/** Times llm-guard's scanners of the same types with the clocks of the library. Undefined without a Python that has llm-guard. */
function peerOf(side, listed) {
  if (!peers) return undefined;
  const params = {
    side,
    types: listed.map(({ type }) => type),
    ...shapeOf(defaultEngine().folder(listed[0].params.model)),
  };
  return async (text) => {
    const { wall, processor } = await peers.measure({ peer: "llm-guard", params, prompt: PROMPT, text });
    return [wall, processor];
  };
}

async function inLibrary(side, listed, peer) {
  const scanners = listed.map(({ type, params }) => createScanner(side, type, params));
  for (const scanner of scanners) await scanner.load?.();
  const scan = (chosen) => (text) => (side === "input" ? scanPrompt(chosen, text) : scanOutput(chosen, PROMPT, text));
  try {
    return await compare(
      ["library", "library, processor"],
      scan(scanners),
      scanners.map((scanner) => scan([scanner])),
      peer,
    );
  } finally {
    for (const scanner of scanners) await scanner.close?.();
  }
}

/** All servers run at once and are asked in turn, so that all are measured under the same conditions. */
async function throughServer(side, listed) {
  const scratch = mkdtempSync(join(tmpdir(), "guard-suite-"));
  const write = (name, scanners) => {
    const file = join(scratch, `${name}.yml`);
    const lists = Object.fromEntries(SIDES.map((other) => [`${other}_scanners`, other === side ? scanners : []]));
    writeFileSync(file, dump({ app: { log_level: "ERROR" }, ...lists, conversation: { risk: { enabled: false } } }));
    return file;
  };
  const started = (files, urls, use) =>
    files.length === 0 ? use(urls) : withServer(files[0], ({ url }) => started(files.slice(1), [...urls, url], use));
  const post = (url) => async (text) => {
    const [route, body] =
      side === "input" ? ["prompt", { prompt: text }] : ["output", { prompt: PROMPT, output: text }];
    const reply = await fetch(`${url}/analyze/${route}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`status ${reply.status}: ${await reply.text()}`);
    await reply.json();
  };
  const files = [write("all", listed), ...listed.map((one, index) => write(String(index), [one]))];
  try {
    return await started(files, [], ([all, ...members]) => compare(["server"], post(all), members.map(post)));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The times of a set of scanners and of its members by each clock, on the same texts in turn. */
async function compare(clocks, all, members, peer) {
  const rows = [];
  for (const [length, tokens] of Object.entries(LENGTHS)) {
    const next = textsOfLength(tokens, tokens);
    const times = [];
    // The first text only warms up, it does not count.
    for (let index = 0; index <= TEXTS[length]; index++) {
      const text = next();
      const ofMembers = [];
      for (const member of members) ofMembers.push(await timesOf(clocks, member, text));
      const ofAll = await timesOf(clocks, all, text);
      const ofPeer = await peer?.(text);
      if (index > 0) times.push({ ofAll, ofMembers, ofPeer });
    }
    for (const [clock, where] of clocks.entries()) {
      const figures = times.map(({ ofAll, ofMembers, ofPeer }) => {
        const members = ofMembers.map((time) => time[clock]);
        const sum = members.reduce((total, time) => total + time, 0);
        return { all: ofAll[clock], dearest: Math.max(...members), sum, peer: ofPeer?.[clock] };
      });
      const middle = (figure) => median(figures.map(figure));
      rows.push({
        ...{ where, length, tokens, texts: figures.length },
        ...{
          all: middle((time) => time.all),
          dearest: middle((time) => time.dearest),
          sum: middle((time) => time.sum),
        },
        ...{ toOne: middle((time) => time.all / time.dearest), toSum: middle((time) => time.all / time.sum) },
        ...(peer ? { peer: middle((time) => time.peer), times: middle((time) => time.peer / time.all) } : {}),
      });
    }
  }
  return rows;
}

/** The milliseconds of one call by each clock. */
async function timesOf(clocks, scan, text) {
  const start = clocks.map((clock) => CLOCKS[clock]());
  await scan(text);
  return clocks.map((clock, index) => CLOCKS[clock]() - start[index]);
}

/** BanTopics cannot be made without topics. */
function banTopics() {
  return { type: "BanTopics", params: { topics: ["politics", "sports", "religion", "adult content", "violence"] } };
}

/** Adds the model with which a scanner is measured to its entry. Scanners without a model stay as they are. */
function withModel(side) {
  return ({ type, params = {} }) => {
    const model = params.model ?? scannerClasses(side).get(type).options.shape.model?.safeParse(undefined).data;
    if (model === undefined) return { type, params };
    return { type, params: { ...params, model: model === MULTITASK ? (flags.model ?? model) : model } };
  };
}

/** Whether a scanner uses a neural model: linear models have no ONNX graph. */
function isNeural({ params: { model } }) {
  if (model === undefined) return false;
  return readdirSync(defaultEngine().folder(model), { recursive: true }).some((file) => file.endsWith(".onnx"));
}
