// Labelled texts for the quick forms of the evaluations, made from the texts of this repository. The models learnt from some of them, so
// figures only show that an evaluation runs.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const read = (path) =>
  readFileSync(new URL(`../../training/data/${path}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The first `count` rows for each value of a field. */
function firstOfEach(rows, count, field) {
  const counts = new Map();
  return rows.filter((row) => {
    const value = field(row);
    counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts.get(value) <= count;
  });
}

const LABELS = { benign: "SAFE", injection: "INJECTION" };
const injection = () =>
  firstOfEach(read("injection/exam"), 10, ({ label }) => label).map(({ text, label, lang }) => ({
    ...{ text, label: LABELS[label], set: "own_exam", lang },
  }));

/** Files of `training.heldout`, as far as the quick forms need them: functions that return their rows. */
const FILES = {
  "prompt-injection": injection,
  "prompt-injection-long": injection,
  "prompt-injection-indirect": injection,
  "prompt-injection-indirect-long": injection,
  "ner-own": () => read("ner/exam").slice(0, 20),
  nli: () =>
    firstOfEach(read("nli/exam"), 5, ({ label }) => label).map(({ a, b, label, lang }) => ({
      ...{ prompt: a, text: b, label, set: "own_exam", lang },
    })),
  emotion: () =>
    read("emotion/exam")
      .filter(({ labels }) => labels.length === 1)
      .slice(0, 20)
      .map(({ text, labels: [label], lang }) => ({ text, label, set: "own_exam", lang })),
  code: () => [
    ...read("code/own")
      .slice(0, 10)
      .map(({ text, label }) => ({ text, label, kind: label })),
    ...read("ordinary/english_german_french_spanish")
      .slice(0, 10)
      .map(({ prompt }) => ({ text: prompt, label: "none", kind: "prompt" })),
  ],
  // Enough English and Russian texts for a curve each, in sets that languages/sets.yml selects.
  "toxicity-ordinary": () => {
    const english = read("toxicity/english").filter(({ lang }) => lang === "en");
    const russian = read("toxicity/russian_chinese").filter(({ lang }) => lang === "ru");
    const harmless = [...english, ...russian].filter(({ labels }) => labels.length === 0);
    const toxic = english.filter(({ labels }) => labels.length > 0);
    return [
      ...firstOfEach(harmless, 60, ({ lang }) => lang).map(({ text, lang }) => ({
        ...{ text, label: "non_toxic", set: "requests_multilingual_toxicity", lang },
      })),
      ...toxic.slice(0, 25).map(({ text, lang }) => ({
        ...{ text, label: "toxic", set: "own_toxicity_dev_functions", lang },
      })),
    ];
  },
};

/** Writes the files to a folder as gzipped JSON Lines. */
export function writeLabelledTexts(folder) {
  for (const [name, rows] of Object.entries(FILES)) {
    const lines = rows().map((row) => `${JSON.stringify(row)}\n`);
    writeFileSync(join(folder, `${name}.jsonl.gz`), gzipSync(lines.join("")));
  }
}
