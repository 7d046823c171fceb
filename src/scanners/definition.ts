import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { defaultEngine, type Engine } from "../models/engine.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import { toVerdict } from "../scan/checked-verdict.ts";
import {
  passed,
  type ScanContext,
  type Scanner,
  type ScannerVerdict,
  type Side,
  type Streaming,
  type Verdict,
} from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { registerSynchronousScan } from "../scan/synchronous.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { lazy } from "../support/lazy.ts";
import { parseOptions } from "../support/options.ts";
import type { commonOptions } from "./common-options.ts";
import type { Difference } from "./difference.ts";
import { type OptionsSchema, optionsSchema } from "./options-schema.ts";
import { withModelPath } from "./parts/model-path.ts";
import type { ToolPins } from "./parts/tool-pins.ts";

/** The environment in which a scanner is built. */
export interface ScannerEnvironment {
  /** The engine that loads the scanner's models. By default, all scanners of the process that are given no engine share one. */
  engine?: Engine;
  /** Where pins of definitions of tools are kept from one run to the next, for scanners that compare them with the first ones. */
  toolPins?: ToolPins;
  /** Where pins are remembered while the program runs, by scanners that would do so in their process alone. Several processes share it. */
  rememberedPins?: ToolPins;
}

/** The input from which `create` of a definition builds a scanner. */
export interface Build<Options = Record<string, unknown>> {
  /** The type of the scanner, such as `Toxicity`. */
  readonly type: string;
  /** The schema that the options were checked against. */
  readonly schema: z.ZodObject;
  /** The checked options, with their defaults filled in. */
  readonly options: Options;
  /** Loads models. */
  readonly engine: Engine;
  /** Where pins of definitions of tools are kept; see {@link ScannerEnvironment.toolPins}. */
  readonly toolPins?: ToolPins;
  /** Where pins are remembered; see {@link ScannerEnvironment.rememberedPins}. */
  readonly rememberedPins?: ToolPins;
}

/** What a definition builds: the part of a {@link Scanner} that differs from scanner to scanner. */
export interface ScannerBody {
  /** Whether the scanner may change the text. Such scanners run one after the other. The default is false. */
  readonly sanitizes?: boolean;
  /** Whether the text that it leaves may still hold what it finds; see {@link Scanner.leavesFindings}. */
  readonly leavesFindings?: boolean;
  /** The vault that the scanner uses, if it uses one. */
  readonly vaultScope?: "call" | "own";
  /** Whether the scanner keeps pins in {@link Build.toolPins}; see {@link Scanner.keepsPins}. */
  readonly keepsPins?: boolean;
  /** What it asks of which model; see {@link Scanner.asks}. */
  readonly asks?: NonNullable<Scanner["asks"]>;
  /** Loads models. */
  load?(signal?: AbortSignal): Promise<void>;
  /** Frees models. */
  close?(): Promise<void>;
  /** Returns the raw probability that a text is an attack, whatever the threshold; see {@link Scanner.detect}. */
  detect?: Scanner["detect"];
  /** How the scanner reads an answer that arrives in pieces; see {@link Scanner.streaming}. By default it needs all of it. */
  readonly streaming?: Streaming;
  /** Whether an empty text can fail, so that it is checked too. The default is false: it passes, as in llm-guard. */
  readonly checksEmpty?: boolean;
  /** Checks a text, which is empty only if `checksEmpty` says so. */
  check(text: string, context: ScanContext): ScannerVerdict | Promise<ScannerVerdict>;
}

/** An example text that shows what a scanner does. It is the text alone, or the text with what the result depends on. */
export type Example =
  | string
  | {
      text: string;
      /** The prompt that the text answers. */
      prompt?: string;
      /** Where the text comes from, when not from the user. The last text of this source in `conversation` is what is scanned. */
      source?: Source;
      /** The conversation that the text belongs to. It is given together with `source`. */
      conversation?: ChatRequest;
      /** Options, in camelCase, that are added to those that all examples of the scanner have. */
      options?: Record<string, unknown>;
      /** The text after the scanner rewrote it, if it rewrites it. */
      sanitized?: string;
    };

/** Texts that show what a scanner does. They serve as its first tests, and its page of the documentation shows them. */
export interface Examples {
  /** Options that all examples need, such as the topics of BanTopics. */
  options?: Record<string, unknown>;
  /** The side that the examples are scanned on. Default: the first one that the scanner has. */
  side?: Side;
  passes: readonly Example[];
  /** The texts that fail. The list is empty for a scanner that never fails a text. */
  fails: readonly Example[];
}

/** Everything that there is to say about a scanner of guard's own. */
export interface ScannerDefinition<
  Defaults extends object = Record<string, unknown>,
  Shape extends z.ZodRawShape = z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
> {
  /** The name of the scanner in `scanners.yml` and in results, and the name of its class. */
  readonly type: string;
  /** The names that llm-guard gave this scanner in older versions. A user who writes one of them is told the new name. */
  readonly formerly?: readonly string[];
  /** One sentence that says what the scanner does. */
  readonly summary: string;
  /** What else a user has to know, as paragraphs of Markdown. */
  readonly description?: string;
  /** The sides on which the scanner works. Each side has the defaults of the options that differ between the sides. */
  readonly sides: Readonly<Partial<Record<Side, Defaults>>>;
  /** Returns the options besides `name`, which all scanners have. The descriptions of the options become their documentation. */
  options(defaults: Defaults): Shape;
  /** What the scanner checks in conversations besides the latest user message. By default it checks nothing else. */
  readonly conversation?: Scanner["conversation"];
  /** Whether the scanner compares a text with its prompt, so that it cannot judge a text without a prompt. The default is false. */
  readonly comparesWithPrompt?: boolean;
  /** Whether verdicts depend on something outside; see {@link Scanner.volatile}. The default is false. */
  readonly volatile?: boolean;
  /** Whether the scanner has `detect`, so that its probabilities can add up to the risk of a conversation. The default is false. */
  readonly detects?: boolean;
  /**
   * The name of the option that is a minimum instead of a threshold: a text passes when its probability of being fine is at least
   * this. It is compared with 1 minus the probability of the verdict.
   */
  readonly minimum?: string;
  /** What the scanner does otherwise than llm-guard 0.3.16. */
  readonly differences?: readonly Difference[];
  /** The findings that the scanner makes: their `type` and, when they have a `label`, what it says. */
  readonly findings: readonly { type: string; label?: string }[];
  readonly examples: Examples;
  /**
   * Builds the scanner.
   *
   * @param defaults those of the side.
   * @throws GuardValidationError for options that cannot be used together, and for a model that does not exist.
   */
  create(build: Build<z.output<z.ZodObject<Shape & typeof commonOptions>>>, defaults: Defaults): Body;
}

/**
 * A scanner that is not guard's own. It says less than a {@link ScannerDefinition}, because guard generates no documentation for it,
 * and its options may be checked by any library. It may be a plain object: a plugin needs nothing of guard at run time.
 */
export interface PluginScannerDefinition<Options extends object = object, Body extends ScannerBody = ScannerBody>
  extends Pick<
    ScannerDefinition,
    "type" | "summary" | "description" | "conversation" | "comparesWithPrompt" | "detects"
  > {
  /** The sides on which the scanner works: `{ input: {} }`, `{ output: {} }` or both. */
  readonly sides: Readonly<Partial<Record<Side, object>>>;
  /** The schema of the options besides `name`, which all scanners have. Without it the scanner has no other options. */
  readonly options?: OptionsSchema<Options>;
  readonly findings?: ScannerDefinition["findings"];
  readonly examples?: Examples;
  /**
   * Builds the scanner. What it throws is an error of the configuration; a {@link GuardValidationError} may name the option at fault.
   */
  create(build: Build<Options & { name?: string | undefined }>): Body;
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

/** The methods that a definition adds to {@link Scanner}: `detect`, when its body has one. */
type Abilities<Body> = Body extends { detect: infer Detect } ? { detect: Detect } : unknown;

/** The class of a scanner on one side. Its constructor throws a GuardValidationError with the path of every option at fault. */
export interface ScannerClass<Options = never, Instance = BuiltInScanner> {
  readonly type: string;
  /** The schema of the options: their types, checks and documentation. The names are in camelCase. */
  readonly options: z.ZodObject;
  readonly definition: AnyScannerDefinition;
  // The constructor has no comment of its own, so that editors show the comment of the scanner, which says more.
  new (options?: Options, environment?: ScannerEnvironment): Instance;
}

/** The class of a scanner that cannot do without options. */
export interface ConfiguredScannerClass<Options = never, Instance = BuiltInScanner> extends Omit<ScannerClass, never> {
  // The constructor has no comment of its own, so that editors show the comment of the scanner, which says more.
  new (options: Options, environment?: ScannerEnvironment): Instance;
}

/** The scanners that a definition makes. */
export type InstanceOf<Defined> =
  Defined extends DefinedScanner<never, infer Body> ? BuiltInScanner & Abilities<Body> : BuiltInScanner;

/** A definition and the classes that are made from it. */
export interface DefinedScanner<Options = never, Body = ScannerBody> {
  readonly definition: AnyScannerDefinition;
  /** The class of each side. Both sides share one class when no default differs. */
  readonly classes: Readonly<Partial<Record<Side, ScannerClass<Options, BuiltInScanner & Abilities<Body>>>>>;
}

/** Tells whether {@link defineScanner} made a value. */
export function isDefinedScanner(value: unknown): value is DefinedScanner {
  const { definition, classes } = (value ?? {}) as Partial<DefinedScanner>;
  return isRecord(definition) && isRecord(classes);
}

/**
 * Makes the classes of a scanner from its definition. A scanner is one file with one such definition, and one line in
 * `registry.ts`. The indexes, the types, the documentation and the schema of `scanners.yml` are generated from the definitions.
 */
export function defineScanner<
  Defaults extends object,
  Shape extends z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
>(
  definition: ScannerDefinition<Defaults, Shape, Body>,
): DefinedScanner<z.input<z.ZodObject<Shape & typeof commonOptions>>, Body>;
/** Makes the classes of a scanner that is not guard's own, such as one of a plugin. */
export function defineScanner<Options extends object, Body extends ScannerBody = ScannerBody>(
  definition: PluginScannerDefinition<Options, Body>,
): DefinedScanner<Record<string, unknown>, Body>;
export function defineScanner(given: AnyScannerDefinition | PluginScannerDefinition<object>): DefinedScanner {
  // A scanner of a plugin need not say what it finds, nor give examples.
  const { findings = [], examples = { passes: [], fails: [] } } = given;
  const definition: AnyScannerDefinition = { ...(given as AnyScannerDefinition), findings, examples };
  const { input, output } = definition.sides;
  const make = (defaults: object | undefined) => defaults && scannerClass(definition, defaults);
  const ofInput = make(input);
  const ofOutput = input && isDeepStrictEqual(input, output) ? ofInput : make(output);
  return {
    definition,
    classes: { ...(ofInput && { input: ofInput }), ...(ofOutput && { output: ofOutput }) } as never,
  };
}

function scannerClass(definition: AnyScannerDefinition, defaults: object): ScannerClass {
  const { type } = definition;
  const schema = lazy(() => optionsSchema(definition.options, defaults));
  const made = class extends BodyScanner {
    static readonly type = type;
    static readonly definition: AnyScannerDefinition = definition;

    static get options(): z.ZodObject {
      return schema();
    }

    constructor(given?: unknown, { engine = defaultEngine(), toolPins, rememberedPins }: ScannerEnvironment = {}) {
      const named = withModelPath(schema(), optionsObject(type, given));
      const options = parseOptions(schema(), named.given);
      super(
        definition,
        options as { name?: string },
        created({
          ...{ type, schema: schema(), options, engine },
          ...(toolPins && { toolPins }),
          ...(rememberedPins && { rememberedPins }),
        }),
      );

      function created(build: Build): ScannerBody {
        try {
          return definition.create(build as never, defaults);
        } catch (error) {
          throw named.blame(error);
        }
      }
    }
  };
  // Stack traces and `console.log` show this name.
  Object.defineProperty(made, "name", { value: type });
  return made as unknown as ScannerClass;
}

/**
 * Returns the options of a constructor as an object, and throws for anything else. Otherwise a wrong argument would count as "no
 * options", and its caller would get the defaults without noticing.
 */
function optionsObject(type: string, given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  const prototype: unknown = typeof given === "object" ? Object.getPrototypeOf(given) : undefined;
  if (prototype === Object.prototype || prototype === null) return given as Record<string, unknown>;
  // An object of another realm (of a test runner or a worker) has another Object.prototype, whose own prototype is null too.
  const isPlain =
    typeof prototype === "object" && Object.getPrototypeOf(prototype) === null && given?.constructor?.name === "Object";
  if (isPlain) return given as Record<string, unknown>;
  const kind = typeof given === "object" ? (given.constructor?.name ?? "object") : typeof given;
  const name = kind.toLowerCase();
  const message =
    name === "vault"
      ? `expected an object of options, got a Vault: write new ${type}({ vault })`
      : `expected an object of options, got ${/^[aeiou]/.test(name) ? "an" : "a"} ${kind}`;
  throw new GuardValidationError([{ path: "options", message }]);
}

/** The behaviour that all scanners share: what an empty text means, and which errors a wrong call gets. */
abstract class BodyScanner implements BuiltInScanner {
  readonly type: string;
  readonly name: string;
  readonly sanitizes: boolean;
  readonly leavesFindings?: boolean;
  readonly vaultScope?: "call" | "own";
  readonly keepsPins?: boolean;
  readonly conversation?: NonNullable<Scanner["conversation"]>;
  readonly comparesWithPrompt?: boolean;
  readonly volatile?: boolean;
  readonly streaming?: Streaming;
  readonly asks?: NonNullable<Scanner["asks"]>;
  readonly detect?: NonNullable<Scanner["detect"]>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly #body: ScannerBody;

  protected constructor(definition: AnyScannerDefinition, options: { name?: string | undefined }, body: ScannerBody) {
    this.type = definition.type;
    this.name = options.name ?? definition.type;
    this.options = options as Record<string, unknown>;
    this.sanitizes = body.sanitizes ?? false;
    if (body.leavesFindings) this.leavesFindings = true;
    if (body.vaultScope) this.vaultScope = body.vaultScope;
    if (body.keepsPins) this.keepsPins = true;
    if (definition.conversation) this.conversation = definition.conversation;
    if (definition.comparesWithPrompt) this.comparesWithPrompt = true;
    if (definition.volatile) this.volatile = true;
    if (body.streaming) this.streaming = body.streaming;
    if (body.asks) this.asks = body.asks;
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
    return toVerdict(text, await this.#scanNow(text, context));
  }

  /** The same for arguments that were checked, without a promise where none is needed. */
  #scanNow(text: string, context: ScanContext): ScannerVerdict | Promise<ScannerVerdict> {
    return text === "" && !this.#body.checksEmpty ? passed(text) : this.#body.check(text, context);
  }

  static {
    registerSynchronousScan(BodyScanner.prototype.scan, (scanner, text, context) =>
      (scanner as BodyScanner).#scanNow(text, context),
    );
  }
}
