// Texts of prose and code for the benchmark of rules, made of the frozen files in haystacks/, the same in every run.
import { readFileSync } from "node:fs";
import { SENTENCES } from "./prompts.mjs";
import { random } from "./random.mjs";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CODE = ["typescript", "rust", "scripts"].map((name) =>
  readFileSync(new URL(`../haystacks/${name}.txt`, import.meta.url), "utf8"),
);

/**
 * `count` texts of about `length` characters each. Half of each text is prose and half code, and about every `foundEvery`
 * characters there are an access key, an e-mail address, a banned word and an invisible character.
 */
export function mixedTexts(length, count, foundEvery) {
  const next = random(length);
  const pick = (list) => list[Math.floor(next() * list.length)];
  return Array.from({ length: count }, () => {
    const parts = [];
    let size = 0;
    for (let untilFound = next() * foundEvery; size < length; ) {
      const part = next() < 0.5 ? prose(pick, next) : snippet(pick, next);
      parts.push(part);
      size += part.length;
      untilFound -= part.length;
      if (untilFound < 0) {
        parts.push(finding(next));
        untilFound = foundEvery;
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
