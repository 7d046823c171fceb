import { z } from "zod";
import type { Engine } from "../../models/engine.ts";
import { addon, type RuleScan } from "../../native.ts";
import { passed, type ScanContext, type Verdict } from "../../scan/scanner.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import { llmGuardOption } from "../../support/options.ts";
import { overlapTest } from "../../text/span.ts";
import { ruleOptions } from "../common-options.ts";
import { defineScanner } from "../define-scanner.ts";
import type { CustomNerModel } from "../parts/custom-ner-model.ts";
import { engineOptions } from "../parts/model-options.ts";
import { NerModel, nerModelOption, recognizerConf } from "../parts/ner-model.ts";
import { longestOf } from "../parts/open-spans.ts";
import { REDACTED } from "../parts/redaction.ts";
import { matchesOf, matchVerdict, ruleCheck, ruleVerdict } from "../parts/rule-scanner.ts";
import { russianForms } from "./russian-forms.ts";

/** The entity type of names that count as competitors. */
const ORGANIZATION = "ORGANIZATION";

const names = z.array(z.string().regex(/\S/, "expected a name")).min(1);

export const BanCompetitors = defineScanner({
  type: "BanCompetitors",
  summary:
    "Blocks texts that name a competitor: whole words in any letter case, and Russian names in any grammatical case.",
  description:
    "llm-guard asks a model for all organisations of a text and compares them with the list letter by letter. It requires the model, and " +
    "misses names that the model does not find.\n\n" +
    "A space in a name matches any white space and a hyphen: Acme Corp is found in `Acme  Corp`, over a line break, and in `Acme-Corp`. A " +
    "hyphen in a name matches only a hyphen. An accent may be a character of its own: Néstora is found in both spellings.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    competitors: names.describe("Names of competitors. Russian names are found in any grammatical case."),
    aliases: z
      .record(z.string(), names)
      .default({})
      .describe("Other names by competitor, such as Acme Corporation: [Acme, ACM]. Findings name the competitor."),
    caseSensitive: z.boolean().default(false).describe("Whether upper and lower case differ."),
    redact: z.boolean().default(true).describe(`Replaces every name by ${REDACTED}.`),
    model: nerModelOption
      .optional()
      .describe(
        "A model that finds organisations (embedded:<name>, a folder, an ONNX file, owner/name of the hub or a plugin). A name then counts " +
          "only if it means an organisation: Apple, not an apple. The model reads only texts with a name. Default: none, every name counts.",
      ),
    threshold: z.number().min(0).max(1).default(0.5).describe("With model: the least score of an organisation."),
    chunkSize: llmGuardOption(
      z.number().int().min(1).optional(),
      "; here names are looked for in the whole text at once.",
    ),
    chunkOverlapSize: llmGuardOption(z.number().int().min(0).optional(), "; here nothing is cut, so nothing overlaps."),
    ...engineOptions(),
  }),
  conversation: { window: true },
  differences: [
    {
      without: ["model", "modelPath"],
      text: "Names are found in any case and without a model. llm-guard asks a model for organisations, and misses names that the model does not find. `model` tells Apple from an apple.",
    },
  ],
  findings: [{ type: "competitor", label: "The competitor, whichever of its names was found." }],
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
    /** The competitors by the forms of their names. */
    const forms = new Map<string, string>();
    for (const competitor of competitors) {
      for (const name of [competitor, ...(Object.hasOwn(aliases, competitor) ? (aliases[competitor] ?? []) : [])]) {
        for (const form of russianForms(name.normalize("NFC").trim().replace(/\s+/gu, " "))) {
          for (const spelling of [form, form.replaceAll(" ", "-")]) {
            if (!forms.has(spelling)) forms.set(spelling, competitor);
          }
        }
      }
    }
    const name = options.model;
    const model =
      name === undefined ? undefined : withPathPrefix("model", () => organisationModel(name, maxLength, engine));
    const set = new addon.SubstringSet([...forms.keys()], {
      ...{ matchType: "name", caseSensitive, all: true, deobfuscate },
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
        return model ? organisationVerdict(text, scan, model, context) : ruleVerdict(text, scan, report);
      }),
    };

    /** Returns the verdict on a text in which only names of organisations count, by the model. */
    async function organisationVerdict(
      text: string,
      scan: RuleScan,
      model: NerModel,
      context: ScanContext,
    ): Promise<Verdict> {
      const found = await model.find(text, "BanCompetitors", context);
      checkFindsOrganisations(model);
      const organisations = found.filter(({ entity, score }) => entity === ORGANIZATION && score >= threshold);
      // A disguised name always counts: its author meant the name, and the model cannot read the disguise.
      const counts = overlapTest(organisations);
      const all = matchesOf(scan).filter((match) => match.view !== undefined || counts(match));
      return all.length === 0 ? passed(text) : matchVerdict(text, all, report);
    }
  },
});

function organisationModel(path: string | CustomNerModel, maxLength: number | undefined, engine: Engine): NerModel {
  const [options] = recognizerConf.parse(path);
  const model = new NerModel(options as NonNullable<typeof options>, engine, maxLength);
  checkFindsOrganisations(model);
  return model;
}

/**
 * Checks that a model finds organisations. The types of a model of the hub are unknown until its download, and accepted until then.
 */
function checkFindsOrganisations({ types }: NerModel): void {
  if (!types || types.has(ORGANIZATION)) return;
  throw new GuardValidationError([{ path: "", message: `it finds no organisations: ${[...types].join(", ")}` }]);
}
