import type { z } from "zod";
import type { Engine } from "../models/engine.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { ModeSetting } from "../scan/mode.ts";
import type { ScanContext, Scanner, ScannerVerdict, Side, Streaming, Verdict } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import type { commonOptions } from "./common-options.ts";
import type { Difference } from "./difference.ts";
import type { OptionsSchema } from "./options-schema.ts";
import type { AdHocRecognizers } from "./parts/ad-hoc-recognizers.ts";
import type { ToolPins } from "./parts/tool-pins.ts";

/** What a program gives to the scanners that it builds. */
export interface ScannerEnvironment {
  /** The engine that loads the models. By default, all scanners of the process share one. */
  engine?: Engine;
  /** Where pins of tool definitions are kept from one run to the next. */
  toolPins?: ToolPins;
  /** Where pins are remembered while the program runs, instead of in each process. Several processes share it. */
  rememberedPins?: ToolPins;
}

/** The argument of `create` of a definition. */
export interface Build<Options = Record<string, unknown>> {
  /** The type of the scanner, such as `Toxicity`. */
  readonly type: string;
  /** The schema that the options were checked against. */
  readonly schema: z.ZodObject;
  /** The checked options, with their defaults filled in. */
  readonly options: Options;
  /** Loads models. */
  readonly engine: Engine;
  /** See {@link ScannerEnvironment.toolPins}. */
  readonly toolPins?: ToolPins;
  /** See {@link ScannerEnvironment.rememberedPins}. */
  readonly rememberedPins?: ToolPins;
}

/** The part of a {@link Scanner} that its definition creates. */
export interface ScannerBody {
  /** Whether the scanner may rewrite texts. Such scanners run one after the other. The default is false. */
  readonly sanitizes?: boolean;
  /** Whether a rewritten text may still contain findings; see {@link Scanner.leavesFindings}. */
  readonly leavesFindings?: boolean;
  /** See {@link Scanner.reviewThreshold}. */
  readonly reviewThreshold?: number;
  /** The vault that the scanner uses, if it uses one. */
  readonly vaultScope?: "call" | "own";
  /** Whether the scanner keeps pins in {@link Build.toolPins}; see {@link Scanner.keepsPins}. */
  readonly keepsPins?: boolean;
  /** Loads models. */
  load?(signal?: AbortSignal): Promise<void>;
  /** Frees models. */
  close?(): Promise<void>;
  /** Returns the raw probability that a text is an attack, whatever the threshold; see {@link Scanner.detect}. */
  detect?: Scanner["detect"];
  /** How the scanner reads a streamed answer; see {@link Scanner.streaming}. By default it needs the whole answer. */
  readonly streaming?: Streaming;
  /** Whether empty texts are checked. The default is false: they pass, as in llm-guard. */
  readonly checksEmpty?: boolean;
  /** Returns the scanner with more recognizers, which shares the models of this one; see {@link BuiltInScanner.withRecognizers}. */
  withRecognizers?(recognizers: AdHocRecognizers): ScannerBody;
  /** Returns the scanner with an explanation of each finding; see {@link BuiltInScanner.withExplanations}. */
  withExplanations?(): ScannerBody;
  /** Returns the scanner for these types only; see {@link BuiltInScanner.withTypes}. */
  withTypes?(types: readonly string[]): ScannerBody;
  /** Returns the types of personal data that the scanner looks for; see {@link BuiltInScanner.personalDataTypes}. */
  personalDataTypes?(): PersonalDataTypes;
  /** Checks a text. The text is empty only with `checksEmpty`. */
  check(text: string, context: ScanContext): ScannerVerdict | Promise<ScannerVerdict>;
}

/** An example text: the text alone, or with what its verdict depends on. */
export type Example =
  | string
  | {
      text: string;
      /** The prompt that the text answers. */
      prompt?: string;
      /** The source, if it is not the user. The last text of this source in `conversation` is scanned. */
      source?: Source;
      /** The conversation of the text, together with `source`. */
      conversation?: ChatRequest;
      /** Options, in camelCase, in addition to those of all examples. */
      options?: Record<string, unknown>;
      /** The rewritten text, if the scanner rewrites it. */
      sanitized?: string;
    };

/** Example texts of a scanner. They are its first tests, and its documentation shows them. */
export interface Examples {
  /** Options that all examples need, such as the topics of BanTopics. */
  options?: Record<string, unknown>;
  /** The side on which the examples are scanned. The default is the first side of the scanner. */
  side?: Side;
  passes: readonly Example[];
  /** The list is empty for a scanner that never fails a text. */
  fails: readonly Example[];
}

/** The definition of one of guard's own scanners. */
export interface ScannerDefinition<
  Defaults extends object = Record<string, unknown>,
  Shape extends z.ZodRawShape = z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
> {
  /** The name of the scanner in `scanners.yml` and in results, and the name of its class. */
  readonly type: string;
  /** Names of this scanner in older versions of llm-guard. The error about such a name tells the new one. */
  readonly formerly?: readonly string[];
  /** What the scanner does, in one sentence. */
  readonly summary: string;
  /** What else users need to know, as paragraphs of Markdown. */
  readonly description?: string;
  /** The sides of the scanner, each with the defaults that differ between the sides. */
  readonly sides: Readonly<Partial<Record<Side, Defaults>>>;
  /** Returns the options besides `name` and `mode`, which all scanners have. The descriptions of the options become their documentation. */
  options(defaults: Defaults): Shape;
  /** What the scanner checks in conversations besides the latest user message. By default it checks nothing else. */
  readonly conversation?: Scanner["conversation"];
  /** Whether the scanner compares a text with its prompt, so that it needs a prompt. The default is false. */
  readonly comparesWithPrompt?: boolean;
  /** Whether verdicts depend on the outside world; see {@link Scanner.volatile}. The default is false. */
  readonly volatile?: boolean;
  /** Whether the scanner has `detect`, so that its probabilities can add up to the risk of a conversation. The default is false. */
  readonly detects?: boolean;
  /**
   * The name of the option that is a minimum instead of a threshold. It is compared with 1 minus the probability of the verdict: a text
   * passes if that is at least the minimum.
   */
  readonly minimum?: string;
  /** How the scanner differs from llm-guard 0.3.16. */
  readonly differences?: readonly Difference[];
  /** The types of findings, and what their labels mean, if they have labels. */
  readonly findings: readonly { type: string; label?: string }[];
  readonly examples: Examples;
  /**
   * Builds the scanner.
   *
   * @param defaults the defaults of the side.
   * @throws GuardValidationError for options that cannot be used together, and for a model that does not exist.
   */
  create(build: Build<z.output<z.ZodObject<Shape & typeof commonOptions>>>, defaults: Defaults): Body;
}

/**
 * The definition of a scanner of a plugin or a program. It has fewer fields than a {@link ScannerDefinition}, because guard generates no
 * documentation for it, and any library may validate its options. It may be a plain object, so a plugin need not import guard.
 */
export interface PluginScannerDefinition<Options extends object = object, Body extends ScannerBody = ScannerBody>
  extends Pick<
    ScannerDefinition,
    "type" | "summary" | "description" | "conversation" | "comparesWithPrompt" | "detects"
  > {
  /** The sides on which the scanner works: `{ input: {} }`, `{ output: {} }` or both. */
  readonly sides: Readonly<Partial<Record<Side, object>>>;
  /** The schema of the options besides `name` and `mode`, which all scanners have. The default is no other options. */
  readonly options?: OptionsSchema<Options>;
  readonly findings?: ScannerDefinition["findings"];
  readonly examples?: Examples;
  /**
   * Builds the scanner. An error that it throws is an error of the configuration. A {@link GuardValidationError} can name the option.
   */
  create(build: Build<Options & { name?: string | undefined; mode?: ModeSetting | undefined }>): Body;
}

/** A definition of any scanner. */
// biome-ignore lint/suspicious/noExplicitAny: options occur in parameters and in results, so no narrower type fits all definitions.
export type AnyScannerDefinition = ScannerDefinition<any, any, any>;

/** The types of personal data that a scanner looks for. */
export interface PersonalDataTypes {
  /** The known types, in alphabetical order. */
  readonly known: readonly string[];
  /** What looks for them. */
  readonly recognizers: readonly {
    /** The name, as in explanations of findings. */
    readonly id: string;
    readonly types: readonly string[];
    /** Empty for all. */
    readonly languages: readonly string[];
  }[];
  /** Whether there may be others: those of functions of the options, and of a model that is not on this machine yet. */
  readonly hasOthers: boolean;
}

/** A scanner of guard's own. */
export interface BuiltInScanner extends Scanner {
  /** The checked options, with their defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  load(signal?: AbortSignal): Promise<void>;
  /** @throws GuardValidationError for a text or a context of another type. */
  scan(text: string, context?: ScanContext): Promise<Verdict>;
  close(): Promise<void>;
  /**
   * Returns this scanner with more recognizers of personal data. It shares the models of this scanner, and need not be closed. Only scanners
   * that look for personal data have this method.
   */
  withRecognizers?(recognizers: AdHocRecognizers): BuiltInScanner;
  /** Returns this scanner with the option `explain`, always the same one. Only scanners that look for personal data have this method. */
  withExplanations?(): BuiltInScanner;
  /**
   * Returns this scanner for a call that wants only these types, among those that it looks for. Values of other types hide none of them. Only
   * scanners that look for personal data have this method.
   */
  withTypes?(types: readonly string[]): BuiltInScanner;
  /** Returns the types of personal data that this scanner looks for. Only scanners that look for personal data have this method. */
  personalDataTypes?(): PersonalDataTypes;
}

/** The methods that a definition adds to {@link Scanner}: `detect`, if its body has one. */
type Abilities<Body> = Body extends { detect: infer Detect } ? { detect: Detect } : unknown;

/** The class of a scanner on one side. Its constructor throws a GuardValidationError with the path of every option at fault. */
export interface ScannerClass<Options = never, Instance = BuiltInScanner> {
  readonly type: string;
  /** The schema of the options: their types, checks and documentation. The names are in camelCase. */
  readonly options: z.ZodObject;
  readonly definition: AnyScannerDefinition;
  // No comment here, so that editors show the comment of the scanner instead.
  new (options?: Options, environment?: ScannerEnvironment): Instance;
}

/** The class of a scanner with required options. */
export interface ConfiguredScannerClass<Options = never, Instance = BuiltInScanner> extends Omit<ScannerClass, never> {
  // No comment here, so that editors show the comment of the scanner instead.
  new (options: Options, environment?: ScannerEnvironment): Instance;
}

/** The instances of a definition's classes. */
export type InstanceOf<Defined> =
  Defined extends DefinedScanner<never, infer Body> ? BuiltInScanner & Abilities<Body> : BuiltInScanner;

/** A definition and its classes. */
export interface DefinedScanner<Options = never, Body = ScannerBody> {
  readonly definition: AnyScannerDefinition;
  /** The class of each side. Both sides share one class if they have the same defaults. */
  readonly classes: Readonly<Partial<Record<Side, ScannerClass<Options, BuiltInScanner & Abilities<Body>>>>>;
}

/** Tells whether a value is a result of `defineScanner`. */
export function isDefinedScanner(value: unknown): value is DefinedScanner {
  const { definition, classes } = (value ?? {}) as Partial<DefinedScanner>;
  return isRecord(definition) && isRecord(classes);
}
