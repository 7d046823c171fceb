import type { Readable, Writable } from "node:stream";

const LINE_BREAK = 0x0a;

/** Longer lines are written in pieces. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Copies the output of another process line by line, because long lines of several processes that write to one file or pipe would mix.
 * It respects backpressure.
 */
export function copyLines(from: Readable, to: Writable): void {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  const write = (bytes: Buffer) => {
    if (bytes.length === 0 || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => from.resume());
  };
  const flush = () => {
    write(Buffer.concat(partial));
    partial = [];
    partialBytes = 0;
  };
  from.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_BREAK) + 1;
    if (end > 0) {
      partial.push(chunk.subarray(0, end));
      flush();
    }
    if (end === chunk.length) return;
    partial.push(chunk.subarray(end));
    partialBytes += chunk.length - end;
    if (partialBytes > MAX_LINE_BYTES) flush();
  });
  from.on("end", flush);
}
