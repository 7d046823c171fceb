import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { markdownFiles, read } from "./house/markdown.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { scripts } = createRequire(import.meta.url)("../package.json") as { scripts: Record<string, string> };

/** What the quick form of each benchmark prints, and the file in bench-results/ that it writes. */
const BENCHMARKS: Record<string, { prints: RegExp[]; writes?: string }> = {
  bench: {
    prints: [/^Engine, 1 thread/m, /^\| latency p95, 256 tokens/m, /^\| one call, 16 tokens/m, /^\| 32 /m],
    writes: "bench",
  },
  "bench:agents": { prints: [/^\| 100 +\| +cached, no window/m], writes: "agents" },
  "bench:anonymize": {
    prints: [/^SKIPPED: the peers/m, /^Recognizers alone/m, /^CPU time of a character/m],
    writes: "anonymize",
  },
  "bench:compare": {
    prints: [/^SKIPPED: the peers/m, /^\| URLReachability +\| 100 kB/m, /^\| guard +\|/m],
    writes: "compare",
  },
  "bench:documents": { prints: [/^\| harmless passages/m, /^\| the same, masked/m], writes: "documents" },
  "bench:event-loop": {
    prints: [/^\| MaliciousURLs .*\| +200 \|$/m, /(?:No case|cases) blocks? more/],
    writes: "event-loop",
  },
  "bench:fair": { prints: [/^\| prompts beside documents/m], writes: "fair" },
  "bench:instances": { prints: [/^(?:SKIPPED: |\| 2 × 0\.5 core, by user)/m] },
  "bench:mcp": { prints: [/^\| direct/m, /^\| guard mcp/m], writes: "mcp" },
  "bench:memory": { prints: [/^\| after load/m, /^\| embedded:prompt-injection/m, /^\| model 1/m], writes: "memory" },
  "bench:monitor": { prints: [/ 0 with other verdicts in monitor mode/, /^\| stream/m], writes: "monitor" },
  "bench:overload": {
    prints: [/^\| 4 connections/m, /^\| \d+ requests\/s/m, /^\| 128 connections/m],
    writes: "overload",
  },
  "bench:proxy": {
    prints: [/^A call, 5 rounds/m, /^A stream of 40 tokens/m, /^\| proxy, scanners.yml/m],
    writes: "proxy",
  },
  "bench:rules": {
    prints: [
      /^SKIPPED: the peers/m,
      /^Throughput/m,
      /^Doubling/m,
      /^Patterns that stall/m,
      /^Memory for one text of 5 MB/m,
    ],
    writes: "rules",
  },
  "bench:start": { prints: [/^\| server is ready/m, /^\| import of the library/m], writes: "start" },
  "bench:stream": { prints: [/^\| six rule scanners/m, /^An answer of 1 MB/m], writes: "stream" },
  "bench:suite": {
    prints: [/^SKIPPED: the peers/m, /^scanners.yml, input/m, /^\| server, long/m, /^all classifiers, output/m],
    writes: "suite",
  },
  "bench:workers": { prints: [/^\| 1 +\|/m, /^\| 2 +\|/m], writes: "workers" },
  eval: {
    prints: [
      /^PromptInjection in long data \(input\)/m,
      /^Names in texts of ours \(input\)/m,
      /^EmotionDetection, all emotions \(input\)/m,
      /^FactualConsistency \(output\)/m,
    ],
  },
  "eval:dialogues": { prints: [/^\| harmless +\| +all/m, /^\| polite/m], writes: "dialogues" },
  "eval:envelopes": { prints: [/^\| tool_result/m, /^\| 10 kB/m, /^\| 8 /m], writes: "envelopes" },
  "eval:evasion": { prints: [/^\| padded_base64/m, /^\| mean/m], writes: "evasion" },
  "eval:secrets": { prints: [/^\| found: all/m, /^\| flagged: all/m], writes: "secrets" },
  "eval:languages": { prints: [/^\| Toxicity +\| +\| +ru/m], writes: "languages" },
};

/** Other measuring programs that pages name, with the arguments of a short run. */
const PROGRAMS: Record<string, { args: string[]; prints: RegExp }> = {
  fuzz: { args: ["strict-json", "--seconds", "1"], prints: /^strict-json: \d+ executions/m },
  chaos: { args: ["terminate", "--quick"], prints: /^all promises kept$/m },
  soak: { args: ["--quick"], prints: /^flat$/m },
  "soak:server": { args: ["--quick"], prints: /^ {2}kept +every request is answered/m },
};

/** Scripts that pages name and that CI, another test or every other command runs. */
const RUN_ELSEWHERE = ["bench:page", "build", "format", "generate", "lint", "sbom", "tool"];

/** The command of an npm script after the build. */
function program(script: string): string[] {
  const [, command = ""] =
    /^node scripts\/build\.mjs(?: --profile ci)? && node (.+)$/.exec(scripts[script] ?? "") ?? [];
  expect(command, script).not.toBe("");
  return command.split(" ");
}

/** Runs an npm script without its build, and returns what it printed. */
function run(script: string, args: string[]): string {
  // Peers are Python programs, which the quick forms skip.
  const { GUARD_LLM_GUARD_PYTHON: _, ...env } = process.env;
  const command = [...program(script), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8", env });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** The quick forms take at most 30 s on an idle machine with two cores. */
const TIMEOUT_MS = 300_000;

describe("the quick form of", () => {
  it.each(Object.entries(BENCHMARKS))(
    "%s prints its figures",
    (script, { prints, writes }) => {
      const file = join(root, "bench-results", `${writes}.json`);
      if (writes !== undefined) rmSync(file, { force: true });
      const stdout = run(script, ["--quick"]);
      for (const line of prints) expect(stdout).toMatch(line);
      if (writes === undefined) return;
      expect(stdout).toContain(`Written to bench-results/${writes}.json`);
      expect(existsSync(file)).toBe(true);
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ quick: true });
    },
    TIMEOUT_MS,
  );

  it.each(Object.entries(PROGRAMS).filter(([script]) => script !== "soak:server" || process.platform === "linux"))(
    "%s succeeds",
    (script, { args, prints }) => expect(run(script, args)).toMatch(prints),
    TIMEOUT_MS,
  );
});

it("the README lists every benchmark", () => {
  // test/tools tests the page that bench:page draws.
  const benchmarks = Object.keys(scripts).filter((name) => /^(?:bench|eval)\b/.test(name) && name !== "bench:page");
  expect(Object.keys(BENCHMARKS).sort()).toEqual(benchmarks.sort());
  const readme = readFileSync(join(root, "benches/README.md"), "utf8");
  for (const name of benchmarks) expect(readme).toMatch(new RegExp(`^\\| \`npm run ${name}\` `, "m"));
});

it("a test or CI runs every npm script that a page names", () => {
  const known = new Set([...Object.keys(BENCHMARKS), ...Object.keys(PROGRAMS), ...RUN_ELSEWHERE]);
  const pages = markdownFiles().filter((path) => !/^(?:changes\/|CHANGELOG)/.test(path));
  const named = pages.flatMap((path) => [...read(path).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name));
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});
