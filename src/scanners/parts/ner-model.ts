import { basename, isAbsolute } from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import type { Engine } from "../../models/engine.ts";
import { EMBEDDED, MODEL_DESCRIPTION } from "../../models/model-files.ts";
import type { TextModel } from "../../models/text-model.ts";
import { addon, native, type PiiFinding } from "../../native.ts";
import type { ScanContext } from "../../scan/scanner.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";
import { llmGuardOption } from "../../support/options.ts";
import { PLUGIN_REFERENCE } from "../../support/plugin-kind.ts";
import { splitSentences } from "../../text/sentences.ts";
import { type CustomNerModel, customSpanModel, isCustomNerModel, type SpanModel } from "./custom-ner-model.ts";
import { StructuredText } from "./line-structure.ts";
import { ENTITY_TYPE } from "./recognizers.ts";

/** The type that llm-guard gives to entities that are ignored. */
const IGNORED = "O";

/**
 * The meanings of common labels, in capitals. They are taken from llm-guard 0.3.16's NER configurations, and from the labels of
 * OntoNotes 5 as presidio-analyzer maps them.
 */
const MEANINGS: Readonly<Record<string, readonly string[]>> = {
  PERSON: ["PER", "NAME", "FULLNAME", "FIRSTNAME", "MIDDLENAME", "LASTNAME"],
  LOCATION: [
    ...["LOC", "GPE", "FAC", "ADDRESS", "STREET", "STREETADDRESS", "SECONDARYADDRESS", "BUILDINGNUMBER", "CITY"],
    ...["COUNTY", "STATE", "ZIPCODE", "NEARBYGPSCOORDINATE", "NEARBYGPSCOORDINATES"],
  ],
  ORGANIZATION: ["ORG", "COMPANY", "COMPANYNAME", "COMPANY_NAME"],
  NRP: ["NORP"],
  EMAIL_ADDRESS: ["EMAIL"],
  PHONE_NUMBER: ["PHONENUMBER"],
  CREDIT_CARD: ["CREDITCARDNUMBER"],
  CRYPTO: ["BITCOINADDRESS", "ETHEREUMADDRESS", "LITECOINADDRESS"],
  DATE_TIME: ["DATE", "TIME"],
  DATE_OF_BIRTH: ["DOB"],
  IBAN_CODE: ["IBAN"],
  IP_ADDRESS: ["IP", "IPV4", "IPV6"],
  US_SSN: ["SSN"],
  [IGNORED]: [
    ...["MISC", "CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "EVENT", "LANGUAGE", "LAW", "PRODUCT"],
    "WORK_OF_ART",
  ],
};
const TYPE_OF = new Map(Object.entries(MEANINGS).flatMap(([type, labels]) => labels.map((label) => [label, type])));

/** A sentence, or a piece of a long one, which ends with a word if possible. */
const PIECE = /[\s\S]{1,400}(?=\s|$)|[\s\S]{1,400}/gu;
/** How many sentences a model reads at the same time. */
const CONCURRENCY = 8;

/** A text of one short word, without context. */
const ONE_WORD = /^[^\p{L}\p{N}]*(?:\p{L}\p{M}*){1,4}[^\p{L}\p{N}]*$/u;
/**
 * The least score of a name in such a text, for an embedded model. Of 173 everyday words of Chinese, Japanese and Korean that stand alone, ner 0.3.0
 * takes 25 for names, such as "커피" (coffee), and 22 of them are below this; of 33 names that it finds alone, 29 are above.
 */
const ONE_WORD_THRESHOLD = 0.8;

/** The option that names a model, or is a model. */
export const nerModelOption = z
  .custom<string | CustomNerModel>(
    (value) => (typeof value === "string" && value !== "") || isCustomNerModel(value),
    "expected embedded:<name>, a folder with config.json, tokenizer.json and an ONNX file, owner/name, or a plugin",
  )
  .meta({
    plugin: "NER model",
    typescript: "string | CustomNerModel",
    typescriptFrom: "scanners/parts/custom-ner-model.ts",
    jsonSchema: PLUGIN_REFERENCE,
  });

const nerModel = z.strictObject({
  defaultModel: nerModelOption.describe(MODEL_DESCRIPTION),
  modelToPresidioMapping: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      "Types by labels of the model, without B- and I-; O for labels to ignore. Other labels have their usual meaning.",
    ),
  labelsToIgnore: z.array(z.string()).default([]).describe("Labels and types to ignore."),
  presidioSupportedEntities: z
    .array(z.string())
    .optional()
    .describe("The types that this model looks for, among those that are looked for by default. Default: all."),
  idEntityName: z.string().default("ID").describe("A type whose scores are too high."),
  idScoreMultiplier: z.number().min(0).max(1).default(0.4).describe("Factor for the scores of that type."),
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe("The least score of an entity, besides the threshold of the scanner."),
  chunkSize: llmGuardOption(
    z.number().optional(),
    "; here long texts are read in windows of a length that suits the model.",
  ),
  chunkOverlapSize: llmGuardOption(z.number().optional(), "; here windows overlap by a quarter."),
  defaultExplanation: llmGuardOption(z.string().optional(), "; here findings name their type."),
});
type NerModelOptions = z.output<typeof nerModel>;

/**
 * A NER model: `embedded:<name>`, a folder, an ONNX file, `owner/name` of the hub, a {@link CustomNerModel}, or an object with the keys of
 * llm-guard's NER configurations. A key such as `DEFAULT_MODEL` may also be written `default_model` or `defaultModel`.
 */
export type NerModelConf =
  | string
  | CustomNerModel
  | z.input<typeof nerModel>
  | Readonly<Record<Uppercase<string>, unknown>>;

/** Turns `DEFAULT_MODEL` and `default_model` into `defaultModel`. */
function inCamelCase(key: string): string {
  if (!key.includes("_") && key !== key.toUpperCase()) return key;
  return key.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function asOptions(value: unknown, index: number, context: z.RefinementCtx): unknown {
  if (typeof value === "string" || isCustomNerModel(value)) return { defaultModel: value };
  if (!isRecord(value)) return value;
  const spellings = new Map<string, string>();
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = inCamelCase(key);
      const other = spellings.get(name);
      // Without this error, one of the two values would be ignored silently.
      if (other !== undefined) {
        context.addIssue({ code: "custom", path: [index, name], message: `is given twice: as ${other} and ${key}` });
      }
      spellings.set(name, key);
      return [name, item];
    }),
  );
}

/** Returns the JSON Schema of one value, or of a list of such values. */
function oneOrSeveral(schema: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  return { anyOf: [schema, { type: "array", items: schema }] };
}

/** The option that names one model, several models or none. */
export const recognizerConf = (
  z.preprocess(
    (value, context) => (Array.isArray(value) ? value : [value]).map((item, index) => asOptions(item, index, context)),
    z.array(nerModel),
  ) as unknown as z.ZodType<NerModelOptions[], NerModelConf | readonly NerModelConf[]>
)
  .prefault("embedded:ner")
  .meta({
    plugin: "NER model",
    typescript: "NerModelConf | readonly NerModelConf[]",
    typescriptFrom: "scanners/parts/ner-model.ts",
    jsonSchema: oneOrSeveral({ anyOf: [{ type: "string", minLength: 1 }, { type: "object" }] }),
  });
export type RecognizerConf = typeof recognizerConf;

/** A model that finds names of people, places and organisations, or other entities that it was trained for. */
export class NerModel {
  readonly #options: NerModelOptions;
  readonly #model: SpanModel;
  /** The name of the model in findings: without the folders that it is in. */
  readonly name: string;
  /** The types that are looked for only if the options of the scanner name them. */
  readonly #onDemand: ReadonlySet<string>;
  /** The type of each kind of span that the model finds. It is undefined until a model of the hub is downloaded. */
  #types: ReadonlyMap<string, string> | undefined;

  /**
   * @param maxLength the longest input in tokens, if it should be shorter than the model's own.
   * @throws GuardValidationError for a model that does not exist, and for a model without any type that can be looked for.
   */
  constructor(options: NerModelOptions, engine: Engine, maxLength?: number) {
    this.#options = options;
    this.#onDemand = new Set(addon.piiEntitiesOnDemand());
    const { defaultModel } = options;
    this.#model =
      typeof defaultModel === "string"
        ? spanModelOf(withPathPrefix("defaultModel", () => engine.model(defaultModel, { maxLength })))
        : customSpanModel(defaultModel);
    this.name =
      typeof defaultModel !== "string" ? "plugin" : isAbsolute(defaultModel) ? basename(defaultModel) : defaultModel;
    this.#types = this.#typesIfHere();
  }

  /** The types that the model can find. It is undefined until a model of the hub is downloaded. */
  get types(): ReadonlySet<string> | undefined {
    return this.#types && new Set(this.#types.values());
  }

  /** Tells whether the model looks for a type that the options do not name. */
  offers(type: string): boolean {
    return !this.#onDemand.has(type) && (this.#options.presidioSupportedEntities?.includes(type) ?? true);
  }

  /**
   * Loads the model. If nobody calls this, the first text loads it, but downloads nothing.
   *
   * @throws GuardValidationError for a downloaded model without any type that can be looked for.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#model.load(signal);
    this.#types ??= this.#typesIfHere();
  }

  /** Finds entities in a text. `recognizer` is the name of the model in the findings. */
  async find(text: string, recognizer: string, context: ScanContext = {}): Promise<PiiFinding[]> {
    const { defaultModel, idEntityName, idScoreMultiplier } = this.#options;
    const isEmbedded = typeof defaultModel === "string" && defaultModel.startsWith(EMBEDDED);
    const least = isEmbedded && ONE_WORD.test(text) ? ONE_WORD_THRESHOLD : 0;
    const threshold = Math.max(least, this.#options.threshold);
    const spans = await this.#spans(text, context);
    this.#types ??= this.#typesIfHere();
    const types = this.#types;
    return spans.flatMap(({ start, end, kind, score: ownScore }) => {
      const entity = types?.get(kind);
      const score = entity === idEntityName ? ownScore * idScoreMultiplier : ownScore;
      return entity === undefined || score < threshold ? [] : [{ start, end, entity, score, recognizer }];
    });
  }

  /** Reads a text by its lines and cells. A model of the user reads it as it is. */
  async #spans(text: string, context: ScanContext): ReturnType<SpanModel["findSpans"]> {
    const find = (read: string) =>
      context.arriving ? this.#findBySentence(read, context) : this.#model.findSpans(read, context);
    if (typeof this.#options.defaultModel !== "string") return find(text);
    const structured = new StructuredText(text);
    const spans = await find(structured.marked);
    return spans.flatMap((span) => structured.restore(span));
  }

  /** Reads each sentence by itself. A long sentence is read in pieces, which keep their offsets while the sentence grows. */
  async #findBySentence(text: string, context: ScanContext): ReturnType<SpanModel["findSpans"]> {
    const pieces = (await splitSentences(text, context)).flatMap((sentence) =>
      [...sentence.text.matchAll(PIECE)].map(({ 0: piece, index }) => ({ piece, start: sentence.start + index })),
    );
    // The queue of a model is bounded, so not all pieces are read at once.
    const limit = pLimit(CONCURRENCY);
    const found = await Promise.all(
      pieces.map(({ piece, start }) =>
        limit(async () => {
          const spans = await this.#model.findSpans(piece, context);
          return spans.map((span) => ({ ...span, start: span.start + start, end: span.end + start }));
        }),
      ),
    );
    return found.flat();
  }

  #typesIfHere(): ReadonlyMap<string, string> | undefined {
    const kinds = this.#model.kinds();
    return kinds && typesOf(kinds, this.#options);
  }

  /** Frees the model. */
  async close(): Promise<void> {
    await this.#model.close();
  }
}

function spanModelOf(model: TextModel): SpanModel {
  return {
    kinds() {
      const folder = model.configFolder;
      return folder === undefined ? undefined : native(() => addon.spanKinds(folder));
    },
    load: (signal) => model.load(signal),
    findSpans: (text, context) => model.findSpans(text, context),
    close: () => model.close(),
  };
}

/** Returns the types that a model finds, by its kinds of spans. */
function typesOf(kinds: readonly string[], options: NerModelOptions): ReadonlyMap<string, string> {
  const { labelsToIgnore: ignored, modelToPresidioMapping: mapping } = options;
  const typeOf = (kind: string) => mapping[kind] ?? TYPE_OF.get(kind.toUpperCase()) ?? kind.toUpperCase();
  const types = new Map(
    kinds
      .map((kind) => [kind, typeOf(kind)] as const)
      .filter(([kind, type]) => type !== IGNORED && !ignored.includes(kind) && !ignored.includes(type)),
  );
  const bad = (path: string, message: string) => new GuardValidationError([{ path, message }]);
  if (kinds.length === 0) {
    throw bad("defaultModel", "it judges texts as a whole: it is no model for token classification");
  }
  if (types.size === 0) throw bad("", `all that the model finds is ignored: ${kinds.join(", ")}`);
  const unusable = [...types].find(([, type]) => !ENTITY_TYPE.test(type));
  if (unusable) throw bad(`modelToPresidioMapping.${unusable[0]}`, "expected a type without spaces and brackets");
  return types;
}
