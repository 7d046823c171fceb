// The cases of the comparison with llm-guard: every scanner without a neural model that both have, with the same options on both sides.
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

/**
 * The comparisons. `hit` is in the middle of the texts that fail or are rewritten, or fills them if it is `everywhere`. A case with
 * `limited` has no hit: the limit is set to twice and to half of what a text has, at `perCharacter` a character.
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
  // The key is assembled here, so that this file contains no key.
  { type: "Secrets", side: "input", params: {}, hit: ` key=AKIA${"Q7ZK2MXW".repeat(2)} ` },
  { type: "Sentiment", side: "input", params: {}, hit: " This is horrible, I hate it. ", everywhere: true },
  { type: "TokenLimit", side: "input", limited: "limit", params: {}, perCharacter: 1 / 5 },
  { type: "NoRefusalLight", side: "output", params: {}, hit: "I'm sorry, but I cannot assist with that request." },
  // The texts contain no URL, because otherwise the requests to it would dominate the time.
  { type: "URLReachability", side: "output", params: {}, peerParams: {} },
];

/** Makes `count` distinct texts of `length` characters: prose with `hit` in the middle, or `hit` everywhere. */
export function makeTexts(length, count, hit = "", everywhere = false) {
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
