// npm run eval:languages -- --data DIR [--only TYPE] [--write-cards]: how often each scanner with a neural model flags harmless texts, by
// detected language, and how well it separates positive texts from them. Probabilities are those of the model, without corrections.
// `--write-cards` writes the curves to evaluation.json and a table to the card of each model; scanners correct probabilities by them
// (on_untrained_language). Scores are kept in bench-results/languages-scores.jsonl, so that an interrupted run continues: delete the file
// after a change of weights. `--quick` measures Toxicity with texts of this repository.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { load } from "js-yaml";
import { defaultEngine } from "../../dist/plugin.js";
import { loadTool } from "../../scripts/tools.mjs";
import { resultPath, saveResults } from "../results.mjs";
import { printTable } from "../table.mjs";
import { writeLabelledTexts } from "../texts/labelled.mjs";
import { areaUnderCurve, falsePositiveCurve, unknownLetterShare } from "./curves.mjs";
import { ScoreStore, scannerOf } from "./scores.mjs";
import { firstOfEachLanguage, LanguageTexts, REFERENCE } from "./texts.mjs";

/** The fewest harmless texts for a curve. */
const MIN_TEXTS = 40;
/** The same for texts of an undetermined language, which are in many languages. */
const MIN_UNDETERMINED_TEXTS = 300;
/** The lowest area under the ROC curve at which a scanner separates positive from harmless texts. */
const MIN_AUC = 0.75;
/** The fewest positive texts for that area. */
const MIN_POSITIVES = 20;
/** Without positive texts: the largest share of letters that the model's vocabulary may lack. */
const MAX_UNKNOWN_LETTERS = 0.05;
/** Without positive texts: the largest excess of flagged harmless texts over those in the reference language, as a share. */
const MAX_EXCESS = 0.1;
/**
 * The largest such excess at which a language that the model was trained in needs no correction: the highest of a few dozen texts says
 * too little about a rate of one percent.
 */
const MAX_UNCORRECTED_EXCESS = 0.03;

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string", multiple: true },
    only: { type: "string", multiple: true },
    "write-cards": { type: "boolean", default: false },
  },
});
if (!flags.data && !flags.quick) throw new Error("--data DIR is missing: the folder with the texts");
const only = flags.quick ? ["Toxicity"] : flags.only;
const plan = load(readFileSync(new URL("sets.yml", import.meta.url), "utf8"));
const entries = plan.scanners.filter(({ type }) => !only || only.includes(type));
const engine = defaultEngine();

const scratch = mkdtempSync(join(tmpdir(), "guard-languages-"));
try {
  if (flags.quick) {
    writeLabelledTexts(scratch);
    console.log("Quick form: the model learnt from these texts, so the figures only show that the evaluation runs.\n");
  }
  const texts = new LanguageTexts(engine, flags.quick ? [scratch] : flags.data, plan);
  const scores = new ScoreStore(flags.quick ? join(scratch, "scores.jsonl") : resultPath("languages-scores.jsonl"));
  const curves = await measureCurves(texts, scores);
  printCurves(curves);
  saveResults("languages", { quick: flags.quick, curves });
  if (flags["write-cards"]) await writeCards(curves);
} finally {
  rmSync(scratch, { recursive: true });
  await engine.close();
}

async function measureCurves(texts, scores) {
  // Scanners without texts of their own read the same texts, so that those with the same model share its passes.
  const sharing = entries.filter(({ harmless }) => harmless === undefined);
  const shared = sharing.length > 0 ? await texts.harmless(plan.harmless) : [];
  await scores.score(
    sharing.filter((entry) => entry.max_texts === undefined),
    shared,
  );
  const curves = [];
  for (const entry of entries) {
    const all = entry.harmless ? await texts.harmless(entry.harmless) : shared;
    const harmless = entry.max_texts === undefined ? all : firstOfEachLanguage(entry.max_texts, all);
    const positive = await texts.positive(entry.positive ?? []);
    curves.push(...(await curvesOf(entry, harmless, positive, scores)));
  }
  return curves;
}

/** The curves of one scanner, one for each language with enough texts. */
async function curvesOf(entry, harmless, positive, scores) {
  const { type, head, trained } = entry;
  const { threshold, model } = scannerOf(entry).options;
  const folder = engine.folder(model);
  const positives =
    positive.length > 0 ? groupByLanguage(positive, (await scores.score([entry], positive))[0]) : new Map();
  const byLanguage = groupByLanguage(harmless, (await scores.score([entry], harmless))[0]);
  const flaggedShare = (values) => values.filter((value) => value > threshold).length / values.length;
  const reference = flaggedShare(byLanguage.get(REFERENCE));
  const curves = [];
  for (const [language, values] of [...byLanguage].sort()) {
    if (values.length < (language.startsWith("und") ? MIN_UNDETERMINED_TEXTS : MIN_TEXTS)) continue;
    const ofLanguage = positives.get(language) ?? [];
    const auc = ofLanguage.length >= MIN_POSITIVES ? areaUnderCurve(values, ofLanguage) : undefined;
    const flagged = flaggedShare(values);
    const unknown = unknownLetterShare(
      folder,
      harmless.filter(({ detected }) => detected === language).map(({ text }) => text),
    );
    const isReadable = unknown <= MAX_UNKNOWN_LETTERS && flagged <= reference + MAX_EXCESS;
    curves.push({
      scanner: type,
      ...(head ? { head } : {}),
      language,
      rows: values.length,
      points: falsePositiveCurve(values),
      ...(auc === undefined ? {} : { bad: { rows: ofLanguage.length, auc: Number(auc.toFixed(4)) } }),
      separates: auc === undefined ? isReadable : auc >= MIN_AUC,
      flagged: Number(flagged.toFixed(4)),
      isCorrected:
        language === REFERENCE ||
        !trainedLanguages(folder, trained).includes(language) ||
        flagged > reference + MAX_UNCORRECTED_EXCESS,
      unknown: Number(unknown.toFixed(4)),
      model,
    });
  }
  return curves;
}

function groupByLanguage(rows, scores) {
  const groups = new Map();
  rows.forEach(({ detected }, index) => {
    groups.set(detected, [...(groups.get(detected) ?? []), scores[index]]);
  });
  return groups;
}

/** The languages that a head of the model was trained in. */
function trainedLanguages(folder, head) {
  const { languages = [], heads = [] } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")).guard;
  const found = heads.find(({ name }) => name === head);
  if (!found && heads.length > 0) throw new Error(`${folder} has no head ${head}`);
  return found?.languages ?? languages;
}

function printCurves(curves) {
  const percent = (value) => (value === undefined ? "" : (value * 100).toFixed(1));
  printTable(
    ["scanner", "head", "language", "harmless", "flagged %", "positive", "AUC %", "unknown letters %", "separates"],
    curves.map(({ scanner, head = "", language, rows, flagged, bad, unknown, separates }) => [
      ...[scanner, head, language, String(rows), percent(flagged)],
      ...[String(bad?.rows ?? ""), percent(bad?.auc), percent(unknown), separates ? "yes" : "no"],
    ]),
  );
}

async function writeCards(curves) {
  const { writeLanguages } = await loadTool("cards/language-card");
  for (const model of new Set(curves.map((curve) => curve.model))) {
    const written = writeLanguages(
      engine.folder(model),
      curves.filter((curve) => curve.model === model),
    );
    for (const path of written) console.log(path);
  }
}
