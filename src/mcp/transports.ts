import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** The maximum size of a message over stdio in bytes. A larger message ends the session. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The client that started this process, over standard input and output. */
export function clientOverStdio(): Transport {
  return new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
}

/**
 * A server that is started as a child process. It inherits the environment, in which MCP clients pass settings of the server, and
 * standard error.
 */
export function serverOverStdio(command: string, args: string[]): Transport {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return new StdioClientTransport({ command, args, env, stderr: "inherit", maxBufferSize: MAX_MESSAGE_BYTES });
}

/** A server over streamable HTTP. The headers are sent with every request. */
export function serverOverHttp(url: URL, headers: Record<string, string>): Transport {
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await transport.terminateSession().catch(() => {});
    await close();
  };
  return transport as Transport;
}
