import { buildScanners, type Config, checkConfig, loadConfig } from "../config/index.ts";
import { scannerWithPlugins } from "../config/plugins.ts";
import { serviceOptions } from "../config/service-options.ts";
import { Engine } from "../models/engine.ts";
import type { EngineOptions } from "../models/engine-options.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { Scanner, Side } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { Vault } from "../scan/vault.ts";
import { createScanner, scannerClasses } from "../scanners/catalog.ts";
import {
  type Answer,
  answerOf,
  type DocumentId,
  type DocumentsAnswer,
  documentsAnswerOf,
} from "../service/json-report.ts";
import { ScanService } from "../service/service.ts";
import type { ScannerLists, ServiceReport } from "../service/service-types.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";

/** The largest capacity that the queue of a model can have: an unsigned integer of 32 bits. */
const UNLIMITED = 2 ** 32 - 1;

/** What is scanned: a prompt, an output with the prompt that it answers, a conversation, or documents. */
export type Subject =
  | { kind: "prompt"; text: string; source?: Source }
  | { kind: "output"; prompt: string; text: string }
  | { kind: "conversation"; chat: ChatRequest }
  | { kind: "documents"; documents: readonly { id?: DocumentId; text: string }[]; source?: Source };

/** A scanner that the command line asks for. */
export interface Choice {
  type: string;
  params: Record<string, unknown>;
}

/** Scanners of both sides, run as the server runs them: with its settings for conversations, errors and coverage. */
export class Suite {
  /** The scanners of both sides, such as to ask each by itself. */
  readonly lists: ScannerLists;
  readonly #service: ScanService;
  /** Why a side cannot be scanned. A text that no scanner looks at must not pass. */
  readonly #missing: Partial<Record<Side, GuardValidationError>>;

  private constructor(config: Config, lists: ScannerLists, missing: Partial<Record<Side, GuardValidationError>>) {
    // Only the models of the side that is scanned are loaded, by the first scan. How many scans run at a time is up to us: what
    // protects a server from its clients must not refuse what we ask ourselves.
    const unlimited = {
      lazyLoad: true,
      maxScans: UNLIMITED,
      maxQueueTime: Number.POSITIVE_INFINITY,
      maxMessages: UNLIMITED,
    };
    this.lists = lists;
    this.#service = new ScanService(lists, { ...serviceOptions(config), ...unlimited });
    this.#missing = missing;
  }

  /**
   * The scanners of a configuration file.
   *
   * @throws GuardValidationError with the path of every value at fault.
   */
  static async fromConfig(path: string): Promise<Suite> {
    const config = await loadConfig(path);
    const lists = buildScanners(config, { engine: unlimitedEngine({ maxWindows: config.app.maxWindows }) });
    const none = (side: Side) => ({ [side]: invalid(`${path} has no ${side} scanners: every text would pass`) });
    return new Suite(config, lists, {
      ...(lists.input.length === 0 ? none("input") : {}),
      ...(lists.output.length === 0 ? none("output") : {}),
    });
  }

  /**
   * Scanners by name, or plugins. Not every scanner has both sides: which of them are needed shows when a text is scanned.
   *
   * @throws GuardValidationError when they fit neither side.
   */
  static async fromChoices(choices: readonly Choice[]): Promise<Suite> {
    const engine = unlimitedEngine();
    const [input, output] = [await build("input", choices, engine), await build("output", choices, engine)];
    if (input.error && output.error) {
      // The side that a scanner has knows more of what is wrong with it.
      throw input.isOtherSide && !output.isOtherSide ? output.error : input.error;
    }
    return new Suite(
      checkConfig({ app: { scanPromptTimeout: 3600, scanOutputTimeout: 3600 } }),
      { input: input.scanners, output: output.scanners },
      { ...(input.error ? { input: input.error } : {}), ...(output.error ? { output: output.error } : {}) },
    );
  }

  /**
   * Scans a subject.
   *
   * @param maskInjections whether injections are cut out of documents.
   */
  async scan(subject: Subject, details: boolean, maskInjections = false): Promise<Answer | DocumentsAnswer> {
    if (maskInjections && subject.kind !== "documents") {
      throw new TypeError("--mask-injections is for documents: expected an object with a list of documents");
    }
    const report = await this.judge(subject, details, maskInjections);
    switch (subject.kind) {
      case "prompt":
      case "conversation":
        return answerOf(report, details, "sanitized_prompt");
      case "output":
        return answerOf(report, details, "sanitized_output");
      case "documents": {
        const ids = subject.documents.map(({ id }) => id);
        return documentsAnswerOf(report, ids, details);
      }
    }
  }

  /**
   * Scans a subject, and returns the report itself.
   *
   * @param details whether offsets count Unicode code points.
   * @throws GuardValidationError where no scanner looks at such a text: it must not pass.
   */
  async judge(subject: Subject, details = false, maskInjections = false): Promise<ServiceReport> {
    const missing = this.#missing[subject.kind === "output" ? "output" : "input"];
    if (missing) throw missing;
    const { signal } = new AbortController();
    const offsets = details ? ("codePoint" as const) : ("utf16" as const);
    const request = { suppress: [], offsets, rewrite: true, vault: new Vault(), signal };
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

  /** Frees the models; scans under way are stopped. */
  close(): Promise<void> {
    return this.#service.close();
  }
}

/** An engine whose models take as many texts as we ask; whatever the queue holds, we wait for it. */
function unlimitedEngine(options: EngineOptions = {}): Engine {
  return Engine.fromEnvironment(process.env, { ...options, queueCapacity: UNLIMITED });
}

/** The scanners of a side, or why they cannot be built. */
interface Built {
  scanners: Scanner[];
  error?: GuardValidationError;
  /** Whether the error is only that the side does not have them. */
  isOtherSide?: boolean;
}

async function build(side: Side, choices: readonly Choice[], engine: Engine): Promise<Built> {
  const issues: ValidationIssue[] = [];
  let isOtherSide = true;
  const scanners: Scanner[] = [];
  for (const choice of choices) {
    const classes = { input: scannerClasses("input"), output: scannerClasses("output") };
    if (!classes[side].has(choice.type) && classes[side === "input" ? "output" : "input"].has(choice.type)) {
      issues.push({ path: choice.type, message: WAY_OUT[side] });
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

/** Says what a text needs so that scanners of the other side can look at it. */
const WAY_OUT: Readonly<Record<Side, string>> = {
  input: "it checks what a model answers, so it needs the prompt: --output-of PROMPT, or a line with prompt and output",
  output: "it checks prompts only: leave out --output-of, or give a line with prompt alone",
};

function invalid(message: string): GuardValidationError {
  return new GuardValidationError([{ path: "", message }]);
}
