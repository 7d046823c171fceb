// npm run bench:monitor [-- --quick] [--requests N] [--rules]: the same mixed requests to two servers, one of which only monitors. Every verdict must be
// equal, the texts of the second must be unchanged, and the table shows the latency of both.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { stringify } from "yaml";
import { BANNED, labelledText } from "../chaos/texts.mjs";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { withServer } from "./server.mjs";
import { percentile } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    requests: { type: "string" },
    rules: { type: "boolean", default: false },
  },
});
const REQUESTS = Number(flags.requests ?? (flags.quick ? 200 : 10_000));
const CONNECTIONS = 4;
const NAMES = ["Ines Duarte", "Tomas Vela", "Ruth Okafor", "Jun Watanabe"];

/** With --rules, no scanner has a neural model. */
const INJECTION = flags.rules ? [] : [{ type: "PromptInjection" }];

/** The configuration of both servers: scanners that rewrite, block and restore, with rules and with models. */
const config = (mode) => ({
  app: {
    ...{ mode, log_level: "warn", masking: ["Secrets", "BanSubstrings"] },
    // A busy machine must not change what is compared.
    ...{ max_queue_time: 600, scan_prompt_timeout: 600, scan_output_timeout: 600 },
  },
  input_scanners: [
    { type: "Anonymize", params: { recognizer_conf: [] } },
    { type: "Secrets" },
    { type: "BanSubstrings", params: { substrings: [BANNED], match_type: "str", redact_all: true } },
    ...INJECTION,
  ],
  output_scanners: [
    { type: "Deanonymize" },
    { type: "Secrets" },
    { type: "BanSubstrings", params: { substrings: [BANNED], match_type: "str", redact_all: true } },
    { type: "MaliciousURLs" },
    { type: "NoRefusalLight" },
  ],
  conversation: {
    scan: { tool: ["Anonymize", "Secrets", ...INJECTION.map(({ type }) => type)] },
    risk: { enabled: !flags.rules },
  },
});

const text = (at) => {
  const name = NAMES[at % NAMES.length];
  const address = at % 3 === 0 ? ` Write to ${name} at ${name.split(" ")[0].toLowerCase()}.${at}@example.com.` : "";
  return labelledText().text + address;
};

/** The kinds of requests: the path, the body, and the text of a reply that must be the one of the request. */
const KINDS = {
  prompt: (at) => {
    const prompt = text(at);
    return { path: "/analyze/prompt", body: { prompt }, isWhole: (reply) => reply.sanitized_prompt === prompt };
  },
  output: (at) => {
    const output = text(at);
    const body = { prompt: "What is new?", output };
    return { path: "/analyze/output", body, isWhole: (reply) => reply.sanitized_output === output };
  },
  conversation: (at) => {
    const messages = [
      { role: "user", content: text(at) },
      { role: "assistant", content: "I will look that up." },
      { role: "user", content: text(at + 1) },
      { role: "tool", tool_call_id: "1", content: text(at + 2) },
    ];
    return {
      path: "/analyze/conversation",
      body: { messages },
      isWhole: (reply) => isDeepStrictEqual(reply.sanitized_messages, messages),
    };
  },
  documents: (at) => {
    const documents = [text(at), text(at + 1), text(at + 2)];
    const isWhole = (reply) => isDeepStrictEqual(textsOf(reply), documents);
    return { path: "/analyze/documents", body: { documents }, isWhole };
  },
  stream: (at) => {
    const output = `${text(at)} ${text(at + 1)}`;
    const pieces = output.match(/.{1,12}/gs);
    const lines = [{ prompt: "What is new?", details: true }, ...pieces.map((piece) => ({ text: piece }))];
    return { path: "/analyze/output/stream", lines, isWhole: (reply) => reply.text === output };
  },
};

const textsOf = ({ documents }) => documents.map(({ sanitized_text }) => sanitized_text);

const machine = machineInfo();
console.log(formatMachine(machine));
const kinds = Object.keys(KINDS);
const requests = Array.from({ length: REQUESTS }, (_, at) => {
  const kind = kinds[at % kinds.length];
  return { kind, ...KINDS[kind](at) };
});
const folder = mkdtempSync(join(tmpdir(), "guard-monitor-"));
const sides = {};
try {
  for (const mode of ["enforce", "monitor"]) sides[mode] = await runSide(mode);
} finally {
  rmSync(folder, { recursive: true });
}
const result = compareSides(sides);
saveResults("monitor", { quick: flags.quick, machine, ...result });
if (result.differing > 0 || result.changed > 0 || result.unreported > 0) {
  console.error("FAILED: monitor mode has other verdicts, has changed a text, or has not reported a failure");
  process.exitCode = 1;
}

/** Sends all requests to a server. */
async function runSide(mode) {
  const file = join(folder, `${mode}.yml`);
  writeFileSync(file, stringify(config(mode)));
  return withServer(file, async ({ url }) => {
    const replies = new Array(requests.length);
    let next = 0;
    const client = async () => {
      for (let at = next++; at < requests.length; at = next++) {
        const start = performance.now();
        const reply = await send(url, requests[at]);
        replies[at] = { reply, ms: performance.now() - start };
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return replies;
  });
}

async function send(url, { path, body, lines }) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": lines ? "application/x-ndjson" : "application/json" },
    body: lines
      ? lines.map((line) => `${JSON.stringify(line)}\n`).join("")
      : JSON.stringify({ ...body, details: true }),
  });
  const received = await response.text();
  if (!response.ok) throw new Error(`${path}: status ${response.status} ${received.slice(0, 400)}`);
  if (!lines) return JSON.parse(received);
  const events = received
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...events.at(-1), text: events.map((event) => event.text ?? "").join("") };
}

/** The verdicts of a reply. An enforcing server stops a failing stream, so its other scanners have not read all of it. */
function verdictsOf(reply, kind, enforced) {
  if (kind === "documents") return reply.documents.map(({ scanners, findings }) => ({ scanners, findings }));
  if (kind !== "stream" || enforced.event === "done") return { scanners: reply.scanners, findings: reply.findings };
  return failingOf(enforced).map((name) => reply.scanners[name] > 0);
}

const failingOf = ({ scanners }) => Object.keys(scanners).filter((name) => scanners[name] > 0);

function compareSides({ enforce, monitor }) {
  const counts = { requests: requests.length, failing: 0, differing: 0, changed: 0, unreported: 0 };
  for (const [at, { kind, isWhole }] of requests.entries()) {
    const [enforced, monitored] = [enforce[at].reply, monitor[at].reply];
    const isFailing = !enforced.is_valid;
    if (isFailing) counts.failing++;
    if (!isDeepStrictEqual(verdictsOf(enforced, kind, enforced), verdictsOf(monitored, kind, enforced))) {
      counts.differing++;
      if (counts.differing <= 3) console.error(kind, JSON.stringify([enforced, monitored]).slice(0, 3000));
    }
    if (!isWhole(monitored) || !monitored.is_valid || monitored.outcome !== "passed") counts.changed++;
    const reported = (monitored.would_block?.length ?? 0) + (monitored.would_mask?.length ?? 0);
    if (isFailing !== reported > 0) counts.unreported++;
  }
  const latency = Object.fromEntries(
    kinds.map((kind) => [kind, { enforce: latencyOf(enforce, kind), monitor: latencyOf(monitor, kind) }]),
  );
  console.log(
    `${counts.requests} requests, ${counts.failing} of them fail: ${counts.differing} with other verdicts in monitor mode, ` +
      `${counts.changed} changed or invalid, ${counts.unreported} failing without a report`,
  );
  const row = (kind) => ["enforce", "monitor"].flatMap((mode) => Object.values(latency[kind][mode]).map(formatNumber));
  printTable(
    ["", "enforce p50 (ms)", "p99", "monitor p50 (ms)", "p99"],
    kinds.map((kind) => [kind, ...row(kind)]),
  );
  return { ...counts, latency };
}

function latencyOf(side, kind) {
  const times = side.filter((_, at) => requests[at].kind === kind).map(({ ms }) => ms);
  return { p50: percentile(times, 50), p99: percentile(times, 99) };
}
