// npm run bench:suite [-- --quick] [-- --model FOLDER]: the latency of several neural scanners together and of each alone, on short,
// medium and long texts, in the library and through the server. `--model` replaces embedded:multitask.
// With GUARD_LLM_GUARD_PYTHON (see peers/suite.py), llm-guard's scanners read the same texts with models of the same size. llm-guard
// reads the first 512 tokens of a long text; guard reads all of it.
// All variants run in turn on each text, and each ratio is the median of the ratios on the same text.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dump, load as parseYaml } from "js-yaml";
import { createScanner, scanOutput, scanPrompt } from "../dist/index.js";
import { defaultEngine } from "../dist/models/engine.js";
import { scannerClasses } from "../dist/scanners/catalog.js";
import { formatMachine, machineInfo } from "./machine.mjs";
import { modelShape, printPeerHelp, startPeers } from "./peers.mjs";
import { saveResults } from "./results.mjs";
import { withServer } from "./server.mjs";
import { median } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";
import { textsOfLength } from "./texts/whole-tokens.mjs";

const MULTITASK = "embedded:multitask";
const SIDES = ["input", "output"];
const PROMPT = "What did the team say about the weather, the match and the election?";
/** Scanners of the multitask model, and Toxicity, which are measured in addition to those of scanners.yml. */
const CLASSIFIERS = {
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

/** Clocks in milliseconds. CPU time does not depend on other processes of the machine. */
const CLOCKS = {
  library: () => performance.now(),
  "library, CPU": () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  server: () => performance.now(),
};

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, model: { type: "string" } },
});
/** Tokens of a text. */
const LENGTHS = { short: 30, medium: 200, long: flags.quick ? 600 : 2000 };
/** Texts of each length. */
const TEXTS = flags.quick ? { short: 1, medium: 1, long: 1 } : { short: 40, medium: 20, long: 10 };
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const config = parseYaml(readFileSync(path("scanners.yml"), "utf8"));

const machine = machineInfo();
console.log(`${formatMachine(machine)}\n`);
const peers = startPeers("suite.py");
if (!peers) printPeerHelp("bench:suite");
console.log(
  "Milliseconds of a call, one at a time. Ratios: the set to its slowest scanner and to the sum of all; llm-guard to the set.\n",
);

const results = [];
for (const side of SIDES) {
  const defaults = config[`${side}_scanners`].map(withModel(side)).filter(isNeural);
  results.push(await bench("scanners.yml", side, defaults, true));
  // A scanner of scanners.yml replaces the one of the same type here.
  const others = CLASSIFIERS[side].filter(({ type }) => !defaults.some((known) => known.type === type));
  results.push(await bench("all classifiers", side, [...defaults, ...others.map(withModel(side))], false));
}
peers?.close();
saveResults("suite", { quick: flags.quick, machine, results });

/** Measures one set of scanners in the library and, if `served`, through the server. Prints a table. */
async function bench(set, side, listed, served) {
  console.log(`${set}, ${side}: ${listed.map(({ type }) => type).join(", ") || "none"}`);
  const rows = [];
  if (listed.length > 0) {
    rows.push(...(await inLibrary(side, listed, served ? peerOf(side, listed) : undefined)));
    if (served) rows.push(...(await throughServer(side, listed)));
    printTable(
      ["", "set", "slowest", "sum", "set / slowest", "set / sum", "llm-guard", "llm-guard / set"],
      rows.map(({ where, length, all, slowest, sum, toSlowest, toSum, peer, peerRatio }) => [
        `${where}, ${length}`,
        ...[all, slowest, sum].map(formatNumber),
        ...[toSlowest, toSum].map((ratio) => ratio.toFixed(2)),
        ...(peer === undefined ? ["", ""] : [formatNumber(peer), peerRatio.toFixed(1)]),
      ]),
    );
  }
  console.log();
  return { set, side, scanners: listed, rows };
}

/** Returns a function that times llm-guard's scanners of the same types, in wall and CPU time; undefined without a peer. */
function peerOf(side, listed) {
  if (!peers) return undefined;
  const params = {
    side,
    types: listed.map(({ type }) => type),
    ...modelShape(defaultEngine().folder(listed[0].params.model)),
  };
  return async (text) => {
    const { wallMs, cpuMs } = await peers.measure({ peer: "llm-guard", params, prompt: PROMPT, text });
    return [wallMs, cpuMs];
  };
}

async function inLibrary(side, listed, peer) {
  const scanners = listed.map(({ type, params }) => createScanner(side, type, params));
  for (const scanner of scanners) await scanner.load?.();
  const scan = (chosen) => (text) => (side === "input" ? scanPrompt(chosen, text) : scanOutput(chosen, PROMPT, text));
  try {
    return await compare(
      ["library", "library, CPU"],
      scan(scanners),
      scanners.map((scanner) => scan([scanner])),
      peer,
    );
  } finally {
    for (const scanner of scanners) await scanner.close?.();
  }
}

/** All servers run at once and answer in turn, so that all are measured under the same conditions. */
async function throughServer(side, listed) {
  const scratch = mkdtempSync(join(tmpdir(), "guard-suite-"));
  const write = (name, scanners) => {
    const file = join(scratch, `${name}.yml`);
    const lists = Object.fromEntries(SIDES.map((other) => [`${other}_scanners`, other === side ? scanners : []]));
    writeFileSync(file, dump({ app: { log_level: "ERROR" }, ...lists, conversation: { risk: { enabled: false } } }));
    return file;
  };
  const withServers = (files, urls, use) =>
    files.length === 0
      ? use(urls)
      : withServer(files[0], ({ url }) => withServers(files.slice(1), [...urls, url], use));
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
  const files = [write("all", listed), ...listed.map((scanner, index) => write(String(index), [scanner]))];
  try {
    return await withServers(files, [], ([all, ...members]) => compare(["server"], post(all), members.map(post)));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Times a set of scanners and each member with each clock, on the same texts in turn. */
async function compare(clocks, all, members, peer) {
  const rows = [];
  for (const [length, tokens] of Object.entries(LENGTHS)) {
    const next = textsOfLength(tokens, tokens);
    const times = [];
    // The first text is a warm-up.
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
        return { all: ofAll[clock], slowest: Math.max(...members), sum, peer: ofPeer?.[clock] };
      });
      const middle = (figure) => median(figures.map(figure));
      rows.push({
        ...{ where, length, tokens, texts: figures.length },
        all: middle((time) => time.all),
        slowest: middle((time) => time.slowest),
        sum: middle((time) => time.sum),
        toSlowest: middle((time) => time.all / time.slowest),
        toSum: middle((time) => time.all / time.sum),
        ...(peer ? { peer: middle((time) => time.peer), peerRatio: middle((time) => time.peer / time.all) } : {}),
      });
    }
  }
  return rows;
}

/** The duration of one call by each clock, in milliseconds. */
async function timesOf(clocks, scan, text) {
  const start = clocks.map((clock) => CLOCKS[clock]());
  await scan(text);
  return clocks.map((clock, index) => CLOCKS[clock]() - start[index]);
}

/** BanTopics requires topics. */
function banTopics() {
  return { type: "BanTopics", params: { topics: ["politics", "sports", "religion", "adult content", "violence"] } };
}

/** Adds the model to the entry of a scanner that has one. */
function withModel(side) {
  return ({ type, params = {} }) => {
    const model = params.model ?? scannerClasses(side).get(type).options.shape.model?.safeParse(undefined).data;
    if (model === undefined) return { type, params };
    return { type, params: { ...params, model: model === MULTITASK ? (flags.model ?? model) : model } };
  };
}

/** Whether a scanner has a neural model. Linear models have no ONNX graph. */
function isNeural({ params: { model } }) {
  if (model === undefined) return false;
  return readdirSync(defaultEngine().folder(model), { recursive: true }).some((file) => file.endsWith(".onnx"));
}
