// The cases of the event loop benchmark: texts of a megabyte that give a scanner as many findings as possible.

/** The length of a text in JSON, in bytes. A body may have 1 MiB. */
const MEGABYTE = 1_000_000;

const repeat = (part, length = MEGABYTE) => part.repeat(Math.ceil(length / part.length)).slice(0, length);

/** A text of distinct, numbered parts. */
function numbered(part, length = MEGABYTE) {
  const parts = [];
  for (let at = 0, number = 0; at < length; number += 1) {
    parts.push(part(number));
    at += parts.at(-1).length;
  }
  return parts.join("").slice(0, length);
}

/** Cuts a text to about a megabyte of JSON, escapes included. */
function fitBody(text) {
  const share = MEGABYTE / Buffer.byteLength(JSON.stringify(text));
  return share < 1 ? text.slice(0, Math.floor(text.length * share)) : text;
}

const german = numbered((at) => `Das ist Absatz ${at}.\n\n`);
const urls = numbered((at) => `http://h${at}.example/p${at}?q=${at} `);
const mails = numbered((at) => `name${at}@mail.com `);
const accessKey = (at) =>
  `AKIA${((at * 2654435761) >>> 0).toString(32).toUpperCase().replace(/[01]/g, "A").padStart(16, "Q")} `;
const object = `[${repeat('{"a":1},', MEGABYTE - 100)}{"a":1}]`.replace(/,\{?"?a?"?:?1?\{"a":1\}\]$/, ',{"a":1}]');
const rule = (at) => `Rule number ${at} of the house is ${at * 7}. `;

const conversation = (count) =>
  Array.from({ length: count }, (_, at) => ({
    role: "user",
    content: `Message ${at}: ${repeat("see http://h.example/a or mail a@b.com. ", 900)}`,
  }));
/** Texts that take almost no time each, which shows the overhead per message. */
const shortTexts = (count, length = 20) =>
  Array.from({ length: count }, (_, at) => `Number ${at} of so many, as it is said here.`.slice(0, length));
const shortMessages = (count) =>
  shortTexts(count).map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
const shortParts = (count) => [{ role: "user", content: shortTexts(count).map((text) => ({ type: "text", text })) }];

const PROMPT = "/analyze/prompt";
const OUTPUT = "/analyze/output";
const prompt = (name, type, params, text) => ({
  ...{ name, path: PROMPT, scanners: [{ type, params }] },
  body: { prompt: fitBody(text), details: true },
});
const output = (name, type, params, text, { connections, ...more } = {}) => ({
  ...{ name, path: OUTPUT, scanners: [{ type, params }], connections },
  body: { prompt: "Hi", output: fitBody(text), ...more, details: true },
});
const chat = (name, scanners, messages, { path = "/scan/conversation", app } = {}) => ({
  ...{ name, path, scanners, app },
  body: { messages, details: true },
});

/**
 * Each case has a name, the scanners, the route, the body, and optionally a number of connections and `app` settings of the server.
 *
 * @type {{ name: string, scanners: object[], path: string, body: object, connections?: number, app?: object }[]}
 */
export const CASES = [
  prompt(
    "Language, short paragraphs",
    "Language",
    { valid_languages: ["en"] },
    numbered((at) => `This is paragraph ${at}.\n\n`),
  ),
  prompt("Language, all in another language", "Language", { valid_languages: ["en"], match_type: "sentence" }, german),
  output("LanguageSame", "LanguageSame", {}, german, { prompt: "Where is the station, please?" }),
  prompt("Toxicity, short paragraphs of another language", "Toxicity", {}, repeat("Aye ọjọ́ kan.\n\n")),
  output("MaliciousURLs", "MaliciousURLs", {}, urls),
  output("MaliciousURLs, 16 at once", "MaliciousURLs", {}, urls, { connections: 16 }),
  output("DataExfiltration, URLs", "DataExfiltration", { redact: true }, urls),
  output(
    "DataExfiltration, images",
    "DataExfiltration",
    { redact: true },
    numbered((at) => `![a](http://h${at}.example/${at}?d=VGhlIHVzZXIgaXMgaWxsIGFu) `),
  ),
  output(
    "DataExfiltration, HTML",
    "DataExfiltration",
    { redact: true },
    numbered((at) => `<img src="http://h.example/${at}">`),
  ),
  output("DataExfiltration, brackets and lines", "DataExfiltration", {}, repeat("[a]\n`b` <a ")),
  prompt("InvisibleText", "InvisibleText", {}, repeat("a\u200b", MEGABYTE / 2)),
  prompt("BanCompetitors", "BanCompetitors", { competitors: ["a"] }, repeat("a ")),
  prompt("BanSubstrings", "BanSubstrings", { substrings: ["a"], redact_all: true }, repeat("a ")),
  prompt("Regex", "Regex", { patterns: ["[a-z]"], match_type: "all" }, repeat("a ")),
  prompt("Secrets", "Secrets", {}, numbered(accessKey)),
  prompt("Anonymize", "Anonymize", { recognizer_conf: [] }, mails),
  prompt("Anonymize, invented values", "Anonymize", { recognizer_conf: [], use_faker: true }, mails),
  output("Sensitive", "Sensitive", { recognizer_conf: [], redact: true }, mails),
  prompt(
    "BanCode",
    "BanCode",
    {},
    numbered((at) => `Some text.\n\n\`\`\`python\nx${at} = f(${at})\n\`\`\`\n\n`),
  ),
  prompt(
    "Code",
    "Code",
    { languages: ["Python"] },
    numbered((at) => `x${at} = f(${at})\n\n`),
  ),
  output("JSON", "JSON", { required_elements: 1 }, object),
  output("JSON, many small ones", "JSON", {}, repeat('{"a":1} ')),
  output("JSON, broken", "JSON", {}, repeat("{'a':1,} ")),
  output(
    "SystemPromptLeak",
    "SystemPromptLeak",
    {},
    numbered((at) => `${rule(at)}No. `),
    {
      messages: [
        { role: "system", content: numbered(rule, 30_000) },
        { role: "user", content: "Hi" },
      ],
    },
  ),
  output("NoRefusalLight", "NoRefusalLight", {}, repeat("I'm sorry, I cannot help. ")),
  output("ReadingTime", "ReadingTime", { max_time: 1, truncate: true }, repeat("a ")),
  prompt("TokenLimit", "TokenLimit", {}, repeat("a ")),
  chat(
    "Conversation of 1000 messages",
    [
      { type: "Secrets" },
      { type: "MaliciousURLs" },
      { type: "InvisibleText" },
      { type: "Language", params: { valid_languages: ["en"] } },
    ],
    conversation(1000),
  ),
  chat("Conversation of 18,000 short messages, refused", [{ type: "InvisibleText" }], shortMessages(18_000)),
  chat(
    "Conversation of 18,000 short messages",
    [{ type: "Secrets" }, { type: "InvisibleText" }],
    shortMessages(18_000),
    { app: { max_messages: 20_000 } },
  ),
  chat(
    "Conversation of 18,000 short messages, rewritten",
    [{ type: "Anonymize", params: { recognizer_conf: [] } }, { type: "Secrets" }],
    shortMessages(18_000),
    { path: "/analyze/conversation", app: { max_messages: 20_000 } },
  ),
  chat("Message of 20,000 short parts", [{ type: "Secrets" }, { type: "InvisibleText" }], shortParts(20_000)),
];

/** The cases of the quick form: a prompt, an output and a conversation. */
export const QUICK_CASES = ["Secrets", "MaliciousURLs", "Conversation of 18,000 short messages"];

/** The body of a case with almost no text, which warms the server up. */
export function warmUpBody({ path, body }) {
  if (path === OUTPUT) return { ...body, output: "Hi" };
  return path === PROMPT ? { ...body, prompt: "Hi" } : { ...body, messages: body.messages.slice(0, 1) };
}
