// Server-sent events: the events are the same wherever the bytes are split, and written events can be read again.
import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeEvent, SseReader } from "../../dist/http-formats/sse.js";

const lines = fc.oneof(
  fc.constantFrom("data: ", "data", "event: a", "id: 1", ": ping", "retry: 5", "", "\r", "\ufeff", 'data: {"a":1}'),
  fc.string({ unit: "binary" }),
);
const bytes = fc.oneof(
  fc.array(lines).chain((list) => fc.constantFrom("\n", "\r\n", "\r").map((end) => Buffer.from(list.join(end)))),
  fc.uint8Array().map(Buffer.from),
);

const read = (pieces) => {
  const reader = new SseReader();
  return [...pieces.flatMap((piece) => reader.read(piece)), ...reader.end()];
};

export const property = fc.property(
  bytes,
  fc.array(fc.nat(), { maxLength: 6 }),
  fc.string({ unit: "grapheme" }),
  (all, cuts, data) => {
    const at = [0, ...cuts.map((cut) => cut % (all.length + 1)), all.length].sort((a, b) => a - b);
    const pieces = at.slice(1).map((end, index) => all.subarray(at[index], end));
    assert.deepEqual(read(pieces), read([all]));
    const plain = data.replaceAll(/[\r\n]/g, "");
    assert.equal(read([encodeEvent({ data: plain })])[0]?.data, plain);
  },
);
