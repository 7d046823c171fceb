import { type Abortable, addon, mapAnswer, native } from "../native.ts";
import { Turns } from "../support/turns.ts";
import { mapRowsInTurns } from "./rows.ts";
import type { Span } from "./span.ts";

/** A URL in a text. */
export interface FoundUrl extends Span {
  /** The URL as the text writes it. */
  text: string;
  /**
   * The URL as a browser understands it, serialized as the URL standard says: disguises such as `hxxp` and `[.]` are undone, the
   * host is in lower case and punycode, and numeric hosts are dotted quads. The scheme is `http:` when the text gives none.
   */
  url: string;
}

/** Results that the scanners of one call share, so that each is made once per text. `AnswerCache` of `models/` implements it. */
export interface SharedResults {
  share<T>(question: string, text: string, make: () => T | Promise<T>, signal?: AbortSignal): T | Promise<T>;
}

/**
 * Finds the URLs of a text, in order: URLs with a scheme, hosts with a known top-level domain, and IP addresses with a path or a
 * port, also when they are disguised. E-mail addresses are not URLs, and a file name such as `main.py` is not a URL without a path
 * behind it.
 *
 * @param signal aborts the search, which then rejects with its reason.
 */
export async function findUrls(text: string, { signal }: Abortable = {}): Promise<FoundUrl[]> {
  return urlsIn(text, signal);
}

/** Does the same as {@link findUrls}: at once where a short text has none. */
function urlsIn(text: string, signal: AbortSignal | undefined): FoundUrl[] | Promise<FoundUrl[]> {
  const found = native(() => addon.findUrls(text), { signal });
  return mapAnswer<Awaited<typeof found>, FoundUrl[] | Promise<FoundUrl[]>>(found, (found) => {
    if (!found) return [];
    const urls = found.urls.split("\n");
    let index = 0;
    const url = (column: (index: number) => number): FoundUrl => {
      const [start, end] = [column(0), column(1)];
      return { start, end, text: text.slice(start, end), url: urls[index++] as string };
    };
    return mapRowsInTurns(found.places, 2, url, new Turns(signal));
  });
}

/** Returns the URLs of a text: at once where a short text has none. Scanners of one call share them, so they are looked for only once. */
export function urlsOf(
  text: string,
  { answers, signal }: Abortable & { answers?: SharedResults | undefined } = {},
): FoundUrl[] | Promise<FoundUrl[]> {
  const find = () => urlsIn(text, signal);
  return answers ? answers.share("urls", text, find, signal) : find();
}
