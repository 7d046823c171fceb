// Throughput on mixed prose and code, beside the peers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { bytesOf, number, printTable } from "../table.mjs";
import { mixedTexts } from "../texts/mixed.mjs";
import { COMPARED, REGEX } from "./cases.mjs";

/** Characters between two things that the rules find. */
export const FOUND_EVERY = 20_000;

/**
 * Prints and returns the throughput of each scanner and its peers.
 *
 * @param {object} options
 * @param {object} [options.peers] what `startPeers` returned
 * @param {string} options.scratch a folder for the texts
 * @param {number} options.rounds rounds in which all sides run in turn
 * @param {number} options.seconds how long each side runs in a round
 * @param {[number, number][]} options.sizes characters of a text, and how many texts make a pass
 */
export async function throughput({ peers, scratch, rounds: count, seconds, sizes }) {
  const planted = await textSets("found", sizes, scratch, FOUND_EVERY);
  // The code in the texts contains addresses of its own, which must go too.
  const cleaner = createScanner("input", "Regex", REGEX);
  const cleaned = async (text) => (await cleaner.scan(text)).sanitized ?? text;
  const cleanSets = await textSets("clean", sizes, scratch, Number.POSITIVE_INFINITY, cleaned);
  const rows = [];
  for (const { type, params, clean, peers: others, atLeast } of COMPARED) {
    const scanner = createScanner("input", type, params);
    await scanner.load?.();
    for (const { size, texts, files, bytes } of clean ? cleanSets : planted) {
      const measured = [];
      for (let round = 0; round < count; round++) {
        const guard = await measure(scanner, texts, seconds);
        const rest = {};
        for (const [peer, peerParams] of peers ? others : []) {
          rest[peer] = await peers.measure({ peer, params: peerParams, texts: files, seconds });
        }
        measured.push({ guard, ...rest });
      }
      rows.push({
        type,
        deobfuscate: Boolean(params.deobfuscate),
        clean: Boolean(clean),
        size,
        bytes,
        atLeast,
        rounds: measured,
      });
    }
  }
  console.log(
    `Throughput on mixed prose and code, one text after the other, median of ${count} rounds (MB/s; failing texts in brackets):`,
  );
  const mbps = (bytes, runs) =>
    `${number(bytes / 1e6 / median(runs.map(({ seconds }) => seconds)))} (${runs[0].failed})`;
  printTable(
    ["scanner", "text", "guard", "peer", "of the peer", "ratio", "promised"],
    rows.flatMap(({ type, deobfuscate, clean, size, bytes, atLeast, rounds }) => {
      const own = mbps(
        bytes,
        rounds.map(({ guard }) => guard),
      );
      const name = `${type}${deobfuscate ? ", deobfuscate" : ""}${clean ? ", nothing planted" : ""}`;
      const compared = Object.keys(rounds[0]).filter((peer) => peer !== "guard");
      if (compared.length === 0) return [[name, bytesOf(size), own, "", "", "", ""]];
      return compared.map((peer) => [
        name,
        bytesOf(size),
        own,
        peer,
        mbps(
          bytes,
          rounds.map((round) => round[peer]),
        ),
        number(median(rounds.map((round) => round[peer].seconds / round.guard.seconds))),
        atLeast ? `${atLeast}` : "",
      ]);
    }),
  );
  console.log();
  return rows;
}

/** Texts of all sizes, in memory and as files in `scratch`, as detect-secrets wants them. `made` changes each text. */
function textSets(name, sizes, scratch, foundEvery, made = async (text) => text) {
  const sets = sizes.map(async ([size, count]) => {
    const texts = await Promise.all(mixedTexts(size, count, foundEvery).map(made));
    const files = texts.map((text, index) => {
      const file = join(scratch, `${name}-${size}-${index}.txt`);
      writeFileSync(file, text);
      return file;
    });
    return { size, texts, files, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
  });
  return Promise.all(sets);
}

/** The seconds of the fastest pass over all texts within so many seconds, as the peers measure it, and how many texts failed. */
async function measure(scanner, texts, seconds) {
  let fastest = Number.POSITIVE_INFINITY;
  let failed = 0;
  const end = performance.now() + seconds * 1000;
  do {
    const start = performance.now();
    failed = 0;
    for (const text of texts) if (!(await scanner.scan(text)).isValid) failed++;
    fastest = Math.min(fastest, performance.now() - start);
  } while (performance.now() < end);
  return { seconds: fastest / 1000, failed };
}
