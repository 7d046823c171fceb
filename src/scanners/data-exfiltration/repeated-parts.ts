import type { Abortable } from "../../native.ts";
import type { TimeSlice } from "../../support/time-slice.ts";
import { findOverlap } from "../../text/overlap.ts";
import { type Carrier, isAutoLoaded } from "./carriers.ts";
import type { ConversationData } from "./conversation-data.ts";
import type { UrlPart } from "./url-parts.ts";

/**
 * How many consecutive words of the conversation a part of a URL must repeat to fail. Images load without a click, so few words are enough.
 * Links repeat titles and addresses, and image files have long names. These numbers are chosen, not measured.
 */
const WORDS = { encoded: 3, image: 4, imagePath: 5, imageFile: 8, call: 6, link: 12 };
/** The minimum for images in letters, ignoring all characters between letters. */
const LETTERS = { image: 30, imageFile: 60 };
/** Disguises are undone in URLs of up to this many UTF-16 code units together. */
const MAX_DEOBFUSCATED = 20_000;
/** A word that occurs in no conversation. It keeps passages from continuing from one part into the next. */
const SEPARATOR = "qxzvkjwpartqxzvkjw";

/**
 * Pages that show a search, a place or a date, and reveal nothing to third parties. A link to them may repeat a tool result, such as an
 * address, but no system prompt. Only whole hosts are listed: other hosts of these companies run scripts and forms of third parties.
 */
const SEARCH_HOSTS = new Set(
  (
    "www.google.com maps.google.com calendar.google.com translate.google.com www.bing.com duckduckgo.com www.openstreetmap.org " +
    "maps.apple.com outlook.live.com outlook.office.com www.youtube.com"
  ).split(" "),
);

/** A text of a part: the part as written, or decoded. */
interface PartText {
  carrier: Carrier;
  part: UrlPart;
  isEncoded: boolean;
  /** The offset in the joined text of all parts. */
  start: number;
}

interface Comparison {
  carriers: readonly Carrier[];
  /** The texts that must not be repeated. */
  texts: readonly string[];
  /** The texts that may be repeated. */
  except?: readonly string[];
  /** The unit of lengths. The default is `words`. */
  unit?: "words" | "letters";
  /** The shortest passage to look for. The default is that of encoded texts. */
  shortest?: number;
  /** Returns how long a passage of a part must be to fail. `index` is that of the repeated text. */
  minimum(part: PartText, index: number): number;
}

/** Finds the parts of URLs that repeat the conversation. All parts are compared at once, so the time is linear in all texts together. */
export async function findRepeatedParts(
  carriers: readonly Carrier[],
  { system, tool, user }: ConversationData,
  slice: TimeSlice,
  abortable: Abortable,
): Promise<Set<UrlPart>> {
  const images = carriers.filter(isAutoLoaded);
  const others = carriers.filter((carrier) => !isAutoLoaded(carrier));
  const links = others.filter(({ target: { kind } }) => kind === "link");
  const comparisons: Comparison[] = [
    { carriers: images, texts: [...system, ...tool, ...user], minimum: imageWords },
    {
      ...{ carriers: images, texts: [...system, ...tool, ...user], unit: "letters", shortest: LETTERS.image },
      minimum: ({ part: { isFileName } }) => (isFileName ? LETTERS.imageFile : LETTERS.image),
    },
    {
      ...{ carriers: others, texts: [...system, ...tool], except: user },
      minimum: (part, index) => linkWords(part, index < system.length),
    },
    // Users may search for their own words, but nobody encodes words to search for them.
    {
      carriers: links,
      texts: user,
      minimum: ({ isEncoded }) => (isEncoded ? WORDS.encoded : Number.POSITIVE_INFINITY),
    },
  ];
  const found = new Set<UrlPart>();
  for (const comparison of comparisons) {
    for (const part of await compare(comparison, slice, abortable)) found.add(part);
  }
  return found;
}

function imageWords({ part, isEncoded }: PartText): number {
  if (isEncoded) return WORDS.encoded;
  if (part.isFileName) return WORDS.imageFile;
  return part.where === "path" ? WORDS.imagePath : WORDS.image;
}

function linkWords({ carrier: { target, url }, part, isEncoded }: PartText, isSystem: boolean): number {
  if (isEncoded) return WORDS.encoded;
  if (target.kind === "call") return isSystem ? WORDS.call : Number.POSITIVE_INFINITY;
  const isSearch = SEARCH_HOSTS.has(url.hostname) && !part.text.includes("://");
  return isSearch && !isSystem ? Number.POSITIVE_INFINITY : WORDS.link;
}

async function compare(
  { carriers, texts, except = [], unit = "words", shortest = WORDS.encoded, minimum }: Comparison,
  slice: TimeSlice,
  { signal }: Abortable,
): Promise<UrlPart[]> {
  if (carriers.length === 0 || texts.every((text) => text.trim() === "")) return [];
  const { joined, parts } = await joinParts(carriers, slice);
  if (parts.length === 0) return [];
  const deobfuscate = unit === "words" && joined.length <= MAX_DEOBFUSCATED;
  const { passages } = await findOverlap(joined, texts, {
    minimum: shortest,
    count: unit,
    except,
    deobfuscate,
    signal,
  });
  const found: UrlPart[] = [];
  let at = 0;
  for (const { start, words, other } of passages.sort((a, b) => a.start - b.start)) {
    if (slice.isOver) await slice.next();
    while (at + 1 < parts.length && (parts[at + 1]?.start ?? 0) <= start) at += 1;
    const part = parts[at];
    if (part && words >= minimum(part, other)) found.push(part.part);
  }
  return found;
}

/** Joins the parts of URLs, as written and decoded, into one text. */
async function joinParts(
  carriers: readonly Carrier[],
  slice: TimeSlice,
): Promise<{ joined: string; parts: PartText[] }> {
  const parts: PartText[] = [];
  let joined = "";
  for (const carrier of carriers) {
    if (slice.isOver) await slice.next();
    for (const part of carrier.parts) {
      for (const [at, text] of [part.text, ...part.decoded].entries()) {
        parts.push({ carrier, part, isEncoded: at > 0, start: joined.length });
        joined += `${text.replace(/[_+./\\|=-]/g, " ")}\n${SEPARATOR}\n`;
      }
    }
  }
  return { joined, parts };
}
