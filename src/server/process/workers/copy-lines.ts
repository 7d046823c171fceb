import type { Readable, Writable } from "node:stream";

const LINE_BREAK = 0x0a;

/** What has no line break for so many bytes is written in pieces. */
const LONGEST = 1024 * 1024;

/**
 * Copies one of the outputs of another process, line by line: lines of several processes that write to the same file or pipe would mix
 * where they are long. It waits for a reader that is slow.
 */
export function copyLines(from: Readable, to: Writable): void {
  let rest: Buffer[] = [];
  let waiting = 0;
  const write = (bytes: Buffer) => {
    if (bytes.length === 0 || to.write(bytes)) return;
    from.pause();
    to.once("drain", () => from.resume());
  };
  const flush = () => {
    write(Buffer.concat(rest));
    rest = [];
    waiting = 0;
  };
  from.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_BREAK) + 1;
    if (end > 0) {
      rest.push(chunk.subarray(0, end));
      flush();
    }
    if (end === chunk.length) return;
    rest.push(chunk.subarray(end));
    waiting += chunk.length - end;
    if (waiting > LONGEST) flush();
  });
  from.on("end", flush);
}
