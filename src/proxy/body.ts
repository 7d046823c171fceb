import type { Readable } from "node:stream";
import { Problem } from "../http-server/problem.ts";

/**
 * Reads a body to its end.
 *
 * @throws Problem 413 for a body of more bytes than the limit. No more than that is held.
 */
export async function readBody(payload: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not end the connection, which would lose the answer.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Whoever sends too much is not listened to any longer.
    if (size > limit) throw new Problem(413, "The body is too large.", { headers: { connection: "close" } });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
