// Throughput on mixed prose and code, beside the peers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { formatBytes, formatNumber, printTable } from "../table.mjs";
import { mixedTexts } from "../texts/mixed.mjs";
import { COMPARED, REGEX } from "./cases.mjs";

/** Characters between two findings. */
export const FINDING_INTERVAL = 20_000;

/**
 * Measures the throughput of each scanner and its peers. Prints a table and returns its rows.
 *
 * @param {object} options
 * @param {object} [options.peers] the result of `startPeers`
 * @param {string} options.scratch a folder for the texts
 * @param {number} options.rounds rounds in which all sides run in turn
 * @param {number} options.durationMs the minimum duration of each side in a round, in milliseconds
 * @param {[number, number][]} options.sizes lengths of texts in characters, and the number of texts of a pass
 */
export async function measureThroughput({ peers, scratch, rounds: count, durationMs, sizes }) {
  const planted = await textSets("found", sizes, scratch, FINDING_INTERVAL);
  // The code in the texts contains addresses, which must be removed too.
  const cleaner = createScanner("input", "Regex", REGEX);
  const cleaned = async (text) => (await cleaner.scan(text)).sanitized ?? text;
  const cleanSets = await textSets("clean", sizes, scratch, Number.POSITIVE_INFINITY, cleaned);
  const rows = [];
  for (const { type, params, isClean, peers: others, minRatio } of COMPARED) {
    const scanner = createScanner("input", type, params);
    await scanner.load?.();
    for (const { size, texts, files, bytes } of isClean ? cleanSets : planted) {
      const measured = [];
      for (let round = 0; round < count; round++) {
        const guard = await measure(scanner, texts, durationMs);
        const rest = {};
        for (const [peer, peerParams] of peers ? others : []) {
          rest[peer] = await peers.measure({ peer, params: peerParams, texts: files, durationMs });
        }
        measured.push({ guard, ...rest });
      }
      rows.push({
        type,
        deobfuscate: Boolean(params.deobfuscate),
        isClean: Boolean(isClean),
        size,
        bytes,
        minRatio,
        rounds: measured,
      });
    }
  }
  console.log(
    `Throughput on mixed prose and code, one text at a time, median of ${count} rounds (MB/s; failing texts in brackets):`,
  );
  const mbps = (bytes, runs) =>
    `${formatNumber(bytes / 1e3 / median(runs.map(({ passMs }) => passMs)))} (${runs[0].failed})`;
  printTable(
    ["scanner", "text", "guard", "peer", "peer", "ratio", "promised"],
    rows.flatMap(({ type, deobfuscate, isClean, size, bytes, minRatio, rounds }) => {
      const own = mbps(
        bytes,
        rounds.map(({ guard }) => guard),
      );
      const name = `${type}${deobfuscate ? ", deobfuscate" : ""}${isClean ? ", no findings" : ""}`;
      const compared = Object.keys(rounds[0]).filter((peer) => peer !== "guard");
      if (compared.length === 0) return [[name, formatBytes(size), own, "", "", "", ""]];
      return compared.map((peer) => [
        name,
        formatBytes(size),
        own,
        peer,
        mbps(
          bytes,
          rounds.map((round) => round[peer]),
        ),
        formatNumber(median(rounds.map((round) => round[peer].passMs / round.guard.passMs))),
        minRatio ? `${minRatio}` : "",
      ]);
    }),
  );
  console.log();
  return rows;
}

/** Makes texts of all sizes, in memory and as files in `scratch` for detect-secrets. `transform` changes each text. */
function textSets(name, sizes, scratch, findingInterval, transform = async (text) => text) {
  const sets = sizes.map(async ([size, count]) => {
    const texts = await Promise.all(mixedTexts(size, count, findingInterval).map(transform));
    const files = texts.map((text, index) => {
      const file = join(scratch, `${name}-${size}-${index}.txt`);
      writeFileSync(file, text);
      return file;
    });
    return { size, texts, files, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
  });
  return Promise.all(sets);
}

/** The duration of the fastest pass over all texts, measured as the peers do, and how many texts failed. */
async function measure(scanner, texts, durationMs) {
  let fastest = Number.POSITIVE_INFINITY;
  let failed = 0;
  const end = performance.now() + durationMs;
  do {
    const start = performance.now();
    failed = 0;
    for (const text of texts) if (!(await scanner.scan(text)).isValid) failed++;
    fastest = Math.min(fastest, performance.now() - start);
  } while (performance.now() < end);
  return { passMs: fastest, failed };
}
