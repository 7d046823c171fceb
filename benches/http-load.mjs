// Load for guard's server: distinct texts, POST requests, and statistics of their replies.
import { Agent, request } from "node:http";
import { SENTENCES } from "./texts/prompts.mjs";
import { random } from "./texts/random.mjs";

/** The connections of all requests. The caller destroys the agent when the load is over. */
export const agent = new Agent({ keepAlive: true, maxSockets: 4096 });

/** Returns a generator of texts of `chars` characters. No two are equal, so no cache helps. */
export function distinctTexts(seed, chars) {
  const next = random(seed);
  return () => {
    const sentences = [];
    for (let length = 0; length < chars; ) {
      const sentence = SENTENCES[Math.floor(next() * SENTENCES.length)];
      sentences.push(sentence);
      length += sentence.length + 1;
    }
    return `${Math.floor(next() * 1e9)} ${sentences.join(" ")}`.slice(0, chars);
  };
}

/**
 * Posts JSON.
 *
 * @param more further headers.
 * @returns the status (0 for a failed connection), the duration in milliseconds, and `Retry-After` in seconds.
 */
export function post(url, fields, more = {}) {
  const body = JSON.stringify(fields);
  const start = performance.now();
  return new Promise((resolve) => {
    const done = (status, retryAfter) => resolve({ status, retryAfter, ms: performance.now() - start });
    const headers = { ...more, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request(url, { method: "POST", agent, headers }, (reply) => {
      reply.resume().on("end", () => done(reply.statusCode, Number(reply.headers["retry-after"] ?? 0)));
    });
    call.on("error", () => done(0));
    call.end(body);
  });
}

/** Keeps `connections` requests in flight for `durationMs` milliseconds, and returns their replies. */
export async function closedLoop(send, connections, durationMs) {
  const replies = [];
  const end = performance.now() + durationMs;
  const sendRepeatedly = async () => {
    while (performance.now() < end) replies.push(await send());
  };
  await Promise.all(Array.from({ length: connections }, sendRepeatedly));
  return replies;
}

/** The latency in milliseconds that a share of the replies (0..1) does not exceed; NaN without replies. */
export function latencyQuantile(replies, share) {
  const sorted = replies.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
