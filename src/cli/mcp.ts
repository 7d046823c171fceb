import { basename } from "node:path";
import type { ServerIdentity } from "../mcp/pin-file.ts";
import { ownFile } from "../own-files.ts";
import { MCP, requirePackages } from "../support/optional-packages.ts";
import { type Command, parse, UsageError } from "./command.ts";

const options = {
  config: { type: "string", value: "FILE", help: "configuration; default: the mcp.yml that comes with guard" },
  name: { type: "string", value: "NAME", help: "name of the server in lines of the log and in the file of pins" },
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
  pins: {
    type: "string",
    value: "FILE",
    help: "remembers the server's tools from session to session; a tool that has changed is left out",
  },
  accept: { type: "boolean", help: "pins the tools as they are now in --pins, prints them, and exits" },
} as const;

/** `guard-scan mcp`: a proxy between an MCP client and a server. */
export const mcp: Command = {
  name: "mcp",
  summary: "Guards an MCP server: checks its tools, their arguments and their results.",
  usage:
    "guard-scan mcp [--config FILE] [--pins FILE [--accept]] [--restore NAME ...] (-- COMMAND [ARGS ...] | --url URL [--header 'K: V' ...])",
  options,
  notes:
    "An MCP client starts it in the place of the server. Standard output is the protocol's; the log is on standard error.\n" +
    "Exit codes: 0 the client has ended the session, 2 an error, or the server has ended.\n" +
    "With --accept: 0 all tools of the server are pinned, 1 some failed a check and are not.",
  async run(args) {
    const end = args.indexOf("--");
    const { values, positionals } = parse(options, end < 0 ? args : args.slice(0, end));
    const [command, ...rest] = end < 0 ? [] : args.slice(end + 1);
    if (positionals.length > 0)
      throw new UsageError(`unexpected argument ${positionals[0]}: the command stands behind --`);
    if ((command === undefined) === (values.url === undefined)) throw new UsageError("give -- COMMAND or --url URL");
    if (values.header && values.url === undefined) throw new UsageError("--header belongs to --url");
    if (values.accept && values.pins === undefined) throw new UsageError("--accept belongs to --pins");
    const onFinding = values["on-finding"] ?? "mask";
    if (onFinding !== "mask" && onFinding !== "block") throw new UsageError("--on-finding: expected mask or block");
    const url = values.url === undefined ? undefined : readUrl(values.url);
    const headers = readHeaders(values.header ?? []);
    const file = values.config ?? ownFile("mcp.yml");
    const label = values.name === undefined ? "guard-scan mcp" : `guard-scan mcp ${JSON.stringify(values.name)}`;
    const log = (line: string) => void process.stderr.write(`${label}: ${line}\n`);

    requirePackages("guard mcp", MCP);
    const [{ McpSession }, { PinFile }, { clientOverStdio, serverOverHttp, serverOverStdio }] = await Promise.all([
      import("../mcp/session.ts"),
      import("../mcp/pin-file.ts"),
      import("../mcp/transports.ts"),
    ]);
    const server = url ? serverOverHttp(url, headers) : serverOverStdio(command as string, rest);
    const identity = values.name === undefined ? identityOf(url, command as string, rest) : { name: values.name };
    const pins = values.pins === undefined ? undefined : await PinFile.open(values.pins, identity, values.accept);
    let failed = 0;
    const session = await McpSession.fromConfig(file, {
      onFinding,
      restore: values.restore ?? [],
      log,
      pins,
      onRemovedTool: () => failed++,
    });
    const stop = () => void session.close();
    process.once("SIGTERM", stop).once("SIGINT", stop);
    try {
      if (pins && values.accept) {
        const tools = await session.listTools(server);
        const descriptions = new Map(tools.map(({ name, description }) => [name, description]));
        for (const { name, state } of await pins.accept([...descriptions.keys()])) {
          const description = state === "new" || state === "changed" ? `: ${printable(descriptions.get(name))}` : "";
          process.stdout.write(`${state.padEnd(9)}  ${printable(name)}${description}\n`);
        }
        return failed > 0 ? 1 : 0;
      }
      const endedBy = await session.run(clientOverStdio(), server);
      if (endedBy === "server") log("the server has ended");
      return endedBy === "server" ? 2 : 0;
    } finally {
      process.off("SIGTERM", stop).off("SIGINT", stop);
    }
  },
};

/** How a server without a name is told from others in a file of pins. */
function identityOf(url: URL | undefined, command: string, args: readonly string[]): ServerIdentity {
  return url ? { label: url.host, address: [url.href] } : { label: basename(command), address: [command, ...args] };
}

/** What a server wrote, on one line and without characters that a terminal would obey or hide. */
function printable(text = ""): string {
  return JSON.stringify(text).replace(/[^\P{C}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}

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
