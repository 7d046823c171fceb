import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { GuardValidationError } from "../errors.ts";
import { defaultEngine, type Engine } from "../models/engine.ts";
import { passed, type ScanContext, type Scanner, type Side, type Verdict } from "../scanner.ts";
import { commonOptions, parseOptions } from "../validation/options.ts";

/** What a scanner is built in. */
export interface ScannerEnvironment {
  /** Loads the scanner's models. Default: one engine for all scanners of the process that are given none. */
  engine?: Engine;
}

/** What `create` of a definition gets to build a scanner from. */
export interface Build<Options = Record<string, unknown>> {
  /** The type of the scanner, such as `Toxicity`. */
  readonly type: string;
  /** The schema that the options were checked against. */
  readonly schema: z.ZodObject;
  /** The checked options, with their defaults filled in. */
  readonly options: Options;
  /** Loads models. */
  readonly engine: Engine;
}

/** What a definition builds: the part of a {@link Scanner} that differs from scanner to scanner. */
export interface ScannerBody {
  /** Whether it may change the text; such scanners run one after the other. Default false. */
  readonly sanitizes?: boolean;
  /** Which vault it uses, where it uses one. */
  readonly vaultScope?: "call" | "own";
  /** Loads models. */
  load?(signal?: AbortSignal): Promise<void>;
  /** Frees models. */
  close?(): Promise<void>;
  /** The raw probability that a text is an attack, whatever the threshold; see {@link Scanner.detect}. */
  detect?: Scanner["detect"];
  /** Checks a text that is not empty. */
  check(text: string, context: ScanContext): Verdict | Promise<Verdict>;
}

/** A text of a definition that shows what its scanner does: alone, or with what it depends on. */
export type Example =
  | string
  | {
      text: string;
      /** The prompt that the text answers. */
      prompt?: string;
      /** Options, in camelCase, beside those that all examples of the scanner have. */
      options?: Record<string, unknown>;
      /** What remains of the text, where the scanner rewrites it. */
      sanitized?: string;
    };

/** Texts that show what a scanner does. They are its first tests, and stand on its page. */
export interface Examples {
  /** Options that all examples need, such as the topics of BanTopics. */
  options?: Record<string, unknown>;
  /** The side that the examples are scanned on. Default: the first one that the scanner has. */
  side?: Side;
  passes: readonly Example[];
  /** Empty for a scanner that never fails a text. */
  fails: readonly Example[];
}

/** Everything about a scanner. */
export interface ScannerDefinition<
  Defaults extends object = Record<string, unknown>,
  Shape extends z.ZodRawShape = z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
> {
  /** The name in `scanners.yml` and in results, and of the class. */
  readonly type: string;
  /** Names that llm-guard had for it in older versions: whoever writes one of them is told this one. */
  readonly formerly?: readonly string[];
  /** What it does, in one sentence. */
  readonly summary: string;
  /** What else a user has to know, in paragraphs of Markdown. */
  readonly description?: string;
  /** The sides that it works on, each with the defaults of the options that differ between them. */
  readonly sides: Readonly<Partial<Record<Side, Defaults>>>;
  /** The options beside `name`, which all scanners have. Their texts are the documentation of the options. */
  options(defaults: Defaults): Shape;
  /** Where it looks in conversations besides the user's own messages. Default: nowhere. */
  readonly conversation?: Scanner["conversation"];
  /** Whether it compares a text with its prompt, and has nothing to say of a text without one. Default false. */
  readonly comparesWithPrompt?: boolean;
  /** Whether it has `detect`, so that the risk of a conversation can be made of its probabilities. Default false. */
  readonly detects?: boolean;
  /**
   * The option that is the least probability with which a text passes, where the scanner has one instead of a threshold: 1 less
   * than the probability of its verdicts is compared with it.
   */
  readonly minimum?: string;
  /** What its findings are: their `type`, and in words what their `label` says, where they have one. */
  readonly findings: readonly { type: string; label?: string }[];
  readonly examples: Examples;
  /**
   * Builds the scanner.
   *
   * @throws GuardValidationError for options that cannot be used together, or a model that is not there.
   */
  create(build: Build<z.output<z.ZodObject<Shape & typeof commonOptions>>>): Body;
}

/** A definition of any scanner. */
// biome-ignore lint/suspicious/noExplicitAny: a definition takes options in and gives them out: no narrower type holds all of them.
export type AnyScannerDefinition = ScannerDefinition<any, any, any>;

/** A scanner of guard's own. */
export interface BuiltInScanner extends Scanner {
  /** The checked options, with their defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  load(signal?: AbortSignal): Promise<void>;
  /** @throws GuardValidationError for a text or a context of another type. */
  scan(text: string, context?: ScanContext): Promise<Verdict>;
  close(): Promise<void>;
}

/** What a definition gives beyond {@link Scanner}: `detect`, where its body has one. */
type Abilities<Body> = Body extends { detect: infer Detect } ? { detect: Detect } : unknown;

/** The class of a scanner on one side. Its constructor throws a GuardValidationError with the path of every option at fault. */
export interface ScannerClass<Options = never, Instance = BuiltInScanner> {
  readonly type: string;
  /** Schema of the options: their types, checks and documentation. Names in camelCase. */
  readonly options: z.ZodObject;
  readonly definition: AnyScannerDefinition;
  // Without a comment of its own: editors show that of the scanner instead, which says more.
  new (options?: Options, environment?: ScannerEnvironment): Instance;
}

/** The class of a scanner that cannot do without options. */
export interface ConfiguredScannerClass<Options = never, Instance = BuiltInScanner> extends Omit<ScannerClass, never> {
  // Without a comment of its own: editors show that of the scanner instead, which says more.
  new (options: Options, environment?: ScannerEnvironment): Instance;
}

/** The scanners that a definition makes. */
export type InstanceOf<Defined> =
  Defined extends DefinedScanner<never, infer Body> ? BuiltInScanner & Abilities<Body> : BuiltInScanner;

/** A definition and the classes that are made from it. */
export interface DefinedScanner<Options = never, Body = ScannerBody> {
  readonly definition: AnyScannerDefinition;
  /** The class by side; one class for both where no default differs. */
  readonly classes: Readonly<Partial<Record<Side, ScannerClass<Options, BuiltInScanner & Abilities<Body>>>>>;
}

/**
 * Makes the classes of a scanner from all that is to be said of it. A scanner is one file with one such definition and one line in
 * `registry.ts`; indexes, types, documentation and the schema of `scanners.yml` are generated from there.
 */
export function defineScanner<
  Defaults extends object,
  Shape extends z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
>(
  definition: ScannerDefinition<Defaults, Shape, Body>,
): DefinedScanner<z.input<z.ZodObject<Shape & typeof commonOptions>>, Body> {
  const { input, output } = definition.sides;
  const make = (defaults: Defaults | undefined) => defaults && scannerClass(definition, defaults);
  const ofInput = make(input);
  const ofOutput = input && isDeepStrictEqual(input, output) ? ofInput : make(output);
  return {
    definition,
    classes: { ...(ofInput && { input: ofInput }), ...(ofOutput && { output: ofOutput }) } as never,
  };
}

function scannerClass<Defaults extends object, Shape extends z.ZodRawShape, Body extends ScannerBody>(
  definition: ScannerDefinition<Defaults, Shape, Body>,
  defaults: Defaults,
): ScannerClass {
  const { type } = definition;
  const schema = z.strictObject({ ...commonOptions, ...definition.options(defaults) });
  const made = class extends BodyScanner {
    static readonly type = type;
    static readonly options: z.ZodObject = schema;
    static readonly definition: AnyScannerDefinition = definition;

    constructor(given?: unknown, { engine = defaultEngine() }: ScannerEnvironment = {}) {
      const options = parseOptions(schema, optionsObject(type, given));
      const build = { type, schema, options, engine };
      super(definition, options as { name?: string }, definition.create(build as never));
    }
  };
  // What stack traces and `console.log` call it.
  Object.defineProperty(made, "name", { value: type });
  return made as unknown as ScannerClass;
}

/**
 * The options of a constructor as an object. Anything else would be taken for "no options", and its caller for somebody who is
 * content with the defaults.
 */
function optionsObject(type: string, given: unknown): object {
  if (given === undefined || given === null) return {};
  const prototype: unknown = typeof given === "object" ? Object.getPrototypeOf(given) : undefined;
  if (prototype === Object.prototype || prototype === null) return given as object;
  // An object of another realm (a test runner's, a worker's) has another Object.prototype, whose own prototype is null too.
  const isPlain =
    typeof prototype === "object" && Object.getPrototypeOf(prototype) === null && given?.constructor?.name === "Object";
  if (isPlain) return given as object;
  const kind = typeof given === "object" ? (given.constructor?.name ?? "object") : typeof given;
  const name = kind.toLowerCase();
  const message =
    name === "vault"
      ? `expected an object of options, got a Vault: write new ${type}({ vault })`
      : `expected an object of options, got ${/^[aeiou]/.test(name) ? "an" : "a"} ${kind}`;
  throw new GuardValidationError([{ path: "options", message }]);
}

/** What all scanners share: what an empty text means, and what a wrong call is told. */
abstract class BodyScanner implements BuiltInScanner {
  readonly type: string;
  readonly name: string;
  readonly sanitizes: boolean;
  readonly vaultScope?: "call" | "own";
  readonly conversation?: NonNullable<Scanner["conversation"]>;
  readonly comparesWithPrompt?: boolean;
  readonly detect?: NonNullable<Scanner["detect"]>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly #body: ScannerBody;

  protected constructor(definition: AnyScannerDefinition, options: { name?: string | undefined }, body: ScannerBody) {
    this.type = definition.type;
    this.name = options.name ?? definition.type;
    this.options = options as Record<string, unknown>;
    this.sanitizes = body.sanitizes ?? false;
    if (body.vaultScope) this.vaultScope = body.vaultScope;
    if (definition.conversation) this.conversation = definition.conversation;
    if (definition.comparesWithPrompt) this.comparesWithPrompt = true;
    if (body.detect) this.detect = body.detect;
    this.#body = body;
  }

  async load(signal?: AbortSignal): Promise<void> {
    await this.#body.load?.(signal);
  }

  async close(): Promise<void> {
    await this.#body.close?.();
  }

  async scan(text: string, context: ScanContext = {}): Promise<Verdict> {
    if (typeof text !== "string") {
      throw new GuardValidationError([{ path: "text", message: `expected a string, got ${typeof text}` }]);
    }
    if (typeof context !== "object" || context === null) {
      const message =
        typeof context === "string"
          ? "expected an object, got a string: llm-guard's scan(prompt, output) is scan(output, { prompt }) here"
          : `expected an object, got ${context === null ? "null" : typeof context}`;
      throw new GuardValidationError([{ path: "context", message }]);
    }
    context.signal?.throwIfAborted();
    // The empty text passes everywhere, as in llm-guard.
    return text === "" ? passed(text) : this.#body.check(text, context);
  }
}
