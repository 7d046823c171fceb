// Throughput beside the peers, and the cost of a character by the length of the text.
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { formatBytes, formatNumber, printTable } from "../table.mjs";
import { personalTexts } from "../texts/personal-data.mjs";

/** The counter of CPU time is coarse, so several passes are timed together. */
const PASSES = 5;
/** The promised ratios of guard's speed to the peer's. */
const MIN_RATIOS = { "recognizers alone": 100, Anonymize: 5 };

/**
 * Measures the throughput of a scanner and its peer. Prints a table and returns its rows.
 *
 * @param {object} run
 * @param {string} run.name the name of the comparison
 * @param {[number, number][]} run.sizes lengths of texts in characters, and the number of texts of a pass
 * @param {object} run.scanner the scanner of guard
 * @param {string} run.peer the name of the peer
 * @param {object} run.params the options of the peer
 * @param {Function} [run.createTexts] makes the texts of a size
 * @param {object} settings `peers` of `startPeers`; `save`, which writes texts for them; `rounds`; `durationMs` of each side in a round
 */
export async function measureThroughput(
  { name, sizes, scanner, peer, params, createTexts = personalTexts },
  { peers, save, rounds: count, durationMs },
) {
  await scanner.load?.();
  const rows = [];
  for (const [size, textCount] of sizes) {
    const texts = createTexts(size, textCount);
    const path = peers && save(`${size}`, texts);
    const measured = [];
    for (let round = 0; round < count; round++) {
      const guard = await measure(scanner, texts, durationMs);
      const other = peers && (await peers.measure({ peer, params, texts: path, durationMs }));
      measured.push({ guard, ...(other && { [peer]: other }) });
    }
    rows.push({ size, characters: size * texts.length, rounds: measured });
  }
  console.log(
    `${name[0].toUpperCase()}${name.slice(1)}, one text at a time, median of ${count} rounds (kB per second of CPU time; findings in brackets):`,
  );
  const speed = (characters, runs) =>
    `${formatNumber(characters / median(runs.map(({ cpuMs }) => cpuMs)))} (${runs[0].found})`;
  const own = (rounds) => rounds.map(({ guard }) => guard);
  printTable(
    ["text", "guard", ...(peers ? [peer, "ratio", "promised"] : [])],
    rows.map(({ size, characters, rounds }) => [
      formatBytes(size),
      speed(characters, own(rounds)),
      ...(peers
        ? [
            speed(
              characters,
              rounds.map((round) => round[peer]),
            ),
            formatNumber(median(rounds.map((round) => round[peer].cpuMs / round.guard.cpuMs))),
            String(MIN_RATIOS[name] ?? ""),
          ]
        : []),
    ]),
  );
  console.log();
  return rows;
}

/** Measures the cost of a character by the length of the text. Prints a table and returns its rows. */
export async function measureCost(recognizers, lengths, { rounds: count, durationMs }) {
  const anonymize = createScanner("input", "Anonymize", { recognizer_conf: [] });
  const rows = [];
  for (const size of lengths) {
    const texts = personalTexts(size, 1);
    const row = { size };
    for (const [name, scanner] of Object.entries({ recognizers, anonymize })) {
      const rounds = [];
      for (let round = 0; round < count; round++) rounds.push((await measure(scanner, texts, durationMs)).cpuMs);
      row[name] = (median(rounds) / size) * 1e6;
    }
    rows.push(row);
  }
  console.log("CPU time of a character in nanoseconds:");
  printTable(
    ["text", "recognizers alone", "Anonymize without a model"],
    rows.map(({ size, recognizers, anonymize }) => [
      formatBytes(size),
      formatNumber(recognizers),
      formatNumber(anonymize),
    ]),
  );
  console.log();
  return rows;
}

/** The CPU time of the cheapest pass over all texts, which does not depend on other processes, and the number of findings. */
async function measure(scanner, texts, durationMs) {
  const pass = async () => {
    let found = 0;
    for (const text of texts) found += (await scanner.scan(text, { prompt: "" })).findings.length;
    return found;
  };
  await pass();
  let cheapest = Number.POSITIVE_INFINITY;
  let found = 0;
  const end = performance.now() + durationMs;
  do {
    const start = process.cpuUsage();
    for (let again = 0; again < PASSES; again++) found = await pass();
    const { user, system } = process.cpuUsage(start);
    cheapest = Math.min(cheapest, (user + system) / 1e3 / PASSES);
  } while (performance.now() < end);
  return { cpuMs: cheapest, found };
}
