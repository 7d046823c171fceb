// Runs every suite, and prints the number of passed and failed tests in the last line. `npm test -- NAME ...` runs only the named suites.
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

/** Counts a program without tests of its own, such as a linter, as one test. */
const check = () => ({ passed: 1, failed: 0 });

/** The number of lines that are repeated at the end for a suite that fails without a failed test. */
const LAST_LINES = 40;

/** Returns the distinct names of failed tests: the first group of `pattern`. */
const namesIn = (output, pattern) => [...new Set([...output.matchAll(pattern)].map(([, name]) => name))];

/** Adds up the summaries of libtest: `test result: ok. 8 passed; 0 failed; ...`. */
function libtest(output) {
  const sum = (word) =>
    [...output.matchAll(new RegExp(`(\\d+) ${word}[;\\n]`, "g"))].reduce(
      (total, [, number]) => total + Number(number),
      0,
    );
  return { passed: sum("passed"), failed: sum("failed"), names: namesIn(output, /^(\S+) --- FAILED$/gm) };
}

/** Reads the summary of pytest: `1 failed, 211 passed, 2 skipped in 43.21s`. */
function pytest(output) {
  const sum = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(output.trim().split("\n").at(-1))?.[1] ?? 0);
  return {
    passed: sum("passed"),
    failed: sum("failed") + sum("error"),
    names: namesIn(output, /^(?:FAILED|ERROR) (\S+)/gm),
  };
}

/** Reads the JSON report of vitest. */
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

/**
 * The Python program of an environment with the packages of `integrations/python/requirements.txt`, or of `integrations/requirements.txt`
 * with `GUARD_SLOW`. Without it the Python suites are skipped.
 */
const python = process.env.GUARD_PYTHON;
const inPython = (folder, name, module, ...args) => ({
  name,
  command: [python, "-m", module, ...args],
  cwd: join("integrations", folder),
  count: module === "pytest" ? pytest : check,
  skipped: python
    ? undefined
    : "GUARD_PYTHON is not set to the Python of an environment with the packages of integrations/python/requirements.txt",
});

/**
 * The target triple of this platform. napi builds the addon with `--target`, and cargo keeps the output of such builds in a folder of its
 * own. Without the same flag and profile, the tests would compile all dependencies a second time.
 */
const [, host] = /^host: (.*)$/m.exec(execFileSync("rustc", ["-vV"], { encoding: "utf8" })) ?? [];
const AS_ADDON = ["--target", host, "--profile", "ci"];

/** Suites that only the slow CI job runs. */
const slow = (...suites) => (process.env.GUARD_SLOW ? suites : []);

/**
 * The suites, in lanes that run in parallel: the TypeScript tests mostly wait for models and processes, while the Rust compiler uses the
 * processor.
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
    { name: "rust", command: cargo("test", "--workspace", ...AS_ADDON, "--quiet", "--no-fail-fast"), count: libtest },
    // It checks all dependencies a second time, which takes two minutes.
    ...slow({
      name: "clippy",
      command: cargo("clippy", "--workspace", "--all-targets", ...AS_ADDON, "--quiet", "--", "-D", "warnings"),
      count: check,
    }),
  ],
  [
    inPython("python", "python client", "pytest", "-q", "-p", "no:cacheprovider"),
    // They start LiteLLM's proxy, and lint the Python code.
    ...slow(
      inPython("litellm", "litellm", "pytest", "-q", "-p", "no:cacheprovider"),
      ...["python", "litellm"].flatMap((folder) => [
        inPython(folder, `lint of ${folder}`, "ruff", "check", "."),
        inPython(folder, `format of ${folder}`, "ruff", "format", "--check", "."),
        inPython(folder, `types of ${folder}`, "mypy", "src"),
      ]),
    ),
  ],
];

/** Runs a suite. Its output is printed when it ends, so that the lines of two lanes do not mix. */
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
      // A suite that exits with an error but reports no failed test has failed as a whole.
      if (status !== 0 && counts.failed === 0) {
        const last = text(() => true)
          .trimEnd()
          .split("\n")
          .slice(-LAST_LINES);
        counts = {
          passed: Math.max(0, counts.passed - 1),
          failed: 1,
          names: [`exit status ${status}, without a failed test:`, ...last],
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
  console.error(`Unknown suite: ${unknown.join(", ")}. The suites are: ${names.join(", ")}`);
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
  console.log(`SKIPPED, not counted: ${names.join(", ")}. ${reason}.`);
}
// Logs are often cut to their end, so the failures are repeated here.
for (const { name, names = [] } of results) {
  for (const test of names) console.log(`FAILED ${name}: ${test}`);
}
const passed = results.reduce((total, result) => total + result.passed, 0);
const failed = results.reduce((total, result) => total + result.failed, 0);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
