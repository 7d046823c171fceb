import type { AnswerCache, CallContext } from "../models/call-context.ts";
import type { Span } from "../text/span.ts";
import type { MessageText } from "./conversation-text.ts";
import type { Edit } from "./edits.ts";
import type { ModeSetting } from "./mode.ts";
import { PASSED } from "./score.ts";
import type { Source } from "./source.ts";
import type { Vault } from "./vault.ts";

/** The direction of a text: `input` goes to the model, `output` comes from it. */
export type Side = "input" | "output";

/** The lists of scanners, by side. */
export type ScannerLists = Record<Side, readonly Scanner[]>;

/**
 * A reason for a scanner's decision. Offsets count UTF-16 code units of the scanned text, and in results of a conversation those of the
 * string at `path`.
 */
export interface Finding extends Span {
  /** The kind of finding: `pattern`, `substring`, `injection`, ... */
  type: string;
  /** The quoted text. Absent if the scanner does not point at a part of the text. */
  text?: string;
  /** The confidence of the scanner, 0..1. */
  score: number;
  /** The label of the classifier, or the rule that matched. */
  label?: string;
  /** The service of a credential. */
  service?: string;
  /** `form-only`: a number beside its own name has the right form and a wrong checksum. It is absent otherwise. */
  evidence?: string;
  /** Why the scanner reports it. Present with the option `explain`, and for ad-hoc recognizers. */
  explanation?: Explanation;
  /**
   * The view that contains the finding, if the original text does not: `normalized`, `base64`, `base64>rot13`, ... The disguise that was
   * undone first comes first.
   */
  view?: string;
  /** The index of the message, in results of a conversation. Absent for texts outside the messages, such as `tools`. */
  message?: number;
  /**
   * The path of the string, in results of a conversation: `messages/5/content → results[2].description`. For a finding across several
   * strings it is the path of all of them, and the offsets count in these strings joined by line breaks.
   */
  path?: string;
}

/** Why a scanner reports a finding. It quotes nothing of the text. */
export interface Explanation {
  /**
   * What found it: an embedded recognizer or rule, a pattern of the options (`pattern`), a model, a function of the options (`function`),
   * the list of hidden names (`names`), or a recognizer of the call (`ad_hoc_recognizer`).
   */
  by: "recognizer" | "rule" | "pattern" | "model" | "function" | "names" | "ad_hoc_recognizer";
  /** The id of the recognizer or rule, the name of the pattern or model, or the option with the function or the names. */
  id: string;
  /** The name of the pattern of an ad-hoc recognizer. Absent for its deny list. */
  pattern?: string;
  /**
   * The context word near the value that raised the score, or the name directly before the value. It is the word of the recognizer, in lower
   * case, which may be the beginning of the word in the text.
   */
  context?: string;
  /** The check of the value, such as its checksum, and whether the value has passed it. Absent if its recognizer has none. */
  check?: { id: string; passed: boolean };
}

/** How much of a text a scanner scanned, and how many findings it reports. */
export interface Coverage {
  /** Length of the text in UTF-16 code units. */
  chars: number;
  /** The number of scanned code units. */
  scannedChars: number;
  /** Whether a part of the text was not scanned. */
  truncated: boolean;
  /** The number of windows in which the text was read. */
  windows: number;
  /**
   * The languages of parts that the scanner could not judge, because its model was neither trained nor measured in them: ISO 639-1 codes, or
   * `und-` and a script. Absent if there are none.
   */
  untrainedLanguages?: string[];
  /**
   * The number of findings beyond the reported ones, of which there are at most 1,000. Absent if there are none. All findings are removed or
   * replaced, whether reported or not.
   */
  findingsOmitted?: number;
}

/** The result of one scanner for one text. */
export interface Verdict {
  isValid: boolean;
  /** The risk score, -1..1: below 0 if the text passes, above 0 if it fails. */
  score: number;
  /**
   * The probability of the worst part of the text, 0..1 and unrounded, which was compared with the threshold. Absent for rules, and if the
   * text has nothing to judge: no letters, no URLs, nothing that looks like code.
   */
  probability?: number;
  /**
   * The edits of the text, in ascending order and without overlaps. Absent or empty if the text is unchanged. Offsets count UTF-16 code
   * units of the scanned text.
   */
  edits?: readonly Edit[];
  findings: Finding[];
  coverage: Coverage;
}

/** The return value of a scanner: a verdict, optionally with the whole rewritten text in place of edits. */
export interface ScannerVerdict extends Verdict {
  /** The whole rewritten text. Its difference from the scanned text becomes edits. */
  sanitized?: string;
}

/** The context of a scan. */
export interface ScanContext {
  /** The prompt of an output. Only output scanners receive it. */
  prompt?: string;
  /** The source of the text. The default is `user` on the input side and `assistant` on the output side. */
  source?: Source;
  /** The conversation of the text, or before an output. Absent for a single text. */
  conversation?: ConversationContext;
  /**
   * Whether the scanner only monitors: its edits are not applied. It must then change nothing that outlives the call, such as a vault of its
   * own. {@link vault} is a copy already.
   */
  monitors?: boolean;
  /**
   * The vault of this call, for scanners without a vault of their own. They store replaced values in it, or restore them from it. If the
   * call rewrites nothing, it is a copy. If it is absent, replaced values cannot be restored.
   */
  vault?: Vault;
  /**
   * Whether the text is a part of a streamed answer, which is scanned again with the text after it. A model that finds spans then reads
   * sentence by sentence, so that its results do not change.
   */
  arriving?: boolean;
  /** Aborts the scan. The scanner's promise then rejects. */
  signal?: AbortSignal;
  /** The answers of models in this call. guard's own scanners use it to share one model run on the same text. */
  answers?: AnswerCache;
}

/** The conversation as scanners see it. */
export interface ConversationContext {
  /** All original texts of the conversation, in order. */
  readonly texts: readonly MessageText[];
  /** The scanned text. Absent for an output, which is not in the conversation yet. */
  readonly current?: MessageText;
}

/** The result of {@link Scanner.detect}. */
export interface Detection {
  /** The highest probability of an attack in any part of the text, 0..1. */
  score: number;
  /**
   * The category of that part. The embedded model has a head for attacks with the categories `override`, `extraction`, `jailbreak` and
   * `indirect`. In all other cases it is the most probable label of the model, such as `SAFE`.
   */
  category: string;
}

/** A check. `defineScanner` creates guard's own scanners, but any object of this shape can be passed to a scan. */
export interface Scanner {
  /** The kind of scanner, such as `Regex`. */
  readonly type: string;
  /** The name in results: the type, unless the options give another name. */
  readonly name: string;
  /** Whether the scanner may change the text. Such scanners run sequentially, in the order of the list. */
  readonly sanitizes: boolean;
  /** Whether failing checks of the scanner have an effect, or are only reported. The default is `enforce`. */
  readonly mode?: ModeSetting | undefined;
  /** A text that passes with a probability above this needs the review of a person; see {@link needsReview}. By default none does. */
  readonly reviewThreshold?: number | undefined;
  /**
   * Whether the rewritten text may still contain findings, because the scanner repairs a text, or removes its first finding only. A text
   * that fails by it is never masked (`app.masking`). The default is false.
   */
  readonly leavesFindings?: boolean;
  /**
   * The vault for replacing or restoring values: that of the call, or a vault of its own. The server refuses scanners with a vault of their
   * own. If absent, the scanner uses no vault.
   */
  readonly vaultScope?: "call" | "own";
  /**
   * Whether the scanner compares tool definitions with earlier ones, and stores pins of them in the store that its builder received. The
   * default is false.
   */
  readonly keepsPins?: boolean;
  /** The texts of a conversation that the scanner checks. By default these are the user messages that the model has not answered. */
  readonly conversation?: {
    /** Whether to check the last few user messages together, because an attacker may split an instruction over them. */
    readonly window?: boolean;
    /**
     * The sources to check, unless the call names the scanners of a source. The default is `user` alone. A scanner without `user` cannot
     * judge texts of users.
     */
    readonly sources?: readonly Source[];
    /** Whether to check messages that the model has already answered, because the model reads them again. */
    readonly history?: boolean;
    /** Whether a verdict depends on other texts of the conversation, so that it cannot be cached for the text alone. */
    readonly dependsOnOthers?: boolean;
  };
  /** Whether the scanner compares a text with its prompt, so that it cannot judge a text without one. The default is false. */
  readonly comparesWithPrompt?: boolean;
  /**
   * How the scanner reads a streamed answer. If absent, it needs the whole answer: it runs once, at the end. If it also {@link sanitizes},
   * none of the answer is released before that.
   */
  readonly streaming?: Streaming;
  /**
   * Whether verdicts may change for equal texts and options, because they depend on something external, such as whether a server responds.
   * Such verdicts are never cached. The default is false.
   */
  readonly volatile?: boolean;
  /** Loads the resources of the scanner. Without this call, the first scan loads them. */
  load?(signal?: AbortSignal): Promise<void>;
  scan(text: string, context: ScanContext): Promise<ScannerVerdict>;
  /**
   * Returns the raw probability that a text is an attack, whatever the threshold, and the kind of attack. Only scanners whose probabilities
   * may add to the risk of a conversation have this method.
   *
   * @returns a score of 0 for a blank text.
   */
  detect?(text: string, context?: CallContext): Promise<Pick<Detection, "score"> & Partial<Detection>>;
  /**
   * Checks the verdicts on known texts, and rejects if they are wrong; the service then refuses all scans. It must be cheap, because a
   * service calls it every few minutes. Models test themselves, so scanners that consist of a model need no self-test.
   */
  selfTest?(signal?: AbortSignal): Promise<void>;
  /** Releases the models. The scanner cannot be used afterwards. */
  close?(): Promise<void>;
}

/**
 * How a scanner reads a streamed answer: by spans that it finds and may rewrite, or by sentences or words that it judges. All lengths are
 * UTF-16 code units.
 */
export type Streaming = SpanStreaming | PartStreaming;

/** The common fields of both ways to read a stream. */
interface OpenSpans {
  /**
   * Returns the start of an open span at the end of a text, such as a private key without its last line, or undefined. Text from there on
   * is held. Incomplete words are held anyway.
   */
  openFrom?(text: string): number | undefined;
  /**
   * What to do with a span that is open for more than 8,192 characters. `decide` (the default): the scanner judges it as it is. `block`: the
   * answer is blocked.
   */
  readonly longSpans?: "decide" | "block";
}

/** For scanners whose findings are spans that depend only on the text around them. */
export interface SpanStreaming extends OpenSpans {
  readonly reads: "spans";
  /**
   * The maximum length of a span with white space within a sentence. Text within a sentence is released only when this much text after it
   * has been scanned.
   */
  readonly span: number | ((context: ScanContext) => number);
  /** The same for spans that continue after the end of a sentence or a line. The default is 0: there are none. */
  readonly across?: number | ((context: ScanContext) => number);
  /** The length of the text before a span on which a finding may depend. The default is 256. */
  readonly before?: number;
  /**
   * Whether a model finds some of the spans. Its results for a sentence may change with the text around it, so it reads sentence by sentence
   * while the answer arrives ({@link ScanContext.arriving}), and text waits for the ends of sentences.
   */
  readonly byModel?: boolean;
  /**
   * Whether the scanner finds a value anywhere after its context has identified it: a password after `password = ...` is found again
   * elsewhere. Findings are then scanned again with the text that follows.
   */
  readonly repeats?: boolean;
}

/** For scanners that judge parts of a text and rewrite nothing. They read only new parts. */
export interface PartStreaming extends OpenSpans {
  /** `sentences`: the parts are sentences or groups of them. `words`: the parts contain no white space, like URLs. */
  readonly reads: "sentences" | "words";
  /** The length of the text before a part that is read again, because the verdict depends on it. */
  readonly overlap: number;
}

/** Returns the scanner with another `scan`, for one call, and with the fields that a call reads. */
export function scanningWith(scanner: Scanner, scan: Scanner["scan"]): Scanner {
  const { type, name, sanitizes, vaultScope, mode, reviewThreshold } = scanner;
  return {
    ...{ type, name, sanitizes, scan },
    ...(reviewThreshold !== undefined && { reviewThreshold }),
    ...(vaultScope && { vaultScope }),
    ...(mode && { mode }),
  };
}

/** Whether a person should judge a text, because it passes with a probability above the review threshold. */
export function needsReview({ reviewThreshold }: Scanner, { isValid, probability }: Verdict): boolean {
  return isValid && reviewThreshold !== undefined && probability !== undefined && probability > reviewThreshold;
}

/** Returns the verdict of a scanner without findings. */
export function passed(text: string, coverage = wholeText(text)): Verdict {
  return { isValid: true, score: PASSED, findings: [], coverage };
}

/**
 * Returns the coverage of a scanner that scanned the whole text.
 *
 * @param findingsOmitted the number of findings beyond the reported ones.
 */
export function wholeText(text: string, windows = 1, findingsOmitted = 0): Coverage {
  const coverage = { chars: text.length, scannedChars: text.length, truncated: false, windows };
  return findingsOmitted > 0 ? { ...coverage, findingsOmitted } : coverage;
}

/** Returns the coverage of a scanner that could not judge the text. */
export function notScanned(text: string): Coverage {
  return { chars: text.length, scannedChars: 0, truncated: text.length > 0, windows: 0 };
}
