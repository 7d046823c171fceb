// Runs every suite and ends with one line that counts all of their tests. `npm test -- NAME` runs the suites of that name.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-test-"));
const chosen = process.argv.slice(2);

/** A suite that ends without having counted anything has failed as a whole. */
function suite(name, command, args, count) {
  if (chosen.length > 0 && !chosen.includes(name)) return { passed: 0, failed: 0 };
  console.log(`\n== ${name}`);
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });
  process.stdout.write((result.stdout ?? "") + (result.stderr ?? ""));
  let counts;
  try {
    counts = count(result.stdout ?? "");
  } catch {
    counts = { passed: 0, failed: 0 };
  }
  if (result.status !== 0 && counts.failed === 0) counts = { passed: Math.max(0, counts.passed - 1), failed: 1 };
  return counts;
}

/** The count of a check that either holds or does not. */
const check = () => ({ passed: 1, failed: 0 });

/** Adds up the summaries of libtest: `test result: ok. 8 passed; 0 failed; ...`. */
function libtest(output) {
  const sum = (word) =>
    [...output.matchAll(new RegExp(`(\\d+) ${word}[;\\n]`, "g"))].reduce(
      (total, [, number]) => total + Number(number),
      0,
    );
  return { passed: sum("passed"), failed: sum("failed") };
}

const report = join(scratch, "vitest.json");
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const bin = (name) => join(root, "node_modules", name);

const results = [
  suite("lint", process.execPath, [bin("@biomejs/biome/bin/biome"), "ci", "."], check),
  suite("types", process.execPath, [bin("typescript/bin/tsc"), "--noEmit", "-p", "tsconfig.test.json"], check),
  suite("types of the page", process.execPath, [bin("typescript/bin/tsc"), "-p", "tsconfig.page.json"], check),
  suite("format", "cargo", ["fmt", "--all", "--check"], check),
  // The bindings are only reachable from Node.js, so that they look unused when compiled as a test.
  suite("clippy", "cargo", ["clippy", "--workspace", "--quiet", "--", "-D", "warnings"], check),
  suite(
    "clippy of tests",
    "cargo",
    ["clippy", "-p", "guard-core", "--tests", "--quiet", "--", "-D", "warnings"],
    check,
  ),
  suite("rust", "cargo", ["test", "--workspace", "--quiet", "--no-fail-fast"], libtest),
  suite(
    "typescript",
    process.execPath,
    [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    () => {
      const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, "utf8"));
      return { passed: numPassedTests, failed: numFailedTests || (numFailedTestSuites > 0 ? 1 : 0) };
    },
  ),
];
rmSync(scratch, { recursive: true, force: true });

const passed = results.reduce((total, result) => total + result.passed, 0);
const failed = results.reduce((total, result) => total + result.failed, 0);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
