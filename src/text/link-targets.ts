import type { Abortable } from "../native.ts";
import { firstIndexWhere } from "../support/binary-search.ts";
import { TimeSlice } from "../support/time-slice.ts";
import type { Span } from "./span.ts";

/** A target of a link, an image or another element in a text. */
export interface LinkTarget extends Span {
  /** The target with entities and escapes decoded, ready for a URL parser. */
  target: string;
  /** `image`: loads automatically and is shown. `active`: loads automatically and may run code. `link`: opens when a reader follows it. */
  kind: "image" | "active" | "link";
  /** Whether it is inside a code block, which readers see as code unless a program renders the HTML in it. */
  isInCode: boolean;
}

/** The targets of a text, and the spans of its code. */
export interface LinkTargets {
  targets: LinkTarget[];
  /** Fenced code and inline code, in order. */
  code: Span[];
}

/** How many characters are read between two checks of the clock. */
const CLOCK_INTERVAL = 1024;
/** The maximum length of a target or a tag. It bounds the time for unclosed ones. */
const MAX_TARGET_LENGTH = 16_384;
/** The maximum number of `<` among the attributes of a tag. */
const MAX_STRAY_BRACKETS = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const DEFINITION = /^ {0,3}\[([^\]]{1,999})\]:[ \t]*(?:<([^>]*)>|(\S+))/;
/** The info strings of code blocks that programs render as a page. */
const RENDERED_INFO = /^\s*(?:html?|xhtml|svg)\b/i;

/** Attributes with a URL, by element, from the index of attributes in the HTML standard. */
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
 * Finds the targets of images, links and other elements in Markdown (CommonMark 0.31: inline and by reference), in HTML and in CSS within
 * HTML. Parsing is lenient, because renderers differ: a target in Markdown may contain spaces. URLs in plain text are not included.
 * Targets inside code are left out, except HTML in code blocks that are marked as HTML.
 */
export async function findLinkTargets(text: string, { signal }: Abortable = {}): Promise<LinkTargets> {
  const slice = new TimeSlice(signal);
  const { code, rendered } = await findCode(text, slice);
  const inMarkdown = await findMarkdownTargets(text, code, slice);
  const targets = [...inMarkdown, ...(await findHtmlTargets(text, code, rendered, slice))];
  return { targets: targets.sort((a, b) => a.start - b.start), code };
}

/** Finds fenced code blocks, inline code, and the code blocks that programs render as pages. */
async function findCode(text: string, slice: TimeSlice): Promise<{ code: Span[]; rendered: Span[] }> {
  const code: Span[] = [];
  const rendered: Span[] = [];
  let open: { start: number; fence: string; isRendered: boolean } | undefined;
  let at = 0;
  for (const line of splitLines(text)) {
    if (slice.isOver) await slice.next();
    const [, fence = "", info = ""] = FENCE.exec(line) ?? [];
    const end = at + line.length;
    if (open) {
      if (fence[0] === open.fence[0] && fence.length >= open.fence.length && info.trim() === "") {
        const span = { start: open.start, end };
        code.push(span);
        if (open.isRendered) rendered.push(span);
        open = undefined;
      }
    } else if (fence !== "" && !(fence.startsWith("`") && info.includes("`"))) {
      open = { start: at, fence, isRendered: RENDERED_INFO.test(info) };
    } else {
      for (const span of await findInlineCode(line, at, slice)) code.push(span);
    }
    at = end + 1;
  }
  if (open) {
    const span = { start: open.start, end: text.length };
    code.push(span);
    if (open.isRendered) rendered.push(span);
  }
  return { code, rendered };
}

/** Finds code between two runs of backticks of the same length within one line. Longer code may be rendered as text, so it is scanned. */
async function findInlineCode(line: string, offset: number, slice: TimeSlice): Promise<Span[]> {
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

async function findMarkdownTargets(text: string, code: readonly Span[], slice: TimeSlice): Promise<LinkTarget[]> {
  const found: LinkTarget[] = [];
  const images = new Set<string>();
  let open: { at: number; isImage: boolean }[] = [];
  let next = 0;
  let nextCheck = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= nextCheck) {
      nextCheck = at + CLOCK_INTERVAL;
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
      const target = after === "(" ? readInlineTarget(text, at + 2) : undefined;
      if (target) {
        found.push({ ...target, kind: bracket.isImage ? "image" : "link", isInCode: false });
        // The text between the parentheses is not parsed as Markdown.
        at = Math.max(at, target.end - 1);
      } else if (bracket.isImage && at - bracket.at < 1000) {
        const label = after === "[" ? text.slice(at + 2, at + 1002).split("]")[0] : "";
        images.add(normalizeLabel(label || text.slice(bracket.at + 1, at)));
      }
    }
  }
  let at = 0;
  for (const line of splitLines(text)) {
    if (slice.isOver) await slice.next();
    const match = DEFINITION.exec(line.slice(0, MAX_TARGET_LENGTH));
    const isInCode = match !== null && includesOffset(code, at);
    if (match && !isInCode) {
      const target = match[2] ?? match[3] ?? "";
      const start = at + match[0].length - target.length - (match[2] === undefined ? 0 : 1);
      const kind = images.has(normalizeLabel(match[1] as string)) ? "image" : "link";
      found.push({ start, end: start + target.length, target: decodeTarget(target), kind, isInCode: false });
    }
    at += line.length + 1;
  }
  return found;
}

/** Yields the lines of a text. An array of half a million lines would take long to create. */
function* splitLines(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

/** Whether one of the spans contains an offset. The spans are in order and do not overlap. */
function includesOffset(spans: readonly Span[], at: number): boolean {
  const span = spans[firstIndexWhere(spans, ({ end }) => end > at)];
  return span !== undefined && span.start <= at;
}

function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, " ").toLowerCase();
}

/** Reads the target between the parentheses of an image or a link, without its title. */
function readInlineTarget(text: string, from: number): (Span & { target: string }) | undefined {
  let start = from;
  while (/\s/.test(text[start] ?? "") && start - from < 100) start += 1;
  const isQuoted = text[start] === "<" && /^<[^<>\n]*>/.test(text.slice(start, start + MAX_TARGET_LENGTH));
  if (isQuoted) {
    const end = text.indexOf(">", start);
    return { start: start + 1, end, target: decodeTarget(text.slice(start + 1, end)) };
  }
  let depth = 0;
  let end = start;
  for (; end < text.length && end - start < MAX_TARGET_LENGTH; end += 1) {
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
  return target === "" ? undefined : { start, end: start + target.length, target: decodeTarget(target) };
}

async function findHtmlTargets(
  text: string,
  code: readonly Span[],
  rendered: readonly Span[],
  slice: TimeSlice,
): Promise<LinkTarget[]> {
  const found: LinkTarget[] = [];
  const add = (start: number, target: string, length: number, kind: LinkTarget["kind"]) => {
    const isInCode = includesOffset(code, start);
    if (target !== "" && (!isInCode || includesOffset(rendered, start))) {
      found.push({ start, end: start + length, target: decodeTarget(target), kind, isInCode });
    }
  };
  let isStyled = false;
  for (const { index, 1: name = "" } of text.matchAll(/<([a-z]{1,10})(?=[\s/])/gi)) {
    if (slice.isOver) await slice.next();
    isStyled ||= name.toLowerCase() === "style";
    const kinds = ATTRIBUTES[name.toLowerCase()];
    for (const { name: attribute, value, start } of readAttributes(text, index + 1 + name.length)) {
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
    const [target = ""] = /^[^"')\s]*/.exec(text.slice(start, start + MAX_TARGET_LENGTH)) ?? [];
    add(start, target, target.length, "image");
  }
  return found;
}

/** Reads the attributes of a tag, from the end of its name. A tag that does not end has none. */
function readAttributes(text: string, from: number): { name: string; value: string; start: number }[] {
  const found: { name: string; value: string; start: number }[] = [];
  const rest = text.slice(from, from + MAX_TARGET_LENGTH);
  let strays = 0;
  const attribute = /[\s/]*(?:(>)|([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?)/y;
  for (let match = attribute.exec(rest); match; match = attribute.exec(rest)) {
    if (match[1]) return found;
    // Browsers read `<` as part of a name. Many of them mean that this tag never ends and others begin.
    if (match[2]?.includes("<")) strays += 1;
    if (strays > MAX_STRAY_BRACKETS) break;
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

/** Decodes HTML entities and the backslash escapes of Markdown. */
function decodeTarget(target: string): string {
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
