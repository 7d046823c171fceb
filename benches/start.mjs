// npm run bench:start [-- --rounds N] [-- --against CHECKOUT]: how long it takes until the default server listens and is ready, until
// `guard scan` has answered, and until the library is imported. With a built checkout of another version, both take turns.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { describe, machineNow } from "./machine.mjs";
import { median } from "./stats.mjs";
import { number, printTable } from "./table.mjs";

const { values: flags } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, against: { type: "string" } },
});
const TEXT = "What is the capital of France?";

const here = fileURLToPath(new URL("../", import.meta.url));
const checkouts = { here, ...(flags.against && { against: resolve(flags.against) }) };
const machine = machineNow();
console.log(describe(machine));

const rounds = [];
// The first round fills the caches of the system.
for (let round = -1; round < Number(flags.rounds); round++) {
  // Who comes first takes turns, too: the second finds the machine as the first has left it.
  const order = round % 2 === 0 ? Object.entries(checkouts) : Object.entries(checkouts).reverse();
  for (const [checkout, root] of order) {
    const times = {
      ...(await serve(root)),
      "guard scan, PromptInjection": await scan(root, "--scanner", "PromptInjection"),
      "guard scan, scanners.yml": await scan(root, "--config", join(root, "scanners.yml")),
      "guard --help": await run(join(root, "dist/cli/main.js"), "--help"),
      "import of the library": await imported(root),
    };
    if (round >= 0) rounds.push({ checkout, times });
  }
}

for (const checkout of Object.keys(checkouts)) {
  const of = rounds.filter((round) => round.checkout === checkout);
  const rows = Object.keys(of[0].times).map((what) => {
    const times = of.map((round) => round.times[what]);
    return [what, number(median(times)), number(Math.min(...times)), number(Math.max(...times))];
  });
  const title = checkout === "here" ? "This checkout" : `The checkout ${flags.against}`;
  console.log(`\n${title}, ms, ${of.length} rounds`);
  printTable(["", "median", "least", "most"], rows);
}
mkdirSync("bench-results", { recursive: true });
writeFileSync("bench-results/start.json", `${JSON.stringify({ date: new Date(), machine, rounds }, null, 2)}\n`);
console.log("\nWritten to bench-results/start.json");

/** When the log of the default server says that it listens, and that it is ready; its first scan, and the next one. */
async function serve(root) {
  const started = performance.now();
  const main = join(root, "dist/cli/main.js");
  const server = spawn(process.execPath, [main, "serve", "--config", join(root, "scanners.yml"), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  try {
    let listens;
    const url = await new Promise((resolve, reject) => {
      let log = "";
      server.once("exit", () => reject(new Error(`the server ended:\n${log}`)));
      server.stdout.on("data", (chunk) => {
        log += chunk;
        const at = /"url":"([^"]+)"/.exec(log)?.[1];
        if (at) listens ??= performance.now() - started;
        if (at && log.includes('"msg":"ready"')) resolve(at);
      });
    });
    const ready = performance.now() - started;
    const first = await timed(() => analyze(url));
    const second = await timed(() => analyze(url));
    return { "server listens": listens, "server is ready": ready, "its first scan": first, "its second scan": second };
  } finally {
    server.kill("SIGTERM");
    await exited;
  }
}

async function analyze(url) {
  const reply = await fetch(`${url}/analyze/prompt`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    // A text that was scanned before is answered sooner.
    body: JSON.stringify({ prompt: `${TEXT} ${performance.now()}` }),
  });
  if (!reply.ok) throw new Error(await reply.text());
  await reply.arrayBuffer();
}

function scan(root, ...args) {
  return run(join(root, "dist/cli/main.js"), "scan", ...args, TEXT);
}

/** Milliseconds that a program of Node.js runs. */
function run(...args) {
  return timed(() => promisify(execFile)(process.execPath, args));
}

/** Milliseconds that the import takes, without the start of Node.js. */
async function imported(root) {
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
