import { readConversation } from "../messages/read-conversation.ts";
import { nameScanners, suppressedNames } from "../scan/named-scanners.ts";
import { reportOf, type TextReport } from "../scan/report.ts";
import { checkScanOptions, type ScanOptions } from "../scan/scan-options.ts";
import type { ScanContext, Scanner, Side } from "../scan/scanner.ts";
import { scanText } from "../scan/text-scan.ts";
import { GuardValidationError } from "../support/errors.ts";
import { checkSides } from "./scanner-sides.ts";
import { checkSuppressed } from "./suppressed.ts";

export interface PromptReport extends TextReport {
  sanitizedPrompt: string;
}

export interface OutputReport extends TextReport {
  sanitizedOutput: string;
}

/**
 * Runs input scanners over a prompt.
 *
 * Scanners that may rewrite the text run in the listed order, and each reads the text as rewritten by the scanners before it. The
 * scanners between two of them run concurrently. Offsets of all findings and edits count UTF-16 code units of the original prompt.
 *
 * @throws GuardValidationError for arguments of the wrong type, ScannerError if a scanner throws, and the signal's reason if the signal is
 *   aborted.
 */
export async function scanPrompt(
  scanners: readonly Scanner[],
  prompt: string,
  options: ScanOptions = {},
): Promise<PromptReport> {
  checkTexts({ prompt });
  const { text, ...report } = await scan("input", scanners, prompt, options, { source: options.source ?? "user" });
  return Object.assign({ sanitizedPrompt: text }, report);
}

/**
 * Runs output scanners over a model's answer to `prompt`. Otherwise it works like {@link scanPrompt}.
 *
 * @throws GuardValidationError for arguments of the wrong type, ScannerError if a scanner throws, and the signal's reason if the signal is
 *   aborted.
 */
export async function scanOutput(
  scanners: readonly Scanner[],
  prompt: string,
  output: string,
  options: ScanOptions = {},
): Promise<OutputReport> {
  checkTexts({ prompt, output });
  const context = { prompt, source: options.source ?? ("assistant" as const) };
  const { text, ...report } = await scan("output", scanners, output, options, context);
  return Object.assign({ sanitizedOutput: text }, report);
}

async function scan(
  side: Side,
  scanners: readonly Scanner[],
  text: string,
  options: ScanOptions,
  context: ScanContext,
): Promise<TextReport & { text: string }> {
  checkScanOptions(options);
  const named = nameScanners(scanners);
  checkSides(named, side);
  const suppress = suppressedNames(options.suppress);
  checkSuppressed(suppress, named);
  const { source: _, conversation, ...run } = options;
  const scope = side === "input" ? "latest" : "output";
  const given = Object.assign(context, conversationContext(conversation));
  const result = await scanText(named, text, given, Object.assign(run, { scope, suppress } as const));
  return Object.assign({ text: result.text, edits: result.edits }, reportOf(result, result.engineTiming));
}

/** Returns the part of the scanners' context that holds the conversation. */
export function conversationContext(conversation: ScanOptions["conversation"]): Pick<ScanContext, "conversation"> {
  return conversation ? { conversation: { texts: readConversation(conversation).texts } } : {};
}

/** Checks that texts are strings. Scanners check their text too, but the list may be empty, and few scanners read the prompt. */
function checkTexts(texts: Record<string, unknown>): void {
  const invalid = Object.keys(texts).filter((path) => typeof texts[path] !== "string");
  if (invalid.length === 0) return;
  throw new GuardValidationError(
    invalid.map((path) => ({ path, message: `expected a string, got ${typeof texts[path]}` })),
  );
}
