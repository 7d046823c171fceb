import { resolve } from "node:path";
import { type Command, parse, UsageError } from "./command.ts";
import { CONFIG_HELP, configFile } from "./config-path.ts";

const options = {
  config: {
    type: "string",
    value: "FILE",
    help: CONFIG_HELP,
  },
  host: { type: "string", value: "ADDRESS", help: "address to listen on; default: the configuration's, 127.0.0.1" },
  port: {
    type: "string",
    value: "NUMBER",
    help: "port to listen on, 0 for a free one; default: the configuration's, 8000",
  },
  watch: { type: "boolean", help: "reload the configuration when its file changes, as SIGHUP does" },
} as const;

/** `guard serve`: the HTTP API, until the process is told to end. */
export const serve: Command = {
  name: "serve",
  summary: "Starts the HTTP API.",
  usage: "guard serve [FILE | --config FILE] [--host ADDRESS] [--port NUMBER] [--watch]",
  options,
  async run(args) {
    const { values, positionals } = parse(options, args);
    const [path, more] = positionals;
    if (more !== undefined) throw new UsageError(`unexpected argument ${more}`);
    const file = configFile(values.config, path);
    const port = values.port === undefined ? undefined : readPort(values.port);
    const [{ loadConfig }, { startServer }] = await Promise.all([
      import("../config/index.ts"),
      import("../server/index.ts"),
    ]);
    const config = await loadConfig(file.path);
    const source = { file: resolve(file.path), from: file.from };
    // The server keeps the process alive until a signal closes it or a model cannot be loaded.
    await startServer({
      ...{ config, source, reread: () => loadConfig(file.path) },
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(port === undefined ? {} : { port }),
      ...(values.watch ? { watch: source.file } : {}),
    });
    return 0;
  },
};

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535)
    throw new UsageError(`--port: expected a number from 0 to 65535, got ${text}`);
  return port;
}
