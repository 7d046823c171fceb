import { checkConfig, loadConfig } from "../config/index.ts";
import { scannerWithPlugins } from "../config/plugins.ts";
import { readsSource } from "../conversation/conversation-scanners.ts";
import { Engine } from "../models/engine.ts";
import type { EngineOptions } from "../models/engine-options.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { Scanner, ScannerLists, Side } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { Vault } from "../scan/vault.ts";
import { NO_TAKER, takesRecognizers } from "../scanners/add-recognizers.ts";
import { createScanner, scannerClasses } from "../scanners/catalog.ts";
import { type AdHocRecognizer, AdHocRecognizers } from "../scanners/parts/ad-hoc-recognizers.ts";
import { createService } from "../service/create-service.ts";
import {
  type DocumentId,
  type JsonDocumentsReport,
  type JsonReport,
  jsonDocumentsReport,
  jsonReport,
} from "../service/json-report.ts";
import type { ScanService } from "../service/service.ts";
import type { ServiceReport } from "../service/service-types.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";

/** The largest capacity of a model's queue: an unsigned 32-bit integer. */
const UNLIMITED = 2 ** 32 - 1;

/**
 * The first scan of a side loads its models. The limits that protect a server from its clients do not apply here: the command itself
 * decides how many scans run at once.
 */
const SETTINGS = {
  lazyLoad: true,
  maxScans: UNLIMITED,
  maxQueueTime: Number.POSITIVE_INFINITY,
  maxMessages: UNLIMITED,
};

/** What a scan checks: a prompt, an output with its prompt, a conversation, or documents. */
export type Subject =
  | { kind: "prompt"; text: string; source?: Source }
  | { kind: "output"; prompt: string; text: string }
  | { kind: "conversation"; chat: ChatRequest }
  | { kind: "documents"; documents: readonly { id?: DocumentId; text: string }[]; source?: Source };

/** A scanner that the command line names. */
export interface ScannerChoice {
  type: string;
  params: Record<string, unknown>;
}

/** The scanners of both sides, with the settings of a server for conversations, errors and coverage, but without its limits. */
export class Suite {
  readonly #service: ScanService;
  /** The error of a side without scanners: its texts would all pass. */
  readonly #missing: Partial<Record<Side, GuardValidationError>>;
  /** The scanners that use added recognizers, by the scanners that they replace. */
  #replacements: ReadonlyMap<Scanner, Scanner> | undefined;

  private constructor(service: ScanService, missing: Partial<Record<Side, GuardValidationError>>) {
    this.#service = service;
    this.#missing = missing;
  }

  /** The scanners of each side. */
  get lists(): ScannerLists {
    return this.#service.lists;
  }

  /**
   * The scanners of a configuration file.
   *
   * @throws GuardValidationError with the path of every value at fault.
   */
  static async fromConfig(path: string): Promise<Suite> {
    const config = await loadConfig(path);
    const engine = unlimitedEngine({ maxWindows: config.app.maxWindows });
    const service = createService(config, { engine, settings: SETTINGS, selfTest: false });
    const { lists } = service;
    const missing = (side: Side) => ({ [side]: sideError(`${path} has no ${side} scanners: every text would pass`) });
    return new Suite(service, {
      ...(lists.input.length === 0 ? missing("input") : {}),
      ...(lists.output.length === 0 ? missing("output") : {}),
    });
  }

  /**
   * Scanners by name, or plugins. Some scanners have one side only; a missing side is an error when a text of that side is scanned.
   *
   * @throws GuardValidationError if neither side has all of the scanners.
   */
  static async fromChoices(choices: readonly ScannerChoice[]): Promise<Suite> {
    const engine = unlimitedEngine();
    const [input, output] = [await build("input", choices, engine), await build("output", choices, engine)];
    if (input.error && output.error) {
      // The error of the side that has the scanner says more.
      throw input.isOtherSide && !output.isOtherSide ? output.error : input.error;
    }
    // A scanner that is named also reads documents and results of tools, whatever it reads by default.
    const tool = input.scanners.filter((scanner) => readsSource(scanner, "user") || readsSource(scanner, "tool"));
    const config = checkConfig({
      app: { scanPromptTimeout: 3600, scanOutputTimeout: 3600 },
      conversation: { scan: { tool: [...new Set(tool.map(({ type }) => type))] } },
    });
    const service = createService(config, {
      engine,
      scanners: { input: input.scanners, output: output.scanners },
      settings: SETTINGS,
      selfTest: false,
    });
    return new Suite(service, {
      ...(input.error ? { input: input.error } : {}),
      ...(output.error ? { output: output.error } : {}),
    });
  }

  /**
   * Adds recognizers of personal data to the scanners of both sides.
   *
   * @param given recognizers in the JSON of Presidio's `ad_hoc_recognizers`.
   * @throws GuardValidationError with the path of every invalid value, and if no scanner looks for personal data.
   */
  addRecognizers(given: readonly AdHocRecognizer[]): void {
    const recognizers = new AdHocRecognizers(given);
    const { input, output } = this.lists;
    const takers = [...input, ...output].filter(takesRecognizers);
    if (takers.length === 0) throw sideError(NO_TAKER);
    this.#replacements = new Map(takers.map((scanner) => [scanner, scanner.withRecognizers(recognizers)]));
  }

  /**
   * Scans a subject.
   *
   * @param maskInjections whether to cut injections out of documents.
   */
  async scan(subject: Subject, details: boolean, maskInjections = false): Promise<JsonReport | JsonDocumentsReport> {
    if (maskInjections && subject.kind !== "documents") {
      throw new TypeError("--mask-injections is for documents: expected an object with a list of documents");
    }
    const report = await this.judge(subject, details, maskInjections);
    switch (subject.kind) {
      case "prompt":
      case "conversation":
        return jsonReport(report, details, "sanitized_prompt");
      case "output":
        return jsonReport(report, details, "sanitized_output");
      case "documents": {
        const ids = subject.documents.map(({ id }) => id);
        return jsonDocumentsReport(report, ids, details);
      }
    }
  }

  /**
   * Scans a subject and returns the report of the service.
   *
   * @param details whether to convert offsets to Unicode code points.
   * @throws GuardValidationError if the side of the subject has no scanners.
   */
  async judge(subject: Subject, details = false, maskInjections = false): Promise<ServiceReport> {
    const side = subject.kind === "output" ? "output" : "input";
    const missing = this.#missing[side];
    if (missing) throw missing;
    const replacements = this.#replacements;
    if (replacements && !this.lists[side].some((scanner) => replacements.has(scanner))) throw sideError(NO_TAKER);
    const { signal } = new AbortController();
    const offsets = details ? ("codePoint" as const) : ("utf16" as const);
    const request = { suppress: [], replacements, offsets, rewrite: true, vault: new Vault(), signal };
    switch (subject.kind) {
      case "prompt":
        return this.#service.prompt(subject.text, request, subject.source);
      case "output":
        return this.#service.output(subject.prompt, subject.text, request);
      case "conversation":
        return this.#service.conversation(subject.chat, request);
      case "documents": {
        const { documents, source = "tool" } = subject;
        const texts = documents.map(({ text }) => text);
        return this.#service.documents(texts, request, { maskInjections, source });
      }
    }
  }

  /** Stops running scans and frees the models. */
  close(): Promise<void> {
    return this.#service.close();
  }
}

/** An engine whose queues accept any number of texts. */
function unlimitedEngine(options: EngineOptions = {}): Engine {
  return Engine.fromEnvironment(process.env, { ...options, queueCapacity: UNLIMITED });
}

/** The scanners of a side, or the error if they cannot be built. */
interface SideScanners {
  scanners: Scanner[];
  error?: GuardValidationError;
  /** Whether the only problem is that the scanners belong to the other side. */
  isOtherSide?: boolean;
}

async function build(side: Side, choices: readonly ScannerChoice[], engine: Engine): Promise<SideScanners> {
  const issues: ValidationIssue[] = [];
  let isOtherSide = true;
  const scanners: Scanner[] = [];
  for (const choice of choices) {
    const classes = { input: scannerClasses("input"), output: scannerClasses("output") };
    if (!classes[side].has(choice.type) && classes[side === "input" ? "output" : "input"].has(choice.type)) {
      issues.push({ path: choice.type, message: OTHER_SIDE[side] });
      continue;
    }
    try {
      const { type, params } = await scannerWithPlugins(side, choice, ".");
      scanners.push(createScanner(side, type, params, { engine }));
    } catch (error) {
      if (!(error instanceof GuardValidationError)) throw error;
      isOtherSide = false;
      issues.push(...error.within(choice.type).issues);
    }
  }
  return issues.length > 0 ? { scanners: [], error: new GuardValidationError(issues), isOtherSide } : { scanners };
}

/** The advice for a scanner that the side of the text does not have. */
const OTHER_SIDE: Readonly<Record<Side, string>> = {
  input: "it checks outputs, which need their prompt: --output-of PROMPT, or a line with prompt and output",
  output: "it checks prompts: leave out --output-of, or give a line with prompt only",
};

function sideError(message: string): GuardValidationError {
  return new GuardValidationError([{ path: "", message }]);
}
