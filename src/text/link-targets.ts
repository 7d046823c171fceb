import type { Abortable } from "../native.ts";
import { TimeSlice } from "../support/time-slice.ts";
import type { Span } from "./span.ts";

/** Where a text makes a reader or a browser go. */
export interface LinkTarget extends Span {
  /** The target with its entities and escapes undone, as it is given to a URL parser. */
  target: string;
  /** `image`: loads by itself and shows. `active`: loads by itself and may run. `link`: opens when somebody follows it. */
  kind: "image" | "active" | "link";
  /** Whether it stands in a code block, which a reader sees as code unless a program shows the HTML in it. */
  inCode: boolean;
}

/** The targets of a text, and where its code is. */
export interface LinkTargets {
  targets: LinkTarget[];
  /** Fenced code and code between backticks, in order. */
  code: Span[];
}

/** So many characters are read between two looks at the clock. */
const PORTION = 1024;
/** The most characters of a target or a tag. It bounds the time for unclosed ones. */
const LONGEST = 16_384;
/** The most `<` among the attributes of a tag. */
const MOST_STRAYS = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const DEFINITION = /^ {0,3}\[([^\]]{1,999})\]:[ \t]*(?:<([^>]*)>|(\S+))/;
/** The info strings of code blocks that programs show as a page. */
const SHOWN = /^\s*(?:html?|xhtml|svg)\b/i;

/** Attributes that have a URL, by element, as the HTML standard lists them in its index of attributes. */
const ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, LinkTarget["kind"]>>>> = {
  img: { src: "image", srcset: "image", longdesc: "link" },
  source: { src: "image", srcset: "image" },
  video: { src: "image", poster: "image" },
  audio: { src: "image" },
  track: { src: "image" },
  input: { src: "image" },
  image: { href: "image", "xlink:href": "image" },
  body: { background: "image" },
  table: { background: "image" },
  td: { background: "image" },
  th: { background: "image" },
  iframe: { src: "active" },
  frame: { src: "active" },
  script: { src: "active" },
  embed: { src: "active" },
  object: { data: "active" },
  link: { href: "active" },
  use: { href: "active", "xlink:href": "active" },
  meta: { content: "active" },
  a: { href: "link" },
  area: { href: "link" },
  form: { action: "link" },
};

/**
 * Finds the targets of images, links and other elements: those of Markdown (CommonMark 0.31: inline, by reference), of HTML and of CSS
 * in it. It reads leniently, because readers differ: a target in Markdown may have spaces. URLs in plain text are not among them.
 * What stands in code is left out, except HTML in code blocks that are marked as HTML.
 */
export async function linkTargets(text: string, { signal }: Abortable = {}): Promise<LinkTargets> {
  const slice = new TimeSlice(signal);
  const { code, shown } = await codeOf(text, slice);
  const inMarkdown = await markdownTargets(text, code, slice);
  const targets = [...inMarkdown, ...(await htmlTargets(text, code, shown, slice))];
  return { targets: targets.sort((a, b) => a.start - b.start), code };
}

/** Finds code blocks between fences and code between backticks of one line, and the blocks that programs show as pages. */
async function codeOf(text: string, slice: TimeSlice): Promise<{ code: Span[]; shown: Span[] }> {
  const code: Span[] = [];
  const shown: Span[] = [];
  let open: { start: number; fence: string; isShown: boolean } | undefined;
  let at = 0;
  for (const line of linesOf(text)) {
    if (slice.isOver) await slice.next();
    const [, fence = "", info = ""] = FENCE.exec(line) ?? [];
    const end = at + line.length;
    if (open) {
      if (fence[0] === open.fence[0] && fence.length >= open.fence.length && info.trim() === "") {
        const span = { start: open.start, end };
        code.push(span);
        if (open.isShown) shown.push(span);
        open = undefined;
      }
    } else if (fence !== "" && !(fence.startsWith("`") && info.includes("`"))) {
      open = { start: at, fence, isShown: SHOWN.test(info) };
    } else {
      for (const span of await inlineCode(line, at, slice)) code.push(span);
    }
    at = end + 1;
  }
  if (open) {
    const span = { start: open.start, end: text.length };
    code.push(span);
    if (open.isShown) shown.push(span);
  }
  return { code, shown };
}

/** Code between two runs of backticks of one length. It ends with its line: what a reader may show as no code is looked at. */
async function inlineCode(line: string, offset: number, slice: TimeSlice): Promise<Span[]> {
  const runs: { index: number; length: number }[] = [];
  for (const { 0: run, index } of line.matchAll(/`+/g)) {
    if (slice.isOver) await slice.next();
    runs.push({ index, length: run.length });
  }
  const later = new Map<number, number[]>();
  for (const [at, { length }] of runs.entries()) {
    const same = later.get(length);
    if (same) same.push(at);
    else later.set(length, [at]);
  }
  for (const list of later.values()) list.reverse();
  const found: Span[] = [];
  for (let at = 0; at < runs.length; at += 1) {
    if (slice.isOver) await slice.next();
    const run = runs[at] as (typeof runs)[number];
    if (line[run.index - 1] === "\\") continue;
    const same = later.get(run.length) as number[];
    while ((same.at(-1) ?? Number.POSITIVE_INFINITY) <= at) same.pop();
    const closing = same.at(-1);
    if (closing === undefined) continue;
    const { index, length } = runs[closing] as (typeof runs)[number];
    found.push({ start: offset + run.index, end: offset + index + length });
    at = closing;
  }
  return found;
}

async function markdownTargets(text: string, code: readonly Span[], slice: TimeSlice): Promise<LinkTarget[]> {
  const found: LinkTarget[] = [];
  const images = new Set<string>();
  let open: { at: number; isImage: boolean }[] = [];
  let next = 0;
  let looked = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= looked) {
      looked = at + PORTION;
      if (slice.isOver) await slice.next();
    }
    while (next < code.length && (code[next] as Span).end <= at) next += 1;
    const span = code[next];
    if (span && span.start <= at) {
      at = span.end - 1;
      continue;
    }
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "\n" && text[at + 1] === "\n") open = [];
    else if (character === "[") {
      open.push({ at, isImage: text[at - 1] === "!" && text[at - 2] !== "\\" });
    } else if (character === "]") {
      const bracket = open.pop();
      if (!bracket) continue;
      if (slice.isOver) await slice.next();
      const after = text[at + 1];
      const target = after === "(" ? inlineTarget(text, at + 2) : undefined;
      if (target) {
        found.push({ ...target, kind: bracket.isImage ? "image" : "link", inCode: false });
        // What follows in the parentheses is no Markdown of its own.
        at = Math.max(at, target.end - 1);
      } else if (bracket.isImage && at - bracket.at < 1000) {
        const label = after === "[" ? text.slice(at + 2, at + 1002).split("]")[0] : "";
        images.add(labelOf(label || text.slice(bracket.at + 1, at)));
      }
    }
  }
  let at = 0;
  for (const line of linesOf(text)) {
    if (slice.isOver) await slice.next();
    const match = DEFINITION.exec(line.slice(0, LONGEST));
    const isInCode = match !== null && within(code, at);
    if (match && !isInCode) {
      const target = match[2] ?? match[3] ?? "";
      const start = at + match[0].length - target.length - (match[2] === undefined ? 0 : 1);
      const kind = images.has(labelOf(match[1] as string)) ? "image" : "link";
      found.push({ start, end: start + target.length, target: unescaped(target), kind, inCode: false });
    }
    at += line.length + 1;
  }
  return found;
}

/** The lines of a text, one after the other: a list of half a million would take long by itself. */
function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

/** Whether one of these spans, which are in order and apart, has a position. */
function within(spans: readonly Span[], at: number): boolean {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle] as Span).end <= at) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span.start <= at;
}

function labelOf(label: string): string {
  return label.trim().replace(/\s+/g, " ").toLowerCase();
}

/** Reads what stands between the parentheses of an image or a link, without its title. */
function inlineTarget(text: string, from: number): (Span & { target: string }) | undefined {
  let start = from;
  while (/\s/.test(text[start] ?? "") && start - from < 100) start += 1;
  const isQuoted = text[start] === "<" && /^<[^<>\n]*>/.test(text.slice(start, start + LONGEST));
  if (isQuoted) {
    const end = text.indexOf(">", start);
    return { start: start + 1, end, target: unescaped(text.slice(start + 1, end)) };
  }
  let depth = 0;
  let end = start;
  for (; end < text.length && end - start < LONGEST; end += 1) {
    const character = text[end];
    if (character === "\n") break;
    if (character === "\\") end += 1;
    else if (character === "(") depth += 1;
    else if (character === ")" && depth === 0) break;
    else if (character === ")") depth -= 1;
  }
  const inner = text.slice(start, end);
  const title = inner.search(/\s["'(]/);
  const target = (title < 0 ? inner : inner.slice(0, title)).trimEnd();
  return target === "" ? undefined : { start, end: start + target.length, target: unescaped(target) };
}

async function htmlTargets(
  text: string,
  code: readonly Span[],
  shown: readonly Span[],
  slice: TimeSlice,
): Promise<LinkTarget[]> {
  const found: LinkTarget[] = [];
  const add = (start: number, target: string, length: number, kind: LinkTarget["kind"]) => {
    const inCode = within(code, start);
    if (target !== "" && (!inCode || within(shown, start))) {
      found.push({ start, end: start + length, target: unescaped(target), kind, inCode });
    }
  };
  let isStyled = false;
  for (const { index, 1: name = "" } of text.matchAll(/<([a-z]{1,10})(?=[\s/])/gi)) {
    if (slice.isOver) await slice.next();
    isStyled ||= name.toLowerCase() === "style";
    const kinds = ATTRIBUTES[name.toLowerCase()];
    for (const { name: attribute, value, start } of attributesOf(text, index + 1 + name.length)) {
      isStyled ||= attribute === "style";
      const kind = kinds?.[attribute];
      if (!kind) continue;
      if (attribute === "srcset") {
        for (const part of value.matchAll(/[^\s,]\S*/g)) {
          if (/^[\d.]+[wx],?$/.test(part[0])) continue;
          const target = part[0].replace(/,$/, "");
          add(start + part.index, target, target.length, kind);
        }
      } else if (name.toLowerCase() === "meta") {
        const at = value.search(/url\s{0,9}=/i);
        const target = at < 0 ? "" : value.slice(value.indexOf("=", at) + 1).trim();
        if (target !== "") add(start + value.lastIndexOf(target), target, target.length, kind);
      } else add(start, value, value.length, kind);
    }
  }
  if (!isStyled && !/<style/i.test(text)) return found;
  for (const { index, 0: opening } of text.matchAll(/\burl\(\s{0,9}["']?|@import\s{1,9}["']/gi)) {
    if (slice.isOver) await slice.next();
    const start = index + opening.length;
    const [target = ""] = /^[^"')\s]*/.exec(text.slice(start, start + LONGEST)) ?? [];
    add(start, target, target.length, "image");
  }
  return found;
}

/** Reads the attributes of a tag from behind its name. A tag that does not end has none. */
function attributesOf(text: string, from: number): { name: string; value: string; start: number }[] {
  const found: { name: string; value: string; start: number }[] = [];
  const rest = text.slice(from, from + LONGEST);
  let strays = 0;
  const attribute = /[\s/]*(?:(>)|([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?)/y;
  for (let match = attribute.exec(rest); match; match = attribute.exec(rest)) {
    if (match[1]) return found;
    // Browsers take this for a name. Many of them are the beginnings of other tags, and this one has no end.
    if (match[2]?.includes("<")) strays += 1;
    if (strays > MOST_STRAYS) break;
    const value = match[3] ?? match[4] ?? match[5];
    if (value === undefined) continue;
    const quote = match[5] === undefined ? 1 : 0;
    found.push({
      name: (match[2] as string).toLowerCase(),
      value,
      start: from + attribute.lastIndex - quote - value.length,
    });
  }
  return [];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  colon: ":",
  sol: "/",
  period: ".",
  Tab: "\t",
  NewLine: "\n",
};

/** Undoes entities and the backslashes of Markdown. */
function unescaped(target: string): string {
  return target
    .replace(
      /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|colon|sol|period|Tab|NewLine));?/gi,
      (all, ...groups) => {
        const [hex, decimal, name] = groups as (string | undefined)[];
        if (name !== undefined) return ENTITIES[name] ?? all;
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
      },
    )
    .replace(/\\([!-/:-@[-`{-~])/g, "$1");
}
