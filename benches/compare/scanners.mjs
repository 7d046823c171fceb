// The latency of guard's scanners beside llm-guard's, by the length of the text.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScanner } from "../../dist/index.js";
import { median } from "../stats.mjs";
import { formatBytes, formatNumber, printTable } from "../table.mjs";
import { CASES, makeTexts } from "./cases.mjs";

/**
 * Measures a call of every scanner and of its peer. Prints a table and returns its rows.
 *
 * @param {object} options
 * @param {object} [options.peers] the result of `startPeers`; without it only guard is measured
 * @param {string} options.scratch a folder for the texts
 * @param {number} options.rounds rounds in which both sides run in turn
 * @param {number} options.durationMs the minimum duration of each side in a round, in milliseconds
 * @param {string[]} [options.only] types of scanners; default: all
 * @param {number[]} options.lengths lengths of the texts in characters
 */
export async function compareScanners({ peers, scratch, rounds, durationMs, only, lengths }) {
  const rows = [];
  const missing = new Map();
  for (const one of CASES.filter(({ type }) => only === undefined || only.includes(type))) {
    for (const length of lengths) {
      for (const sample of samples(one, length)) {
        const row = await compare(one, sample, { peers, scratch, rounds, durationMs, missing });
        rows.push({ type: one.type, note: one.note ?? "", length, ...row });
      }
    }
  }
  console.log(
    `Duration of a call, median of ${rounds} rounds. The ratio is the peer's duration divided by guard's, median of the rounds:`,
  );
  printTable(
    ["scanner", "text", "", "guard µs", "peer", "peer µs", "ratio", ""],
    rows.flatMap(({ type, note, length, kind, guard, others }) => {
      const own = [`${type}${note && `, ${note}`}`, formatBytes(length), kind, microseconds(guard)];
      if (Object.keys(others).length === 0) return [[...own, "", "", "", ""]];
      return Object.entries(others).map(([peer, { times, ratio, same }]) => [
        ...own,
        ...[peer, microseconds(times), formatNumber(ratio)],
        ratio < 1 ? "BEHIND" : same ? "" : "different verdicts",
      ]);
    }),
  );
  for (const [peer, reason] of missing) console.log(`Not measured: ${peer}: ${reason}`);
  console.log();
  return rows;
}

const microseconds = (times) => formatNumber(median(times) * 1e3);

/** The harmless texts and those with a hit of a case, with the options of both sides. */
function samples({ hit, everywhere, limited, params, peerParams = params, perCharacter }, length) {
  const count = Math.max(1, Math.min(8, Math.floor(20_000 / length)));
  if (limited) {
    const texts = makeTexts(length, count);
    const amount = length * perCharacter;
    // The token limit is the default one if that is enough.
    const limits =
      limited === "limit"
        ? [Math.max(4096, amount * 2), Math.max(1, Math.round(amount / 2))]
        : [amount * 2, amount / 2];
    return limits.map((limit, index) => ({
      kind: index === 0 ? "harmless" : "hit",
      texts,
      params: { ...params, [limited]: limit },
      peerParams: { ...peerParams, [limited]: limit },
    }));
  }
  const harmless = { kind: "harmless", texts: makeTexts(length, count), params, peerParams };
  if (!hit || hit.length > length) return [harmless];
  return [harmless, { kind: "hit", texts: makeTexts(length, count, hit, everywhere), params, peerParams }];
}

async function compare({ type, side }, { kind, texts, params, peerParams }, options) {
  const { peers, scratch, rounds, durationMs, missing } = options;
  const files = texts.map((text, index) => {
    const file = join(scratch, `${type}-${side}-${kind}-${text.length}-${index}.txt`);
    writeFileSync(file, text);
    return file;
  });
  const scanner = createScanner(side, type, params);
  await scanner.load?.();
  const names = peers ? [`${side} ${type}`, ...(type === "TokenLimit" ? ["tiktoken"] : [])] : [];
  const measured = [];
  // The first round is a warm-up: code is compiled at run time, and tables are built at their first use.
  for (let index = -1; index < rounds; index++) {
    const figures = { guard: await measure(scanner, texts, durationMs) };
    for (const peer of names.filter((name) => !missing.has(name))) {
      try {
        figures[peer] = await peers.measure({ peer, params: peerParams, texts: files, durationMs });
      } catch (error) {
        missing.set(peer, error.message);
      }
    }
    if (index >= 0) measured.push(figures);
  }
  await scanner.close?.();
  const of = (name) => measured.map((figures) => figures[name].callMs);
  const known = names.filter((name) => !missing.has(name));
  const others = known.map((name) => [
    name === "tiktoken" ? name : "llm-guard",
    {
      times: of(name),
      ratio: median(measured.map((figures) => figures[name].callMs / figures.guard.callMs)),
      same: measured[0][name].failed === measured[0].guard.failed,
    },
  ]);
  return { kind, guard: of("guard"), others: Object.fromEntries(others) };
}

/** The duration of a call, measured as the peers do, and how many texts failed or were rewritten. */
async function measure(scanner, texts, durationMs) {
  let calls = 0;
  let failed;
  let now;
  const start = performance.now();
  do {
    failed = 0;
    for (const text of texts) {
      const { isValid, sanitized = text } = await scanner.scan(text);
      if (!isValid || sanitized !== text) failed++;
    }
    calls += texts.length;
    now = performance.now();
  } while (now < start + durationMs);
  return { callMs: (now - start) / calls, failed };
}
