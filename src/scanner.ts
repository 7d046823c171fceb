import type { z } from "zod";
import { GuardValidationError } from "./errors.ts";
import type { Passes } from "./models/passes.ts";
import { parseOptions } from "./options.ts";
import { PASSED } from "./score.ts";
import type { Vault } from "./vault.ts";

/** Which way a text goes: `input` to the model, `output` from it. */
export type Side = "input" | "output";

/** Why a scanner decided as it did. Offsets are UTF-16 code units of the text that the scanner was given. */
export interface Finding {
  start: number;
  end: number;
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
  /** What models have said in this call: guard's own scanners share one pass of a model over the same text. */
  passes?: Passes;
}

/** One check. guard's own scanners extend {@link BaseScanner}; anything of this shape can be passed to a scan. */
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
  /** Loads what the scanner needs before it can scan. Without it the first scan does. */
  load?(signal?: AbortSignal): Promise<void>;
  scan(text: string, context: ScanContext): Promise<Verdict>;
  /** Frees models; the scanner cannot be used any more. */
  close?(): Promise<void>;
}

/** A scanner class: what the registry holds. */
export interface ScannerClass {
  readonly type: string;
  /** Schema of the options: their types, checks and documentation. Names in camelCase. */
  readonly options: z.ZodObject;
  /**
   * The option that is the least probability with which a text passes, where the scanner has one instead of a threshold: 1 less
   * than the probability of its verdicts is compared with it.
   */
  readonly minimum?: string;
  new (options: never): Scanner;
}

/** What guard's own scanners share: checked options, a name, and what an empty text means. */
export abstract class BaseScanner<Schema extends z.ZodObject> implements Scanner {
  readonly type: string;
  readonly name: string;
  abstract readonly sanitizes: boolean;
  protected readonly options: z.output<Schema>;

  protected constructor(type: string, schema: Schema, options: z.input<Schema>) {
    this.type = type;
    this.options = parseOptions(schema, options ?? {});
    this.name = (this.options as { name?: string }).name ?? type;
  }

  async scan(text: string, context: ScanContext = {}): Promise<Verdict> {
    if (typeof text !== "string") {
      throw new GuardValidationError([{ path: "text", message: `expected a string, got ${typeof text}` }]);
    }
    context.signal?.throwIfAborted();
    // The empty text passes everywhere, as in llm-guard.
    return text === "" ? passed(text) : this.check(text, context);
  }

  /** Checks a text that is not empty. */
  protected abstract check(text: string, context: ScanContext): Verdict | Promise<Verdict>;
}

/** The verdict of a scanner that found nothing. */
export function passed(text: string, coverage = wholeText(text)): Verdict {
  return { isValid: true, score: PASSED, findings: [], coverage };
}

/** The coverage of a scanner that looked at all of a text. */
export function wholeText(text: string, windows = 1): Coverage {
  return { chars: text.length, scannedChars: text.length, truncated: false, windows };
}
