import { z } from "zod";
import type { Engine } from "../../models/engine.ts";
import { addon, buildNative, native, type PersonalData, type PiiFinding } from "../../native.ts";
import type { Edit } from "../../scan/edits.ts";
import { MAX_FINDINGS } from "../../scan/findings.ts";
import { type Coverage, type Explanation, type Finding, type ScanContext, wholeText } from "../../scan/scanner.ts";
import { riskScore, round } from "../../scan/score.ts";
import type { Vault } from "../../scan/vault.ts";
import {
  GuardError,
  GuardValidationError,
  issueOf,
  type ValidationIssue,
  withPathPrefix,
} from "../../support/errors.ts";
import { languageCode } from "../../support/language-codes.ts";
import { PLUGIN_REFERENCE } from "../../support/plugin-kind.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { WeakCache } from "../../support/weak-cache.ts";
import { JsonNumbers } from "../../text/json-numbers.ts";
import type { Span } from "../../text/span.ts";
import { explainOption } from "../common-options.ts";
import type { PersonalDataTypes, ScannerBody } from "../definition.ts";
import type { Difference } from "../difference.ts";
import type { AdHocRecognizers } from "./ad-hoc-recognizers.ts";
import { engineOptions } from "./model-options.ts";
import { NerModel, recognizerConf } from "./ner-model.ts";
import { DEFAULT_TYPE, type Operator, Operators } from "./operators.ts";
import { type PersonalDataFinding, type PiiScan, piiScanOf } from "./pii-scan.ts";
import { MODEL_ENTITIES } from "./placeholders.ts";
import { ENTITY_TYPE, findingsOfRecognizer, type Recognizer } from "./recognizers.ts";

/** What the addon names as the recognizer of hidden names. */
const HIDDEN_NAMES = "hidden-names";
/** The type of names of people. */
const PERSON = "PERSON";

const regexPattern = z.strictObject({
  name: z
    .string()
    .regex(ENTITY_TYPE, "expected a name without spaces and brackets")
    .transform((name) => name.toUpperCase())
    .describe("The type of its findings, in capitals."),
  expressions: z
    .array(z.string().min(1))
    .min(1)
    .describe("Regular expressions, in the syntax of Rust's regex crate and Python's re. Any of them may match."),
  examples: z
    .array(z.string())
    .default([])
    .describe("Texts in which the pattern must find something, checked at start."),
  context: z.array(z.string().min(1)).default([]).describe("Words that add 0.35 to the score of a match nearby."),
  score: z.number().min(0).max(1).default(0.75).describe("The score of a match."),
  languages: z
    .array(z.string())
    .default([])
    .describe("Languages that the pattern applies to, such as en. Default: all."),
});

const callable = z
  .custom<Recognizer>(
    (value) => typeof value === "function",
    "expected a function (text) => [{ start, end, type, score }], or in a file a plugin that exports one",
  )
  .meta({ plugin: "recognizer", jsonSchema: PLUGIN_REFERENCE });

/** How the scanners of personal data differ from llm-guard's. */
export const personalDataDifferences: readonly Difference[] = [
  {
    text:
      "Card numbers and social security numbers are checked by their checksums and rules. llm-guard's types `US_SSN_RE` and " +
      "`CREDIT_CARD_RE`, which check the format alone, are looked for only if `entity_types` names them, because most numbers of that " +
      'format are something else. Next to words such as "credit card number", the format of a card number is enough.',
  },
  {
    without: ["entityTypes"],
    text:
      "Everything that identifies a person is looked for, which is more than llm-guard's thirteen types. Names of places, companies and " +
      "peoples, links and dates are ignored, as in llm-guard. `entity_types: all` finds them.",
  },
  {
    with: ["entityTypes"],
    text: "A type that nothing finds is an error that lists the known types. Otherwise texts would pass unchecked.",
  },
  {
    without: ["recognizerConf", "modelPath"],
    text: "Names are found by guard's embedded model instead of llm-guard's, so the models find and miss different names.",
  },
];

/** The options of the scanners of personal data. */
export const personalDataOptions = {
  entityTypes: z
    .union(
      [z.literal("all"), z.array(z.string().min(1))],
      "expected a list of types, such as [EMAIL_ADDRESS], or all for every type",
    )
    .default([])
    .describe(
      "Types to look for, or all. Default: people, contact data and identifying numbers, but not LOCATION, ORGANIZATION, NRP, AGE, " +
        "ZIP_CODE, DOMAIN_NAME, URL, DATE_TIME and types of patterns such as PRICE_RE. Your own types are always looked for.",
    ),
  regexPatterns: z.array(regexPattern).default([]).describe("Your own patterns, in addition to the embedded ones."),
  recognizers: z
    .array(callable)
    .default([])
    .meta({ typescript: "readonly Recognizer[]", typescriptFrom: "scanners/parts/recognizers.ts" })
    .describe(
      "Functions (text) => [{ start, end, type, score }] that find more. In a file: plugins that export such a function.",
    ),
  recognizerConf: recognizerConf.describe(
    "Models that find names of people, places and organisations: one or several of embedded:<name>, a folder, an ONNX file, " +
      "owner/name of the Hugging Face hub, a plugin, or an object with the keys of llm-guard's NER configurations. []: no model, so such names are not found.",
  ),
  threshold: z.number().min(0).max(1).default(0.5).describe("The least score of a finding."),
  checksum: z
    .enum(["lenient", "strict"])
    .default("lenient")
    .describe(
      "Whether numbers must have a valid checksum. lenient: not directly beside their own name, because people mistype numbers; such a " +
        "finding has the evidence form-only, and a lower score. strict: always.",
    ),
  ...engineOptions("recognizerConf"),
  ...explainOption,
  language: languageCode()
    .optional()
    .describe(
      "Language of the texts, such as en, ru or zh, for context words and national telephone numbers. Default: all.",
    ),
};

type PersonalDataOptions = z.output<z.ZodObject<typeof personalDataOptions>> & {
  operators?: Readonly<Record<string, Operator>>;
};

/** The names that are always hidden, and the values that are never hidden. */
export interface Names {
  hidden: readonly string[];
  allowed: readonly string[];
}

/** What a call adds to the options of a scanner. */
export interface PersonalDataRequest {
  /** The recognizers of the call. */
  adHoc?: AdHocRecognizers | undefined;
  /** Whether each finding is explained. Those of ad-hoc recognizers are explained in any case. */
  explain: boolean;
  /** The only types that the call looks for. Undefined: those of the options. */
  types?: readonly string[] | undefined;
}

/** Returns the methods of a scanner of personal data that return its variants for single calls, and the types that it looks for. */
export function callVariants(
  detector: PersonalDataDetector,
  explain: boolean,
  bodyFor: (request: PersonalDataRequest) => ScannerBody,
): CallVariants & Required<Pick<ScannerBody, "personalDataTypes" | "close">> {
  const variantsOf = (request: PersonalDataRequest): CallVariants => {
    const variant = (more: Partial<PersonalDataRequest>) => {
      const changed = { ...request, ...more };
      return { ...bodyFor(changed), ...variantsOf(changed) };
    };
    return {
      withRecognizers: (adHoc) => variant({ adHoc }),
      withExplanations: () => variant({ explain: true }),
      withTypes: (types) => variant({ types }),
    };
  };
  return { ...variantsOf({ explain }), personalDataTypes: () => detector.types, close: () => detector.close() };
}

type CallVariants = Required<Pick<ScannerBody, "withRecognizers" | "withExplanations" | "withTypes">>;

/** Finds personal data by embedded recognizers, models, patterns and functions of the user, and given names. */
export class PersonalDataDetector {
  readonly #native: PersonalData;
  readonly #options: PersonalDataOptions;
  readonly #known: ReadonlySet<string>;
  /** How the values are replaced. */
  readonly operators: Operators;
  /** The types that the embedded recognizers find. */
  readonly #table: readonly string[];
  /** The models. As soon as all of them are on this machine, those without a wanted type are dropped. */
  #models: readonly NerModel[];

  /** @throws GuardValidationError with the paths of options that cannot be used. */
  constructor(
    options: PersonalDataOptions,
    engine: Engine,
    names: Names = { hidden: [], allowed: [] },
    operators = new Operators(options.operators ?? {}),
  ) {
    this.#options = options;
    this.operators = operators;
    this.#table = addon.piiEntities();
    this.#known = new Set([...this.#table, ...MODEL_ENTITIES]);
    this.#models = options.recognizerConf.map((conf, index) =>
      withPathPrefix(`recognizerConf.${index}`, () => new NerModel(conf, engine, options.modelMaxLength)),
    );
    this.#dropModels();
    const { entityTypes, threshold, regexPatterns } = options;
    const patterns = regexPatterns.map(patternOf);
    this.#native = build({
      ...(entityTypes === "all" ? { entities: [...this.#table] } : {}),
      ...(entityTypes !== "all" && entityTypes.length > 0 ? { entities: entityTypes } : {}),
      languages: options.language === undefined ? [] : [options.language],
      patterns,
      isRequest: false,
      hidden: [...names.hidden],
      allowed: [...names.allowed],
      threshold,
      isStrict: options.checksum === "strict",
      names: options.recognizerConf.length > 0 && this.#wants(PERSON),
    });
    checkExamples(options);
  }

  /** The types that are looked for, and what finds them. */
  get types(): PersonalDataTypes {
    const { regexPatterns, recognizers: functions, language } = this.#options;
    const isSpoken = (languages: readonly string[]) =>
      language === undefined || languages.length === 0 || languages.includes(language);
    const onDemand = new Set(addon.piiEntitiesOnDemand());
    const embedded = addon
      .piiRecognizers()
      .filter(({ entity, isOnDemand }) => this.#wants(entity, !isOnDemand && !onDemand.has(entity)))
      .map(({ id, entity, languages }) => ({ id, types: [entity], languages }));
    const ofModels = this.#models.map((model) => ({
      id: model.name,
      types: [...(model.types ?? [])].filter((type) => this.#wants(type, model.offers(type))),
      languages: [],
    }));
    const own = regexPatterns.map(({ name, languages }) => ({ id: name, types: [name], languages }));
    const recognizers = [...embedded, ...ofModels, ...own].filter(({ languages }) => isSpoken(languages));
    const known = new Set(recognizers.flatMap(({ types }) => types));
    const hasOthers = functions.length > 0 || this.#models.some(({ types }) => types === undefined);
    return { known: [...known].sort(), recognizers, hasOthers };
  }

  /**
   * Finds personal data in a text, but not inside placeholders of the vault and results of operators.
   *
   * @param request what the call adds.
   */
  async find(
    text: string,
    vault: Vault | undefined,
    context: ScanContext,
    { adHoc, types }: Pick<PersonalDataRequest, "adHoc" | "types"> = {},
  ): Promise<PiiScan> {
    const { signal } = context;
    const { recognizers, language } = this.#options;
    const stored = vault?.entriesIn(text).map(([placeholder]) => placeholder) ?? [];
    const placeholders = [...stored, ...this.operators.tokensIn(text)];
    const [found, named, added] = await Promise.all([
      Promise.all(recognizers.map((recognizer) => recognizer(text, { ...(signal && { signal }) }))),
      Promise.all(this.#models.map((model, index) => this.#named(model, `model.${index}`, text, context))),
      adHoc?.find(text, placeholders, language, { signal }) ?? [],
    ]);
    signal?.throwIfAborted();
    const others = found.flatMap((entities, index) => findingsOfRecognizer(`recognizers.${index}`, text, entities));
    const wanted = [...others.filter(({ entity }) => this.#wants(entity)), ...named.flat(), ...added];
    try {
      return await piiScanOf(
        await native(() => this.#native.find(text, wanted, placeholders, types && [...types]), { signal }),
        new TimeSlice(signal),
      );
    } catch (error) {
      const issue = issueOf(error);
      if (!issue) throw error;
      throw new GuardError("GUARD_PATTERN", `${inOptions(issue.path)}: ${issue.message}`, { cause: error });
    }
  }

  /** Returns the findings of a verdict. Those of ad-hoc recognizers are explained in any case. */
  findingsOf(
    text: string,
    { findings }: PiiScan,
    { adHoc, explain }: Pick<PersonalDataRequest, "adHoc" | "explain">,
  ): Finding[] {
    return findings.slice(0, MAX_FINDINGS).map((finding) => {
      const { start, end, entity: label, score, check } = finding;
      const explanation = adHoc?.explanationOf(finding) ?? (explain ? this.#explanation(finding) : undefined);
      return {
        ...{ start, end, type: "personal_data", text: text.slice(start, end), score, label },
        ...(check?.passed === false ? { evidence: "form-only" } : {}),
        ...(explanation ? { explanation } : {}),
      };
    });
  }

  #explanation({ recognizer: id, context, check }: PersonalDataFinding): Explanation {
    const evidence = { ...(context === undefined ? {} : { context }), ...(check ? { check } : {}) };
    const [, source, index] = /^(model|recognizers)\.(\d+)$/.exec(id) ?? [];
    if (source === "model") return { by: "model", id: this.#models[Number(index)]?.name ?? "" };
    if (source === "recognizers") return { by: "function", id };
    if (id === HIDDEN_NAMES) return { by: "names", id: "hidden_names" };
    const isOwn = this.#options.regexPatterns.some(({ name }) => name === id);
    return { by: isOwn ? "pattern" : "recognizer", id, ...evidence };
  }

  /** Returns another value of the format that a recognizer found. */
  lookalike({ recognizer }: PiiFinding, value: string, seed: number): string | undefined {
    return this.#native.lookalike(recognizer, value, seed) ?? undefined;
  }

  /**
   * Returns the risk score of a text with findings: that of llm-guard, but at least 0.1, so that it never means a pass.
   */
  score({ highest }: PiiScan): number {
    return Math.max(0.1, riskScore(round(highest, 2), this.#options.threshold));
  }

  /**
   * Loads the models. If nobody calls this, the first text loads them, but downloads nothing.
   *
   * @throws GuardValidationError if none of the downloaded models finds a type of the options.
   */
  async load(signal?: AbortSignal): Promise<void> {
    await Promise.all(
      this.#models.map((model, index) =>
        model.load(signal).catch((error: unknown) => {
          throw error instanceof GuardValidationError ? error.within(`recognizerConf.${index}`) : error;
        }),
      ),
    );
    await Promise.all(this.#dropModels().map((model) => model.close()));
  }

  /** Frees the models. */
  async close(): Promise<void> {
    await Promise.all(this.#models.map((model) => model.close()));
  }

  async #named(model: NerModel, name: string, text: string, context: ScanContext): Promise<PiiFinding[]> {
    const found = await model.find(text, name, context);
    return found.filter(({ entity }) => this.#wants(entity, model.offers(entity)));
  }

  /**
   * Drops the models without a wanted type, as soon as the types of all models are known.
   *
   * @returns the dropped models.
   * @throws GuardValidationError for a type that nothing finds.
   */
  #dropModels(): readonly NerModel[] {
    const models = this.#models;
    const types = models.map((model) => model.types);
    if (!types.every((known) => known !== undefined)) return [];
    checkTypes(this.#options, [...this.#table, ...types.flatMap((known) => [...known])]);
    this.#models = models.filter((model, index) =>
      [...(types[index] ?? [])].some((type) => this.#wants(type, model.offers(type))),
    );
    return models.filter((model) => !this.#models.includes(model));
  }

  /** Tells whether a type is looked for. A type that is not offered is looked for only if the options name it, or all. */
  #wants(type: string, isOffered = true): boolean {
    const { entityTypes } = this.#options;
    if (entityTypes === "all") return true;
    return entityTypes.includes(type) || (isOffered && (entityTypes.length === 0 || !this.#known.has(type)));
  }
}

/** Rejects an entity type or an operator's type that no recognizer or pattern finds: values of that type would pass unnoticed. */
function checkTypes(options: PersonalDataOptions, types: readonly string[]): void {
  const { entityTypes, regexPatterns, recognizers } = options;
  if (recognizers.length > 0) return;
  const found = new Set([...types, ...regexPatterns.map(({ name }) => name), addon.hiddenEntity()]);
  const known = [...found].sort().join(", ");
  const issuesOf = (type: string, path: string): ValidationIssue[] => {
    if (found.has(type)) return [];
    const why = MODEL_ENTITIES.includes(type) ? "it needs a model" : `it is unknown; known are: ${known}`;
    return [{ path, message: `nothing finds ${type}: ${why}` }];
  };
  const wanted = entityTypes === "all" ? [] : entityTypes;
  const replaced = Object.keys(options.operators ?? {}).filter((type) => type !== DEFAULT_TYPE);
  const issues = [
    ...wanted.flatMap((type, index) => issuesOf(type, `entityTypes.${index}`)),
    ...replaced.flatMap((type) => issuesOf(type, `operators.${type}`)),
  ];
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** Returns the coverage of a text that was scanned for personal data. */
export function coverageOf(text: string, { findings }: PiiScan): Coverage {
  return wholeText(text, 1, Math.max(0, findings.length - MAX_FINDINGS));
}

/**
 * Returns an edit for each finding, in time slices: there may be a hundred thousand findings. They must be in order and must not overlap.
 * In place of a number of JSON, the replacement is quoted.
 */
export async function editsInSlices<Found extends Span>(
  text: string,
  findings: readonly Found[],
  replacement: (finding: Found) => string,
  slice: TimeSlice,
): Promise<Edit[]> {
  const edits: Edit[] = [];
  const numbers = new JsonNumbers(text);
  for (const finding of findings) {
    if (slice.isOver) await slice.next();
    const { start, end } = finding;
    edits.push({ start, end, replacement: numbers.quoted(finding, replacement(finding)) });
  }
  return edits;
}

function patternOf({ name, expressions, context, score, languages }: z.output<typeof regexPattern>) {
  return { id: name, entity: name, expressions, words: [], context, score, languages };
}

/**
 * The detectors of this process, which scanners with the same options share. Each takes several megabytes that V8 does not know of. If a
 * program creates a scanner for each text and each scanner has its own detector, V8 collects the unused ones too late, and the memory fills up.
 */
const detectors = new WeakCache<PersonalData>();

function build(options: ConstructorParameters<typeof PersonalData>[0]): PersonalData {
  return detectors.getOrCreate(JSON.stringify(options), () =>
    buildNative(() => new addon.PersonalData(options), inOptions),
  );
}

/** Replaces the addon's names `patterns`, `hidden` and `allowed` by the names of the options. */
function inOptions(path: string): string {
  return path
    .replace(/^patterns/, "regexPatterns")
    .replace(/^hidden/, "hiddenNames")
    .replace(/^allowed/, "allowedNames");
}

function checkExamples({ regexPatterns }: PersonalDataOptions): void {
  const issues: ValidationIssue[] = [];
  for (const [index, pattern] of regexPatterns.entries()) {
    const { examples } = pattern;
    if (examples.length === 0) continue;
    const patterns = [{ ...patternOf(pattern), languages: [] }];
    const only = build({
      entities: [],
      languages: [],
      patterns,
      isRequest: false,
      hidden: [],
      allowed: [],
      threshold: 0,
      isStrict: false,
      names: false,
    });
    for (const [number, example] of examples.entries()) {
      if (native(() => only.finds(example))) continue;
      issues.push({ path: `regexPatterns.${index}.examples.${number}`, message: "no expression matches it" });
    }
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}
