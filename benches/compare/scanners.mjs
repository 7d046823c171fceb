// One call of a scanner of guard beside one of llm-guard, by the length of the text.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { bytesOf, number, printTable } from "../table.mjs";
import { CASES, LENGTHS, texts } from "./cases.mjs";

/**
 * Prints and returns the time of a call of every scanner and its peer.
 *
 * @param {object} options
 * @param {object} [options.peers] what `startPeers` returned; without it guard alone is measured
 * @param {string} options.scratch a folder for the texts
 * @param {number} options.rounds rounds in which both sides run in turn
 * @param {number} options.seconds how long each side runs in a round, at least
 * @param {string[]} [options.only] the types of the scanners; all by default
 * @param {number[]} [options.lengths] characters of the texts
 */
export async function scanners({ peers, scratch, rounds, seconds, only, lengths = LENGTHS }) {
  const rows = [];
  const missing = new Map();
  for (const one of CASES.filter(({ type }) => only === undefined || only.includes(type))) {
    for (const length of lengths) {
      for (const sample of samples(one, length)) {
        const row = await compare(one, sample, { peers, scratch, rounds, seconds, missing });
        rows.push({ type: one.type, note: one.note ?? "", length, ...row });
      }
    }
  }
  console.log(
    `Microseconds of a call, median of ${rounds} rounds; ratios are of llm-guard to guard, median of the rounds:`,
  );
  printTable(
    ["scanner", "text", "", "guard", "peer", "of the peer", "times", ""],
    rows.flatMap(({ type, note, length, kind, guard, others }) => {
      const own = [`${type}${note && `, ${note}`}`, bytesOf(length), kind, microseconds(guard)];
      if (Object.keys(others).length === 0) return [[...own, "", "", "", ""]];
      return Object.entries(others).map(([peer, { times, ratio, same }]) => [
        ...own,
        ...[peer, microseconds(times), number(ratio)],
        ratio < 1 ? "BEHIND" : same ? "" : "other verdicts",
      ]);
    }),
  );
  for (const [peer, reason] of missing) console.log(`Not measured: ${peer}: ${reason}`);
  console.log();
  return rows;
}

const microseconds = (times) => number(median(times) * 1e6);

/** The texts of a case at a length, harmless and with a hit, with the options of both sides. */
function samples({ hit, everywhere, limited, params, peerParams = params, perCharacter }, length) {
  const count = Math.max(1, Math.min(8, Math.floor(20_000 / length)));
  if (limited) {
    const found = texts(length, count);
    const amount = length * perCharacter;
    // A limit of tokens is the default one, where that is enough.
    const limits =
      limited === "limit"
        ? [Math.max(4096, amount * 2), Math.max(1, Math.round(amount / 2))]
        : [amount * 2, amount / 2];
    return limits.map((limit, index) => ({
      kind: index === 0 ? "harmless" : "hit",
      found,
      params: { ...params, [limited]: limit },
      peerParams: { ...peerParams, [limited]: limit },
    }));
  }
  const harmless = { kind: "harmless", found: texts(length, count), params, peerParams };
  if (!hit || hit.length > length) return [harmless];
  return [harmless, { kind: "hit", found: texts(length, count, hit, everywhere), params, peerParams }];
}

async function compare({ type, side }, { kind, found, params, peerParams }, options) {
  const { peers, scratch, rounds, seconds, missing } = options;
  const files = found.map((text, index) => {
    const file = join(scratch, `${type}-${side}-${kind}-${text.length}-${index}.txt`);
    writeFileSync(file, text);
    return file;
  });
  const scanner = createScanner(side, type, params);
  await scanner.load?.();
  const names = peers ? [`${side} ${type}`, ...(type === "TokenLimit" ? ["tiktoken"] : [])] : [];
  const measured = [];
  // The first round only warms up: programs are compiled as they run, and tables are made at their first use.
  for (let index = -1; index < rounds; index++) {
    const figures = { guard: await measure(scanner, found, seconds) };
    for (const peer of names.filter((name) => !missing.has(name))) {
      try {
        figures[peer] = await peers.measure({ peer, params: peerParams, texts: files, seconds });
      } catch (error) {
        missing.set(peer, error.message);
      }
    }
    if (index >= 0) measured.push(figures);
  }
  await scanner.close?.();
  const of = (name) => measured.map((figures) => figures[name].perCall);
  const known = names.filter((name) => !missing.has(name));
  const others = known.map((name) => [
    name === "tiktoken" ? name : "llm-guard",
    {
      times: of(name),
      ratio: median(measured.map((figures) => figures[name].perCall / figures.guard.perCall)),
      same: measured[0][name].failed === measured[0].guard.failed,
    },
  ]);
  return { kind, guard: of("guard"), others: Object.fromEntries(others) };
}

/** The seconds of a call, measured as the peers do, and how many of the texts did not pass or were changed. */
async function measure(scanner, found, seconds) {
  let calls = 0;
  let failed;
  let now;
  const start = performance.now();
  do {
    failed = 0;
    for (const text of found) {
      const { isValid, sanitized = text } = await scanner.scan(text);
      if (!isValid || sanitized !== text) failed++;
    }
    calls += found.length;
    now = performance.now();
  } while (now < start + seconds * 1000);
  return { perCall: (now - start) / 1000 / calls, failed };
}
