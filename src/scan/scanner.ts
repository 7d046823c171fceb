import type { AnswerCache, CallContext } from "../models/call-context.ts";
import type { Span } from "../text/span.ts";
import type { MessageText } from "./conversation-text.ts";
import type { Edit } from "./edits.ts";
import { PASSED } from "./score.ts";
import type { Source } from "./source.ts";
import type { Vault } from "./vault.ts";

/** The direction of a text: `input` goes to the model, `output` comes from it. */
export type Side = "input" | "output";

/** The lists of scanners, by side. */
export type ScannerLists = Record<Side, readonly Scanner[]>;

/**
 * A reason for a scanner's decision. Offsets count UTF-16 code units of the text that the scanner was given, and in results of a
 * conversation those of the string at `path`.
 */
export interface Finding extends Span {
  /** The kind of thing that was found: `pattern`, `substring`, `injection`, ... */
  type: string;
  /** The text that was found. It is absent when the scanner does not point at a part of the text. */
  text?: string;
  /** How sure the scanner is, 0..1. */
  score: number;
  /** The label that the classifier gave, or the rule that matched. */
  label?: string;
  /** The service whose credential was found. */
  service?: string;
  /**
   * The view in which it was found, when the text does not contain it as written: `normalized`, `base64`, `base64>rot13`, ... The
   * disguise that was undone first comes first.
   */
  view?: string;
  /** The index of the message that it was found in, in results of a conversation. It is absent beside the messages, as in `tools`. */
  message?: number;
  /**
   * The string that it was found in, in results of a conversation: `messages/5/content → results[2].description`. When it spans
   * several strings, this is the place of all of them, and the offsets count in these strings joined by line breaks.
   */
  path?: string;
}

/** How much of a text a scanner looked at, and how much it tells of what it found. */
export interface Coverage {
  /** Length of the text in UTF-16 code units. */
  chars: number;
  /** How many of these code units the scanner looked at. */
  scannedChars: number;
  /** Whether some of the text was left out. */
  truncated: boolean;
  /** The number of pieces in which the text was read. */
  windows: number;
  /**
   * The languages of parts that the scanner could not judge, because its model was neither trained nor measured in them: ISO 639-1
   * codes, or `und-` and a script. It is absent when there are none.
   */
  untrainedLanguages?: string[];
  /**
   * How many findings there are besides those that are told, which are at most 1,000. It is absent when there are none. What the
   * scanner takes out of the text or replaces is not limited: it is every one of them.
   */
  findingsOmitted?: number;
}

/** The result of one scanner for one text. */
export interface Verdict {
  isValid: boolean;
  /** The risk score, within -1..1. It is below 0 when the text passes and above 0 when it fails. */
  score: number;
  /**
   * The probability that the threshold was compared with, 0..1 and unrounded: the probability of the worst part of the text. It is
   * absent when the scanner decides by rules, and when the text has nothing to judge: no letters, no URLs, nothing that looks like
   * code.
   */
  probability?: number;
  /**
   * How the scanner rewrites the text, in ascending order and without overlaps. It is absent or empty when the text stays as it is.
   * Offsets count UTF-16 code units of the text that the scanner was given.
   */
  edits?: readonly Edit[];
  findings: Finding[];
  coverage: Coverage;
}

/** What a scanner may return: a verdict, or a verdict with the whole rewritten text in place of edits. */
export interface ScannerVerdict extends Verdict {
  /** The whole text as rewritten. Its difference from the given text becomes edits. */
  sanitized?: string;
}

/** What a scanner gets besides the text. */
export interface ScanContext {
  /** The prompt that an output answers. Only output scanners get it. */
  prompt?: string;
  /** Where the text comes from. The default is `user` on the input side and `assistant` on the output side. */
  source?: Source;
  /** The conversation that the text belongs to, or that an output answers. It is absent when a text is scanned by itself. */
  conversation?: ConversationContext;
  /**
   * The vault of this call, for scanners that have no vault of their own. They store in it what they replace, or restore from it.
   * It is a copy when the call rewrites nothing. When it is absent, replaced values cannot be restored.
   */
  vault?: Vault;
  /**
   * Whether the text is a part of an answer that arrives in pieces, and is given again with more text behind it. A model that finds
   * spans then reads sentence by sentence, so that what it said stays.
   */
  arriving?: boolean;
  /** Aborts the scan. The scanner's promise then rejects. */
  signal?: AbortSignal;
  /** The answers that models gave in this call. guard's own scanners use it to share one run of a model over the same text. */
  answers?: AnswerCache;
}

/** What a scanner can see of a conversation. */
export interface ConversationContext {
  /** All texts of the conversation, in its order, as they were given: before any scanner rewrote them. */
  readonly texts: readonly MessageText[];
  /** The text that is scanned. It is absent when an output is scanned, because that is not in the conversation yet. */
  readonly current?: MessageText;
}

/** The result of {@link Scanner.detect}. */
export interface Detection {
  /** The probability of an attack, 0..1, in the part of the text where it is highest. */
  score: number;
  /**
   * The category of that part. The embedded model has a head of its own for attacks, and says `override`, `extraction`, `jailbreak`
   * or `indirect`. In all other cases it is the model's most probable label, such as `SAFE`.
   */
  category: string;
}

/** One check. `defineScanner` makes guard's own scanners, but any object of this shape can be passed to a scan. */
export interface Scanner {
  /** The kind of scanner, such as `Regex`. */
  readonly type: string;
  /** The name in results. It is the type, unless the options give another name. */
  readonly name: string;
  /** Whether the scanner may change the text. Such scanners run one after the other, in the order of the list. */
  readonly sanitizes: boolean;
  /**
   * Whether the text that it leaves may still hold what it finds: it repairs a text, or takes out its first finding only. What fails by it is
   * never masked (`app.masking`). The default is false.
   */
  readonly leavesFindings?: boolean;
  /**
   * The vault that a scanner uses when it replaces or restores values: the vault of the call, or a vault of its own. The server
   * refuses scanners with a vault of their own. When this is absent, the scanner uses no vault.
   */
  readonly vaultScope?: "call" | "own";
  /**
   * Whether the scanner compares definitions of tools with the first ones that it saw, and keeps pins of these in the store that its
   * builder gave it. When this is absent, it does not.
   */
  readonly keepsPins?: boolean;
  /** What the scanner checks in a conversation. When this is absent, it checks what users wrote and the model has not answered. */
  readonly conversation?: {
    /** Whether it checks the last few user messages together, because an attacker may have split an instruction over them. */
    readonly window?: boolean;
    /**
     * The sources that it checks unless the call names the scanners of a source. The default is `user` alone. A scanner without `user`
     * cannot judge what users write.
     */
    readonly sources?: readonly Source[];
    /** Whether it checks again what the model has answered already, because the model will read it again. */
    readonly history?: boolean;
    /** Whether a verdict depends on other texts of the conversation, so that it cannot be kept for the text alone. */
    readonly dependsOnOthers?: boolean;
  };
  /**
   * Whether the scanner compares a text with its prompt, so that it cannot judge a text without a prompt. When this is absent, it
   * does not.
   */
  readonly comparesWithPrompt?: boolean;
  /**
   * How the scanner reads an answer that arrives in pieces. When this is absent, it needs the whole answer: it runs once, at the end,
   * and when it {@link sanitizes}, nothing of the answer is given out before that.
   */
  readonly streaming?: Streaming;
  /**
   * Whether a verdict may change although the text and the options stay the same, because it depends on something outside, such as
   * whether a server answers. The results of such scanners are never cached. When this is absent, verdicts stay the same.
   */
  readonly volatile?: boolean;
  /** Loads what the scanner needs before it can scan. When nobody calls this, the first scan loads it. */
  load?(signal?: AbortSignal): Promise<void>;
  scan(text: string, context: ScanContext): Promise<ScannerVerdict>;
  /**
   * Returns the raw probability that a text is an attack, whatever the threshold, and the kind of attack. Only scanners whose
   * probabilities can add up to the risk of a conversation have this method.
   *
   * @returns a score of 0 for a blank text.
   */
  detect?(text: string, context?: CallContext): Promise<Pick<Detection, "score"> & Partial<Detection>>;
  /**
   * Checks that the scanner says of known texts what it should, and rejects when it does not; the service then refuses all scans. It costs
   * little, since a service calls it every few minutes. Models test themselves, so that scanners with nothing but a model need none.
   */
  selfTest?(signal?: AbortSignal): Promise<void>;
  /** Frees the models. The scanner cannot be used after this. */
  close?(): Promise<void>;
}

/**
 * How a scanner reads an answer that arrives in pieces: by spans that it finds and may rewrite, or by sentences or words that it judges.
 * All lengths are UTF-16 code units.
 */
export type Streaming = SpanStreaming | PartStreaming;

/** What both ways of reading a stream have. */
interface OpenSpans {
  /**
   * Returns where a span begins that has not ended at the end of a text, such as a private key without its last line, or undefined
   * when there is none. Nothing from there on is given out yet. Words that have not ended are held without this.
   */
  openFrom?(text: string): number | undefined;
  /**
   * What becomes of a span that is open for longer than 8,192 characters. `decide` (the default): the scanner judges it as it stands.
   * `block`: the answer is blocked.
   */
  readonly longSpans?: "decide" | "block";
}

/** The reading of a scanner whose findings are spans that depend on nothing but the text around them. */
export interface SpanStreaming extends OpenSpans {
  readonly reads: "spans";
  /**
   * The longest span within a sentence that has white space in it. Text within a sentence is given out only when so much text behind it
   * has been looked at.
   */
  readonly span: number | ((context: ScanContext) => number);
  /** The same for spans that go on behind the end of a sentence or of a line. The default is 0: there are none. */
  readonly across?: number | ((context: ScanContext) => number);
  /** How much of the text before a span the finding may depend on. The default is 256. */
  readonly before?: number;
  /**
   * Whether a model finds some of the spans. What it says of a sentence may change with the text around it, so that it reads sentence by
   * sentence while the answer arrives ({@link ScanContext.arriving}), and text waits for the ends of sentences.
   */
  readonly byModel?: boolean;
  /**
   * Whether the scanner finds a value everywhere once something beside it has told what it is, as a password is found again behind
   * `password = ...`. What it found is then read again with the text that follows.
   */
  readonly repeats?: boolean;
}

/** The reading of a scanner that judges parts of a text and rewrites nothing. Such scanners read new parts only. */
export interface PartStreaming extends OpenSpans {
  /** `sentences`: its parts are sentences or groups of them. `words`: its parts have no white space in them, as URLs. */
  readonly reads: "sentences" | "words";
  /** How much of the text before a part it reads again, because what it says depends on that. */
  readonly overlap: number;
}

/** Returns the same scanner with another `scan`, for one call: with everything that a call asks of a scanner besides. */
export function scanningWith({ type, name, sanitizes, vaultScope }: Scanner, scan: Scanner["scan"]): Scanner {
  return {
    ...{ type, name, sanitizes, scan },
    ...(vaultScope && { vaultScope }),
  };
}

/** Returns the verdict of a scanner that found nothing. */
export function passed(text: string, coverage = wholeText(text)): Verdict {
  return { isValid: true, score: PASSED, findings: [], coverage };
}

/**
 * Returns the coverage of a scanner that looked at the whole text.
 *
 * @param findingsOmitted how many findings there are besides those that are told.
 */
export function wholeText(text: string, windows = 1, findingsOmitted = 0): Coverage {
  const coverage = { chars: text.length, scannedChars: text.length, truncated: false, windows };
  return findingsOmitted > 0 ? { ...coverage, findingsOmitted } : coverage;
}
