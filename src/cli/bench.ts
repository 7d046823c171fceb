import { type Command, lineWidth, parse, print, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  config: { type: "string", value: "FILE", help: CONFIG_HELP },
  file: {
    type: "string",
    value: "FILE",
    help: "texts of your own: JSON lines as for guard scan --jsonl (.jsonl), or a prompt in each line; default: ordinary texts of guard",
  },
  seconds: { type: "string", value: "NUMBER", help: "how long each row is measured; default: 2" },
  concurrency: { type: "string", value: "NUMBER", help: "how many scans run at the same time; default: 1" },
  url: { type: "string", value: "URL", help: "measure a running server, not the library" },
  header: {
    type: "string",
    multiple: true,
    value: "HEADER",
    help: "with --url: a header of the requests, such as 'Authorization: Bearer TOKEN'; may be repeated",
  },
  json: { type: "boolean", help: "print JSON" },
} as const;

/** `guard bench`: how long scans take on this machine. */
export const bench: Command = {
  name: "bench",
  summary:
    "Measures how long the scanners of a configuration take on this machine, or how long a running server takes.",
  usage:
    "guard bench [FILE | --config FILE] [--file TEXTS] [--seconds NUMBER] [--concurrency NUMBER] [--json]\n       guard bench --url URL [--header HEADER ...] [--file TEXTS] [...]",
  options,
  notes: `The rows are each scanner by itself, then all of a list as the server runs them: those with one model share its inference, so that the
whole may take less than the sum. A row is measured for --seconds after one scan that does not count. SCANS/S is how many scans ended
in a second; P50, P95 and P99 are percentiles of the milliseconds that a scan took, from its call to its result. With --url a scan is
a request, and the time on the network is in it.`,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const { url, header = [] } = values;
    if (url !== undefined && (values.config ?? path) !== undefined) {
      throw new UsageError("a server has its own configuration: give --url or a file, not both");
    }
    if (url === undefined && header.length > 0) throw new UsageError("--header belongs to --url");
    const timing = {
      seconds: positive("--seconds", values.seconds ?? "2"),
      concurrency: positive("--concurrency", values.concurrency ?? "1", true),
    };
    const [{ readTexts }, { measureLists, measureServer, benchTable }] = await Promise.all([
      import("./bench-texts.ts"),
      import("./bench-rows.ts"),
    ]);
    const texts = await readTexts(values.file);
    const onRow = (name: string) => {
      if (process.stderr.isTTY) process.stderr.write(`\rmeasuring ${name}\x1b[K`);
    };
    try {
      const rows =
        url === undefined
          ? await measureLists(configFile(values.config, path).path, texts, timing, onRow)
          : await measureServer(url, header, texts, timing, onRow);
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
      await print(values.json ? `${JSON.stringify(rows, null, 2)}\n` : benchTable(rows, lineWidth()));
    } finally {
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    }
    return 0;
  },
};

function positive(option: string, text: string, whole = false): number {
  const value = Number(text);
  if (!(value > 0) || value > 3600 || (whole && !Number.isInteger(value))) {
    throw new UsageError(
      `${option}: expected a ${whole ? "whole number" : "number"} above 0 and up to 3600, got ${text}`,
    );
  }
  return value;
}
