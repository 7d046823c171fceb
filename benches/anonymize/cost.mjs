// Throughput beside the peers, and the cost of texts of growing length.
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { bytesOf, number, printTable } from "../table.mjs";
import { personalTexts } from "../texts/personal-data.mjs";

const LINEAR = [1_000, 10_000, 100_000, 1_000_000];
const PASSES = 5;
/** How many times as fast as its peer guard promises to be. */
const PROMISED = { "recognizers alone": 100, Anonymize: 5 };

/**
 * Prints and returns the throughput of a scanner and its peer.
 *
 * @param {object} run
 * @param {string} run.what the name of the comparison
 * @param {[number, number][]} run.sizes characters of a text, and how many texts make a pass
 * @param {object} run.scanner guard's
 * @param {string} run.peer its peer
 * @param {object} run.params the peer's
 * @param {Function} [run.textsOf] makes the texts of a size
 * @param {object} settings `peers` of `startPeers`, `save`, which writes texts for them, `rounds`, and the `seconds` of each side in a round
 */
export async function throughput(
  { what, sizes, scanner, peer, params, textsOf = personalTexts },
  { peers, save, rounds: count, seconds },
) {
  await scanner.load?.();
  const rows = [];
  for (const [size, howMany] of sizes) {
    const texts = textsOf(size, howMany);
    const path = peers && save(`${size}`, texts);
    const measured = [];
    for (let round = 0; round < count; round++) {
      const guard = await measure(scanner, texts, seconds);
      const other = peers && (await peers.measure({ peer, params, texts: path, seconds }));
      measured.push({ guard, ...(other && { [peer]: other }) });
    }
    rows.push({ size, characters: size * texts.length, rounds: measured });
  }
  console.log(
    `${what[0].toUpperCase()}${what.slice(1)}, one text after the other, median of ${count} rounds (kB per second of the processor; findings in brackets):`,
  );
  const speed = (characters, runs) =>
    `${number(characters / 1e3 / median(runs.map(({ seconds }) => seconds)))} (${runs[0].found})`;
  const own = (rounds) => rounds.map(({ guard }) => guard);
  printTable(
    ["text", "guard", ...(peers ? [peer, "ratio", "promised"] : [])],
    rows.map(({ size, characters, rounds }) => [
      bytesOf(size),
      speed(characters, own(rounds)),
      ...(peers
        ? [
            speed(
              characters,
              rounds.map((round) => round[peer]),
            ),
            number(median(rounds.map((round) => round[peer].seconds / round.guard.seconds))),
            String(PROMISED[what] ?? ""),
          ]
        : []),
    ]),
  );
  console.log();
  return rows;
}

/** Prints and returns the cost of a character in texts of growing length. */
export async function linear(recognizers, { rounds: count, seconds }) {
  const anonymize = createScanner("input", "Anonymize", { recognizer_conf: [] });
  const rows = [];
  for (const size of LINEAR) {
    const texts = personalTexts(size, 1);
    const row = { size };
    for (const [name, scanner] of Object.entries({ recognizers, anonymize })) {
      const rounds = [];
      for (let round = 0; round < count; round++) rounds.push((await measure(scanner, texts, seconds)).seconds);
      row[name] = (median(rounds) / size) * 1e9;
    }
    rows.push(row);
  }
  console.log("Cost of a character, in nanoseconds of the processor:");
  printTable(
    ["text", "recognizers alone", "Anonymize without a model"],
    rows.map(({ size, recognizers, anonymize }) => [bytesOf(size), number(recognizers), number(anonymize)]),
  );
  console.log();
  return rows;
}

/**
 * The cheapest pass over all texts, in the time of the processor, which does not depend on other work of the machine. Passes are
 * repeated until so many seconds are over.
 */
async function measure(scanner, texts, seconds) {
  const pass = async () => {
    let found = 0;
    for (const text of texts) found += (await scanner.scan(text, { prompt: "" })).findings.length;
    return found;
  };
  await pass();
  let fastest = Number.POSITIVE_INFINITY;
  let found = 0;
  const end = performance.now() + seconds * 1000;
  do {
    const start = process.cpuUsage();
    // Several passes are timed together, because the counter of the processor's time is coarse.
    for (let again = 0; again < PASSES; again++) found = await pass();
    const { user, system } = process.cpuUsage(start);
    fastest = Math.min(fastest, (user + system) / 1e6 / PASSES);
  } while (performance.now() < end);
  return { seconds: fastest, found };
}
