// Texts of prose and code, made of the frozen files in haystacks/. The length determines them.
import { readFileSync } from "node:fs";
import { SENTENCES } from "./prompts.mjs";
import { random } from "./random.mjs";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CODE = ["typescript", "rust", "scripts"].map((name) =>
  readFileSync(new URL(`../haystacks/${name}.txt`, import.meta.url), "utf8"),
);

/**
 * Makes `count` texts of about `length` characters, half prose and half code. About every `findingInterval` characters they contain an
 * access key, an e-mail address, a banned word and an invisible character.
 */
export function mixedTexts(length, count, findingInterval) {
  const next = random(length);
  const pick = (list) => list[Math.floor(next() * list.length)];
  return Array.from({ length: count }, () => {
    const parts = [];
    let size = 0;
    for (let untilFinding = next() * findingInterval; size < length; ) {
      const part = next() < 0.5 ? prose(pick, next) : snippet(pick, next);
      parts.push(part);
      size += part.length;
      untilFinding -= part.length;
      if (untilFinding < 0) {
        parts.push(finding(next));
        untilFinding = findingInterval;
      }
    }
    return parts.join("\n").slice(0, length).toWellFormed();
  });
}

function prose(pick, next) {
  return Array.from({ length: 1 + Math.floor(next() * 8) }, () => pick(SENTENCES)).join(" ");
}

function snippet(pick, next) {
  const code = pick(CODE);
  const start = Math.floor(next() * code.length);
  return code.slice(start, start + 100 + Math.floor(next() * 700));
}

function finding(next) {
  const key = Array.from({ length: 16 }, () => ALPHABET[Math.floor(next() * 32)]).join("");
  return `aws_access_key_id = AKIA${key}, ask ada.${Math.floor(next() * 1e6)}@mail.test about the keylogger\u200b.`;
}
