// npm run bench:documents [-- --quick]: how many planted attacks `scanDocuments` cuts out of passages, how much of the rest it keeps, and
// how long it takes.
import { parseArgs } from "node:util";
import pLimit from "p-limit";
import { scanDocuments, scanPrompt } from "../../dist/index.js";
import { PromptInjection } from "../../dist/scanners/generated/input-scanners.js";
import { splitStatements } from "../../dist/text/statements.js";
import { formatMachine, machineInfo } from "../machine.mjs";
import { saveResults } from "../results.mjs";
import { median } from "../stats.mjs";
import { printTable } from "../table.mjs";
import { attacks, harmless } from "./texts.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const ROUNDS = flags.quick ? 1 : 5;
const PASSAGES = flags.quick ? 10 : 100;
/** The quick form takes the first harmless passages, which are English, and the first attacks. */
const passages = flags.quick ? harmless.slice(0, 32) : harmless;
const planted = flags.quick ? attacks.slice(0, 5) : attacks;

const machine = machineInfo();
console.log(`${formatMachine(machine)}\n`);
const scanner = new PromptInjection();
await scanner.load();
try {
  const quality = await measureQuality();
  console.log();
  const times = await measureSpeed();
  saveResults("documents", { quick: flags.quick, machine, quality, times });
} finally {
  await scanner.close();
}

async function statementsOf(text) {
  return (await splitStatements(text)).map(({ start, end }) => text.slice(start, end));
}

/** Inserts an attack between two statements of a passage. */
async function plant(passage, attack, index) {
  const statements = await splitStatements(passage);
  const place = 1 + (index % Math.max(1, statements.length - 1));
  const at = statements[Math.min(statements.length - 1, place)].start;
  const end = passage.slice(0, at).endsWith("\n") ? "\n" : " ";
  return { passage, attack, text: passage.slice(0, at) + attack + end + passage.slice(at) };
}

async function measureQuality() {
  const clean = await scanDocuments([scanner], passages, { maskInjections: true });
  const falsePositives = clean.documents.filter(({ isValid }) => !isValid).length;
  // A passage that fails without an attack says nothing about the attack.
  const passing = passages.filter((_, index) => clean.documents[index].isValid);
  const poisoned = await Promise.all(
    planted.map((attack, index) => plant(passing[(index * 7) % passing.length], attack, index)),
  );
  const texts = poisoned.map(({ text }) => text);
  const { documents } = await scanDocuments([scanner], texts, { maskInjections: true });
  const counts = { found: 0, removed: 0, stillFailing: 0, keptStatements: 0, lostStatements: 0 };
  for (const [index, { isValid, sanitizedText, masked }] of documents.entries()) {
    if (isValid) continue;
    const { passage, attack } = poisoned[index];
    const isKept = (statement) => sanitizedText.includes(statement);
    const rest = await statementsOf(passage);
    counts.found++;
    if (!(await statementsOf(attack)).some(isKept)) counts.removed++;
    if (!masked.isValid) counts.stillFailing++;
    counts.keptStatements += rest.filter(isKept).length;
    counts.lostStatements += rest.filter((statement) => !isKept(statement)).length;
  }
  const figures = { harmless: passages.length, falsePositives, attacks: planted.length, ...counts };
  printTable(
    [
      "harmless passages",
      "flagged",
      "attacks",
      "found",
      "removed completely",
      "failing after masking",
      "statements kept",
      "statements lost",
    ],
    [Object.values(figures).map(String)],
  );
  return figures;
}

async function measureSpeed() {
  const texts = Array.from({ length: PASSAGES }, (_, index) => {
    let text = `${index}:`;
    // The first 32 passages are English, so 800 characters are about the same number of tokens.
    for (let next = index * 3; text.length < 800; next++) text += ` ${harmless[next % 32]}`;
    return text.slice(0, 800);
  });
  const limit = pLimit(8);
  const variants = {
    "one call": () => scanDocuments([scanner], texts),
    [`${PASSAGES} calls, 8 at a time`]: () =>
      Promise.all(texts.map((text) => limit(() => scanPrompt([scanner], text, { source: "tool" })))),
    "one call, every fifth with an attack": () => scanDocuments([scanner], withAttacks(texts)),
    "the same, masked": () => scanDocuments([scanner], withAttacks(texts), { maskInjections: true }),
  };
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  // The variants run in turn, so that other processes slow all of them down alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, scan] of Object.entries(variants)) {
      const start = performance.now();
      await scan();
      times[name].push(performance.now() - start);
    }
  }
  printTable(
    [`${PASSAGES} passages`, `ms, median of ${ROUNDS}`],
    Object.entries(times).map(([name, taken]) => [name, median(taken).toFixed(0)]),
  );
  return times;
}

function withAttacks(texts) {
  return texts.map((text, index) =>
    index % 5 > 0 ? text : `${text.slice(0, 400)}. ${attacks[(index / 5) % attacks.length]} ${text.slice(400)}`,
  );
}
