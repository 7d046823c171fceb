// What the comparison with llm-guard measures: every scanner that both have and that needs no neural model, with the same options on both
// sides, and for each of them texts that pass and texts that do not.
import { Vault } from "../../dist/index.js";
import { SENTENCES } from "../texts/prompts.mjs";
import { random } from "../texts/random.mjs";

const SUBSTRINGS = [
  "arbitrary code",
  "a backdoor",
  "keylogger",
  "rootkit",
  "botnet",
  "adware",
  "ransomware",
  "do not distribute",
];
const PATTERNS = ["Bearer [A-Za-z0-9-._~+/]{16,}", "\\b\\d{3}-\\d{2}-\\d{4}\\b", "[\\w.+-]+@[\\w-]+\\.[\\w.]+"];
const PLACEHOLDERS = [
  ["[REDACTED_PERSON_1]", "Ada Lovelace"],
  ["[REDACTED_PERSON_2]", "Grace Hopper"],
  ["[REDACTED_EMAIL_ADDRESS_1]", "ada@mail.test"],
];
/** Characters of the texts. */
export const LENGTHS = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

/**
 * The comparisons. `hit` stands in the middle of the texts that fail, or that are rewritten; `minutes` and `tokens` are limits, of which
 * each text has half at most, or twice as many. Only texts with room for it have a hit.
 */
export const CASES = [
  { type: "BanSubstrings", side: "input", params: { substrings: SUBSTRINGS }, hit: "rootkit" },
  {
    ...{ type: "BanSubstrings", note: "redact", side: "input", hit: "rootkit" },
    params: { substrings: SUBSTRINGS, redact_all: true },
    peerParams: { substrings: SUBSTRINGS, redact: true },
  },
  { type: "Regex", side: "input", params: { patterns: PATTERNS, match_type: "all" }, hit: "a@bc.org" },
  { type: "InvisibleText", side: "input", params: {}, hit: "\u{e0041}" },
  { type: "JSON", side: "output", params: { repair: true }, hit: '{"a": 1,}' },
  { type: "ReadingTime", side: "output", limited: "max_time", params: {}, perCharacter: 1 / 6 / 200 },
  {
    ...{ type: "Deanonymize", side: "output", hit: "[REDACTED_PERSON_1]" },
    params: { vault: new Vault(PLACEHOLDERS) },
    peerParams: { vault: PLACEHOLDERS },
  },
  // A key that is made here, so that no key stands in this file.
  { type: "Secrets", side: "input", params: {}, hit: ` key=AKIA${"Q7ZK2MXW".repeat(2)} ` },
  { type: "Sentiment", side: "input", params: {}, hit: " This is horrible, I hate it. ", everywhere: true },
  { type: "TokenLimit", side: "input", limited: "limit", params: {}, perCharacter: 1 / 5 },
  { type: "NoRefusalLight", side: "output", params: {}, hit: "I'm sorry, but I cannot assist with that request." },
  // Neither side has an address to ask in these texts, since a server that answers would be all that is measured.
  { type: "URLReachability", side: "output", params: {}, peerParams: {} },
];

/** `count` different texts of so many characters: prose, with `hit` in the middle, or everywhere. */
export function texts(length, count, hit = "", everywhere = false) {
  const next = random(length);
  return Array.from({ length: count }, () => {
    const parts = [];
    for (let size = 0; size < length; ) {
      const sentence = everywhere ? hit.trim() : SENTENCES[Math.floor(next() * SENTENCES.length)];
      parts.push(sentence);
      size += sentence.length + 1;
    }
    const prose = parts.join(" ");
    if (hit === "" || everywhere) return prose.slice(0, length);
    const rest = length - hit.length;
    return prose.slice(0, Math.floor(rest / 2)) + hit + prose.slice(-Math.ceil(rest / 2) || prose.length);
  });
}
