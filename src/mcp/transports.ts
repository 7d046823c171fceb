import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** The most bytes of one message over stdio. A longer one ends the session. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** The client that has started this process, over standard input and output. */
export function clientOverStdio(): Transport {
  return new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MOST_BYTES });
}

/**
 * A server that is started as a child process. It gets the environment of this process, because that is where an MCP client puts what
 * the server needs; its standard error goes to ours.
 */
export function serverOverStdio(command: string, args: string[]): Transport {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return new StdioClientTransport({ command, args, env, stderr: "inherit", maxBufferSize: MOST_BYTES });
}

/** A server that is reached over streamable HTTP. The headers are sent with every request. */
export function serverOverHttp(url: URL, headers: Record<string, string>): Transport {
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await transport.terminateSession().catch(() => {});
    await close();
  };
  return transport as Transport;
}
