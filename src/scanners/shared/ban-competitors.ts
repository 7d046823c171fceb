import { z } from "zod";
import { GuardValidationError, madeFrom } from "../../errors.ts";
import { addon, native, nativeNow, type RuleScan, SHORT_TEXT, type SubstringSet } from "../../native.ts";
import { commonOptions, ruleOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict } from "../../scanner.ts";
import { engineOptions } from "./model-options.ts";
import { NerModel, recognizerConf } from "./ner-model.ts";
import { replaced } from "./personal-data.ts";
import { ruleVerdict } from "./rule-verdict.ts";
import { russianForms } from "./russian-forms.ts";

/** The type of what a competitor has to be, where a model tells. */
const ORGANIZATION = "ORGANIZATION";
/** What takes the place of a name: that of llm-guard. */
const REDACTED = "[REDACTED]";

const names = z.array(z.string().regex(/\S/, "expected a name")).min(1);

const schema = z.strictObject({
  ...commonOptions,
  ...ruleOptions,
  competitors: names.describe("Names of competitors; Russian ones are found in every case."),
  aliases: z
    .record(z.string(), names)
    .default({})
    .describe("Other names by competitor, such as Acme Corporation: [Acme, ACM]; findings name the competitor."),
  caseSensitive: z.boolean().default(false).describe("Whether upper and lower case differ."),
  redact: z.boolean().default(true).describe(`Replaces every name by ${REDACTED}.`),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A model that finds organisations (embedded:<name>, a folder, an ONNX file or owner/name of the hub), by which a name counts only where it means " +
        "one: Apple, not an apple. It is asked of texts with a name only. Default: none, names alone count.",
    ),
  threshold: z.number().min(0).max(1).default(0.5).describe("With model: least score of an organisation."),
  ...engineOptions(),
});

/**
 * Blocks texts that name a competitor, as whole words in any case; Russian names in every grammatical case.
 *
 * llm-guard asks a model for all organisations of a text and compares those with the list letter by letter: it needs the model,
 * and misses what that does not see.
 */
export class BanCompetitors extends BaseScanner<typeof schema> {
  static readonly type = "BanCompetitors";
  static readonly options = schema;
  /** The competitor by the index of each form of a name. */
  readonly #competitors: string[];
  readonly #forms: SubstringSet;
  readonly #scan: (text: string) => RuleScan | null;
  readonly #model: NerModel | undefined;

  /** @throws GuardValidationError for a bad option, or a model that is not there or finds no organisations. */
  constructor(options: z.input<typeof schema>) {
    super(BanCompetitors.type, schema, options);
    const { competitors, aliases, caseSensitive, redact, deobfuscate, model, modelMaxLength } = this.options;
    const unknown = Object.keys(aliases).find((name) => !competitors.includes(name));
    if (unknown !== undefined) {
      throw new GuardValidationError([{ path: `aliases.${unknown}`, message: "it is not one of the competitors" }]);
    }
    const forms = new Map<string, string>();
    for (const competitor of competitors) {
      for (const name of [competitor, ...(Object.hasOwn(aliases, competitor) ? (aliases[competitor] ?? []) : [])]) {
        for (const form of russianForms(name.trim())) if (!forms.has(form)) forms.set(form, competitor);
      }
    }
    if (model !== undefined) this.#model = madeFrom("model", () => organisationsOf(model, modelMaxLength));
    this.#competitors = [...forms.values()];
    this.#forms = new addon.SubstringSet([...forms.keys()], {
      ...{ words: true, caseSensitive, all: true, deobfuscate, replace: redact && model === undefined },
    });
    this.#scan = this.#forms.scanner();
  }

  get sanitizes(): boolean {
    return this.options.redact;
  }

  /** Loads the model, if there is one. */
  async load(signal?: AbortSignal): Promise<void> {
    const model = this.#model;
    if (!model) return;
    await model.load(signal);
    madeFrom("model", () => checkFindsOrganisations(model));
  }

  async close(): Promise<void> {
    await this.#model?.close();
  }

  protected check(text: string, context: ScanContext): Verdict | Promise<Verdict> {
    return text.length <= SHORT_TEXT
      ? this.#verdict(
          text,
          nativeNow(() => this.#scan(text)),
          context,
        )
      : native(() => this.#forms.scanLong(text)).then((scan) => this.#verdict(text, scan, context));
  }

  #verdict(text: string, scan: RuleScan | null, context: ScanContext): Verdict | Promise<Verdict> {
    if (!scan) return passed(text);
    if (!this.#model) return ruleVerdict(text, scan, "competitor", this.#competitors);
    return this.#amongOrganisations(text, scan, this.#model, context);
  }

  async #amongOrganisations(text: string, scan: RuleScan, model: NerModel, context: ScanContext): Promise<Verdict> {
    const { threshold, redact } = this.options;
    const found = await model.find(text, BanCompetitors.type, context);
    checkFindsOrganisations(model);
    const organisations = found.filter(({ entity, score }) => entity === ORGANIZATION && score >= threshold);
    // A name that somebody has disguised is meant as one, and no model sees it in the text as it is written.
    const matches = scan.matches.filter(
      ({ start, end, view }) => view != null || organisations.some((other) => other.start < end && start < other.end),
    );
    if (matches.length === 0) return passed(text);
    const redacted = redact ? { redacted: replaced(text, merged(matches), () => REDACTED) } : {};
    return ruleVerdict(text, { matches, ...redacted }, "competitor", this.#competitors);
  }
}

function organisationsOf(path: string, maxLength: number | undefined): NerModel {
  const [options] = recognizerConf.parse(path);
  const model = new NerModel(options as NonNullable<typeof options>, maxLength);
  checkFindsOrganisations(model);
  return model;
}

/** What a model of the hub finds is known when it is downloaded. */
function checkFindsOrganisations({ types }: NerModel): void {
  if (!types || types.has(ORGANIZATION)) return;
  throw new GuardValidationError([{ path: "", message: `it finds no organisations: ${[...types].join(", ")}` }]);
}

/** Places in order, those that overlap as one. */
function merged(places: readonly { start: number; end: number }[]): { start: number; end: number }[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of [...places].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}
