// npm run bench:rules [-- --quick]: the scanners without a neural model, beside llm-guard, detect-secrets and tiktoken where
// GUARD_BENCH_PYTHON names a Python that has them (see peers/rules.py). Prints tables and writes bench-results/rules.json.
// Machines are noisy: both sides run in turn, several times, each figure is the median of its rounds and each ratio the median of the
// ratios of neighbouring runs.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { createScanner } from "../dist/index.js";
import { mixedTexts } from "./corpus.mjs";
import { describe, machineNow } from "./machine.mjs";
import { startPeers } from "./peers.mjs";
import { median } from "./stats.mjs";
import { number, printTable } from "./table.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const ROUNDS = flags.quick ? 1 : 3;
/** Characters between two things that the rules find. */
const FOUND_EVERY = 20_000;
const SECONDS = flags.quick ? 0.1 : 0.5;
/** Characters of a text, and how many texts make a pass. */
const SIZES = flags.quick
  ? [
      [200, 100],
      [64_000, 2],
    ]
  : [
      [200, 400],
      [2_000, 100],
      [64_000, 8],
      [1_000_000, 1],
    ];

const PATTERNS = [
  "Bearer [A-Za-z0-9\\-._~+/]{16,}=*",
  "\\bAKIA[0-9A-Z]{16}\\b",
  "[\\w.+-]+@[\\w-]+\\.[\\w.]+",
  "\\b(?:\\d[ -]?){13,16}\\b",
  "(?i)\\bpassword\\s*[:=]\\s*\\S+",
  "\\b\\d{3}-\\d{2}-\\d{4}\\b",
  "-----BEGIN [A-Z ]*PRIVATE KEY-----",
  "https?://\\d+\\.\\d+\\.\\d+\\.\\d+\\S*",
];
const SUBSTRINGS = [
  ...[
    "arbitrary code execution",
    "a backdoor",
    "code injection",
    "cross-site scripting",
    "email spoofing",
    "a keylogger",
  ],
  ...["privilege escalation", "a rootkit", "screen scraping", "cryptojacking", "a botnet", "adware", "ransomware"],
  ...[
    "etc/shadow",
    "the keylogger",
    "project aurora",
    "internal only",
    "do not distribute",
    "developer mode",
    "jailbreak",
  ],
];

const REGEX = { patterns: PATTERNS, match_type: "all" };
const BANNED = { substrings: SUBSTRINGS };
const LIMIT = { limit: 4096, encoding_name: "cl100k_base" };

/** What is compared: guard's scanner and, of each peer, its name and parameters. `atLeast` is the ratio that guard promises. */
const COMPARED = [
  {
    type: "Secrets",
    params: {},
    peers: [
      ["detect-secrets", {}],
      ["llm-guard Secrets", {}],
    ],
    atLeast: 100,
  },
  // llm-guard stops at the first pattern that matches: both do the same work only where none does.
  { type: "Regex", params: REGEX, clean: true, peers: [["llm-guard Regex", REGEX]], atLeast: 20 },
  { type: "Regex", params: REGEX, peers: [["llm-guard Regex", REGEX]] },
  {
    type: "BanSubstrings",
    params: { ...BANNED, redact_all: true },
    peers: [["llm-guard BanSubstrings", { ...BANNED, redact: true }]],
    atLeast: 20,
  },
  { type: "InvisibleText", params: {}, peers: [["llm-guard InvisibleText", {}]] },
  {
    type: "TokenLimit",
    params: LIMIT,
    peers: [
      ["llm-guard TokenLimit", LIMIT],
      ["tiktoken", LIMIT],
    ],
  },
  { type: "Secrets", params: { deobfuscate: true }, peers: [] },
  { type: "Regex", params: { ...REGEX, deobfuscate: true }, peers: [] },
  { type: "BanSubstrings", params: { ...BANNED, redact_all: true, deobfuscate: true }, peers: [] },
];

const PEM = "-----BEGIN RSA PRIVATE KEY-----\n";
/** Texts that cost the most that we know of, and a plain one. */
const ADVERSARIAL = [
  {
    type: "Secrets",
    params: {},
    texts: {
      AKIA: "AKIA",
      "open keys": PEM,
      "dotted eyJ": "eyJhbGciOi.",
      "one long word": "aZ3",
      "key=": 'api_key="',
      "user:pass@": "://a:b@",
    },
  },
  {
    type: "Secrets",
    params: { deobfuscate: true },
    texts: { "one long word": "aZ3", "spaced letters": "a ", "percent signs": "%25", hex: "6161" },
  },
  { type: "Regex", params: REGEX, texts: { "one long word": "a", "at signs": "a@", digits: "1 ", dotted: "a@a." } },
  {
    type: "Regex",
    params: { ...REGEX, deobfuscate: true },
    texts: { "spaced letters": "a ", "percent signs": "%25", "base64 of base64": "WVdGaA==" },
  },
  {
    type: "BanSubstrings",
    params: { substrings: [`${"a".repeat(50)}b`, "aab", "ab"], redact_all: true },
    texts: { "nearly a match": "a", matches: "ab" },
  },
  {
    type: "InvisibleText",
    params: {},
    texts: { invisible: "\u200b", "every other": "\u200ba", selectors: "\u2764\ufe0f\ufe00" },
  },
  {
    type: "TokenLimit",
    params: LIMIT,
    texts: { "one long word": "a", spaces: " ", "line feeds": "\n", emoji: "\u{1f469}\u200d" },
  },
  {
    side: "output",
    type: "JSON",
    params: {},
    texts: { "open braces": "{", "open objects": '{"a":', "open strings": '{"a": "', "broken objects": "{a: 1,} " },
  },
  {
    side: "output",
    type: "NoRefusalLight",
    params: {},
    texts: { "nearly a phrase": "I really ", apologies: "I'm sorry, ", negations: "ich kann nicht " },
  },
  { type: "Sentiment", params: {}, texts: { words: "not very good, but ", marks: "!?", "one long word": "a" } },
  {
    side: "output",
    type: "ReadingTime",
    params: { max_time: 1, truncate: true },
    texts: { words: "a ", Chinese: "\u4f60", marks: "\u0301" },
  },
];
const SMALLEST = flags.quick ? 32_000 : 128_000;
const DOUBLINGS = 3;

/** Patterns that a careless or hostile user may write, each with a text that makes a backtracking engine slow. */
const NASTY = [
  ["(a+)+$", "a", "!"],
  ["(a|aa)+$", "a", "!"],
  ["(a|a?)+$", "a", "!"],
  ["(.*a){20}", "a", "!"],
  ["(x+x+)+y", "x", ""],
  ["^(\\w+\\s?)*$", "word ", "!"],
  [".*.*.*=.*", "a", ""],
  ["(?i)(\\p{L}{1,50}){1,50}\\d", "\u0436", ""],
  ["(?:a?){500}a{500}b", "a", ""],
  ["(a+)+\\1b", "a", "!"],
  ["(?=(a+)+b)a", "a", "!"],
  ["(?=.*x)(?=.*y)(?=.*z)", "a", ""],
  ["((?=.*x)|a)*z", "a", ""],
  ["(?:(?!b)a*)*c", "a", ""],
  ["(?<!x)(a+)+b", "a", ""],
  ["\\b(\\w+)(?:\\s+\\1)+\\s+b", "aa ", ""],
  ["(.+)\\1(.+)\\2(.+)\\3x", "ab", ""],
  ["^(?:a(?=.*b)|a(?=.*c))*$", "a", ""],
];
/** Short texts are matched on the event loop and longer ones beside it. */
const NASTY_LENGTHS = [8_000, flags.quick ? 20_000 : 1_000_000];

const LARGE_MB = flags.quick ? 10 : 100;
const LARGE = [
  ["input", "Secrets", {}],
  ["input", "Regex", REGEX],
  ["input", "BanSubstrings", { ...BANNED, redact_all: true }],
  ["input", "InvisibleText", {}],
  ["input", "TokenLimit", LIMIT],
  ["input", "Sentiment", {}],
  ["output", "JSON", {}],
  ["output", "NoRefusalLight", {}],
  ["output", "ReadingTime", { max_time: 1, truncate: true }],
];

const machine = machineNow();
console.log(`${describe(machine)}\n`);

const peers = startPeers("rules.py");
if (!peers) {
  console.log("Only guard is measured. For its peers, in an environment of Python 3.10 to 3.12:");
  console.log("  python -m venv env && env/bin/pip install llm-guard==0.3.16");
  console.log("  GUARD_BENCH_PYTHON=env/bin/python npm run bench:rules\n");
}
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const results = { date: new Date(), quick: flags.quick, machine };
try {
  results.throughput = await throughput();
  results.doubling = await doubling();
  results.nasty = await nasty();
  results.memory = await memory();
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
const folder = fileURLToPath(new URL("../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}rules.json`, `${JSON.stringify(results, null, 2)}\n`);
console.log("Written to bench-results/rules.json");

async function throughput() {
  const sets = await textSets("found", FOUND_EVERY);
  // The sources in the texts hold addresses of their own, which have to go too.
  const cleaner = createScanner("input", "Regex", REGEX);
  const cleaned = async (text) => (await cleaner.scan(text)).sanitized ?? text;
  const cleanSets = await textSets("clean", Number.POSITIVE_INFINITY, cleaned);
  const rows = [];
  for (const { type, params, clean, peers: others, atLeast } of COMPARED) {
    const scanner = createScanner("input", type, params);
    await scanner.load?.();
    for (const { size, texts, files, bytes } of clean ? cleanSets : sets) {
      const rounds = [];
      for (let round = 0; round < ROUNDS; round++) {
        const guard = await measure(scanner, texts);
        const rest = {};
        for (const [peer, peerParams] of peers ? others : []) {
          rest[peer] = await peers.measure({ peer, params: peerParams, texts: files, seconds: SECONDS });
        }
        rounds.push({ guard, ...rest });
      }
      rows.push({
        type,
        deobfuscate: Boolean(params.deobfuscate),
        clean: Boolean(clean),
        size,
        bytes,
        atLeast,
        rounds,
      });
    }
  }
  console.log(
    `Throughput on mixed prose and code, one text after the other, median of ${ROUNDS} rounds (MB/s; failing texts in brackets):`,
  );
  const mbps = (bytes, runs) =>
    `${number(bytes / 1e6 / median(runs.map(({ seconds }) => seconds)))} (${runs[0].failed})`;
  printTable(
    ["scanner", "text", "guard", "peer", "of the peer", "ratio", "promised"],
    rows.flatMap(({ type, deobfuscate, clean, size, bytes, atLeast, rounds }) => {
      const own = mbps(
        bytes,
        rounds.map(({ guard }) => guard),
      );
      const name = `${type}${deobfuscate ? ", deobfuscate" : ""}${clean ? ", nothing planted" : ""}`;
      const compared = Object.keys(rounds[0]).filter((peer) => peer !== "guard");
      if (compared.length === 0) return [[name, bytesOf(size), own, "", "", "", ""]];
      return compared.map((peer) => [
        name,
        bytesOf(size),
        own,
        peer,
        mbps(
          bytes,
          rounds.map((round) => round[peer]),
        ),
        number(median(rounds.map((round) => round[peer].seconds / round.guard.seconds))),
        atLeast ? `${atLeast}` : "",
      ]);
    }),
  );
  console.log();
  return rows;
}

/** Texts of all sizes, in memory and as files; `made` is what becomes of each. */
function textSets(name, foundEvery, made = async (text) => text) {
  const sets = SIZES.map(async ([size, count]) => {
    const texts = await Promise.all(mixedTexts(size, count, foundEvery).map(made));
    const files = texts.map((text, index) => {
      const file = join(scratch, `${name}-${size}-${index}.txt`);
      writeFileSync(file, text);
      return file;
    });
    return { size, texts, files, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
  });
  return Promise.all(sets);
}

/** The fastest pass of a scanner over texts, as the peers measure it. */
async function measure(scanner, texts) {
  let fastest = Number.POSITIVE_INFINITY;
  let failed = 0;
  const end = performance.now() + SECONDS * 1000;
  do {
    const start = performance.now();
    failed = 0;
    for (const text of texts) if (!(await scanner.scan(text)).isValid) failed++;
    fastest = Math.min(fastest, performance.now() - start);
  } while (performance.now() < end);
  return { seconds: fastest / 1000, failed };
}

async function doubling() {
  const rows = [];
  for (const { side = "input", type, params, texts } of ADVERSARIAL) {
    const scanner = createScanner(side, type, params);
    const plain = mixedTexts(SMALLEST * 2 ** DOUBLINGS, 1, FOUND_EVERY)[0];
    const makers = Object.entries(texts).map(([name, unit]) => [
      name,
      (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size),
    ]);
    for (const [name, make] of [["prose and code", (size) => plain.slice(0, size)], ...makers]) {
      const times = [];
      for (let step = 0; step <= DOUBLINGS; step++) {
        const text = make(SMALLEST * 2 ** step).toWellFormed();
        const runs = [];
        for (let round = 0; round < ROUNDS; round++) runs.push((await measureOnce(scanner, text)).ms);
        times.push(Math.min(...runs));
      }
      rows.push({ type, deobfuscate: Boolean(params.deobfuscate), name, times });
    }
  }
  console.log(`Doubling the text (ms; the exponent is 1 where the cost is linear and 2 where it is quadratic):`);
  printTable(
    [
      "scanner",
      "text",
      ...Array.from({ length: DOUBLINGS + 1 }, (_, step) => bytesOf(SMALLEST * 2 ** step)),
      "exponent",
    ],
    rows.map(({ type, deobfuscate, name, times }) => [
      deobfuscate ? `${type}, deobfuscate` : type,
      name,
      ...times.map(number),
      (Math.log2(times.at(-1) / times[0]) / DOUBLINGS).toFixed(2),
    ]),
  );
  console.log();
  return rows;
}

/** One scan: its time, the largest gap of the event loop meanwhile, and how it ended. */
async function measureOnce(scanner, text) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.enable();
  const start = performance.now();
  const outcome = await scanner.scan(text).then(
    ({ isValid }) => (isValid ? "passes" : "fails"),
    (error) => error.code,
  );
  const ms = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  return { ms, gap: delay.max / 1e6, outcome };
}

async function nasty() {
  const rows = [];
  for (const [pattern, unit, end] of NASTY) {
    let scanner;
    const start = performance.now();
    try {
      scanner = createScanner("input", "Regex", { patterns: [pattern], match_type: "all" });
    } catch ({ code }) {
      const ms = performance.now() - start;
      rows.push({ pattern, length: 0, ms, gap: ms, outcome: code });
      continue;
    }
    for (const length of NASTY_LENGTHS) {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length - end.length) + end;
      rows.push({ pattern, length, ...(await measureOnce(scanner, text)) });
    }
  }
  console.log(
    "Patterns that stall other engines (GUARD_PATTERN: given up, an error and never a pass; GUARD_VALIDATION: refused):",
  );
  printTable(
    ["pattern", "text", "outcome", "time (ms)", "largest gap of the event loop (ms)"],
    rows.map(({ pattern, length, outcome, ms, gap }) => [
      `\`${pattern.replaceAll("|", "\\|")}\``,
      bytesOf(length),
      outcome,
      number(ms),
      number(gap),
    ]),
  );
  console.log(
    `longest: ${number(Math.max(...rows.map(({ ms }) => ms)))} ms; largest gap: ${number(Math.max(...rows.map(({ gap }) => gap)))} ms\n`,
  );
  return rows;
}

async function memory() {
  const run = promisify(execFile);
  const script = fileURLToPath(new URL("memory.mjs", import.meta.url));
  const rows = [];
  for (const [side, type, params] of LARGE) {
    const { stdout } = await run(process.execPath, [script, String(LARGE_MB), side, type, JSON.stringify(params)]);
    rows.push({ type, ...JSON.parse(stdout) });
  }
  console.log(`Memory for one text of ${LARGE_MB} MB (resident, MB):`);
  printTable(
    ["scanner", "with the text", "at most", "more, in times the text", "seconds"],
    rows.map(({ type, before, peak, seconds }) => [
      type,
      number(before),
      number(peak),
      ((peak - before) / LARGE_MB).toFixed(1),
      number(seconds),
    ]),
  );
  console.log();
  return rows;
}

function bytesOf(size) {
  return size < 1000 ? `${size} B` : size < 1e6 ? `${size / 1000} kB` : `${size / 1e6} MB`;
}
