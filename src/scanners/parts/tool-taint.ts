import type { Abortable } from "../../native.ts";
import type { MessageText } from "../../scan/conversation-text.ts";
import { urlsOf } from "../../text/urls.ts";

/** Punctuation that stands around an e-mail address. */
const AROUND = /[\s"'`<>()[\]{},;:|\\]+/;
/** The shortest command that counts, in characters and in words: shorter ones are repeated by chance. */
const LEAST_COMMAND = 8;
const LEAST_WORDS = 2;

/** Texts in which values are looked up, in one spelling. */
export class Corpus {
  readonly #texts: readonly string[];

  constructor(texts: readonly MessageText[]) {
    this.#texts = texts.map(({ text }) => spelled(text));
  }

  /** Whether a text has a value, and not only as a part of a longer word. */
  has(value: string): boolean {
    const wanted = spelled(value);
    return this.#texts.some((text) => {
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
        if (!isWord(text[at - 1]) && !isWord(text[at + wanted.length])) return true;
      }
      return false;
    });
  }
}

function spelled(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_@-]/u.test(character);
}

/** The hosts of the URLs in a text, and its e-mail addresses. */
export async function addressesIn(text: string, { signal }: Abortable): Promise<string[]> {
  const urls = await urlsOf(text, { signal });
  const hosts = urls.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).hostname] : []));
  const mails = text.split(AROUND).flatMap((word) => {
    const address = word.replace(/^mailto$|[.!?]+$/g, "");
    const at = address.indexOf("@");
    return at > 0 && address.includes(".", at) ? [address] : [];
  });
  return [...new Set([...hosts, ...mails])].filter((address) => address !== "");
}

/** The commands in a text: its lines, and what stands between the operators of a shell. */
export function commandsIn(text: string): string[] {
  return text
    .split(/[\n;|&]+/)
    .map((command) => command.trim())
    .filter((command) => command.length >= LEAST_COMMAND && command.split(/\s+/).length >= LEAST_WORDS);
}
