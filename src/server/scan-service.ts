import { setMaxListeners } from "node:events";
import type { Config, ScannerLists } from "../config/index.ts";
import { ConversationRisk, type DetectingScanner, scanConversation } from "../conversation.ts";
import { GuardError, GuardValidationError } from "../errors.ts";
import type { Message } from "../messages.ts";
import { type NamedScanner, nameScanners, runScanners, type ScanOptions, type ScanReport } from "../scan.ts";
import type { Scanner, Side } from "../scanner.ts";
import type { Vault } from "../vault.ts";
import { Problem, unavailable } from "./problem.ts";

/** What a request asks for besides its texts. */
export interface ScanRequest {
  suppress: readonly string[];
  /** Whether findings and coverage will be shown, in code points. */
  details: boolean;
  /** `false`: nothing is rewritten. */
  rewrite: boolean;
  /** This call's own. */
  vault: Vault;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
}

/** A report, with the text as the sanitizing scanners left it. */
export type ServedReport = ScanReport & { text: string };

/** The scans of one server: its scanners, their loading, and the limits on how many scans run and for how long. */
export class ScanService {
  readonly #config: Config;
  readonly #named: Record<Side, NamedScanner[]>;
  readonly #lists: ScannerLists;
  readonly #risk: ConversationRisk | undefined;
  /** Undefined when ready. */
  #notReady: Problem | undefined = unavailable("The service is starting: its models are being loaded.", 5);
  #closing = false;
  /**
   * What stops each scan that has not ended. `AbortSignal.any` with a signal as old as the service would do the same, and keep
   * something of every scan for as long as the service lives.
   */
  readonly #running = new Set<AbortController>();
  readonly #closed = new AbortController();

  /** @throws GuardValidationError for a name that is reserved, and when accumulated risk is asked for and no scanner can tell it. */
  constructor(config: Config, lists: ScannerLists) {
    this.#config = config;
    this.#lists = lists;
    this.#named = {
      input: nameScanners(lists.input, "scanners.input"),
      output: nameScanners(lists.output, "scanners.output"),
    };
    this.#risk = conversationRisk(config, lists.input);
    if (config.app.lazyLoad) this.#notReady = undefined;
  }

  /** Scans that have not ended yet, those included whose client has its answer already. */
  get running(): number {
    return this.#running.size;
  }

  /** Whether outputs are restored from the vault of their call. */
  get restores(): boolean {
    return this.#lists.output.some(({ vaultScope, sanitizes }) => vaultScope === "call" && sanitizes);
  }

  /** Why no scan is possible now. */
  get notReady(): Problem | undefined {
    return this.#closing ? closingProblem() : this.#notReady;
  }

  /** Loads what the scanners need, one after the other: side by side they would only compete for the processor. */
  async load(): Promise<void> {
    if (this.#config.app.lazyLoad) return;
    for (const { name, scanner } of [...this.#named.input, ...this.#named.output]) {
      try {
        await scanner.load?.(this.#closed.signal);
      } catch (error) {
        if (this.#closing) return;
        this.#notReady = new Problem(503, `The scanner ${name} could not be loaded.`);
        throw new GuardError("GUARD_SCANNER", `${name} could not be loaded: ${(error as Error)?.message}`, {
          cause: error,
        });
      }
    }
    this.#notReady = undefined;
  }

  /** Refuses new scans and frees the scanners. */
  async close(): Promise<void> {
    this.#closing = true;
    const reason = new GuardError("GUARD_CLOSED", "the service is closed");
    this.#closed.abort(reason);
    for (const stop of this.#running) stop.abort(reason);
    await Promise.allSettled(
      [...new Set([...this.#lists.input, ...this.#lists.output])].map((scanner) => scanner.close?.()),
    );
  }

  prompt(prompt: string, request: ScanRequest): Promise<ServedReport> {
    return this.#run(this.#config.app.scanPromptTimeout, request, (options) =>
      runScanners(this.#named.input, prompt, {}, options),
    );
  }

  output(prompt: string, output: string, request: ScanRequest): Promise<ServedReport> {
    return this.#run(this.#config.app.scanOutputTimeout, request, (options) =>
      runScanners(this.#named.output, output, { prompt }, options),
    );
  }

  conversation(messages: readonly Message[], request: ScanRequest): Promise<ServedReport> {
    const { window, scanToolMessages } = this.#config.conversation;
    return this.#run(this.#config.app.scanPromptTimeout, request, async (options) => {
      const { sanitizedPrompt, ...report } = await scanConversation(this.#lists.input, messages, {
        ...options,
        window,
        ...(this.#risk ? { risk: this.#risk } : {}),
        ...(scanToolMessages ? {} : { toolScanners: [] }),
      });
      return { ...report, text: sanitizedPrompt };
    });
  }

  async #run(
    seconds: number,
    { suppress, details, rewrite, vault, signal: client }: ScanRequest,
    scan: (options: ScanOptions & { rewrite: boolean }) => Promise<ServedReport>,
  ): Promise<ServedReport> {
    if (this.notReady) throw this.notReady;
    const { scanFailFast, onScannerError, requireFullCoverage, queueSize } = this.#config.app;
    if (this.#running.size >= queueSize) throw unavailable("Too many scans are under way.", 1);

    const stop = new AbortController();
    const { signal } = stop;
    // Every scanner of every text may listen.
    setMaxListeners(0, signal);
    const onGone = () => stop.abort(client.reason);
    if (client.aborted) onGone();
    else client.addEventListener("abort", onGone, { once: true });
    const timer = setTimeout(
      () => stop.abort(new Problem(504, `The scan took longer than ${seconds} s.`)),
      seconds * 1000,
    );
    this.#running.add(stop);
    const scanned = scan({
      failFast: scanFailFast,
      onScannerError: onScannerError === "block" ? "block" : "throw",
      suppress,
      rewrite,
      vault,
      offsets: details ? "codePoint" : "utf16",
      signal,
    }).finally(() => this.#running.delete(stop));
    try {
      // A scanner that does not heed the signal must not keep the client waiting.
      const report = await Promise.race([scanned, rejectedBy(signal)]);
      return requireFullCoverage && !isComplete(report) ? { ...report, isValid: false } : report;
    } finally {
      clearTimeout(timer);
      client.removeEventListener("abort", onGone);
      // Whatever of it still runs, runs for nobody.
      stop.abort();
      scanned.catch(() => {});
    }
  }
}

/** Whether everything was looked at by every scanner. What a request suppressed was not. */
export function isComplete({ coverage }: ScanReport): boolean {
  return unscannedReasons({ coverage }).length === 0;
}

/** Why not everything was looked at. */
export function unscannedReasons({ coverage }: Pick<ScanReport, "coverage">): string[] {
  const { truncated, scannedChars, chars, partsSkipped, suppressed, failed } = coverage;
  return Object.entries({
    truncated: truncated || scannedChars < chars,
    parts_skipped: partsSkipped > 0,
    suppressed: suppressed.length > 0,
    failed: failed.length > 0,
  }).flatMap(([reason, applies]) => (applies ? [reason] : []));
}

/** Whoever tries again finds another instance, or this one started anew. */
export function closingProblem(): Problem {
  return unavailable("The service is closing.", 5);
}

function conversationRisk({ conversation }: Config, scanners: readonly Scanner[]): ConversationRisk | undefined {
  const { enabled, ...options } = conversation.risk;
  if (!enabled) return undefined;
  const scanner = scanners.find(({ detect }) => detect !== undefined);
  if (!scanner) {
    const message = "needs a scanner in input_scanners that tells the probability of an attack";
    throw new GuardValidationError([{ path: "conversation.risk.enabled", message }]);
  }
  return ConversationRisk.fromScanner(scanner as DetectingScanner, options);
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
