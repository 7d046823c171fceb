// How long a request keeps all others waiting: texts of a megabyte that are made to give a scanner as many results as they can, while
// /healthz is asked again and again. The figures of a case are the longest wait for an answer of /healthz, and the most time of the processor
// that one round of the event loop took, both of the best of its rounds.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withServer } from "./server.mjs";

const args = process.argv.slice(2);
const rounds = args.includes("--quick") ? 1 : 3;
const only = args.find((arg) => !arg.startsWith("--"));

/** Measures rounds of the event loop in the server, where the system tells the time that a thread had. */
const FLAGS = process.platform === "linux" ? ["--import", new URL("loop-rounds.mjs", import.meta.url).href] : [];
/** Bytes that a text may have in JSON: a body may have 1 MiB. */
const MEGABYTE = 1_000_000;
/** The milliseconds that a case may take, and fail when it takes more. */
const LIMIT = 50;

const times = (part, length = MEGABYTE) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
/** A text of numbered parts, none of which is like another one. */
const numbered = (part, length = MEGABYTE) => {
  const parts = [];
  for (let at = 0, number = 0; at < length; number += 1) {
    parts.push(part(number));
    at += parts.at(-1).length;
  }
  return parts.join("").slice(0, length);
};
const paragraphs = numbered((at) => `This is paragraph ${at}.\n\n`);
const german = numbered((at) => `Das ist Absatz ${at}.\n\n`);
const urls = numbered((at) => `http://h${at}.example/p${at}?q=${at} `);
const mails = numbered((at) => `name${at}@mail.com `);
const key = (at) =>
  `AKIA${((at * 2654435761) >>> 0).toString(32).toUpperCase().replace(/[01]/g, "A").padStart(16, "Q")} `;
const object = `[${times('{"a":1},', MEGABYTE - 100)}{"a":1}]`.replace(/,\{?"?a?"?:?1?\{"a":1\}\]$/, ',{"a":1}]');
const system = numbered((at) => `Rule number ${at} of the house is ${at * 7}. `, 30_000);
/** As much of a text as has so many bytes in JSON, whatever its escapes. */
const fitting = (text) => {
  const share = MEGABYTE / Buffer.byteLength(JSON.stringify(text));
  return share < 1 ? text.slice(0, Math.floor(text.length * share)) : text;
};
const conversation = (count) => ({
  messages: Array.from({ length: count }, (_, at) => ({
    role: "user",
    content: `Message ${at}: ${times("see http://h.example/a or mail a@b.com. ", 900)}`,
  })),
});

/** A megabyte of messages that take next to no time each, so that the work around them shows. */
const short = (count, length = 20) =>
  Array.from({ length: count }, (_, at) => `Number ${at} of so many, as it is said here.`.slice(0, length));
const shortMessages = (count) => ({
  messages: short(count).map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
});
const shortParts = (count) => ({
  messages: [{ role: "user", content: short(count).map((text) => ({ type: "text", text })) }],
});

/** Each case: its name, the scanner with its parameters, the side, what is sent, how many at once, and settings of the server. */
const cases = [
  ["Language, short paragraphs", "Language", { valid_languages: ["en"] }, "prompt", paragraphs],
  [
    "Language, all in another language",
    "Language",
    { valid_languages: ["en"], match_type: "sentence" },
    "prompt",
    german,
  ],
  ["LanguageSame", "LanguageSame", {}, "output", german, { prompt: "Where is the station, please?" }],
  ["BanTopics, short paragraphs of other languages", "Toxicity", {}, "prompt", times("Aye ọjọ́ kan.\n\n"), {}, true],
  ["MaliciousURLs", "MaliciousURLs", {}, "output", urls],
  ["MaliciousURLs, 16 at once", "MaliciousURLs", {}, "output", urls, {}, false, 16],
  ["DataExfiltration, URLs", "DataExfiltration", { redact: true }, "output", urls],
  [
    "DataExfiltration, images",
    "DataExfiltration",
    { redact: true },
    "output",
    numbered((at) => `![a](http://h${at}.example/${at}?d=VGhlIHVzZXIgaXMgaWxsIGFu) `),
  ],
  [
    "DataExfiltration, HTML",
    "DataExfiltration",
    { redact: true },
    "output",
    numbered((at) => `<img src="http://h.example/${at}">`),
  ],
  ["DataExfiltration, brackets and lines", "DataExfiltration", {}, "output", times("[a]\n`b` <a ")],
  ["InvisibleText", "InvisibleText", {}, "prompt", times("a\u200b", MEGABYTE / 2)],
  ["BanCompetitors", "BanCompetitors", { competitors: ["a"] }, "prompt", times("a ")],
  ["BanSubstrings", "BanSubstrings", { substrings: ["a"], redact_all: true }, "prompt", times("a ")],
  ["Regex", "Regex", { patterns: ["[a-z]"], match_type: "all" }, "prompt", times("a ")],
  ["Secrets", "Secrets", {}, "prompt", numbered(key)],
  ["Anonymize", "Anonymize", { recognizer_conf: [] }, "prompt", mails],
  ["Anonymize, invented values", "Anonymize", { recognizer_conf: [], use_faker: true }, "prompt", mails],
  ["Sensitive", "Sensitive", { recognizer_conf: [], redact: true }, "output", mails],
  ["BanCode", "BanCode", {}, "prompt", numbered((at) => `Some text.\n\n\`\`\`python\nx${at} = f(${at})\n\`\`\`\n\n`)],
  ["Code", "Code", { languages: ["Python"] }, "prompt", numbered((at) => `x${at} = f(${at})\n\n`)],
  ["JSON", "JSON", { required_elements: 1 }, "output", object],
  ["JSON, many small ones", "JSON", {}, "output", times('{"a":1} ')],
  ["JSON, broken", "JSON", {}, "output", times("{'a':1,} ")],
  [
    "SystemPromptLeak",
    "SystemPromptLeak",
    {},
    "output",
    numbered((at) => `Rule number ${at} of the house is ${at * 7}. No. `),
    {
      messages: [
        { role: "system", content: system },
        { role: "user", content: "Hi" },
      ],
    },
  ],
  ["NoRefusalLight", "NoRefusalLight", {}, "output", times("I'm sorry, I cannot help. ")],
  ["ReadingTime", "ReadingTime", { max_time: 1, truncate: true }, "output", times("a ")],
  ["TokenLimit", "TokenLimit", {}, "prompt", times("a ")],
  [
    "Conversation of 1000 messages",
    ["Secrets", "MaliciousURLs", "InvisibleText", "Language"],
    { Language: { valid_languages: ["en"] } },
    "conversation",
    conversation(1000),
  ],
  ["Conversation of 18,000 short messages, refused", "InvisibleText", {}, "conversation", shortMessages(18_000)],
  [
    "Conversation of 18,000 short messages",
    ["Secrets", "InvisibleText"],
    {},
    "conversation",
    shortMessages(18_000),
    ...[{}, false, 1, { max_messages: 20_000 }],
  ],
  [
    "Conversation of 18,000 short messages, rewritten",
    ["Anonymize", "Secrets"],
    { Anonymize: { recognizer_conf: [] } },
    "rewritten conversation",
    shortMessages(18_000),
    ...[{}, false, 1, { max_messages: 20_000 }],
  ],
  ["Message of 20,000 short parts", ["Secrets", "InvisibleText"], {}, "conversation", shortParts(20_000)],
];

const rows = [];
for (const [name, types, params, kind, text, more = {}, , connections = 1, app = {}] of cases) {
  if (only && !name.toLowerCase().includes(only.toLowerCase())) continue;
  const folder = mkdtempSync(join(tmpdir(), "guard-bench-loop-"));
  try {
    const list = [types].flat().map((type) => ({ type, params: (Array.isArray(types) ? params[type] : params) ?? {} }));
    const config = join(folder, "scanners.json.yml");
    writeFileSync(
      config,
      JSON.stringify({
        app: { log_level: "ERROR", scan_prompt_timeout: 120, scan_output_timeout: 120, ...app },
        ...(kind === "output" ? { output_scanners: list } : { input_scanners: list }),
      }),
    );
    const { path, body } =
      kind === "conversation" || kind === "rewritten conversation"
        ? {
            path: kind === "conversation" ? "/scan/conversation" : "/analyze/conversation",
            body: { ...text, ...more, details: true },
          }
        : kind === "prompt"
          ? { path: "/analyze/prompt", body: { prompt: fitting(text), ...more, details: true } }
          : { path: "/analyze/output", body: { prompt: "Hi", output: fitting(text), ...more, details: true } };
    const sent = Buffer.from(JSON.stringify(body));
    const row = await withServer(
      config,
      async ({ url, server }) => {
        const best = { wait: Number.POSITIVE_INFINITY };
        await post(
          url + path,
          Buffer.from(
            JSON.stringify({
              ...body,
              ...(body.output
                ? { output: "Hi" }
                : body.prompt
                  ? { prompt: "Hi" }
                  : { messages: body.messages.slice(0, 1) }),
            }),
          ),
        );
        for (let round = 0; round < rounds; round += 1) {
          await longestRound(server);
          const poll = polling(`${url}/healthz`);
          const start = performance.now();
          const replies = await Promise.all(Array.from({ length: connections }, () => post(url + path, sent)));
          const took = performance.now() - start;
          const wait = await poll.end();
          const cpu = await longestRound(server);
          best.cpu = Math.min(best.cpu ?? cpu, cpu);
          if (wait < best.wait) Object.assign(best, { wait, took, status: replies[0].status, bytes: replies[0].bytes });
        }
        return best;
      },
      { flags: FLAGS },
    );
    rows.push({ name, ...row });
    console.log(
      `${name.padEnd(48)} ${row.wait.toFixed(0).padStart(6)} ms  round ${row.cpu.toFixed(0).padStart(4)} ms  scan ${row.took.toFixed(0).padStart(6)} ms  answer ${(row.bytes / 1e6).toFixed(2).padStart(6)} MB  ${row.status}`,
    );
  } catch (error) {
    console.log(`${name.padEnd(48)} ${error.message.slice(0, 300)}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const over = rows.filter(({ wait }) => wait > LIMIT);
console.log(
  over.length === 0 ? `No case takes more than ${LIMIT} ms.` : `${over.length} cases take more than ${LIMIT} ms.`,
);

/** The most time of the processor that one round of the server's event loop took since this was asked last; NaN where that is not known. */
function longestRound(server) {
  if (FLAGS.length === 0) return Number.NaN;
  return new Promise((resolve) => {
    const read = (chunk) => {
      const [, found] = /longest round ([\d.]+)/.exec(chunk) ?? [];
      if (found === undefined) return;
      server.stdout.off("data", read);
      resolve(Number(found));
    };
    server.stdout.on("data", read);
    server.kill("SIGUSR2");
  });
}

/** Sends a body, and returns the status and the length of the reply. */
function post(url, body) {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: "POST", headers: { "content-type": "application/json", "content-length": body.length } },
      (reply) => {
        let bytes = 0;
        reply.on("data", (chunk) => {
          bytes += chunk.length;
        });
        reply.on("end", () => resolve({ status: reply.statusCode, bytes }));
      },
    );
    call.on("error", reject).end(body);
  });
}

/** Asks an address again and again; `end` returns the longest wait for an answer in milliseconds. */
function polling(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let goes = true;
  let longest = 0;
  const done = (async () => {
    while (goes) {
      const start = performance.now();
      await new Promise((resolve, reject) => {
        request(url, { agent }, (reply) => reply.resume().on("end", resolve))
          .on("error", reject)
          .end();
      });
      longest = Math.max(longest, performance.now() - start);
      await sleep(2);
    }
    agent.destroy();
  })();
  return {
    async end() {
      await sleep(20);
      goes = false;
      await done;
      return longest;
    },
  };
}
