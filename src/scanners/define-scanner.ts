import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { defaultEngine } from "../models/engine.ts";
import { toVerdict } from "../scan/checked-verdict.ts";
import { registerScannerClass } from "../scan/known-scanners.ts";
import { acceptLazyContext, LazyContext } from "../scan/lazy-context.ts";
import type { ModeSetting } from "../scan/mode.ts";
import { passed, type ScanContext, type Scanner, type Streaming, type Verdict } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { parseOptions } from "../support/options.ts";
import type { commonOptions } from "./common-options.ts";
import type {
  AnyScannerDefinition,
  Build,
  BuiltInScanner,
  DefinedScanner,
  PluginScannerDefinition,
  ScannerBody,
  ScannerClass,
  ScannerDefinition,
  ScannerEnvironment,
} from "./definition.ts";
import { optionsSchema } from "./options-schema.ts";
import { withModelPath } from "./parts/model-path.ts";
import { checkBody, checkDefinition } from "./plugin-definition.ts";

/**
 * Creates the classes of a scanner from its definition. Each of guard's scanners is one definition, and one line in `registry.ts`. The
 * indexes, the types, the documentation and the schema of `scanners.yml` are generated from the definitions.
 */
export function defineScanner<
  Defaults extends object,
  Shape extends z.ZodRawShape,
  Body extends ScannerBody = ScannerBody,
>(
  definition: ScannerDefinition<Defaults, Shape, Body>,
): DefinedScanner<z.input<z.ZodObject<Shape & typeof commonOptions>>, Body>;
/**
 * Creates the classes of a scanner of a plugin or a program.
 *
 * @throws GuardValidationError with the path of every invalid field.
 */
export function defineScanner<Options extends object, Body extends ScannerBody = ScannerBody>(
  definition: PluginScannerDefinition<Options, Body>,
): DefinedScanner<Record<string, unknown>, Body>;
export function defineScanner(given: AnyScannerDefinition | PluginScannerDefinition<object>): DefinedScanner {
  const isPlugin = !isBuiltIn(given);
  if (isPlugin) checkDefinition(given);
  // Plugins may omit findings and examples.
  const { findings = [], examples = { passes: [], fails: [] } } = given;
  const definition: AnyScannerDefinition = { ...(given as AnyScannerDefinition), findings, examples };
  const { input, output } = definition.sides;
  const classOf = (defaults: object | undefined) => defaults && scannerClass(definition, defaults, isPlugin);
  const ofInput = classOf(input);
  const ofOutput = input && isDeepStrictEqual(input, output) ? ofInput : classOf(output);
  if (ofInput) registerScannerClass(definition.type, "input", ofInput);
  if (ofOutput) registerScannerClass(definition.type, "output", ofOutput);
  return {
    definition,
    classes: { ...(ofInput && { input: ofInput }), ...(ofOutput && { output: ofOutput }) } as never,
  };
}

/** Whether a definition has the form of guard's own, which the compiler checks: a function creates the fields of its options. */
function isBuiltIn({ options }: AnyScannerDefinition | PluginScannerDefinition<object>): boolean {
  return typeof options === "function" && !("~standard" in options);
}

/** @param isPlugin whether each result of `create` is validated. The compiler checks those of guard's own scanners. */
function scannerClass(definition: AnyScannerDefinition, defaults: object, isPlugin: boolean): ScannerClass {
  const { type } = definition;
  const schema = lazy(() => optionsSchema(definition.options, defaults));
  const created = class extends BodyScanner {
    static readonly type = type;
    static readonly definition: AnyScannerDefinition = definition;

    static get options(): z.ZodObject {
      return schema();
    }

    constructor(given?: unknown, { engine = defaultEngine(), toolPins, rememberedPins }: ScannerEnvironment = {}) {
      const resolved = withModelPath(schema(), optionsObject(type, given));
      const options = parseOptions(schema(), resolved.given);
      super(
        definition,
        options as OwnFields,
        createBody({
          ...{ type, schema: schema(), options, engine },
          ...(toolPins && { toolPins }),
          ...(rememberedPins && { rememberedPins }),
        }),
      );

      function createBody(build: Build): ScannerBody {
        let body: ScannerBody;
        try {
          body = definition.create(build as never, defaults);
        } catch (error) {
          throw resolved.renameError(error);
        }
        if (isPlugin) checkBody(definition, body);
        return body;
      }
    }
  };
  // Stack traces and `console.log` show this name.
  Object.defineProperty(created, "name", { value: type });
  return created as unknown as ScannerClass;
}

/** Returns the options of a constructor, and throws for anything but an object. Otherwise a wrong argument would silently mean the defaults. */
function optionsObject(type: string, given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  const prototype: unknown = typeof given === "object" ? Object.getPrototypeOf(given) : undefined;
  if (prototype === Object.prototype || prototype === null) return given as Record<string, unknown>;
  // Objects of another realm, such as a test runner's, have another Object.prototype, whose own prototype is null too.
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

/** The options of all scanners that are fields of them. */
interface OwnFields {
  name?: string | undefined;
  mode?: ModeSetting | undefined;
}

/** What all scanners share: empty texts, and errors of wrong calls. */
abstract class BodyScanner implements BuiltInScanner {
  readonly type: string;
  readonly name: string;
  readonly sanitizes: boolean;
  readonly mode?: ModeSetting;
  readonly reviewThreshold?: number;
  readonly leavesFindings?: boolean;
  readonly vaultScope?: "call" | "own";
  readonly keepsPins?: boolean;
  readonly conversation?: NonNullable<Scanner["conversation"]>;
  readonly comparesWithPrompt?: boolean;
  readonly volatile?: boolean;
  readonly streaming?: Streaming;
  readonly detect?: NonNullable<Scanner["detect"]>;
  readonly withRecognizers?: NonNullable<BuiltInScanner["withRecognizers"]>;
  readonly withExplanations?: NonNullable<BuiltInScanner["withExplanations"]>;
  readonly withTypes?: NonNullable<BuiltInScanner["withTypes"]>;
  readonly personalDataTypes?: NonNullable<BuiltInScanner["personalDataTypes"]>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly #body: ScannerBody;

  protected constructor(definition: AnyScannerDefinition, options: OwnFields, body: ScannerBody) {
    this.type = definition.type;
    this.name = options.name ?? definition.type;
    this.options = options as Record<string, unknown>;
    this.sanitizes = body.sanitizes ?? false;
    if (options.mode !== undefined) this.mode = options.mode;
    if (body.reviewThreshold !== undefined) this.reviewThreshold = body.reviewThreshold;
    if (body.leavesFindings) this.leavesFindings = true;
    if (body.vaultScope) this.vaultScope = body.vaultScope;
    if (body.keepsPins) this.keepsPins = true;
    if (definition.conversation) this.conversation = definition.conversation;
    if (definition.comparesWithPrompt) this.comparesWithPrompt = true;
    if (definition.volatile) this.volatile = true;
    if (body.streaming) this.streaming = body.streaming;
    if (body.detect) this.detect = body.detect;
    const { withRecognizers, withExplanations, withTypes, personalDataTypes } = body;
    if (withRecognizers) {
      this.withRecognizers = (recognizers) => new ScannerVariant(definition, options, withRecognizers(recognizers));
    }
    if (withExplanations) {
      this.withExplanations = lazy(() => new ScannerVariant(definition, options, withExplanations()));
    }
    if (withTypes) this.withTypes = (types) => new ScannerVariant(definition, options, withTypes(types));
    if (personalDataTypes) this.personalDataTypes = personalDataTypes;
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
    // The creator of a lazy context has already checked its signal. Reading the signal here would create it.
    if (!(context instanceof LazyContext)) context.signal?.throwIfAborted();
    if (text === "" && !this.#body.checksEmpty) return passed(text);
    return toVerdict(text, await this.#body.check(text, context));
  }

  static {
    acceptLazyContext(BodyScanner.prototype.scan);
  }
}

/** A scanner with the options of another one, and another body. */
class ScannerVariant extends BodyScanner {
  constructor(definition: AnyScannerDefinition, options: OwnFields, body: ScannerBody) {
    super(definition, options, body);
  }
}
