// Runs every suite and ends with one line that counts all of their tests. `npm test -- NAME ...` runs the suites of these names.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-test-"));
const report = join(scratch, "vitest.json");
const bin = (name) => join(root, "node_modules", name);
const tsc = bin("typescript/bin/tsc");

/** The count of a check that either holds or does not. */
const check = () => ({ passed: 1, failed: 0 });

/** How many lines of a suite are shown once more that failed without a failed test. */
const LAST_LINES = 40;

/** What `pattern` finds in its first group, each once: the names of tests that failed. */
const namesIn = (output, pattern) => [...new Set([...output.matchAll(pattern)].map(([, name]) => name))];

/** Adds up the summaries that libtest prints: `test result: ok. 8 passed; 0 failed; ...`. */
function libtest(output) {
  const sum = (word) =>
    [...output.matchAll(new RegExp(`(\\d+) ${word}[;\\n]`, "g"))].reduce(
      (total, [, number]) => total + Number(number),
      0,
    );
  return { passed: sum("passed"), failed: sum("failed"), names: namesIn(output, /^(\S+) --- FAILED$/gm) };
}

/** Adds up the summary of pytest: `1 failed, 211 passed, 2 skipped in 43.21s`. */
function pytest(output) {
  const sum = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(output.trim().split("\n").at(-1))?.[1] ?? 0);
  return {
    passed: sum("passed"),
    failed: sum("failed") + sum("error"),
    names: namesIn(output, /^(?:FAILED|ERROR) (\S+)/gm),
  };
}

function vitest() {
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(readFileSync(report, "utf8"));
  const names = testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const file = relative(root, name);
      return failed.length > 0 ? failed.map(({ fullName }) => `${file}: ${fullName}`) : [file];
    });
  return { passed: numPassedTests, failed: numFailedTests || (numFailedTestSuites > 0 ? 1 : 0), names };
}

const node = (...args) => [process.execPath, ...args];
const cargo = (...args) => ["cargo", ...args];

/** The Python of an environment with what `integrations/python/requirements.txt` lists (with `GUARD_SLOW`: `integrations/requirements.txt`). Without it the suites of Python are left out. */
const python = process.env.GUARD_PYTHON;
const inPython = (folder, name, module, ...args) => ({
  name,
  command: [python, "-m", module, ...args],
  cwd: join("integrations", folder),
  count: module === "pytest" ? pytest : check,
  skipped: python
    ? undefined
    : "GUARD_PYTHON does not name the Python of an environment with what integrations/python/requirements.txt lists",
});

/**
 * The platform, as Rust calls it. The addon is built for a platform by name, and cargo keeps what it compiles that way in another
 * folder than what it compiles without a name: the dependencies of the tests would be compiled a second time.
 */
const [, host] = /^host: (.*)$/m.exec(execFileSync("rustc", ["-vV"], { encoding: "utf8" })) ?? [];

/**
 * Suites, in lanes that run side by side: the tests of TypeScript wait for models and processes much of the time, while the compiler
 * of Rust does not. The profile is that of the addon, so that what both depend on is compiled once.
 */
const LANES = [
  [
    {
      name: "typescript",
      command: node(
        bin("vitest/vitest.mjs"),
        ...["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
      ),
      count: vitest,
    },
  ],
  [
    { name: "lint", command: node(bin("@biomejs/biome/bin/biome"), "ci", "."), count: check },
    { name: "types", command: node(tsc, "--noEmit", "-p", "tsconfig.test.json"), count: check },
    { name: "types of the page", command: node(tsc, "-p", "tsconfig.page.json"), count: check },
    { name: "format", command: cargo("fmt", "--all", "--check"), count: check },
    {
      name: "rust",
      command: cargo("test", "--workspace", "--target", host, "--profile", "ci", "--quiet", "--no-fail-fast"),
      count: libtest,
    },
  ],
  [
    inPython("python", "python client", "pytest", "-q", "-p", "no:cacheprovider"),
    // A job of its own starts LiteLLM's proxy, and checks the code itself.
    ...(process.env.GUARD_SLOW
      ? [
          inPython("litellm", "litellm", "pytest", "-q", "-p", "no:cacheprovider"),
          ...["python", "litellm"].flatMap((folder) => [
            inPython(folder, `lint of ${folder}`, "ruff", "check", "."),
            inPython(folder, `format of ${folder}`, "ruff", "format", "--check", "."),
            inPython(folder, `types of ${folder}`, "mypy", "src"),
          ]),
        ]
      : []),
  ],
];

/** Runs a suite to its end, and prints what it said then: lanes must not mix their lines. */
function run({ name, command: [program, ...args], cwd = ".", count, skipped }) {
  if (skipped) return { name, skipped };
  const start = performance.now();
  return new Promise((resolve) => {
    const chunks = [];
    const child = spawn(program, args, { cwd: join(root, cwd), stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => chunks.push({ chunk, isOut: true }));
    child.stderr.on("data", (chunk) => chunks.push({ chunk, isOut: false }));
    const end = (status, problem = "") => {
      const seconds = (performance.now() - start) / 1000;
      const text = (wanted) => Buffer.concat(chunks.filter(wanted).map(({ chunk }) => chunk)).toString();
      console.log(`\n== ${name}\n${text(() => true)}${problem}`);
      let counts;
      try {
        counts = count(text(({ isOut }) => isOut));
      } catch {
        counts = { passed: 0, failed: 0 };
      }
      // A suite that ends badly without having counted a failure has failed as a whole.
      if (status !== 0 && counts.failed === 0) {
        const last = text(() => true)
          .trimEnd()
          .split("\n")
          .slice(-LAST_LINES);
        counts = {
          passed: Math.max(0, counts.passed - 1),
          failed: 1,
          names: [`no test, but it ended with ${status}:`, ...last],
        };
      }
      resolve({ name, seconds, ...counts });
    };
    child.on("error", (error) => end(1, error.message));
    child.on("close", (status) => end(status));
  });
}

const names = LANES.flat().map(({ name }) => name);
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`unknown suite ${unknown.join(", ")}; known are: ${names.join(", ")}`);
  process.exit(2);
}

async function runLane(lane) {
  const results = [];
  for (const suite of lane) {
    if (chosen.length === 0 || chosen.includes(suite.name)) results.push(await run(suite));
  }
  return results;
}

const all = (await Promise.all(LANES.map(runLane))).flat();
const results = all.filter(({ skipped }) => !skipped);
rmSync(scratch, { recursive: true, force: true });

console.log();
for (const { name, seconds, passed, failed } of results) {
  console.log(`${name.padEnd(20)}${seconds.toFixed(1).padStart(7)} s   ${passed} passed, ${failed} failed`);
}
for (const reason of new Set(all.flatMap(({ skipped = [] }) => skipped))) {
  const names = all.filter(({ skipped }) => skipped === reason).map(({ name }) => name);
  console.log(`SKIPPED, and not counted as passed: ${names.join(", ")}. ${reason}.`);
}
// A log is often cut to its end, so what failed is said there once more.
for (const { name, names = [] } of results) {
  for (const test of names) console.log(`FAILED ${name}: ${test}`);
}
const passed = results.reduce((total, result) => total + result.passed, 0);
const failed = results.reduce((total, result) => total + result.failed, 0);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
