// Requests to a server of guard, as benches of load send them.
import { Agent, request } from "node:http";
import { SENTENCES } from "./texts/prompts.mjs";
import { random } from "./texts/random.mjs";

/** The connections of all requests. Whoever has ended with them destroys it. */
export const agent = new Agent({ keepAlive: true, maxSockets: 4096 });

/** Returns what makes texts of so many characters, of which no two are equal, so that no cache helps. */
export function longTexts(seed, chars) {
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

/** Posts JSON, and tells the status (0 where there was no answer), the seconds that it took, and what Retry-After said. */
export function post(url, fields) {
  const body = JSON.stringify(fields);
  const start = performance.now();
  return new Promise((resolve) => {
    const done = (status, retryAfter) => resolve({ status, retryAfter, seconds: (performance.now() - start) / 1000 });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request(url, { method: "POST", agent, headers }, (reply) => {
      reply.resume().on("end", () => done(reply.statusCode, Number(reply.headers["retry-after"] ?? 0)));
    });
    call.on("error", () => done(0));
    call.end(body);
  });
}

/** Keeps so many requests under way for so many seconds. */
export async function closedLoop(send, connections, seconds) {
  const replies = [];
  const end = performance.now() + seconds * 1000;
  const one = async () => {
    while (performance.now() < end) replies.push(await send());
  };
  await Promise.all(Array.from({ length: connections }, one));
  return replies;
}

/** The seconds within which so large a share of the replies came; NaN where there are none. */
export function quantile(replies, share) {
  const sorted = replies.map(({ seconds }) => seconds).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
