import { basename } from "node:path";
import type { PinFile, ServerIdentity } from "../mcp/pin-file.ts";
import { ownFile } from "../own-files.ts";
import { MCP, requirePackages } from "../support/optional-packages.ts";
import { type Command, parse, UsageError } from "./command.ts";
import { MODE_HELP, modeOption } from "./mode.ts";

const options = {
  config: { type: "string", value: "FILE", help: "configuration file; default: guard's own mcp.yml" },
  name: { type: "string", value: "NAME", help: "name of the server in the log and in the pin file" },
  url: {
    type: "string",
    value: "URL",
    help: "connect to a server over streamable HTTP, instead of starting a command",
  },
  header: {
    type: "string",
    multiple: true,
    value: "'K: V'",
    help: "header of all requests to --url; may be repeated",
  },
  "on-finding": { type: "string", value: "mask|block", help: "mask or block results that fail; default: mask" },
  mode: { type: "string", value: "MODE", help: MODE_HELP },
  restore: {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "tool whose arguments get the real values of placeholders; may be repeated",
  },
  pins: {
    type: "string",
    value: "FILE",
    help: "pin the server's tools in a file; tools that change later are hidden",
  },
  accept: { type: "boolean", help: "pin the current tools in --pins, print them, and exit" },
} as const;

/** `guard-scan mcp`: a proxy between an MCP client and a server. */
export const mcp: Command = {
  name: "mcp",
  summary: "Checks the tools of an MCP server, their arguments and their results.",
  usage:
    "guard-scan mcp [--config FILE] [--mode MODE] [--pins FILE [--accept]] [--restore NAME ...] (-- COMMAND [ARGS ...] | --url URL [--header 'K: V' ...])",
  options,
  notes:
    "Let the MCP client start this command instead of the server. Standard output is for the protocol; the log is on standard error.\n" +
    "Exit codes: 0 the client ended the session, 2 an error, or the server ended it.\n" +
    "With --accept: 0 all tools are pinned, 1 some tools failed a check and are not pinned.",
  async run(args) {
    const end = args.indexOf("--");
    const { values, positionals } = parse(options, end < 0 ? args : args.slice(0, end));
    const [command, ...rest] = end < 0 ? [] : args.slice(end + 1);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}: put the command after --`);
    if ((command === undefined) === (values.url === undefined)) throw new UsageError("give -- COMMAND or --url URL");
    if (values.header && values.url === undefined) throw new UsageError("--header belongs to --url");
    if (values.accept && values.pins === undefined) throw new UsageError("--accept belongs to --pins");
    const onFinding = values["on-finding"] ?? "mask";
    if (onFinding !== "mask" && onFinding !== "block") throw new UsageError("--on-finding: expected mask or block");
    const mode = modeOption(values.mode);
    const url = values.url === undefined ? undefined : readUrl(values.url);
    const headers = readHeaders(values.header ?? []);
    const label = values.name === undefined ? "guard-scan mcp" : `guard-scan mcp ${JSON.stringify(values.name)}`;
    const log = (line: string) => void process.stderr.write(`${label}: ${line}\n`);

    requirePackages("guard-scan mcp", MCP);
    const [{ McpSession }, { PinFile }, { clientOverStdio, serverOverHttp, serverOverStdio }] = await Promise.all([
      import("../mcp/session.ts"),
      import("../mcp/pin-file.ts"),
      import("../mcp/transports.ts"),
    ]);
    const server = url ? serverOverHttp(url, headers) : serverOverStdio(command as string, rest);
    const identity = values.name === undefined ? identityOf(url, command as string, rest) : { name: values.name };
    const pins = values.pins === undefined ? undefined : await PinFile.open(values.pins, identity, values.accept);
    let removed = 0;
    const session = await McpSession.fromConfig(values.config ?? ownFile("mcp.yml"), {
      ...{ onFinding, restore: values.restore ?? [], log, pins, mode },
      onRemovedTool: () => removed++,
    });
    const stop = () => void session.close();
    process.once("SIGTERM", stop).once("SIGINT", stop);
    try {
      if (pins && values.accept) {
        await pinTools(pins, await session.listTools(server));
        return removed > 0 ? 1 : 0;
      }
      const endedBy = await session.run(clientOverStdio(), server);
      if (endedBy === "server") log("the server ended the session");
      return endedBy === "server" ? 2 : 0;
    } finally {
      process.off("SIGTERM", stop).off("SIGINT", stop);
    }
  },
};

/** Pins the tools of a server, and prints each with its state. The descriptions of new and changed tools are printed too. */
async function pinTools(
  pins: PinFile,
  tools: readonly { name: string; description?: string | undefined }[],
): Promise<void> {
  const descriptions = new Map(tools.map(({ name, description }) => [name, description]));
  for (const { name, state } of await pins.accept([...descriptions.keys()])) {
    const description = state === "new" || state === "changed" ? `: ${printable(descriptions.get(name))}` : "";
    process.stdout.write(`${state.padEnd(9)}  ${printable(name)}${description}\n`);
  }
}

/** Identifies a server without a name in a pin file. */
function identityOf(url: URL | undefined, command: string, args: readonly string[]): ServerIdentity {
  return url ? { label: url.host, address: [url.href] } : { label: basename(command), address: [command, ...args] };
}

/** A text of the server on one line, without control characters and invisible characters. */
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
