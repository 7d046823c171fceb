import { resolve } from "node:path";
import { MAX_WORKERS } from "../config/max-workers.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  host: {
    type: "string",
    value: "ADDRESS",
    help: "address to listen on; default: app.host of the configuration, 127.0.0.1",
  },
  port: {
    type: "string",
    value: "NUMBER",
    help: "port to listen on, 0 for a free one; default: app.port of the configuration, 8000",
  },
  workers: {
    type: "string",
    value: "NUMBER",
    help: "number of worker processes, or auto; default: app.workers of the configuration, 1",
  },
  watch: { type: "boolean", help: "reload the configuration if its file changes, as for SIGHUP" },
} as const;

/** `guard-scan serve`: the HTTP API, until a signal ends it. */
export const serve: Command = {
  name: "serve",
  summary: "Starts the HTTP API.",
  usage: "guard-scan serve [FILE | --config FILE] [--host ADDRESS] [--port NUMBER] [--workers NUMBER] [--watch]",
  options,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const file = configFile(values.config, path);
    const port = values.port === undefined ? undefined : readPort(values.port);
    const requestedWorkers = values.workers === undefined ? undefined : readWorkers(values.workers);
    const { limitProcessMemory } = await import("../http-server/process-memory.ts");
    limitProcessMemory();
    const { loadConfig } = await import("../config/index.ts");
    const config = await loadConfig(file.path);
    const { workersOf } = await import("../config/workers.ts");
    const workers = workersOf(requestedWorkers ?? config.app.workers);
    const source = { file: resolve(file.path), from: file.from };
    const at = { ...(values.host === undefined ? {} : { host: values.host }), ...(port === undefined ? {} : { port }) };
    // The server keeps the process alive until a signal closes it or a model cannot be loaded.
    if (workers > 1) {
      const { startWorkers } = await import("../server/process/workers/supervisor.ts");
      await startWorkers({ config, source, at, workers, watches: values.watch ?? false });
      return 0;
    }
    const { readAhead } = await import("../config/read-ahead.ts");
    const release = readAhead(config);
    const { startServer } = await import("../server/index.ts");
    const { loaded } = await startServer({
      ...{ config, source, reread: () => loadConfig(file.path), ...at },
      ...(values.watch ? { watch: source.file } : {}),
    });
    loaded.then(release, release);
    return 0;
  },
};

function readWorkers(text: string): number | "auto" {
  const workers = Number(text);
  if (text === "auto") return text;
  if (!/^\d+$/.test(text) || workers < 1 || workers > MAX_WORKERS)
    throw new UsageError(`--workers: expected a number from 1 to ${MAX_WORKERS}, or auto, got ${text}`);
  return workers;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535)
    throw new UsageError(`--port: expected a number from 0 to 65535, got ${text}`);
  return port;
}
