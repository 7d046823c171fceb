// Mixed prose and code for the rules benchmark, the same in every run: sentences, and pieces of this repository's own sources.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { random, SENTENCES } from "./texts.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SOURCES = ["src", "crates/guard-core/src", "crates/guard-node/src", "benches"];
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

const code = SOURCES.flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true }).map((file) => `${folder}/${file}`),
)
  .filter((file) => /\.(ts|rs|mjs|py)$/.test(file))
  .sort()
  .map((file) => readFileSync(ROOT + file, "utf8"));

/**
 * Texts of about `length` characters each, `count` of them. Half of each is prose and half code, and about every `foundEvery`
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
  const file = pick(code);
  const start = Math.floor(next() * file.length);
  return file.slice(start, start + 100 + Math.floor(next() * 700));
}

function finding(next) {
  const key = Array.from({ length: 16 }, () => ALPHABET[Math.floor(next() * 32)]).join("");
  return `aws_access_key_id = AKIA${key}, ask ada.${Math.floor(next() * 1e6)}@mail.test about the keylogger\u200b.`;
}
