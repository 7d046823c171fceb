import { type Abortable, addon, native } from "../native.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { mapRowsInSlices } from "./rows.ts";
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

/**
 * Finds the URLs of a text, in order: URLs with a scheme, hosts with a known top-level domain, and IP addresses with a path or a
 * port, including disguised ones. E-mail addresses are not URLs, and a file name such as `main.py` is a URL only with a path behind it.
 *
 * @param abortable its signal aborts the search, which then rejects with its reason.
 */
export async function findUrls(text: string, abortable: Abortable = {}): Promise<FoundUrl[]> {
  const found = await native(() => addon.findUrls(text), abortable);
  if (!found) return [];
  const urls = found.urls.split("\n");
  let index = 0;
  const url = (column: (index: number) => number): FoundUrl => {
    const [start, end] = [column(0), column(1)];
    return { start, end, text: text.slice(start, end), url: urls[index++] as string };
  };
  return mapRowsInSlices(found.spans, 2, url, new TimeSlice(abortable.signal));
}

/** A cache that the scanners of one call share: the `AnswerCache` of `models/`. Each result is computed once per text. */
interface SharedResults {
  share<T>(question: string, text: string, make: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Returns the URLs of a text. Scanners of one call share them. */
export function urlsOf(
  text: string,
  context: Abortable & { readonly answers?: SharedResults | undefined } = {},
): Promise<FoundUrl[]> {
  const find = () => findUrls(text, context);
  return context.answers ? context.answers.share("urls", text, find, context.signal) : find();
}
