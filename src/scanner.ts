import type { AnswerCache } from "./models/answer-cache.ts";
import { PASSED } from "./scanners/score.ts";
import type { Span } from "./text/span.ts";
import type { Vault } from "./vault.ts";

/** Which way a text goes: `input` to the model, `output` from it. */
export type Side = "input" | "output";

/** Why a scanner decided as it did. Offsets are UTF-16 code units of the text that the scanner was given. */
export interface Finding extends Span {
  /** What was found: `pattern`, `substring`, `injection`, ... */
  type: string;
  /** The text that was found; absent where a scanner judges without pointing at a text of its own. */
  text?: string;
  /** How sure the scanner is, 0..1. */
  score: number;
  /** The label of the classifier, or the rule that matched. */
  label?: string;
  /** The service whose credential was found. */
  service?: string;
  /**
   * How the text was read to find it, where it is not written there as it is: `normalized`, `base64`, `base64>rot13`, ...
   * What was undone first stands first.
   */
  view?: string;
}

/** How much of a text a scanner looked at. */
export interface Coverage {
  /** Length of the text in UTF-16 code units. */
  chars: number;
  /** How many of them were looked at. */
  scannedChars: number;
  /** Whether some were left out. */
  truncated: boolean;
  /** In how many pieces the text was read. */
  windows: number;
}

/** What a scanner says of a text. */
export interface Verdict {
  isValid: boolean;
  /** Risk score: below 0 when the text passes, above 0 when it fails, within -1..1. */
  score: number;
  /**
   * The probability that the threshold was compared with, 0..1, unrounded: that of the worst part. Absent where the scanner goes
   * by rules, and where there was nothing to judge: no letters, no URLs, nothing that looks like code.
   */
  probability?: number;
  /** The text for whoever comes next; absent when it stays as it is. */
  sanitized?: string;
  findings: Finding[];
  coverage: Coverage;
}

/** What a scanner may know besides the text. */
export interface ScanContext {
  /** The prompt that an output answers. Output side only. */
  prompt?: string;
  /**
   * The vault of this call, for scanners without one of their own: they put into it what they replace, or restore from it.
   * Where nothing is rewritten it is a copy. Absent: what is replaced cannot be restored.
   */
  vault?: Vault;
  /** Aborts the scan; the scanner's promise rejects then. */
  signal?: AbortSignal;
  /** What models have answered in this call: guard's own scanners share one run of a model over the same text. */
  answers?: AnswerCache;
}

/** What {@link Scanner.detect} says. */
export interface Detection {
  /** Probability of an attack, 0..1: that of the part of the text where it is highest. */
  score: number;
  /**
   * What that part is: for an attack `override`, `extraction`, `jailbreak` or `indirect` with the embedded model, which has a head of
   * its own for it; otherwise the model's most probable label, such as `SAFE`.
   */
  category: string;
}

/** One check. guard's own scanners are made by `defineScanner`; anything of this shape can be passed to a scan. */
export interface Scanner {
  /** The kind of scanner, such as `Regex`. */
  readonly type: string;
  /** The name in results; the type, unless the options have a name. */
  readonly name: string;
  /** Whether it may change the text: such scanners run one after the other, in the order of the list. */
  readonly sanitizes: boolean;
  /**
   * Which vault a scanner uses that replaces values or restores them: that of the call, or its own. The server takes none of
   * the latter. Absent: none.
   */
  readonly vaultScope?: "call" | "own";
  /** Where it looks in conversations besides the latest user message. Absent: nowhere. */
  readonly conversation?: {
    /** At the last few user messages together, where an instruction may have been split. */
    readonly window?: boolean;
    /** At tool results, unless others are named for them. */
    readonly tool?: boolean;
  };
  /** Whether it compares a text with its prompt, and has nothing to say of a text without one. Absent: it does not. */
  readonly comparesWithPrompt?: boolean;
  /** Loads what the scanner needs before it can scan. Without it the first scan does. */
  load?(signal?: AbortSignal): Promise<void>;
  scan(text: string, context: ScanContext): Promise<Verdict>;
  /**
   * The raw probability that a text is an attack, whatever the threshold, and the kind of attack that it is. Only scanners whose
   * probabilities can add up to the risk of a conversation have it.
   *
   * @returns score 0 for a blank text.
   */
  detect?(
    text: string,
    signal?: AbortSignal,
    answers?: AnswerCache,
  ): Promise<Pick<Detection, "score"> & Partial<Detection>>;
  /** Frees models; the scanner cannot be used any more. */
  close?(): Promise<void>;
}

/** The verdict of a scanner that found nothing. */
export function passed(text: string, coverage = wholeText(text)): Verdict {
  return { isValid: true, score: PASSED, findings: [], coverage };
}

/** The coverage of a scanner that looked at all of a text. */
export function wholeText(text: string, windows = 1): Coverage {
  return { chars: text.length, scannedChars: text.length, truncated: false, windows };
}
