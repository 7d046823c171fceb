import type { z } from "zod";
import type {
  ConversationReport,
  conversationRiskOptions,
  ScoringFunction,
} from "../conversation/scan-conversation.ts";
import type { DocumentReport } from "../documents/scan-documents.ts";
import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { Edit } from "../scan/edits.ts";
import type { ScanObserver } from "../scan/observer.ts";
import type { Outcome } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";
import type { Scanner } from "../scan/scanner.ts";
import type { ScanGroup } from "../scan/source.ts";
import type { Vault } from "../scan/vault.ts";
import type { StreamOptions } from "../stream/stream-options.ts";
import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { OffsetUnit } from "../text/offsets.ts";

/** The limits of a {@link ScanService}, and the way in which it scans. Durations are milliseconds. */
export interface ScanServiceOptions {
  /** How long a scan of a prompt, of documents or of a conversation may take. */
  promptTimeout: number;
  /** How long a scan of an output may take. */
  outputTimeout: number;
  /** The most scans and open streams at a time, whether they wait or run. Further requests are refused. */
  maxScans: number;
  /** How long a scan may be expected to wait for its turn; see {@link Admission}. By default nothing is refused for its time. */
  maxQueueTime?: number;
  /** The most messages of a conversation, texts of a conversation, and documents of a call. */
  maxMessages: number;
  /** Whether models are loaded by the first scan that needs them. Otherwise {@link ScanService.load} loads all of them. */
  lazyLoad: boolean;
  /** Whether a scan ends at the first scanner that fails. */
  failFast: boolean;
  /** What happens when a scanner throws: the scan rejects with an error, or the text fails. */
  onScannerError: "throw" | "block";
  /** Whether a text fails if a part of it was not scanned, or if a check was skipped for any reason. */
  requireFullCoverage: boolean;
  /** What happens to a request whose model reads texts that are not in it; see `coverage.stateElsewhere`. The default is `allow`. */
  stateful?: "allow" | "refuse";
  /**
   * The scanners, by name or type, whose rewritten text may be used although the original failed; see {@link outcomeOf}. Scanners that
   * replace values by placeholders of a vault always mask. By default, no others do.
   */
  masking?: readonly string[];
  /** How outputs are scanned that arrive in pieces. */
  stream?: StreamOptions;
  /**
   * Checks that models and rules give known texts the expected verdicts, and rejects when they do not; see `Engine.selfTest`. A scanner may
   * have a check of its own besides.
   */
  selfTest?: (signal: AbortSignal) => Promise<void>;
  /** Runs after the service has closed its scanners. */
  onClose?: () => Promise<void>;
  /** The time from one self-test to the next. With 0, the default, there is only the one before the service is ready. */
  selfTestInterval?: number;
  /** How conversations are scanned. */
  conversation: {
    /** How many user messages are scanned together. 1 turns this off. */
    window: number;
    /** Whether tool results are scanned. If not, they do not count as left out. */
    scanToolMessages: boolean;
    /**
     * The names of the scanners that look at texts of a source, or with `history` again at what the model has answered. By default these
     * are the scanners that ask for it.
     */
    scan?: Partial<Record<ScanGroup, readonly string[]>> | undefined;
    /** The risk that accumulates over the user messages, see {@link ConversationRisk}. */
    risk: {
      enabled: boolean;
      /** Scores the messages. By default the first scanner with `detect()` does. */
      scoringFunction?: ScoringFunction | undefined;
    } & z.input<typeof conversationRiskOptions>;
  };
}

/** What a caller of the service passes besides the texts. */
export interface ScanRequest {
  /** The scanners to leave out, by their types or by their names in results. */
  suppress: readonly string[];
  /** Scanners that take the place of others for this call, such as the same ones with another threshold. */
  replacements?: ReadonlyMap<Scanner, Scanner> | undefined;
  /** The unit of offsets and lengths in the report. */
  offsets: OffsetUnit;
  /** With `false`, no text is rewritten and every scanner reads the original. */
  rewrite: boolean;
  /** The vault of this call alone. Callers must never share one. */
  vault: Vault;
  /** Fields of the request beside the texts, which the input scanners read as fields of a request to a model. */
  fields?: Readonly<Record<string, unknown>> | undefined;
  /** The names of fields that nothing reads, for the coverage. */
  unknownFields?: readonly string[] | undefined;
  /** A signal that is aborted when nobody waits for the result any more. */
  signal?: AbortSignal | undefined;
  /** The same where it belongs to this call alone. The service then needs none of its own. */
  stop?: LazyAbortController | undefined;
  /** Is told of the scanners and models of this call. */
  observer?: ScanObserver | undefined;
  /**
   * The tenant: a text that tells callers apart. Cached results of one caller are never used for another one, who could tell from the time of
   * an answer what the first one sent. Calls without it share one cache.
   */
  caller?: string | undefined;
  /** Whose turns the scan takes when scans have to wait. By default the caller's. */
  turn?: string | undefined;
}

/** A report with the text as the scanners rewrote it. */
export interface ServiceReport
  extends ScanReport,
    Partial<Pick<ConversationReport, "sanitizedMessages" | "sanitizedTools" | "sanitizedSystem" | "sanitizedFields">> {
  text: string;
  /** The edits that turn a single text into {@link text}. It is absent for conversations, documents and streams. */
  edits?: readonly Edit[];
  /** What happens to the text, or to all texts of the call. */
  outcome: Outcome;
  /** The scanners that ran at the end of an output that arrived in pieces, because they need all of it. */
  atEnd?: string[];
  /** The tool calls of an output as they may be made, with restored values in their arguments. */
  sanitizedToolCalls?: AnsweredToolCall[];
  /** The results of each document, where documents were scanned. The report itself then has the worst results of all of them. */
  documents?: ServiceDocument[];
  /** The strings of a message, where one was scanned and rewritten. */
  strings?: readonly string[];
}

/** The results for a document. The text is there when it may have been rewritten or masked. */
export type ServiceDocument = Omit<DocumentReport, "sanitizedText"> & Partial<Pick<DocumentReport, "sanitizedText">>;

/** What a call scans. */
export type ScanKind = "prompt" | "output" | "conversation" | "documents";
