import type { z } from "zod";
import type {
  ConversationReport,
  conversationRiskOptions,
  ScoringFunction,
} from "../conversation/scan-conversation.ts";
import type { DocumentReport } from "../documents/scan-documents.ts";
import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { Edit } from "../scan/edits.ts";
import type { Exceptions } from "../scan/exceptions/exceptions.ts";
import type { ModeSetting } from "../scan/mode.ts";
import type { ScanObserver } from "../scan/observer.ts";
import type { MonitoredOutcome, Outcome, ReviewPolicy } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";
import type { Scanner } from "../scan/scanner.ts";
import type { ScanGroup } from "../scan/source.ts";
import type { Vault } from "../scan/vault.ts";
import type { StreamOptions } from "../stream/stream-options.ts";
import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { OffsetUnit } from "../text/offsets.ts";
import type { Review } from "./review-desk.ts";

/** The limits and settings of a {@link ScanService}. Durations are milliseconds. */
export interface ScanServiceOptions {
  /** The time limit of a scan of a prompt, of documents or of a conversation. */
  promptTimeout: number;
  /** The time limit of a scan of an output. */
  outputTimeout: number;
  /** The maximum number of scans and open streams, waiting and running together. Further requests are refused. */
  maxScans: number;
  /** The longest expected wait for a slot; see {@link Admission}. By default, no request is refused because of its wait. */
  maxQueueTime?: number;
  /** The maximum number of messages or texts of a conversation, and of documents of a call. */
  maxMessages: number;
  /** Whether models are loaded by the first scan that needs them. Otherwise {@link ScanService.load} loads all of them. */
  lazyLoad: boolean;
  /** Whether a scan ends at the first scanner that fails. */
  failFast: boolean;
  /** What happens if a scanner throws: the scan rejects with an error, or the text fails. */
  onScannerError: "throw" | "block";
  /** Whether a text fails if a part of it was not scanned, or if a check was skipped for any reason. */
  requireFullCoverage: boolean;
  /** What happens to a request whose model reads texts from elsewhere; see `coverage.stateElsewhere`. The default is `allow`. */
  stateful?: "allow" | "refuse";
  /**
   * The scanners, by name or type, whose rewritten text may be used although the original failed; see {@link outcomeOf}. Scanners that
   * replace values by placeholders of a vault always mask. By default, no others do.
   */
  masking?: readonly string[];
  /** What happens to texts that a person should judge. The default is `hold`. */
  review?: ReviewPolicy | undefined;
  /** Texts and passages that scanners must not fail. They may change while the service runs. */
  exceptions?: Exceptions | undefined;
  /** The mode of all scanners. Of it and that of a scanner, the least strict wins. The default is `enforce`. */
  mode?: ModeSetting | undefined;
  /** How outputs are scanned that arrive in pieces. */
  stream?: StreamOptions;
  /**
   * Checks that models and rules give known texts the expected verdicts, and rejects if they do not; see `Engine.selfTest`. A scanner may
   * also have its own self-test.
   */
  selfTest?: (signal: AbortSignal) => Promise<void>;
  /** Runs after the service has closed its scanners. */
  onClose?: () => Promise<void>;
  /** The interval between self-tests. 0, the default, runs only the self-test before the service is ready. */
  selfTestInterval?: number;
  /** How conversations are scanned. */
  conversation: {
    /** The number of user messages that are scanned together. 1 turns this off. */
    window: number;
    /** Whether tool results are scanned. If not, they do not count as unscanned. */
    scanToolMessages: boolean;
    /**
     * The names of the scanners for each source, and for `history`: texts that the model has already answered. By default, scanners
     * choose their sources.
     */
    scan?: Partial<Record<ScanGroup, readonly string[]>> | undefined;
    /** The risk that accumulates over the user messages; see {@link ConversationRisk}. */
    risk: {
      enabled: boolean;
      /** Scores the messages. By default, the first scanner with `detect()` does. */
      scoringFunction?: ScoringFunction | undefined;
    } & z.input<typeof conversationRiskOptions>;
  };
}

/** The options of one call of the service. */
export interface ScanRequest {
  /** The scanners to skip, by type or by name in results. */
  suppress: readonly string[];
  /** Scanners that replace others for this call, such as the same scanner with another threshold. */
  replacements?: ReadonlyMap<Scanner, Scanner> | undefined;
  /** Whether all scanners run, also with {@link ScanServiceOptions.failFast}: the caller needs all findings. */
  runAll?: boolean | undefined;
  /** The unit of offsets and lengths in the report. */
  offsets: OffsetUnit;
  /** With `false`, no text is rewritten and every scanner reads the original. */
  rewrite: boolean;
  /** The vault of this call. Callers must never share a vault. */
  vault: Vault;
  /** Fields of a model request besides the texts. Input scanners read them. */
  fields?: Readonly<Record<string, unknown>> | undefined;
  /** The names of fields that guard does not know, for the coverage. */
  unknownFields?: readonly string[] | undefined;
  /** Aborted when nobody waits for the result any more. */
  signal?: AbortSignal | undefined;
  /** A controller for this call alone, instead of {@link signal}. The service then creates none. */
  stop?: LazyAbortController | undefined;
  /** Receives the start and the end of scanners and models in this call. */
  observer?: ScanObserver | undefined;
  /**
   * The tenant. Results that were cached for one caller are never used for another, who could otherwise learn from the response time what
   * the first one sent. Calls without a caller share one cache.
   */
  caller?: string | undefined;
  /** The name of the caller's credential, for exceptions. */
  credential?: string | undefined;
  /** The key for fair queueing. By default, the caller. */
  turn?: string | undefined;
}

/** A report with the sanitized text. */
export interface ServiceReport
  extends ScanReport,
    MonitoredOutcome,
    Partial<Pick<ConversationReport, "sanitizedMessages" | "sanitizedTools" | "sanitizedSystem" | "sanitizedFields">> {
  text: string;
  /** The edits that turn a single text into {@link text}. It is absent for conversations, documents and streams. */
  edits?: readonly Edit[];
  /** The decision about the text, or about all texts of the call. */
  outcome: Outcome;
  /** The reviews of texts that a person should judge. Absent if there are none, and without a server that keeps them. */
  reviews?: readonly Review[];
  /** The scanners that ran only at the end of a streamed output, because they need all of it. */
  atEnd?: string[];
  /** The tool calls of an output, with restored values in their arguments. */
  sanitizedToolCalls?: AnsweredToolCall[];
  /** The results of each document in a scan of documents. The report itself then has the worst results of all documents. */
  documents?: ServiceDocument[];
  /** The sanitized strings of a message, if any was rewritten. */
  strings?: readonly string[];
}

/** The results for a document. The text is present if it may have been rewritten or masked. */
export type ServiceDocument = Omit<DocumentReport, "sanitizedText"> & Partial<Pick<DocumentReport, "sanitizedText">>;

/** The kinds of scans. */
export type ScanKind = "prompt" | "output" | "conversation" | "documents";
