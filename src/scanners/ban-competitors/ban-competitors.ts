import { z } from "zod";
import type { Engine } from "../../models/engine.ts";
import { addon, type RuleScan } from "../../native.ts";
import { passed, type ScanContext, type Verdict } from "../../scan/scanner.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import { ofLlmGuard } from "../../support/options.ts";
import { overlapTest } from "../../text/span.ts";
import { ruleOptions } from "../common-options.ts";
import { defineScanner } from "../definition.ts";
import type { CustomNerModel } from "../parts/custom-ner-model.ts";
import { engineOptions } from "../parts/model-options.ts";
import { NerModel, nerModelOption, recognizerConf } from "../parts/ner-model.ts";
import { longestOf } from "../parts/open-spans.ts";
import { REDACTED } from "../parts/redaction.ts";
import { matchesOf, matchVerdict, ruleCheck, ruleVerdict } from "../parts/rule-scanner.ts";
import { russianForms } from "./russian-forms.ts";

/** The entity type that a model must give a name for it to count as a competitor. */
const ORGANIZATION = "ORGANIZATION";

const names = z.array(z.string().regex(/\S/, "expected a name")).min(1);

export const BanCompetitors = defineScanner({
  type: "BanCompetitors",
  summary: "Blocks texts that name a competitor, as whole words in any case; Russian names in every grammatical case.",
  description:
    "llm-guard asks a model for all organisations of a text and compares those with the list letter by letter: it needs the model, " +
    "and misses what the model does not see.\n\n" +
    "A space in a name stands for any white space and for a hyphen: Acme Corp is found in `Acme  Corp`, over the end of a line, and in " +
    "`Acme-Corp`. A hyphen in a name stands for itself.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    competitors: names.describe("Names of competitors; Russian ones are found in every case."),
    aliases: z
      .record(z.string(), names)
      .default({})
      .describe("Other names by competitor, such as Acme Corporation: [Acme, ACM]; findings name the competitor."),
    caseSensitive: z.boolean().default(false).describe("Whether upper and lower case differ."),
    redact: z.boolean().default(true).describe(`Replaces every name by ${REDACTED}.`),
    model: nerModelOption
      .optional()
      .describe(
        "A model that finds organisations (embedded:<name>, a folder, an ONNX file, owner/name of the hub or a plugin), by which a name counts only where it means " +
          "one: Apple, not an apple. It is asked of texts with a name only. Default: none, names alone count.",
      ),
    threshold: z.number().min(0).max(1).default(0.5).describe("With model: least score of an organisation."),
    chunkSize: ofLlmGuard(z.number().int().min(1).optional(), "; names are looked for in all of a text at once here."),
    chunkOverlapSize: ofLlmGuard(z.number().int().min(0).optional(), "; nothing is cut here, so nothing overlaps."),
    ...engineOptions(),
  }),
  conversation: { window: true },
  differences: [
    {
      without: ["model", "modelPath"],
      text: "Names are found in any case and without a model. llm-guard asks a model for organisations, and misses what that does not see; `model` tells Apple from an apple.",
    },
  ],
  findings: [{ type: "competitor", label: "The competitor, whatever name of it was found." }],
  examples: {
    options: { competitors: ["Acme"], aliases: { Acme: ["Acme Corporation"] } },
    passes: ["We compared three suppliers."],
    fails: [{ text: "Is Acme better than you?", sanitized: "Is [REDACTED] better than you?" }],
  },
  create({ options, engine }) {
    const { competitors, aliases, caseSensitive, redact, deobfuscate, threshold, modelMaxLength: maxLength } = options;
    const unknown = Object.keys(aliases).find((name) => !competitors.includes(name));
    if (unknown !== undefined) {
      throw new GuardValidationError([{ path: `aliases.${unknown}`, message: "it is not one of the competitors" }]);
    }
    /** Maps each form of a name to its competitor. */
    const forms = new Map<string, string>();
    for (const competitor of competitors) {
      for (const name of [competitor, ...(Object.hasOwn(aliases, competitor) ? (aliases[competitor] ?? []) : [])]) {
        for (const form of russianForms(name.trim().replace(/\s+/gu, " "))) {
          for (const spelling of [form, form.replaceAll(" ", "-")]) {
            if (!forms.has(spelling)) forms.set(spelling, competitor);
          }
        }
      }
    }
    const name = options.model;
    const model =
      name === undefined ? undefined : withPathPrefix("model", () => organisationsOf(name, maxLength, engine));
    const set = new addon.SubstringSet([...forms.keys()], {
      ...{ matchType: "name", caseSensitive, all: true, deobfuscate, replace: false },
    });
    const report = { type: "competitor", labels: [...forms.values()], redacts: redact };
    const span = longestOf([...forms.keys()], deobfuscate);
    return {
      sanitizes: redact,
      streaming: { reads: "spans", span, across: span, byModel: model !== undefined },
      async load(signal) {
        if (!model) return;
        await model.load(signal);
        withPathPrefix("model", () => checkFindsOrganisations(model));
      },
      close: async () => model?.close(),
      check: ruleCheck(set, (text, scan, context: ScanContext) => {
        if (!scan) return passed(text);
        return model ? amongOrganisations(text, scan, model, context) : ruleVerdict(text, scan, report);
      }),
    };

    /** Returns the verdict on a text in which a name counts only when the model says that it means an organisation. */
    async function amongOrganisations(
      text: string,
      scan: RuleScan,
      model: NerModel,
      context: ScanContext,
    ): Promise<Verdict> {
      const found = await model.find(text, "BanCompetitors", context);
      checkFindsOrganisations(model);
      const organisations = found.filter(({ entity, score }) => entity === ORGANIZATION && score >= threshold);
      // A disguised name always counts: its author meant the name, and a model cannot see it in the text as it is written.
      const counts = overlapTest(organisations);
      const all = matchesOf(scan).filter((match) => match.view !== undefined || counts(match));
      return all.length === 0 ? passed(text) : matchVerdict(text, all, report);
    }
  },
});

function organisationsOf(path: string | CustomNerModel, maxLength: number | undefined, engine: Engine): NerModel {
  const [options] = recognizerConf.parse(path);
  const model = new NerModel(options as NonNullable<typeof options>, engine, maxLength);
  checkFindsOrganisations(model);
  return model;
}

/**
 * Checks that a model finds organisations. For a model of the hub this is known only after its download, so unknown types are
 * accepted until then.
 */
function checkFindsOrganisations({ types }: NerModel): void {
  if (!types || types.has(ORGANIZATION)) return;
  throw new GuardValidationError([{ path: "", message: `it finds no organisations: ${[...types].join(", ")}` }]);
}
