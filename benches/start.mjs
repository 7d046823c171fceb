// npm run bench:start [-- --quick] [-- --rounds N] [-- --against CHECKOUT]: the time until the default server listens and is ready, until
// `guard scan` has answered, and until the library is imported. `--against` names a built checkout of another version, measured in turn.
import { execFile, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { median } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    against: { type: "string" },
  },
});
const ROUNDS = Number(flags.rounds ?? (flags.quick ? 1 : 7));
// The first round fills the caches of the operating system.
const WARM_UP_ROUNDS = flags.quick ? 0 : 1;
const TEXT = "What is the capital of France?";

const here = fileURLToPath(new URL("../", import.meta.url));
const checkouts = { here, ...(flags.against && { against: resolve(flags.against) }) };
const machine = machineInfo();
console.log(formatMachine(machine));

const rounds = [];
for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
  // The first checkout of a round changes the machine's state for the second, so the order alternates.
  const order = round % 2 === 0 ? Object.entries(checkouts) : Object.entries(checkouts).reverse();
  for (const [checkout, root] of order) {
    const times = {
      ...(await timeServer(root)),
      "guard scan, PromptInjection": await timeScan(root, "--scanner", "PromptInjection"),
      "guard scan, scanners.yml": await timeScan(root, "--config", join(root, "scanners.yml")),
      "guard --help": await timeProgram(join(root, "dist/cli/main.js"), "--help"),
      "import of the library": await timeImport(root),
    };
    if (round >= 0) rounds.push({ checkout, times });
  }
}

for (const checkout of Object.keys(checkouts)) {
  const ofCheckout = rounds.filter((round) => round.checkout === checkout);
  const rows = Object.keys(ofCheckout[0].times).map((name) => {
    const times = ofCheckout.map((round) => round.times[name]);
    return [name, formatNumber(median(times)), formatNumber(Math.min(...times)), formatNumber(Math.max(...times))];
  });
  const title = checkout === "here" ? "This checkout" : `The checkout ${flags.against}`;
  console.log(`\n${title}, ms, ${ofCheckout.length} rounds`);
  printTable(["", "median", "min", "max"], rows);
}
console.log();
saveResults("start", { quick: flags.quick, machine, rounds });

/** The time until the log of the default server reports that it listens and that it is ready; its first two scans. */
async function timeServer(root) {
  const started = performance.now();
  const main = join(root, "dist/cli/main.js");
  const server = spawn(process.execPath, [main, "serve", "--config", join(root, "scanners.yml"), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  try {
    let listening;
    const url = await new Promise((resolve, reject) => {
      let log = "";
      server.once("exit", () => reject(new Error(`the server exited:\n${log}`)));
      server.stdout.on("data", (chunk) => {
        log += chunk;
        const found = /"url":"([^"]+)"/.exec(log)?.[1];
        if (found) listening ??= performance.now() - started;
        if (found && log.includes('"msg":"ready"')) resolve(found);
      });
    });
    const ready = performance.now() - started;
    const first = await timed(() => analyze(url));
    const second = await timed(() => analyze(url));
    return {
      "server listens": listening,
      "server is ready": ready,
      "its first scan": first,
      "its second scan": second,
    };
  } finally {
    server.kill("SIGTERM");
    await exited;
  }
}

async function analyze(url) {
  const reply = await fetch(`${url}/analyze/prompt`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    // The text is new, so that the cache does not help.
    body: JSON.stringify({ prompt: `${TEXT} ${performance.now()}` }),
  });
  if (!reply.ok) throw new Error(await reply.text());
  await reply.arrayBuffer();
}

function timeScan(root, ...args) {
  return timeProgram(join(root, "dist/cli/main.js"), "scan", ...args, TEXT);
}

function timeProgram(...args) {
  return timed(() => promisify(execFile)(process.execPath, args));
}

/** The duration of the import, without the start of Node.js. */
async function timeImport(root) {
  const file = pathToFileURL(join(root, "dist/index.js")).href;
  const program = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - t);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  return Number(stdout);
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
