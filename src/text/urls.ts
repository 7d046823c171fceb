import type { AnswerCache } from "../models/answer-cache.ts";
import { addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** A URL in a text. */
export interface FoundUrl extends Span {
  /** As it is written in the text. */
  text: string;
  /**
   * What a browser understands by it, as the URL standard serializes it: disguises such as `hxxp` and `[.]` undone, the host in
   * lower case and punycode, numeric hosts as dotted quads. `http:` where the text gives no scheme.
   */
  url: string;
}

/**
 * Finds the URLs of a text, in order: with a scheme, hosts with a known top-level domain, IP addresses with a path or port, also
 * when they are disguised. E-mail addresses are none, and a file name such as `main.py` is none without a path behind it.
 */
export async function findUrls(text: string): Promise<FoundUrl[]> {
  const found = await native(() => addon.findUrls(text));
  return found.map(({ start, end, url }) => ({ start, end, text: text.slice(start, end), url }));
}

/** The URLs of a text, which scanners of one call share. */
export function urlsOf(text: string, answers?: AnswerCache): Promise<FoundUrl[]> {
  return answers ? answers.derive("urls", text, findUrls) : findUrls(text);
}
