import type { ScanContext } from "../../scan/scanner.ts";
import type { TimeSlice } from "../../support/time-slice.ts";
import { type Carrier, isAutoLoaded } from "./carriers.ts";
import { type ConversationData, foldText, readConversationData, type SecretRules } from "./conversation-data.ts";
import { findRepeatedParts } from "./repeated-parts.ts";
import { hasPlaceholder, isProse, type UrlPart, wordsIn } from "./url-parts.ts";

/** The fewest words in the URL of an image that are a text by themselves. */
const PROSE_WORDS = { part: 8, path: 20 };
/** The fewest characters of a decoded value that the conversation contains too. */
const MIN_VALUE_LENGTH = 8;

/** A URL that carries data, and the part that has the data. */
export interface UrlLeak {
  carrier: Carrier;
  part: UrlPart;
}

/** Finds the URLs that carry data of the conversation. */
export async function findLeaks(
  carriers: readonly Carrier[],
  rules: SecretRules,
  slice: TimeSlice,
  context: ScanContext,
): Promise<UrlLeak[]> {
  if (carriers.length === 0) return [];
  const data = await readConversationData(context, rules);
  const found: UrlLeak[] = [];
  const unknown: Carrier[] = [];
  for (const carrier of carriers) {
    if (slice.isOver) await slice.next();
    const part = placeholderPart(carrier);
    if (part) found.push({ carrier, part });
    // A URL of the conversation was written before anybody could put its data into the URL.
    else if (!data.all.includes(carrier.target.target)) unknown.push(carrier);
  }
  const repeated = await findRepeatedParts(unknown, data, slice, context);
  for (const carrier of unknown) {
    if (slice.isOver) await slice.next();
    const part = carrier.parts.find((part) => repeated.has(part) || isLeak(part, carrier, data));
    if (part) found.push({ carrier, part });
  }
  return found;
}

/** Returns the part of a URL with a placeholder for data. Paths of ordinary links to an API have placeholders too. */
function placeholderPart(carrier: Carrier): UrlPart | undefined {
  const { kind, isInCode } = carrier.target;
  if (kind === "call" || isInCode) return undefined;
  const loads = isAutoLoaded(carrier);
  return carrier.parts.find(({ text, where }) => (loads || where !== "path") && hasPlaceholder(text, loads));
}

/** Whether a part of a URL has data that is not a passage of the conversation: a secret, an encoded value, or a text by itself. */
function isLeak(part: UrlPart, carrier: Carrier, data: ConversationData): boolean {
  const loads = isAutoLoaded(carrier);
  if ([part.text, ...part.decoded].some((text) => hasSecret(text, loads, data))) return true;
  if (part.decoded.some((text) => (loads && isProse(text)) || isKnownValue(text, carrier, data))) return true;
  const least = part.where === "path" ? PROSE_WORDS.path : PROSE_WORDS.part;
  return loads && !part.isJoined && wordsIn(part.text) >= least;
}

function hasSecret(text: string, loads: boolean, { values, userValues }: ConversationData): boolean {
  const lower = text.toLowerCase();
  return values.some((value) => lower.includes(value) && (loads || !userValues.has(value)));
}

/** Whether the conversation contains a decoded value. A URL in a URL does not count: services that resize images have such URLs. */
function isKnownValue(text: string, { target }: Carrier, { folded, userFolded }: ConversationData): boolean {
  const value = foldText(text).trim();
  if (value.length < MIN_VALUE_LENGTH || /^https?:/.test(value)) return false;
  return folded.includes(value) && (target.kind !== "call" || !userFolded.includes(value));
}
