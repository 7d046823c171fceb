import { addon, native } from "../../native.ts";
import type { ScanContext } from "../../scan/scanner.ts";
import type { TimeSlice } from "../../support/time-slice.ts";
import { findLinkTargets, type LinkTarget } from "../../text/link-targets.ts";
import { urlsOf } from "../../text/urls.ts";
import { type UrlPart, urlParts } from "./url-parts.ts";

/** The host of targets without a host, which are on the page that shows the text. */
const RELATIVE = "relative.invalid";
const SCRIPTS = new Set(["javascript:", "vbscript:"]);
/** Types of `data:` URLs that only show something. */
const SHOWN_DATA = /^data:(?:image|font|audio|video|application\/(?:x-)?font)/i;
/** How many hosts the addon reads at once, because it reads them on the event loop. */
const PORTION = 1000;

/** A URL of a text. The kind `call` is a URL in the arguments of a tool call, which a tool loads. */
export type Target = Omit<LinkTarget, "kind"> & { kind: LinkTarget["kind"] | "call" };

/** A URL that may carry data to another host. */
export interface Carrier {
  target: Target;
  url: URL;
  parts: UrlPart[];
}

/** The URLs of a text that the scanner checks. */
export interface TextUrls {
  carriers: Carrier[];
  /** Targets that run a script, and their schemes. */
  scripts: { target: Target; scheme: string }[];
}

/** Whether a target, such as an image, is loaded without a click. */
export function isAutoLoaded({ target: { kind } }: Carrier): boolean {
  return kind === "image" || kind === "active";
}

/**
 * Finds the URLs of a text.
 *
 * @param isAllowed tells whether a host may get data.
 */
export async function findUrls(
  text: string,
  isAllowed: (host: string) => boolean,
  slice: TimeSlice,
  context: ScanContext,
): Promise<TextUrls> {
  const found: TextUrls = { carriers: [], scripts: [] };
  for (const target of await targetsOf(text, slice, context)) {
    if (slice.isOver) await slice.next();
    const url = parsedUrl(target.target);
    if (!url) continue;
    const isScript = SCRIPTS.has(url.protocol) || (url.protocol === "data:" && !isShown(url, target.kind));
    if (isScript && !target.isInCode) found.scripts.push({ target, scheme: url.protocol.slice(0, -1) });
    if (url.host === "" || url.hostname === RELATIVE || isAllowed(url.hostname)) continue;
    found.carriers.push({ target, url, parts: [] });
  }
  await addParts(found.carriers, slice);
  return found;
}

async function addParts(carriers: readonly Carrier[], slice: TimeSlice): Promise<void> {
  for (let from = 0; from < carriers.length; from += PORTION) {
    const portion = carriers.slice(from, from + PORTION);
    const domains = native(() => addon.registrableDomains(portion.map(({ url }) => url.hostname)));
    for (const [at, carrier] of portion.entries()) {
      if (slice.isOver) await slice.next();
      carrier.parts = urlParts(carrier.url, carrier.target.target, domains[at] ?? "");
    }
  }
}

/** Returns the link targets of a text and its other URLs, which count as links, or as calls in the arguments of a tool call. */
async function targetsOf(text: string, slice: TimeSlice, context: ScanContext): Promise<Target[]> {
  const isCall = context.source === "tool_call";
  const { targets, code } = await findLinkTargets(text, context);
  const taken = [...targets, ...(isCall ? [] : code)].sort((a, b) => a.start - b.start);
  const others: Target[] = [];
  let at = 0;
  let reached = 0;
  for (const { start, end, url } of await urlsOf(text, context)) {
    if (slice.isOver) await slice.next();
    for (; at < taken.length && (taken[at] as Target).start < end; at += 1) {
      reached = Math.max(reached, (taken[at] as Target).end);
    }
    if (start < reached) continue;
    others.push({ start, end, target: url, kind: isCall ? "call" : "link", isInCode: false });
  }
  return [...targets, ...others];
}

function parsedUrl(target: string): URL | undefined {
  return URL.canParse(target, `https://${RELATIVE}/`) ? new URL(target, `https://${RELATIVE}/`) : undefined;
}

function isShown({ href }: URL, kind: Target["kind"]): boolean {
  return SHOWN_DATA.test(href) && (kind === "image" || !/^data:image\/svg/i.test(href));
}
