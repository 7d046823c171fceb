import { setMaxListeners } from "node:events";
import type { z } from "zod";
import {
  ConversationRisk,
  type conversationRiskOptions,
  type DetectingScanner,
  scanConversationTexts,
} from "./conversation.ts";
import { GuardError, GuardValidationError } from "./errors.ts";
import { type Message, readMessages } from "./messages.ts";
import { type NamedScanner, nameScanners, runScanners, type ScanOptions, type ScanReport } from "./scan.ts";
import type { Scanner, Side } from "./scanner.ts";
import { withSignal } from "./support/with-signal.ts";
import type { Vault } from "./vault.ts";

/** Scanners by side. */
export type ScannerLists = Record<Side, readonly Scanner[]>;

/** The limits of a {@link ScanService} and how it scans. */
export interface ScanServiceOptions {
  /** Seconds that a scan of a prompt or of a conversation may take. */
  promptTimeout: number;
  /** Seconds that a scan of an output may take. */
  outputTimeout: number;
  /** Most scans that run at the same time; more are refused. */
  maxScans: number;
  /** Most messages of a conversation, and most texts of users and tools in it. */
  maxMessages: number;
  /** Whether models are loaded by the first scan that needs them. Otherwise {@link ScanService.load} loads them all. */
  lazyLoad: boolean;
  /** Whether a scan ends at the first scanner that fails. */
  failFast: boolean;
  /** What a scanner that throws means: an error of the scan, or a text that fails. */
  onScannerError: "throw" | "block";
  /** Whether a text fails when a part of it, or one of its checks, was left out for whatever reason. */
  requireFullCoverage: boolean;
  /** How conversations are scanned. */
  conversation: {
    /** How many user messages are scanned together; 1 turns that off. */
    window: number;
    /** Whether tool results are scanned. Those that are not to be scanned do not count as left out. */
    scanToolMessages: boolean;
    /** The risk that adds up over the user messages, see {@link ConversationRisk}. */
    risk: { enabled: boolean } & z.input<typeof conversationRiskOptions>;
  };
}

/** What a caller asks for besides its texts. */
export interface ScanRequest {
  /** Names of scanners to leave out, of type or of instance. */
  suppress: readonly string[];
  /** Whether findings and coverage will be shown. Their offsets and lengths are Unicode code points then. */
  details: boolean;
  /** `false`: no text is rewritten, every scanner sees the original. */
  rewrite: boolean;
  /** The vault of this call alone: never one that callers share. */
  vault: Vault;
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
}

/** A report, with the text as the sanitizing scanners left it. */
export type ServiceReport = ScanReport & { text: string };

/**
 * The scans of one program: its scanners, their loading, and the limits on how many scans run and for how long. The HTTP API and
 * the command line scan with it; it knows nothing of either.
 *
 * Its methods reject with a {@link GuardError} whose message is a whole sentence that quotes no text:
 * `GUARD_STARTING` before the models are loaded, `GUARD_UNAVAILABLE` when one could not be loaded, `GUARD_CLOSED` after
 * {@link close}, `GUARD_OVERLOADED` when too many scans run, `GUARD_TIMEOUT` when a scan takes too long, `GUARD_TOO_LARGE` for a
 * conversation of too many messages. They reject with the reason of the caller's signal when it is aborted.
 */
export class ScanService {
  readonly #options: ScanServiceOptions;
  readonly #named: Record<Side, NamedScanner[]>;
  readonly #lists: ScannerLists;
  readonly #risk: ConversationRisk | undefined;
  #notReady: GuardError | undefined = new GuardError(
    "GUARD_STARTING",
    "The service is starting: its models are being loaded.",
  );
  #closing = false;
  /**
   * One controller for each scan that has not ended; it stops that scan. `AbortSignal.any` with a signal as old as the service
   * would do the same, but the old signal would keep something of every scan for as long as the service lives.
   */
  readonly #running = new Set<AbortController>();
  /** Ends the loading of models when the service closes. */
  readonly #closed = new AbortController();

  /**
   * @throws GuardValidationError for a scanner with a reserved name (path `scanners.input.0.name`), and when accumulated risk is
   *   asked for and no scanner can tell it (path `conversation.risk.enabled`).
   */
  constructor(lists: ScannerLists, options: ScanServiceOptions) {
    this.#options = options;
    this.#lists = lists;
    this.#named = {
      input: nameScanners(lists.input, "scanners.input"),
      output: nameScanners(lists.output, "scanners.output"),
    };
    this.#risk = conversationRisk(options, lists.input);
    if (options.lazyLoad) this.#notReady = undefined;
  }

  /** How many scans have not ended yet. Scans that nobody waits for any more but whose scanners still run are among them. */
  get running(): number {
    return this.#running.size;
  }

  /** Whether outputs are restored from the vault of their call. */
  get restores(): boolean {
    return this.#lists.output.some(({ vaultScope, sanitizes }) => vaultScope === "call" && sanitizes);
  }

  /** Why no scan is possible now; undefined when scans are possible. */
  get notReady(): GuardError | undefined {
    return this.#closing ? closedError() : this.#notReady;
  }

  /**
   * Loads what the scanners need, one after the other: side by side they would only compete for the processor.
   *
   * @throws GuardError `GUARD_SCANNER` when a scanner cannot be loaded. The service takes no scans then.
   */
  async load(): Promise<void> {
    if (this.#options.lazyLoad) return;
    for (const { name, scanner } of [...this.#named.input, ...this.#named.output]) {
      try {
        await scanner.load?.(this.#closed.signal);
      } catch (error) {
        if (this.#closing) return;
        this.#notReady = new GuardError("GUARD_UNAVAILABLE", `The scanner ${name} could not be loaded.`);
        throw new GuardError("GUARD_SCANNER", `${name} could not be loaded: ${(error as Error)?.message}`, {
          cause: error,
        });
      }
    }
    this.#notReady = undefined;
  }

  /** Refuses new scans, ends those under way and frees the scanners. */
  async close(): Promise<void> {
    this.#closing = true;
    const reason = closedError();
    this.#closed.abort(reason);
    for (const stop of this.#running) stop.abort(reason);
    await Promise.allSettled(
      [...new Set([...this.#lists.input, ...this.#lists.output])].map((scanner) => scanner.close?.()),
    );
  }

  /** Scans a prompt with the input scanners. */
  prompt(prompt: string, request: ScanRequest): Promise<ServiceReport> {
    return this.#run(this.#options.promptTimeout, request, (options) =>
      runScanners(this.#named.input, prompt, {}, options),
    );
  }

  /** Scans a model's output, which answers `prompt`, with the output scanners. */
  output(prompt: string, output: string, request: ScanRequest): Promise<ServiceReport> {
    return this.#run(this.#options.outputTimeout, request, (options) =>
      runScanners(this.#named.output, output, { prompt }, options),
    );
  }

  /**
   * Scans a conversation with the input scanners, as {@link scanConversation} does.
   *
   * @param messages oldest first, in the format of OpenAI or Anthropic.
   */
  async conversation(messages: readonly Message[], request: ScanRequest): Promise<ServiceReport> {
    const { maxMessages, promptTimeout, conversation } = this.#options;
    const tooMany = () => new GuardError("GUARD_TOO_LARGE", `A conversation may have ${maxMessages} messages at most.`);
    if (messages.length > maxMessages) throw tooMany();
    const texts = readMessages(messages);
    // One message may hold any number of tool results, and each of them is a text to scan.
    if (texts.userTexts.length + texts.toolTexts.length > maxMessages) throw tooMany();
    return this.#run(promptTimeout, request, async (options) => {
      const { sanitizedPrompt, ...report } = await scanConversationTexts(this.#lists.input, texts, {
        ...options,
        window: conversation.window,
        ...(this.#risk ? { risk: this.#risk } : {}),
        ...(conversation.scanToolMessages ? {} : { toolScanners: [] }),
      });
      return { ...report, text: sanitizedPrompt };
    });
  }

  async #run(
    seconds: number,
    { suppress, details, rewrite, vault, signal: caller }: ScanRequest,
    scan: (options: ScanOptions & { rewrite: boolean }) => Promise<ServiceReport>,
  ): Promise<ServiceReport> {
    if (this.notReady) throw this.notReady;
    const { failFast, onScannerError, requireFullCoverage, maxScans } = this.#options;
    if (this.#running.size >= maxScans) throw new GuardError("GUARD_OVERLOADED", "Too many scans are under way.");

    const stop = new AbortController();
    const { signal } = stop;
    // Every scanner of every text may listen to it; Node.js would warn of a leak from eleven listeners on.
    setMaxListeners(0, signal);
    const onAbort = () => stop.abort(caller.reason);
    if (caller.aborted) onAbort();
    else caller.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(
      () => stop.abort(new GuardError("GUARD_TIMEOUT", `The scan took longer than ${seconds} s.`)),
      seconds * 1000,
    );
    this.#running.add(stop);
    const scanned = scan({
      failFast,
      onScannerError,
      suppress,
      rewrite,
      vault,
      offsets: details ? "codePoint" : "utf16",
      signal,
    }).finally(() => this.#running.delete(stop));
    try {
      // A scanner that does not heed the signal must not keep the caller waiting.
      const report = await withSignal(scanned, signal);
      return requireFullCoverage && unscannedReasons(report).length > 0 ? { ...report, isValid: false } : report;
    } finally {
      clearTimeout(timer);
      caller.removeEventListener("abort", onAbort);
      // Nobody waits for what still runs of this scan.
      stop.abort();
    }
  }
}

/** Why not everything was looked at by every scanner, in the words of the coverage; empty when everything was. */
export function unscannedReasons({ coverage }: Pick<ScanReport, "coverage">): string[] {
  const { truncated, scannedChars, chars, partsSkipped, suppressed, failed } = coverage;
  return Object.entries({
    truncated: truncated || scannedChars < chars,
    parts_skipped: partsSkipped > 0,
    suppressed: suppressed.length > 0,
    failed: failed.length > 0,
  }).flatMap(([reason, applies]) => (applies ? [reason] : []));
}

/** The error of a service that takes no scans any more. Whoever tries again finds another instance, or this one started anew. */
export function closedError(): GuardError {
  return new GuardError("GUARD_CLOSED", "The service is closing.");
}

function conversationRisk(
  { conversation }: ScanServiceOptions,
  scanners: readonly Scanner[],
): ConversationRisk | undefined {
  const { enabled, ...options } = conversation.risk;
  if (!enabled) return undefined;
  const scanner = scanners.find(({ detect }) => detect !== undefined);
  if (!scanner) {
    const message = "needs a scanner in input_scanners that tells the probability of an attack";
    throw new GuardValidationError([{ path: "conversation.risk.enabled", message }]);
  }
  return ConversationRisk.fromScanner(scanner as DetectingScanner, options);
}
