import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";
import { checkOutputFile } from "./output-file.ts";

const options = {
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  texts: {
    type: "string",
    value: "FILE",
    help: "your own texts: JSON lines or CSV as for guard-scan scan --jsonl (.jsonl, .csv, .tsv), or a prompt in each line; default: guard's own",
  },
  seconds: { type: "string", value: "NUMBER", help: "how long to measure each row, in seconds; default: 1" },
  concurrency: {
    type: "string",
    value: "NUMBERS",
    help: "numbers of concurrent scans to measure; default: 1,2,4,8,16,32",
  },
  rest: {
    type: "string",
    value: "SECONDS",
    help: "how long to wait before memory is read for the last time; default: 3",
  },
  url: { type: "string", value: "URL", help: "measure a running server instead" },
  header: {
    type: "string",
    multiple: true,
    value: "HEADER",
    help: "header of the requests to --url, such as 'Authorization: Bearer TOKEN'; may be repeated",
  },
  json: { type: "string", value: "FILE", help: "write the figures to a file as JSON" },
} as const;

/** `guard-scan bench`: measures scan times on this machine. */
export const bench: Command = {
  name: "bench",
  summary: "Measures the scan times of a configuration on this machine, or of a running server.",
  usage:
    "guard-scan bench [FILE | --config FILE] [--texts FILE] [--seconds NUMBER] [--concurrency NUMBERS] [--rest SECONDS] [--json FILE]\n       guard-scan bench --url URL [--header HEADER ...] [--texts FILE] [...]",
  options,
  notes: `First it measures each scanner alone, and all scanners of a list together, one text after another. Scanners that share a model also
share its inference, so a list may take less than the sum of its scanners. All times are in milliseconds per text:
  WALL    from the call to its result
  CPU     processor time of all threads of the process
  ENGINE  time of models, with the medians of its parts QUEUED (waiting for a thread), TOKENS (tokenizing) and MODEL (inference); it may
          be more than WALL if models run in parallel
Then it measures each list with concurrent scans. SCANS/S is the number of scans per second. P50, P95 and P99 are percentiles.
Each row takes --seconds, after a warm-up of one scan for each text (for clocks, at most --seconds) or one scan. Each prompt and each
output gets a new number before its text, because a repeated text would take less time than a new one. Repeated scans of a conversation
use cached verdicts of known messages, as in later turns.
With --url a scan is a request and includes the time on the network. There is only the WALL clock, and no memory.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const { url, header = [], json } = values;
    if (url !== undefined && (values.config ?? path) !== undefined) {
      throw new UsageError("give --url or a configuration file, not both");
    }
    if (url === undefined && header.length > 0) throw new UsageError("--header belongs to --url");
    if (url !== undefined && values.rest !== undefined) {
      throw new UsageError("--rest does not go with --url: the memory of a server is not measured");
    }
    const seconds = parseSeconds("--seconds", values.seconds ?? "1");
    const concurrency = parseConcurrency(values.concurrency ?? "1,2,4,8,16,32");
    const rest = parseSeconds("--rest", values.rest ?? "3", true);
    // Checked now, because the measurement takes long.
    if (json !== undefined) checkOutputFile("--json", json);
    if (values.texts !== undefined && values.texts !== "-" && !existsSync(values.texts)) {
      throw new UsageError(`--texts: there is no file ${values.texts}`);
    }
    const subject = url ?? configFile(values.config, path).path;
    const { measureBench } = await import("./bench/run.ts");
    const { benchText } = await import("./bench/tables.ts");
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
      await print(benchText(report, lineWidth()));
    } finally {
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    }
    return 0;
  },
};

function parseSeconds(option: string, text: string, allowsZero = false): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(allowsZero ? value >= 0 : value > 0) || value > 3600) {
    throw new UsageError(`${option}: expected a number ${allowsZero ? "from" : "above"} 0 and up to 3600, got ${text}`);
  }
  return value;
}

/** The maximum number of concurrent scans. More would only measure the queue. */
const MAX_CONCURRENCY = 1024;

function parseConcurrency(text: string): number[] {
  const values = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (!values.every((value) => value >= 1 && value <= MAX_CONCURRENCY) || new Set(values).size < values.length) {
    throw new UsageError(
      `--concurrency: expected different whole numbers from 1 to ${MAX_CONCURRENCY}, such as 1,8,32, got ${text}`,
    );
  }
  return values.sort((a, b) => a - b);
}
