import { fileURLToPath } from "node:url";
import { type Command, parse, UsageError } from "./command.ts";

const options = {
  config: { type: "string", value: "FILE", help: "configuration; default: the mcp.yml that comes with guard" },
  name: { type: "string", value: "NAME", help: "name of the server in lines of the log" },
  url: { type: "string", value: "URL", help: "a server over streamable HTTP, instead of a command" },
  header: {
    type: "string",
    multiple: true,
    value: "'K: V'",
    help: "sent to --url with every request; may be repeated",
  },
  "on-finding": { type: "string", value: "mask|block", help: "what happens to a result that fails; default: mask" },
  restore: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "tool that gets real values where arguments have placeholders; may be repeated",
  },
} as const;

/** `guard mcp`: a proxy between an MCP client and a server. */
export const mcp: Command = {
  name: "mcp",
  summary: "Guards an MCP server: checks its tools, their arguments and their results.",
  usage: "guard mcp [--config FILE] [--restore NAME ...] (-- COMMAND [ARGS ...] | --url URL [--header 'K: V' ...])",
  options,
  notes:
    "An MCP client starts it in the place of the server. Standard output is the protocol's; the log is on standard error.\n" +
    "Exit codes: 0 the client has ended the session, 2 an error, or the server has ended.",
  async run(args) {
    const end = args.indexOf("--");
    const { values, positionals } = parse(options, end < 0 ? args : args.slice(0, end));
    const [command, ...rest] = end < 0 ? [] : args.slice(end + 1);
    if (positionals.length > 0)
      throw new UsageError(`unexpected argument ${positionals[0]}: the command stands behind --`);
    if ((command === undefined) === (values.url === undefined)) throw new UsageError("give -- COMMAND or --url URL");
    if (values.header && values.url === undefined) throw new UsageError("--header belongs to --url");
    const onFinding = values["on-finding"] ?? "mask";
    if (onFinding !== "mask" && onFinding !== "block") throw new UsageError("--on-finding: expected mask or block");
    const url = values.url === undefined ? undefined : readUrl(values.url);
    const headers = readHeaders(values.header ?? []);
    const file = values.config ?? fileURLToPath(new URL("../../mcp.yml", import.meta.url));
    const label = values.name === undefined ? "guard mcp" : `guard mcp ${JSON.stringify(values.name)}`;
    const log = (line: string) => void process.stderr.write(`${label}: ${line}\n`);

    const [{ McpSession }, { clientOverStdio, serverOverHttp, serverOverStdio }] = await Promise.all([
      import("../mcp/session.ts"),
      import("../mcp/transports.ts"),
    ]);
    const server = url ? serverOverHttp(url, headers) : serverOverStdio(command as string, rest);
    const session = await McpSession.fromConfig(file, { onFinding, restore: values.restore ?? [], log });
    const stop = () => void session.close();
    process.once("SIGTERM", stop).once("SIGINT", stop);
    try {
      const endedBy = await session.run(clientOverStdio(), server);
      if (endedBy === "server") log("the server has ended");
      return endedBy === "server" ? 2 : 0;
    } finally {
      process.off("SIGTERM", stop).off("SIGINT", stop);
    }
  },
};

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol)) throw new UsageError("--url: expected an http or https URL");
  return url;
}

function readHeaders(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map((header, index) => {
      const colon = header.indexOf(":");
      // The value may be a secret, so the error does not show it.
      if (colon < 1) throw new UsageError(`--header ${index + 1}: expected 'NAME: VALUE'`);
      return [header.slice(0, colon).trim(), header.slice(colon + 1).trim()];
    }),
  );
}
