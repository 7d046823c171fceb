// Fuzzes one part of guard: `npm run fuzz -- TARGET [--seconds 60] [--seed N]`. See README.md.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import fc from "fast-check";

const here = fileURLToPath(new URL(".", import.meta.url));
const IN_JAVASCRIPT = readdirSync(join(here, "javascript"))
  .filter((name) => name !== "mutate.mjs")
  .map((name) => name.replace(".mjs", ""));
const IN_RUST = [...readFileSync(join(here, "src/main.rs"), "utf8").matchAll(/\("(\w+)", \w+::\w+\)/g)].map(
  ([, n]) => n,
);

/**
 * The flags of cargo-fuzz without a sanitizer, which work with a stable compiler. A sanitizer would find little, since
 * guard-core has little `unsafe` code.
 */
const FLAGS = [
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Cllvm-args=-sanitizer-coverage-trace-compares",
  "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
  "-Cllvm-args=-sanitizer-coverage-stack-depth",
  "-Cdebug-assertions",
  "-Ccodegen-units=1",
  "--cfg=fuzzing",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});
const [target = ""] = positionals;
const seconds = Number(values.seconds);
if (!(seconds > 0) || ![...IN_JAVASCRIPT, ...IN_RUST].includes(target)) {
  console.error(
    `Usage: npm run fuzz -- TARGET [--seconds 60] [--seed N]\nTargets: ${[...IN_JAVASCRIPT, ...IN_RUST].join(", ")}`,
  );
  process.exit(2);
}
if (IN_RUST.includes(target)) process.exitCode = fuzzRust();
else await fuzzJavaScript();

/** Compiles the program, writes the examples of the rules as its first inputs, and runs it. */
function fuzzRust() {
  const [, host] = /host: (\S+)/.exec(execFileSync("rustc", ["-vV"], { encoding: "utf8" })) ?? [];
  // With a target, the flags do not apply to build scripts.
  const build = ["build", "--release", "--manifest-path", join(here, "Cargo.toml"), "--target", host];
  const env = { ...process.env, CARGO_ENCODED_RUSTFLAGS: FLAGS.join("\x1f"), GUARD_FUZZ: target };
  execFileSync("cargo", build, { env, stdio: "inherit" });
  const corpus = join(here, "corpus", target);
  const failures = join(here, "artifacts", target);
  for (const folder of [corpus, failures]) mkdirSync(folder, { recursive: true });
  for (const [number, text] of examples().entries()) writeFileSync(join(corpus, `example-${number}`), text);
  const options = [
    `-max_total_time=${seconds}`,
    "-max_len=2048",
    "-timeout=20",
    "-rss_limit_mb=4096",
    "-print_final_stats=1",
  ];
  if (values.seed) options.push(`-seed=${values.seed}`);
  const program = join(here, "target", host, "release", "guard-fuzz");
  return (
    spawnSync(program, [corpus, `-artifact_prefix=${failures}/`, ...options], { env, stdio: "inherit" }).status ?? 1
  );
}

/** The quoted texts in the rule files: examples and patterns. */
function examples() {
  const rules = join(here, "../crates/guard-core/src");
  const files = readdirSync(rules, { recursive: true }).filter((name) => name.endsWith(".toml"));
  const texts = files.flatMap((name) => [
    ...readFileSync(join(rules, name), "utf8").matchAll(/"([^"\n]{8,400})"|'([^'\n]{8,400})'/g),
  ]);
  const all = [...new Set(texts.map(([, double, single]) => double ?? single))];
  const step = Math.max(1, Math.floor(all.length / 1500));
  return all.filter((_, index) => index % step === 0);
}

/** Runs a property until the time is over. A failing input is made smaller and printed with its seed. */
async function fuzzJavaScript() {
  const { property, close = () => {} } = await import(`./javascript/${target}.mjs`);
  const unhandled = (error) => {
    console.error("An unhandled rejection:", error);
    process.exit(1);
  };
  process.on("unhandledRejection", unhandled);
  const limit = { interruptAfterTimeLimit: seconds * 1000, numRuns: 1_000_000_000 };
  const seed = values.seed === undefined ? {} : { seed: Number(values.seed) };
  const result = await fc.check(property, { ...limit, ...seed });
  await close();
  console.log(`${target}: ${result.numRuns} executions, seed ${result.seed}`);
  if (!result.failed || result.counterexample === null) return;
  console.error(fc.defaultReportMessage(result));
  console.error(result.errorInstance);
  process.exitCode = 1;
}
