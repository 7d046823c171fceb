// How many planted attacks `scanDocuments` cuts out of passages, what of the rest it keeps, and how long it takes.
// Run after a build: node benches/documents/main.mjs
import pLimit from "p-limit";
import { PromptInjection, scanDocuments, scanPrompt } from "../../dist/index.js";
import { splitStatements } from "../../dist/text/statements.js";
import { attacks, harmless } from "./texts.mjs";

const scanner = new PromptInjection();
await scanner.load();
try {
  await quality();
  await speed();
} finally {
  await scanner.close();
}

async function statementsOf(text) {
  return (await splitStatements(text)).map(({ start, end }) => text.slice(start, end));
}

async function quality() {
  const clean = await scanDocuments([scanner], harmless, { maskInjections: true });
  const alarms = clean.documents.filter(({ isValid }) => !isValid).length;
  // A passage that fails by itself would say nothing of the attack in it.
  const passing = harmless.filter((_, index) => clean.documents[index].isValid);
  const planted = await Promise.all(
    attacks.map(async (attack, index) => {
      const passage = passing[(index * 7) % passing.length];
      const statements = await splitStatements(passage);
      const place = 1 + (index % Math.max(1, statements.length - 1));
      const at = statements[Math.min(statements.length - 1, place)].start;
      const end = passage.slice(0, at).endsWith("\n") ? "\n" : " ";
      return { passage, attack, text: passage.slice(0, at) + attack + end + passage.slice(at) };
    }),
  );
  const texts = planted.map(({ text }) => text);
  const { documents } = await scanDocuments([scanner], texts, { maskInjections: true });
  const sums = { caught: 0, cutCompletely: 0, stillFailing: 0, keptStatements: 0, lostStatements: 0 };
  for (const [index, { isValid, sanitizedText, masked }] of documents.entries()) {
    if (isValid) continue;
    const { passage, attack } = planted[index];
    const isLeft = (statement) => sanitizedText.includes(statement);
    const rest = await statementsOf(passage);
    sums.caught++;
    if (!(await statementsOf(attack)).some(isLeft)) sums.cutCompletely++;
    if (!masked.isValid) sums.stillFailing++;
    sums.keptStatements += rest.filter(isLeft).length;
    sums.lostStatements += rest.filter((statement) => !isLeft(statement)).length;
  }
  console.log({ harmless: harmless.length, falseAlarms: alarms, attacks: attacks.length, ...sums });
}

async function speed() {
  const passages = Array.from({ length: 100 }, (_, index) => {
    let text = `${index}:`;
    // The first 32 passages are in English, of which 800 characters are as many tokens each time.
    for (let next = index * 3; text.length < 800; next++) text += ` ${harmless[next % 32]}`;
    return text.slice(0, 800);
  });
  const limit = pLimit(8);
  const ways = {
    "one call": () => scanDocuments([scanner], passages),
    "100 calls, 8 at a time": () =>
      Promise.all(passages.map((text) => limit(() => scanPrompt([scanner], text, { source: "tool" })))),
    "one call, every fifth with an attack": () => scanDocuments([scanner], planted(passages)),
    "the same, masked": () => scanDocuments([scanner], planted(passages), { maskInjections: true }),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  // In turns, so that whatever else the machine does slows all of them down alike.
  for (let round = 0; round < 5; round++) {
    for (const [name, scan] of Object.entries(ways)) {
      const start = performance.now();
      await scan();
      times[name].push(performance.now() - start);
    }
  }
  for (const [name, taken] of Object.entries(times)) {
    console.log(`${name}: ${Math.round(taken.sort((a, b) => a - b)[2])} ms (median of 5)`);
  }
}

function planted(passages) {
  return passages.map((text, index) =>
    index % 5 > 0 ? text : `${text.slice(0, 400)}. ${attacks[(index / 5) % attacks.length]} ${text.slice(400)}`,
  );
}
