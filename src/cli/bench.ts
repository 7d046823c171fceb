import { existsSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  texts: {
    type: "string",
    value: "FILE",
    help: "texts of your own: JSON lines as for guard-scan scan --jsonl (.jsonl), or a prompt in each line; default: ordinary texts of guard",
  },
  seconds: { type: "string", value: "NUMBER", help: "how long each row is measured; default: 1" },
  concurrency: {
    type: "string",
    value: "NUMBERS",
    help: "how many scans run at the same time, for each row of throughput; default: 1,2,4,8,16,32",
  },
  rest: { type: "string", value: "SECONDS", help: "the rest before memory is read for the last time; default: 3" },
  url: { type: "string", value: "URL", help: "measure a running server, not the library" },
  header: {
    type: "string",
    multiple: true,
    value: "HEADER",
    help: "with --url: a header of the requests, such as 'Authorization: Bearer TOKEN'; may be repeated",
  },
  json: { type: "string", value: "FILE", help: "write the figures to a file as JSON" },
} as const;

/** `guard-scan bench`: how long scans take on this machine. */
export const bench: Command = {
  name: "bench",
  summary:
    "Measures how long the scanners of a configuration take on this machine, or how long a running server takes.",
  usage:
    "guard-scan bench [FILE | --config FILE] [--texts FILE] [--seconds NUMBER] [--concurrency NUMBERS] [--rest SECONDS] [--json FILE]\n       guard-scan bench --url URL [--header HEADER ...] [--texts FILE] [...]",
  options,
  notes: `First each scanner is measured by itself, then all of a list as the server runs them: those with one model share its inference, so that
the whole may take less than the sum. One text follows another, and there are three clocks, in milliseconds of a text. WALL: from the call
to its result. CPU: the time of processors in all threads of the process. ENGINE: the time of models, and the medians of its parts QUEUED
(waiting for a thread), TOKENS (making them) and MODEL (running it); it may be more than WALL where models run side by side.
Then each list is measured with several texts at the same time: SCANS/S is how many scans ended in a second. P50, P95 and P99 are
percentiles. A row is measured for --seconds, after scans that do not count: before the clocks one of each text, for as long at the
most, then one. Of a conversation that is scanned again and again, verdicts of known messages are kept, as for its later turns. With
--url a scan is a request, and the time on the network is in it; there is no other clock, and no memory.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const { url, header = [], json } = values;
    if (url !== undefined && (values.config ?? path) !== undefined) {
      throw new UsageError("a server has its own configuration: give --url or a file, not both");
    }
    if (url === undefined && header.length > 0) throw new UsageError("--header belongs to --url");
    if (url !== undefined && values.rest !== undefined) {
      throw new UsageError("--rest does not go with --url: the memory of a server is not seen from here");
    }
    const seconds = secondsOf("--seconds", values.seconds ?? "1");
    const concurrency = concurrencyOf(values.concurrency ?? "1,2,4,8,16,32");
    const rest = secondsOf("--rest", values.rest ?? "3", true);
    // Nobody should wait for figures that cannot be written.
    if (json !== undefined) checkPlace("--json", json);
    if (values.texts !== undefined && values.texts !== "-" && !existsSync(values.texts)) {
      throw new UsageError(`--texts: there is no file ${values.texts}`);
    }
    const subject = url ?? configFile(values.config, path).path;
    const { measureBench } = await import("./bench/run.ts");
    const { plainBench } = await import("./bench/tables.ts");
    const onRow = (name: string) => {
      if (process.stderr.isTTY) process.stderr.write(`\rmeasuring ${name}\x1b[K`);
    };
    try {
      const report = await measureBench(
        { subject, ...(url === undefined ? {} : { header }), texts: values.texts },
        { seconds, concurrency, rest, onRow },
      );
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
      if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
      await print(plainBench(report, lineWidth()));
    } finally {
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    }
    return 0;
  },
};

function secondsOf(option: string, text: string, zero = false): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(zero ? value >= 0 : value > 0) || value > 3600) {
    throw new UsageError(`${option}: expected a number ${zero ? "from" : "above"} 0 and up to 3600, got ${text}`);
  }
  return value;
}

/** The most scans at the same time: more only measure how long they wait. */
const MOST = 1024;

function concurrencyOf(text: string): number[] {
  const values = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (!values.every((value) => value >= 1 && value <= MOST) || new Set(values).size < values.length) {
    throw new UsageError(
      `--concurrency: expected different whole numbers from 1 to ${MOST}, such as 1,8,32, got ${text}`,
    );
  }
  return values.sort((a, b) => a - b);
}

function checkPlace(option: string, file: string): void {
  if (!existsSync(dirname(file))) throw new UsageError(`${option}: there is no folder ${dirname(file)}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${option}: ${file} is a folder`);
}
